//! How far a visitor is, and how they got there. It stays in their browser.

use crate::language::Language;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Progress in all lessons, as the browser stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// The lesson that is open, and the step.
    pub open: Option<LessonPosition>,
    /// The document that was open before the lesson.
    pub before: Option<String>,
    /// For each lesson of the page how its steps ended.
    pub ended: BTreeMap<String, BTreeMap<usize, StepOutcome>>,
    /// Ended steps without their outcome, as earlier versions stored them. Only read.
    #[serde(skip_serializing)]
    done: BTreeMap<String, BTreeSet<usize>>,
}

/// How a step ended, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepOutcome {
    /// The visitor went on without an answer.
    Skipped,
    /// The page showed the answer, after two wrong ones or when it was asked to.
    Shown,
    /// The answer was right after a nudge, or on a later try.
    Nudged,
    /// The first answer was right, or there was nothing to answer.
    Right,
}

impl StepOutcome {
    /// The outcome in words, as they stand after a dash.
    pub const fn words(self) -> &'static str {
        self.words_in(Language::English)
    }

    /// [`Self::words`] in a language.
    pub const fn words_in(self, language: Language) -> &'static str {
        match self {
            Self::Skipped => language.skipped(),
            Self::Shown => language.shown(),
            Self::Nudged => language.right_later(),
            Self::Right => language.right_at_once(),
        }
    }
}

/// Where a visitor is: a step of a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonPosition {
    /// The lesson of the page; `None` for one of somebody's own.
    pub id: Option<String>,
    /// The step, from 0.
    pub step: usize,
}

impl LessonProgress {
    /// Reads the stored progress; empty where it cannot be read.
    pub fn read(stored: &str) -> Self {
        let mut read: Self = serde_json::from_str(stored).unwrap_or_default();
        for (id, steps) in std::mem::take(&mut read.done) {
            let ended = read.ended.entry(id).or_default();
            for step in steps {
                ended.entry(step).or_insert(StepOutcome::Right);
            }
        }
        read
    }

    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Notes that a step has ended. The best of several outcomes counts, but after a nudge or a
    /// shown answer no later one is right at once.
    pub fn end(&mut self, id: &str, step: usize, outcome: StepOutcome) {
        let ended = self.ended.entry(id.to_owned()).or_default();
        let outcome = match (ended.get(&step), outcome) {
            (Some(StepOutcome::Nudged | StepOutcome::Shown), StepOutcome::Right) => {
                StepOutcome::Nudged
            }
            (Some(&before), now) => before.max(now),
            (None, now) => now,
        };
        ended.insert(step, outcome);
    }

    /// How a step ended, if it has.
    pub fn outcome(&self, id: &str, step: usize) -> Option<StepOutcome> {
        self.ended.get(id)?.get(&step).copied()
    }

    /// Whether a step is done, and not just skipped.
    pub fn is_done(&self, id: &str, step: usize) -> bool {
        self.outcome(id, step)
            .is_some_and(|outcome| outcome != StepOutcome::Skipped)
    }

    /// Number of steps of a lesson that are done.
    pub fn done_count(&self, id: &str) -> usize {
        let outcomes = self.ended.get(id).into_iter().flat_map(BTreeMap::values);
        outcomes
            .filter(|&&outcome| outcome != StepOutcome::Skipped)
            .count()
    }

    /// Whether no step of any lesson has ended.
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }
}
