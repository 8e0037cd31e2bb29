//! A text under certain choices, and what is known about it.

use super::text_limits::is_quick;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::decision_trace::{DecisionTrace, trace_decisions};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::Parsed;
use fuseline_core::resolve::resolve;
use fuseline_core::{
    Analysis, Diagnostic, Graph, IdVec, OpId, Options, Partition, Plan, Program, analyze_graph,
    analyze_program, analyze_program_with, build_graph, plan,
};
use fuseline_view::picture::dag::{DagLayout, Folding, layout_of};
use fuseline_view::present::reasons::all_diagnostics;
use fuseline_view::present::why::WhyNot;
use std::sync::{Arc, OnceLock};

/// A text under certain choices, perhaps after fewer decisions than its policy makes.
///
/// Each part of what is known about it is computed when it is first needed, and then kept. The page
/// and its worker ask the same questions about it; the page gets the kernels of a large program
/// from the worker, and computes the rest itself.
pub struct AnalysedText {
    pub text: Arc<str>,
    pub parsed: Arc<Parsed>,
    pub options: Options,
    /// The layout, if the worker has computed it.
    pub layout: Option<Arc<DagLayout>>,
    /// `None` after all decisions.
    earlier: Option<Earlier>,
    graph: OnceLock<Graph>,
    plan: OnceLock<Plan>,
    trace: OnceLock<Arc<DecisionTrace>>,
    outcome: OnceLock<Outcome>,
    why_not: OnceLock<WhyNot>,
    layouts: Layouts,
}

/// All that an analysis depends on.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct AnalysisInput {
    pub text: Arc<str>,
    pub options: Options,
    /// The number of policy decisions that are made; `None` is all.
    pub step: Option<usize>,
}

/// The kernels of a text, and where they are drawn. The figures follow from a [`Plan`] in linear
/// time, so nothing else comes from the worker.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct PlacedPlan {
    pub plan: Plan,
    /// `None` if it equals the layout of the last picture.
    pub layout: Option<Arc<DagLayout>>,
}

/// A number of decisions, and the same text after all of them.
struct Earlier {
    step: usize,
    whole: Arc<AnalysedText>,
    analysis: OnceLock<Arc<Analysis>>,
}

/// The analysis after all decisions, and what comes with it.
struct Outcome {
    analysis: Arc<Analysis>,
    statement_of_op: Arc<IdVec<OpId, usize>>,
    diagnostics: Arc<Vec<Diagnostic>>,
    has_graph: bool,
}

/// For each [`Folding`] the layout, once it is known.
#[derive(Default)]
struct Layouts {
    unfolded: OnceLock<Arc<DagLayout>>,
    folded_iterations: OnceLock<Arc<DagLayout>>,
    folded_kernels: OnceLock<Arc<DagLayout>>,
}

impl AnalysedText {
    /// A text before anything else is computed about it.
    pub fn new(text: Arc<str>, parsed: Arc<Parsed>, options: Options) -> Self {
        Self {
            text,
            parsed,
            options,
            layout: None,
            earlier: None,
            graph: OnceLock::new(),
            plan: OnceLock::new(),
            trace: OnceLock::new(),
            outcome: OnceLock::new(),
            why_not: OnceLock::new(),
            layouts: Layouts::default(),
        }
    }

    /// What is shown before any text was valid: no op, and the diagnostics of the present text.
    pub fn empty(options: &Options, diagnostics: Arc<Vec<Diagnostic>>) -> Self {
        Self {
            outcome: OnceLock::from(Outcome {
                analysis: of_nothing(options),
                statement_of_op: Arc::default(),
                diagnostics,
                has_graph: false,
            }),
            ..Self::new("".into(), Arc::default(), options.clone())
        }
    }

