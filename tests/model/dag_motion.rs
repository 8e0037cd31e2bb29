//! Where the parts of a picture were in the picture before it.

use fuseline_core::{Analysis, OpId, Options, Policy, analyze_program, notation};
use fuseline_view::picture::dag::motion::{Motion, PlacedPicture, can_move};
use fuseline_view::picture::dag::viewport::Viewport;
use fuseline_view::picture::dag::{DagLayout, Point, Rect, layout};
use std::sync::Arc;

const TEXT: &str = "\
input x : f16[64, 64]
weight w : f16[64, 64]
up: y = matmul(x, w)
act: a = relu(y)
down: z = matmul(a, w)
out: s = softmax(z)
";

fn picture(policy: Policy) -> (Analysis, DagLayout) {
    let outcome = analyze_program(&notation::parse(TEXT).program, &Options::of_policy(policy));
    let analysis = outcome.analysis.unwrap();
    let layout = layout(&analysis.graph, &analysis.partition);
    (analysis, layout)
}

const BEFORE: Viewport = Viewport {
    x: 10.0,
    y: 20.0,
    scale: 0.5,
};
const AFTER: Viewport = Viewport {
    x: -4.0,
    y: 0.0,
    scale: 2.0,
};

fn motion(policy: Policy) -> (Motion, Analysis, DagLayout) {
    let (analysis, layout) = picture(policy);
    let view = PlacedPicture {
        layout: Arc::new(layout.clone()),
        kernel_of: analysis.partition.kernel_of.clone(),
        viewport: BEFORE,
    };
    (Motion::new(view, AFTER), analysis, layout)
}

/// Both rectangles cover the same part of the canvas.
fn assert_same_on_canvas(
    (rect, viewport): (Rect, Viewport),
    (other, other_viewport): (Rect, Viewport),
) {
    let corners = |rect: Rect, viewport: Viewport| {
        [
            Point::new(rect.x, rect.y),
            Point::new(rect.right(), rect.bottom()),
        ]
        .map(|at| viewport.on_canvas(at))
    };
    for (a, b) in corners(rect, viewport)
        .into_iter()
        .zip(corners(other, other_viewport))
    {
        assert!(
            (a.x - b.x).abs() < 1e-9 && (a.y - b.y).abs() < 1e-9,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn every_op_panel_and_pill_starts_where_it_was_on_the_canvas() {
    let (motion, before, layout_before) = motion(Policy::None);
    let (after, layout_after) = picture(Policy::Rules);
    assert!(after.partition.kernels.len() < before.partition.kernels.len());
    for op in after.graph.ops.ids() {
        let from = motion.op(op).unwrap();
        assert_same_on_canvas((from, AFTER), (layout_before.ops[op].rect, BEFORE));
        let panel = layout_before.panels[before.partition.kernel_of[op]];
        assert_same_on_canvas((motion.panel(op).unwrap(), AFTER), (panel, BEFORE));
    }
    assert_eq!(layout_before.pills.len(), layout_after.pills.len());
    for (pill, place) in layout_after.pills.iter_enumerated() {
        // Of the two pills of `w` the first stays the first.
        let from = motion.pill(&layout_after, pill).unwrap();
        let same = layout_before
            .pills
            .iter()
            .filter(|other| other.tensors == place.tensors);
        let order = layout_after.pills.iter_enumerated();
        let nth = order
            .filter(|(id, other)| *id < pill && other.tensors == place.tensors)
            .count();
        assert_same_on_canvas(
            (from, AFTER),
            (same.map(|pill| pill.rect).nth(nth).unwrap(), BEFORE),
        );
    }
    assert!(motion.op(OpId::new(99)).is_none() && motion.panel(OpId::new(99)).is_none());
}

#[test]
fn a_transform_draws_a_box_at_the_place_and_in_the_width_of_another() {
    let rect = |x, y, width, height| Rect {
        x,
        y,
        width,
        height,
    };
    let box_before = rect(10.0, 20.0, 50.0, 10.0);
    assert_eq!(
        rect(5.0, 5.0, 100.0, 20.0).transform_to(&box_before),
        "translate(7.5px, 17.5px) scale(0.5)"
    );
}

#[test]
fn only_pictures_of_the_same_ops_go_over_to_each_other() {
    let of = |text: &str, policy| {
        let options = Options::of_policy(policy);
        analyze_program(&notation::parse(text).program, &options)
            .analysis
            .unwrap()
    };
    let text = "input x : f16[8, 8]\ny = relu(x)\nz = exp(y)\n";
    let other = "input x : f16[8, 8]\na = softmax(x)\nb = matmul(a, a)\n";
    let unfused = of(text, Policy::None);
    assert!(can_move(&unfused, &of(text, Policy::Rules)));
    assert!(can_move(
        &unfused,
        &of(&text.replace('8', "16"), Policy::Rules)
    ));
    assert!(!can_move(&unfused, &of(other, Policy::Rules)));
}
