//! Where the visitor looks.

use super::placed::{ForLayout, PlacedGraph};
use fuseline_view::picture::dag::motion::Motion;
use fuseline_view::picture::dag::viewport::Viewport;
use std::sync::Arc;

/// Where the visitor looks.
#[derive(Clone, Copy)]
pub(super) enum Aim {
    /// At the whole picture.
    Whole {
        /// Number of ops of the graph.
        op_count: usize,
    },
    Part {
        viewport: Viewport,
        /// Whether the visitor moved the picture there, and not a selection or the focus.
        is_by_visitor: bool,
        /// Number of ops of the graph.
        op_count: usize,
    },
}

/// Where the visitor looked before the picture was moved to what is selected.
#[derive(Clone, Copy)]
pub(super) struct BeforeReveal {
    pub(super) aim: Option<ForLayout<Aim>>,
    /// Where the picture was moved to.
    pub(super) revealed: Viewport,
}

/// The pictures that were in view last.
#[derive(Default)]
pub(super) struct Views {
    /// The present one and the one before it, and where on the canvas each was.
    pub(super) last: [Option<(Arc<PlacedGraph>, Viewport)>; 2],
    /// While a new picture is mounted.
    pub(super) motion: Option<Motion>,
}

impl ForLayout<Aim> {
    /// The aim, if it is valid for `graph`. A visitor who looks at the whole picture does so when
    /// kernels merge or another policy fuses, too. While they step through decisions, a part of
    /// their own choice stays valid for the layouts of all steps.
    pub(super) fn valid_for(self, graph: &PlacedGraph, is_stepping: bool) -> Option<Aim> {
        let is_kept = match self.value {
            Aim::Part {
                is_by_visitor,
                op_count,
                ..
            } => is_stepping && is_by_visitor && op_count == graph.layout.ops.len(),
            Aim::Whole { op_count } => op_count == graph.layout.ops.len(),
        };
        (self.number == graph.number || is_kept).then_some(self.value)
    }
}
