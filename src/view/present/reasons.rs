//! Why ops do not run as one kernel, in words.

use crate::present::format::{format_bytes, format_count, format_exact};
use crate::present::names::{joined, listed, quoted_op};
use fuseline_core::fusion::inductor::{OutsideCall, outside_call, takes_add};
use fuseline_core::fusion::loops::Loop;
use fuseline_core::fusion::manual::Refused;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::fusion::rows::RowDomain;
use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::model::diagnostic::{Code, Diagnostic, merged};
use fuseline_core::model::graph::Graph;
use fuseline_core::model::op_type::OpType;
use fuseline_core::notation::Parsed;
use fuseline_core::{OpId, Outcome, Program};
use std::collections::HashSet;

/// [`reason_text`] of two ops in either order.
///
/// A library call takes other ops after it than before it. Ids are in execution order, so a call
/// after the first op is that of the second, perhaps with an `add` that reads the first.
pub fn reason_between(graph: &Graph, reason: &Reason, ops: [OpId; 2]) -> String {
    let [first, second] = in_execution_order(ops);
    if let Reason::Cycle { path } = reason
        && let [_, between @ .., _] = &path[..]
    {
        return between_text(graph, between);
    }
    if !(graph.successors.get(first)).is_some_and(|readers| readers.contains(&second)) {
        return reason_text(graph, reason);
    }
    match *reason {
        Reason::LibraryCall { matmul } if matmul > first => {
            format!(
                "{}, and the call takes no op before it",
                calls(graph, matmul)
            )
        }
        Reason::LibraryCall { matmul } => format!(
            "{}, and {}",
            calls(graph, matmul),
            outside_call_text(graph, matmul, [first, second])
        ),
        Reason::FusedAttention { op } if op > first => format!(
            "{} runs in fused attention, a library kernel that takes no op before it",
            quoted_op(graph, op)
        ),
        Reason::FusedAttention { op } => format!(
            "{} runs in fused attention, a library kernel that takes only views after it",
            quoted_op(graph, op)
        ),
        // The compiler has compared the first of several kernels that compute the op, and the other
        // reads what the last one writes.
        Reason::TooLittleShared { .. } => format!(
            "{} runs as several kernels, and {} waits for the last of them",
            quoted_op(graph, first),
            quoted_op(graph, second)
        ),
        _ => reason_text(graph, reason),
    }
}

/// The reason that ops between two kernels keep them separate, under any policy.
fn between_text(graph: &Graph, ops: &[OpId]) -> String {
    /// Ops that are named.
    const NAMED: usize = 3;
    let names = ops.iter().map(|&op| quoted_op(graph, op));
    let names = if ops.len() <= NAMED {
        listed(names.collect())
    } else {
        joined(names, [", ", " and "], NAMED)
    };
    format!("{names} must run between them")
}

pub(super) fn in_execution_order([a, b]: [OpId; 2]) -> [OpId; 2] {
    [a.min(b), a.max(b)]
}

fn calls(graph: &Graph, matmul: OpId) -> String {
    let matmul = quoted_op(graph, matmul);
    format!("torch.compile calls a library for the matmul {matmul}")
}

/// Why the second of two ops after a matmul is not part of its library call, as the end of a
/// sentence.
fn outside_call_text(graph: &Graph, matmul: OpId, [read, second]: [OpId; 2]) -> String {
    let name = |op| quoted_op(graph, op);
    let Some(outside) = outside_call(graph, matmul, read, second) else {
        return format!("{} can be part of the call", after_call(graph, matmul));
    };
    let only = "an `add` after it is part of the call only if";
    match outside {
        OutsideCall::Dimensions(count) => {
            format!("{only} the product has 2 dimensions, and this one has {count}")
        }
        OutsideCall::IsResult => {
            format!("{only} the product is not a result of the program as well")
        }
        OutsideCall::AnotherReader(other) => {
            format!(
                "{only} no other op reads the product, and {} does",
                name(other)
            )
        }
        OutsideCall::AddsItself => format!("{only} it adds another tensor to the product"),
        OutsideCall::OtherOperand => format!(
            "{only} the tensor that it adds has the type of the product and broadcasts to it"
        ),
        OutsideCall::OfView(view) => {
            format!(
                "{only} it reads the product itself, and {} is a view of it",
                name(view)
            )
        }
        OutsideCall::OtherCall(other) => {
            format!("the `add` after it is part of the call of {}", name(other))
        }
        OutsideCall::WithReader(reader) => {
            format!("fuses the `add` after it with {} instead", name(reader))
        }
        OutsideCall::WithReaders => {
            "fuses the `add` after it with the ops that read it instead".to_owned()
        }
    }
}

