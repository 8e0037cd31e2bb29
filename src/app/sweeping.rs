//! What the *Sweep* tab shows: a param along an axis, as the worker computes it.

use crate::app::jobs::Job;
use crate::app::queries;
use crate::app::state::Page;
use fuseline_core::analysis::sweep::{Measure, Sweep};
use fuseline_view::present::sweep::{SweptParam, swept_params};
use leptos::prelude::*;
use std::sync::Arc;

/// The choices of the tab, and what follows from them.
#[derive(Clone, Copy)]
pub struct Sweeping {
    /// The params that can be chosen.
    pub params: Memo<Vec<SweptParam>>,
    /// The chosen one; `None` where there is none.
    pub param: Memo<Option<SweptParam>>,
    /// The quantity that the curves show.
    pub measure: RwSignal<Measure>,
    /// Whether the curves show multiples of the value without fusion.
    pub is_relative: RwSignal<bool>,
    /// The sweep. Costly: computed only while something reads it.
    pub swept: Memo<Swept>,
    chosen: RwSignal<Option<String>>,
}

/// A sweep as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swept {
    /// `None` where the worker has not answered yet, or nothing could be analysed.
    pub sweep: Option<Arc<Sweep>>,
    /// Whether the sweep is of the present text and choices.
    pub is_present: bool,
}

impl Sweeping {
    /// The first param, and the default measure.
    pub fn new(page: Page) -> Self {
        let Page { shown, worker, .. } = page;
        let chosen = RwSignal::new(None::<String>);
        let params = Memo::new(move |_| shown.with(|shown| swept_params(shown.program())));
        let param = Memo::new(move |_| {
            let chosen = chosen.get();
            params.with(|params| {
                let mut all = params.iter();
                let is_chosen = |param: &&SweptParam| Some(&param.name) == chosen.as_ref();
                all.find(is_chosen).or_else(|| params.first()).cloned()
            })
        });
        // Most events of sliders leave the job as it is.
        let job = Memo::new(move |_| {
            let param = param.get()?.index;
            shown.with(|shown| Some(Job::new(queries::Sweep { param }, shown)))
        });
        let swept = Memo::new(move |last: Option<&Swept>| {
            let answer = job.with(|job| worker.answer::<queries::Sweep>(job.as_ref()?));
            if let Some(sweep) = answer {
                return Swept {
                    sweep: Option::clone(&sweep),
                    is_present: true,
                };
            }
            let last = last.and_then(|last| last.sweep.clone());
            let is_of = |sweep: &Arc<Sweep>| {
                param.with(|param| param.as_ref().is_some_and(|p| p.name == sweep.param))
            };
            Swept {
                sweep: last.filter(is_of),
                is_present: false,
            }
        });
        Self {
            params,
            param,
            measure: RwSignal::new(Measure::default()),
            is_relative: RwSignal::new(false),
            swept,
            chosen,
        }
    }

    /// Sweeps the param of this name.
    pub fn choose(self, param: String) {
        self.chosen.set(Some(param));
    }
}
