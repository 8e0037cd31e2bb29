//! What the page has computed by its worker, because it takes longer than a frame may: the kernels of a large program, its
//! layout, and what the tabs need.
//!
//! A job holds all that its answer depends on, so an answer belongs to every equal job, and the page asks by stating the job
//! that it needs. Pictures and policies are answered by decisions and places: the figures follow from a [`Plan`] in linear time.

use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::sweep::Sweep;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::Parsed;
use fuseline_core::resolve::ops_and_reads;
use fuseline_core::{
    Code, Diagnostic, KernelId, OpId, Options, Plan, Program, TextEdit, edited, notation,
};
use fuseline_view::picture::dag::{DagLayout, Folding};
use fuseline_view::picture::export::HandoutPictures;
use fuseline_view::present::advice::AdviceRow;
use fuseline_view::present::format::format_exact;
use fuseline_view::present::manual::{Change, Proposal};
use fuseline_view::present::merges::Offer;
use fuseline_view::present::reasons::SaidVerdict;
use fuseline_view::present::steps::Steps;
use fuseline_view::present::tables::TableKind;
use fuseline_view::present::why::{EdgeOps, EdgeOrder, EdgeRows};
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

/// Something to compute.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Job {
    /// The program as text.
    pub text: Arc<str>,
    /// The visitor's choices.
    pub options: Options,
    /// What of it.
    pub task: Task,
}

impl Job {
    /// Every policy at many values of the param at this index. The same for all its present values, as long as no other
    /// param follows it, so that its slider asks for nothing anew.
    pub fn sweep(text: &Arc<str>, program: &Program, param: usize, options: &Options) -> Self {
        let mut ranges = program.params.iter().filter_map(|p| p.range.as_ref());
        let some_follow = ranges.any(|range| range.dividing.is_some());
        let swept = program.params.get(param).filter(|_| !some_follow);
        let edit = swept.and_then(|param| {
            let least = param.range.as_ref()?.min;
            Some(TextEdit::replace(param.value_span, least.to_string()))
        });
        let same_for_all = edit.and_then(|edit| edited(text, &[edit]));
        let mut options = options.clone();
        options.fusion.budget_states = PAGE_BUDGET_STATES;
        Self {
            text: same_for_all.map_or_else(|| text.clone(), Into::into),
            options,
            task: Task::Sweep { param },
        }
    }

    /// Whether its answer is a file.
    pub const fn is_file(&self) -> bool {
        matches!(
            self.task,
            Task::Ask {
                question: Question::Report | Question::Table(_),
                ..
            }
        )
    }

    /// Whether the later one of the two is answered soon after the earlier one, because most of the work is the same.
    pub fn shares_work(&self, other: &Self) -> bool {
        let needs_only_the_plan = |job: &Self| {
            matches!(
                job.task,
                Task::Picture { step: None, .. } | Task::Plan | Task::Sweep { .. }
            )
        };
        self.text == other.text
            && self.options == other.options
            && !needs_only_the_plan(self)
            && !needs_only_the_plan(other)
    }
}

/// What a [`Job`] computes of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Task {
    /// The kernels after this many decisions of the policy (`None` is after all), and where they are drawn.
    Picture {
        /// Number of decisions.
        step: Option<usize>,
        /// What the picture leaves out.
        folding: Folding,
    },
    /// The kernels alone, to compare policies.
    Plan,
    /// The decisions of the policy.
    Steps,
    /// Every policy at many values of a param.
    Sweep {
        /// The index of the param among those of the text.
        param: usize,
    },
    /// Something about the kernels after this many decisions.
    Ask {
        /// Number of decisions.
        step: Option<usize>,
        /// What of them.
        question: Question,
    },
}

/// Something about certain kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Question {
    /// The edges between them, as [`WhyNot::rows`](fuseline_view::present::why::WhyNot::rows).
    Edges {
        /// In which order.
        order: EdgeOrder,
        /// How many of them.
        max_rows: usize,
        /// One that is needed wherever it is.
        selected: Option<EdgeOps>,
    },
    /// Why two ops are not fused.
    Apart(OpId, OpId),
    /// What would save time.
    Advice,
    /// The effect of a change by hand.
    Change(Change),
    /// The merges of a kernel with its neighbours.
    Merges(KernelId),
    /// The analysis by names as JSON.
    Report,
    /// A table as CSV.
    Table(TableKind),
    /// The pictures of the handout.
    Handout {
        /// Whether the kernels are shown, or every op by itself.
        is_fused: bool,
        /// What the picture leaves out.
        folding: Folding,
    },
}

/// The result of a [`Job`]. Empty for a program without a graph.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum Answer {
    /// Of [`Task::Picture`].
    Picture {
        /// The kernels.
        plan: Plan,
        /// `None`: the same as in the picture before.
        layout: Option<Arc<DagLayout>>,
    },
    /// Of [`Task::Plan`].
    Plan(Plan),
    /// Of [`Task::Steps`].
    Steps(Arc<Steps>),
    /// Of [`Task::Sweep`]; `None` where the param has no two values at which the program can be analysed.
    Sweep(Option<Arc<Sweep>>),
    /// Of [`Question::Edges`].
    Edges(EdgeRows),
    /// Of [`Question::Apart`].
    Apart(SaidVerdict),
    /// Of [`Question::Advice`].
    Advice(Vec<AdviceRow>),
    /// Of [`Question::Change`].
    Change(Proposal),
    /// Of [`Question::Merges`].
    Merges(Vec<Offer>),
    /// Of [`Question::Report`].
    Report(String),
    /// Of [`Question::Table`].
    Table(String),
    /// Of [`Question::Handout`].
    Handout(Arc<HandoutPictures>),
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
    Answer(Box<Answer>),
}
