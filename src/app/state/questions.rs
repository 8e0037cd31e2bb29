//! What single tabs show, as memos: each is computed only while its tab is open, and by the worker
//! for a large program.

use super::memos::{shared_memo, shared_option, unhurried};
use super::slider::SliderState;
use crate::app::analysed::AnalysedText;
use crate::app::background::Background;
use crate::app::queries::PlanUnder;
use fuseline_core::analysis::compare::{Compared, compared_policies};
use fuseline_core::{Plan, Policy};
use fuseline_view::present::why::Asked;
use leptos::prelude::*;
use std::sync::Arc;
use strum::VariantArray;

/// What single tabs show.
#[derive(Clone, Copy)]
pub struct Questions {
    /// Every policy on the shown graph; fewer while the worker computes them. Costly: computed only
    /// while something reads it.
    pub compared: Memo<Arc<Vec<Compared>>>,
    /// The two ops that the *Why not* tab explains; `None` until the visitor chooses two or selects
    /// an edge.
    pub asked: RwSignal<Option<Asked>>,
}

impl Questions {
    pub(super) fn new(
        shown: Memo<Arc<AnalysedText>>,
        slider: SliderState,
        worker: Background,
    ) -> Self {
        Self {
            compared: compared(shown, slider, worker),
            asked: RwSignal::new(None),
        }
    }
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
