//! What stands on the lines of the graph, what the legend says of them, and where the minimap
//! stands beside them.

use crate::dag_check::faults;
use crate::examples_watch::as_it_opens;
use crate::repeats::of_text;
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::{Analysis, Policy};
use fuseline_view::picture::dag::layout;
use fuseline_view::picture::dag::looks::{Looks, Way, edge_width_px, widest_edge};
use fuseline_view::picture::dag::minimap::Minimap;
use fuseline_view::picture::dag::viewport::Viewport;
use fuseline_view::present::inspect::inspect_edge;
use fuseline_view::present::kernel_details::kernel_details;
use fuseline_view::present::names::lone_number;
use std::fmt::Write;
use std::sync::Arc;

/// The text of the label below the op of this name.
fn label(analysis: &Arc<Analysis>, op: &str) -> String {
    let place = layout(&analysis.graph, &analysis.partition);
    let op = analysis.graph.op_named(op).unwrap();
    let looks = Looks::new(analysis.clone(), false);
    looks
        .size_label(op, place.size_labels[op].unwrap().width)
        .text
}

#[test]
fn a_label_names_the_tensor_where_the_box_does_not() {
    let text = "\
input x : f16[2048, 2048]
first: y1 = relu(x)
y2 = exp(y1)
third: a_rather_long_name_of_a_tensor = exp(y2)
fourth: y4 = add(a_rather_long_name_of_a_tensor, y1)
y5 = exp(y4)
";
    let analysis = Arc::new(of_text(text, Policy::None));
    assert_eq!(label(&analysis, "first"), "y1 2 × 8.39 MB");
    assert_eq!(label(&analysis, "y2"), "8.39 MB", "its box says y2");
    assert_eq!(label(&analysis, "fourth"), "y4 8.39 MB");
    assert_eq!(label(&analysis, "third"), "a_…nsor 8.39 MB");
}

/// In every example: a label has room for all bytes, and is no wider than the op above it.
#[test]
fn labels_fit_below_their_ops() {
    for example in EXAMPLES {
        let analysis = Arc::new(of_text(example.text, Policy::Rules));
        let place = layout(&analysis.graph, &analysis.partition);
        assert_eq!(
            faults(&analysis.graph, &analysis.partition, &place),
            [""; 0],
            "{}",
            example.id
        );
        for is_fused in [true, false] {
            let looks = Looks::new(analysis.clone(), is_fused);
            for (op, label) in place.size_labels.iter_enumerated() {
                let Some(label) = label else { continue };
                let look = looks.size_label(op, label.width);
                assert!(look.width_px <= place.ops[op].rect.width + 0.5, "{look:?}");
                let name = analysis.graph.tensor_name(analysis.graph.output[op]);
                let (start, end) = look.text.split_once('…').unwrap_or((&look.text, ""));
                let is_right = look.text.contains('B') == look.is_dram
                    && (look.is_dram || name.starts_with(start) && name.ends_with(end));
                assert!(is_right, "{}: {look:?}", example.id);
            }
        }
    }
}

#[test]
fn the_legend_speaks_of_the_largest_tensor_that_is_shown() {
    let transformer = example("transformer").unwrap();
    let analysis = of_text(transformer.text, Policy::Optimal);
    let [fused, unfused] = [true, false].map(|is_fused| widest_edge(&analysis, is_fused).unwrap());
    assert_eq!(unfused.0, 268_435_456, "the scores");
    let moved = |name: &str| {
        let tensor = analysis.graph.output[analysis.graph.op_named(name).unwrap()];
        analysis.tensors[tensor].fused_bytes
    };
    assert_eq!(moved("attn_scores"), 0, "they stay on chip");
    assert_eq!(fused.0, 134_217_728);
    assert!(fused.1 < unfused.1, "a thinner line");
    assert_eq!(widest_edge(&of_text("", Policy::Rules), true), None);
}

/// At first the minimap covers no kernel, tensor or label, on no screen.
#[test]
fn the_minimap_covers_nothing_at_first() {
    let mut found = 0;
    for example in EXAMPLES {
        let analysis = of_text(example.text, Policy::Rules);
        let place = layout(&analysis.graph, &analysis.partition);
        for canvas in [
            (358.0, 380.0),
            (560.0, 420.0),
            (620.0, 520.0),
            (900.0, 700.0),
        ] {
            let view = Viewport::fit(place.size(), place.start_x(canvas.0), canvas);
            let Some(map) = Minimap::of(place.size(), view, canvas) else {
                continue;
            };
            let Some(corner) = map.free_corner(&place, view, canvas) else {
                continue;
            };
            found += 1;
            let x = if corner.is_left {
                0.0
            } else {
                canvas.0 - map.size.0
            };
            let y = if corner.is_bottom {
                canvas.1 - map.size.1
            } else {
                0.0
            };
            let rects = place.panels.iter().copied();
            let rects = rects.chain(place.pills.iter().map(|pill| pill.rect));
            for rect in rects.chain(place.size_labels.iter().flatten().copied()) {
                let from = view.on_canvas(fuseline_view::picture::dag::Point::new(rect.x, rect.y));
                let (width, height) = (rect.width * view.scale, rect.height * view.scale);
                let is_apart = from.x + width <= x
                    || x + map.size.0 <= from.x
                    || from.y + height <= y
                    || y + map.size.1 <= from.y;
                assert!(is_apart, "{} on {canvas:?}: {corner:?}", example.id);
            }
        }
    }
    assert!(found > 4, "{found} corners are free");
}

