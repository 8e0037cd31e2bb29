//! Policy `manual`: the kernels that the text states by marks such as `@kernel 3`. In a block a
//! mark holds in one iteration. On top of another policy, marks merge kernels of that policy.
//!
//! They must be legal like all other kernels. An illegal one is reported and split into legal
//! pieces, so that there is always a result.

use crate::fusion::decision::{Decision, Log};
use crate::fusion::legality::check_in;
use crate::fusion::none;
use crate::fusion::pieces::{join, split_into_pieces};
use crate::fusion::reason::Reason;
use crate::fusion::region::{Region, RegionContext};
use crate::model::acyclic;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::MAX_OPS;
use crate::model::partition::Partition;
use borsh::{BorshDeserialize, BorshSerialize};

/// Most rounds of splitting kernels that form a cycle; then every kernel is split.
const CYCLES: usize = 64;

/// A stated kernel that is not legal.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Refused {
    /// Its first op.
    pub op: OpId,
    /// Its number in the text.
    pub kernel: u32,
    /// Why.
    pub reason: Reason,
}

/// Ops with the same mark are one kernel; an op without a mark is a kernel of its own.
///
/// `O(ops log ops + reads)`, without the splitting of illegal kernels.
pub(super) fn partition(context: &RegionContext<'_>, log: &mut Log) -> (Partition, Vec<Refused>) {
    let graph = context.graph;
    // A kernel is identified by its first op.
    let mut kernel_of: IdVec<OpId, KernelId> = graph.ops.ids().map(KernelId::of_lone_op).collect();
    let mut refused = Vec::new();
    let mut refuse = |ops: &[OpId], kernel: u32, reason: Reason, log: &mut Log| {
        if let Some(&op) = ops.first() {
            let reason = reason.clone();
            refused.push(Refused { op, kernel, reason });
        }
        log.refuse(ops, reason);
    };
    for (kernel, ops) in stated(context) {
        match check_in(context, &ops) {
            Ok(()) => join(&mut kernel_of, &ops),
            Err(reason) => {
                refuse(&ops, kernel, reason, log);
                for window in ops.chunks(MAX_OPS) {
                    let region = Region::of(context, window);
                    let mut pieces = Vec::new();
                    split_into_pieces(&region, region.all(), &mut pieces);
                    for piece in pieces {
                        join(&mut kernel_of, &region.ops_of(piece));
                    }
                }
            }
        }
    }
    let mut partition = acyclic::in_order(graph, &kernel_of);
    for round in 1..=CYCLES {
        let Err(path) = &partition else {
            break;
        };
        // Every kernel of the cycle with more than one op; in the last round, every kernel.
        let mut kernels: Vec<KernelId> = match round {
            CYCLES => kernel_of.as_slice().to_vec(),
            _ => path.iter().map(|&op| kernel_of[op]).collect(),
        };
        kernels.sort_unstable();
        kernels.dedup();
        let members = Partition::of_ops(kernel_of.clone(), kernel_of.len()).kernels;
        for kernel in kernels {
            let ops = &members[kernel];
            if let &[first, _, ..] = ops
                && let Some(kernel) = graph.ops[first].kernel
            {
                let reason = match round {
                    CYCLES => Reason::TooManyCycles { rounds: CYCLES },
                    _ => Reason::Cycle { path: path.clone() },
                };
                refuse(ops, kernel, reason, log);
                for &op in ops {
                    kernel_of[op] = KernelId::of_lone_op(op);
                }
            }
        }
        partition = acyclic::in_order(graph, &kernel_of);
    }
    let partition = partition.unwrap_or_else(|_| none::partition(graph));
    if log.is_on() {
        for ops in partition.kernels.iter() {
            if let Some(&first) = ops.first()
                && let Some(kernel) = graph.ops[first].kernel
            {
                let ops = ops.to_vec();
                log.note(Decision::Accepted { kernel, ops });
            }
        }
    }
    (partition, refused)
}

/// The kernels of another policy, where those that contain ops with one mark are one kernel. A
/// kernel that would not be legal, or would wait for itself, is refused and changes nothing.
///
/// `O(ops log ops + reads)` for each mark.
pub(super) fn merge_marked(
    context: &RegionContext<'_>,
    partition: Partition,
    log: &mut Log,
) -> (Partition, Vec<Refused>) {
    let graph = context.graph;
    let mut merged = partition;
    let mut refused = Vec::new();
    for (kernel, marked) in stated(context) {
        let mut kernels: Vec<KernelId> = marked.iter().map(|&op| merged.kernel_of[op]).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let &[into, _, ..] = &kernels[..] else {
            continue;
        };
        let own = |&id: &KernelId| merged.kernels[id].iter().copied();
        let mut ops: Vec<OpId> = kernels.iter().flat_map(own).collect();
        ops.sort_unstable();
        let joined = |&id: &KernelId| if kernels.contains(&id) { into } else { id };
        let kernel_of = merged.kernel_of.iter().map(joined).collect();
        let checked = check_in(context, &ops).and_then(|()| {
            acyclic::in_order(graph, &kernel_of).map_err(|path| Reason::Cycle { path })
        });
        match checked {
            Ok(ordered) => {
                let number = merged.kernels.iter().map(|ops| {
                    ops.first()
                        .map_or(KernelId::new(0), |&op| ordered.kernel_of[op])
                });
                let number: IdVec<KernelId, KernelId> = number.collect();
                log.renumber(|kernel| number[kernel]);
                log.note(Decision::Accepted { kernel, ops });
                merged = merged.renumbered(&number, ordered.kernels.len());
            }
            Err(reason) => {
                if let Some(&op) = ops.first() {
                    let reason = reason.clone();
                    refused.push(Refused { op, kernel, reason });
                }
                log.refuse(&ops, reason);
            }
        }
    }
    (merged, refused)
}

/// The stated kernels with their ops ascending.
fn stated(context: &RegionContext<'_>) -> Vec<(u32, Vec<OpId>)> {
    let ops = context.graph.ops.iter_enumerated();
    let mut stated: Vec<((u32, u32), OpId)> = ops
        .filter_map(|(op, definition)| Some((definition.mark()?, op)))
        .collect();
    stated.sort_unstable();
    let kernels = stated.chunk_by(|(mark, _), (next, _)| mark == next);
    let kernels = kernels.filter_map(|ops| {
        let &((_, kernel), _) = ops.first()?;
        Some((kernel, ops.iter().map(|&(_, op)| op).collect()))
    });
    kernels.collect()
}
