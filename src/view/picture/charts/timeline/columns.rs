//! Kernels in launch order along the horizontal axis.
//!
//! The unit of the axis is an op: a kernel is as wide as its ops together. So fusion closes the
//! gaps between boxes, and what is not fused keeps its place. A free view takes no room, for
//! nothing is launched.

use crate::picture::charts::Charted;
use fuseline_core::{Execution, IdVec, Kernel, KernelId, OpId};
use std::ops::Range;

/// Width below which neighbouring kernels share a column, in the scene's units, at least.
const MIN_WIDTH: f64 = 8.0;
/// As many columns of this width as there may be, so that marks are few on a wide screen, too.
const MOST_NARROW: f64 = 120.0;
/// Width of a column of later iterations.
const ITERATIONS_WIDTH: f64 = 30.0;
/// The most of the axis that these columns take together.
const MOST_FOR_ITERATIONS: f64 = 0.3;

/// A part of the horizontal axis.
#[derive(Clone, Debug)]
pub(super) struct TimelineColumn {
    /// The kernels of the execution that run in it.
    pub(super) kernels: Range<usize>,
    /// The first of those that run while the most bytes are live. The stack shows what is live
    /// then.
    pub(super) fullest: KernelId,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) kind: ColumnKind,
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// One kernel of the execution, and the fused kernel that its ops belong to.
    Kernel(KernelId),
    /// Several kernels that are too narrow to be told apart.
    Kernels,
    /// What equals the iteration before it; with the number of such iterations where it is known.
    Iterations(Option<usize>),
}

impl TimelineColumn {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn middle(&self) -> f64 {
        f64::midpoint(self.left, self.right)
    }
}

/// A kernel before it has a place.
struct Slot {
    kernel: KernelId,
    ops: usize,
    kind: ColumnKind,
}

/// The columns of an execution between two places, with the bytes that are `live` while each kernel
/// runs. `O(kernels)`.
pub(super) fn columns(
    charted: Charted<'_>,
    execution: &Execution,
    live: &IdVec<KernelId, u64>,
    (left, right): (f64, f64),
) -> Vec<TimelineColumn> {
    let slots = slots(charted, execution);
    let is_gap = |slot: &&Slot| matches!(slot.kind, ColumnKind::Iterations(_));
    let runs: Vec<&[Slot]> = slots.chunk_by(|a, b| is_gap(&a) && is_gap(&b)).collect();
    let gaps = runs
        .iter()
        .filter(|run| run.iter().any(|slot| is_gap(&slot)));
    let (width, gaps) = (right - left, gaps.count());
    let gap = ITERATIONS_WIDTH.min(MOST_FOR_ITERATIONS * width / gaps.max(1) as f64);
    let ops: usize = slots
        .iter()
        .filter(|slot| !is_gap(slot))
        .map(|slot| slot.ops)
        .sum();
    let per_op = (width - gap * gaps as f64) / ops.max(1) as f64;

    let min_width = MIN_WIDTH.max(width / MOST_NARROW);
    let is_narrow = |column: &TimelineColumn| {
        column.width() < min_width && !matches!(column.kind, ColumnKind::Iterations(_))
    };
    let mut columns: Vec<TimelineColumn> = Vec::new();
    let mut at = left;
    for run in runs {
        let Some((first, last)) = run.first().zip(run.last()) else {
            continue;
        };
        let is_gap = is_gap(&first);
        let end = at
            + if is_gap {
                gap
            } else {
                per_op * first.ops as f64
            };
        let column = TimelineColumn {
            kernels: first.kernel.index()..last.kernel.index() + 1,
            fullest: fullest(run, live).unwrap_or(first.kernel),
            left: at,
            right: end,
            kind: first.kind,
        };
        at = end;
        match columns.last_mut() {
            Some(before) if is_narrow(before) && is_narrow(&column) => before.join(&column, live),
            _ => columns.push(column),
        }
    }
    columns
}

impl TimelineColumn {
    fn join(&mut self, next: &Self, live: &IdVec<KernelId, u64>) {
        self.kernels.end = next.kernels.end;
        self.right = next.right;
        self.kind = ColumnKind::Kernels;
        if live.get(next.fullest) > live.get(self.fullest) {
            self.fullest = next.fullest;
        }
    }
}

fn fullest(run: &[Slot], live: &IdVec<KernelId, u64>) -> Option<KernelId> {
    let mut fullest: Option<KernelId> = None;
    for slot in run {
        if fullest.is_none_or(|before| live.get(slot.kernel) > live.get(before)) {
            fullest = Some(slot.kernel);
        }
    }
    fullest
}

/// All kernels that an execution launches, in order.
fn slots(charted: Charted<'_>, execution: &Execution) -> Vec<Slot> {
    let kernels = execution.kernels.iter_enumerated();
    let kernels = kernels.filter(|(_, kernel)| !kernel.is_free);
    let is_computed = |op: &&OpId| !charted.analysis.unfused.of_lone_op(**op).is_free;
    let slot = |(kernel, of): (KernelId, &Kernel)| Slot {
        kernel,
        ops: of.ops.iter().filter(is_computed).count().max(1),
        kind: kind(charted, kernel, of.ops.first().copied()),
    };
    kernels.map(slot).collect()
}

fn kind(charted: Charted<'_>, kernel: KernelId, op: Option<OpId>) -> ColumnKind {
    let Charted {
        analysis,
        repeats,
        is_fused,
        ..
    } = charted;
    let fused = if is_fused {
        kernel
    } else {
        let kernel_of = op.and_then(|op| analysis.partition.kernel_of.get(op));
        kernel_of.copied().unwrap_or_default()
    };
    // The iterations may be those of an older partition.
    let is_later = if is_fused {
        repeats.shown_kernel(kernel) < kernel
    } else {
        op.is_some_and(|op| repeats.shown_op(op) < op)
    };
    if is_later {
        ColumnKind::Iterations(
            repeats
                .iteration_of(fused)
                .map(|(run, _)| run.iterations - 1),
        )
    } else {
        ColumnKind::Kernel(fused)
    }
}
