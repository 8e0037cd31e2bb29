//! The focus in the graph: its targets, their places, and where keys lead from them.

use super::dag_layout::{DagLayout, EdgeEnd};
use super::geometry::{Point, Rect};
use fuseline_core::model::ids::Id;
use fuseline_core::{KernelId, OpId, Partition, TensorId};

/// A target of the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FocusTarget {
    Op(OpId),
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

    /// Where the first pill of a tensor is.
    pub fn pill_of(&self, tensor: TensorId) -> Option<Rect> {
        let mut pills = self.pills.iter();
        pills.find_map(|pill| pill.tensors.contains(&tensor).then_some(pill.rect))
    }

    /// The op or kernel that is shown in place of this one.
    pub fn shown(&self, target: FocusTarget) -> FocusTarget {
        match target {
            FocusTarget::Op(op) => FocusTarget::Op(self.shown_op(op)),
            FocusTarget::Kernel(kernel) => FocusTarget::Kernel(self.repeats.shown_kernel(kernel)),
        }
    }

    /// The next shown kernel, or the one before.
    pub fn kernel_beside(&self, kernel: KernelId, is_back: bool) -> Option<KernelId> {
        beside(self.panels.ids(), kernel, is_back, |id| {
            self.repeats.shows_kernel(id)
        })
    }

    /// The first shown kernel, or the last one.
    pub fn kernel_at_end(&self, is_first: bool) -> Option<KernelId> {
        let mut shown = (self.panels.ids()).filter(|&kernel| self.repeats.shows_kernel(kernel));
        if is_first {
            shown.next()
        } else {
            shown.next_back()
        }
    }

    /// The next shown op in execution order, or the one before.
    fn op_beside(&self, op: OpId, is_back: bool) -> Option<OpId> {
        beside(self.ops.ids(), op, is_back, |id| self.shows_op(id))
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
/// The up and down arrows follow edges, left and right the order of execution, of what is shown;
/// page up and page down go from kernel to kernel, home and end to the first and the last op.
pub fn target_of_key(
    partition: &Partition,
    layout: &DagLayout,
    from: FocusTarget,
    key: &str,
) -> Option<FocusTarget> {
    let mut ops = (layout.ops.ids()).filter(|&op| layout.shows_op(op));
    if matches!(from, FocusTarget::Op(op) if layout.ops.get(op).is_none()) {
        return None;
    }
    match (key, from) {
        ("Home", _) => ops.next().map(FocusTarget::Op),
        ("End", _) => ops.next_back().map(FocusTarget::Op),
        ("PageDown", FocusTarget::Op(op)) => {
            let kernel = *partition.kernel_of.get(op)?;
            let next = layout.kernel_beside(kernel, false);
            Some(FocusTarget::Kernel(next.unwrap_or(kernel)))
        }
        // In the order of reading, a kernel comes before its ops.
        ("PageUp", FocusTarget::Op(op)) => Some(FocusTarget::Kernel(*partition.kernel_of.get(op)?)),
        ("PageDown" | "ArrowRight", FocusTarget::Kernel(kernel)) => {
            (layout.kernel_beside(kernel, false)).map(FocusTarget::Kernel)
        }
        ("PageUp" | "ArrowLeft", FocusTarget::Kernel(kernel)) => {
            (layout.kernel_beside(kernel, true)).map(FocusTarget::Kernel)
        }
        ("ArrowDown", FocusTarget::Kernel(kernel)) => {
            let members = partition.kernels.get(kernel)?;
            members.first().copied().map(FocusTarget::Op)
        }
        ("ArrowUp", FocusTarget::Kernel(kernel)) => {
            let above = partition.kernels.get(layout.kernel_beside(kernel, true)?)?;
            above.last().copied().map(FocusTarget::Op)
        }
        ("ArrowRight", FocusTarget::Op(op)) => layout.op_beside(op, false).map(FocusTarget::Op),
        ("ArrowLeft", FocusTarget::Op(op)) => layout.op_beside(op, true).map(FocusTarget::Op),
        ("ArrowDown", FocusTarget::Op(op)) => {
            let below = layout
                .edges
                .iter()
                .filter(|edge| edge.from == EdgeEnd::Op(op));
            // An edge may end at an op that is drawn inside the box of another.
            let readers = below.filter_map(|edge| edge.to.op());
            nearest(layout, op, readers.map(|reader| layout.shown_op(reader)))
        }
        ("ArrowUp", FocusTarget::Op(op)) => {
            let above = layout
                .edges
                .iter()
                .filter(|edge| edge.to.op().map(|reader| layout.shown_op(reader)) == Some(op));
            nearest(layout, op, above.filter_map(|edge| edge.from.op()))
        }
        _ => None,
    }
}

/// The next id after `id`, or the last one before it, that is shown.
fn beside<I: Id>(
    ids: impl DoubleEndedIterator<Item = I>,
    id: I,
    is_back: bool,
    is_shown: impl Fn(I) -> bool,
) -> Option<I> {
    let mut ids = ids.filter(|&other| is_shown(other));
    if is_back {
        ids.rfind(|&other| other < id)
    } else {
        ids.find(|&other| other > id)
    }
}

/// The nearest of several neighbours.
fn nearest(
    layout: &DagLayout,
    op: OpId,
    neighbours: impl Iterator<Item = OpId>,
) -> Option<FocusTarget> {
    let from = layout.ops.get(op)?.rect.center();
    let distance = |other: OpId| {
        layout.ops.get(other).map_or(f64::INFINITY, |o| {
            let to = o.rect.center();
            (to.x - from.x).abs() + (to.y - from.y).abs()
        })
    };
    neighbours
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .map(FocusTarget::Op)
}
