//! A state of the page, and the analysis of its program.

use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::{Parsed, parse};
use fuseline_core::{
    Analysis, Graph, IdVec, OpId, Options, Policy, Program, TensorId, analyze_graph,
    analyze_program,
};
use fuseline_view::page::links::SharedState;
use fuseline_view::page::view::View;
use std::sync::Arc;

/// The state of the page at a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageState {
    /// Text and choices.
    pub shared: SharedState,
    /// The selection.
    pub mark: Option<Mark>,
    /// The views that the step points at.
    pub look: Vec<View>,
}

/// The selection of a step, by names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    Op(String),
    /// The kernel that computes an op.
    Kernel(String),
    /// The tensor on its way from one op to another.
    Edge(String, String),
    /// An input, a weight or a result.
    Tensor(String),
}

/// The edge or tensor of a mark in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// A producer and its consumer.
    Edge(OpId, OpId),
    Tensor(TensorId),
}

impl Mark {
    /// The edge or the tensor that it names; `None` for ops and kernels, which are found by their
    /// names, and where the graph lacks it.
    pub fn ids(&self, analysis: &Analysis) -> Option<Marked> {
        let graph = &analysis.graph;
        match self {
            Self::Op(_) | Self::Kernel(_) => None,
            Self::Edge(from, to) => {
                let [producer, consumer] = [graph.op_named(from)?, graph.op_named(to)?];
                let readers = graph.successors.get(producer)?;
                (readers.contains(&consumer)).then_some(Marked::Edge(producer, consumer))
            }
            Self::Tensor(name) => tensor_named(graph, name).map(Marked::Tensor),
        }
    }
}

/// A program with its analysis, by which answers are judged.
///
/// The page has a type with more parts, which it computes on demand. A lesson needs all of these at
/// once, also of pages that nobody has opened.
#[derive(Clone, Debug)]
pub struct AnalyzedProgram {
    pub text: Arc<str>,
    pub parsed: Arc<Parsed>,
    pub analysis: Arc<Analysis>,
    /// For each op its statement in the program.
    pub statement_of_op: Arc<IdVec<OpId, usize>>,
    /// Whether the text has an error, or states a kernel that is not legal.
    pub has_error: bool,
}

impl PageState {
    /// The options of its analysis.
    pub fn options(&self) -> Options {
        let mut options = Options {
            policy: self.shared.policy,
            fusion: self.shared.fusion,
            conventions: self.shared.conventions,
            device: self.shared.device.clone(),
            own_calibrations: None,
        };
        options.fusion.budget_states = PAGE_BUDGET_STATES;
        options
    }

    /// Analyses its program; `None` if it has no graph.
    pub fn analyzed(&self) -> Option<AnalyzedProgram> {
        AnalyzedProgram::of(&self.shared.text, &self.options())
    }
}

impl AnalyzedProgram {
    /// Analyses a text; `None` if its ops form no graph.
    pub fn of(text: &str, options: &Options) -> Option<Self> {
        let parsed = parse(text);
        let outcome = analyze_program(&parsed.program, options);
        let analysis = outcome.analysis?;
        Some(Self {
            text: text.into(),
            has_error: has_errors(&parsed.diagnostics)
                || has_errors(&outcome.diagnostics)
                || !analysis.refused.is_empty(),
            parsed: Arc::new(parsed),
            analysis: Arc::new(analysis),
            statement_of_op: Arc::new(outcome.statement_of_op),
        })
    }

    pub fn program(&self) -> &Program {
        &self.parsed.program
    }

    /// The analysis of the same program under another policy.
    pub fn under(&self, policy: Policy) -> Arc<Analysis> {
        if self.analysis.options.policy == policy {
            return self.analysis.clone();
        }
        let mut options = self.analysis.options.clone();
        options.policy = policy;
        Arc::new(analyze_graph(self.analysis.graph.clone(), &options))
    }
}

/// The first tensor of this name.
pub(super) fn tensor_named(graph: &Graph, name: &str) -> Option<TensorId> {
    let mut tensors = graph.tensors.ids();
    tensors.find(|&tensor| graph.tensor_name(tensor) == name)
}
