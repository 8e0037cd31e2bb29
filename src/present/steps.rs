//! The decisions of a policy as a list, and the step of the replay.

use super::decisions::decision_text;
use super::names::counted;
use crate::core::Graph;
use crate::core::fusion::record::Record;
use std::ops::Range;

/// Decisions on one page of the list.
pub const PAGE_STEPS: usize = 200;

/// The step of the replay and its decision; quoted parts are code.
pub fn step_sentence(graph: &Graph, record: &Record, step: usize) -> String {
    let count = record.decisions.len();
    if count == 0 {
        return "This policy decides nothing: every op runs alone.".to_owned();
    }
    let decision = record.last_decision(step).map_or_else(
        || "nothing is decided yet, and every op runs alone".to_owned(),
        |decision| decision_text(graph, decision),
    );
    format!("Step {step} of {count}: {decision}.")
}

/// A decision in the list of all.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLine {
    /// Its number, from 1.
    pub step: usize,
    /// The decision; quoted parts are code.
    pub decision: String,
    /// Number of kernels after it, if it changes that; otherwise empty.
    pub kernels: String,
}

/// The numbers of the decisions on the page that contains `step`, of `count` decisions in all. Pages are fixed, so
/// that no line moves away under the pointer or the focus. Before the first step it is the first page.
pub fn page_of_step(step: usize, count: usize) -> Range<usize> {
    let first = step.saturating_sub(1) / PAGE_STEPS * PAGE_STEPS;
    first + 1..count.min(first + PAGE_STEPS) + 1
}

/// A line for each of these decisions, in order. `O(ops + decisions)`.
pub fn step_lines(graph: &Graph, record: &Record, steps: Range<usize>) -> Vec<StepLine> {
    let kernel_counts = record.kernel_counts(graph);
    steps
        .filter_map(|step| {
            let decision = record.decisions.get(step.checked_sub(1)?)?;
            let (before, after) = (kernel_counts.get(step - 1), kernel_counts.get(step));
            Some(StepLine {
                step,
                decision: decision_text(graph, decision),
                kernels: match after {
                    Some(&count) if after != before => counted(count, "kernel"),
                    _ => String::new(),
                },
            })
        })
        .collect()
}
