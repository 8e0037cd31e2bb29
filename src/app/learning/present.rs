//! What the open lesson and its present step are, for what shows them.

use super::Learning;
use crate::app::state::Screen;
use fuseline_learn::language::Language;
use fuseline_learn::lesson::library::{ListedLesson, listed_after};
use fuseline_learn::lesson::open::OpenLesson;
use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::lesson::state::PageState;
use fuseline_learn::lesson::task::Task;
use fuseline_learn::lesson::{Lesson, LessonStep, StepStates};
use fuseline_view::page::view::View;
use leptos::prelude::*;

impl Learning {
    /// Whether the page is no longer what the words of the step are about. Tasks that are done by
    /// changing it do not count. Tracked.
    pub fn has_page_changed(self) -> bool {
        let is_to_change = (self.task()).is_some_and(|task| task.is_done_on_page());
        let Some(of_step) = self.state().filter(|_| !is_to_change) else {
            return false;
        };
        let of_step = of_step.shared;
        let page = self.page();
        page.text.with(|text| *text != of_step.text)
            || page.chosen.policy.get() != of_step.policy
            || page.chosen.fusion.get() != of_step.fusion
            || page.chosen.conventions.get() != of_step.conventions
            || page.chosen.device.with(|device| *device != of_step.device)
            || page.chosen.is_fused.get() == of_step.is_unfused_view
    }

    /// The first step of a lesson that is not done, from 0; `None` if all are. Tracked.
    pub fn first_open_step(self, id: &str, lesson: &Lesson) -> Option<usize> {
        self.progress
            .with(|progress| (0..lesson.steps.len()).find(|&step| !progress.is_done(id, step)))
    }

    /// Number of steps of the open lesson. Not tracked.
    pub fn step_count(self) -> usize {
        self.open
            .with_untracked(|open| open.as_ref().map_or(0, |open| open.lesson.steps.len()))
    }

    /// Whether the step is the last one. Tracked.
    pub fn is_last(self) -> bool {
        let count = self
            .open
            .with(|open| open.as_ref().map_or(0, |open| open.lesson.steps.len()));
        self.step.get() + 1 >= count
    }

    /// The task of the step, until it is answered. Tracked.
    pub fn open_task(self) -> Option<Task> {
        let is_open = !self.is_closing.get() && self.judged.with(Option::is_none);
        is_open.then(|| self.task()).flatten()
    }

    /// Whether the step has a task that is not answered. Tracked.
    pub fn has_open_task(self) -> bool {
        self.open_task().is_some()
    }

    /// The lesson of the page after the open one. Tracked.
    pub fn listed_after(self) -> Option<&'static ListedLesson> {
        self.open.with(|open| listed_after(open.as_ref()?.id?))
    }

    /// The fixed strings around the open lesson. Tracked.
    pub fn language(self) -> Language {
        let of = |open: &OpenLesson| open.lesson.lang.language();
        self.open
            .with(|open| open.as_ref().map(of).unwrap_or_default())
    }

    /// The language of the open lesson's author, for the `lang` attribute of what they wrote.
    /// Tracked.
    pub fn lang(self) -> Option<String> {
        let of = |open: &OpenLesson| open.lesson.lang.as_str().to_owned();
        self.open.with(|open| open.as_ref().map(of))
    }

    /// The present step. Tracked.
    pub fn present(self) -> Option<LessonStep> {
        let step = self.step.get();
        self.open
            .with(|open| open.as_ref()?.lesson.steps.get(step).cloned())
    }

    /// The task of the present step. Tracked.
    pub fn task(self) -> Option<Task> {
        self.present()?.task
    }

    /// The views that the present step looks at, once it is answered those of its answer. Tracked.
    pub fn look(self) -> Vec<View> {
        self.state().map(|state| state.look).unwrap_or_default()
    }

    /// The page as the present step shows it: as it asks, or as its answer does once there is one.
    /// Tracked.
    fn state(self) -> Option<PageState> {
        let states = self.states()?;
        let is_answered = self.judged.with(Option::is_some);
        Some(if is_answered {
            states.answered
        } else {
            states.asked
        })
    }

    /// The page at the present step. Tracked.
    pub fn states(self) -> Option<StepStates> {
        let step = self.step.get();
        self.open
            .with(|open| open.as_ref()?.states.get(step).cloned())
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
}

/// Whether a step of a lesson is shown. Tracked.
pub fn is_in_lesson(screen: Screen) -> impl Fn() -> bool + Copy + Send + Sync {
    let learning = Learning::of_context();
    move || {
        screen.is_learning.get()
            && learning.is_some_and(|learning| learning.open.with(Option::is_some))
    }
}

/// Whether a step of a lesson asks for something that the page would show in another state.
/// Tracked.
pub fn is_asking(screen: Screen) -> impl Fn() -> bool + Copy + Send + Sync {
    let (learning, is_in_lesson) = (Learning::of_context(), is_in_lesson(screen));
    move || {
        is_in_lesson()
            && learning
                .and_then(Learning::open_task)
                .is_some_and(|task| !task.is_done_on_page())
    }
}
