//! What a visitor chooses beside the text: what is selected and how it is shown.

use crate::core::{Analysis, KernelId, OpId, Span};
use strum::{EnumIter, EnumString, IntoStaticStr};

/// What is selected, in all views at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Nothing.
    #[default]
    Nothing,
    /// One op of the analysed graph.
    Op(OpId),
    /// One fused kernel, by its id in the analysis.
    Kernel(KernelId),
    /// A tensor on its way from one op to another.
    Edge {
        /// The op that writes it.
        producer: OpId,
        /// The op that reads it.
        consumer: OpId,
    },
}

impl Selection {
    /// The fused kernel that is selected, itself or through one of its ops.
    pub fn kernel(self, analysis: &Analysis) -> Option<KernelId> {
        match self {
            Self::Nothing | Self::Edge { .. } => None,
            Self::Op(op) => analysis.partition.kernel_of.get(op).copied(),
            Self::Kernel(kernel) => analysis.fused.kernels.get(kernel).map(|_| kernel),
        }
    }
}

/// A place for the focus in another component than the one that asks. Who owns the place takes the request, once what
/// it shows is up to date, and clears it: no component looks for an element that another one made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FocusRequest {
    /// The graph: the op or kernel that is selected, else the part that had the focus last, else the graph as a whole. For a
    /// focus whose element has left the page.
    Graph,
    /// A fused kernel in the graph.
    GraphKernel(KernelId),
    /// The button of a fused kernel in the table of kernels.
    KernelButton(KernelId),
    /// A place of the text in the editor, which is selected and scrolled to.
    Text(Span),
}

/// The page's colours. Its names stand in the visitor's storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Theme {
    /// As the system says.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// How the op list is shown. Its names stand in the visitor's storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumIter, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum OpsView {
    /// As text.
    #[default]
    Text,
    /// As a table with form controls.
    Table,
}

impl OpsView {
    /// What its tab says.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Table => "Table",
        }
    }
}

/// The tabs of the panel below the pictures, in their order. Their names stand in links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumIter, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Tab {
    /// The kernels with their figures.
    #[default]
    Kernels,
    /// All policies side by side.
    Compare,
    /// Why edges are not fused.
    Why,
    /// The decisions of the policy, one by one.
    Steps,
    /// What each kernel asks of the device.
    Limits,
    /// Attention as one kernel.
    Attention,
    /// The model against a real GPU.
    Measured,
}

impl Tab {
    /// What the tab says.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernels => "Kernels",
            Self::Compare => "Compare",
            Self::Why => "Why not",
            Self::Steps => "Steps",
            Self::Limits => "Limits",
            Self::Attention => "Attention",
            Self::Measured => "Measured",
        }
    }
}

/// A message to the visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// One or two sentences.
    pub text: String,
    /// It tells of a failure.
    pub is_failure: bool,
    /// It has a button that takes the last edit back.
    pub offers_undo: bool,
}
