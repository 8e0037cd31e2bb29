//! Kernels that are merged and cut by hand: what a change would bring, before it is done.

use crate::core::analysis::why::Why;
use crate::core::notation::edit::{ShownKernels, cut_edge, merge_kernels};
use crate::core::notation::parse;
use crate::core::{Analysis, IdVec, KernelId, OpId, Options, Policy, Program, analyze_program};
use crate::present::format::{format_bytes, format_seconds};
use crate::present::reasons::reason_text;

/// A change of the kernels that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a change would bring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The gain, or why it may not be.
    pub words: String,
    /// The same once it is done; empty where it may not be.
    pub done: String,
    /// The text that does it; `None` where it may not be.
    pub text: Option<String>,
}

/// Looks ahead: the gain is what an analysis of the changed text under policy `manual` says. `statement_of_op`
/// gives for each op of the analysis its statement in `program`, which is what `text` says.
pub fn propose(
    change: Change,
    text: &str,
    program: &Program,
    analysis: &Analysis,
    statement_of_op: &IdVec<OpId, usize>,
) -> Proposal {
    let graph = &analysis.graph;
    let partition = &analysis.partition;
    let shown = ShownKernels {
        graph,
        partition,
        statement_of_op,
    };
    let [what, done] = in_words(change, analysis);
    let refused = |reason: &str| Proposal {
        // It stands in a line of plain text, where quotes for code would be seen.
        words: [&what, " is not possible: ", &reason.replace('`', ""), "."].concat(),
        done: String::new(),
        text: None,
    };
    let (changed, touched) = match change {
        Change::Merge(a, b) => {
            if let Err(reason) = Why::new(analysis).merge(a, b) {
                return refused(&reason_text(graph, &reason));
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
    let options = Options {
        policy: Policy::Manual,
        ..analysis.options.clone()
    };
    let Some(after) = analyze_program(&parse(&changed).program, &options).analysis else {
        return refused("the text has an error");
    };
    let is_touched = |op: OpId| {
        let kernel = partition.kernel_of.get(op);
        kernel.is_some_and(|kernel| touched.contains(kernel))
    };
    if let Some(problem) = after.refused.iter().find(|r| is_touched(r.op)) {
        return refused(&reason_text(&after.graph, &problem.reason));
    }
    if let Change::Cut { producer, consumer } = change
        && after.partition.kernel_of.get(producer) == after.partition.kernel_of.get(consumer)
    {
        return refused("the option `attention as one kernel` keeps them together");
    }
    let saved_bytes =
        analysis.fused.traffic.total.cast_signed() - after.fused.traffic.total.cast_signed();
    let saved_s = analysis.fused.time_s - after.fused.time_s;
    let gain = gain(saved_bytes, saved_s);
    Proposal {
        words: [&what, " ", &gain, "."].concat(),
        done: [&done, ": ", &gain, "."].concat(),
        text: Some(changed),
    }
}

/// The change as the beginning of a sentence, before it is done and after.
fn in_words(change: Change, analysis: &Analysis) -> [String; 2] {
    let (verbs, what) = match change {
        Change::Merge(a, b) => {
            let (a, b) = (a.min(b).number(), a.max(b).number());
            let kernels = [" kernels ", &a.to_string(), " and ", &b.to_string()].concat();
            (["Merging", "Merged"], kernels)
        }
        Change::Cut { consumer, .. } => {
            let op = analysis.graph.ops.get(consumer);
            let name = op.map_or("?", |op| op.name.as_str());
            (["Cutting", "Cut"], [" before ", name].concat())
        }
    };
    verbs.map(|verb| [verb, &what].concat())
}

/// `saves 33.6 MB and 16.5 µs`, `costs 268 MB and 131 µs`, or one of each.
fn gain(saved_bytes: i64, saved_s: f64) -> String {
    let verb = |is_saved: bool| if is_saved { "saves " } else { "costs " };
    let bytes = format_bytes(saved_bytes.unsigned_abs());
    let time = format_seconds(saved_s.abs());
    // A difference of two sums of floats is never less than this.
    if saved_s.abs() < 1e-12 {
        return [verb(saved_bytes >= 0), &bytes, " and no time"].concat();
    }
    if (saved_bytes >= 0) == (saved_s >= 0.0) || saved_bytes == 0 {
        [verb(saved_s >= 0.0), &bytes, " and ", &time].concat()
    } else {
        [
            verb(saved_bytes >= 0),
            &bytes,
            " and ",
            verb(saved_s >= 0.0),
            &time,
        ]
        .concat()
    }
}
