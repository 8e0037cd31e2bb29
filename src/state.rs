//! What the page knows: the text, and what the visitor chose beside it.

use crate::core::{Analysis, OpId};

/// What is selected, in all views at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Nothing.
    #[default]
    Nothing,
    /// One op of the analysed graph.
    Op(OpId),
    /// One fused kernel, by its place in the analysis (0-based; people see it 1-based).
    Kernel(usize),
}

impl Selection {
    /// The fused kernel that is selected, itself or through one of its ops.
    pub fn kernel(self, analysis: &Analysis) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Op(op) => analysis.partition.group_of.get(op).copied(),
            Self::Kernel(kernel) => (kernel < analysis.fused.kernels.len()).then_some(kernel),
        }
    }
}
