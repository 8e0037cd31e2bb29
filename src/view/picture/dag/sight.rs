//! Culling: which parts of a layout are in sight, so that the page holds elements for these only.

use super::dag_layout::{DagLayout, Edge, PillId};
use super::geometry::{Point, Rect};
use fuseline_core::model::ids::Id;
use fuseline_core::{IdVec, KernelId, OpId};

/// Ops up to which the page holds the whole graph, in sight or not: that costs little, and the browser's own search
/// finds every op.
const SMALL_GRAPH_OPS: usize = 100;
/// Scale below which an op's texts cannot be read.
const READABLE_SCALE: f64 = 0.3;
/// Ops in sight up to which they are drawn in full at any scale.
const FULL_OPS: usize = 100;
/// Ops in sight up to which they are drawn in full where their texts can be read.
pub const FULL_READABLE_OPS: usize = 300;

/// Edges in sight up to which each is an element of its own, which follows sizes and the selection.
const FULL_EDGES: usize = 1_000;

/// Whether the page holds the whole graph, in sight or not.
pub const fn is_small(op_count: usize) -> bool {
    op_count <= SMALL_GRAPH_OPS
}

/// Whether the ops in sight are drawn as an overview instead of in full.
pub fn is_overview(ops_in_sight: usize, scale: f64) -> bool {
    let is_readable = scale >= READABLE_SCALE;
    let max_ops = if is_readable {
        FULL_READABLE_OPS
    } else {
        FULL_OPS
    };
    ops_in_sight > max_ops
}

/// Whether the edges in sight are drawn as a few paths instead of one by one: few ops can have very many.
pub const fn are_edges_many(edges_in_sight: usize) -> bool {
    edges_in_sight > FULL_EDGES
}

/// The parts of a layout that are in sight, each list ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Boxes of ops.
    pub ops: Vec<OpId>,
    /// Panels of kernels.
    pub kernels: Vec<KernelId>,
    /// Edges, as indices into [`DagLayout::edges`].
    pub edges: Vec<usize>,
    /// Size labels, by the op whose output they describe.
    pub size_labels: Vec<OpId>,
    /// Pills.
    pub pills: Vec<PillId>,
}

impl Sight {
    /// The parts of which some is in `region`; all parts without a region. `O(ops + corners of edges)`.
    pub fn of(layout: &DagLayout, region: Option<Rect>) -> Self {
        let is_in = |rect: &Rect| region.is_none_or(|region| region.meets(rect));
        let is_edge_in = |edge: &Edge| region.is_none_or(|region| passes(edge, &region));
        Self {
            ops: ids_of(&layout.ops, |op, place| {
                layout.repeats.shows_op(op) && is_in(&place.rect)
            }),
            kernels: ids_of(&layout.panels, |kernel, panel| {
                layout.repeats.shows_kernel(kernel) && is_in(panel)
            }),
            edges: (layout.edges.iter().enumerate())
                .filter(|(_, edge)| is_edge_in(edge))
                .map(|(place, _)| place)
                .collect(),
            size_labels: ids_of(&layout.size_labels, |_, label| {
                label.as_ref().is_some_and(is_in)
            }),
            pills: ids_of(&layout.pills, |_, pill| is_in(&pill.rect)),
        }
    }
}

fn ids_of<I: Id, T>(parts: &IdVec<I, T>, is_in: impl Fn(I, &T) -> bool) -> Vec<I> {
    (parts.iter_enumerated())
        .filter(|&(id, part)| is_in(id, part))
        .map(|(id, _)| id)
        .collect()
}

/// Whether some of an edge is in `region`.
fn passes(edge: &Edge, region: &Rect) -> bool {
    let is_in = |[a, b]: [Point; 2]| region.meets(&Rect::between(a, b));
    (edge.points.array_windows()).any(|&piece| is_in(piece))
}

