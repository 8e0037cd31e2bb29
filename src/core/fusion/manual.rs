//! Policy `manual`: the visitor's own kernels, stated as `@kernel 3` behind a statement.
//!
//! The same legality holds as for every other kernel. What it refuses is said, and falls apart into legal
//! pieces, so the page goes on.

use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::legality::check_in;
use crate::core::fusion::none;
use crate::core::fusion::pieces::take_apart;
use crate::core::fusion::reason::Reason;
use crate::core::fusion::region::{Region, RegionContext};
use crate::core::model::acyclic;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::options::MAX_OPS;
use crate::core::model::partition::Partition;

/// Kernels that need each other are looked for so many times; then every kernel falls apart.
const CYCLES: usize = 64;

/// A stated kernel that is not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its first op.
    pub op: OpId,
    /// Its number in the text.
    pub kernel: u32,
    /// Why.
    pub reason: Reason,
}

/// Ops of one number are one kernel, ops without a number run alone.
///
/// `O(ops log ops + reads)` beside the kernels that fall apart.
pub(super) fn partition(context: &RegionContext<'_>, log: &mut Log) -> (Partition, Vec<Refused>) {
    let graph = context.graph;
    // The number of its first op stands for a kernel.
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
                    take_apart(&region, region.all(), &mut pieces);
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
        // Every kernel on the way round that holds more than one op; in the last round, every kernel.
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

/// The stated kernels with their ops ascending.
fn stated(context: &RegionContext<'_>) -> Vec<(u32, Vec<OpId>)> {
    let ops = context.graph.ops.iter_enumerated();
    let mut stated: Vec<(u32, OpId)> = ops
        .filter_map(|(op, definition)| Some((definition.kernel?, op)))
        .collect();
    stated.sort_unstable();
    let mut kernels: Vec<(u32, Vec<OpId>)> = Vec::new();
    for (kernel, op) in stated {
        match kernels.last_mut() {
            Some((last, ops)) if *last == kernel => ops.push(op),
            _ => kernels.push((kernel, vec![op])),
        }
    }
    kernels
}

/// Makes these ops one kernel.
fn join(kernel_of: &mut IdVec<OpId, KernelId>, ops: &[OpId]) {
    if let Some(&first) = ops.first() {
        for &op in ops {
            kernel_of[op] = KernelId::of_lone_op(first);
        }
    }
}
