//! What the tabs show, as memos: each is computed only while its tab is open, and by the worker for a large program.

use super::analysed::AnalysedText;
use super::hold::Hold;
use super::memos::{answered, shared_memo, shared_option, unhurried};
use crate::app::background::Background;
use crate::app::jobs::{Answer, Job, Task};
use fuseline_core::analysis::compare::{Compared, compare, compared_policies};
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::record::{Record, record};
use fuseline_core::{OpId, Policy};
use fuseline_view::present::steps::Steps;
use fuseline_view::present::why::WhyNot;
use leptos::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

/// The decisions that led to `last_good`; `None` for a large program.
pub(super) fn record_of(last_good: Memo<Arc<AnalysedText>>) -> Memo<Option<Arc<Record>>> {
    shared_option(move || {
        last_good.with(|last_good| {
            let analysis = &last_good.analysis;
            (!last_good.is_long()).then(|| Arc::new(record(&analysis.graph, &analysis.options)))
        })
    })
}

/// The decisions that led to `last_good`, one by one; `None` while the worker computes them.
pub(super) fn steps_of(
    last_good: Memo<Arc<AnalysedText>>,
    record: Memo<Option<Arc<Record>>>,
    worker: Background,
) -> Memo<Option<Arc<Steps>>> {
    let job = Memo::new(move |_| {
        last_good.with(|last_good| last_good.is_long().then(|| last_good.job(Task::Steps)))
    });
    let answer = answered(job, worker);
    shared_option(move || {
        if job.with(Option::is_some) {
            return answer.with(|answer| match answer.as_deref() {
                Some(Answer::Steps(steps)) => Some(steps.clone()),
                _ => None,
            });
        }
        let record = record.get()?;
        last_good.with(|last_good| Some(Arc::new(Steps::new(&last_good.analysis.graph, &record))))
    })
}

/// `of_last_good` while `shown` is of the same text and choices.
pub(super) fn of_shown<T: Send + Sync + 'static>(
    of_last_good: Memo<Option<Arc<T>>>,
    last_good: Memo<Arc<AnalysedText>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<Option<Arc<T>>> {
    shared_option(move || {
        let is_same = shown.with(|shown| last_good.with(|last_good| shown.is_of(last_good)));
        if is_same { of_last_good.get() } else { None }
    })
}

/// The policies to compare of which the results are known, on the graph of `shown`: all of them, or one more with each
/// answer of the worker.
pub(super) fn compared(
    shown: Memo<Arc<AnalysedText>>,
    hold: Hold,
    worker: Background,
) -> Memo<Arc<Vec<Compared>>> {
    let shown = unhurried(shown, move || hold.is_dragging());
    let of_policies: Vec<_> = (Policy::VARIANTS.iter())
        .map(|&policy| compared_policy(policy, shown, worker))
        .collect();
    shared_memo(move |_| {
        let shown = shown.get();
        if !shown.is_long() {
            return Arc::new(compare(&shown.analysis));
        }
        let known = of_policies.iter().filter_map(Memo::get);
        Arc::new(known.map(|compared| Compared::clone(&compared)).collect())
    })
}

/// A policy on the graph of `shown`, if the worker computes its kernels and has done so.
fn compared_policy(
    policy: Policy,
    shown: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Option<Arc<Compared>>> {
    let job = Memo::new(move |_| {
        shown.with(|shown| {
            let is_unknown = shown.is_long()
                && policy != shown.analysis.options.policy
                && compared_policies(&shown.analysis).any(|other| other == policy);
            is_unknown.then(|| Job {
                options: shown.analysis.options.under(policy),
                ..shown.job(Task::Plan)
            })
        })
    });
    let answer = answered(job, worker);
    shared_option(move || {
        let shown = shown.get();
        if !shown.is_long() {
            return None;
        }
        let Some(job) = job.get() else {
            let is_chosen = policy == shown.analysis.options.policy;
            return is_chosen.then(|| Arc::new(Compared::chosen(&shown.analysis)));
        };
        let Some(Answer::Plan(plan)) = answer.get().as_deref().cloned() else {
            return None;
        };
        let compared = Compared::new(&shown.analysis, &job.options, plan);
        Some(Arc::new(compared))
    })
}

/// What the *Why not* tab tells; `None` for a large program, about which the worker answers.
pub(super) fn why_not(
    shown: Memo<Arc<AnalysedText>>,
    record: Memo<Option<Arc<Record>>>,
) -> Memo<Option<Arc<WhyNot>>> {
    shared_option(move || {
        let shown = shown.get();
        if shown.is_long() {
            return None;
        }
        let needs_record = Why::needs_record(shown.analysis.options.policy);
        let record = if needs_record { record.get() } else { None };
        Some(Arc::new(WhyNot::new(
            shown.analysis.clone(),
            &shown.statement_of_op,
            record,
        )))
    })
}

/// Whether the worker has to answer before the kernels of the present step are shown.
pub(super) fn is_step_awaited(
    step: RwSignal<Option<usize>>,
    steps: Memo<Option<Arc<Steps>>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<bool> {
    Memo::new(move |_| {
        let Some(step) = step.get() else {
            return false;
        };
        let is_last = steps.with(|steps| steps.as_ref().is_some_and(|all| step >= all.count()));
        !is_last && shown.with(|shown| shown.is_long() && shown.step != Some(step))
    })
}

pub(super) fn decided_ops(
    steps: Memo<Option<Arc<Steps>>>,
    step: RwSignal<Option<usize>>,
) -> Memo<Vec<OpId>> {
    Memo::new(move |_| {
        let decision = step
            .get()
            .and_then(|step| steps.with(|steps| steps.as_ref()?.last_decision(step)));
        decision.map_or_else(Vec::new, |decision| decision.ops())
    })
}