/// Reorders `wanted`, which is ascending: items that were there `before` keep their relative order, and new ones take the
/// places of those that are gone, or come last.
///
/// A keyed list in this order moves no element of the page. An element that is moved loses the focus.
pub fn keep_places<T: Copy + Ord>(before: &[T], wanted: &[T]) -> Vec<T> {
    let mut old = before.to_vec();
    old.sort_unstable();
    let mut new = (wanted.iter().copied()).filter(|item| old.binary_search(item).is_err());
    let mut kept = Vec::with_capacity(wanted.len());
    for item in before {
        if wanted.binary_search(item).is_ok() {
            kept.push(*item);
        } else {
            kept.extend(new.next());
        }
    }
    kept.extend(new);
    kept
}

#[cfg(test)]
mod tests {
    use super::super::dag_layout::{EdgeEnd, OpBox, Pill, PillKind};
    use super::*;
    use fuseline_core::TensorId;

    fn square(x: f64, y: f64) -> Rect {
        Rect {
            x,
            y,
            width: 10.0,
            height: 10.0,
        }
    }

    fn op_at(y: f64) -> OpBox {
        OpBox {
            rect: square(0.0, y),
            function: String::new(),
            label: String::new(),
        }
    }

    /// Two ops far from each other, and an edge around the empty middle between them.
    fn layout() -> DagLayout {
        let way = [
            (5.0, 10.0),
            (5.0, 20.0),
            (100.0, 20.0),
            (100.0, 980.0),
            (5.0, 980.0),
            (5.0, 1000.0),
        ];
        DagLayout {
            width: 110.0,
            height: 1010.0,
            ops: vec![op_at(0.0), op_at(1000.0)].into(),
            panels: vec![square(0.0, 0.0), square(0.0, 1000.0)].into(),
            pills: vec![Pill {
                tensors: Vec::new(),
                kind: PillKind::Input,
                rect: square(50.0, 1000.0),
                text: String::new(),
            }]
            .into(),
            edges: vec![Edge {
                tensor: TensorId::new(0),
                from: EdgeEnd::Op(OpId::new(0)),
                to: EdgeEnd::Op(OpId::new(1)),
                points: way.map(|(x, y)| Point::new(x, y)).to_vec(),
            }],
            size_labels: vec![Some(square(0.0, 12.0)), None].into(),
            ..DagLayout::default()
        }
    }

    #[test]
    fn only_what_reaches_into_the_region_is_in_sight() {
        let top = Sight::of(&layout(), Some(square(0.0, 5.0)));
        assert_eq!(top.ops, [OpId::new(0)]);
        assert_eq!(top.kernels, [KernelId::new(0)]);
        assert_eq!(top.edges, [0]);
        assert_eq!(top.size_labels, [OpId::new(0)]);
        assert!(top.pills.is_empty());
        let middle = Sight::of(&layout(), Some(square(40.0, 500.0)));
        assert_eq!(middle, Sight::default(), "the edge goes around it");
        let lane = Sight::of(&layout(), Some(square(95.0, 500.0)));
        assert_eq!(lane.edges, [0]);
        let all = Sight::of(&layout(), None);
        assert_eq!((all.ops.len(), all.edges.len(), all.pills.len()), (2, 1, 1));
    }

    #[test]
    fn what_can_be_read_is_drawn_in_full() {
        assert!(!is_overview(120, 0.5) && !is_overview(80, 0.05));
        assert!(is_overview(120, 0.2) && is_overview(1000, 0.5));
        assert!(is_small(51) && !is_small(612));
    }

    #[test]
    fn what_stays_keeps_its_place() {
        assert_eq!(keep_places(&[], &[1, 2]), [1, 2]);
        assert_eq!(keep_places(&[1, 2, 3], &[2, 3, 4, 5]), [4, 2, 3, 5]);
        assert_eq!(keep_places(&[4, 2, 3], &[2, 3]), [2, 3]);
        assert_eq!(keep_places(&[1, 2, 3, 4], &[0, 3]), [0, 3]);
    }
}
