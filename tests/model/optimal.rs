//! The optimum against every acyclic legal partition, tried one by one.

use crate::gpt2::gpt2;
use crate::random_graph::{fusable_ops, small_device};
use fuseline::core::fusion::legality;
use fuseline::core::fusion::optimal::{Amount, Certificate};
use fuseline::core::roofline::place;
use fuseline::core::traffic::{is_view, kernel_traffic};
use fuseline::core::work::{Work, op_work};
use fuseline::core::{
    Conventions, FusionOptions, Graph, Objective, Op, OpId, OpType, Options, Partition, Policy,
    ReshapeCost, build_graph, plan,
};
use proptest::prelude::*;

/// The least that any acyclic partition into legal groups costs. Convexity is not assumed: groups are all
/// subsets that the legality lets pass, and every partition is put in order or refused.
fn brute_force(graph: &Graph, options: &Options) -> f64 {
    let count = graph.ops.len();
    let cost: Vec<Option<f64>> = (0..1_usize << count)
        .map(|set| {
            let ops: Vec<OpId> = (0..count).filter(|op| set >> op & 1 == 1).collect();
            let is_legal = !ops.is_empty() && legality::check(graph, options, &ops).is_ok();
            is_legal.then(|| cost_of_group(graph, options, &ops))
        })
        .collect();
    let before: Vec<usize> = (0..count)
        .map(|op| graph.predecessors[op].iter().fold(0, |set, p| set | 1 << p))
        .collect();
    let mut best = f64::INFINITY;
    let mut groups = Vec::new();
    try_all(
        &cost,
        &before,
        (1 << count) - 1,
        0.0,
        &mut groups,
        &mut best,
    );
    best
}