    /// The same text without anything that was computed about it.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self::new(self.text.clone(), self.parsed.clone(), self.options.clone())
    }

    /// The text of `whole` after this many decisions.
    pub fn after(whole: &Arc<Self>, step: usize) -> Self {
        Self {
            earlier: Some(Earlier {
                step,
                whole: whole.clone(),
                analysis: OnceLock::new(),
            }),
            ..whole.fresh()
        }
    }

    /// This text with kernels, and perhaps a layout, that are already computed.
    #[must_use]
    pub fn with_picture(self, picture: &PlacedPlan) -> Self {
        Self {
            plan: OnceLock::from(picture.plan.clone()),
            layout: picture.layout.clone(),
            ..self
        }
    }

    pub fn program(&self) -> &Program {
        &self.parsed.program
    }

    /// All that the analysis of this text depends on.
    pub fn input(&self) -> AnalysisInput {
        AnalysisInput {
            text: self.text.clone(),
            options: self.options.clone(),
            step: self.step(),
        }
    }

    /// The number of decisions after which the analysis has the kernels; `None` is after all.
    pub fn step(&self) -> Option<usize> {
        self.earlier.as_ref().map(|earlier| earlier.step)
    }

    fn whole(&self) -> &Self {
        (self.earlier.as_ref()).map_or(self, |earlier| &earlier.whole)
    }

    /// The graph of the valid ops; empty if they form none, for then there is nothing to decide.
    pub fn graph(&self) -> &Graph {
        let whole = self.whole();
        if let Some(outcome) = whole.outcome.get() {
            return &outcome.analysis.graph;
        }
        whole.graph.get_or_init(|| {
            let resolved = resolve(whole.program());
            build_graph(resolved.ops, &resolved.externals).unwrap_or_default()
        })
    }

    /// The kernels, as the policy gives them.
    pub fn plan(&self) -> &Plan {
        self.plan.get_or_init(|| match &self.earlier {
            Some(Earlier { step, whole, .. }) => Plan {
                partition: whole.trace().partition_after(whole.graph(), *step),
                ..Plan::default()
            },
            None => match self.outcome.get() {
                Some(Outcome { analysis, .. }) => Plan {
                    partition: analysis.partition.clone(),
                    certificate: analysis.certificate,
                    refused: analysis.refused.clone(),
                },
                None => plan(self.graph(), &self.options),
            },
        })
    }

    pub fn partition(&self) -> &Partition {
        let analysis = match &self.earlier {
            Some(earlier) => earlier.analysis.get(),
            None => self.outcome.get().map(|outcome| &outcome.analysis),
        };
        analysis.map_or_else(|| &self.plan().partition, |analysis| &analysis.partition)
    }

    /// The decisions of the policy, all of them.
    pub fn trace(&self) -> &Arc<DecisionTrace> {
        let whole = self.whole();
        (whole.trace).get_or_init(|| Arc::new(trace_decisions(whole.graph(), &whole.options)))
    }

    /// The analysis of the valid statements; of nothing where they form no graph, for example
    /// because of a cycle.
    pub fn analysis(&self) -> &Arc<Analysis> {
        let Some(earlier) = &self.earlier else {
            return &self.outcome().analysis;
        };
        earlier.analysis.get_or_init(|| {
            let partition = self.plan().partition.clone();
            Arc::new(analysis_with(earlier.whole.analysis(), partition))
        })
    }

    fn outcome(&self) -> &Outcome {
        let whole = self.whole();
        whole.outcome.get_or_init(|| {
            let (program, options) = (whole.program(), &whole.options);
            let outcome = match whole.plan.get() {
                Some(plan) => analyze_program_with(program, options, plan.clone()),
                None => analyze_program(program, options),
            };
            Outcome {
                diagnostics: Arc::new(all_diagnostics(&whole.parsed, &outcome)),
                has_graph: outcome.analysis.is_some(),
                analysis: outcome
                    .analysis
                    .map_or_else(|| of_nothing(options), Arc::new),
                statement_of_op: Arc::new(outcome.statement_of_op),
            }
        })
    }

    /// Whether the valid statements form a graph.
    pub fn has_graph(&self) -> bool {
        self.outcome().has_graph
    }

    /// The statement in `parsed` of each op of the analysis.
    pub fn statement_of_op(&self) -> &Arc<IdVec<OpId, usize>> {
        &self.outcome().statement_of_op
    }

    /// All errors, warnings and notes, in text order.
    pub fn diagnostics(&self) -> &Arc<Vec<Diagnostic>> {
        &self.outcome().diagnostics
    }

    /// Whether the text has an error, so that the analysis is only of the statements that can be
    /// read.
    pub fn has_error(&self) -> bool {
        has_errors(self.diagnostics())
    }

    /// What keeps the kernels separate.
    pub fn why_not(&self) -> &WhyNot {
        self.why_not.get_or_init(|| {
            let needs_trace = Why::needs_trace(self.options.policy);
            let trace = needs_trace.then(|| self.trace().clone());
            WhyNot::new(self.analysis().clone(), self.statement_of_op(), trace)
        })
    }

    /// The layout without what `folding` leaves out.
    pub fn layout_under(&self, folding: Folding) -> &Arc<DagLayout> {
        let lay_out = || Arc::new(layout_of(self.graph(), self.partition(), folding));
        self.layouts.under(folding).get_or_init(lay_out)
    }

    /// Takes over the layout of a text that looks the same.
    pub fn keep_layout(&self, folding: Folding, layout: &Arc<DagLayout>) {
        (self.layouts.under(folding)).get_or_init(|| layout.clone());
    }

    /// What a change by hand starts from.
    pub fn by_hand(&self) -> KernelsInText<'_> {
        KernelsInText {
            text: &self.text,
            program: self.program(),
            analysis: self.analysis(),
            statement_of_op: self.statement_of_op(),
        }
    }

    /// Whether two ops are of one statement, in two iterations of its block.
    pub fn share_statement(&self, one: OpId, other: OpId) -> bool {
        let statement = |op: OpId| self.statement_of_op().get(op);
        statement(one).is_some_and(|one| Some(one) == statement(other))
    }

    /// Whether the worker has to compute the kernels, because the program is large.
    pub fn is_long(&self) -> bool {
        !is_quick(self.program())
    }

    /// Whether it is this text under the same choices, perhaps after fewer decisions.
    pub fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parsed, &other.parsed) && self.options == other.options
    }
}

fn of_nothing(options: &Options) -> Arc<Analysis> {
    Arc::new(analyze_graph(Graph::default(), options))
}

impl Layouts {
    const fn under(&self, folding: Folding) -> &OnceLock<Arc<DagLayout>> {
        match folding {
            Folding::Nothing => &self.unfolded,
            Folding::Iterations => &self.folded_iterations,
            Folding::Kernels => &self.folded_kernels,
        }
    }
}
