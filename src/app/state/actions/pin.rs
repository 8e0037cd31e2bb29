//! Pins the shown state, and compares with it.

use crate::app::history::{Choices, Origin};
use crate::app::state::explained::ExplanationOf;
use crate::app::state::page::Page;
use crate::app::state::pinned::Pinned;
use fuseline_view::page::links::SharedState;
use fuseline_view::present::figure::{explanation_of_change, explanation_of_pinned};
use fuseline_view::present::pinned::{HeadlineAgainst, headline_against, pinned_title};
use fuseline_view::present::quantity::Figure;
use leptos::prelude::*;
use std::sync::Arc;

impl Page {
    /// Pins what is shown, to compare with it.
    pub fn pin(self) {
        let pinned = self.shown_as_pinned();
        self.against.pinned.set(Some(Arc::new(pinned)));
    }

    /// The figures of the headline against those of the pinned state, if there is one. Tracked.
    pub fn against_pinned(self) -> Option<HeadlineAgainst> {
        let pinned = self.against.pinned.get()?;
        let shown = self.shown.get();
        let against = headline_against(&pinned.analysis, shown.analysis());
        Some(if pinned.has_ops_of(&shown.parsed) {
            against
        } else {
            against.without_changes()
        })
    }

    /// Whether the pinned program has other ops than the shown one. Tracked.
    pub fn pins_other_ops(self) -> bool {
        let pinned = self.against.pinned.get();
        pinned.is_some_and(|pinned| !(self.shown).with(|shown| pinned.has_ops_of(&shown.parsed)))
    }

    /// The explanation of a figure of the pinned state.
    pub fn explain_pinned(self, figure: Figure) -> ExplanationOf {
        ExplanationOf::own(move || {
            self.against
                .pinned
                .with(|pinned| explanation_of_pinned(figure, &pinned.as_ref()?.analysis))
        })
    }

    /// The explanation of the change, shown as `change`, between two figures, pinned and now.
    pub fn explain_change(
        self,
        figures: Memo<Option<[Figure; 2]>>,
        change: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> ExplanationOf {
        ExplanationOf::own(move || {
            let [before, after] = figures.get()?;
            let change = change()?;
            self.against.pinned.with(|pinned| {
                let pinned = &pinned.as_ref()?.analysis;
                self.analysis
                    .with(|now| explanation_of_change([(before, pinned), (after, now)], change))
            })
        })
    }

    /// Ends the comparison.
    pub fn unpin(self) {
        self.against.pinned.set(None);
        self.keep_focus();
    }

    /// Goes to the pinned state, as one step of undo, and keeps the one that was shown.
    pub fn swap_pinned(self) {
        let Some(pinned) = self.against.pinned.get_untracked() else {
            return;
        };
        self.pin();
        let state = &pinned.state;
        let text = state.text.clone();
        let choices = Choices {
            is_fused: self.chosen.is_fused.get_untracked(),
            note: self.choices_with(&text).note,
            ..Choices::from(state)
        };
        self.replace(text, Origin::Single, pinned.example, choices);
    }

    fn shown_as_pinned(self) -> Pinned {
        let shown = self.shown.get_untracked();
        let options = &shown.options;
        Pinned {
            title: pinned_title(&untrack(|| self.program_name()), shown.program(), options),
            analysis: shown.analysis().clone(),
            parsed: shown.parsed.clone(),
            state: SharedState {
                text: shown.text.to_string(),
                policy: options.policy,
                fusion: self.chosen.fusion.get_untracked(),
                conventions: options.conventions,
                device: options.device.clone(),
                ..SharedState::default()
            },
            example: self.origin.example.get_untracked(),
        }
    }
}
