//! What the page has computed by its worker, because it takes longer than a frame may: the kernels of a large program, its
//! layout, and what the tabs need.
//!
//! A job holds all that its answer depends on, so an answer belongs to every equal job, and the page asks by stating the job
//! that it needs. Answers hold decisions and places, not figures: those follow from a [`Plan`] in linear time.

use crate::core::analysis::replay::analysis_with;
use crate::core::analysis::why::PricedEdge;
use crate::core::fusion::record::{Record, record};
use crate::core::notation::Parsed;
use crate::core::resolve::resolve;
use crate::core::{
    Code, Diagnostic, Graph, Options, Partition, Plan, Program, analyze_graph, build_graph,
    notation, plan,
};
use crate::picture::dag::{DagLayout, has_same_picture, layout};
use crate::present::why::crossings;
use borsh::{BorshDeserialize, BorshSerialize};
use std::sync::Arc;
use strum::IntoStaticStr;

/// Ops and reads of a program up to which the page computes everything itself, at once.
///
/// Of the families of `cargo bench --bench core` the slowest, each op reading all before it, needs some 80 ms for a
/// policy and 30 ms for the layout at this size; chains and models need a tenth of that.
pub const QUICK_OPS_AND_READS: usize = 4_000;

/// Whether the page computes everything about a program itself. Costly programs are computed by the worker.
pub fn is_quick(program: &Program) -> bool {
    let reads = program.ops.iter().map(|op| op.inputs.len());
    program.ops.len() + reads.sum::<usize>() <= QUICK_OPS_AND_READS
}

/// Longest text that the page analyses: some 20,000 ops. A longer one stays in the editor and in the storage.
pub const MAX_ANALYSED_BYTES: usize = 1_000_000;

/// The parsed text, or that it is longer than [`MAX_ANALYSED_BYTES`].
pub fn parse_if_short(text: &str) -> Parsed {
    if text.len() <= MAX_ANALYSED_BYTES {
        return notation::parse(text);
    }
    let problem = format!(
        "the text has {:.1} MB, and the page analyses up to {} MB",
        text.len() as f64 / 1e6,
        MAX_ANALYSED_BYTES / 1_000_000
    );
    let diagnostic = Diagnostic::error(Code::TooLong, problem)
        .hint("split the program, or give it to the command line, which has no limit");
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

/// What a [`Job`] computes of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Task {
    /// The kernels after this many decisions of the policy (`None` is after all), and where they are drawn.
    Picture {
        /// Number of decisions.
        step: Option<usize>,
    },
    /// The kernels alone, to compare policies.
    Plan,
    /// The decisions of the policy.
    Record,
    /// The edges between the kernels after this many decisions, with their prices, in the order of the table.
    Crossings {
        /// Number of decisions.
        step: Option<usize>,
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
    /// Of [`Task::Record`].
    Record(Arc<Record>),
    /// Of [`Task::Crossings`].
    Crossings(Arc<Vec<PricedEdge>>),
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
    /// From the text to the graph.
    #[strum(serialize = "reading the text")]
    Reading,
    /// The policy decides.
    #[strum(serialize = "choosing kernels")]
    Fusing,
    /// The picture of the kernels.
    #[strum(serialize = "placing boxes and edges")]
    Placing,
    /// What each merge would save.
    #[strum(serialize = "pricing edges")]
    Pricing,
}

/// A message from the worker.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub enum Message {
    /// The present job has come this far.
    Stage(Stage),
    /// The present job is done.
    Answer(Box<Answer>),
}

/// Runs jobs one after another.
#[derive(Default)]
pub struct Runner {
    /// What the last picture shows.
    pictured: Option<(Graph, Partition)>,
}

impl Runner {
    /// The answer to a job. Tells `at` how far it is.
    pub fn run(&mut self, job: &Job, at: &mut dyn FnMut(Stage)) -> Answer {
        let options = &job.options;
        at(Stage::Reading);
        let resolved = resolve(&notation::parse(&job.text).program);
        // Without a graph there is nothing to decide.
        let graph = build_graph(resolved.ops, &resolved.externals).unwrap_or_default();
        at(Stage::Fusing);
        match job.task {
            Task::Picture { step } => {
                let plan = match step {
                    Some(step) => Plan {
                        partition: record(&graph, options).partition_after(&graph, step),
                        ..Plan::default()
                    },
                    None => plan(&graph, options),
                };
                at(Stage::Placing);
                let layout = self.layout(graph, &plan.partition);
                Answer::Picture { plan, layout }
            }
            Task::Plan => Answer::Plan(plan(&graph, options)),
            Task::Record => Answer::Record(Arc::new(record(&graph, options))),
            Task::Crossings { step } => {
                let after_step =
                    step.map(|step| record(&graph, options).partition_after(&graph, step));
                let whole = analyze_graph(graph, options);
                at(Stage::Pricing);
                Answer::Crossings(Arc::new(match after_step {
                    Some(partition) => crossings(&analysis_with(&whole, partition)),
                    None => crossings(&whole),
                }))
            }
        }
    }

    /// The layout, unless it is that of the last picture.
    fn layout(&mut self, graph: Graph, partition: &Partition) -> Option<Arc<DagLayout>> {
        let is_same = (self.pictured.as_ref())
            .is_some_and(|(last, kernels)| has_same_picture((last, kernels), (&graph, partition)));
        let layout = (!is_same).then(|| Arc::new(layout(&graph, partition)));
        self.pictured = Some((graph, partition.clone()));
        layout
    }
}
