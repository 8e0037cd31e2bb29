//! Attention as one kernel or as its ops, whichever costs less.
//!
//! The search runs on the graph in which each attention is one op, and on the graph as it is. Ops that share a region in
//! either graph, and the ops of an attention, form a block; no kernel reaches from one block into another, whichever
//! attentions are one op. So the better of both results counts for each block, and where a block has one attention this
//! is the optimum over all choices.

use super::bound::Bound;
use super::regions::regions;
use super::solver::{Solver, clock};
use super::{Sum, chosen};
use crate::core::disjoint_sets::DisjointSets;
use crate::core::fusion::attention::{Attention, RewrittenGraph};
use crate::core::fusion::certificate::{Certificate, Scope};
use crate::core::fusion::decision::{Decision, Log};
use crate::core::fusion::none;
use crate::core::fusion::plan::partitions_to_start_with;
use crate::core::fusion::region::{Clock, Cost, Region, RegionContext};
use crate::core::model::acyclic;
use crate::core::model::adjacency::Adjacency;
use crate::core::model::graph::Graph;
use crate::core::model::ids::{Id, IdVec, KernelId, OpId};
use crate::core::model::options::{MAX_OPS, Options};
use crate::core::model::partition::Partition;

/// Ops that are solved together, by their first op.
#[derive(Clone, Copy, Default)]
struct Block {
    attentions: usize,
    /// With every attention as one op.
    one_op: Costs,
    /// With the ops of every attention; no more than a bound where the search cannot pay.
    plain: Costs,
    is_one_op: bool,
}

/// What kernels cost, and a lower bound.
#[derive(Clone, Copy, Default)]
struct Costs {
    cost: Cost,
    lower_bound: Cost,
}

impl Costs {
    fn add(&mut self, cost: Cost, lower_bound: Cost) {
        self.cost = self.cost.plus(cost);
        self.lower_bound = self.lower_bound.plus(lower_bound);
    }
}

