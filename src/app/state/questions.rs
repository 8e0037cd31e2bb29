//! What single tabs show, as memos: each is computed only while its tab is open, and by the worker
//! for a large program.

use super::memos::{shared_memo, shared_option, unhurried};
use super::slider::SliderState;
use super::sweeping::Sweeping;
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::queries::{self, PlanUnder};
use fuseline_core::analysis::compare::{Compared, compared_policies};
use fuseline_core::{OpId, Plan, Policy};
use fuseline_view::present::steps::Steps;
use fuseline_view::present::why::Asked;
use leptos::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

/// What single tabs show.
#[derive(Clone, Copy)]
pub struct Questions {
    /// The number of decisions of the policy after which the kernels are shown; `None` is after
    /// all.
    pub step: RwSignal<Option<usize>>,
    /// The decisions of the policy; `None` while the worker computes them. Costly, like
    /// [`Questions::compared`]: computed only while something reads it.
    pub steps: Memo<Option<Arc<Steps>>>,
    /// Whether the worker has to answer before the kernels of the present step are shown.
    pub is_step_awaited: Memo<bool>,
    /// The ops of the last shown decision, ascending; none while the *Steps* tab is closed.
    pub decided_ops: Memo<Vec<OpId>>,
    /// Every policy on the shown graph; fewer while the worker computes them.
    pub compared: Memo<Arc<Vec<Compared>>>,
    /// What the *Sweep* tab shows.
    pub sweep: Sweeping,
    /// The two ops that the *Why not* tab explains; `None` until the visitor chooses two or selects
    /// an edge.
    pub asked: RwSignal<Option<Asked>>,
}

impl Questions {
    pub(super) fn new(
        shown: Memo<Arc<AnalysedText>>,
        step: RwSignal<Option<usize>>,
        steps: Memo<Option<Arc<Steps>>>,
        slider: SliderState,
        worker: Background,
    ) -> Self {
        Self {
            step,
            steps,
            is_step_awaited: is_step_awaited(step, steps, shown),
            decided_ops: decided_ops(steps, step),
            compared: compared(shown, slider, worker),
            sweep: Sweeping::new(shown, worker),
            asked: RwSignal::new(None),
        }
    }
}

/// The decisions that led to `last_good`, one by one; `None` while the worker computes them.
pub(super) fn steps_of(
    last_good: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Option<Arc<Steps>>> {
    shared_option(move || worker.ask(&last_good.get(), queries::Steps))
}

/// The steps of `last_good` while `shown` is of the same text and choices.
pub(super) fn of_shown(
    steps: Memo<Option<Arc<Steps>>>,
    last_good: Memo<Arc<AnalysedText>>,
    shown: Memo<Arc<AnalysedText>>,
) -> Memo<Option<Arc<Steps>>> {
    shared_option(move || {
        let is_same = shown.with(|shown| last_good.with(|last_good| shown.is_of(last_good)));
        if is_same { steps.get() } else { None }
    })
}

/// The policies to compare of which the results are known, on the graph of `shown`: all of them, or
/// one more with each answer of the worker.
fn compared(
    shown: Memo<Arc<AnalysedText>>,
    slider: SliderState,
    worker: Background,
) -> Memo<Arc<Vec<Compared>>> {
    let shown = unhurried(shown, move || slider.is_dragging());
    let of_policies: Vec<_> = (Policy::VARIANTS.iter())
        .map(|&policy| compared_policy(policy, shown, worker))
        .collect();
    shared_memo(move |_| {
        let known = of_policies.iter().filter_map(Memo::get);
        Arc::new(known.map(|compared| Compared::clone(&compared)).collect())
    })
}

/// A policy on the graph of `shown`; `None` while the worker computes its kernels, and if it is not
/// worth comparing.
fn compared_policy(
    policy: Policy,
    shown: Memo<Arc<AnalysedText>>,
    worker: Background,
) -> Memo<Option<Arc<Compared>>> {
    let plan = shared_option(move || {
        let shown = shown.get();
        let chosen = shown.analysis();
        let is_unknown = policy != chosen.options.policy
            && compared_policies(chosen).any(|other| other == policy);
        is_unknown.then(|| worker.ask(&shown, PlanUnder { policy }))?
    });
    shared_option(move || {
        let shown = shown.get();
        let chosen = shown.analysis();
        if policy == chosen.options.policy {
            return Some(Arc::new(Compared::chosen(chosen)));
        }
        let options = chosen.options.under(policy);
        let compared = Compared::new(chosen, &options, Plan::clone(&*plan.get()?));
        Some(Arc::new(compared))
    })
}

/// Whether the worker has to answer before the kernels of the present step are shown.
fn is_step_awaited(
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
