//! The decisions that led to the kernels, one by one, as the *Steps* tab shows them.

use super::memos::{answered, shared_memo, shared_option};
use crate::app::analysed::{AnalysedText, AnalysisInput, PlacedPlan};
use crate::app::background::Background;
use crate::app::jobs::Job;
use crate::app::queries::{self, Picture};
use fuseline_core::{OpId, Plan};
use fuseline_view::picture::dag::Folding;
use fuseline_view::present::steps::Steps;
use leptos::prelude::*;
use std::sync::Arc;

/// The decisions that led to the kernels, one by one.
#[derive(Clone, Copy)]
pub struct Stepping {
    /// The number of decisions of the policy after which the kernels are shown; `None` is after
    /// all.
    pub step: RwSignal<Option<usize>>,
    /// The decisions of the policy; `None` while the worker computes them. Costly: computed only
    /// while something reads it.
    pub steps: Memo<Option<Arc<Steps>>>,
    /// Whether the worker has to answer before the kernels of the present step are shown.
    pub is_awaited: Memo<bool>,
    /// The ops of the last shown decision, ascending; none while the *Steps* tab is closed.
    pub decided_ops: Memo<Vec<OpId>>,
}

impl Stepping {
    /// With the text and kernels that the present step shows.
    pub(super) fn new(
        last_good: Memo<Arc<AnalysedText>>,
        folding: Memo<Folding>,
        worker: Background,
    ) -> (Self, Memo<Arc<AnalysedText>>) {
        let step = RwSignal::new(None);
        let steps = steps_of(last_good, worker);
        let shown = shown(last_good, steps, step, folding, worker);
        let steps = of_shown(steps, last_good, shown);
        let stepping = Self {
            step,
            steps,
            is_awaited: is_awaited(step, steps, shown),
            decided_ops: decided_ops(steps, step),
        };
        (stepping, shown)
    }
}

/// The decisions that led to `last_good`, one by one; `None` while the worker computes them.
fn steps_of(last_good: Memo<Arc<AnalysedText>>, worker: Background) -> Memo<Option<Arc<Steps>>> {
    shared_option(move || worker.ask(&last_good.get(), queries::Steps))
}

/// The steps of `last_good` while `shown` is of the same text and choices.
fn of_shown(
    steps: Memo<Option<Arc<Steps>>>,
    last_good: Memo<Arc<AnalysedText>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<Option<Arc<Steps>>> {
    shared_option(move || {
        let is_same = shown.with(|shown| last_good.with(|last_good| shown.is_of(last_good)));
        if is_same { steps.get() } else { None }
    })
}

/// `last_good`, or while the *Steps* tab is open, with the kernels after the first `step`
/// decisions; of an older step or text while the worker computes that.
fn shown(
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
            let kernels = || last_good.trace().partition_after(last_good.graph(), step);
            (!last_good.is_long()).then(kernels)
        })
    });
    let job = Memo::new(move |_| {
        let step = earlier_step.get()?;
        let picture = Picture {
            folding: folding.get(),
        };
        last_good.with(|last_good| {
            let job = || {
                let job = Job::new(picture, last_good);
                Job {
                    input: AnalysisInput {
                        step: Some(step),
                        ..job.input
                    },
                    ..job
                }
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
        // Untracked, because a step that changes no kernel changes nothing here.
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

/// Whether the worker has to answer before the kernels of the present step are shown.
fn is_awaited(
    step: RwSignal<Option<usize>>,
    steps: Memo<Option<Arc<Steps>>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<bool> {
    Memo::new(move |_| {
        let Some(step) = step.get() else {
            return false;
        };
        let is_last = steps.with(|steps| steps.as_ref().is_some_and(|all| step >= all.count()));
        !is_last && shown.with(|shown| shown.is_long() && shown.step() != Some(step))
    })
}

fn decided_ops(steps: Memo<Option<Arc<Steps>>>, step: RwSignal<Option<usize>>) -> Memo<Vec<OpId>> {
    Memo::new(move |_| {
        let decision = step
            .get()
            .and_then(|step| steps.with(|steps| steps.as_ref()?.last_decision(step)));
        decision.map_or_else(Vec::new, |decision| decision.ops())
    })
}
