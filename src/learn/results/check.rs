//! The engine's verdict on the answers to a question. Results that are handed in contain no
//! verdict.

use super::{Act, Try};
use crate::lesson::StepStates;
use crate::lesson::open::OpenLesson;
use crate::lesson::progress::StepOutcome;
use crate::lesson::prose::{Inline, filled};
use crate::lesson::state::AnalyzedProgram;
use crate::lesson::task::{Task, TaskKind};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A question of a lesson, with the engine's verdicts on answers so far.
pub struct Question {
    pub title: String,
    task: Task,
    asked: Arc<AnalyzedProgram>,
    states: StepStates,
    answered: Arc<AnalyzedProgram>,
    /// Students answer alike, and some answers take a search.
    verdicts: RefCell<BTreeMap<Act, TryVerdict>>,
}

/// The engine's verdict on a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TryVerdict {
    Right,
    /// It is wrong; the nudge of the lesson for this mistake.
    Wrong(String),
    /// The student asked for the answer.
    Asked,
    /// It is no answer to this question, and why.
    Unreadable(String),
}

/// How a student stands at a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// How far they are.
    pub standing: Standing,
    /// Number of their answers.
    pub tries: usize,
    /// How long they took to the last one, in seconds.
    pub took_s: u32,
    /// Their first answer, as the page writes it; empty if they gave none.
    pub first: String,
}

/// How far a student is with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// They have not done anything there.
    Untouched,
    /// They gave a wrong answer and no other one.
    Open,
    /// They are through.
    Ended(StepOutcome),
    /// The results hold no answer to this question, and why.
    Refused(String),
}

impl Question {
    /// The question of a step, from 0; `None` for a step without one.
    pub fn of(lesson: &OpenLesson, step: usize) -> Option<Self> {
        let of = lesson.lesson.steps.get(step)?;
        let analyzed = lesson.analyzed(step)?;
        Some(Self {
            title: of.title.clone(),
            task: of.task.clone()?,
            asked: analyzed.asked,
            answered: analyzed.answered,
            states: lesson.states.get(step)?.clone(),
            verdicts: RefCell::default(),
        })
    }

    /// The question itself, with its figures as text.
    pub fn ask(&self) -> Vec<Inline> {
        filled(&self.task.ask, &self.asked)
    }

    /// The right answer and its reason, with quoted parts as code. Empty for a task to do, of which
    /// the engine would search a way.
    pub fn right_answer(&self) -> String {
        if matches!(self.task.kind, TaskKind::Do { .. }) {
            return String::new();
        }
        self.task.right_answer(&self.states).unwrap_or_default()
    }

    /// The engine's verdict on a try, computed once for each different one: an analysis for a task
    /// to do, at most a search for others.
    pub fn verdict(&self, act: &Act) -> TryVerdict {
        if let Some(verdict) = self.verdicts.borrow().get(act) {
            return verdict.clone();
        }
        let verdict = self.judge(act);
        self.verdicts
            .borrow_mut()
            .insert(act.clone(), verdict.clone());
        verdict
    }

    fn judge(&self, act: &Act) -> TryVerdict {
        match act {
            Act::ShowMe => TryVerdict::Asked,
            Act::Answer(answer) => {
                let judged = (self.task).judge(answer, &self.states.answered, &self.answered);
                match judged {
                    Ok(judged) if judged.is_right => TryVerdict::Right,
                    Ok(judged) => TryVerdict::Wrong(judged.nudge),
                    Err(why) => TryVerdict::Unreadable(why.to_string()),
                }
            }
            Act::Make(made) => match made.analyzed(&self.states.asked) {
                Ok(analyzed) if self.task.is_done(&analyzed) => TryVerdict::Right,
                Ok(_) => TryVerdict::Unreadable("it does not reach the goal".to_owned()),
                Err(why) => TryVerdict::Unreadable(why.to_owned()),
            },
        }
    }

    /// How a student stands who did this. What cannot be read does not count, unless there is
    /// nothing else.
    pub fn cell(&self, tries: &[Try]) -> Cell {
        let verdicts = tries.iter().map(|tried| (tried, self.verdict(&tried.act)));
        let (refused, read): (Vec<_>, Vec<_>) =
            verdicts.partition(|(_, verdict)| matches!(verdict, TryVerdict::Unreadable(_)));
        let standing = match (read.as_slice(), refused.into_iter().next()) {
            ([], None) => Standing::Untouched,
            ([], Some((_, TryVerdict::Unreadable(why)))) => Standing::Refused(why),
            (read, _) => {
                let verdicts: Vec<_> = read.iter().map(|(_, verdict)| verdict).collect();
                outcome(&verdicts).map_or(Standing::Open, Standing::Ended)
            }
        };
        Cell {
            standing,
            tries: read.len(),
            took_s: read.last().map_or(0, |(tried, _)| tried.after_s),
            first: (read.first()).map_or_else(String::new, |(tried, _)| self.words(&tried.act)),
        }
    }

    /// A try as the page writes it, so that all spellings of one answer are the same.
    pub fn words(&self, act: &Act) -> String {
        match act {
            Act::ShowMe => "asked for the answer".to_owned(),
            Act::Make(_) => "done on the page".to_owned(),
            Act::Answer(answer) => {
                let words = (self.task).answer_words(answer, &self.states.answered, &self.answered);
                words.unwrap_or_default()
            }
        }
    }
}

/// How a question ended after these tries, in order; `None` while it is open. The first wrong
/// answer gets a nudge, the second one shows the answer. A right answer after that still counts as
/// shown, so that a teacher sees it.
fn outcome(verdicts: &[&TryVerdict]) -> Option<StepOutcome> {
    match verdicts {
        [TryVerdict::Right, ..] => Some(StepOutcome::Right),
        [TryVerdict::Asked, ..] => Some(StepOutcome::Shown),
        [_, TryVerdict::Right, ..] => Some(StepOutcome::Nudged),
        [_, _, ..] => Some(StepOutcome::Shown),
        _ => None,
    }
}
