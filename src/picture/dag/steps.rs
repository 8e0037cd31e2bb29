//! Keyboard navigation in a placed graph.
#![allow(
    clippy::indexing_slicing,
    reason = "op and kernel ids are dense indices of one graph"
)]

use super::DagLayout;
use crate::core::{Graph, OpId, Partition};

/// An element that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FocusTarget {
    /// An op.
    Op(OpId),
    /// A kernel.
    Kernel(usize),
}

/// The element to which `key` moves the focus; `None` if it does not move.
///
/// Up and down follow edges, left and right the order of execution; page up and page down move between kernels,
/// home and end to the first and the last op.
pub fn step(
    graph: &Graph,
    partition: &Partition,
    layout: &DagLayout,
    focus: FocusTarget,
    key: &str,
) -> Option<FocusTarget> {
    let ops = graph.ops.len();
    let kernels = partition.groups.len();
    let last = ops.checked_sub(1)?;
    if matches!(focus, FocusTarget::Op(op) if op > last) {
        return None;
    }
    match (key, focus) {
        ("Home", _) => Some(FocusTarget::Op(0)),
        ("End", _) => Some(FocusTarget::Op(last)),
        ("PageDown", FocusTarget::Op(op)) => Some(FocusTarget::Kernel(
            (partition.group_of.get(op)? + 1).min(kernels - 1),
        )),
        ("PageUp", FocusTarget::Op(op)) => Some(FocusTarget::Kernel(*partition.group_of.get(op)?)),
        ("PageDown" | "ArrowRight", FocusTarget::Kernel(kernel)) => {
            (kernel + 1 < kernels).then_some(FocusTarget::Kernel(kernel + 1))
        }
        ("PageUp" | "ArrowLeft", FocusTarget::Kernel(kernel)) => {
            kernel.checked_sub(1).map(FocusTarget::Kernel)
        }
        ("ArrowDown", FocusTarget::Kernel(kernel)) => partition
            .groups
            .get(kernel)?
            .first()
            .copied()
            .map(FocusTarget::Op),
        ("ArrowUp", FocusTarget::Kernel(kernel)) => {
            let above = kernel.checked_sub(1)?;
            partition
                .groups
                .get(above)?
                .last()
                .copied()
                .map(FocusTarget::Op)
        }
        ("ArrowRight", FocusTarget::Op(op)) => (op < last).then_some(FocusTarget::Op(op + 1)),
        ("ArrowLeft", FocusTarget::Op(op)) => op.checked_sub(1).map(FocusTarget::Op),
        ("ArrowDown", FocusTarget::Op(op)) => nearest(layout, op, &graph.successors[op]),
        ("ArrowUp", FocusTarget::Op(op)) => nearest(layout, op, &graph.predecessors[op]),
        _ => None,
    }
}

/// The nearest of several neighbours.
fn nearest(layout: &DagLayout, op: OpId, neighbours: &[OpId]) -> Option<FocusTarget> {
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
        .map(FocusTarget::Op)
}
