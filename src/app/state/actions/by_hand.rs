//! Kernels by hand: from which ones a visitor starts, and changes of them.

use crate::app::history::Origin;
use crate::app::queries::Effect;
use crate::app::state::choices::{FocusRequest, Notice, NoticeAction};
use crate::app::state::page::Page;
use crate::app::state::selection::Selection;
use fuseline_browser as browser;
use fuseline_core::notation::edit::{Marked, ShownKernels, state_kernels};
use fuseline_core::{KernelId, OpId, Policy};
use fuseline_view::present::manual::{Change, Proposal};
use fuseline_view::present::options::{no_kernel_stated, policy_phrase};
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// Chooses a policy, and shows its kernels. Under `manual`, a text without marks shows each op
    /// as a kernel: a notice says so and offers the kernels shown so far.
    pub fn choose_policy(self, policy: Policy) {
        let is_without_marks = policy == Policy::Manual && !untrack(|| self.marks_kernels());
        // Made before the change, so that it offers the kernels that are shown now.
        let start = is_without_marks.then(|| Notice {
            text: no_kernel_stated(self.chosen.fusion.with_untracked(|fusion| fusion.attention))
                .to_owned(),
            is_failure: false,
            action: untrack(|| self.kernels_to_mark()),
        });
        self.choose(|choices| {
            choices.policy = policy;
            choices.fusion.eager_attention = false;
            choices.is_fused = true;
        });
        if start.is_some() {
            self.screen.notice.set(start);
        }
    }

    /// Whether the page shows fused kernels. Under *no fusion* the graph has the boxes of kernels,
    /// which may be merged, and the page does not say `Fused`. Tracked.
    pub fn shows_fused(self) -> bool {
        self.chosen.is_fused.get() && self.chosen.policy.get() != Policy::None
    }

    /// Shows the kernels fused; under *no fusion* those of the policy before.
    pub fn show_fused(self) {
        let before = self.chosen.fusing_policy.get_untracked();
        // Marks that are gone fuse nothing.
        let fuses = before != Policy::Manual || untrack(|| self.marks_kernels());
        self.choose(|choices| {
            if choices.policy == Policy::None {
                choices.policy = if fuses { before } else { Policy::default() };
            }
            choices.is_fused = true;
        });
    }

    /// Shows each op as a kernel.
    pub fn show_unfused(self) {
        self.choose(|choices| choices.is_fused = false);
    }

    /// Whether the text marks a kernel. Tracked.
    pub fn marks_kernels(self) -> bool {
        (self.parsed).with(|parsed| parsed.program.ops.iter().any(|op| op.kernel.is_some()))
    }

    /// The shown kernels as marks; `None` where a kernel is an op alone in all of them, or marks
    /// cannot express them.
    fn kernels_to_mark(self) -> Option<NoticeAction> {
        let shown = self.shown.get();
        if !self.are_kernels_present() || shown.step().is_some() {
            return None;
        }
        let kernels = ShownKernels {
            graph: shown.graph(),
            partition: shown.partition(),
            statement_of_op: shown.statement_of_op(),
            options: &shown.options,
        };
        let marked = state_kernels(&shown.text, shown.program(), kernels);
        let Marked {
            text,
            cuts_iterations,
        } = marked.ok()?;
        let options = &shown.options;
        let policy = policy_phrase(options.policy, options.fusion.objective);
        let cuts = if cuts_iterations {
            ", cut where iterations end"
        } else {
            ""
        };
        (*text != *shown.text).then(|| NoticeAction::MarkKernels {
            kernels: format!("the kernels of {policy}{cuts}"),
            text,
        })
    }

    /// Replaces the text by one that marks `kernels`.
    pub fn mark_kernels(self, kernels: &str, text: String) {
        self.edit(text, Origin::Single);
        self.screen.notice.set(Some(Notice {
            text: format!("The text now marks {kernels} with @kernel."),
            is_failure: false,
            action: Some(NoticeAction::Undo),
        }));
        self.keep_focus();
    }

    /// Number of merges and cuts with which the visitor made the kernels of the open puzzle from
    /// its start; `None` without a puzzle, and for kernels that are not theirs. Tracked.
    pub fn moves(self) -> Option<usize> {
        let is_start = self.screen.puzzle.with(|puzzle| {
            let start = puzzle.as_ref()?.text();
            Some(self.text.with(|text| text == start))
        })?;
        let moves = self.screen.moves.get();
        if is_start { Some(0) } else { moves }
    }

    /// Makes a change by hand, selects the merged kernel, or the one that begins behind the cut,
    /// and requests the focus for it: at once, or as soon as the worker knows the effect, unless
    /// the visitor has gone on by then. On a phone nothing is selected.
    pub fn make(self, change: Change, focus: fn(KernelId) -> FocusRequest) {
        let op = match change {
            Change::Cut { consumer, .. } => Some(consumer),
            Change::Merge(kernel, _) | Change::MergeOnTop(kernel, _) => (self.analysis)
                .with_untracked(|analysis| {
                    let kernel = analysis.partition.kernels.get(kernel)?;
                    kernel.first().copied()
                }),
        };
        let Some(op) = op else {
            return;
        };
        if let Some(refused) = untrack(|| self.no_change()) {
            self.apply(&refused, op, focus);
            return;
        }
        let shown = self.shown.get_untracked();
        let of = shown.clone();
        (self.worker).when_answered(&of, Effect(change), move |proposal| {
            let is_shown = Arc::ptr_eq(&self.shown.get_untracked(), &shown)
                && untrack(|| self.are_kernels_present());
            match proposal.filter(|_| is_shown) {
                Some(proposal) => self.apply(proposal, op, focus),
                None => self.tell_failure(
                    "The kernels did not change, because the program has changed or the work was stopped.",
                ),
            }
        });
    }

    /// Applies a change as a text, under policy `manual` or on top of the chosen one, so undo,
    /// links and storage work as for any edit.
    fn apply(self, proposal: &Proposal, op: OpId, focus: fn(KernelId) -> FocusRequest) {
        let Some(text) = &proposal.text else {
            self.tell_failure(proposal.words.clone());
            return;
        };
        let example = self.origin.example.get_untracked();
        let before = untrack(|| match self.chosen.policy.get() {
            Policy::Manual => self.moves(),
            // Each op as a kernel: the start.
            Policy::None => self.screen.puzzle.with(Option::is_some).then_some(0),
            Policy::Rules | Policy::Inductor | Policy::Optimal => None,
        });
        let mut choices = self.choices();
        if proposal.keeps_policy {
            choices.fusion.keeps_marks = true;
        } else {
            choices.policy = Policy::Manual;
            choices.moves = before.map(|moves| moves + 1);
        }
        let is_changed = self.replace(text.clone(), Origin::Single, example, choices);
        self.screen.notice.set(Some(Notice {
            text: proposal.done.clone(),
            is_failure: false,
            action: is_changed.then_some(NoticeAction::Undo),
        }));
        if browser::shows_sheets() {
            // Its sheet would cover the change, and without one nothing would say why the charts
            // are dim.
            self.keep_focus();
            self.select(Selection::Nothing);
            return;
        }
        self.select_kernel_of(op);
        // Of a large program the kernels are still the old ones, and what has the focus keeps it.
        if !self.checked.is_computing.get_untracked()
            && let Some(kernel) = untrack(|| self.selected_kernel())
        {
            self.screen.focus_request.set(Some(focus(kernel)));
        }
    }
}
