//! What the page has computed by its worker, because it takes longer than a frame may: the kernels of a large program, its
//! layout, and what the tabs need.
//!
//! A job holds all that its answer depends on, so an answer belongs to every equal job, and the page asks by stating the job
//! that it needs.

use super::queries::{Answer, Task};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::notation::Parsed;
use fuseline_core::resolve::ops_and_reads;
use fuseline_core::{Code, Diagnostic, Options, Program, notation};
use fuseline_view::present::format::format_exact;
use std::sync::Arc;
use strum::IntoStaticStr;

/// Ops and reads of a program up to which the page computes everything itself, at once.
///
/// Of the families of `cargo bench --bench core` the slowest, each op reading all before it, needs some 80 ms for a
/// policy and 30 ms for the layout at this size; chains and models need a tenth of that.
pub const QUICK_OPS_AND_READS: usize = 4_000;

/// Whether the page computes everything about a program itself. Costly programs are computed by the worker.
pub fn is_quick(program: &Program) -> bool {
    ops_and_reads(program) <= QUICK_OPS_AND_READS
}

/// Longest text that the page analyses: some 20,000 ops. A longer one stays in the editor and in the storage.
pub const MAX_ANALYSED_BYTES: usize = 1_000_000;

/// The parsed text, or that it is longer than [`MAX_ANALYSED_BYTES`].
pub fn parse_if_short(text: &str) -> Parsed {
    if text.len() <= MAX_ANALYSED_BYTES {
        return notation::parse(text);
    }
    let [size, limit] = [text.len(), MAX_ANALYSED_BYTES].map(|bytes| format_exact(bytes as u128));
    let problem = format!("the text has {size} bytes, and the limit of the page is {limit}");
    let diagnostic = Diagnostic::error(Code::TooLong, problem)
        .hint("split the program, or use the command line, which has no limit");
    Parsed {
        diagnostics: vec![diagnostic],
        ..Parsed::default()
    }
}

/// Something to compute: all that its answer depends on.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Job {
    /// The program as text.
    pub text: Arc<str>,
    /// The visitor's choices.
    pub options: Options,
    /// The number of decisions of the policy after which the kernels are asked about; `None` is after all.
    pub step: Option<usize>,
    /// What of it.
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

    /// Whether the later one of the two is answered soon after the earlier one, because most of the work is the same.
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
