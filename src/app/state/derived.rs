//! What is computed from the text and the choices, as memos: each is computed when it is first read
//! after a change.
//!
//! ```text
//! text ── parsed ───┐
//!                   ├── present_text ── understood ──┬── diagnostics
//! choices ─ options ┘                                └── last_good ── steps ── shown
//! ```
//!
//! A memo that nobody reads is not computed, and one whose sources have not changed keeps its
//! value: the costly memos of a tab cost nothing while it is closed, and nothing when it is opened
//! again unchanged.
//!
//! Of a large program the worker chooses the kernels and places the boxes. Until it has answered,
//! `understood` and all that follows keep their last values; then the analysis, the graph and the
//! charts come in a task each.

use super::memos::shared_memo;
use super::selection::{NamedSelection, Selection};
use super::slider::SliderState;
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::history::keeps_little;
use crate::app::jobs::Job;
use crate::app::queries::Picture;
use crate::app::text_limits::parse_if_short;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, Diagnostic, Fix, Options};
use fuseline_view::picture::dag::Folding;
use leptos::prelude::*;
use std::sync::Arc;

pub(super) fn parsed(text: ReadSignal<String>) -> Memo<Arc<Parsed>> {
    shared_memo(move |_| Arc::new(text.with(|text| parse_if_short(text))))
}

/// The text as a shared `Arc`.
pub(super) fn shared_text(text: ReadSignal<String>) -> Memo<Arc<str>> {
    Memo::new(move |_| text.with(|text| text.as_str().into()))
}

/// The present text under the present choices, before anything is computed about it.
pub(super) fn present_text(
    text: Memo<Arc<str>>,
    parsed: Memo<Arc<Parsed>>,
    options: Memo<Options>,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |_| Arc::new(AnalysedText::new(text.get(), parsed.get(), options.get())))
}

/// All errors, warnings and notes, compared by value: a slider rarely changes one.
pub(super) fn diagnostics(
    parsed: Memo<Arc<Parsed>>,
    understood: Memo<Arc<AnalysedText>>,
    is_computing: Memo<bool>,
) -> Memo<Arc<Vec<Diagnostic>>> {
    Memo::new(move |_| {
        if is_computing.get() {
            Arc::new(parsed.with(|parsed| parsed.diagnostics.clone()))
        } else {
            understood.with(|understood| understood.diagnostics().clone())
        }
    })
}

/// The corrections of each diagnostic. Each is tried on the whole text, which takes longer than the
/// rest of a slider's event: while one is dragged, the last corrections stay, and
/// [`Page::correct`](super::Page::correct) makes none.
pub(super) fn fixes(
    text: Memo<Arc<str>>,
    diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    slider: SliderState,
) -> Memo<Arc<Vec<Vec<Fix>>>> {
    Memo::new(move |last: Option<&Arc<Vec<Vec<Fix>>>>| {
        let is_as_many =
            |last: &&Arc<Vec<Vec<Fix>>>| diagnostics.with(|all| all.len() == last.len());
        if slider.is_dragging()
            && let Some(last) = last.filter(is_as_many)
        {
            return last.clone();
        }
        let fixes = text.with(|text| diagnostics.with(|all| sound_fixes(text, all)));
        Arc::new(fixes)
    })
}

/// The last text without an error that is understood, analysed under the present choices. Before
/// there is one, and when another program has taken its place, what can be read of the present
/// text.
pub(super) fn last_good(
    present_text: Memo<Arc<AnalysedText>>,
    understood: Memo<Arc<AnalysedText>>,
    diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    is_computing: Memo<bool>,
    folding: Memo<Folding>,
    worker: Background,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |last| {
        let (present, diagnostics) = (present_text.get(), diagnostics.get());
        let options = &present.options;
        let is_worth_keeping = |last: &&Arc<AnalysedText>| {
            let is_edit = || !keeps_little(&last.text, &present.text);
            !last.analysis().graph.ops.is_empty()
                && (is_computing.get() || !last.has_error() && is_edit())
        };
        let is_stale = has_errors(&diagnostics) || is_computing.get();
        if is_stale && let Some(last) = last.filter(is_worth_keeping) {
            if is_computing.get() || last.options == *options {
                return last.clone();
            }
            let analysed = analysed_under(last, options, folding.get(), worker);
            return analysed.map_or_else(|| last.clone(), Arc::new);
        }
        let understood = understood.get();
        if understood.has_graph() {
            return understood;
        }
        Arc::new(AnalysedText::empty(options, diagnostics))
    })
}

/// A text under other choices; `None` until the worker has answered, or if no analysis is possible.
fn analysed_under(
    last: &AnalysedText,
    options: &Options,
    folding: Folding,
    worker: Background,
) -> Option<AnalysedText> {
    let text = AnalysedText::new(last.text.clone(), last.parsed.clone(), options.clone());
    let analysed = if text.is_long() {
        let picture = worker.answer::<Picture>(&Job::new(Picture { folding }, &text))?;
        text.with_picture(&picture)
    } else {
        text
    };
    analysed.has_graph().then_some(analysed)
}

/// `shown`, or while the text has errors, the analysis of its valid statements; `None` while the
/// worker computes that.
pub(super) fn present(
    understood: Memo<Arc<AnalysedText>>,
    has_error: Memo<bool>,
    is_computing: Memo<bool>,
    shown: Memo<Arc<AnalysedText>>,
) -> Signal<Option<Arc<AnalysedText>>> {
    Signal::derive(move || {
        if is_computing.get() {
            None
        } else if has_error.get() {
            Some(understood.get()).filter(|understood| understood.has_graph())
        } else {
            Some(shown.get())
        }
    })
}

pub(super) fn analysis(shown: Memo<Arc<AnalysedText>>) -> Memo<Arc<Analysis>> {
    shared_memo(move |_| shown.with(|shown| shown.analysis().clone()))
}

pub(super) fn selection(
    selected: RwSignal<NamedSelection>,
    analysis: Memo<Arc<Analysis>>,
) -> Memo<Selection> {
    Memo::new(move |_| {
        selected.with(|selected| analysis.with(|analysis| selected.in_analysis(analysis)))
    })
}
