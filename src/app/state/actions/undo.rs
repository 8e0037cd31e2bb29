//! Changes of the text and of the choices beside it: each is a step that undo takes back.

use crate::app::history::{Choices, History, Origin, Step, keeps_little};
use crate::app::state::choices::{Notice, NoticeAction};
use crate::app::state::page::Page;
use crate::app::state::selection::Selection;
use crate::app::state::set_if_changed::SetIfChanged;
use fuseline_browser as browser;
use fuseline_core::examples::{Example, START, example, example_of};
use fuseline_core::{Policy, Program};
use leptos::prelude::*;

impl Page {
    /// Replaces the text. Edits of one origin without a pause between them are one undo step.
    pub fn edit(self, text: String, origin: Origin) {
        let choices = self.choices_with(&text);
        self.replace(text, origin, self.origin.example.get_untracked(), choices);
    }

    /// Replaces the text by `change(text, program)`.
    pub fn change(self, origin: Origin, change: impl FnOnce(&str, &Program) -> String) {
        let text = self
            .text
            .with_untracked(|text| self.parsed.with_untracked(|p| change(text, &p.program)));
        self.edit(text, origin);
    }

    /// Changes what is chosen beside the text.
    pub fn choose(self, change: impl FnOnce(&mut Choices)) {
        self.choose_by(Origin::Single, change);
    }

    /// Changes what is chosen beside the text. Changes of one origin without a pause between them
    /// are one undo step.
    pub fn choose_by(self, origin: Origin, change: impl FnOnce(&mut Choices)) {
        let mut choices = self.choices();
        change(&mut choices);
        let text = self.text.get_untracked();
        self.replace(text, origin, self.origin.example.get_untracked(), choices);
    }

    /// Replaces the text, its example and the choices. Returns whether that is a step of undo.
    pub fn replace(
        self,
        text: String,
        origin: Origin,
        example: Option<&'static str>,
        choices: Choices,
    ) -> bool {
        let before = self.present_step();
        let is_changed = before.text != text || before.choices != choices;
        if is_changed {
            self.history
                .update(|history| history.record(before, origin, browser::now_ms()));
        }
        self.put(Step {
            text,
            example,
            choices,
        });
        is_changed
    }

    /// Replaces the text by another program. Without `@kernel` marks the policy `manual` would fuse
    /// nothing, so the default policy replaces it.
    pub fn open(self, text: String) -> bool {
        let is_manual = self.chosen.policy.get_untracked() == Policy::Manual;
        let mut choices = self.choices_with(&text);
        if is_manual && !text.contains("@kernel") {
            choices.policy = Policy::default();
        }
        let example = example_of(&text).map(|example| example.id);
        self.open_with(text, example, choices)
    }

    /// Replaces the text by an example, with the choices that it opens with. Device and other
    /// conventions stay.
    pub fn open_example(self, example: &Example) {
        let choices = self.choices_with(example.text).opened_with(example.opening);
        self.open_with(example.text.to_owned(), Some(example.id), choices);
    }

    /// Replaces the text by what a first visit shows.
    pub fn open_start(self) {
        if let Some(start) = example(START) {
            let choices = self.choices_with(start.text).of_first_visit();
            self.open_with(start.text.to_owned(), Some(START), choices);
        }
    }

    fn open_with(self, text: String, example: Option<&'static str>, choices: Choices) -> bool {
        self.pictures.drawing.fold();
        // The step of a lesson is about another program.
        self.screen.is_learning.set_if_changed(false);
        let choices = Choices {
            puzzle: None,
            ..choices
        };
        self.replace(text, Origin::Single, example, choices)
    }

    /// What is chosen beside the text.
    pub fn choices(self) -> Choices {
        Choices {
            policy: self.chosen.policy.get_untracked(),
            fusion: self.chosen.fusion.get_untracked(),
            conventions: self.chosen.conventions.get_untracked(),
            device: self.chosen.device.get_untracked(),
            is_fused: self.chosen.is_fused.get_untracked(),
            note: self.origin.sender_note.get_untracked(),
            puzzle: self.screen.puzzle.get_untracked(),
            moves: self.screen.moves.get_untracked(),
        }
    }

