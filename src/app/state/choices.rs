//! What a visitor chooses beside the text, and messages to the visitor.

use fuseline_core::{KernelId, Span};
use fuseline_view::page::links::SharedState;
use std::sync::Arc;
use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// Asks another component to take the focus. The component that made the element takes the request
/// when its view is up to date, and clears it, so no component has to find an element that another
/// one made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FocusRequest {
    /// The graph: the selected op or kernel, else the one that had the focus last, else the graph
    /// as a whole. Used when the element that had the focus was removed.
    Graph,
    /// The field that finds ops and tensors by name.
    Find,
    /// A fused kernel in the graph.
    GraphKernel(KernelId),
    /// The button of a fused kernel in the table of kernels.
    KernelButton(KernelId),
    /// The explanation of a fused kernel beside the table of kernels.
    KernelDetails(KernelId),
    /// This part of the text in the editor, which is selected and scrolled to.
    Text(Span),
}

/// The page's colours. The names are stored in the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Theme {
    /// As the system is set.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// How the op list is shown. The names are stored in the browser.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumIter, IntoStaticStr, EnumString,
)]
#[strum(serialize_all = "lowercase")]
pub enum OpsView {
    #[default]
    Text,
    /// As a table with form controls.
    Table,
    /// Not at all: the functions that an op may call are in its place.
    Functions,
}

impl OpsView {
    /// The label of its tab.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Text => "Text",
            Self::Table => "Table",
            Self::Functions => "Functions",
        }
    }
}

/// A message to the visitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// One or two sentences.
    pub text: String,
    /// Whether it reports a failure.
    pub is_failure: bool,
    /// What its button does, if it has one.
    pub action: Option<NoticeAction>,
}

/// What the button of a message does.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeAction {
    /// Undoes the last step.
    Undo,
    /// Writes the kernels of the policy that was chosen before `manual` as marks.
    MarkKernels {
        /// The kernels in words.
        kernels: String,
        /// The text with the marks.
        text: String,
    },
    /// Opens a link whose last start did not finish.
    OpenLink {
        /// What the link carries.
        state: Arc<SharedState>,
        /// Its short name.
        name: String,
    },
    /// Shows how a PyTorch model comes in.
    FromPytorch,
    /// Opens a stored document.
    OpenDocument {
        id: String,
        /// The label of the button.
        label: &'static str,
    },
}