#[test]
fn width_tells_bytes() {
    let width = |bytes| edge_width_px(bytes, 100_000_000);
    assert!((width(100_000_000) - 7.0).abs() < 1e-9);
    assert!((width(25_000_000) - 4.25).abs() < 1e-9);
    assert!(
        width(100_000_000) > 2.3 * width(6_250_000),
        "16 times the bytes"
    );
    assert!((edge_width_px(0, 0) - 1.5).abs() < 1e-9);
    assert!((edge_width_px(u64::MAX, u64::MAX) - 8.0).abs() < 1e-9);
    assert!((edge_width_px(u64::MAX, 1) - 3.0).abs() < 1e-9);
}

/// Four kernels of one number would read as one kernel.
#[test]
fn unfused_ops_have_the_number_of_their_later_kernel_and_a_letter_each() {
    let mut chain = String::new();
    for at in 0..27 {
        let _ = writeln!(chain, "v{} = relu(v{at})", at + 1);
    }
    let text =
        format!("input v0 : f16[1024]\ninput w : f16[1024, 1024]\n{chain}y = matmul(w, w)\n");
    let analysis = of_text(&text, Policy::Rules);
    let numbers: Vec<String> = (analysis.partition.kernel_of.iter_enumerated())
        .map(|(op, _)| lone_number(&analysis, op))
        .collect();
    assert_eq!(numbers[0], "1a");
    assert_eq!(numbers[25..], ["1z", "1aa", "2"]);
}

/// A kernel reads a tensor once: one line into it is solid, and those to its further ops are
/// dotted.
#[test]
fn a_tensor_has_one_solid_line_into_each_kernel() {
    let text = "input x : f16[2048, 2048]\ny = relu(x)\nz = add(y, x)\nt = transpose(z)\n";
    let analysis = Arc::new(of_text(text, Policy::Rules));
    let place = layout(&analysis.graph, &analysis.partition);
    let solid_lines_of_x = |is_fused| {
        let looks = Looks::new(analysis.clone(), is_fused);
        let x = analysis.graph.inputs[analysis.graph.op_named("y").unwrap()][0];
        let edges = place.edges.iter().filter(|edge| edge.tensor == x);
        edges
            .map(|edge| looks.edge(edge).way == Way::Dram)
            .collect::<Vec<_>>()
    };
    assert_eq!(solid_lines_of_x(false), [true, true]);
    let mut fused = solid_lines_of_x(true);
    fused.sort_unstable();
    assert_eq!(fused, [false, true]);
}

/// A view reads nothing: its line is neither through memory nor on chip, and the size stands where
/// the bytes are read.
#[test]
fn a_free_view_is_no_kernel_and_carries_no_bytes() {
    let block = example("transformer_block").unwrap();
    let analysis = Arc::new(as_it_opens(block, block.text));
    let op = |name: &str| analysis.graph.op_named(name).unwrap();
    let place = layout(&analysis.graph, &analysis.partition);
    for is_fused in [true, false] {
        let looks = Looks::new(analysis.clone(), is_fused);
        let ways = |name: &str| {
            let tensor = analysis.graph.output[op(name)];
            let edges = place.edges.iter().filter(|edge| edge.tensor == tensor);
            edges.map(|edge| looks.edge(edge).way).collect::<Vec<Way>>()
        };
        assert_eq!(ways("q_proj"), [Way::View]);
        assert_eq!(ways("q"), [Way::Dram]);
        let label = |name: &str| looks.size_label(op(name), 200.0).text;
        assert_eq!([label("q_proj"), label("q")], ["", "16.8 MB"]);
        let name = looks.op_name(op("k_t"), &[]);
        assert!(
            name.ends_with("a view of the bytes that it reads"),
            "{name}"
        );
    }
    let number = |name: &str| lone_number(&analysis, op(name));
    assert_eq!(
        ["q_proj", "q", "mixed", "by_token", "merged"].map(number),
        ["1", "", "4d", "", "4e"]
    );

    let details = kernel_details(&analysis, analysis.partition.kernel_of[op("q")]).unwrap();
    assert_eq!(details.edges, []);
    let line = inspect_edge(&analysis, op("q_proj"), op("q")).unwrap();
    assert_eq!(
        line.notes,
        ["q is a view: it indexes the bytes of q_proj and reads none."]
    );
}
