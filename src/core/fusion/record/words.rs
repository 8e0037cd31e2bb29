//! Decisions in words for people, all of them here.

use super::{Decision, Refusal};
use crate::core::analysis::why::{op_name, reason_in_words};
use crate::core::fusion::inductor::Loop;
use crate::core::fusion::optimal::Amount;
use crate::core::model::graph::{Graph, OpId};
use crate::present::format::{format_bytes, format_exact, format_seconds};

/// A list of ops names so many of them at most.
const NAMED_OPS: usize = 8;

/// The decision in a sentence.
pub fn in_words(graph: &Graph, decision: &Decision) -> String {
    use Decision as D;
    let name = |op: &OpId| op_name(graph, *op);
    let many = |ops: &[OpId]| names(graph, ops);
    match decision {
        D::Rewritten { ops } => [&many(ops), " run as one attention kernel"].concat(),
        D::Started { op } => [&name(op), " starts a kernel"].concat(),
        D::Joined { op, producer } => {
            [&name(op), " joins the kernel of ", &name(producer)].concat()
        }
        D::Merged { op, producer } => [
            "the kernel of ",
            &name(producer),
            " becomes part of that of ",
            &name(op),
        ]
        .concat(),
        D::Closed { reduction } => {
            ["the reduction ", &name(reduction), " ends its kernel"].concat()
        }
        D::Inlined { op, readers } => {
            let readers = readers.to_string();
            [
                &name(op),
                " is no buffer: what reads it computes it (readers: ",
                &readers,
                ")",
            ]
            .concat()
        }
        D::Buffer { ops, is_row_values } => {
            let what = match is_row_values {
                true => " writes its row values",
                false => " writes a buffer",
            };
            match ops.split_last() {
                Some((last, [])) => [&name(last), what].concat(),
                Some((last, inlined)) => {
                    [&name(last), what, ", computing ", &many(inlined)].concat()
                }
                None => what.to_owned(),
            }
        }
        D::Stays { view, producer } => [
            &name(view),
            " stays with ",
            &name(producer),
            ": a view of what that writes is nothing to run",
        ]
        .concat(),
        D::Round { round, pairs } => {
            let (round, pairs) = (round.to_string(), pairs.to_string());
            ["round ", &round, ": pairs of kernels to try: ", &pairs].concat()
        }
        D::Fused {
            first,
            second,
            shared_bytes,
        } => [
            "the kernels of ",
            &name(first),
            " and ",
            &name(second),
            " become one: they share ",
            &format_bytes(*shared_bytes),
        ]
        .concat(),
        D::Searched {
            ops,
            candidates,
            states,
            is_proven,
        } => [
            "searched ",
            &many(ops),
            " (possible kernels: ",
            &candidates.to_string(),
            ", states: ",
            &states.to_string(),
            if *is_proven {
                "): the best ones are proven"
            } else {
                "): the best ones found are not proven"
            },
        ]
        .concat(),
        D::Chosen { ops, cost } => {
            let cost = match *cost {
                Amount::Bytes(bytes) => format_bytes(bytes),
                Amount::Seconds(seconds) => format_seconds(seconds),
            };
            [&many(ops), ": one kernel, ", &cost].concat()
        }
        D::Accepted { kernel, ops } => [&as_stated(*kernel), ": ", &many(ops)].concat(),
        D::Refused { ops, refusal } => [
            &many(ops),
            " stay apart: ",
            &refusal_in_words(graph, refusal),
        ]
        .concat(),
    }
}

/// The number of a kernel in the text, which need not be that of the pictures.
fn as_stated(kernel: u32) -> String {
    ["`@kernel ", &kernel.to_string(), "`"].concat()
}

/// Why ops stay apart, as the end of a sentence.
pub(crate) fn refusal_in_words(graph: &Graph, refusal: &Refusal) -> String {
    match refusal {
        Refusal::Illegal(reason) => reason_in_words(graph, reason),
        Refusal::AnotherConsumer { consumer } => {
            [&op_name(graph, *consumer), " reads the tensor as well"].concat()
        }
        Refusal::TooManyNodes { nodes, limit } => [
            "the kernel would have ",
            &nodes.to_string(),
            " nodes, and ",
            &limit.to_string(),
            " is the limit",
        ]
        .concat(),
        Refusal::LibraryCall { matmul } => [
            "the matmul ",
            &op_name(graph, *matmul),
            " is a library call, which nothing joins",
        ]
        .concat(),
        Refusal::Loops { first, second } => [
            "the one is ",
            &loop_in_words(*first),
            ", the other ",
            &loop_in_words(*second),
        ]
        .concat(),
        Refusal::Reordered => {
            "the buffer is read in another order than it is written in".to_owned()
        }
        Refusal::TooLittleShared {
            shared_bytes,
            places,
        } => [
            "neither feeds the other, and they share ",
            &format_bytes(*shared_bytes),
            " at a distance of ",
            &places.to_string(),
            " kernels",
        ]
        .concat(),
        Refusal::Between { through } => {
            [&op_name(graph, *through), " has to run between them"].concat()
        }
        Refusal::TooFar { places } => [
            &places.to_string(),
            " kernels stand between them, too many to reorder",
        ]
        .concat(),
        Refusal::TooManyCycles { rounds } => [
            "stated kernels still need each other after ",
            &rounds.to_string(),
            " rounds of taking such kernels apart, so every kernel falls apart",
        ]
        .concat(),
    }
}

fn loop_in_words(space: Loop) -> String {
    let count = |elements: u64| format_exact(elements.into());
    match space {
        Loop::Library => "a library call".to_owned(),
        Loop::Template(elements) => ["a matmul of ", &count(elements), " elements"].concat(),
        Loop::Pointwise(elements) => ["a loop over ", &count(elements), " elements"].concat(),
        Loop::Reduction { rows, width, .. } => {
            ["a reduction of ", &count(rows), " rows of ", &count(width)].concat()
        }
    }
}

fn names(graph: &Graph, ops: &[OpId]) -> String {
    let mut text = String::new();
    for (at, &op) in ops.iter().take(NAMED_OPS).enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&op_name(graph, op));
    }
    if let Some(more @ 1..) = ops.len().checked_sub(NAMED_OPS) {
        text.push_str(" and ");
        text.push_str(&more.to_string());
        text.push_str(" more");
    }
    text
}
