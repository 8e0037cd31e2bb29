//! How the worker computes the answers.

use super::jobs::{Answer, Job, Question, Stage, Task};
use crate::STYLE_SHEETS;
use fuseline_core::analysis::by_hand::Shown;
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::analysis::sweep::sweep;
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::record::{Record, record};
use fuseline_core::notation::Parsed;
use fuseline_core::resolve::resolve;
use fuseline_core::{
    Analysis, Diagnostic, Graph, IdVec, OpId, Options, Partition, Plan, Program,
    analyze_program_with, build_graph, notation, plan,
};
use fuseline_view::picture::dag::{DagLayout, Folding, has_same_picture, layout_of};
use fuseline_view::picture::export::Pictured;
use fuseline_view::present::advice::advice_rows;
use fuseline_view::present::manual::{Proposal, propose};
use fuseline_view::present::merges::merge_offers;
use fuseline_view::present::reasons::all_diagnostics;
use fuseline_view::present::report::{Report, with_schema};
use fuseline_view::present::steps::Steps;
use fuseline_view::present::tables::Table;
use fuseline_view::present::why::WhyNot;
use std::sync::Arc;

/// Runs jobs one after another.
#[derive(Default)]
pub struct Runner {
    /// What the last picture shows.
    pictured: Option<LastPicture>,
    /// What the last job was about. Steps and questions come in a row, and the first of them takes the longest.
    subject: Option<Subject>,
}

impl Runner {
    /// The answer to a job. Tells `at` how far it is.
    pub fn run(&mut self, job: &Job, at: &mut dyn FnMut(Stage)) -> Answer {
        at(Stage::Reading);
        match job.task {
            Task::Picture { step, folding } => {
                let subject = self.subject(job);
                let graph = subject.graph();
                at(Stage::Fusing);
                let plan = match step {
                    Some(step) => Plan {
                        partition: subject.record(&graph).partition_after(&graph, step),
                        ..Plan::default()
                    },
                    None => subject.plan(&graph).clone(),
                };
                at(Stage::Placing);
                let layout = self.layout(graph, &plan.partition, folding);
                Answer::Picture { plan, layout }
            }
            // Of another policy than that of the next job, so the subject stays.
            Task::Plan => {
                let graph = graph_of(&notation::parse(&job.text).program);
                at(Stage::Fusing);
                Answer::Plan(plan(&graph, &job.options))
            }
            Task::Steps => {
                let subject = self.subject(job);
                let graph = subject.graph();
                at(Stage::Fusing);
                let record = subject.record(&graph);
                Answer::Steps(Arc::new(Steps::new(&graph, &record)))
            }
            Task::Sweep { param } => {
                let program = notation::parse(&job.text).program;
                at(Stage::Sweeping);
                Answer::Sweep(sweep(&program, param, &job.options).map(Arc::new))
            }
            Task::Ask { step, question } => {
                let last = self.pictured.as_ref();
                subject_of(&mut self.subject, job).answer(step, question, last, at)
            }
        }
    }

    fn subject(&mut self, job: &Job) -> &mut Subject {
        subject_of(&mut self.subject, job)
    }

    /// The layout, unless it is that of the last picture.
    fn layout(
        &mut self,
        graph: Graph,
        partition: &Partition,
        folding: Folding,
    ) -> Option<Arc<DagLayout>> {
        let last = self.pictured.take();
        let same = last.filter(|last| last.is_of(&graph, partition, folding));
        let is_same = same.is_some();
        let layout = match same {
            Some(last) => last.layout,
            None => Arc::new(layout_of(&graph, partition, folding)),
        };
        self.pictured = Some(LastPicture {
            graph,
            partition: partition.clone(),
            folding,
            layout: layout.clone(),
        });
        (!is_same).then_some(layout)
    }
}

/// The subject, if it is that of the job, or else a new one.
fn subject_of<'s>(subject: &'s mut Option<Subject>, job: &Job) -> &'s mut Subject {
    let is_same = |subject: &Subject| subject.text == job.text && subject.options == job.options;
    // Freed before the next one takes as much memory.
    let same = subject.take().filter(is_same);
    subject.insert(same.unwrap_or_else(|| Subject::new(job)))
}

/// A picture and what it shows.
struct LastPicture {
    graph: Graph,
    partition: Partition,
    folding: Folding,
    layout: Arc<DagLayout>,
}

impl LastPicture {
    /// Whether these kernels look the same.
    fn is_of(&self, graph: &Graph, partition: &Partition, folding: Folding) -> bool {
        self.folding == folding
            && has_same_picture((&self.graph, &self.partition), (graph, partition))
            && self.layout.repeats.still_hold(graph)
    }
}

/// A text under certain choices, and what is known about it.
struct Subject {
    text: Arc<str>,
    options: Options,
    parsed: Parsed,
    /// The kernels of the policy.
    plan: Option<Plan>,
    /// Its decisions.
    record: Option<Arc<Record>>,
    /// What the last question was about.
    kernels: Option<Kernels>,
}

impl Subject {
    fn new(job: &Job) -> Self {
        Self {
            text: job.text.clone(),
            options: job.options.clone(),
            parsed: notation::parse(&job.text),
            plan: None,
            record: None,
            kernels: None,
        }
    }

    fn graph(&self) -> Graph {
        graph_of(&self.parsed.program)
    }

    fn plan(&mut self, graph: &Graph) -> &Plan {
        (self.plan).get_or_insert_with(|| plan(graph, &self.options))
    }

