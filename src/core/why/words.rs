//! Reasons in words for people, all of them here.

use super::{Reason, Verdict};
use crate::core::format::{format_bytes, format_seconds};
use crate::core::fusion::legality::{self, RowDomain};
use crate::core::fusion::record::refusal_in_words;
use crate::core::graph::{Graph, OpId};

/// The verdict in a sentence or two.
pub fn sentence(graph: &Graph, verdict: &Verdict) -> String {
    let Verdict::Apart { reason, price } = verdict else {
        return "They run in one kernel.".to_owned();
    };
    let reason_words = in_words(graph, reason);
    // What cannot run, or has nothing in common, has no price that says anything.
    if let Reason::Illegal(legality::Reason::Cycle { .. } | legality::Reason::NotConnected { .. }) =
        reason
    {
        return format!("Apart: {reason_words}.");
    }
    let verb = |is_saved: bool| if is_saved { "save" } else { "cost" };
    let (saves_bytes, saves_time) = (price.saved_bytes >= 0, price.saved_s >= 0.0);
    let joint = if saves_bytes == saves_time {
        "and".to_owned()
    } else {
        format!("but {}", verb(saves_time))
    };
    format!(
        "Apart: {reason_words}. Fusing them alone would {} {} {joint} {}.",
        verb(saves_bytes),
        format_bytes(price.saved_bytes.unsigned_abs()),
        format_seconds(price.saved_s.abs())
    )
}

/// Why two ops run in two kernels, as the end of a sentence.
pub fn in_words(graph: &Graph, reason: &Reason) -> String {
    match reason {
        Reason::Illegal(reason) => reason_in_words(graph, reason),
        Reason::AnotherConsumer { consumer } => format!(
            "{} reads the tensor as well, so the rules write it to memory",
            op_name(graph, *consumer)
        ),
        Reason::Refused(refusal) => refusal_in_words(graph, refusal),
        Reason::NotCompared => "the compiler never compares their kernels: it looks at kernels that go through a common buffer in the same order, each with the next few that do".to_owned(),
        Reason::NotWorthIt => "it is allowed, but does not pay".to_owned(),
        Reason::NotLookedAt => "it is allowed, but this policy does not try it".to_owned(),
        Reason::NotStated => "it is allowed, but the text does not ask for it".to_owned(),
    }
}

/// Why ops may not be one kernel, as the end of a sentence.
pub fn reason_in_words(graph: &Graph, reason: &legality::Reason) -> String {
    use legality::Reason as R;
    let name = |op: &OpId| op_name(graph, *op);
    match reason {
        R::TooManyOps { ops, limit } => {
            format!("the kernel would have {ops} ops, and {limit} is the limit")
        }
        R::TwoMatmuls { first, second } => format!(
            "a kernel runs one matmul, and this would run {} and {}",
            name(first),
            name(second)
        ),
        R::MatmulAndReduction { matmul, reduction } if reduction < matmul => format!(
            "the reduction {} works in whole rows and the matmul {} in tiles, and no kernel does both",
            name(reduction),
            name(matmul)
        ),
        R::MatmulAndReduction { matmul, reduction } => format!(
            "the matmul {} works in tiles and never sees the whole row that the reduction {} needs",
            name(matmul),
            name(reduction)
        ),
        R::MatmulStarts { matmul, before } => format!(
            "the matmul {} starts its kernel, and {} comes before it",
            name(matmul),
            name(before)
        ),
        R::TooManyReductions { reductions, limit } => {
            format!("the kernel would have {reductions} reductions, and {limit} is the limit")
        }
        R::RowDomains {
            reduction,
            rows,
            other,
            other_rows,
        } => format!(
            "the reduction {} goes over {}, {} over {}",
            name(reduction),
            rows_in_words(*rows),
            name(other),
            rows_in_words(*other_rows)
        ),
        R::MixesRows { reduction, reshape } => format!(
            "{} moves elements between the rows of {} half-way through the kernel",
            name(reshape),
            name(reduction)
        ),
        R::ReductionEnds { reduction, after } => format!(
            "the reduction {} ends its kernel, and {} comes after it",
            name(reduction),
            name(after)
        ),
        R::OnChip {
            reduction,
            values,
            needed_bytes,
            available_bytes,
        } => format!(
            "{values} values of each row wait on chip while {} ends: {}, and a block holds {}",
            name(reduction),
            format_bytes(*needed_bytes),
            format_bytes(*available_bytes)
        ),
        R::TooManyOperands { operands, limit } => {
            format!("the kernel would read and write {operands} tensors, and {limit} is the limit")
        }
        R::NotConnected { first, second } => format!(
            "no tensor ties {} to {} inside the kernel",
            name(first),
            name(second)
        ),
        R::Cycle { path } => {
            let names: Vec<String> = path.iter().map(name).collect();
            format!("the kernel would wait for itself: {}", names.join(" → "))
        }
    }
}

fn rows_in_words(rows: RowDomain) -> String {
    let apart = match rows.stride {
        1 => String::new(),
        0 => ", along several axes".to_owned(),
        stride => format!(", {stride} elements apart"),
    };
    format!("{} rows of {}{apart}", rows.rows, rows.width)
}

/// The op's name, marked as one.
pub(in crate::core) fn op_name(graph: &Graph, op: OpId) -> String {
    let name = graph.ops.get(op).map_or("?", |op| op.name.as_str());
    format!("`{name}`")
}
