//! Kernels merged and cut by hand: the change is a text, so undo, links and storage carry it.

use crate::app::history::Origin;
use crate::app::state::{Notice, Page, Selection};
use crate::browser::{focus_soon, next_frame};
use crate::core::{OpId, Policy};
use crate::views::manual::{Change, Proposal, propose};
use leptos::prelude::*;

/// What a change would bring, of what is shown now.
pub(super) fn proposal(page: Page, change: Change) -> Proposal {
    if page.is_stale.get_untracked() {
        return Proposal {
            words: "The text has an error; mend it first.".to_owned(),
            done: String::new(),
            text: None,
        };
    }
    let shown = page.shown.get_untracked();
    page.text.with_untracked(|text| {
        let statements = &shown.statement_of_op;
        propose(
            change,
            text,
            &shown.parsed.program,
            &shown.analysis,
            statements,
        )
    })
}

/// Does it, selects the kernel of `op`, and gives the focus to the element of the kernel's number behind `focused`.
/// `false` when the change may not be.
pub(super) fn apply(page: Page, proposal: &Proposal, op: OpId, focused: &'static str) -> bool {
    let Some(text) = &proposal.text else {
        return false;
    };
    let example = page.example.get_untracked();
    let is_changed = page.replace(text.clone(), Origin::Single, example, Some(Policy::Manual));
    page.notice.set(Some(Notice {
        text: proposal.done.clone(),
        is_failure: false,
        offers_undo: is_changed,
    }));
    next_frame(move || {
        let kernel = page
            .analysis
            .with_untracked(|a| a.partition.kernel_of.get(op).copied());
        if let Some(kernel) = kernel {
            page.selection.set(Selection::Kernel(kernel));
            focus_soon([focused, &kernel.to_string()].concat());
        }
    });
    true
}
