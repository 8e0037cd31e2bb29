//! Checks of a drawing's geometry.

use fuseline_core::{Graph, KernelId, OpId, Partition, TensorId};
use fuseline_view::picture::dag::{DagLayout, Edge, EdgeEnd, Point, Rect};

/// Tolerance in pixels: boxes may share a border.
const SLACK: f64 = 0.5;

/// All faults of a drawing, in words; empty if there are none.
pub(crate) fn faults(graph: &Graph, partition: &Partition, layout: &DagLayout) -> Vec<String> {
    let mut faults = Vec::new();
    let mut boxes: Vec<(String, Rect)> = Vec::new();
    for (kernel, panel) in layout.panels.iter_enumerated() {
        boxes.push((format!("panel {kernel}"), *panel));
    }
    for (index, pill) in layout.pills.iter_enumerated() {
        // The pill of a result stands below its op, inside the kernel where other ops of it follow.
        let producer = pill
            .tensors
            .first()
            .and_then(|&t| graph.tensors[t].producer);
        let panel = producer.map(|op| layout.panels[partition.kernel_of[op]]);
        if !panel.is_some_and(|panel| contains(panel, pill.rect)) {
            boxes.push((format!("pill {index} ({})", pill.text), pill.rect));
        }
    }
    overlaps(&boxes, &mut faults);

    // Size labels are between ops of a panel or outside it, so they must not overlap ops and pills.
    let mut boxes: Vec<(String, Rect)> = Vec::new();
    for (op, place) in layout.ops.iter_enumerated() {
        boxes.push((format!("op {op} ({})", graph.ops[op].name), place.rect));
    }
    for (index, pill) in layout.pills.iter_enumerated() {
        boxes.push((format!("pill {index}"), pill.rect));
    }
    for (op, label) in layout.size_labels.iter_enumerated() {
        if let Some(label) = label {
            boxes.push((format!("label {op}"), *label));
        }
    }
    overlaps(&boxes, &mut faults);

    for (op, place) in layout.ops.iter_enumerated() {
        let panel = layout.panels[partition.kernel_of[op]];
        if !contains(panel, place.rect) {
            faults.push(format!("op {op} is not inside its panel"));
        }
    }
    for (name, rect) in &boxes {
        let picture = Rect {
            x: 0.0,
            y: 0.0,
            width: layout.width,
            height: layout.height,
        };
        if !contains(picture, *rect) {
            faults.push(format!("{name} is outside the picture"));
        }
    }
    edge_ends(graph, layout, &mut faults);
    faults
}

fn contains(outer: Rect, inner: Rect) -> bool {
    inner.x >= outer.x - SLACK
        && inner.y >= outer.y - SLACK
        && inner.right() <= outer.right() + SLACK
        && inner.bottom() <= outer.bottom() + SLACK
}

fn overlaps(boxes: &[(String, Rect)], faults: &mut Vec<String>) {
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|&a, &b| boxes[a].1.y.total_cmp(&boxes[b].1.y));
    for (rank, &a) in order.iter().enumerate() {
        for &b in &order[rank + 1..] {
            let ((a_name, a), (b_name, b)) = (&boxes[a], &boxes[b]);
            if b.y > a.bottom() - SLACK {
                break;
            }
            if a.x < b.right() - SLACK && b.x < a.right() - SLACK {
                faults.push(format!("{a_name} overlaps {b_name}"));
            }
        }
    }
}

/// Every edge starts and ends on the border of its boxes, and every read has an edge.
fn edge_ends(graph: &Graph, layout: &DagLayout, faults: &mut Vec<String>) {
    let rect_of = |end: EdgeEnd| match end {
        EdgeEnd::Op(op) => layout.ops[op].rect,
        EdgeEnd::Pill(pill) => layout.pills[pill].rect,
    };
    let mut drawn = Vec::new();
    for edge in &layout.edges {
        let ends = [
            (edge.from, edge.points.first()),
            (edge.to, edge.points.last()),
        ];
        for (end, point) in ends {
            let rect = rect_of(end);
            let on_border = point.is_some_and(|p| {
                let inside = p.x >= rect.x - SLACK
                    && p.x <= rect.right() + SLACK
                    && p.y >= rect.y - SLACK
                    && p.y <= rect.bottom() + SLACK;
                let strictly = p.x > rect.x + SLACK
                    && p.x < rect.right() - SLACK
                    && p.y > rect.y + SLACK
                    && p.y < rect.bottom() - SLACK;
                inside && !strictly
            });
            if !on_border {
                faults.push(format!("an edge of tensor {} misses {end:?}", edge.tensor));
            }
        }
        for pair in edge.points.windows(2) {
            if (pair[0].x - pair[1].x).abs() > 0.1 && (pair[0].y - pair[1].y).abs() > 0.1 {
                faults.push(format!("an edge of tensor {} runs askew", edge.tensor));
            }
        }
        if let EdgeEnd::Op(to) = edge.to {
            match edge.from {
                EdgeEnd::Pill(pill) => {
                    drawn.extend(layout.pills[pill].tensors.iter().map(|&t| (to, t)));
                }
                EdgeEnd::Op(_) => drawn.push((to, edge.tensor)),
            }
        }
    }
    drawn.sort_unstable();
    let mut reads: Vec<(OpId, TensorId)> = (graph.ops.ids())
        .flat_map(|op| graph.distinct_inputs(op).map(move |t| (op, t)))
        .collect();
    reads.sort_unstable();
    if drawn != reads {
        faults.push(format!(
            "{} reads are drawn by {} edges",
            reads.len(),
            drawn.len()
        ));
    }
}

