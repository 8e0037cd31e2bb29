//! Merging and cutting kernels by hand: the marked text and its analysis.

use crate::analysis::why::{Price, Why};
use crate::analysis::{Analysis, analyze_program};
use crate::fusion::attention::{Attention, find};
use crate::fusion::reason::Reason;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::{Options, Policy, Switch};
use crate::model::program::Program;
use crate::notation::edit::{
    Marked, ShownKernels, Unmarkable, cut_edge, mark_merged, merge_kernels,
};
use crate::notation::parse;
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::HashSet;

/// A change of the kernels that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Change {
    /// Two kernels become one, and marks state all kernels.
    Merge(KernelId, KernelId),
    /// Two kernels become one, and the policy decides on all others. Without a policy that fuses,
    /// marks state all kernels.
    MergeOnTop(KernelId, KernelId),
    /// The consumer and what follows it leave the kernel that both run in.
    Cut {
        /// The op that writes the tensor.
        producer: OpId,
        /// The op that reads it.
        consumer: OpId,
    },
}

impl Change {
    /// The choices under which the changed text is shown.
    pub fn options_after(self, options: &Options) -> Options {
        let mut after = options.clone();
        if self.keeps_policy(options.policy) {
            after.fusion.keeps_marks = true;
        } else {
            after.policy = Policy::Manual;
        }
        after
    }

    /// Whether the policy decides on the other kernels after the change.
    pub const fn keeps_policy(self, policy: Policy) -> bool {
        matches!(self, Self::MergeOnTop(..)) && Switch::KernelMarks.concerns(policy)
    }

    /// Whether the analysis has the kernels or ops that it names.
    fn is_of(self, analysis: &Analysis) -> bool {
        let partition = &analysis.partition;
        match self {
            Self::Merge(a, b) | Self::MergeOnTop(a, b) => {
                a.max(b).index() < partition.kernels.len()
            }
            Self::Cut { producer, consumer } => {
                producer.max(consumer).index() < partition.kernel_of.len()
            }
        }
    }
}

/// A text and its kernels, from which a change starts.
///
/// Borrowed, because what owns them differs: the page keeps what it has computed about a text
/// beside them, a lesson what its answers need, and the command line nothing.
#[derive(Clone, Copy)]
pub struct KernelsInText<'a> {
    /// The visitor's own, in which marks are written.
    pub text: &'a str,
    /// The program that is parsed from it.
    pub program: &'a Program,
    /// Its kernels.
    pub analysis: &'a Analysis,
    /// For each op its statement in the program.
    pub statement_of_op: &'a IdVec<OpId, usize>,
}

/// The state after a change.
#[derive(Debug)]
pub struct Changed {
    /// The text with its marks.
    pub text: String,
    /// Its analysis under [`Change::options_after`]. [`Policy::Manual`] computes nothing twice and
    /// splits illegal kernels, so other kernels may differ from those that were shown, too.
    pub analysis: Analysis,
    /// The saving of the merge alone, in one iteration; `None` for a cut.
    pub merge: Option<Price>,
    /// Whether kernels that reach over the end of an iteration are cut there.
    pub cuts_iterations: bool,
    /// Whether a statement of a block is changed, and so every iteration.
    pub is_in_iterations: bool,
}

/// Why a change is not possible.
#[derive(Clone, Debug, PartialEq)]
pub enum Unchanged {
    /// The two kernels cannot be one.
    Illegal {
        /// Why.
        reason: Reason,
        /// Both are in one attention, which a kernel of its own computes if the option allows it.
        are_in_attention: bool,
    },
    /// The program has no such kernels or ops: it had when the visitor asked.
    Lost,
    /// Both ops of a cut run in two kernels already.
    IsCut,
    /// The kernels cannot be written as marks.
    Unmarkable(Unmarkable),
    /// The marked text has an error.
    Broken,
    /// A changed kernel is not legal by hand.
    Refused(Box<Graph>, Reason),
    /// The option for attention as one kernel keeps the ops of a cut together.
    IsAttention,
}