/// The ops that the library call of a matmul takes after it.
fn after_call(graph: &Graph, matmul: OpId) -> &'static str {
    if takes_add(graph, matmul) && graph.ops[matmul].shape.len() == 2 {
        "only views and one `add` after it"
    } else {
        "only views after it"
    }
}

/// Whether a reduction is among the nearest ops before or after this matmul, as the softmax of
/// attention is.
fn meets_reduction(neighbours: &Adjacency<OpId, OpId>, graph: &Graph, matmul: OpId) -> bool {
    /// A dropout, casts and the parts of a softmax may come between.
    const MOST_OPS: usize = 8;
    let mut near = vec![matmul];
    let mut at = 0;
    while let Some(&op) = near.get(at) {
        for &op in &neighbours[op] {
            match graph.ops[op].op_type {
                OpType::Reduction => return true,
                OpType::Matmul | OpType::Opaque => {}
                _ if near.len() <= MOST_OPS && !near.contains(&op) => near.push(op),
                _ => {}
            }
        }
        at += 1;
    }
    false
}

/// The exception to one matmul per kernel, where it may apply: it needs a term that a newcomer does
/// not know.
fn matmul_exception(graph: &Graph, reason: &Reason) -> &'static str {
    match reason {
        // The pair itself, or one of the two with another matmul.
        &Reason::TwoMatmuls { first, second }
            if [first, second].iter().any(|&matmul| {
                meets_reduction(&graph.predecessors, graph, matmul)
                    || meets_reduction(&graph.successors, graph, matmul)
            }) =>
        {
            " unless it is attention"
        }
        _ => "",
    }
}

/// Why ops do not run as one kernel, as the end of a sentence.
pub fn reason_text(graph: &Graph, reason: &Reason) -> String {
    let later_first =
        matches!(reason, Reason::MatmulAndReduction { matmul, reduction } if reduction < matmul);
    let exception = matmul_exception(graph, reason);
    let after = match *reason {
        Reason::LibraryCall { matmul } => after_call(graph, matmul),
        _ => "",
    };
    match reason.clone().map_ops(|op| quoted_op(graph, op)) {
        Reason::TooManyOps { ops, limit } => beyond_limit("have", ops, "ops", limit),
        Reason::TwoMatmuls { first, second } => {
            format!(
                "a kernel runs at most one matmul{exception}, and fused they would run {first} and {second}"
            )
        }
        Reason::MatmulAndReduction { matmul, reduction } if later_first => format!(
            "the reduction {reduction} works in whole rows, the matmul {matmul} works in tiles, and no kernel does both"
        ),
        Reason::MatmulAndReduction { matmul, reduction } => format!(
            "the matmul {matmul} works in tiles and never holds the whole row that the reduction {reduction} needs"
        ),
        Reason::Opaque { opaque } => {
            format!("{opaque} is a library or unknown kernel, which takes no other op")
        }
        Reason::MatmulStarts { matmul, before } => {
            format!("a matmul starts its kernel, and {before} comes before {matmul}")
        }
        Reason::TooManyReductions { reductions, limit } => {
            beyond_limit("have", reductions, "reductions", limit)
        }
        Reason::RowDomains {
            reduction,
            rows,
            other,
            other_rows,
        } => format!(
            "the reduction {reduction} works on {}, and {other} on {}",
            rows_text(rows),
            rows_text(other_rows)
        ),
        Reason::MixesRows { reduction, reshape } => format!(
            "{reshape} moves elements between the rows of {reduction}"
        ),
        Reason::ReductionEnds { reduction, after } => {
            format!("a reduction ends its kernel, and {after} comes after {reduction}")
        }
        Reason::OnChip {
            reduction,
            values,
            needed_bytes,
            available_bytes,
        } => format!(
            "while {reduction} runs, a row of each of {values} tensors must stay on chip: {}, and a block has {}",
            format_bytes(needed_bytes),
            format_bytes(available_bytes)
        ),
        Reason::TooManyOperands { operands, limit } => {
            beyond_limit("read and write", operands, "tensors", limit)
        }
        Reason::NotConnected { first, second } => {
            format!("no tensor connects {first} and {second} inside the kernel")
        }
        Reason::Overwrites { write, reader } => format!(
            "{write} overwrites in place what {reader} reads, and blocks of one kernel do not wait for each other"
        ),
        Reason::EndsBeforeWrite { write, reader } => format!(
            "{write} overwrites in place what {reader} reads, so the kernel of {reader} must end before {write}"
        ),
        Reason::Cycle { path } => {
            format!("the kernel would wait for itself: {}", path.join(" → "))
        }
        Reason::UnknownConsumer => {
            "an op of unknown shape also reads the tensor, so the rules write it to memory".to_owned()
        }
        Reason::AnotherConsumer { consumer } => {
            format!("{consumer} also reads the tensor, so the rules write it to memory")
        }
        Reason::TooManyNodes { nodes, limit } => beyond_limit("have", nodes, "nodes", limit),
        Reason::LibraryCall { matmul } => {
            format!("torch.compile calls a library for the matmul {matmul}, and the call takes no op before it, and {after}")
        }
        Reason::FusedAttention { op } => {
            format!("{op} runs in fused attention, a library kernel that takes no op before it, and only views after it")
        }
        Reason::Loops { first, second } => {
            format!("one kernel is {}, the other is {}", loop_text(first), loop_text(second))
        }
        Reason::Reordered => {
            "the reader accesses the buffer in another order than the writer".to_owned()
        }
        Reason::TooLittleShared {
            shared_bytes,
            places,
        } => format!(
            "neither reads what the other writes, and they share only {} at a distance of {places} kernels",
            format_bytes(shared_bytes)
        ),
        Reason::KeepsMemory {
            kept_elements,
            shared_bytes,
        } => format!(
            "fusing would save {}, but it would keep buffers of {} elements live at once, while separate kernels can reuse the same memory for them",
            format_bytes(shared_bytes),
            format_exact(kept_elements.into())
        ),
        Reason::Between { through } => format!("{through} must run between them"),
        Reason::TooFar { places } => {
            format!("{places} kernels lie between them, too many to reorder")
        }
        Reason::NotCompared => "the compiler never compares these kernels: it compares each kernel only with the next few that access a common buffer in the same order".to_owned(),
        Reason::TooManyCycles { rounds } => format!(
            "the marked kernels still form cycles after {rounds} rounds of splitting, so every kernel is split"
        ),
        Reason::NotStated => "this kernel is legal, but no `@kernel` mark merges it".to_owned(),
        Reason::NotWorthIt => "this kernel is legal, but saves nothing".to_owned(),
        Reason::NotLookedAt => "this kernel is legal, but the policy does not try it".to_owned(),
    }
}

