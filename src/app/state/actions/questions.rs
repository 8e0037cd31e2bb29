//! Questions about the shown kernels. All are tracked.

use crate::app::queries::{Asked, Effect, Merges};
use crate::app::state::page::Page;
use fuseline_core::KernelId;
use fuseline_core::notation::Parsed;
use fuseline_view::present::manual::{Change, Proposal};
use fuseline_view::present::merges::Offer;
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// The answer to a question about the shown kernels; `None` until the worker has given it.
    pub fn ask<Q: Asked>(self, question: Q) -> Option<Arc<Q::Answer>> {
        self.worker.ask(&self.shown.get(), question)
    }

    /// The effect of merging or cutting kernels.
    pub fn proposal(self, change: Change) -> Option<Arc<Proposal>> {
        let refused = self.no_change().map(|refused| Some(Arc::new(refused)));
        refused.unwrap_or_else(|| self.ask(Effect(change)))
    }

    /// Why no kernel can be changed by hand now.
    pub(super) fn no_change(self) -> Option<Proposal> {
        let words = if self.checked.has_error.get() {
            "The text has an error. Correct it first."
        } else if !self.are_kernels_present() {
            "Wait until the kernels are computed."
        } else {
            return None;
        };
        Some(Proposal::refused(words.to_owned()))
    }

    /// The merges of a kernel with its neighbours.
    pub fn merge_offers(self, kernel: KernelId) -> Option<Arc<Vec<Offer>>> {
        if self.no_change().is_some() {
            return Some(Arc::default());
        }
        self.ask(Merges(kernel))
    }

    /// Whether the shown kernels are those of the present text, and not of an older one while
    /// something is computed.
    pub(super) fn are_kernels_present(self) -> bool {
        let is_of_text =
            |parsed: &Arc<Parsed>| self.shown.with(|shown| Arc::ptr_eq(&shown.parsed, parsed));
        !self.checked.is_stale.get() && self.parsed.with(is_of_text)
    }
}
