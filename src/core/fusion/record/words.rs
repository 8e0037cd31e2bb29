//! Decisions in words for people, all of them here.

use super::{Decision, Refusal};
use crate::core::format::{format_bytes, format_exact, format_seconds};
use crate::core::fusion::inductor::Loop;
use crate::core::fusion::optimal::Amount;
use crate::core::graph::{Graph, OpId};
use crate::core::why::{op_name, reason_in_words};

/// A list of ops names so many of them at most.
const NAMED_OPS: usize = 8;

/// The decision in a sentence.
pub fn in_words(graph: &Graph, decision: &Decision) -> String {
    use Decision as D;
    let name = |op: &OpId| op_name(graph, *op);
    let many = |ops: &[OpId]| names(graph, ops);
    match decision {
        D::Rewritten { ops } => format!("{} run as one attention kernel", many(ops)),
        D::Started { op } => format!("{} starts a kernel", name(op)),
        D::Joined { op, producer } => {
            format!("{} joins the kernel of {}", name(op), name(producer))
        }
        D::Merged { op, producer } => format!(
            "the kernel of {} becomes part of that of {}",
            name(producer),
            name(op)
        ),
        D::Closed { reduction } => format!("the reduction {} ends its kernel", name(reduction)),
        D::Inlined { op, readers } => format!(
            "{} is no buffer: what reads it computes it (readers: {readers})",
            name(op)
        ),
        D::Buffer { ops, is_row_values } => {
            let what = match is_row_values {
                true => "writes its row values",
                false => "writes a buffer",
            };
            match ops.split_last() {
                Some((last, [])) => format!("{} {what}", name(last)),
                Some((last, inlined)) => {
                    format!("{} {what}, computing {}", name(last), many(inlined))
                }
                None => what.to_owned(),
            }
        }
        D::Stays { view, producer } => format!(
            "{} stays with {}: a view of what that writes is nothing to run",
            name(view),
            name(producer)
        ),
        D::Round { round, pairs } => format!("round {round}: pairs of kernels to try: {pairs}"),
        D::Fused {
            first,
            second,
            shared_bytes,
        } => format!(
            "the kernels of {} and {} become one: they share {}",
            name(first),
            name(second),
            format_bytes(*shared_bytes)
        ),
        D::Searched {
            ops,
            candidates,
            states,
            is_proven,
        } => {
            let found = match is_proven {
                true => "the best ones are proven",
                false => "the best ones found are not proven",
            };
            format!(
                "searched {} (possible kernels: {candidates}, states: {states}): {found}",
                many(ops)
            )
        }
        D::Chosen { ops, cost } => {
            let cost = match *cost {
                Amount::Bytes(bytes) => format_bytes(bytes),
                Amount::Seconds(seconds) => format_seconds(seconds),
            };
            format!("{}: one kernel, {cost}", many(ops))
        }
        // The number in the text, which need not be that of the pictures.
        D::Accepted { kernel, ops } => format!("`@kernel {kernel}`: {}", many(ops)),
        D::Refused { ops, refusal } => {
            format!(
                "{} stay apart: {}",
                many(ops),
                refusal_in_words(graph, refusal)
            )
        }
    }
}

/// Why ops stay apart, as the end of a sentence.
pub(in crate::core) fn refusal_in_words(graph: &Graph, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Illegal(reason) => reason_in_words(graph, reason),
        Refusal::AnotherConsumer { consumer } => {
            format!("{} reads the tensor as well", op_name(graph, *consumer))
        }
        Refusal::TooManyNodes { nodes, limit } => {
            format!("the kernel would have {nodes} nodes, and {limit} is the limit")
        }
        Refusal::LibraryCall { matmul } => format!(
            "the matmul {} is a library call, which nothing joins",
            op_name(graph, *matmul)
        ),
        Refusal::Loops { first, second } => format!(
            "the one is {}, the other {}",
            loop_in_words(*first),
            loop_in_words(*second)
        ),
        Refusal::Reordered => {
            "the buffer is read in another order than it is written in".to_owned()
        }
        Refusal::TooLittleShared {
            shared_bytes,
            places,
        } => format!(
            "neither feeds the other, and they share {} at a distance of {places} kernels",
            format_bytes(*shared_bytes)
        ),
        Refusal::Between { through } => {
            format!("{} has to run between them", op_name(graph, *through))
        }
        Refusal::TooFar { places } => {
            format!("{places} kernels stand between them, too many to reorder")
        }
        Refusal::TooManyCycles { rounds } => format!(
            "stated kernels still need each other after {rounds} rounds of taking such kernels apart, so every kernel falls apart"
        ),
    }
}

fn loop_in_words(space: Loop) -> String {
    let count = |elements: u64| format_exact(elements.into());
    match space {
        Loop::Library => "a library call".to_owned(),
        Loop::Template(elements) => format!("a matmul of {} elements", count(elements)),
        Loop::Pointwise(elements) => format!("a loop over {} elements", count(elements)),
        Loop::Reduction { rows, width, .. } => {
            format!("a reduction of {} rows of {}", count(rows), count(width))
        }
    }
}

fn names(graph: &Graph, ops: &[OpId]) -> String {
    let named = ops.iter().take(NAMED_OPS).map(|&op| op_name(graph, op));
    let named = named.collect::<Vec<_>>().join(", ");
    match ops.len().saturating_sub(NAMED_OPS) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
