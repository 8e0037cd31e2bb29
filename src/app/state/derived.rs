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

use super::memos::{answered, in_next_task, shared_memo, shared_option};
use super::selection::{NamedSelection, Selection};
use super::slider::SliderState;
use crate::app::analysed::{AnalysedText, AnalysisInput, PlacedPlan};
use crate::app::background::Background;
use crate::app::history::keeps_little;
use crate::app::jobs::Job;
use crate::app::queries::Picture;
use crate::app::text_limits::parse_if_short;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, Diagnostic, Fix, Options, Plan};
use fuseline_view::picture::dag::Folding;
use fuseline_view::present::steps::Steps;
use leptos::prelude::*;
use std::sync::Arc;

pub(super) fn parsed(text: ReadSignal<String>) -> Memo<Arc<Parsed>> {
    shared_memo(move |_| Arc::new(text.with(|text| parse_if_short(text))))
}

/// The text in a form that others keep.
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

/// What the worker has to compute before the present text is understood; `None` if that is quick.
pub(super) fn wanted_picture(
    present_text: Memo<Arc<AnalysedText>>,
    folding: Memo<Folding>,
) -> Memo<Option<Job>> {
    Memo::new(move |_| {
        let picture = || Picture {
            folding: folding.get(),
        };
        present_text.with(|text| text.is_long().then(|| Job::new(picture(), text)))
    })
}

/// The present text with the kernels that the worker has chosen; `None` without a wanted picture,
/// and until it is there.
///
/// The analysis and the pictures of it are each a task of some 50 ms for 2,000 ops: between them
/// the page answers its visitor.
pub(super) fn understood_by_worker(
    present_text: Memo<Arc<AnalysedText>>,
    wanted_picture: Memo<Option<Job>>,
    worker: Background,
) -> Memo<Option<Arc<AnalysedText>>> {
    let picture = answered::<Picture>(wanted_picture, worker);
    let understood = shared_option(move || {
        let picture = picture.get()?;
        let understood = present_text.with(|text| text.fresh().with_picture(&picture));
        // In this task, and not in that of what reads it first.
        understood.analysis();
        Some(Arc::new(understood))
    });
    in_next_task(understood)
}

/// The present text; an older one while `is_computing`.
pub(super) fn understood(
    present_text: Memo<Arc<AnalysedText>>,
    by_worker: Memo<Option<Arc<AnalysedText>>>,
    is_computing: Memo<bool>,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |last| {
        if is_computing.get() {
            let nothing =
                || present_text.with(|text| AnalysedText::empty(&text.options, Arc::default()));
            return last.cloned().unwrap_or_else(|| Arc::new(nothing()));
        }
        by_worker.get().unwrap_or_else(|| present_text.get())
    })
}

/// Compared by value: a slider rarely changes a diagnostic.
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

/// Each is tried on the whole text, which takes longer than all else that a slider's event needs:
/// while one is dragged, those from before stay, and [`Page::correct`](super::Page::correct) makes
/// none.
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

/// `last_good`, or while the *Steps* tab is open, with the kernels after the first `step`
/// decisions; of an older step or text while the worker computes that.
pub(super) fn shown(
    last_good: Memo<Arc<AnalysedText>>,
    steps: Memo<Option<Arc<Steps>>>,
    step: RwSignal<Option<usize>>,
    folding: Memo<Folding>,
    worker: Background,
) -> Memo<Arc<AnalysedText>> {
    // The tab opens at the end, where the kernels are known.
    let earlier_step = Memo::new(move |_| {
        let step = step.get()?;
        let count = steps.with(|steps| Some(steps.as_ref()?.count()))?;
        (step < count).then_some(step)
    });
    // Many decisions change no kernel: then this memo stays equal and its readers do not run.
    let kernels_at_step = Memo::new(move |_| {
        let step = earlier_step.get()?;
        last_good.with(|last_good| {
            let kernels = || last_good.record().partition_after(last_good.graph(), step);
            (!last_good.is_long()).then(kernels)
        })
    });
    let job = Memo::new(move |_| {
        let step = earlier_step.get()?;
        let picture = Picture {
            folding: folding.get(),
        };
        last_good.with(|last_good| {
            let job = || Job {
                input: AnalysisInput {
                    step: Some(step),
                    ..last_good.input()
                },
                task: picture.into(),
            };
            last_good.is_long().then(job)
        })
    });
    let picture = answered::<Picture>(job, worker);
    let waits_for_steps = Memo::new(move |_| {
        let is_earlier = step.get().is_some_and(|step| step != usize::MAX);
        is_earlier && last_good.with(|last_good| last_good.is_long()) && steps.with(Option::is_none)
    });
    shared_memo(move |last| {
        let last_good = last_good.get();
        if waits_for_steps.get() {
            return last.cloned().unwrap_or(last_good);
        }
        let after = |step, picture: &PlacedPlan| {
            Arc::new(AnalysedText::after(&last_good, step).with_picture(picture))
        };
        if let Some(step) = job.with(|job| job.as_ref()?.input.step) {
            return match picture.get() {
                Some(picture) => after(step, &picture),
                None => last.cloned().unwrap_or_else(|| last_good.clone()),
            };
        }
        let kernels = kernels_at_step.get();
        match step.get_untracked().zip(kernels) {
            Some((step, partition)) => after(
                step,
                &PlacedPlan {
                    plan: Plan {
                        partition,
                        ..Plan::default()
                    },
                    layout: None,
                },
            ),
            None => last_good.clone(),
        }
    })
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