fn try_all(
    cost: &[Option<f64>],
    before: &[usize],
    left: usize,
    spent: f64,
    groups: &mut Vec<usize>,
    best: &mut f64,
) {
    if spent >= *best {
        return;
    }
    if left == 0 {
        if can_run(before, groups) {
            *best = spent;
        }
        return;
    }
    let lowest = left & left.wrapping_neg();
    let others = left & !lowest;
    let mut rest = others;
    loop {
        let group = lowest | rest;
        if let Some(cost_of_group) = cost[group] {
            groups.push(group);
            try_all(
                cost,
                before,
                left & !group,
                spent + cost_of_group,
                groups,
                best,
            );
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

/// Bytes or seconds of one group, as the analysis counts them, with every other op alone.
fn cost_of_group(graph: &Graph, options: &Options, ops: &[OpId]) -> f64 {
    let group_of = (0..graph.ops.len())
        .map(|op| if ops.contains(&op) { 0 } else { op + 1 })
        .collect();
    let partition = Partition::of_ops(group_of, graph.ops.len() + 1);
    let traffic = kernel_traffic(graph, &partition, options.conventions)
        .next()
        .unwrap();
    let bytes = traffic.total();
    match options.fusion.objective {
        Objective::Bytes => bytes as f64,
        Objective::Time => {
            let work = ops
                .iter()
                .fold(Work::default(), |sum, &op| sum.and(op_work(graph, op)));
            let is_free = options.conventions.reshape == ReshapeCost::View
                && ops.iter().all(|&op| is_view(&graph.ops[op]));
            place(&options.device, work, bytes, is_free).time_s
        }
    }
}

/// Cost of a partition as the analysis adds it up.
pub(crate) fn cost_of(graph: &Graph, options: &Options, partition: &Partition) -> f64 {
    let groups = partition.groups.iter();
    groups.map(|ops| cost_of_group(graph, options, ops)).sum()
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
        prop::sample::select(Objective::ALL.to_vec()),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::sample::select(vec![2_usize, 4, 64]),
        prop::sample::select(vec![40_u64, 80, 100_000]),
        prop::sample::select(ReshapeCost::ALL.to_vec()),
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
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_brute_force((ops, externals) in fusable_ops(1..=9), options in choices()) {
        let graph = build_graph(&ops, &externals).unwrap();
        let (partition, certificate) = optimum(&graph, &options);
        let cost = cost_of(&graph, &options, &partition);
        prop_assert!(certificate.is_optimal);
        prop_assert!(is_close(cost, certificate.cost.value()), "{cost} {certificate:?}");
        let best = brute_force(&graph, &options);
        prop_assert!(is_close(cost, best), "{cost} instead of {best}");
        for ops in partition.groups.iter() {
            prop_assert_eq!(legality::check(&graph, &options, ops), Ok(()));
        }
    }
}

/// The same list in another order, without names that tell.
fn renumbered(ops: &[Op], seed: u64) -> Vec<Op> {
    let mut shuffled = ops.to_vec();
    let mut state = seed | 1;
    for i in (1..shuffled.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        shuffled.swap(i, (state >> 33) as usize % (i + 1));
    }
    shuffled
}

/// All groups may be kernels, and none computes what another one does.
pub(crate) fn is_legal(graph: &Graph, options: &Options, partition: &Partition) -> bool {
    let mut groups = partition.groups.iter();
    let recomputes_nothing = partition.recomputed.iter().all(<[OpId]>::is_empty);
    recomputes_nothing && groups.all(|ops| legality::check(graph, options, ops).is_ok())
}

pub(crate) fn runs_in_order(graph: &Graph, partition: &Partition) -> bool {
    let mut ran = vec![false; graph.ops.len()];
    partition.groups.iter().all(|ops| {
        for &op in ops {
            ran[op] = true;
        }
        ops.iter()
            .all(|&op| graph.predecessors[op].iter().all(|&before| ran[before]))
    }) && ran.into_iter().all(|ran| ran)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn costs_the_same_in_any_order((ops, externals) in fusable_ops(1..=25), options in choices(), seed in any::<u64>()) {
        let cost = |ops: &[Op]| {
            let graph = build_graph(ops, &externals).unwrap();
            let (_, certificate) = optimum(&graph, &options);
            (certificate.is_optimal, certificate.cost.value())
        };
        let (is_optimal, first) = cost(&ops);
        let (is_still_optimal, second) = cost(&renumbered(&ops, seed));
        if is_optimal && is_still_optimal {
            prop_assert!(is_close(first, second), "{first} {second}");
        }
    }

    #[test]
    fn is_never_worse_than_another_policy_with_legal_groups((ops, externals) in fusable_ops(1..=80), options in choices(), budget in prop::sample::select(vec![0_usize, 3, 40, 1_000])) {
        let graph = build_graph(&ops, &externals).unwrap();
        let options = Options { fusion: FusionOptions { budget_states: budget, ..options.fusion }, ..options };
        let (partition, certificate) = optimum(&graph, &options);
        prop_assert!(runs_in_order(&graph, &partition));
        prop_assert!(is_legal(&graph, &options, &partition));
        prop_assert!(certificate.states <= budget);
        let cost = cost_of(&graph, &options, &partition);
        prop_assert!(is_close(cost, certificate.cost.value()));
        for policy in Policy::ALL {
            let other = plan(&graph, &Options { policy, ..options.clone() }).partition;
            // What is computed twice is no partition into kernels in this sense.
            if other.recomputed.is_empty() && is_legal(&graph, &options, &other) {
                let theirs = cost_of(&graph, &options, &other);
                prop_assert!(cost <= theirs || is_close(cost, theirs), "{cost}, {policy:?} {theirs}");
            }
        }
    }

    #[test]
    fn a_cut_budget_certifies_a_bound_below_the_optimum((ops, externals) in fusable_ops(1..=16), options in choices(), budget in 0_usize..120) {
        let graph = build_graph(&ops, &externals).unwrap();
        let (_, proven) = optimum(&graph, &options);
        prop_assume!(proven.is_optimal);
        let cut = Options { fusion: FusionOptions { budget_states: budget, ..options.fusion }, ..options };
        let (partition, certificate) = optimum(&graph, &cut);
        let (optimum, bound) = (proven.cost.value(), certificate.lower_bound.value());
        prop_assert!(bound <= optimum || is_close(bound, optimum), "{bound} {optimum}");
        prop_assert!(certificate.cost.value() >= optimum || is_close(certificate.cost.value(), optimum));
        prop_assert!(runs_in_order(&graph, &partition));
        if certificate.is_optimal {
            prop_assert!(is_close(certificate.cost.value(), optimum));
        }
    }

    #[test]
    fn more_memory_on_chip_never_costs_more((ops, externals) in fusable_ops(1..=16), options in choices()) {
        let graph = build_graph(&ops, &externals).unwrap();
        let mut last = f64::INFINITY;
        for on_chip_bytes in [0, 40, 80, 120, 200] {
            let device = small_device(on_chip_bytes);
            let (_, certificate) = optimum(&graph, &Options { device, ..options.clone() });
            prop_assume!(certificate.is_optimal);
            let cost = certificate.cost.value();
            prop_assert!(cost <= last || is_close(cost, last));
            last = cost;
        }
    }
}

/// An op of the two counter-examples: all tensors as large as each other.
pub(crate) fn elementwise(name: &str, inputs: &[&str]) -> Op {
    Op::new(name, OpType::Elementwise, inputs, name, &[1024], 2)
}

/// Two groups that are convex and connected and yet need each other first.
#[test]
fn kernels_that_need_each_other_are_refused() {
    let ops = [
        elementwise("a1", &["x"]),
        elementwise("b1", &["y"]),
        elementwise("b2", &["a1"]),
        elementwise("a2", &["b1"]),
        elementwise("x1", &["a1", "a2"]),
        elementwise("y1", &["b1", "b2"]),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options {
        fusion: FusionOptions {
            max_ops: 3,
            ..FusionOptions::default()
        },
        ..Options::of_policy(Policy::Optimal)
    };
    for name in ["a", "b"] {
        let group: Vec<OpId> = (0..ops.len())
            .filter(|&op| {
                ops[op]
                    .name
                    .starts_with(if name == "a" { ['a', 'x'] } else { ['b', 'y'] })
            })
            .collect();
        assert_eq!(legality::check(&graph, &options, &group), Ok(()));
    }
    let (partition, certificate) = optimum(&graph, &options);
    assert!(certificate.is_optimal && runs_in_order(&graph, &partition));
    assert!(is_close(
        certificate.cost.value(),
        brute_force(&graph, &options)
    ));
    // What the two groups together would cost is out of reach.
    let refused = Partition::new(&[vec![0, 3, 4], vec![1, 2, 5]], ops.len());
    assert!(!runs_in_order(&graph, &refused));
    assert!(cost_of(&graph, &options, &refused) < certificate.cost.value());
}

/// A way out of a group and back into it: what lies between must be in it or after it.
#[test]
fn a_kernel_is_not_taken_around_another() {
    let ops = [
        Op::new("a", OpType::Elementwise, &["x"], "a", &[64, 64], 2),
        Op::new("m", OpType::Matmul, &["a", "w"], "m", &[64, 64], 2).with_contraction(64),
        Op::new("c", OpType::Elementwise, &["m", "a"], "c", &[64, 64], 2),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options::of_policy(Policy::Optimal);
    assert_eq!(legality::check(&graph, &options, &[0, 2]), Ok(()));
    let (partition, certificate) = optimum(&graph, &options);
    assert!(certificate.is_optimal);
    assert_eq!(
        partition.groups.iter().collect::<Vec<_>>(),
        [&[0][..], &[1, 2]]
    );
}

#[test]
fn a_gpt2_block_has_nine_kernels() {
    let (ops, externals) = gpt2(1, true);
    let graph = build_graph(&ops, &externals).unwrap();
    for objective in Objective::ALL {
        let options = Options {
            fusion: FusionOptions {
                objective,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::Optimal)
        };
        let (partition, certificate) = optimum(&graph, &options);
        assert!(certificate.is_optimal);
        let ends: Vec<(&str, &str)> = partition
            .groups
            .iter()
            .map(|ops| {
                let name = |op: Option<&OpId>| graph.ops[*op.unwrap()].name.as_str();
                (name(ops.first()), name(ops.last()))
            })
            .collect();
        assert_eq!(
            ends,
            [
                ("b0.ln1.mean", "b0.ln1.beta"),
                ("b0.qkv", "b0.v_heads"),
                ("b0.scores", "b0.scores"),
                ("b0.scale", "b0.attn_drop"),
                ("b0.mix", "b0.merge"),
                ("b0.proj", "b0.residual1"),
                ("b0.ln2.mean", "b0.ln2.beta"),
                ("b0.fc1", "b0.half"),
                ("b0.fc2", "b0.residual2"),
            ],
            "{objective:?}"
        );
    }
}

#[test]
fn a_region_beyond_a_word_is_never_called_optimal_without_proof() {
    let names: Vec<String> = (0..200).map(|i| format!("t{i}")).collect();
    let ops: Vec<Op> = (0..200)
        .map(|i| {
            let input = if i == 0 { "x" } else { &names[i - 1] };
            elementwise(&names[i], &[input])
        })
        .collect();
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options::of_policy(Policy::Optimal);
    let (partition, certificate) = optimum(&graph, &options);
    assert!(is_legal(&graph, &options, &partition));
    // Kernels of at most 64 ops: four of them, each reading and writing 2 KiB.
    assert_eq!(partition.groups.len(), 4);
    assert_eq!(certificate.cost, Amount::Bytes(4 * 4096));
    assert!(!certificate.is_optimal && certificate.gap_pct() > 0.0);
    assert_eq!(certificate.lower_bound, Amount::Bytes(4096));
}

/// A tree of adds: each of its parts may be a kernel, far too many to list.
#[test]
fn a_bound_that_rounding_keeps_below_the_cost_is_a_proof() {
    let leaves = 32;
    let names: Vec<String> = (0..2 * leaves - 1).map(|op| format!("t{op}")).collect();
    let ops: Vec<Op> = (0..names.len())
        .map(|op| match op.checked_sub(leaves) {
            None => elementwise(&names[op], &["x"]),
            Some(add) => elementwise(&names[op], &[&names[2 * add], &names[2 * add + 1]]),
        })
        .collect();
    let graph = build_graph(&ops, &[]).unwrap();
    for objective in Objective::ALL {
        let options = Options {
            fusion: FusionOptions {
                objective,
                budget_states: 1_000,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::Optimal)
        };
        let (partition, certificate) = optimum(&graph, &options);
        assert_eq!(partition.groups.len(), 1);
        assert_eq!(certificate.states, 1_000, "cut off");
        assert!(certificate.is_optimal, "{certificate:?}");
        assert_eq!(certificate.lower_bound, certificate.cost);
    }
}

/// Four ops may be one kernel, with as many operands as there may be; two or three of them that are tied have one
/// more, and no other policy has them together.
#[test]
fn a_kernel_is_found_where_none_on_the_way_to_it_is_legal() {
    let many: Vec<String> = (0..94).map(|i| format!("x{i}")).collect();
    let mut inputs: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut ops = vec![elementwise("a", &inputs)];
    inputs.reverse();
    ops.push(elementwise("b", &inputs));
    for name in ["c", "d"] {
        // Of another size than their inputs, which the compiler does not take along.
        let both = ["a", "b"];
        ops.push(Op::new(
            name,
            OpType::Elementwise,
            &both,
            name,
            &[2, 1024],
            2,
        ));
    }
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options::of_policy(Policy::Optimal);
    assert_eq!(legality::check(&graph, &options, &[0, 1, 2, 3]), Ok(()));
    for part in [&[0, 2][..], &[0, 1, 2], &[0, 2, 3]] {
        let refused = legality::check(&graph, &options, part);
        let (operands, limit) = (97, legality::MAX_OPERANDS);
        assert_eq!(
            refused,
            Err(legality::Reason::TooManyOperands { operands, limit })
        );
    }
    for policy in [Policy::Rules, Policy::Inductor] {
        let known = plan(&graph, &Options::of_policy(policy)).partition;
        assert!(known.groups.len() > 1, "{policy:?}");
    }
    let (partition, certificate) = optimum(&graph, &options);
    assert_eq!(partition.groups.len(), 1);
    assert!(certificate.is_optimal);
    assert!(is_close(
        certificate.cost.value(),
        brute_force(&graph, &options)
    ));
}
