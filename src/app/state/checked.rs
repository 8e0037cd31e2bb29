//! What is wrong with the text, and whether it is understood.

use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::{Diagnostic, Fix};
use fuseline_view::present::findings::ShownText;
use leptos::prelude::*;
use std::sync::Arc;

/// What is wrong with the text, and whether it is understood.
#[derive(Clone, Copy)]
pub struct Checked {
    /// All errors, warnings and notes, in text order.
    pub diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    /// For each of them the corrections that hold in the text; while a slider is dragged, those
    /// from before.
    pub fixes: Memo<Arc<Vec<Vec<Fix>>>>,
    /// Whether the text has an error.
    pub has_error: Memo<bool>,
    /// What is shown while the text has an error.
    pub shown_in_error: Memo<ShownText>,
    /// Whether the worker has not understood the text yet.
    pub is_computing: Memo<bool>,
    /// Whether an older analysis is shown, because the text has an error or is not understood yet.
    pub is_stale: Memo<bool>,
    /// Whether the page is grey, because it shows an older analysis. Not for the moment that an
    /// event of a slider takes.
    pub is_grey: Memo<bool>,
}

impl Checked {
    pub(super) fn new(
        diagnostics: Memo<Arc<Vec<Diagnostic>>>,
        fixes: Memo<Arc<Vec<Vec<Fix>>>>,
        is_computing: Memo<bool>,
        last_good: Memo<Arc<AnalysedText>>,
        worker: Background,
    ) -> Self {
        let has_error = Memo::new(move |_| diagnostics.with(|all| has_errors(all)));
        let shown_in_error = move |_: Option<&ShownText>| {
            if last_good.with(|shown| shown.has_error()) {
                ShownText::ReadableLines
            } else {
                ShownText::LastGoodText
            }
        };
        Self {
            diagnostics,
            fixes,
            has_error,
            shown_in_error: Memo::new(shown_in_error),
            is_computing,
            is_stale: Memo::new(move |_| has_error.get() || is_computing.get()),
            is_grey: Memo::new(move |_| {
                has_error.get() || is_computing.get() && worker.takes_long.get()
            }),
        }
    }
}
