//! The decisions of a policy as a list, and the step of the replay.

use super::decisions::decision_text;
use super::names::counted;
use crate::core::Graph;
use crate::core::fusion::record::{Decision, Record};
use borsh::{BorshDeserialize, BorshSerialize};
use std::ops::Range;

/// Decisions on one page of the list.
pub const PAGE_STEPS: usize = 200;

/// The decisions of a policy, each as bytes until it is looked at: the compiler decides a million times about 10,000 ops, and
/// a thread that got them whole would spend most of a second on them.
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Steps {
    decisions: Vec<u8>,
    /// For each decision where its bytes end.
    ends: Vec<u32>,
    /// Number of kernels before the first decision and after each.
    kernel_counts: Vec<u32>,
}

impl Steps {
    /// Of a record with less than 4 GB. `O(ops + decisions)`, plus the ops that the decisions name.
    pub fn new(graph: &Graph, record: &Record) -> Self {
        let mut steps = Self::default();
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        for decision in &record.decisions {
            decision
                .serialize(&mut steps.decisions)
                .unwrap_or_else(|_| unreachable!("memory takes all bytes"));
            steps.ends.push(short(steps.decisions.len()));
        }
        steps.kernel_counts = record.kernel_counts(graph).into_iter().map(short).collect();
        steps
    }

    /// Number of decisions.
    pub const fn count(&self) -> usize {
        self.ends.len()
    }

    /// The last of the first `step` decisions; `None` before the first.
    pub fn last_decision(&self, step: usize) -> Option<Decision> {
        let at = step.min(self.count()).checked_sub(1)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let bytes = self.decisions.get(start as usize..self.ends[at] as usize)?;
        borsh::from_slice(bytes).ok()
    }

    /// The step of the replay and its decision; quoted parts are code.
    pub fn sentence(&self, graph: &Graph, step: usize) -> String {
        let count = self.count();
        if count == 0 {
            return "This policy decides nothing: every op runs alone.".to_owned();
        }
        let decision = self.last_decision(step).map_or_else(
            || "nothing is decided yet, and every op runs alone".to_owned(),
            |decision| decision_text(graph, &decision),
        );
        format!("Step {step} of {count}: {decision}.")
    }

    /// A line for each of these decisions, in order.
    pub fn lines(&self, graph: &Graph, steps: Range<usize>) -> Vec<StepLine> {
        let line = |step: usize| {
            let before = self.kernel_counts.get(step.checked_sub(1)?)?;
            let after = self.kernel_counts.get(step)?;
            Some(StepLine {
                step,
                decision: decision_text(graph, &self.last_decision(step)?),
                kernels: if after == before {
                    String::new()
                } else {
                    counted(*after as usize, "kernel")
                },
            })
        };
        steps.filter_map(line).collect()
    }
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
