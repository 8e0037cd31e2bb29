//! Questions about the shown kernels. The page answers them itself, and the worker those about a large program: until it has,
//! the answer is `None`. All are tracked.

use super::analysed::AnalysedText;
use super::page::Page;
use crate::STYLE_SHEETS;
use crate::app::jobs::{Answer, Question};
use fuseline_core::notation::Parsed;
use fuseline_core::{KernelId, OpId};
use fuseline_view::picture::export::{HandoutPictures, Pictured};
use fuseline_view::present::advice::{AdviceRow, advice_rows};
use fuseline_view::present::manual::{Change, Proposal, propose};
use fuseline_view::present::merges::{Offer, merge_offers};
use fuseline_view::present::reasons::SaidVerdict;
use fuseline_view::present::why::{EdgeOps, EdgeOrder, EdgeRows};
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// The first `max_rows` edges between kernels, and the selected one wherever it is.
    pub fn edge_rows(
        self,
        order: EdgeOrder,
        max_rows: usize,
        selected: Option<EdgeOps>,
    ) -> Option<EdgeRows> {
        let question = Question::Edges {
            order,
            max_rows,
            selected,
        };
        self.ask(
            question,
            |answer| match answer {
                Answer::Edges(rows) => Some(rows.clone()),
                _ => None,
            },
            |_| {
                let why_not = self.why_not.get()?;
                Some(why_not.rows(order, max_rows, selected))
            },
        )
    }

    /// Why two ops are not fused.
    pub fn why_apart(self, first: OpId, second: OpId) -> Option<SaidVerdict> {
        self.ask(
            Question::Apart(first, second),
            |answer| match answer {
                Answer::Apart(said) => Some(said.clone()),
                _ => None,
            },
            |_| Some(self.why_not.get()?.answer(first, second)),
        )
    }

    /// What would save time.
    pub fn advice(self) -> Option<Vec<AdviceRow>> {
        self.ask(
            Question::Advice,
            |answer| match answer {
                Answer::Advice(rows) => Some(rows.clone()),
                _ => None,
            },
            |shown| Some(advice_rows(shown.by_hand())),
        )
    }

    /// The pictures of the handout.
    pub fn handout_pictures(self) -> Option<Arc<HandoutPictures>> {
        let is_fused = self.is_fused.get();
        let question = Question::Handout {
            is_fused,
            folding: self.drawing.folding(),
        };
        self.ask(
            question,
            |answer| match answer {
                Answer::Handout(pictures) => Some(pictures.clone()),
                _ => None,
            },
            |shown| {
                let pictures = self.drawing.with(|drawn| {
                    let pictured = Pictured {
                        analysis: &shown.analysis,
                        layout: &drawn.layout,
                        is_fused,
                    };
                    pictured.handout(STYLE_SHEETS)
                });
                Some(Arc::new(pictures))
            },
        )
    }

    /// The effect of merging or cutting kernels.
    pub fn proposal(self, change: Change) -> Option<Proposal> {
        if self.has_error.get() {
            let words = "The text has an error. Correct it first.";
            return Some(Proposal::refused(words.to_owned()));
        }
        if !self.are_kernels_present() {
            let words = "Wait until the kernels are computed.";
            return Some(Proposal::refused(words.to_owned()));
        }
        self.ask(
            Question::Change(change),
            |answer| match answer {
                Answer::Change(proposal) => Some(proposal.clone()),
                _ => None,
            },
            |shown| Some(propose(change, shown.by_hand())),
        )
    }

    /// The merges of a kernel with its neighbours.
    pub fn merge_offers(self, kernel: KernelId) -> Option<Vec<Offer>> {
        if self.has_error.get() || !self.are_kernels_present() {
            return Some(Vec::new());
        }
        self.ask(
            Question::Merges(kernel),
            |answer| match answer {
                Answer::Merges(offers) => Some(offers.clone()),
                _ => None,
            },
            |shown| Some(merge_offers(kernel, shown.by_hand())),
        )
    }

    /// Whether the shown kernels are those of the present text, and not of an older one while something is computed.
    pub(super) fn are_kernels_present(self) -> bool {
        let is_of_text =
            |parsed: &Arc<Parsed>| self.shown.with(|shown| Arc::ptr_eq(&shown.parsed, parsed));
        !self.is_stale.get() && self.parsed.with(is_of_text)
    }

    fn ask<T>(
        self,
        question: Question,
        of_worker: fn(&Answer) -> Option<T>,
        of_page: impl FnOnce(&AnalysedText) -> Option<T>,
    ) -> Option<T> {
        let shown = self.shown.get();
        if shown.is_long() {
            of_worker(&*self.worker.answer(&shown.asked(question))?)
        } else {
            of_page(&shown)
        }
    }
}
