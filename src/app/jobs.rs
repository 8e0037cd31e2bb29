//! What the page has computed by its worker, because it takes longer than a frame may: the kernels
//! of a large program, its layout, and what the tabs need.
//!
//! A job holds all that its answer depends on, so an answer belongs to every equal job, and the
//! page asks by stating the job that it needs.

use super::queries::{Answer, Task};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::Options;
use std::sync::Arc;
use strum::IntoStaticStr;

/// Something to compute: all that its answer depends on.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Job {
    /// The program as text.
    pub text: Arc<str>,
    /// The visitor's choices.
    pub options: Options,
    /// The number of decisions of the policy after which the kernels are asked about; `None` is
    /// after all.
    pub step: Option<usize>,
    pub task: Task,
}

impl Job {
    /// Whether its answer is the kernels of the text, which all else follows from.
    pub const fn is_whole_picture(&self) -> bool {
        matches!(self.task, Task::Picture(_)) && self.step.is_none()
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
        self.text == other.text
            && self.options == other.options
            && !needs_only_the_plan(self)
            && !needs_only_the_plan(other)
    }
}

/// How far a job is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    BorshSerialize,
    BorshDeserialize,
    IntoStaticStr,
)]
pub enum Stage {
    /// It parses the text.
    #[strum(serialize = "reading the text")]
    Reading,
    /// From the ops to the graph and its kernels.
    #[strum(serialize = "choosing kernels")]
    Fusing,
    /// The picture of the kernels.
    #[strum(serialize = "placing boxes and edges")]
    Placing,
    /// A size after the other.
    #[strum(serialize = "trying sizes")]
    Sweeping,
    /// What each merge would save.
    #[strum(serialize = "pricing edges")]
    Pricing,
    /// The figures as JSON.
    #[strum(serialize = "writing the file")]
    Writing,
}

/// A message from the worker.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub enum Message {
    /// The present job has come this far.
    Stage(Stage),
    /// The present job is done.
    Answer(Answer),
}
