//! The lesson that a visitor follows: its step, their answers, and how far they are.

mod answering;
mod present;

pub use present::{is_asking, is_in_lesson};

use crate::app::seen::present_seen;
use crate::app::session::Session;
use crate::app::sharing::LinkedLesson;
use crate::app::state::{Page, SetIfChanged};
use crate::app::storage_keys::{LESSONS, OWN_LESSON};
use crate::app::stored;
use crate::app::student_results::StudentResults;
use fuseline_browser::{self as browser, Debounce};
use fuseline_learn::lesson::answer::Judged;
use fuseline_learn::lesson::library::listed;
use fuseline_learn::lesson::open::{OpenLesson, StepAnalysis};
use fuseline_learn::lesson::progress::{LessonPosition, LessonProgress, StepOutcome};
use fuseline_learn::lesson::state::PageState;
use fuseline_learn::lesson::to_do::Wanted;
use fuseline_view::page::links::listed_lesson_fragment;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The engine checks an edited lesson after a pause of this length.
const CHECK_PAUSE: Duration = Duration::from_millis(500);

/// What a visitor sees while no lesson and no puzzle is in front.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// The lists of lessons and puzzles.
    #[default]
    Lists,
    /// What a student hands in.
    HandIn,
    /// What a class has handed in.
    Class,
}

/// The state of the lessons. Made once at the root and given to all components as context.
#[derive(Clone, Copy)]
pub struct Learning {
    session: Session,
    student_results: StudentResults,
    /// What stands where lessons and puzzles are listed.
    pub room: RwSignal<Room>,
    pub open: RwSignal<Option<OpenLesson>>,
    /// The step of the open lesson, from 0.
    pub step: RwSignal<usize>,
    /// Whether the end of the lesson is shown, after its last step.
    pub is_closing: RwSignal<bool>,
    /// What was said about the answer to the task of the step; `None` until it is answered.
    pub judged: RwSignal<Option<Judged>>,
    /// The reply to a first wrong answer, which leaves the task open; else empty.
    pub nudge: RwSignal<String>,
    /// How far the visitor is.
    pub progress: RwSignal<LessonProgress>,
    /// Whether the file of the lesson is being edited.
    pub is_edited: RwSignal<bool>,
    /// Whether the lesson is shown as it prints.
    pub is_worksheet_open: RwSignal<bool>,
    /// What the engine sees at the step; `None` without a program.
    pub seen: Memo<Option<StepAnalysis>>,
    /// What a task to do still wants of the page.
    pub wanted: Memo<Arc<Vec<Wanted>>>,
    check_later: Debounce,
    /// Whether the heading of the step shall get the focus when it is shown.
    wants_focus: StoredValue<bool>,
}

impl Learning {
    /// The lessons, with the one that was open at the last visit or that a link names.
    pub fn new(session: Session, student_results: StudentResults) -> Self {
        let page = session.page;
        let open = RwSignal::new(None::<OpenLesson>);
        let step = RwSignal::new(0);
        let stored = browser::load(LESSONS).map(|stored| LessonProgress::read(&stored));
        let seen = Memo::new_with_compare(
            move |_| {
                let step = step.get();
                open.with(|open| open.as_ref()?.analyzed(step))
            },
            // A program is costly to compare, and each step has a program of its own.
            |_, _| true,
        );
        let learning = Self {
            session,
            student_results,
            room: RwSignal::new(Room::Lists),
            open,
            step,
            is_closing: RwSignal::new(false),
            judged: RwSignal::new(None),
            nudge: RwSignal::new(String::new()),
            progress: RwSignal::new(stored.unwrap_or_default()),
            is_edited: RwSignal::new(false),
            is_worksheet_open: RwSignal::new(false),
            seen,
            wanted: Memo::new(move |_| {
                Arc::new(wanted(page, open, step, seen).unwrap_or_default())
            }),
            check_later: Debounce::after(CHECK_PAUSE),
            wants_focus: StoredValue::new(false),
        };
        learning.resume();
        learning.keep();
        learning
    }

