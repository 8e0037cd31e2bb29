//! Partitions in the tests of the search: their cost, whether they can run, and the best of all.

use crate::ids::ops_of_set;
use crate::random_graph::small_device;
use fuseline_core::cost::roofline::place;
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::cost::work::op_work;
use fuseline_core::fusion::certificate::Certificate;
use fuseline_core::fusion::legality;
use fuseline_core::model::work::Work;
use fuseline_core::{
    Conventions, FusionOptions, Graph, IdVec, KernelId, Objective, Op, OpId, OpType, Options,
    Partition, Policy, ReshapeCost, plan,
};
use proptest::prelude::*;
use strum::VariantArray;

/// The lowest cost of any acyclic partition into legal groups, and the lowest other cost that a
/// partition of this cost has. Convexity is not assumed: groups are all legal subsets, and every
/// partition is ordered or rejected.
pub(crate) fn brute_force(graph: &Graph, options: &Options) -> (f64, f64) {
    let count = graph.ops.len();
    let cost: Vec<Option<(f64, f64)>> = (0..1_usize << count)
        .map(|set| {
            let ops = ops_of_set(set);
            let is_legal = !ops.is_empty() && legality::check(graph, options, &ops).is_ok();
            is_legal.then(|| costs_of_group(graph, options, &ops))
        })
        .collect();
    let before: Vec<usize> = (graph.predecessors.iter())
        .map(|before| before.iter().fold(0, |set, p| set | 1 << p.index()))
        .collect();
    let all = (1 << count) - 1;
    let groups = &mut Vec::new();
    let firsts: Vec<_> = (cost.iter().map(|c| c.map(|c| (c.0, 0.0)))).collect();
    let mut least = f64::INFINITY;
    try_all(
        &firsts,
        &before,
        all,
        (0.0, 0.0),
        groups,
        &mut |(first, _), is_whole| {
            let is_better = first < least;
            if is_whole && is_better {
                least = first;
            }
            is_better
        },
    );
    let mut other = f64::INFINITY;
    try_all(
        &cost,
        &before,
        all,
        (0.0, 0.0),
        groups,
        &mut |(first, second), is_whole| {
            let is_better = (first <= least || is_close(first, least)) && second < other;
            if is_whole && is_better {
                other = second;
            }
            is_better
        },
    );
    (least, other)
}

/// Tells `visit` the costs of each partition and of its first groups, and goes on while it says so.
fn try_all(
    cost: &[Option<(f64, f64)>],
    before: &[usize],
    left: usize,
    spent: (f64, f64),
    groups: &mut Vec<usize>,
    visit: &mut impl FnMut((f64, f64), bool) -> bool,
) {
    let is_whole = left == 0;
    if is_whole {
        if can_run(before, groups) {
            visit(spent, true);
        }
        return;
    }
    if !visit(spent, false) {
        return;
    }
    let lowest = left & left.wrapping_neg();
    let others = left & !lowest;
    let mut rest = others;
    loop {
        let group = lowest | rest;
        if let Some(costs) = cost[group] {
            groups.push(group);
            let spent = (spent.0 + costs.0, spent.1 + costs.1);
            try_all(cost, before, left & !group, spent, groups, visit);
            groups.pop();
        }
        if rest == 0 {
            break;
        }
        rest = (rest - 1) & others;
    }
}

fn can_run(before: &[usize], groups: &[usize]) -> bool {
    let mut waiting = groups.to_vec();
    let mut done = 0;
    while !waiting.is_empty() {
        let count = waiting.len();
        waiting.retain(|&group| {
            let needs = (0..before.len())
                .filter(|op| group >> op & 1 == 1)
                .fold(0, |needs, op| needs | before[op]);
            let runs = needs & !(done | group) == 0;
            if runs {
                done |= group;
            }
            !runs
        });
        if waiting.len() == count {
            return false;
        }
    }
    true
}

