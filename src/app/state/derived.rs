//! What is computed from the text and the choices, as memos: each is computed when it is first read after a change.
//!
//! ```text
//! text ── parsed ──┐
//!                  ├── understood ──┬── diagnostics ── has_error
//! choices ─ options┘                └── last_good ── record ── steps ── shown (after `step`) ── analysis
//! ```
//!
//! A memo that nobody reads is not computed, and one whose sources have not changed keeps its value: the costly memos of a
//! tab cost nothing while it is closed, and nothing when it is opened again unchanged.
//!
//! Of a large program the worker chooses the kernels and places the boxes. Until it has answered, `understood` and all that
//! follows keep their last values; then the analysis, the graph and the charts come in a task each.

use super::analysed::{AnalysedText, Source, Understood};
use super::hold::Hold;
use super::memos::{answered, in_next_task, shared_memo, shared_option};
use super::selection::{NamedSelection, Selection};
use crate::app::background::Background;
use crate::app::history::keeps_little;
use crate::app::jobs::{Answer, Job, Task, is_quick, parse_if_short};
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::fusion::record::Record;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::Parsed;
use fuseline_core::{
    Analysis, Conventions, Device, Diagnostic, Fix, FusionOptions, Options, Partition, Policy,
};
use fuseline_view::picture::dag::Folding;
use fuseline_view::present::findings::Shown;
use fuseline_view::present::steps::Steps;
use leptos::prelude::*;
use std::sync::Arc;

/// States that a search visits while a slider is dragged, so that the handler of one event stays short.
const DRAG_BUDGET_STATES: usize = 2_000;

/// Under what choices the text is analysed. While a slider is dragged, a search has a small budget.
pub(super) fn options(
    policy: RwSignal<Policy>,
    fusion: RwSignal<FusionOptions>,
    conventions: RwSignal<Conventions>,
    device: RwSignal<Device>,
    own_calibrations: RwSignal<Option<Arc<Calibrations>>>,
    hold: Hold,
) -> Memo<Options> {
    Memo::new(move |_| {
        let mut options = Options {
            policy: policy.get(),
            fusion: fusion.get(),
            conventions: conventions.get(),
            device: device.get(),
            own_calibrations: own_calibrations.get(),
        };
        options.fusion.budget_states = PAGE_BUDGET_STATES;
        if options.policy == Policy::Optimal && hold.is_dragging() {
            options.fusion.budget_states = DRAG_BUDGET_STATES;
        }
        options
    })
}

pub(super) fn parsed(text: ReadSignal<String>) -> Memo<Arc<Parsed>> {
    shared_memo(move |_| Arc::new(text.with(|text| parse_if_short(text))))
}

/// The text in a form that others keep.
pub(super) fn shared_text(text: ReadSignal<String>) -> Memo<Arc<str>> {
    Memo::new(move |_| text.with(|text| text.as_str().into()))
}

/// What the worker has to compute before the present text is understood; `None` if that is quick.
pub(super) fn wanted_picture(
    text: Memo<Arc<str>>,
    parsed: Memo<Arc<Parsed>>,
    options: Memo<Options>,
    folding: Memo<Folding>,
) -> Memo<Option<Job>> {
    Memo::new(move |_| {
        let is_quick = parsed.with(|parsed| is_quick(&parsed.program));
        (!is_quick).then(|| Job {
            text: text.get(),
            options: options.get(),
            task: Task::Picture {
                step: None,
                folding: folding.get(),
            },
        })
    })
}

/// The present text with the kernels that the worker has chosen; `None` without a wanted picture, and until it is there.
///
/// The analysis and the pictures of it are each a task of some 50 ms for 2,000 ops: between them the page answers its visitor.
pub(super) fn understood_by_worker(
    text: Memo<Arc<str>>,
    parsed: Memo<Arc<Parsed>>,
    options: Memo<Options>,
    wanted_picture: Memo<Option<Job>>,
    worker: Background,
) -> Memo<Option<Arc<Understood>>> {
    let picture = answered(wanted_picture, worker);
    let understood = shared_option(move || {
        let answer = picture.get()?;
        let (source, options) = (source(text, parsed), options.get());
        let known = source.clone().understood_with(&options, &answer);
        Some(Arc::new(
            known.unwrap_or_else(|| source.understood(&options)),
        ))
    });
    in_next_task(understood)
}