    /// The choices that stay when `text` is shown: the sender's note is about the program of the
    /// link alone, and kernels that come with another text are not of the visitor's moves.
    pub fn choices_with(self, text: &str) -> Choices {
        let is_another = (self.text).with_untracked(|before| keeps_little(before, text));
        let mut choices = self.choices();
        choices.note = choices.note.filter(|_| !is_another);
        let is_same = (self.text).with_untracked(|before| before == text);
        choices.moves = choices.moves.filter(|_| is_same);
        choices
    }

    /// Ends the present undo step, so that the next edit begins a new one.
    pub fn seal(self) {
        self.history.update(History::seal);
    }

    /// A pointer presses a slider, and all that it changes is one undo step.
    pub(super) fn hold_step(self) {
        self.history.update(History::hold);
    }

    /// The pointer releases the slider.
    pub(super) fn release_step(self) {
        self.history.update(History::release);
    }

    /// Makes what is shown the end of undo, until [`Page::resume_history`] brings the earlier steps
    /// back.
    pub fn set_history_aside(self) -> History {
        (self.history)
            .try_update(std::mem::take)
            .unwrap_or_default()
    }

    /// Goes on with steps that were set aside.
    pub fn resume_history(self, history: History) {
        self.history.set(history);
    }

    /// Makes what is shown the end of undo.
    pub fn forget_history(self) {
        self.history.set(History::default());
    }

    /// Undoes one step. `false` when there is none.
    pub fn undo(self) -> bool {
        self.travel(History::undo)
    }

    /// Redoes one step. `false` when there is none.
    pub fn redo(self) -> bool {
        self.travel(History::redo)
    }

    fn travel(self, step: fn(&mut History, Step) -> Option<Step>) -> bool {
        let present = self.present_step();
        let step = self
            .history
            .try_update(|history| step(history, present))
            .flatten();
        let is_changed = step.is_some();
        if let Some(step) = step {
            self.put(step);
            self.keep_focus();
            if browser::shows_sheets() {
                // A sheet would cover what has changed.
                self.select(Selection::Nothing);
            }
        }
        is_changed
    }

    /// The text with its example and the choices.
    pub fn present_step(self) -> Step {
        Step {
            text: self.text.get_untracked(),
            example: self.origin.example.get_untracked(),
            choices: self.choices(),
        }
    }

    fn put(self, step: Step) {
        let is_same_text = self.text.with_untracked(|text| *text == step.text);
        // The message is about the old state, and its Undo button would undo this step.
        if self.present_step() != step && !(is_same_text && self.offers_document()) {
            self.screen.notice.set_if_changed(None);
        }
        self.origin.example.set_if_changed(step.example);
        self.set_choices(step.choices);
        if !is_same_text {
            browser::remember_text(&step.text);
            self.set_text.set(step.text);
        }
    }

    /// Whether the message offers another document, which stays possible under other choices.
    fn offers_document(self) -> bool {
        let is_offer = |notice: &Option<Notice>| {
            let action = notice.as_ref().and_then(|notice| notice.action.as_ref());
            matches!(
                action,
                Some(NoticeAction::OpenLink { .. } | NoticeAction::OpenDocument { .. })
            )
        };
        self.screen.notice.with_untracked(is_offer)
    }

    /// Makes these choices, without a step of undo: where a page opens, before there is something
    /// to undo.
    pub fn set_choices(self, choices: Choices) {
        let Choices {
            policy,
            fusion,
            conventions,
            device,
            is_fused,
            note,
            puzzle,
            moves,
        } = choices;
        if policy == Policy::Manual && self.stepping.step.get_untracked().is_some() {
            // Show the kernels that were just changed by hand, not those of an earlier step.
            self.stepping.step.set_if_changed(Some(usize::MAX));
        }
        self.set_policy(policy);
        self.chosen.fusion.set_if_changed(fusion);
        self.chosen.conventions.set_if_changed(conventions);
        self.chosen.device.set_if_changed(device);
        self.chosen.is_fused.set_if_changed(is_fused);
        self.screen.puzzle.set_if_changed(puzzle);
        self.screen.moves.set_if_changed(moves);
        if self.origin.sender_note.with_untracked(|now| *now != note) {
            self.origin.sender_note.set(note);
            self.origin.sent.update(|sent| sent.is_note_hidden = false);
        }
    }

    fn set_policy(self, policy: Policy) {
        let before = self.chosen.policy.get_untracked();
        if before != policy && before != Policy::None {
            self.chosen.fusing_policy.set(before);
        }
        self.chosen.policy.set_if_changed(policy);
    }
}
