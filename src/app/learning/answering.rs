//! Answers to the task of the open step, and how steps end.

use super::Learning;
use crate::app::seen::present_seen;
use crate::app::sharing::shown;
use crate::app::state::SetIfChanged;
use fuseline_learn::lesson::answer::{Answer, Judged};
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::lesson::progress::StepOutcome;
use leptos::prelude::*;

impl Learning {
    /// Takes an answer to the task of the step. An answer that cannot be read changes nothing, and
    /// a first wrong one leaves the task open.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub fn answer(self, answer: &Answer) -> Result<(), String> {
        let (Some(task), Some(states)) = untrack(|| (self.task(), self.states())) else {
            return Ok(());
        };
        let seen = self.seen.get_untracked();
        let seen = seen.ok_or(task.language.step_without_program())?;
        let judged = task.judge(answer, &states.answered, &seen.answered);
        let judged = judged.map_err(|problem| problem.to_string())?;
        self.with_open_step(|open, step| self.student_results.answer(open, step, answer));
        let is_first = self.nudge.with_untracked(String::is_empty);
        if !judged.is_right && is_first {
            self.nudge.set(judged.nudge);
            return Ok(());
        }
        self.show(&states.answered);
        let outcome = match (judged.is_right, is_first) {
            (false, _) => StepOutcome::Shown,
            (true, false) => StepOutcome::Nudged,
            (true, true) => StepOutcome::Right,
        };
        self.finish(judged, outcome);
        Ok(())
    }

    /// Shows the right answer, or one way to do a task on the page.
    pub fn give_up(self) {
        let (Some(task), Some(states)) = untrack(|| (self.task(), self.states())) else {
            return;
        };
        self.with_open_step(|open, step| self.student_results.show_me(open, step));
        let given_up = task.given_up(&states);
        self.show(&task.way(&states.asked).unwrap_or(states.answered));
        self.finish(given_up.unwrap_or_default(), StepOutcome::Shown);
    }

    fn with_open_step(self, act: impl FnOnce(&OpenLesson, usize)) {
        let step = self.step.get_untracked();
        self.open.with_untracked(|open| {
            if let Some(open) = open {
                act(open, step);
            }
        });
    }

    fn finish(self, judged: Judged, outcome: StepOutcome) {
        self.nudge.set_if_changed(String::new());
        self.judged.set(Some(judged));
        self.end_step(outcome);
    }

    /// Notices when a task on the page is done.
    pub(super) fn follow_goals(self) {
        Effect::new(move || {
            let is_done = self
                .wanted
                .with(|wanted| !wanted.is_empty() && wanted.iter().all(|wanted| wanted.holds));
            // A slider that is held may be on its way elsewhere.
            if is_done
                && !self.page().slider.is_held()
                && self.judged.with_untracked(Option::is_none)
            {
                let shown = untrack(|| shown(self.page()));
                self.with_open_step(|open, step| self.student_results.make(open, step, &shown));
                let done = untrack(|| self.done());
                let done = done.unwrap_or(Judged {
                    is_right: true,
                    ..Judged::default()
                });
                self.finish(done, StepOutcome::Right);
            }
        });
    }

    /// The judgement of the present page, in which the task to do is done. Tracked.
    fn done(self) -> Option<Judged> {
        self.task()?.done(&present_seen(self.page())?)
    }

    /// The present step has ended.
    pub(super) fn end_step(self, outcome: StepOutcome) {
        let id = self
            .open
            .with_untracked(|open| open.as_ref().and_then(|open| open.id));
        if let Some(id) = id {
            let step = self.step.get_untracked();
            self.progress
                .update(|progress| progress.end(id, step, outcome));
        }
    }
}