    fn record(&mut self, graph: &Graph) -> Arc<Record> {
        let decide = || Arc::new(record(graph, &self.options));
        self.record.get_or_insert_with(decide).clone()
    }

    fn answer(
        &mut self,
        step: Option<usize>,
        question: Question,
        last: Option<&LastPicture>,
        at: &mut dyn FnMut(Stage),
    ) -> Answer {
        let same = (self.kernels.take()).filter(|kernels| kernels.step == step);
        let mut kernels = same.unwrap_or_else(|| {
            at(Stage::Fusing);
            self.kernels_after(step)
        });
        let answer = match question {
            Question::Edges {
                order,
                max_rows,
                selected,
            } => {
                let why_not = self.why_not(&mut kernels, at);
                let rows = why_not.map(|why_not| why_not.rows(order, max_rows, selected));
                Answer::Edges(rows.unwrap_or_default())
            }
            Question::Apart(first, second) => {
                let why_not = self.why_not(&mut kernels, at);
                let said = why_not.map(|why_not| why_not.answer(first, second));
                Answer::Apart(said.unwrap_or_default())
            }
            Question::Advice => {
                at(Stage::Pricing);
                let rows = kernels
                    .shown(&self.text, &self.parsed.program)
                    .map(advice_rows);
                Answer::Advice(rows.unwrap_or_default())
            }
            Question::Change(change) => {
                let shown = kernels.shown(&self.text, &self.parsed.program);
                let proposal = shown.map(|shown| propose(change, shown));
                let refused = || Proposal::refused("There are no kernels.".to_owned());
                Answer::Change(proposal.unwrap_or_else(refused))
            }
            Question::Merges(kernel) => {
                let shown = kernels.shown(&self.text, &self.parsed.program);
                let offers = shown.map(|shown| merge_offers(kernel, shown));
                Answer::Merges(offers.unwrap_or_default())
            }
            Question::Report => {
                at(Stage::Writing);
                let json = kernels.analysis.as_ref().map(|analysis| {
                    let report = Report::new(analysis, &kernels.diagnostics, &self.text)
                        .with_attributes(&self.parsed.program, &kernels.statement_of_op);
                    with_schema(&report).unwrap_or_default()
                });
                Answer::Report(json.unwrap_or_default())
            }
            Question::Table(kind) => {
                at(Stage::Writing);
                let csv = (kernels.shown(&self.text, &self.parsed.program))
                    .map(|shown| Table::new(kind, shown).csv());
                Answer::Table(csv.unwrap_or_default())
            }
            Question::Handout { is_fused, folding } => {
                at(Stage::Placing);
                let drawn = kernels.analysis.as_ref().map(|analysis| {
                    let (graph, partition) = (&analysis.graph, &analysis.partition);
                    let known = last.filter(|last| last.is_of(graph, partition, folding));
                    let layout = known.map_or_else(
                        || Arc::new(layout_of(graph, partition, folding)),
                        |last| last.layout.clone(),
                    );
                    let pictured = Pictured {
                        analysis,
                        layout: &layout,
                        is_fused,
                    };
                    pictured.handout(STYLE_SHEETS)
                });
                Answer::Handout(Arc::new(drawn.unwrap_or_default()))
            }
        };
        self.kernels = Some(kernels);
        answer
    }

    fn kernels_after(&mut self, step: Option<usize>) -> Kernels {
        let graph = self.graph();
        let plan = self.plan(&graph).clone();
        let outcome = analyze_program_with(&self.parsed.program, &self.options, plan);
        let diagnostics = all_diagnostics(&self.parsed, &outcome);
        let analysis = outcome.analysis.map(|whole| match step {
            Some(step) => {
                let record = self.record(&whole.graph);
                let partition = record.partition_after(&whole.graph, step);
                analysis_with(&whole, partition)
            }
            None => whole,
        });
        Kernels {
            step,
            statement_of_op: outcome.statement_of_op,
            diagnostics,
            analysis: analysis.map(Arc::new),
            why_not: None,
        }
    }

    fn why_not<'a>(
        &mut self,
        kernels: &'a mut Kernels,
        at: &mut dyn FnMut(Stage),
    ) -> Option<&'a WhyNot> {
        if kernels.why_not.is_none() {
            let analysis = kernels.analysis.clone()?;
            let needs_record = Why::needs_record(self.options.policy);
            let record = needs_record.then(|| self.record(&analysis.graph));
            at(Stage::Pricing);
            kernels.why_not = Some(WhyNot::new(analysis, &kernels.statement_of_op, record));
        }
        kernels.why_not.as_ref()
    }
}

/// The kernels after a number of decisions.
struct Kernels {
    step: Option<usize>,
    statement_of_op: IdVec<OpId, usize>,
    diagnostics: Vec<Diagnostic>,
    /// `None` for a program without a graph.
    analysis: Option<Arc<Analysis>>,
    why_not: Option<WhyNot>,
}

impl Kernels {
    /// What a change by hand starts from; `text` and its `program` are those of these kernels.
    fn shown<'a>(&'a self, text: &'a str, program: &'a Program) -> Option<Shown<'a>> {
        Some(Shown {
            text,
            program,
            analysis: self.analysis.as_deref()?,
            statement_of_op: &self.statement_of_op,
        })
    }
}

/// The graph of the valid ops; empty if they form none, for then there is nothing to decide.
fn graph_of(program: &Program) -> Graph {
    let resolved = resolve(program);
    build_graph(resolved.ops, &resolved.externals).unwrap_or_default()
}
