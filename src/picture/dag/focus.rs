//! What can have the focus in the graph, where it is, and where the keys lead from it.

use super::dag_layout::DagLayout;
use super::geometry::{Point, Rect};
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

impl DagLayout {
    /// Where an op or a kernel is; `None` when the graph does not have it.
    pub fn rect_of(&self, target: FocusTarget) -> Option<Rect> {
        match target {
            FocusTarget::Op(op) => self.ops.get(op).map(|op| op.rect),
            FocusTarget::Kernel(kernel) => self.panels.get(kernel).copied(),
        }
    }

    /// The kernel whose panel holds a point.
    pub fn kernel_at(&self, point: Point) -> Option<KernelId> {
        let mut panels = self.panels.iter_enumerated();
        panels.find_map(|(kernel, panel)| panel.holds(point).then_some(kernel))
    }

    /// The op whose box holds a point, else the kernel.
    pub fn target_at(&self, point: Point) -> Option<FocusTarget> {
        let mut ops = self.ops.iter_enumerated();
        let op = ops.find_map(|(op, place)| place.rect.holds(point).then_some(op));
        op.map(FocusTarget::Op)
            .or_else(|| self.kernel_at(point).map(FocusTarget::Kernel))
    }
}

/// Where a key moves the focus; `None` when it does not.
///
/// The up and down arrows follow edges, left and right the order of execution; page up and page down go from kernel to
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

/// The id `steps` after this one, of `count` in all.
fn beside<I: Id>(id: I, steps: isize, count: usize) -> Option<I> {
    let index = id.index().checked_add_signed(steps)?;
    (index < count).then(|| I::from_index(index))
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
