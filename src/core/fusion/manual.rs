//! Policy `manual`: the visitor's own kernels, stated as `@kernel 3` behind a statement.
//!
//! The same legality holds as for every other kernel. What it refuses is said, and falls apart into legal
//! pieces, so the page goes on.
#![allow(
    clippy::indexing_slicing,
    reason = "op and group ids are dense indices of this graph"
)]

use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::legality::check_in;
use crate::core::fusion::none;
use crate::core::fusion::pieces::take_apart;
use crate::core::fusion::reason::Reason;
use crate::core::fusion::region::{Bits, Region, RegionContext};
use crate::core::model::acyclic;
use crate::core::model::graph::OpId;
use crate::core::model::options::MAX_OPS;
use crate::core::model::partition::Partition;

/// Groups that need each other are looked for so many times; then every group falls apart.
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
    let mut group_of: Vec<OpId> = (0..graph.ops.len()).collect();
    let mut refused = Vec::new();
    let mut refuse = |ops: &[OpId], kernel: u32, reason: Reason, log: &mut Log| {
        refused.push(Refused {
            op: ops[0],
            kernel,
            reason: reason.clone(),
        });
        log.refuse(ops, reason);
    };
    for (kernel, ops) in stated(context) {
        match check_in(context, &ops) {
            Ok(()) => join(&mut group_of, &ops),
            Err(reason) => {
                refuse(&ops, kernel, reason, log);
                for window in ops.chunks(MAX_OPS) {
                    let region = Region::of(context, window);
                    let mut pieces = Vec::new();
                    take_apart(&region, region.all(), &mut pieces);
                    for piece in pieces {
                        let ops: Vec<OpId> = Bits(piece).map(|place| window[place]).collect();
                        join(&mut group_of, &ops);
                    }
                }
            }
        }
    }
    let mut partition = acyclic::in_order(graph, &group_of);
    for round in 1..=CYCLES {
        let Err(path) = &partition else {
            break;
        };
        // Every kernel on the way round that holds more than one op; in the last round, every kernel.
        let mut groups: Vec<OpId> = match round {
            CYCLES => group_of.clone(),
            _ => path.iter().map(|&op| group_of[op]).collect(),
        };
        groups.sort_unstable();
        groups.dedup();
        let members = Partition::of_ops(group_of.clone(), group_of.len()).groups;
        for group in groups {
            let ops = &members[group];
            if let (true, Some(kernel)) = (ops.len() > 1, graph.ops[group].kernel) {
                let reason = match round {
                    CYCLES => Reason::TooManyCycles { rounds: CYCLES },
                    _ => Reason::Cycle { path: path.clone() },
                };
                refuse(ops, kernel, reason, log);
                for &op in ops {
                    group_of[op] = op;
                }
            }
        }
        partition = acyclic::in_order(graph, &group_of);
    }
    let partition = partition.unwrap_or_else(|_| none::partition(graph));
    if log.is_on() {
        for ops in partition.groups.iter() {
            if let Some(kernel) = graph.ops[ops[0]].kernel {
                let ops = ops.to_vec();
                log.note(Decision::Accepted { kernel, ops });
            }
        }
    }
    (partition, refused)
}

/// The stated kernels with their ops ascending.
fn stated(context: &RegionContext<'_>) -> Vec<(u32, Vec<OpId>)> {
    let ops = context.graph.ops.iter().enumerate();
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

/// The first op stands for the group.
fn join(group_of: &mut [OpId], ops: &[OpId]) {
    for &op in ops {
        group_of[op] = ops[0];
    }
}
