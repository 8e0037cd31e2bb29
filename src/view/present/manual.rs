//! Merging and cutting kernels by hand: the changed text, and what the change saves or costs.

use super::format::{format_bytes, format_seconds};
use super::names::op_name;
use super::options::switch_name;
use super::reasons::{reason_text, time_scope};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::why::Why;
use fuseline_core::fusion::attention::{Attention, find};
use fuseline_core::model::options::Switch;
use fuseline_core::notation::edit::{Marked, ShownKernels, Unmarkable, cut_edge, merge_kernels};
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Graph, IdVec, KernelId, OpId, Options, Policy, Program, analyze_program,
};
use std::collections::HashSet;

/// A change of the kernels that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Change {
    /// Two kernels become one.
    Merge(KernelId, KernelId),
    /// The consumer and what follows it leave the kernel that both run in.
    Cut {
        /// The op that writes the tensor.
        producer: OpId,
        /// The op that reads it.
        consumer: OpId,
    },
}

/// The effect of a change.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Proposal {
    /// What the change saves or costs, or why it is not possible.
    pub words: String,
    /// That alone, `saves 33.6 MB and 16.5 µs`; empty if it is not possible.
    pub effect: String,
    /// The same after the change is made; empty if it is not possible.
    pub done: String,
    /// The changed text; `None` where the change is not possible.
    pub text: Option<String>,
}

impl Proposal {
    /// A change that is not possible, with the reason.
    pub fn refused(words: String) -> Self {
        Self {
            words,
            effect: String::new(),
            done: String::new(),
            text: None,
        }
    }
}

/// The op that `consumer` reads in its own kernel, from which a cut would part it; the first of several.
pub fn producer_beside(analysis: &Analysis, consumer: OpId) -> Option<OpId> {
    let kernel_of = &analysis.partition.kernel_of;
    let kernel = kernel_of.get(consumer);
    let producers = analysis.graph.predecessors.get(consumer)?;
    let mut producers = producers.iter().copied();
    producers.find(|&producer| kernel_of.get(producer) == kernel)
}

/// Whether one attention has ops of each of these kernels, and may not run as one kernel yet.
fn are_in_attention(analysis: &Analysis, kernels: [KernelId; 2]) -> bool {
    let kernel_of = &analysis.partition.kernel_of;
    let has = |attention: &Attention, kernel: KernelId| {
        let mut ops = attention.ops.iter();
        ops.any(|&op| kernel_of.get(op) == Some(&kernel))
    };
    !analysis.options.fusion.attention
        && (find(&analysis.graph).iter())
            .any(|attention| kernels.iter().all(|&kernel| has(attention, kernel)))
}

