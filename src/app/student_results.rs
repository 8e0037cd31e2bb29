//! What the visitor does in lessons and puzzles. It stays in this browser until they hand it in.

use crate::app::storage_keys::RESULTS;
use crate::app::stored;
use fuseline_browser as browser;
use fuseline_learn::lesson::answer::Answer;
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::puzzle::Posed;
use fuseline_learn::results::page_diff::PageDiff;
use fuseline_learn::results::{Act, Results, Solution, Try};
use fuseline_view::page::links::SharedState;
use leptos::prelude::*;

/// What the visitor does, as they hand it in. Made once at the root and given to all components as
/// context.
#[derive(Clone, Copy)]
pub struct StudentResults {
    pub results: RwSignal<Results>,
    /// When the present step was opened.
    opened_ms: StoredValue<f64>,
}

impl StudentResults {
    /// The results of earlier visits.
    pub fn load() -> Self {
        let stored = browser::load(RESULTS).and_then(|stored| Results::read(&stored).ok());
        let results = stored.unwrap_or_else(|| Results::new(browser::new_id()));
        let student_results = Self {
            results: RwSignal::new(results),
            opened_ms: StoredValue::new(browser::now_ms()),
        };
        stored::follow(RESULTS, student_results.results, Results::write);
        student_results
    }

    /// The results in the context; `None` for a component that is shown alone.
    pub fn of_context() -> Option<Self> {
        use_context()
    }

    /// A step was opened, from its start.
    pub(super) fn open_step(self) {
        self.opened_ms.set_value(browser::now_ms());
    }

    /// The visitor answered the question of a step, from 0.
    pub(super) fn answer(self, open: &OpenLesson, step: usize, answer: &Answer) {
        self.take(open, step, Act::Answer(answer.clone()));
    }

    /// The visitor asked for the answer.
    pub(super) fn show_me(self, open: &OpenLesson, step: usize) {
        self.take(open, step, Act::ShowMe);
    }

    /// The visitor has done what the step asks on the page.
    pub(super) fn make(self, open: &OpenLesson, step: usize, shown: &SharedState) {
        if let Some(states) = open.states.get(step) {
            let diff = PageDiff::of(&states.asked.shared, shown);
            self.take(open, step, Act::Make(diff));
        }
    }

    fn take(self, open: &OpenLesson, step: usize, act: Act) {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "seconds of a visit, from 0"
        )]
        let after_s = ((browser::now_ms() - self.opened_ms.get_value()) / 1e3).round() as u32;
        self.results.update(|results| {
            results.take(&open.results_id(), &open.text, step, Try { act, after_s });
        });
    }

    /// The visitor has reached better kernels of a puzzle than before.
    pub(super) fn solve(self, id: &str, posed: &Posed, shown: &SharedState, moves: usize) {
        let diff = PageDiff::of(&posed.puzzle.page.shared, shown);
        self.results.update(|results| {
            (results.puzzles).insert(id.to_owned(), Solution { made: diff, moves });
        });
    }
}
