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
    Analysis, Code, Diagnostic, Graph, Options, Partition, Plan, Program, analyze_graph,
    analyze_program, build_graph, notation, plan,
};
use crate::picture::dag::{DagLayout, has_same_picture, layout};
use crate::present::format::format_exact;
use crate::present::reasons::all_diagnostics;
use crate::present::report::Report;
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
    let [size, limit] = [text.len(), MAX_ANALYSED_BYTES].map(|bytes| format_exact(bytes as u128));
    let problem = format!("the text has {size} bytes, and the page analyses up to {limit}");
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
    /// The analysis by names as JSON, with the kernels after this many decisions.
    Report {
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
    /// Of [`Task::Report`].
    Report(String),
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
        let parsed = notation::parse(&job.text);
        let graph = || graph_of(&parsed.program);
        at(Stage::Fusing);
        match job.task {
            Task::Picture { step } => {
                let graph = graph();
                let plan = match step {
                    Some(step) => Plan {
                        partition: partition_after(&graph, options, step),
                        ..Plan::default()
                    },
                    None => plan(&graph, options),
                };
                at(Stage::Placing);
                let layout = self.layout(graph, &plan.partition);
                Answer::Picture { plan, layout }
            }
            Task::Plan => Answer::Plan(plan(&graph(), options)),
            Task::Record => Answer::Record(Arc::new(record(&graph(), options))),
            Task::Crossings { step } => {
                let analysis = after_step(analyze_graph(graph(), options), step);
                at(Stage::Pricing);
                Answer::Crossings(Arc::new(crossings(&analysis)))
            }
            Task::Report { step } => {
                let outcome = analyze_program(&parsed.program, options);
                at(Stage::Writing);
                let diagnostics = all_diagnostics(&parsed, &outcome);
                let analysis = outcome.analysis.map(|whole| after_step(whole, step));
                let json = analysis.map(|analysis| {
                    let report = Report::new(&analysis, &diagnostics, &job.text);
                    serde_json::to_string_pretty(&report).unwrap_or_default()
                });
                Answer::Report(json.unwrap_or_default())
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

/// An analysis with the kernels after this many decisions.
fn after_step(whole: Analysis, step: Option<usize>) -> Analysis {
    match step {
        Some(step) => {
            let partition = partition_after(&whole.graph, &whole.options, step);
            analysis_with(&whole, partition)
        }
        None => whole,
    }
}

/// The kernels after this many decisions.
fn partition_after(graph: &Graph, options: &Options, step: usize) -> Partition {
    record(graph, options).partition_after(graph, step)
}

/// The graph of the valid ops; empty if they form none, for then there is nothing to decide.
fn graph_of(program: &Program) -> Graph {
    let resolved = resolve(program);
    build_graph(resolved.ops, &resolved.externals).unwrap_or_default()
}
