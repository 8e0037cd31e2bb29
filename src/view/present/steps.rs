//! The decisions of a policy as a list, and the step of the replay.

use super::decisions::decision_text;
use super::names::counted;
use crate::present::format::format_count;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::Graph;
use fuseline_core::fusion::decision_trace::{Decision, DecisionTrace};
use std::ops::Range;

/// Decisions on one page of the list.
pub const PAGE_STEPS: usize = 200;

/// The decisions of a policy, kept as bytes until they are read.
///
/// The compiler decides a million times about 10,000 ops, and a thread that decoded all of these
/// would spend most of a second on them.
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Steps {
    count: usize,
    decisions: Vec<u8>,
    /// Where the bytes of each page of [`PAGE_STEPS`] decisions begin.
    pages: Vec<usize>,
    /// The steps after which there are more or fewer kernels than before, ascending, and how many.
    kernel_counts: Vec<(usize, usize)>,
}

impl Steps {
    /// The decisions of a trace. `O(ops + decisions)`, plus the ops that the decisions name.
    pub fn new(graph: &Graph, trace: &DecisionTrace) -> Self {
        let mut steps = Self {
            count: trace.decisions.len(),
            ..Self::default()
        };
        for (at, decision) in trace.decisions.iter().enumerate() {
            if at % PAGE_STEPS == 0 {
                steps.pages.push(steps.decisions.len());
            }
            decision
                .serialize(&mut steps.decisions)
                .unwrap_or_else(|_| unreachable!("memory takes all bytes"));
        }
        let counts = trace.kernel_counts(graph);
        let changes = counts.windows(2).zip(1..);
        steps.kernel_counts = changes
            .filter(|(around, _)| around[0] != around[1])
            .map(|(around, step)| (step, around[1]))
            .collect();
        steps
    }

    /// Number of decisions.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The last of the first `step` decisions; `None` before the first. Reads up to [`PAGE_STEPS`]
    /// decisions.
    pub fn last_decision(&self, step: usize) -> Option<Decision> {
        self.decisions_from(step.min(self.count)).next()
    }

    /// The decisions from the one of `step`, which is counted from 1.
    fn decisions_from(&self, step: usize) -> impl Iterator<Item = Decision> {
        let at = step.checked_sub(1);
        let page = at.and_then(|at| self.pages.get(at / PAGE_STEPS));
        let mut rest = page.map_or(&[][..], |&start| &self.decisions[start..]);
        std::iter::from_fn(move || Decision::deserialize(&mut rest).ok())
            .skip(at.unwrap_or_default() % PAGE_STEPS)
    }

    /// The step of the replay and its decision; quoted parts are code.
    pub fn sentence(&self, graph: &Graph, step: usize) -> String {
        let count = self.count();
        if count == 0 {
            return "This policy makes no decisions: each op is a kernel of its own.".to_owned();
        }
        let decision = self.last_decision(step).map_or_else(
            || "no decisions yet: each op is a kernel of its own".to_owned(),
            |decision| decision_text(graph, &decision),
        );
        format!("Step {}: {decision}.", step_of(step, count))
    }

    /// A line for each of these decisions, in order.
    pub fn lines(&self, graph: &Graph, steps: Range<usize>) -> Vec<StepLine> {
        let line = |(step, decision): (usize, Decision)| {
            let changed = (self.kernel_counts).binary_search_by_key(&step, |&(step, _)| step);
            StepLine {
                step,
                decision: decision_text(graph, &decision),
                kernels: changed.map_or_else(
                    |_| String::new(),
                    |place| counted(self.kernel_counts[place].1, "kernel"),
                ),
            }
        };
        let decisions = self.decisions_from(steps.start);
        steps.zip(decisions).map(line).collect()
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

/// A step and the number of all steps: `3 of 1,200`.
pub fn step_of(step: usize, count: usize) -> String {
    format!("{} of {}", format_count(step), format_count(count))
}

/// The numbers of the decisions on the page that contains `step`, of `count` decisions in all.
/// Pages are fixed, so that no line moves away under the pointer or the focus. Before the first
/// step it is the first page.
pub fn page_of_step(step: usize, count: usize) -> Range<usize> {
    let first = step.saturating_sub(1) / PAGE_STEPS * PAGE_STEPS;
    first + 1..count.min(first + PAGE_STEPS) + 1
}