/// Searches the cheapest partition of `graph`, of which `rewritten` has `attentions` as one op each. The graph as it is
/// is searched where it could cost less, with what the other search leaves of the budget.
pub(in crate::core::fusion) fn partition_with_attention(
    graph: &Graph,
    options: &Options,
    attentions: &[Attention],
    rewritten: &RewrittenGraph,
    log: &mut Log,
) -> (Partition, Certificate) {
    let here = RegionContext::new(graph, options);
    let there = RegionContext::new(&rewritten.graph, options);
    let (regions_here, regions_there) = (regions(&here), regions(&there));
    let block_of = blocks(graph, rewritten, &regions_here, &regions_there);
    let first_block = |ops: &[OpId]| ops.first().map(|&op| block_of[op]);
    let mut blocks = IdVec::from_elem(Block::default(), graph.ops.len());
    for block in attentions.iter().filter_map(|a| first_block(&a.ops)) {
        blocks[block].attentions += 1;
    }

    let clock = clock(&here);
    let known = partitions_to_start_with(&there);
    let mut one_op = Solver::new(&there, &known, clock, options.fusion.budget_states);
    let mut solved = one_op.solve_all(regions_there.iter());
    for region in &mut solved {
        for op in &mut region.ops {
            *op = rewritten.original(*op);
        }
        if let Some(block) = first_block(&region.ops) {
            let (cost, bound) = (region.solved.cost, region.solved.lower_bound);
            blocks[block].one_op.add(cost, bound);
        }
    }

    let with_attention =
        |ops: &&[OpId]| first_block(ops).is_some_and(|block| blocks[block].attentions > 0);
    let regions_here: Vec<&[OpId]> = regions_here.iter().filter(with_attention).collect();
    for ops in &regions_here {
        if let Some(block) = first_block(ops) {
            let bound = least(&here, ops, clock);
            blocks[block].plain.add(Cost::default(), bound);
        }
    }
    let mut to_search = IdVec::from_elem(false, blocks.len());
    for (id, block) in blocks.iter_mut().enumerate() {
        let id = OpId::new(id);
        block.is_one_op = block.attentions == 0 || block.plain.lower_bound >= block.one_op.cost;
        to_search[id] = !block.is_one_op;
        if to_search[id] {
            block.plain = Costs::default();
        }
    }
    let searched = |ops: &&&[OpId]| first_block(ops).is_some_and(|block| to_search[block]);
    let regions_here: Vec<&[OpId]> = regions_here.iter().filter(searched).copied().collect();
    let known = if regions_here.is_empty() {
        Vec::new()
    } else {
        Vec::from(partitions_to_start_with(&here))
    };
    let mut plain = Solver::new(&here, &known, clock, one_op.budget);
    for region in plain.solve_all(regions_here.into_iter()) {
        if let Some(block) = first_block(&region.ops) {
            let (cost, bound) = (region.solved.cost, region.solved.lower_bound);
            blocks[block].plain.add(cost, bound);
        }
        solved.push(region);
    }
    for (block, &is_searched) in blocks.iter_mut().zip(&to_search) {
        block.is_one_op |= is_searched && block.one_op.cost <= block.plain.cost;
    }

    let kernel_of = |is_one_op: &dyn Fn(OpId) -> bool| -> IdVec<OpId, KernelId> {
        let kernel = |op: OpId| {
            if is_one_op(op) {
                // Kernels are identified by one of their ops.
                let first = OpId::new(one_op.kernel_of[rewritten.op_of[op]].index());
                KernelId::of_lone_op(rewritten.original(first))
            } else {
                plain.kernel_of[op]
            }
        };
        graph.ops.ids().map(kernel).collect()
    };
    let best = kernel_of(&|op| blocks[block_of[op]].is_one_op);
    let partition = acyclic::in_order(graph, &best).unwrap_or_else(|_| {
        // Blocks of both kinds can need each other. Those of one kind cannot.
        for block in &mut blocks {
            block.is_one_op = true;
        }
        let one_kind = acyclic::in_order(graph, &kernel_of(&|_| true));
        one_kind.unwrap_or_else(|_| none::partition(graph))
    });

    let mut sum = Sum::default();
    for block in block_of.ids().filter(|&op| block_of[op] == op) {
        let Block { one_op, plain, .. } = blocks[block];
        let (cost, bound) = match blocks[block] {
            Block { attentions: 0, .. } => (one_op.cost, one_op.lower_bound),
            block => (
                if block.is_one_op {
                    one_op.cost
                } else {
                    plain.cost
                },
                one_op.lower_bound.min(plain.lower_bound),
            ),
        };
        sum.add(cost, bound.min(cost));
    }
    if log.is_on() {
        let is_one_op = |op: &OpId| blocks[block_of[*op]].is_one_op;
        for attention in attentions {
            if attention.ops.first().is_some_and(is_one_op) {
                let ops = attention.ops.clone();
                log.note(Decision::Rewritten { ops });
            }
        }
        for region in &solved {
            log.note(region.decision());
        }
        for ops in partition.kernels.iter() {
            log.note(if ops.first().is_some_and(is_one_op) {
                let mut ops_there: Vec<OpId> = ops.iter().map(|&op| rewritten.op_of[op]).collect();
                ops_there.sort_unstable();
                ops_there.dedup();
                chosen(&there, clock, ops, &ops_there)
            } else {
                chosen(&here, clock, ops, ops)
            });
        }
    }
    let states = one_op.states + plain.states;
    let certificate = sum.certificate(options.fusion.objective, clock, states, solved.len());
    let certificate = Certificate {
        scope: if blocks.iter().all(|block| block.attentions <= 1) {
            Scope::AttentionAllowed
        } else {
            Scope::AttentionAllOrNone
        },
        ..certificate
    };
    (partition, certificate)
}

/// A lower bound on the cost of a region without a search; 0 for one of more than 64 ops.
fn least(context: &RegionContext<'_>, ops: &[OpId], clock: Clock) -> Cost {
    if ops.len() > MAX_OPS {
        return Cost::default();
    }
    let region = Region::of(context, ops);
    Bound::new(&region, clock).of(region.all())
}

/// For each op the first op of its block.
fn blocks<R: Id>(
    graph: &Graph,
    rewritten: &RewrittenGraph,
    here: &Adjacency<R, OpId>,
    there: &Adjacency<R, OpId>,
) -> IdVec<OpId, OpId> {
    let mut sets = DisjointSets::new(graph.ops.len());
    let mut join = |a: OpId, b: OpId| {
        let (a, b) = (sets.root(a), sets.root(b));
        sets.unite(a.min(b), a.max(b));
    };
    let neighbours = |ops: &[OpId], join: &mut dyn FnMut(OpId, OpId)| {
        for (&op, &next) in ops.iter().zip(ops.iter().skip(1)) {
            join(op, next);
        }
    };
    for ops in here.iter() {
        neighbours(ops, &mut join);
    }
    for ops in there.iter() {
        neighbours(ops, &mut |op, next| {
            join(rewritten.original(op), rewritten.original(next))
        });
    }
    for (op, &one) in rewritten.op_of.iter_enumerated() {
        join(op, rewritten.original(one));
    }
    sets.roots()
}