    /// The lessons in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    /// The page that the lessons are about.
    pub(super) fn page(self) -> Page {
        self.session.page
    }

    /// Opens the lesson of the last visit where it was, on the page as it is.
    fn resume(self) {
        let Some(LessonPosition { id, step }) = self.progress.with_untracked(|p| p.open.clone())
        else {
            return;
        };
        let open = match id {
            Some(id) => listed(&id).map(OpenLesson::listed),
            None => browser::load(OWN_LESSON).map(|text| OpenLesson::own(&text)),
        };
        // A visitor who follows a link to a program sees that program.
        let is_of_link = (self.page().origin.sent).with_untracked(|sent| sent.link.is_some());
        if let Some(open) = open.filter(|_| !is_of_link) {
            self.step
                .set(step.min(open.lesson.steps.len().saturating_sub(1)));
            self.open.set(Some(open));
            self.page().screen.is_learning.set(true);
        }
    }

    /// Stores progress, follows links, and notices when a task is done.
    fn keep(self) {
        Effect::watch(
            move || {
                (
                    self.step.get(),
                    // What the visitor has left for the whole page is not what the next visit
                    // opens.
                    (self.page().screen.is_learning.get())
                        .then(|| self.open.with(|open| open.as_ref().map(|open| open.id)))
                        .flatten(),
                )
            },
            move |&(step, id), _, _| {
                let open = id.map(|id| LessonPosition {
                    id: id.map(str::to_owned),
                    step,
                });
                self.progress.update(|progress| progress.open = open);
            },
            false,
        );
        stored::follow(LESSONS, self.progress, LessonProgress::write);
        Effect::new(move || {
            let linked = self.session.linked_lesson.get();
            if linked.is_some() {
                self.session.linked_lesson.set(None);
            }
            match linked {
                Some(LinkedLesson::Listed(id, step)) => {
                    self.open_listed(&id, step.saturating_sub(1));
                }
                Some(LinkedLesson::Own(text)) => self.open_own(&text),
                None => {}
            }
        });
        self.follow_goals();
    }

    /// Opens a lesson of the page at a step, from 0.
    pub fn open_listed(self, id: &str, step: usize) {
        match listed(id) {
            Some(listed) => self.begin(OpenLesson::listed(listed), step),
            None => self.page().tell_failure(format!(
                "There is no lesson {id} on this page. The link may come from another version."
            )),
        }
    }

    /// Opens a lesson of somebody's own.
    pub fn open_own(self, text: &str) {
        // Where storage refuses, the lesson is gone with the page; its file is not.
        let _ = browser::store(OWN_LESSON, text);
        self.begin(OpenLesson::own(text), 0);
        self.check_later.call(move || self.check());
    }

    fn begin(self, open: OpenLesson, step: usize) {
        self.room.set_if_changed(Room::Lists);
        self.page().screen.is_learning.set_if_changed(true);
        let is_first = self.open.with_untracked(Option::is_none);
        if is_first && let Some(document) = self.session.set_own_aside() {
            self.progress
                .update(|progress| progress.before = Some(document));
        }
        self.open.set(Some(open));
        self.go(step);
        if is_first {
            self.page().forget_history();
        }
    }

    /// Goes to a step, from 0, and shows its state of the page.
    pub fn go(self, step: usize) {
        let count = self.step_count();
        self.wants_focus.set_value(true);
        self.is_closing.set_if_changed(false);
        self.step.set(step.min(count.saturating_sub(1)));
        self.show_asked();
    }

    /// Whether the heading of the step shall get the focus, once for each time that a visitor goes
    /// to a step.
    pub fn takes_focus(self) -> bool {
        self.wants_focus
            .try_update_value(std::mem::take)
            .unwrap_or_default()
    }

