//! What can have the focus in a placed graph, and where the keys lead from it.

use super::DagLayout;
use crate::core::model::ids::Id;
use crate::core::{Graph, KernelId, OpId, Partition};

/// What can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FocusTarget {
    /// An op.
    Op(OpId),
    /// A kernel.
    Kernel(KernelId),
}

/// The place to which a key leads from `from`; `None` when the key leads nowhere.
///
/// Up and down follow edges, left and right the order of execution; page up and page down go from kernel to
/// kernel, home and end to the first and the last op.
pub fn target_of_key(
    graph: &Graph,
    partition: &Partition,
    layout: &DagLayout,
    from: FocusTarget,
    key: &str,
) -> Option<FocusTarget> {
    let mut ops = graph.ops.ids();
    let op_beside = |op, step| beside(op, step, graph.ops.len());
    let kernel_beside = |kernel, step| beside(kernel, step, partition.kernels.len());
    if matches!(from, FocusTarget::Op(op) if op.index() >= ops.len()) {
        return None;
    }
    match (key, from) {
        ("Home", _) => ops.next().map(FocusTarget::Op),
        ("End", _) => ops.next_back().map(FocusTarget::Op),
        ("PageDown", FocusTarget::Op(op)) => {
            let kernel = *partition.kernel_of.get(op)?;
            let next = kernel_beside(kernel, 1);
            Some(FocusTarget::Kernel(next.unwrap_or(kernel)))
        }
        ("PageUp", FocusTarget::Op(op)) => Some(FocusTarget::Kernel(*partition.kernel_of.get(op)?)),
        ("PageDown" | "ArrowRight", FocusTarget::Kernel(kernel)) => {
            kernel_beside(kernel, 1).map(FocusTarget::Kernel)
        }
        ("PageUp" | "ArrowLeft", FocusTarget::Kernel(kernel)) => {
            kernel_beside(kernel, -1).map(FocusTarget::Kernel)
        }
        ("ArrowDown", FocusTarget::Kernel(kernel)) => {
            let members = partition.kernels.get(kernel)?;
            members.first().copied().map(FocusTarget::Op)
        }
        ("ArrowUp", FocusTarget::Kernel(kernel)) => {
            let above = partition.kernels.get(kernel_beside(kernel, -1)?)?;
            above.last().copied().map(FocusTarget::Op)
        }
        ("ArrowRight", FocusTarget::Op(op)) => op_beside(op, 1).map(FocusTarget::Op),
        ("ArrowLeft", FocusTarget::Op(op)) => op_beside(op, -1).map(FocusTarget::Op),
        ("ArrowDown", FocusTarget::Op(op)) => nearest(layout, op, &graph.successors[op]),
        ("ArrowUp", FocusTarget::Op(op)) => nearest(layout, op, &graph.predecessors[op]),
        _ => None,
    }
}

/// The id so many steps behind this one, of `count` in all.
fn beside<I: Id>(id: I, steps: isize, count: usize) -> Option<I> {
    let index = id.index().checked_add_signed(steps)?;
    (index < count).then(|| I::from_index(index))
}

/// Of several neighbours the one that lies nearest.
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