fn beyond_limit(verb: &str, count: usize, things: &str, limit: usize) -> String {
    let [count, limit] = [count, limit].map(format_count);
    format!("the kernel would {verb} {count} {things}, and {limit} is the limit")
}

fn rows_text(rows: RowDomain) -> String {
    let stride = match rows.stride {
        1 => String::new(),
        0 => " along several axes".to_owned(),
        stride => format!(" with a stride of {stride}"),
    };
    format!("{} rows of {} elements{stride}", rows.rows, rows.width)
}

fn loop_text(space: Loop) -> String {
    let count = |elements: u64| format_exact(elements.into());
    match space {
        Loop::Library => "a library call".to_owned(),
        Loop::Template(elements) => format!("a matmul of {} elements", count(elements)),
        Loop::Pointwise(elements) => format!("a loop over {} elements", count(elements)),
        Loop::Reduction { rows, width, .. } => {
            format!(
                "a reduction of {} rows of {} elements",
                count(rows),
                count(width)
            )
        }
    }
}

/// A kernel mark as code; its number can differ from that in the pictures.
pub fn stated_kernel(kernel: u32) -> String {
    format!("`@kernel {kernel}`")
}

/// All diagnostics of a text in text order: the parser's, those of the analysis, and those of
/// stated kernels.
pub fn all_diagnostics(parsed: &Parsed, outcome: &Outcome) -> Vec<Diagnostic> {
    let mut of_analysis = outcome.diagnostics.clone();
    of_analysis.extend(refused_kernels(&parsed.program, outcome));
    merged(parsed.diagnostics.clone(), of_analysis)
}

/// Diagnostics for the stated kernels of `program` that are not legal.
pub fn refused_kernels(program: &Program, outcome: &Outcome) -> Vec<Diagnostic> {
    let Some(analysis) = &outcome.analysis else {
        return Vec::new();
    };
    let mut explained = HashSet::new();
    let mut finding = |refused: &Refused| {
        let &statement = outcome.statement_of_op.get(refused.op)?;
        if program.block_of_op(statement).is_some()
            && !explained.insert((statement, refused.kernel))
        {
            // The diagnostic of another iteration already reports the kernel.
            return None;
        }
        let op = program.ops.get(statement);
        let message = format!(
            "{} is not legal: {}",
            stated_kernel(refused.kernel),
            reason_text(&analysis.graph, &refused.reason)
        );
        Some(Diagnostic {
            span: op.map(|op| op.kernel.map_or(op.span, |kernel| kernel.span)),
            ..Diagnostic::warning(Code::IllegalKernel, message)
                .hint("it runs as several kernels; give some of its ops another number, or none")
                .about(statement)
        })
    };
    analysis.refused.iter().filter_map(&mut finding).collect()
}
