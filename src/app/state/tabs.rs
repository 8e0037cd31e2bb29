//! What the tabs show, as memos: each is computed only while its tab is open, and by the worker for a large program.

use super::analysed::AnalysedText;
use super::memos::{answered, shared_memo, shared_option};
use crate::app::background::Background;
use crate::app::jobs::{Answer, Job, Task};
use crate::core::analysis::compare::{Compared, compare, options_of};
use crate::core::analysis::why::PricedEdge;
use crate::core::fusion::record::{Decision, Record, record};
use crate::core::{Analysis, OpId, Policy};
use crate::present::why;
use leptos::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

/// The decisions that led to `last_good`; `None` while the worker computes them.
pub(super) fn record_of(
    last_good: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Option<Arc<Record>>> {
    about(
        last_good,
        worker,
        |_| Task::Record,
        |answer| match answer {
            Answer::Record(record) => Some(record.clone()),
            _ => None,
        },
        |analysis| record(&analysis.graph, &analysis.options),
    )
}

/// What is computed about a text: by the page, or of a large program by the worker, and then `None` until that has answered.
fn about<T: Send + Sync + 'static>(
    text: Memo<Arc<AnalysedText>>,
    worker: Background,
    task: fn(&AnalysedText) -> Task,
    of_answer: fn(&Answer) -> Option<Arc<T>>,
    of_page: fn(&Analysis) -> T,
) -> Memo<Option<Arc<T>>> {
    let job = Memo::new(move |_| text.with(|text| text.is_long().then(|| text.job(task(text)))));
    let answer = answered(job, worker);
    shared_option(move || {
        if job.with(Option::is_some) {
            return answer.with(|answer| of_answer(answer.as_deref()?));
        }
        text.with(|text| Some(Arc::new(of_page(&text.analysis))))
    })
}

/// `record` while it is about `shown`.
pub(super) fn record_of_shown(
    record: Memo<Option<Arc<Record>>>,
    last_good: Memo<Arc<AnalysedText>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<Option<Arc<Record>>> {
    shared_option(move || {
        let is_same = shown.with(|shown| last_good.with(|last_good| shown.is_of(last_good)));
        if is_same { record.get() } else { None }
    })
}

/// The policies of which the results are known, on the graph of `shown`: all of them, or one more with each answer of the
/// worker.
pub(super) fn compared(
    shown: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Arc<Vec<Compared>>> {
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
            let is_unknown = shown.is_long() && policy != shown.analysis.options.policy;
            is_unknown.then(|| Job {
                options: options_of(&shown.analysis, policy),
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
            return Some(Arc::new(Compared::chosen(&shown.analysis)));
        };
        let Some(Answer::Plan(plan)) = answer.get().as_deref().cloned() else {
            return None;
        };
        let compared = Compared::new(&shown.analysis, &job.options, plan);
        Some(Arc::new(compared))
    })
}

/// `None` while the worker computes them.
pub(super) fn crossings(
    shown: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Option<Arc<Vec<PricedEdge>>>> {
    about(
        shown,
        worker,
        |shown| Task::Crossings { step: shown.step },
        |answer| match answer {
            Answer::Crossings(edges) => Some(edges.clone()),
            _ => None,
        },
        why::crossings,
    )
}

/// Whether the worker has to answer before the kernels of the present step are shown.
pub(super) fn is_step_awaited(
    step: RwSignal<Option<usize>>,
    record: Memo<Option<Arc<Record>>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<bool> {
    Memo::new(move |_| {
        let Some(step) = step.get() else {
            return false;
        };
        let is_last = record
            .with(|record| (record.as_ref()).is_some_and(|record| step >= record.decisions.len()));
        !is_last && shown.with(|shown| shown.is_long() && shown.step != Some(step))
    })
}

pub(super) fn decided_ops(
    record: Memo<Option<Arc<Record>>>,
    step: RwSignal<Option<usize>>,
) -> Memo<Vec<OpId>> {
    Memo::new(move |_| {
        let Some(step) = step.get() else {
            return Vec::new();
        };
        record.with(|record| {
            let decision = record
                .as_ref()
                .and_then(|record| record.last_decision(step));
            decision.map_or_else(Vec::new, Decision::ops)
        })
    })
}
