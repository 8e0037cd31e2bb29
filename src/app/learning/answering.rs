//! Answers to the task of the open step, and how steps end.

use super::{Learning, is_in_lesson};
use crate::app::sharing::shown;
use crate::app::state::{Page, Screen, SetIfChanged};
use fuseline_learn::lesson::answer::{Answer, Judged};
use fuseline_learn::lesson::open::{OpenLesson, StepAnalysis};
use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::lesson::state::AnalyzedProgram;
use fuseline_learn::lesson::to_do::Wanted;
use leptos::prelude::*;

impl Learning {
    /// Takes an answer to the task of the step. An answer that cannot be read is told and changes
    /// nothing, and a first wrong one leaves the task open.
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

    /// Shows the right answer, and of a task to do a way.
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

    /// Sees when a task to do is done.
    pub(super) fn follow_goals(self) {
        Effect::new(move || {
            let is_done = self
                .wanted
                .with(|wanted| !wanted.is_empty() && wanted.iter().all(|wanted| wanted.holds));
            // A slider that is held may be on its way elsewhere.
            if is_done && !self.page.slider.is_held() && self.judged.with_untracked(Option::is_none)
            {
                let shown = untrack(|| shown(self.page));
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

    /// The steps of the open lesson that the visitor did not answer at once, from 0, with their
    /// titles and how they ended. Tracked.
    pub fn missed_steps(self) -> Vec<(usize, String, Option<StepOutcome>)> {
        self.open.with(|open| {
            let Some(OpenLesson {
                id: Some(id),
                lesson,
                ..
            }) = open
            else {
                return Vec::new();
            };
            let steps = lesson.steps.iter().enumerate().map(|(at, step)| {
                let outcome = self.progress.with(|progress| progress.outcome(id, at));
                (at, step.title.clone(), outcome)
            });
            steps
                .filter(|&(.., outcome)| outcome != Some(StepOutcome::Right))
                .collect()
        })
    }

    /// The judgement of the present page, in which the task to do is done. Tracked.
    fn done(self) -> Option<Judged> {
        self.task()?.done(&present_seen(self.page)?)
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

/// Whether a step of a lesson asks what the page would tell, if it showed another state. Tracked.
pub fn is_asking(screen: Screen) -> impl Fn() -> bool + Copy + Send + Sync {
    let (learning, is_in_lesson) = (Learning::of_context(), is_in_lesson(screen));
    move || {
        is_in_lesson()
            && learning
                .and_then(Learning::open_task)
                .is_some_and(|task| !task.is_done_on_page())
    }
}

/// What a task to do wants of the present page; `None` for another task.
pub(super) fn wanted(
    page: Page,
    open: RwSignal<Option<OpenLesson>>,
    step: RwSignal<usize>,
    seen: Memo<Option<StepAnalysis>>,
) -> Option<Vec<Wanted>> {
    let task = open.with(|open| open.as_ref()?.lesson.steps.get(step.get())?.task.clone())?;
    let asked = seen.with(|seen| seen.as_ref().map(|seen| seen.asked.clone()))?;
    Some(task.wanted(&present_seen(page)?, &asked))
}

/// What the engine sees on the present page. Tracked.
pub fn present_seen(page: Page) -> Option<AnalyzedProgram> {
    let shown = page.present.get()?;
    let is_refused = !shown.analysis().refused.is_empty();
    Some(AnalyzedProgram {
        text: shown.text.clone(),
        parsed: shown.parsed.clone(),
        analysis: shown.analysis().clone(),
        statement_of_op: shown.statement_of_op().clone(),
        has_error: shown.has_error() || is_refused,
    })
}
