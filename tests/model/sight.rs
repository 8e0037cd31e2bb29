//! Which parts of a layout are in sight.

use fuseline_core::{KernelId, OpId, TensorId};
use fuseline_view::picture::dag::sight::{Sight, is_overview, is_small, keep_places};
use fuseline_view::picture::dag::{DagLayout, Edge, EdgeEnd, OpBox, Pill, PillKind, Point, Rect};

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