/// Of the present text; of an older one while `is_computing`.
pub(super) fn understood(
    text: Memo<Arc<str>>,
    parsed: Memo<Arc<Parsed>>,
    options: Memo<Options>,
    by_worker: Memo<Option<Arc<Understood>>>,
    is_computing: Memo<bool>,
) -> Memo<Arc<Understood>> {
    shared_memo(move |last| {
        if is_computing.get() {
            return last.cloned().unwrap_or_else(|| {
                Arc::new(Understood {
                    analysed: None,
                    diagnostics: Vec::new(),
                })
            });
        }
        let here = || Arc::new(source(text, parsed).understood(&options.get()));
        by_worker.get().unwrap_or_else(here)
    })
}

fn source(text: Memo<Arc<str>>, parsed: Memo<Arc<Parsed>>) -> Source {
    Source {
        text: text.get(),
        parsed: parsed.get(),
    }
}

/// Compared by value: a slider rarely changes a diagnostic.
pub(super) fn diagnostics(
    parsed: Memo<Arc<Parsed>>,
    understood: Memo<Arc<Understood>>,
    is_computing: Memo<bool>,
) -> Memo<Arc<Vec<Diagnostic>>> {
    Memo::new(move |_| {
        Arc::new(if is_computing.get() {
            parsed.with(|parsed| parsed.diagnostics.clone())
        } else {
            understood.with(|understood| understood.diagnostics.clone())
        })
    })
}

/// Each is tried on the whole text, which takes longer than all else that a slider's event needs: while one is dragged, those
/// from before stay, and [`Page::correct`](super::Page::correct) makes none.
pub(super) fn fixes(
    text: Memo<Arc<str>>,
    diagnostics: Memo<Arc<Vec<Diagnostic>>>,
    hold: Hold,
) -> Memo<Arc<Vec<Vec<Fix>>>> {
    Memo::new(move |last: Option<&Arc<Vec<Vec<Fix>>>>| {
        let is_as_many =
            |last: &&Arc<Vec<Vec<Fix>>>| diagnostics.with(|all| all.len() == last.len());
        if hold.is_dragging()
            && let Some(last) = last.filter(is_as_many)
        {
            return last.clone();
        }
        let fixes = text.with(|text| diagnostics.with(|all| sound_fixes(text, all)));
        Arc::new(fixes)
    })
}

pub(super) fn has_error(diagnostics: Memo<Arc<Vec<Diagnostic>>>) -> Memo<bool> {
    Memo::new(move |_| diagnostics.with(|all| has_errors(all)))
}

/// What is shown of a text with errors.
pub(super) fn shown_in_error(last_good: Memo<Arc<AnalysedText>>) -> Memo<Shown> {
    Memo::new(move |_| {
        if last_good.with(|shown| shown.has_error) {
            Shown::ReadableLines
        } else {
            Shown::LastGoodText
        }
    })
}

/// The last text without an error that is understood, analysed under the present choices. Before there is one, and when another
/// program has taken its place, what can be read of the present text.
pub(super) fn last_good(
    text: Memo<Arc<str>>,
    understood: Memo<Arc<Understood>>,
    has_error: Memo<bool>,
    is_computing: Memo<bool>,
    options: Memo<Options>,
    folding: Memo<Folding>,
    worker: Background,
) -> Memo<Arc<AnalysedText>> {
    shared_memo(move |last| {
        let options = options.get();
        let is_worth_keeping = |last: &&Arc<AnalysedText>| {
            let is_edit = || text.with(|text| !keeps_little(&last.text, text));
            !last.analysis.graph.ops.is_empty()
                && (is_computing.get() || !last.has_error && is_edit())
        };
        let is_stale = has_error.get() || is_computing.get();
        if is_stale && let Some(last) = last.filter(is_worth_keeping) {
            if is_computing.get() || last.analysis.options == options {
                return last.clone();
            }
            let analysed = analysed_under(last, &options, folding.get(), worker);
            return analysed.unwrap_or_else(|| last.clone());
        }
        let analysed = understood.with(|understood| understood.analysed.clone());
        analysed.unwrap_or_else(|| {
            Arc::new(AnalysedText {
                has_error: has_error.get(),
                ..AnalysedText::empty(&options)
            })
        })
    })
}