/// Bytes or seconds of one group by the objective, and the other of the two, counted by the
/// analysis with every other op alone.
pub(crate) fn costs_of_group(graph: &Graph, options: &Options, ops: &[OpId]) -> (f64, f64) {
    let kernel_of = |op: OpId| KernelId::new(if ops.contains(&op) { 0 } else { op.index() + 1 });
    let kernels = graph.ops.ids().map(kernel_of).collect();
    let partition = Partition::of_ops(kernels, graph.ops.len() + 1);
    let traffic = kernel_traffic(graph, &partition, options.conventions)
        .next()
        .unwrap();
    let bytes = traffic.total();
    let work = ops
        .iter()
        .fold(Work::default(), |sum, &op| sum.and(op_work(graph, op)));
    let is_free = options.conventions.reshape == ReshapeCost::View
        && ops.iter().all(|&op| graph.ops[op].is_view());
    let time_s = place(options, work, bytes, is_free).time_s;
    match options.fusion.objective {
        Objective::Bytes => (bytes as f64, time_s),
        Objective::Time | Objective::Measured => (time_s, bytes as f64),
    }
}

/// Costs of a partition, counted by the analysis.
pub(crate) fn costs_of(graph: &Graph, options: &Options, partition: &Partition) -> (f64, f64) {
    let costs = (partition.kernels.iter()).map(|ops| costs_of_group(graph, options, ops));
    costs.fold((0.0, 0.0), |sum, costs| (sum.0 + costs.0, sum.1 + costs.1))
}

/// Cost of a partition by the objective, counted by the analysis.
pub(crate) fn cost_of(graph: &Graph, options: &Options, partition: &Partition) -> f64 {
    costs_of(graph, options, partition).0
}

pub(crate) fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

pub(crate) fn optimum(graph: &Graph, options: &Options) -> (Partition, Certificate) {
    let plan = plan(graph, options);
    (plan.partition, plan.certificate.unwrap())
}

pub(crate) fn choices() -> impl Strategy<Value = Options> {
    (
        prop::sample::select(Objective::VARIANTS),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::sample::select(vec![2_usize, 4, 64]),
        prop::sample::select(vec![40_u64, 80, 100_000]),
        prop::sample::select(ReshapeCost::VARIANTS),
    )
        .prop_map(
            |(objective, horizontal, prologue, after_reductions, max_ops, on_chip, reshape)| {
                Options {
                    policy: Policy::Optimal,
                    fusion: FusionOptions {
                        objective,
                        horizontal,
                        prologue,
                        after_reductions,
                        max_ops,
                        ..FusionOptions::default()
                    },
                    conventions: Conventions {
                        reshape,
                        ..Conventions::default()
                    },
                    device: small_device(on_chip),
                    own_calibrations: None,
                }
            },
        )
}

/// Whether all groups are legal kernels and none recomputes an op.
pub(crate) fn is_legal(graph: &Graph, options: &Options, partition: &Partition) -> bool {
    let mut groups = partition.kernels.iter();
    let recomputes_nothing = partition.recomputed.iter().all(<[OpId]>::is_empty);
    recomputes_nothing && groups.all(|ops| legality::check(graph, options, ops).is_ok())
}

pub(crate) fn runs_in_order(graph: &Graph, partition: &Partition) -> bool {
    let mut ran = IdVec::from_elem(false, graph.ops.len());
    partition.kernels.iter().all(|ops| {
        for &op in ops {
            ran[op] = true;
        }
        ops.iter()
            .all(|&op| graph.predecessors[op].iter().all(|&before| ran[before]))
    }) && ran.into_iter().all(|ran| ran)
}

/// An op whose tensors all have the same size.
pub(crate) fn elementwise(name: &str, inputs: &[&str]) -> Op {
    Op::new(name, OpType::Elementwise, inputs, name, &[1024], 2)
}

/// Options with this budget.
pub(crate) fn with_budget(options: &Options, budget_states: usize) -> Options {
    let mut options = options.clone();
    options.fusion.budget_states = budget_states;
    options
}

/// Adds of two earlier values within `reach`, so that every cut crosses some edges.
pub(crate) fn adds(picks: &[(usize, usize)], reach: usize) -> Vec<Op> {
    let names: Vec<String> = (0..picks.len()).map(|op| format!("t{op}")).collect();
    let name = |op: usize, pick: usize| match op.checked_sub(pick % reach + 1) {
        Some(back) => names[back].as_str(),
        None => "x",
    };
    let each = picks.iter().enumerate();
    let add = |(op, &(a, b)): (usize, &(usize, usize))| {
        elementwise(&names[op], &[name(op, a), name(op, b)])
    };
    each.map(add).collect()
}
