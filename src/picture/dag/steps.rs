//! Where the arrow keys lead in a placed graph.
#![allow(
    clippy::indexing_slicing,
    reason = "op and kernel ids are dense indices of one graph"
)]

use super::DagLayout;
use crate::core::{Graph, OpId, Partition};

/// What can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// An op.
    Op(OpId),
    /// A kernel.
    Kernel(usize),
}

/// The place to which a key leads from `stop`; `None` when the key leads nowhere.
///
/// Up and down follow edges, left and right the order of execution; page up and page down go from kernel to
/// kernel, home and end to the first and the last op.
pub fn step(
    graph: &Graph,
    partition: &Partition,
    layout: &DagLayout,
    stop: Stop,
    key: &str,
) -> Option<Stop> {
    let ops = graph.ops.len();
    let kernels = partition.groups.len();
    let last = ops.checked_sub(1)?;
    if matches!(stop, Stop::Op(op) if op > last) {
        return None;
    }
    match (key, stop) {
        ("Home", _) => Some(Stop::Op(0)),
        ("End", _) => Some(Stop::Op(last)),
        ("PageDown", Stop::Op(op)) => Some(Stop::Kernel(
            (partition.group_of.get(op)? + 1).min(kernels - 1),
        )),
        ("PageUp", Stop::Op(op)) => Some(Stop::Kernel(*partition.group_of.get(op)?)),
        ("PageDown" | "ArrowRight", Stop::Kernel(kernel)) => {
            (kernel + 1 < kernels).then_some(Stop::Kernel(kernel + 1))
        }
        ("PageUp" | "ArrowLeft", Stop::Kernel(kernel)) => kernel.checked_sub(1).map(Stop::Kernel),
        ("ArrowDown", Stop::Kernel(kernel)) => {
            partition.groups.get(kernel)?.first().copied().map(Stop::Op)
        }
        ("ArrowUp", Stop::Kernel(kernel)) => {
            let above = kernel.checked_sub(1)?;
            partition.groups.get(above)?.last().copied().map(Stop::Op)
        }
        ("ArrowRight", Stop::Op(op)) => (op < last).then_some(Stop::Op(op + 1)),
        ("ArrowLeft", Stop::Op(op)) => op.checked_sub(1).map(Stop::Op),
        ("ArrowDown", Stop::Op(op)) => nearest(layout, op, &graph.successors[op]),
        ("ArrowUp", Stop::Op(op)) => nearest(layout, op, &graph.predecessors[op]),
        _ => None,
    }
}

/// Of several neighbours the one that lies nearest.
fn nearest(layout: &DagLayout, op: OpId, neighbours: &[OpId]) -> Option<Stop> {
    let from = layout.ops.get(op)?.rect.center();
    let distance = |&other: &OpId| {
        layout.ops.get(other).map_or(f64::INFINITY, |o| {
            let to = o.rect.center();
            (to.x - from.x).abs() + (to.y - from.y).abs()
        })
    };
    neighbours
        .iter()
        .copied()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .map(Stop::Op)
}