/// A text under other choices; `None` until the worker has answered, or if no analysis is possible.
fn analysed_under(
    last: &AnalysedText,
    options: &Options,
    folding: Folding,
    worker: Background,
) -> Option<Arc<AnalysedText>> {
    let source = Source {
        text: last.text.clone(),
        parsed: last.parsed.clone(),
    };
    if !last.is_long() {
        return source.understood(options).analysed;
    }
    let answer = worker.answer(&Job {
        options: options.clone(),
        ..last.job(Task::Picture {
            step: None,
            folding,
        })
    })?;
    source.understood_with(options, &answer)?.analysed
}

/// `last_good`, or while the *Steps* tab is open, with the kernels after the first `step` decisions; of an older step or
/// text while the worker computes that.
pub(super) fn shown(
    last_good: Memo<Arc<AnalysedText>>,
    record: Memo<Option<Arc<Record>>>,
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
        let record = record.get()?;
        last_good.with(|last_good| Some(record.partition_after(&last_good.analysis.graph, step)))
    });
    let job = Memo::new(move |_| {
        let task = Task::Picture {
            step: Some(earlier_step.get()?),
            folding: folding.get(),
        };
        last_good.with(|last_good| last_good.is_long().then(|| last_good.job(task)))
    });
    let picture = answered(job, worker);
    let waits_for_steps = Memo::new(move |_| {
        let is_earlier = step.get().is_some_and(|step| step != usize::MAX);
        is_earlier && last_good.with(|last_good| last_good.is_long()) && steps.with(Option::is_none)
    });
    shared_memo(move |last| {
        let last_good = last_good.get();
        if waits_for_steps.get() {
            return last.cloned().unwrap_or(last_good);
        }
        let after = |kernels: Partition, layout, step| {
            Arc::new(AnalysedText {
                analysis: Arc::new(analysis_with(&last_good.analysis, kernels)),
                layout,
                step,
                ..AnalysedText::clone(&last_good)
            })
        };
        if let Some(Task::Picture { step, .. }) = job.with(|job| job.as_ref().map(|job| job.task)) {
            return match picture.get().as_deref() {
                Some(Answer::Picture { plan, layout }) => {
                    after(plan.partition.clone(), layout.clone(), step)
                }
                _ => last.cloned().unwrap_or_else(|| last_good.clone()),
            };
        }
        kernels_at_step.with(|kernels| match kernels {
            None => last_good.clone(),
            Some(kernels) => after(kernels.clone(), None, step.get_untracked()),
        })
    })
}

/// `shown`, or while the text has errors, the analysis of its valid statements; `None` while the worker computes that.
pub(super) fn present(
    understood: Memo<Arc<Understood>>,
    has_error: Memo<bool>,
    is_computing: Memo<bool>,
    shown: Memo<Arc<AnalysedText>>,
) -> Signal<Option<Arc<AnalysedText>>> {
    Signal::derive(move || {
        if is_computing.get() {
            None
        } else if has_error.get() {
            understood.with(|understood| understood.analysed.clone())
        } else {
            Some(shown.get())
        }
    })
}

pub(super) fn analysis(shown: Memo<Arc<AnalysedText>>) -> Memo<Arc<Analysis>> {
    shared_memo(move |_| shown.with(|shown| shown.analysis.clone()))
}

pub(super) fn selection(
    selected: RwSignal<NamedSelection>,
    analysis: Memo<Arc<Analysis>>,
) -> Memo<Selection> {
    Memo::new(move |_| {
        selected.with(|selected| analysis.with(|analysis| selected.in_analysis(analysis)))
    })
}
