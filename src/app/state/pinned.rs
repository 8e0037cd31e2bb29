//! A pinned state, with which the present one is compared.

use super::memos::shared_option;
use fuseline_core::notation::Parsed;
use fuseline_core::{Analysis, IdVec, KernelId};
use fuseline_view::page::links::SharedState;
use fuseline_view::present::pinned::{KernelAgainst, has_same_ops, kernels_against};
use leptos::prelude::*;
use std::sync::Arc;

/// A state that is kept for comparison.
pub struct Pinned {
    /// What it is, in a few words.
    pub title: String,
    /// The figures of the state.
    pub analysis: Arc<Analysis>,
    /// The statements of its text.
    pub(super) parsed: Arc<Parsed>,
    /// Its text and choices.
    pub(super) state: SharedState,
    /// The example that its text started from.
    pub(super) example: Option<&'static str>,
}

impl Pinned {
    pub(super) fn has_ops_of(&self, parsed: &Parsed) -> bool {
        has_same_ops(&self.parsed.program, &parsed.program)
    }
}

/// Each kernel of `analysis` against the pinned state.
pub(super) fn kernels_against_pinned(
    pinned: RwSignal<Option<Arc<Pinned>>>,
    analysis: Memo<Arc<Analysis>>,
) -> Memo<Option<Arc<IdVec<KernelId, KernelAgainst>>>> {
    shared_option(move || {
        pinned.with(|pinned| {
            let pinned = &pinned.as_ref()?.analysis;
            analysis.with(|now| Some(Arc::new(kernels_against(pinned, now))))
        })
    })
}
