//! A lesson that is open: its file, read, and the page at each of its steps.

use super::check::check;
use super::library::{ListedLesson, listed_after};
use super::state::AnalyzedProgram;
use super::{Lesson, Problem, StepStates, read};
use crate::own::own_id;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct OpenLesson {
    /// The lesson of the page; `None` for one of somebody's own.
    pub id: Option<&'static str>,
    pub text: Arc<str>,
    pub lesson: Arc<Lesson>,
    /// The page at each of its steps.
    pub states: Arc<Vec<StepStates>>,
    pub problems: Arc<Vec<Problem>>,
}

impl OpenLesson {
    pub fn listed(listed: &ListedLesson) -> Self {
        Self::read(Some(listed.id), listed.text)
    }

    /// A lesson of somebody's own.
    pub fn own(text: &str) -> Self {
        Self::read(None, text)
    }

    fn read(id: Option<&'static str>, text: &str) -> Self {
        let (lesson, mut problems) = read(text);
        let states = lesson.states(&mut problems);
        problems.sort_by_key(|problem| problem.line);
        Self {
            id,
            text: text.into(),
            lesson: Arc::new(lesson),
            states: Arc::new(states),
            problems: Arc::new(problems),
        }
    }

    /// Checks the lesson with the engine, which takes an analysis a step.
    pub fn check(&mut self) {
        let mut problems = check(&self.lesson);
        let read = self.problems.iter();
        let others: Vec<_> = read
            .filter(|problem| !problems.contains(problem))
            .cloned()
            .collect();
        problems.extend(others);
        problems.sort_by_key(|problem| problem.line);
        self.problems = Arc::new(problems);
    }

    /// The id of the lesson in results: another text of somebody's own is another lesson.
    pub fn results_id(&self) -> String {
        self.id.map_or_else(|| own_id(&self.text), str::to_owned)
    }

    /// The title of the next lesson of the page.
    pub fn title_after(&self) -> Option<String> {
        Some(read(listed_after(self.id?)?.text).0.title)
    }

    /// The analysed programs of a step, from 0; `None` for a step without a program.
    pub fn analyzed(&self, step: usize) -> Option<StepAnalysis> {
        let states = self.states.get(step)?;
        let asked = Arc::new(states.asked.analyzed()?);
        let answered = if states.asked == states.answered {
            asked.clone()
        } else {
            Arc::new(states.answered.analyzed()?)
        };
        Some(StepAnalysis { asked, answered })
    }
}

/// The programs of a step, analysed: when it begins, and when its task is answered.
#[derive(Clone, Debug)]
pub struct StepAnalysis {
    pub asked: Arc<AnalyzedProgram>,
    pub answered: Arc<AnalyzedProgram>,
}