struct Segment {
    a: Point,
    b: Point,
    tensor: TensorId,
}

/// Number of crossings of lines of different tensors, and of boxes or foreign panels that a line
/// crosses.
pub(crate) fn crossings(partition: &Partition, layout: &DagLayout) -> (usize, usize) {
    let mut across = Vec::new();
    let mut down = Vec::new();
    for edge in &layout.edges {
        for pair in edge.points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let segment = Segment {
                a: Point::new(a.x.min(b.x), a.y.min(b.y)),
                b: Point::new(a.x.max(b.x), a.y.max(b.y)),
                tensor: edge.tensor,
            };
            if (a.y - b.y).abs() < 0.01 {
                across.push(segment);
            } else {
                down.push(segment);
            }
        }
    }
    // Each pair of tensors that meet at a point counts once, however many of their edges share the
    // line.
    let mut met = std::collections::HashSet::new();
    down.sort_by(|s, t| s.a.x.total_cmp(&t.a.x));
    for h in &across {
        let from = down.partition_point(|v| v.a.x <= h.a.x + 0.1);
        for v in &down[from..] {
            if v.a.x >= h.b.x - 0.1 {
                break;
            }
            if v.tensor != h.tensor && v.a.y < h.a.y - 0.1 && v.b.y > h.a.y + 0.1 {
                met.insert((
                    h.tensor,
                    v.tensor,
                    v.a.x.round().to_bits(),
                    h.a.y.round().to_bits(),
                ));
            }
        }
    }
    (met.len(), through_boxes(partition, layout))
}

fn through_boxes(partition: &Partition, layout: &DagLayout) -> usize {
    let mut panels: Vec<KernelId> = layout.panels.ids().collect();
    panels.sort_by(|&a, &b| layout.panels[a].y.total_cmp(&layout.panels[b].y));
    let tallest = layout.panels.iter().map(|p| p.height).fold(0.0, f64::max);
    let mut hits = 0;
    for edge in &layout.edges {
        let own = |op: OpId| {
            [edge.from, edge.to]
                .into_iter()
                .any(|end| matches!(end, EdgeEnd::Op(o) if partition.kernel_of[o] == partition.kernel_of[op]))
        };
        let top = edge
            .points
            .iter()
            .map(|p| p.y)
            .fold(f64::INFINITY, f64::min);
        let bottom = edge.points.iter().map(|p| p.y).fold(0.0, f64::max);
        let from = panels.partition_point(|&p| layout.panels[p].y < top - tallest);
        for &kernel in &panels[from..] {
            let panel = layout.panels[kernel];
            if panel.y > bottom {
                break;
            }
            let members = &partition.kernels[kernel];
            if members.first().is_some_and(|&op| own(op)) {
                hits += members
                    .iter()
                    .filter(|&&op| runs_through(edge, layout.ops[op].rect))
                    .count();
            } else if runs_through(edge, panel) {
                hits += 1;
            }
        }
        hits += layout
            .pills
            .iter()
            .filter(|pill| {
                pill.rect.bottom() > top && pill.rect.y < bottom && runs_through(edge, pill.rect)
            })
            .count();
    }
    hits
}

/// Whether a line crosses the inside of a rectangle.
fn runs_through(edge: &Edge, rect: Rect) -> bool {
    edge.points.windows(2).any(|pair| {
        let (a, b) = (pair[0], pair[1]);
        a.x.max(b.x) > rect.x + SLACK
            && a.x.min(b.x) < rect.right() - SLACK
            && a.y.max(b.y) > rect.y + SLACK
            && a.y.min(b.y) < rect.bottom() - SLACK
    })
}
