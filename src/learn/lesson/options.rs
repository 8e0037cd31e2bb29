//! Tasks with options to choose: which options are right, and the verdict on a choice.

use super::answer::Judged;
use super::answer_reason::{reason_for_things, reasons_of, things_of};
use super::error::{AnswerError, ValueError};
use super::state::AnalyzedProgram;
use super::task::{Task, TaskKind};
use super::wording::join_sentences;

/// An option, and whether the engine finds it right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOption {
    pub label: String,
    /// Which tensor or kernel that is; may be empty.
    pub about: String,
    pub is_right: bool,
}

impl Task {
    /// The options to choose among; empty if the task asks for no choice.
    ///
    /// # Errors
    /// Why the engine cannot say what is right.
    pub fn options(&self, analyzed: &AnalyzedProgram) -> Result<Vec<TaskOption>, ValueError> {
        match &self.kind {
            TaskKind::Choose(choices) => (choices.iter())
                .map(|choice| {
                    Ok(TaskOption {
                        label: choice.label.clone(),
                        about: String::new(),
                        is_right: choice.condition.holds(analyzed)?,
                    })
                })
                .collect(),
            TaskKind::Each { things, condition } => (things_of(*things, analyzed).into_iter())
                .map(|thing| {
                    Ok(TaskOption {
                        label: thing.name,
                        about: thing.about,
                        is_right: condition.about(&thing.subject).holds(analyzed)?,
                    })
                })
                .collect(),
            TaskKind::Number { .. } | TaskKind::First { .. } | TaskKind::Do { .. } => {
                Ok(Vec::new())
            }
        }
    }

    pub(super) fn judge_choice(
        &self,
        chosen: &[usize],
        analyzed: &AnalyzedProgram,
    ) -> Result<Judged, AnswerError> {
        let options = self.options(analyzed)?;
        if chosen.iter().any(|&at| at >= options.len()) {
            return Err(AnswerError::NoSuchOption);
        }
        let differs = |is_right: bool| {
            let mut options = options.iter().enumerate();
            options
                .any(|(at, option)| option.is_right == is_right && chosen.contains(&at) != is_right)
        };
        let is_one = options.iter().filter(|option| option.is_right).count() == 1;
        let hint = self.first_wrong_hint(&options, chosen, analyzed);
        let verdict = match (differs(false), differs(true)) {
            (false, false) => "",
            (true, true) if is_one && chosen.len() == 1 => {
                if hint.is_empty() {
                    self.language.choose_another()
                } else {
                    ""
                }
            }
            (true, true) => self.language.wrong_and_missing(),
            (true, false) => self.language.something_wrong(),
            (false, true) => self.language.something_missing(),
        };
        let nudge = join_sentences(verdict, &hint);
        let why = self.why_chosen(&options, chosen, analyzed);
        Ok(self.judged(&nudge, &self.right_labels(&options), 0.0, why, analyzed))
    }

    /// Why the first of the wrongly chosen options is wrong. The others are left to the visitor.
    fn first_wrong_hint(
        &self,
        options: &[TaskOption],
        chosen: &[usize],
        analyzed: &AnalyzedProgram,
    ) -> String {
        let mut wrong = (options.iter().enumerate())
            .filter(|(at, option)| chosen.contains(at) && !option.is_right);
        let Some((at, _)) = wrong.next() else {
            return String::new();
        };
        match &self.kind {
            TaskKind::Choose(choices) => {
                choices.get(at).map_or("", |choice| &choice.hint).to_owned()
            }
            TaskKind::Each { things, condition } => {
                let subject = things_of(*things, analyzed).into_iter().nth(at);
                subject.map_or_else(String::new, |thing| {
                    reason_for_things(&[thing.subject], condition, analyzed)
                })
            }
            TaskKind::Number { .. } | TaskKind::First { .. } | TaskKind::Do { .. } => String::new(),
        }
    }

    pub(super) fn right_labels(&self, options: &[TaskOption]) -> String {
        self.labels(options.iter().filter(|option| option.is_right))
    }

    pub(super) fn labels<'a>(&self, options: impl Iterator<Item = &'a TaskOption>) -> String {
        let quoted = options.map(|option| match &self.kind {
            TaskKind::Each { .. } => format!("`{}`", option.label),
            _ => self.language.option(&option.label),
        });
        self.language.listed(quoted.collect())
    }

    /// Why the chosen options are right or not: what was wrongly chosen comes first, then what was
    /// left out.
    pub(super) fn why_chosen(
        &self,
        options: &[TaskOption],
        chosen: &[usize],
        analyzed: &AnalyzedProgram,
    ) -> String {
        match &self.kind {
            TaskKind::Choose(choices) => {
                let mut pairs = choices.iter().zip(options);
                let right = pairs.find(|(_, option)| option.is_right);
                right.map_or_else(String::new, |(choice, _)| {
                    reasons_of(&choice.condition, analyzed)
                })
            }
            TaskKind::Each { things, condition } => {
                let things = things_of(*things, analyzed);
                let why = |is_chosen: bool, is_right: bool| {
                    let subjects = things.iter().zip(options).enumerate();
                    let subjects = subjects.filter(|(at, (_, option))| {
                        chosen.contains(at) == is_chosen && option.is_right == is_right
                    });
                    let subjects: Vec<_> = subjects
                        .map(|(_, (thing, _))| thing.subject.clone())
                        .collect();
                    reason_for_things(&subjects, condition, analyzed)
                };
                let wrong = join_sentences(&why(true, false), &why(false, true));
                if wrong.is_empty() {
                    why(true, true)
                } else {
                    wrong
                }
            }
            _ => String::new(),
        }
    }
}
