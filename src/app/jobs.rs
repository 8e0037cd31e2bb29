//! What the worker computes for the page, because it takes longer than a frame may: the kernels of
//! a large program, its layout, and what the tabs need.
//!
//! A job holds all that its answer depends on, so an answer belongs to every equal job, and the
//! page asks by stating the job that it needs.

use super::analysed::{AnalysedText, AnalysisInput};
use super::queries::{Answer, Query, Stage, Task};
use borsh::{BorshDeserialize, BorshSerialize};

/// Something to compute: all that its answer depends on.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Job {
    /// The text and the choices that it is computed about.
    pub input: AnalysisInput,
    pub task: Task,
}

impl Job {
    /// A job that answers a query about a text.
    pub fn new(query: impl Query, of: &AnalysedText) -> Self {
        Self {
            input: query.input(of),
            task: query.into(),
        }
    }

    /// Whether its answer is the kernels of the text, which all else follows from.
    pub const fn is_whole_picture(&self) -> bool {
        matches!(self.task, Task::Picture(_)) && self.input.step.is_none()
    }

    /// Whether its answer is a file.
    pub const fn is_file(&self) -> bool {
        matches!(self.task, Task::Report(_) | Task::Table(_))
    }

    /// Whether its text or its choices are not those that the page shows.
    pub const fn is_of_another_text(&self) -> bool {
        matches!(self.task, Task::PlanUnder(_) | Task::Sweep(_))
    }

    /// Whether the later one of the two is answered soon after the earlier one, because most of the
    /// work is the same.
    pub fn shares_work(&self, other: &Self) -> bool {
        let needs_only_the_plan = |job: &Self| job.is_whole_picture() || job.is_of_another_text();
        self.input.text == other.input.text
            && self.input.options == other.input.options
            && !needs_only_the_plan(self)
            && !needs_only_the_plan(other)
    }
}

/// A message from the worker.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub enum Message {
    /// The present job has come this far.
    Stage(Stage),
    /// The present job is done.
    Answer(Answer),
}
