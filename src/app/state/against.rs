//! What the shown kernels are compared with: a pinned state, and a measurement.

use super::pinned::{Pinned, kernels_against_pinned};
use super::profile::{self, OpenProfile};
use super::slider::SliderState;
use fuseline_core::{Analysis, IdVec, KernelId};
use fuseline_import::matching::Matching;
use fuseline_view::present::pinned::KernelAgainst;
use leptos::prelude::*;
use std::sync::Arc;

/// What the shown kernels are compared with.
#[derive(Clone, Copy)]
pub struct Against {
    /// The state with which the present one is compared.
    pub pinned: RwSignal<Option<Arc<Pinned>>>,
    /// Each kernel against the pinned state; `None` while nothing is pinned.
    pub kernels: Memo<Option<Arc<IdVec<KernelId, KernelAgainst>>>>,
    /// A measurement of the visitor's own.
    pub profile: RwSignal<Option<Arc<OpenProfile>>>,
    /// The measured kernels beside the shown ones; `None` without a measurement.
    pub matching: Memo<Option<Arc<Matching>>>,
}

impl Against {
    pub(super) fn new(analysis: Memo<Arc<Analysis>>, slider: SliderState) -> Self {
        let (pinned, profile) = (RwSignal::new(None), RwSignal::new(None));
        Self {
            pinned,
            kernels: kernels_against_pinned(pinned, analysis),
            profile,
            matching: profile::matching(profile, analysis, move || slider.is_held()),
        }
    }
}
