//! What takes the place of the open document: a stored one, the program of a lesson or a puzzle, or
//! a link.

use super::Session;
use crate::app::documents::OpenDocument;
use crate::app::history::Origin;
use crate::app::sharing::{Carried, Link, LinkedLesson, LinkedPuzzle, choose_views};
use crate::app::starts::is_unfinished;
use crate::app::state::{Notice, NoticeAction, Sent, SetIfChanged};
use crate::app::stored;
use fuseline_browser as browser;
use fuseline_core::examples::example_of;
use fuseline_learn::results::handed_in::HandedIn;
use fuseline_view::page::links::SharedState;
use leptos::prelude::*;

impl Session {
    /// Opens a stored document, as one step of undo.
    pub fn open_document(self, id: &str) {
        if self.id() == id {
            return;
        }
        self.store_now();
        let Some(document) = stored::document(id) else {
            return;
        };
        self.open
            .set_value(OpenDocument::stored(id, &document).opened_again());
        self.name_entry();
        self.await_picture(id);
        self.show(document.state(), document.example());
        self.page.resume_sent();
    }

    /// Opens a stored document, with the lesson or the puzzle whose program it is.
    pub(super) fn go_to_document(self, id: &str) {
        let Some(document) = stored::document(id) else {
            return;
        };
        let lesson = document.lesson.as_deref();
        if let Some(lesson) = lesson.and_then(LinkedLesson::listed_in) {
            self.linked_lesson.set(Some(lesson));
        } else if document.state().puzzle.is_some() {
            self.linked_puzzle
                .set(Some(LinkedPuzzle::Stored(id.to_owned())));
        } else {
            self.open_document(id);
        }
    }

    /// Removes a stored document for good.
    pub fn forget(self, id: &str) {
        stored::forget(id);
    }

    /// Shows the program of a step of a lesson with its choices, as one step of undo. What is
    /// edited in it is an exercise and not kept among the visitor's own texts. `lesson` is as in
    /// [`Document::lesson`].
    pub fn open_exercise(self, state: &SharedState, lesson: Option<String>) {
        let is_other = self.page.text.with_untracked(|text| *text != state.text);
        // A text of the same words keeps its own choices, and is not what the exercise edits.
        if is_other || !self.open.with_value(OpenDocument::is_exercise) {
            self.store_now();
            let opened = OpenDocument::exercise(browser::new_id(), &state.text);
            self.open.set_value(opened);
            self.name_entry();
        }
        self.open.update_value(|open| open.lesson = lesson);
        self.show_sent(state);
        self.store_later();
    }

    /// Makes room for a lesson or a puzzle: the visitor's own program is no step of its undo.
    /// Returns the document to return to; `None` where an exercise is open already.
    pub fn set_own_aside(self) -> Option<String> {
        let history = self.page.set_history_aside();
        let document = self.document_to_return_to();
        if document.is_some() {
            self.aside.set_value(Some(history));
        }
        document
    }

    /// The document to return to from a lesson; `None` where a lesson's own program is open.
    pub fn document_to_return_to(self) -> Option<String> {
        self.open
            .with_value(|open| (!open.is_exercise()).then(|| open.id.clone()))
    }

    /// Opens the document from before a lesson with its steps of undo; the example of a first visit
    /// where it was not stored.
    pub fn return_to(self, id: Option<&str>) {
        match id.filter(|id| stored::document(id).is_some()) {
            Some(id) => self.open_document(id),
            None => self.page.open_start(),
        }
        self.resume_steps();
    }

    /// Brings the steps of undo back that were set aside. After a reload there are none, and those
    /// of an exercise are no steps of the own program.
    pub fn resume_steps(self) {
        let history = self.aside.try_update_value(Option::take).flatten();
        self.page.resume_history(history.unwrap_or_default());
    }

    /// Opens the state of a link, a puzzle as one that is chosen from the list.
    pub fn open_sent(self, state: SharedState, name: &str) {
        if state.puzzle.is_some() {
            self.await_picture(&self.id());
            (self.linked_puzzle).set(Some(LinkedPuzzle::Sent(state.into(), name.to_owned())));
        } else {
            self.open_state(&state, name);
        }
    }

    /// Opens the state of a link, as one step of undo. For a puzzle,
    /// [`Puzzling`](crate::app::puzzling::Puzzling) keeps what was open before.
    pub(in crate::app) fn open_state(self, state: &SharedState, name: &str) {
        let page = self.page;
        self.store_now();
        let is_other = page.text.with_untracked(|text| *text != state.text);
        let own = (self.open).with_value(|open| open.is_own().then(|| open.id.clone()));
        let is_puzzle = state.puzzle.is_some();
        if is_puzzle {
            (self.open).set_value(OpenDocument::exercise(browser::new_id(), &state.text));
        } else if is_other {
            let opened = OpenDocument::new(browser::new_id(), &state.text, true);
            self.open.set_value(opened);
        }
        self.await_picture(name);
        if !is_puzzle {
            // The step of a lesson is about another program.
            self.page.screen.is_learning.set_if_changed(false);
        }
        self.show_sent(state);
        page.origin.sent.set(Sent {
            link: Some(page.present_step()),
            is_note_hidden: false,
        });
        self.name_entry();
        // On a phone a sheet would cover the sentence, and without one nothing would say why the
        // charts are dim.
        if let Some(name) = &state.selected_op
            && !browser::shows_sheets()
        {
            page.select_named(name);
        }
        // A puzzle is closed by its own button.
        if let Some(id) = own.filter(|_| is_other && !is_puzzle) {
            page.screen.notice.set(Some(Notice {
                text: "Opened from a link. Your own text is stored.".to_owned(),
                is_failure: false,
                action: Some(NoticeAction::OpenDocument {
                    id,
                    label: "Go back to it",
                }),
            }));
        }
    }

    /// Opens a link. A broken one, and one whose last start did not finish, changes nothing.
    pub(super) fn open_link(self, link: Link) {
        match link.carried {
            Ok(Carried::Lesson(lesson)) => {
                self.await_picture(&self.id());
                self.linked_lesson.set(Some(lesson));
            }
            Ok(Carried::Puzzle(source)) => {
                self.await_picture(&self.id());
                self.linked_puzzle.set(Some(LinkedPuzzle::Listed(source)));
            }
            Ok(Carried::Results(results)) => {
                self.await_picture(&self.id());
                self.page
                    .origin
                    .handed_in
                    .set(vec![HandedIn::Results(results)]);
            }
            Ok(Carried::State(state)) if is_unfinished(&link.name) => {
                self.await_picture(&self.id());
                self.page.screen.notice.set(Some(Notice {
                    text: "This link did not finish opening last time, so it was not opened again."
                        .to_owned(),
                    is_failure: true,
                    action: Some(NoticeAction::OpenLink {
                        state: state.into(),
                        name: link.name,
                    }),
                }));
            }
            Ok(Carried::State(state)) => self.open_sent(*state, &link.name),
            Err(problem) => {
                self.await_picture(&self.id());
                self.page.tell_failure(problem.message());
            }
        }
    }

    fn show(self, state: SharedState, example: Option<&'static str>) {
        self.page.pictures.drawing.fold();
        let choices = (&state).into();
        (self.page).replace(state.text.clone(), Origin::Single, example, choices);
        choose_views(self.page, state);
    }

    /// Shows a state that comes without the name of its example.
    fn show_sent(self, state: &SharedState) {
        let example = example_of(&state.text).map(|example| example.id);
        self.show(state.clone(), example);
    }
}
