//! `--steps`: the decisions of the policy, in order.

use fuseline_core::Analysis;
use fuseline_core::fusion::decision_trace::{Decision, trace_decisions};
use fuseline_view::present::decisions::decision_text;
use fuseline_view::present::names::op_name;
use serde::Serialize;
use std::fmt::Write as _;

/// One decision, with names instead of ids.
#[derive(Serialize)]
pub(super) struct Step<'a> {
    kind: &'static str,
    /// Names of the ops that it is about.
    ops: Vec<&'a str>,
    /// The decision in a sentence, with its reason and figures.
    text: String,
    /// Number of kernels after the decision.
    kernels: usize,
}

/// One line for each decision, with the number of kernels after it.
pub(super) fn steps_table(analysis: &Analysis) -> String {
    let mut text = format!("\n{:>5}  {:>7}  decision\n", "step", "kernels");
    for (index, step) in steps(analysis).iter().enumerate() {
        let _ = writeln!(text, "{:>5}  {:>7}  {}", index + 1, step.kernels, step.text);
    }
    text
}

pub(super) fn steps(analysis: &Analysis) -> Vec<Step<'_>> {
    let graph = &analysis.graph;
    let trace = trace_decisions(graph, &analysis.options);
    let counts = trace.kernel_counts(graph);
    let step = |(decision, kernels): (&Decision, usize)| Step {
        kind: decision.kind(),
        ops: decision
            .ops()
            .iter()
            .map(|&op| op_name(graph, op))
            .collect(),
        text: decision_text(graph, decision),
        kernels,
    };
    let counts = counts.into_iter().skip(1);
    trace.decisions.iter().zip(counts).map(step).collect()
}