/// The state after `change`. Takes as long as an analysis, or two for a cut.
///
/// # Errors
/// Why the change is not possible.
pub fn change(change: Change, shown: KernelsInText<'_>) -> Result<Changed, Unchanged> {
    let KernelsInText {
        text,
        program,
        analysis,
        statement_of_op,
    } = shown;
    if !change.is_of(analysis) {
        return Err(Unchanged::Lost);
    }
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let kernels = ShownKernels {
        graph,
        partition,
        statement_of_op,
        options: &analysis.options,
    };
    let (marked, [a, b], merge) = match change {
        Change::Merge(a, b) | Change::MergeOnTop(a, b) => {
            let merge = Why::new(analysis).merge(a, b);
            let merge = merge.map_err(|reason| Unchanged::Illegal {
                reason,
                are_in_attention: are_in_attention(analysis, [a, b]),
            })?;
            let merged = if change.keeps_policy(analysis.options.policy) {
                mark_merged(text, program, kernels, a, b)
            } else {
                merge_kernels(text, program, kernels, a, b)
            };
            (merged, [a, b], Some(merge))
        }
        Change::Cut { producer, consumer } => {
            let kernel_of = |op: OpId| partition.kernel_of.get(op).copied();
            let shared = kernel_of(producer).filter(|&own| kernel_of(consumer) == Some(own));
            let kernel = shared.ok_or(Unchanged::IsCut)?;
            let cut = cut_edge(text, program, kernels, producer, consumer);
            (cut, [kernel, kernel], None)
        }
    };
    let Marked {
        text: mut marked,
        cuts_iterations,
    } = marked.map_err(Unchanged::Unmarkable)?;
    let options = change.options_after(&analysis.options);
    let analyzed = |text: &str| {
        let program = parse(text).program;
        let outcome = analyze_program(&program, &options);
        Some((outcome.analysis?, program, outcome.statement_of_op))
    };
    let (mut after, marked_program, marked_statements) =
        analyzed(&marked).ok_or(Unchanged::Broken)?;
    // A statement of a block is touched in every iteration.
    let touched = partition.kernel_of.iter_enumerated();
    let touched = touched.filter(|&(_, &kernel)| kernel == a || kernel == b);
    let touched: HashSet<usize> = touched
        .filter_map(|(op, _)| statement_of_op.get(op).copied())
        .collect();
    let is_touched =
        |op: OpId| (statement_of_op.get(op)).is_some_and(|statement| touched.contains(statement));
    if let Change::Cut { producer, consumer } = change
        && after.refused.iter().any(|refused| is_touched(refused.op))
    {
        // Without the op that held them together the others are no kernel; the policy splits them.
        let pieces = ShownKernels {
            graph: &after.graph,
            partition: &after.partition,
            statement_of_op: &marked_statements,
            options: &options,
        };
        if let Ok(split) = cut_edge(&marked, &marked_program, pieces, producer, consumer)
            && let Some((split_state, ..)) = analyzed(&split.text)
        {
            (marked, after) = (split.text, split_state);
        }
    }
    if let Some(refused) = after.refused.iter().find(|refused| is_touched(refused.op)) {
        let reason = refused.reason.clone();
        return Err(Unchanged::Refused(Box::new(after.graph), reason));
    }
    if let Change::Cut { producer, consumer } = change
        && after.partition.kernel_of.get(producer) == after.partition.kernel_of.get(consumer)
    {
        return Err(Unchanged::IsAttention);
    }
    if let Change::MergeOnTop(..) = change {
        let kernels = [a, b].map(|kernel| partition.kernels.get(kernel)?.first());
        let [first, second] = kernels.map(|op| after.partition.kernel_of.get(*op?));
        if first.is_none() || first != second {
            return Err(Unchanged::Lost);
        }
    }
    let is_repeated = |&statement: &usize| program.block_of_op(statement).is_some();
    Ok(Changed {
        text: marked,
        analysis: after,
        merge,
        cuts_iterations,
        is_in_iterations: touched.iter().any(is_repeated),
    })
}

/// Whether one attention has ops of each of these kernels, and may not run as one kernel yet.
fn are_in_attention(analysis: &Analysis, kernels: [KernelId; 2]) -> bool {
    let kernel_of = &analysis.partition.kernel_of;
    let has = |attention: &Attention, kernel: KernelId| {
        let mut ops = attention.ops.iter();
        ops.any(|&op| kernel_of.get(op) == Some(&kernel))
    };
    !analysis.options.fuses_attention()
        && (find(&analysis.graph).iter())
            .any(|attention| kernels.iter().all(|&kernel| has(attention, kernel)))
}
