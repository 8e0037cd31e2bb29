//! Attention as one kernel or as its ops, whichever costs less.
//!
//! The search runs on the graph in which each attention is one op, and on the graph as it is. Ops
//! that share a region in either graph, and the ops of an attention, form a block; no kernel
//! reaches from one block into another, whichever attentions are one op. So the better of both
//! results counts for each block, and where a block has one attention this is the optimum over all
//! choices.

use super::bound::Bound;
use super::regions::{RegionId, regions};
use super::solve::SolvedRegion;
use super::solver::{Solver, clock};
use super::start::partitions_of_policies;
use super::{Sum, chosen};
use crate::disjoint_sets::DisjointSets;
use crate::fusion::attention::{Attention, RewrittenGraph};
use crate::fusion::certificate::{Certificate, CertificateScope};
use crate::fusion::decision::{Decision, Log};
use crate::fusion::none;
use crate::fusion::region::{Clock, Cost, Region, RegionContext};
use crate::model::acyclic;
use crate::model::adjacency::Adjacency;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::{MAX_OPS, Options};
use crate::model::partition::Partition;

/// Searches the cheapest partition of `graph`, of which `rewritten` has `attentions` as one op
/// each. Where `graph` itself could cost less, it is searched with the budget that the other search
/// leaves.
pub(in crate::fusion) fn partition_with_attention(
    graph: &Graph,
    options: &Options,
    attentions: &[Attention],
    rewritten: &RewrittenGraph,
    log: &mut Log,
) -> (Partition, Certificate) {
    let plain = RegionContext::new(graph, options);
    let one_op = RegionContext::new(&rewritten.graph, options);
    let (of_plain, of_one_op) = (regions(&plain), regions(&one_op));
    let mut blocks = Blocks::new(graph, rewritten, attentions, [&of_plain, &of_one_op]);

    let clock = clock(&plain);
    // The graph with attention as one op comes first: it is smaller, and its costs show below which
    // blocks the other form cannot be cheaper.
    let known = partitions_of_policies(&one_op);
    let mut first = Solver::new(&one_op, &known, clock, options.fusion.budget_states);
    let mut found = first.solve_all(of_one_op.iter());
    for region in &mut found {
        for op in &mut region.ops {
            *op = rewritten.original(*op);
        }
        blocks.add(region, |block| &mut block.one_op);
    }

    let to_search = blocks.worth_searching(&plain, &of_plain, clock);
    // Planning with the other policies takes linear time, which is wasted where nothing is
    // searched.
    let known = if to_search.is_empty() {
        Vec::new()
    } else {
        Vec::from(partitions_of_policies(&plain))
    };
    let mut second = Solver::new(&plain, &known, clock, first.budget);
    for region in second.solve_all(to_search.into_iter()) {
        blocks.add(&region, |block| &mut block.plain);
        found.push(region);
    }
    blocks.choose();

    let partition = blocks.partition(&first.kernel_of, &second.kernel_of);
    if log.is_on() {
        for attention in attentions.iter().filter(|a| blocks.is_one_op(&a.ops)) {
            let ops = attention.ops.clone();
            log.note(Decision::Rewritten { ops });
        }
        for region in &found {
            log.note(region.decision());
        }
        for ops in partition.kernels.iter() {
            log.note(if blocks.is_one_op(ops) {
                let mut there: Vec<OpId> = ops.iter().map(|&op| rewritten.op_of[op]).collect();
                there.sort_unstable();
                there.dedup();
                chosen(&one_op, clock, ops, &there)
            } else {
                chosen(&plain, clock, ops, ops)
            });
        }
    }
    let states = first.states + second.states;
    let sum = blocks.sum();
    let certificate = Certificate {
        scope: blocks.scope(),
        ..sum.certificate(options.fusion.objective, clock, states, found.len())
    };
    (partition, certificate)
}

/// Ops whose kernels are chosen together.
#[derive(Clone, Copy, Default)]
struct Block {
    attentions: usize,
    /// With every attention as one op.
    one_op: Costs,
    /// With the ops of every attention; without a cost if the bound says that it does not pay.
    plain: Costs,
    is_searched: bool,
    is_one_op: bool,
}

/// The cost of the kernels of a block, and a lower bound on it.
#[derive(Clone, Copy, Default)]
struct Costs {
    cost: Cost,
    lower_bound: Cost,
}

/// The blocks of a program.
struct Blocks<'a> {
    graph: &'a Graph,
    rewritten: &'a RewrittenGraph,
    /// For each op the first op of its block.
    block_of: IdVec<OpId, OpId>,
    /// Each block at the index of its first op.
    all: IdVec<OpId, Block>,
}