    /// Shows the page as the step begins.
    pub fn show_asked(self) {
        self.student_results.open_step();
        self.judged.set(None);
        self.nudge.set_if_changed(String::new());
        if let Some(states) = untrack(|| self.states()) {
            self.show(&states.asked);
        }
    }

    fn show(self, state: &PageState) {
        // A message about the page before does not hold for this one.
        self.page().screen.notice.set(None);
        let id = (self.open).with_untracked(|open| open.as_ref()?.id);
        let lesson = id.map(|id| listed_lesson_fragment(id, self.step.get_untracked() + 1));
        self.session.open_exercise(&state.shared, lesson);
        self.page().stepping.step.set_if_changed(None);
        self.page().select_mark(state.mark.as_ref());
    }

    /// Closes the lesson, brings back the program and the choices from before it, and shows the
    /// lists.
    pub fn close(self) {
        self.is_edited.set(false);
        self.judged.set(None);
        self.nudge.set_if_changed(String::new());
        if self.open.with_untracked(Option::is_none) {
            return;
        }
        self.is_closing.set_if_changed(false);
        self.open.set(None);
        let before = (self.progress).with_untracked(|progress| progress.before.clone());
        self.session.return_to(before.as_deref());
        self.page().screen.is_learning.set_if_changed(true);
    }

    /// Closes what is open, a lesson or the lists, and shows the page from its top with the program
    /// from before.
    pub fn leave(self) {
        self.room.set_if_changed(Room::Lists);
        self.close();
        self.page().screen.is_learning.set_if_changed(false);
        self.page().keep_focus();
        // The answers of the lesson have moved it.
        browser::scroll_to_top();
    }

    /// Goes to the next step, after the last one to the end of the lesson, and from there to the
    /// next lesson.
    pub fn go_on(self) {
        if self.is_closing.get_untracked() {
            match untrack(|| self.listed_after()) {
                Some(next) => self.open_listed(next.id, 0),
                None => self.close(),
            }
            return;
        }
        if untrack(|| self.task()).is_none() {
            self.end_step(StepOutcome::Right);
        } else if self.judged.with_untracked(Option::is_none) {
            self.end_step(StepOutcome::Skipped);
        }
        if untrack(|| self.is_last()) {
            self.is_closing.set(true);
        } else {
            self.go(self.step.get_untracked() + 1);
        }
    }

    /// Goes to the step before; from the end of the lesson to its last step.
    pub fn go_previous(self) {
        let step = self.step.get_untracked();
        let is_closing = self.is_closing.get_untracked();
        self.go(if is_closing {
            step
        } else {
            step.saturating_sub(1)
        });
    }

    /// Takes an edited file of the open lesson, which is the visitor's own from now on.
    pub fn edit(self, text: &str) {
        let _ = browser::store(OWN_LESSON, text);
        let before = untrack(|| self.states());
        let open = OpenLesson::own(text);
        let last = open.lesson.steps.len().saturating_sub(1);
        self.open.set(Some(open));
        self.step.update(|step| *step = (*step).min(last));
        let now = untrack(|| self.states());
        if now != before {
            self.show_asked();
        }
        self.check_later.call(move || self.check());
    }

    /// Checks the open lesson with the engine, and shows what is wrong.
    fn check(self) {
        self.open.update(|open| {
            if let Some(open) = open {
                open.check();
            }
        });
    }
}

/// What a task to do wants of the present page; `None` for another task.
fn wanted(
    page: Page,
    open: RwSignal<Option<OpenLesson>>,
    step: RwSignal<usize>,
    seen: Memo<Option<StepAnalysis>>,
) -> Option<Vec<Wanted>> {
    let task = open.with(|open| open.as_ref()?.lesson.steps.get(step.get())?.task.clone())?;
    let asked = seen.with(|seen| seen.as_ref().map(|seen| seen.asked.clone()))?;
    Some(task.wanted(&present_seen(page)?, &asked))
}