/// The effect of `change`: the difference to an analysis of the changed text under policy `manual`, so it takes as
/// long as an analysis. `statement_of_op` gives for each op of `analysis` its statement in `program`, which is parsed
/// from `text`.
pub fn propose(
    change: Change,
    text: &str,
    program: &Program,
    analysis: &Analysis,
    statement_of_op: &IdVec<OpId, usize>,
) -> Proposal {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let shown = ShownKernels {
        graph,
        partition,
        statement_of_op,
    };
    let [making, made] = in_words(change, analysis);
    let refused = |reason: &str| {
        // The words are shown as plain text, without quotes for code.
        Proposal::refused(format!(
            "{making} is not possible: {}.",
            reason.replace('`', "")
        ))
    };
    let (changed, [a, b]) = match change {
        Change::Merge(a, b) => {
            if let Err(reason) = Why::new(analysis).merge(a, b) {
                let mut words = reason_text(graph, &reason);
                if are_in_attention(analysis, [a, b]) {
                    let name = switch_name(Switch::Attention);
                    words = format!(
                        "{words}. A kernel for attention does it: allow {name} under Options"
                    );
                }
                return refused(&words);
            }
            (merge_kernels(text, program, shown, a, b), [a, b])
        }
        Change::Cut { producer, consumer } => {
            let kernel_of = |op: OpId| partition.kernel_of.get(op).copied();
            let shared = kernel_of(producer).filter(|&own| kernel_of(consumer) == Some(own));
            let Some(kernel) = shared else {
                return refused("they run in two kernels already");
            };
            let cut = cut_edge(text, program, shown, producer, consumer);
            (cut, [kernel, kernel])
        }
    };
    let Marked {
        text: mut changed,
        cuts_rounds,
    } = match changed {
        Ok(marked) => marked,
        Err(problem) => return refused(&unmarkable_text(graph, problem)),
    };
    let options = Options {
        policy: Policy::Manual,
        ..analysis.options.clone()
    };
    let analyzed = |text: &str| {
        let program = parse(text).program;
        let outcome = analyze_program(&program, &options);
        Some((outcome.analysis?, program, outcome.statement_of_op))
    };
    let Some((mut after, changed_program, changed_statements)) = analyzed(&changed) else {
        return refused("the text has an error");
    };
    // A statement of a block is touched in every round.
    let touched = partition.kernel_of.iter_enumerated();
    let touched = touched.filter(|&(_, &kernel)| kernel == a || kernel == b);
    let touched: HashSet<usize> = touched
        .filter_map(|(op, _)| statement_of_op.get(op).copied())
        .collect();
    let is_touched =
        |op: OpId| (statement_of_op.get(op)).is_some_and(|statement| touched.contains(statement));
    if let Change::Cut { producer, consumer } = change
        && after.refused.iter().any(|r| is_touched(r.op))
    {
        // Without the op that held them together the others are no kernel; the policy takes them apart.
        let pieces = ShownKernels {
            graph: &after.graph,
            partition: &after.partition,
            statement_of_op: &changed_statements,
        };
        if let Ok(apart) = cut_edge(&changed, &changed_program, pieces, producer, consumer)
            && let Some((taken_apart, ..)) = analyzed(&apart.text)
        {
            (changed, after) = (apart.text, taken_apart);
        }
    }
    if let Some(problem) = after.refused.iter().find(|r| is_touched(r.op)) {
        return refused(&reason_text(&after.graph, &problem.reason));
    }
    if let Change::Cut { producer, consumer } = change
        && after.partition.kernel_of.get(producer) == after.partition.kernel_of.get(consumer)
    {
        return refused("the option `attention as one kernel` keeps them together");
    }
    let gain = gain(analysis, &after);
    let is_repeated = |&statement: &usize| program.block_of_op(statement).is_some();
    let mut rounds = String::new();
    let [kernels, kernels_after] =
        [analysis, &after].map(|analysis| analysis.partition.kernels.len());
    if program.blocks.is_empty() && kernels_after > kernels + 1 {
        rounds = format!(" into {} kernels", kernels_after - kernels + 1);
    }
    if touched.iter().any(is_repeated) {
        rounds.push_str(" in every round");
    }
    if cuts_rounds {
        rounds.push_str(", with cuts where rounds end");
    }
    let comma = if cuts_rounds { "," } else { "" };
    Proposal {
        words: format!("{making}{rounds}{comma} {gain}."),
        done: format!("{made}{rounds}: {gain}."),
        effect: gain,
        text: Some(changed),
    }
}

/// Why the kernels after a change cannot be written as marks.
fn unmarkable_text(graph: &Graph, problem: Unmarkable) -> String {
    match problem {
        Unmarkable::AcrossRounds(first, other) => format!(
            "{} and {} would share a kernel, and kernels made by hand stay within a round of a block",
            op_name(graph, first),
            op_name(graph, other)
        ),
        Unmarkable::RoundsDiffer(first, other) => format!(
            "the kernels of {} and {} differ, and made by hand they are the same in every round of a block",
            op_name(graph, first),
            op_name(graph, other)
        ),
    }
}

/// The change as the beginning of a sentence, before and after it is made.
fn in_words(change: Change, analysis: &Analysis) -> [String; 2] {
    match change {
        Change::Merge(a, b) => ["Merging", "Merged"].map(|verb| {
            format!(
                "{verb} kernels {} and {}",
                a.min(b).number(),
                a.max(b).number()
            )
        }),
        Change::Cut { consumer, .. } => ["Cutting", "Cut"]
            .map(|verb| format!("{verb} before {}", op_name(&analysis.graph, consumer))),
    }
}

/// `saves 33.6 MB and 16.5 µs`, `costs 268 MB and 131 µs`, or one of each.
fn gain(before: &Analysis, after: &Analysis) -> String {
    let saved_bytes =
        before.fused.traffic.total.cast_signed() - after.fused.traffic.total.cast_signed();
    let expected = before.expected.as_ref().zip(after.expected.as_ref());
    let saved_s = expected.map_or_else(
        || before.fused.time_s - after.fused.time_s,
        |(before, after)| before.fused_s - after.fused_s,
    );
    let verb = |is_saved: bool| if is_saved { "saves" } else { "costs" };
    let bytes = format_bytes(saved_bytes.unsigned_abs());
    let time = format!("{} {}", format_seconds(saved_s.abs()), time_scope(before));
    let (bytes_verb, time_verb) = (verb(saved_bytes >= 0), verb(saved_s >= 0.0));
    // Times are sums of floats: a smaller difference is rounding.
    if saved_s.abs() < 1e-12 {
        format!("{bytes_verb} {bytes} and no time")
    } else if bytes_verb == time_verb || saved_bytes == 0 {
        format!("{time_verb} {bytes} and {time}")
    } else {
        format!("{bytes_verb} {bytes} and {time_verb} {time}")
    }
}