impl<'a> Blocks<'a> {
    fn new(
        graph: &'a Graph,
        rewritten: &'a RewrittenGraph,
        attentions: &[Attention],
        [plain, one_op]: [&Adjacency<RegionId, OpId>; 2],
    ) -> Self {
        let mut sets = DisjointSets::new(graph.ops.len());
        let mut join = |a: OpId, b: OpId| {
            let (a, b) = (sets.root(a), sets.root(b));
            sets.unite(a.min(b), a.max(b));
        };
        // A chain of unions: ops of a region ascend, so joining neighbours joins all of them.
        for ops in plain.iter() {
            for (&op, &next) in ops.iter().zip(ops.iter().skip(1)) {
                join(op, next);
            }
        }
        for ops in one_op.iter() {
            for (&op, &next) in ops.iter().zip(ops.iter().skip(1)) {
                join(rewritten.original(op), rewritten.original(next));
            }
        }
        for (op, &one) in rewritten.op_of.iter_enumerated() {
            join(op, rewritten.original(one));
        }
        let block_of = sets.roots();
        let mut blocks = IdVec::from_elem(Block::default(), graph.ops.len());
        for &op in attentions.iter().filter_map(|a| a.ops.first()) {
            blocks[block_of[op]].attentions += 1;
        }
        Self {
            graph,
            rewritten,
            block_of,
            all: blocks,
        }
    }

    /// The block that holds these ops.
    fn of(&self, ops: &[OpId]) -> Option<&Block> {
        ops.first().map(|&op| &self.all[self.block_of[op]])
    }

    fn is_one_op(&self, ops: &[OpId]) -> bool {
        self.of(ops).is_some_and(|block| block.is_one_op)
    }

    fn add(&mut self, region: &SolvedRegion, costs: impl Fn(&mut Block) -> &mut Costs) {
        if let Some(&op) = region.ops.first() {
            let sum = costs(&mut self.all[self.block_of[op]]);
            sum.cost = sum.cost.plus(region.solved.cost);
            sum.lower_bound = sum.lower_bound.plus(region.solved.lower_bound);
        }
    }

    /// The regions of the graph as it is in the blocks where they could cost less than with
    /// attention as one op.
    fn worth_searching<'r>(
        &mut self,
        plain: &RegionContext<'_>,
        regions: &'r Adjacency<RegionId, OpId>,
        clock: Clock,
    ) -> Vec<&'r [OpId]> {
        let mut all: Vec<&[OpId]> = regions.iter().collect();
        all.retain(|ops| self.of(ops).is_some_and(|block| block.attentions > 0));
        for ops in &all {
            if let Some(&op) = ops.first() {
                let bound = &mut self.all[self.block_of[op]].plain.lower_bound;
                *bound = bound.plus(least(plain, ops, clock));
            }
        }
        // The bound is only replaced where a search follows: `add` then sums costs from zero.
        for block in self.all.iter_mut().filter(|block| block.attentions > 0) {
            block.is_searched = block.plain.lower_bound < block.one_op.cost;
            if block.is_searched {
                block.plain = Costs::default();
            }
        }
        all.retain(|ops| self.of(ops).is_some_and(|block| block.is_searched));
        all
    }

    fn choose(&mut self) {
        for block in &mut self.all {
            block.is_one_op = !block.is_searched || block.one_op.cost <= block.plain.cost;
        }
    }

    /// The kernels of the cheaper choices, given those of both searches.
    fn partition(
        &mut self,
        one_op: &IdVec<OpId, KernelId>,
        plain: &IdVec<OpId, KernelId>,
    ) -> Partition {
        // Kernels are identified by one of their ops.
        let of_one_op = |op: OpId| {
            let first = OpId::new(one_op[self.rewritten.op_of[op]].index());
            KernelId::of_lone_op(self.rewritten.original(first))
        };
        let ops = self.graph.ops.ids();
        let best = ops.clone().map(|op| {
            if self.is_one_op(&[op]) {
                of_one_op(op)
            } else {
                plain[op]
            }
        });
        if let Ok(partition) = acyclic::in_order(self.graph, &best.collect()) {
            return partition;
        }
        // Blocks of both kinds can need each other. Those of one kind cannot.
        let one_kind = acyclic::in_order(self.graph, &ops.map(of_one_op).collect());
        for block in &mut self.all {
            block.is_one_op = true;
        }
        one_kind.unwrap_or_else(|_| none::partition(self.graph))
    }

    fn sum(&self) -> Sum {
        let mut sum = Sum::default();
        for op in self.graph.ops.ids().filter(|&op| self.block_of[op] == op) {
            let block = self.all[op];
            let costs = if block.is_one_op {
                block.one_op
            } else {
                block.plain
            };
            // The optimum may have either form, so only the smaller of both bounds holds for it.
            let bound = if block.attentions == 0 {
                costs.lower_bound
            } else {
                block.one_op.lower_bound.min(block.plain.lower_bound)
            };
            sum.add(costs.cost, bound.min(costs.cost));
        }
        sum
    }

    fn scope(&self) -> CertificateScope {
        if self.all.iter().all(|block| block.attentions <= 1) {
            CertificateScope::AttentionAllowed
        } else {
            CertificateScope::AttentionAllOrNone
        }
    }
}

/// A lower bound on the cost of a region without a search; 0 for one of more than 64 ops.
fn least(context: &RegionContext<'_>, ops: &[OpId], clock: Clock) -> Cost {
    // No word holds these ops. Zero is a valid bound, and leads to a search.
    if ops.len() > MAX_OPS {
        return Cost::default();
    }
    let region = Region::of(context, ops);
    Bound::new(&region, clock).of(region.all())
}
