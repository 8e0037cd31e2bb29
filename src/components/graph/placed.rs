//! A graph with its layout, and what refers to one layout.

use crate::app::state::{Drawn, Selection};
use fuseline_core::{Analysis, IdVec, KernelId, OpId};
use fuseline_view::picture::dag::focus::FocusTarget;
use fuseline_view::picture::dag::in_columns::in_columns;
use fuseline_view::picture::dag::viewport::Size;
use fuseline_view::picture::dag::wrap::{MAX_COLUMNS, columns_on_page, wrap, wrap_in_step};
use fuseline_view::picture::dag::{DagLayout, Edge};
use fuseline_view::present::badge::{KernelLook, kernel_looks};
use leptos::prelude::*;
use std::sync::Arc;

/// A smaller change of the canvas's width is ignored.
const LEAST_CHANGE_PX: f64 = 1.0;

/// A graph with its layout, in as many columns as suit the canvas.
pub(super) struct PlacedGraph {
    /// Number of layouts before this one.
    pub(super) number: usize,
    /// The analysis at the time of the layout, as in [`Drawn`].
    pub(super) analysis: Arc<Analysis>,
    pub(super) layout: Arc<DagLayout>,
    pub(super) kernel_looks: IdVec<KernelId, KernelLook>,
    /// Number of ops that are drawn.
    pub(super) shown_ops: usize,
    drawn: Arc<Drawn>,
    /// Width of the canvas.
    width: f64,
    /// Number of columns of a puzzle.
    columns: Option<usize>,
    /// Number of columns of a puzzle before the last move.
    before: Option<usize>,
}

/// A graph in the props of the components that show it.
pub(super) type StoredGraph = StoredValue<Arc<PlacedGraph>>;

/// What a graph stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphRoom {
    /// A pane of the page.
    Pane,
    /// Beside a lesson, whose step is about all of it.
    Step,
    /// The page of a puzzle, whose kernels are all in play.
    Page {
        /// A hint stands above it. It takes room, and what it names must not move.
        has_hint: bool,
    },
}

impl PlacedGraph {
    /// `last` as long as the canvas has room for as many columns of the same graph, else a new
    /// layout.
    pub(super) fn of(
        drawn: Arc<Drawn>,
        canvas: Size,
        room: GraphRoom,
        last: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        // A hint must not move the kernels that it names.
        if let Some(last) = last
            && matches!(room, GraphRoom::Page { has_hint: true })
            && Arc::ptr_eq(&last.drawn, &drawn)
            && (last.width - canvas.0).abs() < LEAST_CHANGE_PX
        {
            return last.clone();
        }
        let (mut before, mut columns) = (None, None);
        let wrapped = match room {
            GraphRoom::Pane => wrap(&drawn.layout, canvas, MAX_COLUMNS),
            GraphRoom::Step => wrap_in_step(&drawn.layout, canvas),
            GraphRoom::Page { .. } => {
                before = last.and_then(|last| last.columns_before(&drawn));
                let count = columns_on_page(&drawn.layout, canvas, before);
                columns = Some(count);
                (count > 1)
                    .then(|| in_columns(&drawn.layout, count))
                    .flatten()
            }
        };
        let layout = wrapped.map_or_else(|| drawn.layout.clone(), Arc::new);
        if let Some(last) = last
            && Arc::ptr_eq(&last.drawn, &drawn)
            // Another number of columns has another size.
            && last.layout.size() == layout.size()
        {
            return last.clone();
        }
        Arc::new(Self {
            number: last.map_or(0, |last| last.number + 1),
            analysis: drawn.analysis.clone(),
            shown_ops: layout.shown_op_count(),
            layout,
            kernel_looks: kernel_looks(&drawn.analysis.partition),
            drawn,
            width: canvas.0,
            columns,
            before,
        })
    }

    /// The number of columns before the last move; `None` at the start of a puzzle. The frame may
    /// not have its size yet, so what was chosen for these kernels before does not count.
    fn columns_before(&self, drawn: &Arc<Drawn>) -> Option<usize> {
        if Arc::ptr_eq(&self.drawn, drawn) {
            return self.before;
        }
        let [own, other] = [&self.analysis, &drawn.analysis].map(|of| of.graph.ops.iter());
        let is_same_program = own.map(|op| &op.name).eq(other.map(|op| &op.name));
        self.columns.filter(|_| is_same_program)
    }

    /// The part of the picture that shows a selection, or stands for it.
    pub(super) fn shown(&self, selection: Selection) -> Selection {
        let DagLayout { repeats, .. } = &*self.layout;
        let shown_op = |op| self.layout.shown_op(op);
        match selection {
            Selection::Nothing => Selection::Nothing,
            Selection::Op(op) => Selection::Op(shown_op(op)),
            Selection::Kernel(kernel) => Selection::Kernel(repeats.shown_kernel(kernel)),
            Selection::Edge { producer, consumer } => Selection::Edge {
                producer: shown_op(producer),
                consumer: shown_op(consumer),
            },
            Selection::Tensor(tensor) => {
                Selection::Tensor(repeats.shown_tensor(&self.analysis.graph, tensor))
            }
        }
    }

    /// Whether an edge starts or ends at the selection.
    pub(super) fn touches(&self, edge: &Edge, selection: Selection) -> bool {
        let [from, to] = [edge.from, edge.to].map(|end| Some(self.layout.shown_op(end.op()?)));
        let mut ends = [from, to].into_iter().flatten();
        let kernel_of = &self.analysis.partition.kernel_of;
        match selection {
            Selection::Nothing | Selection::Tensor(_) => false,
            Selection::Op(op) => ends.any(|end| end == op),
            Selection::Edge { producer, consumer } => {
                (from, to) == (Some(producer), Some(consumer))
            }
            Selection::Kernel(kernel) => ends.any(|end| kernel_of.get(end) == Some(&kernel)),
        }
    }

    /// The name of an op or a kernel.
    pub(super) fn name_of(&self, target: FocusTarget) -> Option<TargetName> {
        let (is_kernel, op): (bool, OpId) = match target {
            FocusTarget::Op(op) => (false, op),
            FocusTarget::Kernel(kernel) => {
                let ops = self.analysis.partition.kernels.get(kernel)?;
                (true, *ops.first()?)
            }
        };
        let op = self.analysis.graph.ops.get(op)?.name.clone();
        Some(TargetName { is_kernel, op })
    }

    /// The op or kernel with a name.
    pub(super) fn target_named(&self, name: &TargetName) -> Option<FocusTarget> {
        let op = self.analysis.graph.op_named(&name.op)?;
        if name.is_kernel {
            let kernel = self.analysis.partition.kernel_of.get(op).copied();
            Some(self.layout.shown(FocusTarget::Kernel(kernel?)))
        } else {
            Some(self.layout.shown(FocusTarget::Op(op)))
        }
    }
}

/// Names an op, or a kernel by its first op. Ids may change with an edit, names stay.
#[derive(Clone, PartialEq)]
pub(super) struct TargetName {
    is_kernel: bool,
    op: String,
}

/// A value that is valid for one layout only.
#[derive(Clone, Copy)]
pub(super) struct ForLayout<T> {
    pub(super) number: usize,
    pub(super) value: T,
}
