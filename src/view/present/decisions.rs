//! The decisions of a policy, in words.

use crate::present::format::{format_amount, format_bytes, format_faster, format_seconds};
use crate::present::names::{joined, quoted_op};
use crate::present::reasons::{reason_between, reason_text, stated_kernel};
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::fusion::decision::{Decision, NodeKernel};
use fuseline_core::fusion::evidence::{Evidence, Nearest};
use fuseline_core::fusion::horizontal::fuses_horizontally;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::OpId;

/// Most ops that a list names.
const NAMED_OPS: usize = 8;

/// The decision in a sentence.
pub fn decision_text(graph: &Graph, decision: &Decision) -> String {
    let name = |op: &OpId| quoted_op(graph, *op);
    let names = |ops: &[OpId]| joined(ops.iter().map(name), [", ", " and "], NAMED_OPS);
    let kernel = |kernel: &NodeKernel| {
        let writes = if kernel.is_output {
            ""
        } else {
            " (an intermediate buffer)"
        };
        format!("{}{writes}", name(&kernel.op))
    };
    match decision {
        Decision::Rewritten { ops } => format!("{} become one fused attention kernel", names(ops)),
        Decision::Started { op } => format!("{} starts a kernel", name(op)),
        Decision::Joined { op, producer } => {
            format!("{} joins the kernel of {}", name(op), name(producer))
        }
        Decision::Merged { op, producer } => format!(
            "the kernel of {} merges into the kernel of {}",
            name(producer),
            name(op)
        ),
        Decision::Closed { reduction } => {
            format!("the reduction {} ends its kernel", name(reduction))
        }
        Decision::Inlined { op, readers } => format!(
            "{} is inlined: each reader recomputes it (readers: {readers})",
            name(op)
        ),
        Decision::Buffer { ops, output, .. } => {
            let written = if output.is_some() {
                "writes a buffer"
            } else {
                "writes an intermediate buffer (row values, partial results or a copy)"
            };
            match ops.split_last() {
                Some((last, [])) => format!("{} {written}", name(last)),
                Some((last, inlined)) => {
                    format!("{} {written}, computing {}", name(last), names(inlined))
                }
                None => written.to_owned(),
            }
        }
        Decision::Stays { view, producer } => format!(
            "{} stays with {}: a view of its output needs no launch",
            name(view),
            name(producer)
        ),
        Decision::Viewed { view, with } if graph.results.first(*view) == Some(*with) => format!(
            "{} and {} are results of one operator: one kernel writes both",
            name(with),
            name(view)
        ),
        Decision::Viewed { view, with } => format!(
            "{} is a view and launches nothing: it belongs to the kernel of {}",
            name(view),
            name(with)
        ),
        Decision::Round { round, pairs } => {
            format!("round {round}: pairs of kernels to try: {pairs}")
        }
        Decision::Fused {
            first,
            second,
            shared_bytes,
            is_vertical,
        } => format!(
            "the kernels of {} and {} fuse ({}): they share {}",
            kernel(first),
            kernel(second),
            if *is_vertical {
                "vertical fusion: one reads the other's output"
            } else {
                "horizontal fusion: they read the same tensor"
            },
            format_bytes(*shared_bytes)
        ),
        Decision::Searched {
            ops,
            candidates,
            states,
            is_proven,
        } => {
            let proven = if *is_proven { "is" } else { "is not" };
            format!(
                "searched {} (candidate kernels: {candidates}, states: {states}): the result {proven} proven optimal",
                names(ops)
            )
        }
        Decision::Chosen {
            ops,
            cost,
            evidence,
        } => {
            let siblings = if fuses_horizontally(graph, ops) {
                " (horizontal fusion: siblings that read the same tensor)"
            } else {
                ""
            };
            let evidence = evidence.as_ref().map_or_else(String::new, evidence_text);
            format!(
                "{}: one kernel{siblings}, {}{evidence}",
                names(ops),
                amount_text(*cost)
            )
        }
        Decision::Accepted { kernel, ops } => {
            format!("{}: {}", stated_kernel(*kernel), names(ops))
        }
        Decision::Refused { ops, reason } => {
            let why = match ops[..] {
                [a, b] => reason_between(graph, reason, [a, b]),
                _ => reason_text(graph, reason),
            };
            format!("{} stay separate: {why}", names(ops))
        }
    }
}

/// What measured runs say about a kernel, to follow its cost.
fn evidence_text(evidence: &Evidence) -> String {
    let run = |nearest: &Nearest| {
        let speedup = format_faster(nearest.speedup);
        let work = format_amount(nearest.flops, "FLOP");
        format!("{} was {speedup} at {work}", nearest.pattern)
    };
    match evidence {
        Evidence::Unmeasured => ", by the device model: the pattern was not measured".to_owned(),
        Evidence::SeveralKernels(nearest) => {
            format!(
                ", by the device model: {}, but not as one kernel",
                run(nearest)
            )
        }
        Evidence::Fuses(nearest) => format!(", by measurement: {}", run(nearest)),
        Evidence::Refuses(nearest) => format!(", although {}", run(nearest)),
    }
}

/// A cost with its unit.
pub fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => format_bytes(bytes),
        Amount::Seconds(seconds) => format_seconds(seconds),
    }
}
