//! The exact search on random graphs, each entry a property. They stand here because they take the longest, and because
//! `./dev fuzz` tries other graphs for as long as you like. Cases by hand are in `tests/model/optimal_cases.rs`.

use crate::entries::choices_of;
use crate::partitions::{
    brute_force, choices, cost_of, costs_of, costs_of_group, elementwise, is_close, is_legal,
    optimum, runs_in_order,
};
use crate::random_attention::{Parts, analysis_of, certified, with_attention};
use crate::random_graph::{fusable_ops, small_device};
use fuseline_core::fusion::attention::find;
use fuseline_core::fusion::certificate::{Amount, Scope};
use fuseline_core::fusion::legality;
use fuseline_core::fusion::record::record;
use fuseline_core::{
    Analysis, Conventions, Externals, FusionOptions, Graph, KernelId, Objective, Op, OpId, OpType,
    Options, Policy, TensorDecl, build_graph, plan,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use strum::VariantArray;

/// What a strategy draws for an input.
fn drawn<S: Strategy>(input: &[u8], strategy: &S) -> S::Value {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, choices_of(input));
    strategy.new_tree(&mut runner).unwrap().current()
}

/// The optimum is the best of every acyclic legal partition.
pub(crate) fn optima(input: &[u8]) {
    let ((ops, externals), options) = drawn(input, &(fusable_ops(1..=9), choices()));
    let graph = build_graph(&ops, &externals).unwrap();
    let (partition, certificate) = optimum(&graph, &options);
    let cost = cost_of(&graph, &options, &partition);
    assert!(certificate.is_optimal);
    assert!(
        is_close(cost, certificate.cost.value()),
        "{cost} {certificate:?}"
    );
    let (best, _) = brute_force(&graph, &options);
    assert!(is_close(cost, best), "{cost} instead of {best}");
    for ops in partition.kernels.iter() {
        assert_eq!(legality::check(&graph, &options, ops), Ok(()));
    }
}

/// With equal bytes the smaller time decides, with equal time the fewer bytes.
pub(crate) fn both_costs(input: &[u8]) {
    let ((ops, externals), options) = drawn(input, &(fusable_ops(1..=8), choices()));
    let graph = build_graph(&ops, &externals).unwrap();
    let mut options = options;
    // Equal sums of vector FLOPs round to different times.
    if options.fusion.objective == Objective::Time {
        options.device.vector_flops_per_s.as_mut().unwrap().value = 1e17;
    }
    let (partition, _) = optimum(&graph, &options);
    let (first, second) = costs_of(&graph, &options, &partition);
    let (least, other) = brute_force(&graph, &options);
    assert!(is_close(first, least), "{first} instead of {least}");
    assert!(
        is_close(second, other),
        "{second} instead of {other} at {first}"
    );
}

/// The same list in another order, with names that do not show it.
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

fn check_any_order(ops: &[Op], externals: &[TensorDecl], options: &Options, seed: u64) {
    let cost = |ops: &[Op]| {
        let graph = build_graph(ops, externals).unwrap();
        let (_, certificate) = optimum(&graph, options);
        (certificate.is_optimal, certificate.cost.value())
    };
    let (is_optimal, first) = cost(ops);
    let (is_still_optimal, second) = cost(&renumbered(ops, seed));
    if is_optimal && is_still_optimal {
        assert!(is_close(first, second), "{first} {second}");
    }
}

/// A program costs the same in any order of its list.
pub(crate) fn shuffled(input: &[u8]) {
    let ((ops, externals), options, seed) =
        drawn(input, &(fusable_ops(1..=25), choices(), any::<u64>()));
    check_any_order(&ops, &externals, &options, seed);
}

/// For regions with more ops than a word, the order decides which ops share a word.
pub(crate) fn long_shuffled(input: &[u8]) {
    let ((ops, externals), options, seed) =
        drawn(input, &(fusable_ops(66..=90), choices(), any::<u64>()));
    let options = Options {
        fusion: FusionOptions {
            budget_states: 3_000,
            ..options.fusion
        },
        ..options
    };
    check_any_order(&ops, &externals, &options, seed);
}

/// The optimum is never worse than another policy with legal groups.
pub(crate) fn other_policies(input: &[u8]) {
    let ((ops, externals), options, budget) = drawn(
        input,
        &(
            fusable_ops(1..=80),
            choices(),
            prop::sample::select(vec![0_usize, 3, 40, 1_000]),
        ),
    );
    let graph = build_graph(&ops, &externals).unwrap();
    let options = Options {
        fusion: FusionOptions {
            budget_states: budget,
            ..options.fusion
        },
        ..options
    };
    let (partition, certificate) = optimum(&graph, &options);
    assert!(runs_in_order(&graph, &partition));
    assert!(is_legal(&graph, &options, &partition));
    assert!(certificate.states <= budget);
    let (cost, other_cost) = costs_of(&graph, &options, &partition);
    assert!(is_close(cost, certificate.cost.value()));
    for &policy in Policy::VARIANTS {
        let other = plan(
            &graph,
            &Options {
                policy,
                ..options.clone()
            },
        )
        .partition;
        // Partitions that recompute ops are not in the search space.
        if other.recomputed.is_empty() && is_legal(&graph, &options, &other) {
            let (theirs, their_other) = costs_of(&graph, &options, &other);
            assert!(
                cost <= theirs || is_close(cost, theirs),
                "{cost}, {policy:?} {theirs}"
            );
            // Bytes are equal or not; times are equal up to rounding, so then nothing follows.
            if options.fusion.objective == Objective::Bytes && cost.total_cmp(&theirs).is_eq() {
                assert!(
                    other_cost <= their_other || is_close(other_cost, their_other),
                    "{other_cost}, {policy:?} {their_other} at {cost}"
                );
            }
        }
    }
}

/// More memory on chip never costs more.
pub(crate) fn on_chip(input: &[u8]) {
    let ((ops, externals), options) = drawn(input, &(fusable_ops(1..=16), choices()));
    let graph = build_graph(&ops, &externals).unwrap();
    let mut last = f64::INFINITY;
    for on_chip_bytes in [0, 40, 80, 120, 200] {
        let device = small_device(on_chip_bytes);
        let (_, certificate) = optimum(
            &graph,
            &Options {
                device,
                ..options.clone()
            },
        );
        if !certificate.is_optimal {
            return;
        }
        let cost = certificate.cost.value();
        assert!(cost <= last || is_close(cost, last));
        last = cost;
    }
}

/// A cut budget certifies a bound below the optimum.
pub(crate) fn cut_budgets(input: &[u8]) {
    let ((ops, externals), options, budget) =
        drawn(input, &(fusable_ops(1..=16), choices(), 0_usize..120));
    let graph = build_graph(&ops, &externals).unwrap();
    let (_, proven) = optimum(&graph, &options);
    if !proven.is_optimal {
        return;
    }
    let cut = Options {
        fusion: FusionOptions {
            budget_states: budget,
            ..options.fusion
        },
        ..options
    };
    let (partition, certificate) = optimum(&graph, &cut);
    let (optimum, bound) = (proven.cost.value(), certificate.lower_bound.value());
    assert!(
        bound <= optimum || is_close(bound, optimum),
        "{bound} {optimum}"
    );
    assert!(certificate.cost.value() >= optimum || is_close(certificate.cost.value(), optimum));
    assert!(runs_in_order(&graph, &partition));
    if certificate.is_optimal {
        assert!(is_close(certificate.cost.value(), optimum));
    }
}

// Two chains that read each other have so few downsets that all of them can be visited: an exact method that shares only the
// legality with the search.

/// For each op whether it belongs to the left chain.
type Chains = Vec<bool>;

const ROWS: u64 = 6;
const WIDTH: u64 = 10;

/// One drawn op: its kind, whether it is in the left chain, how far back it reads the other chain, bytes per
/// element.
type Drawn = (u8, u8, usize, u32);

/// Ops that each read the last op of their chain, or an external tensor; some also read the other chain, or an
/// input common to all. `leaving` of sixty ops change the chain. With none of them one chain depends on the
/// other from `first` on, over more ops than a word has bits.
fn ladder(drawn: &[Drawn], leaving: u8, first: usize) -> (Vec<Op>, Vec<TensorDecl>, Chains) {
    let mut chain_of = Vec::new();
    let mut chain = false;
    let mut ops = Vec::new();
    let mut chains: [Vec<(String, [u64; 2])>; 2] = Default::default();
    for (index, &(kind, leaves, back, bytes)) in drawn.iter().enumerate() {
        let is_out = (first..first + 66).contains(&index);
        chain = if leaving == 0 {
            is_out
        } else {
            chain ^ (leaves < leaving)
        };
        let external = ("x".to_owned(), [ROWS, WIDTH]);
        let (own, other) = (&chains[usize::from(chain)], &chains[usize::from(!chain)]);
        let first = own.last().unwrap_or(&external).clone();
        let mut inputs = vec![first.0.as_str()];
        if back < 4 {
            inputs.extend(other.iter().rev().nth(back).map(|(name, _)| name.as_str()));
        } else if back == 4 {
            inputs.push("w");
        }
        let (op_type, shape) = match kind {
            0 => (OpType::Reduction, [ROWS, 1]),
            1 => (OpType::Reduction, first.1),
            2 => (OpType::Matmul, [ROWS, WIDTH]),
            3 => (OpType::Reshape, first.1),
            _ => (OpType::Elementwise, [ROWS, WIDTH]),
        };
        if matches!(op_type, OpType::Reduction | OpType::Reshape) {
            inputs.truncate(1);
        }
        let name = format!("t{index}");
        let op = Op::new(&name, op_type, &inputs, &name, &shape, bytes);
        ops.push(match op_type {
            OpType::Matmul => op.with_k(WIDTH),
            _ => op,
        });
        chains[usize::from(chain)].push((name, shape));
        chain_of.push(chain);
    }
    let w = TensorDecl::new("w", &[ROWS, WIDTH], 2);
    (
        ops,
        vec![TensorDecl::new("x", &[ROWS, WIDTH], 2), w],
        chain_of,
    )
}

/// The lowest cost of any acyclic partition. A downset consists of a prefix of each chain, before and after
/// every kernel.
fn least(graph: &Graph, options: &Options, chain_of: &Chains) -> f64 {
    let of_chain = |chain: bool| -> Vec<OpId> {
        (0..chain_of.len())
            .filter(|&op| chain_of[op] == chain)
            .map(OpId::new)
            .collect()
    };
    let (left, right) = (of_chain(false), of_chain(true));
    let mut best = vec![vec![f64::INFINITY; right.len() + 1]; left.len() + 1];
    best[0][0] = 0.0;
    for l in 0..=left.len() {
        for r in 0..=right.len() {
            if best[l][r].is_infinite() {
                continue;
            }
            let most = options.fusion.max_ops;
            for to_l in l..=left.len().min(l + most) {
                for to_r in r..=right.len().min(r + most - (to_l - l)) {
                    let mut ops = [&left[l..to_l], &right[r..to_r]].concat();
                    ops.sort_unstable();
                    let ran = |op: OpId| left[..to_l].contains(&op) || right[..to_r].contains(&op);
                    let can_run = |&op: &OpId| graph.predecessors[op].iter().all(|&p| ran(p));
                    if !ops.is_empty()
                        && ops.iter().all(can_run)
                        && legality::check(graph, options, &ops).is_ok()
                    {
                        let cost = best[l][r] + costs_of_group(graph, options, &ops).0;
                        best[to_l][to_r] = best[to_l][to_r].min(cost);
                    }
                }
            }
        }
    }
    best[left.len()][right.len()]
}

/// In regions of more than a word the search finds what trying all downsets gives.
pub(crate) fn ladders(input: &[u8]) {
    let (drawn, leaving, first, max_ops, budget, options) = drawn(
        input,
        &(
            prop::collection::vec(
                (
                    0..14_u8,
                    0..60_u8,
                    0..8_usize,
                    prop::sample::select(vec![1_u32, 2, 4]),
                ),
                76..=90,
            ),
            prop::sample::select(vec![0_u8, 4, 30, 60]),
            1..8_usize,
            2..=4_usize,
            prop::sample::select(vec![100_usize, 2_000, 20_000, 200_000]),
            choices(),
        ),
    );
    let mut options = options;
    options.fusion.max_ops = max_ops;
    options.fusion.budget_states = budget;
    let (ops, externals, chain_of) = ladder(&drawn, leaving, first);
    let graph = build_graph(&ops, &externals).unwrap();
    let (partition, certificate) = optimum(&graph, &options);
    assert!(is_legal(&graph, &options, &partition) && runs_in_order(&graph, &partition));
    let least = least(&graph, &options, &chain_of);
    let cost = cost_of(&graph, &options, &partition);
    let bound = certificate.lower_bound.value();
    assert!(
        bound <= least || is_close(bound, least),
        "{bound} above {least}"
    );
    assert!(is_close(cost, certificate.cost.value()));
    assert!(
        cost >= least || is_close(cost, least),
        "{cost} below {least}"
    );
    if certificate.is_optimal {
        assert!(
            is_close(cost, least),
            "{cost} is not {least}: {certificate:?}"
        );
    }
}

/// Options with this budget.
fn with_budget(options: &Options, budget_states: usize) -> Options {
    let mut options = options.clone();
    options.fusion.budget_states = budget_states;
    options
}

/// Adds of two earlier values within `reach`, so that every cut crosses some edges.
fn adds(picks: &[(usize, usize)], reach: usize) -> Vec<Op> {
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

/// Kernels are in order, are legal and cost what the certificate says; a larger budget never makes them worse.
fn check_long_budgets(graph: &Graph, options: &Options) {
    let mut last = f64::INFINITY;
    for budget in [0, 60, 700, 1_500, 4_000, 15_000] {
        let options = with_budget(options, budget);
        let (partition, certificate) = optimum(graph, &options);
        assert!(is_legal(graph, &options, &partition));
        assert!(runs_in_order(graph, &partition));
        let cost = cost_of(graph, &options, &partition);
        assert!(
            is_close(cost, certificate.cost.value()),
            "{cost} {certificate:?}"
        );
        assert!(certificate.states <= budget);
        assert!(certificate.lower_bound.value() <= certificate.cost.value());
        assert!(
            cost <= last || is_close(cost, last),
            "{budget}: {cost} after {last}"
        );
        last = cost;
    }
}

/// A larger budget never gives worse kernels.
pub(crate) fn larger_budgets(input: &[u8]) {
    let (picks, reach, options) = drawn(
        input,
        &(
            prop::collection::vec((0..3_usize, 0..100_usize), 70..=120),
            1..100_usize,
            choices(),
        ),
    );
    let graph = build_graph(adds(&picks, reach), &[]).unwrap();
    check_long_budgets(&graph, &options);
}

/// The lowest cost of a chain: every tensor at a cut is written and read.
fn best_cuts(bytes: &[u64], most_ops: usize) -> u64 {
    let mut best = vec![0];
    for to in 1..=bytes.len() {
        let from = to.saturating_sub(most_ops)..to;
        let way =
            |from: usize| best[from] + if from == 0 { 0 } else { bytes[from - 1] } + bytes[to - 1];
        let least = from.map(way).min().unwrap();
        best.push(least);
    }
    best[bytes.len()]
}

/// A chain beyond a word is cut in the best places.
pub(crate) fn chains(input: &[u8]) {
    let (widths, max_ops) = drawn(
        input,
        &(
            prop::collection::vec(prop::sample::select(vec![1_u32, 2, 4, 8]), 65..=150),
            prop::sample::select(vec![3_usize, 20, 63, 64]),
        ),
    );
    let names: Vec<String> = (0..widths.len()).map(|op| format!("t{op}")).collect();
    let ops: Vec<Op> = widths
        .iter()
        .enumerate()
        .map(|(op, &bytes_per_element)| {
            let input = op.checked_sub(1).map_or("x", |before| &names[before]);
            Op {
                bytes_per_element,
                ..elementwise(&names[op], &[input])
            }
        })
        .collect();
    let graph = build_graph(&ops, &[TensorDecl::new("x", &[1024], 2)]).unwrap();
    let mut options = Options::of_policy(Policy::Optimal);
    options.fusion.max_ops = max_ops;
    let (partition, certificate) = optimum(&graph, &options);
    assert!(certificate.is_optimal);
    assert!(is_legal(&graph, &options, &partition) && runs_in_order(&graph, &partition));
    let bytes: Vec<u64> = widths
        .iter()
        .map(|&width| 1024 * u64::from(width))
        .collect();
    assert_eq!(
        certificate.cost,
        Amount::Bytes(2048 + best_cuts(&bytes, max_ops))
    );
}

/// Elementwise ops that each read two of the `reach` ops before them, so that nearly every set of neighbours can be a
/// kernel.
fn hard_ops(picks: &[(usize, usize)], reach: usize) -> Graph {
    let name = |op: usize| format!("x{op}");
    let ops = picks.iter().enumerate().map(|(before, &(a, b))| {
        let [first, second] = [a, b].map(|pick| name(before.saturating_sub(pick % reach)));
        let output = name(before + 1);
        let inputs = [first.as_str(), &second];
        Op::new(&output, OpType::Elementwise, &inputs, &output, &[64, 64], 2)
    });
    let ops: Vec<Op> = ops.collect();
    build_graph(ops, &[TensorDecl::new("x0", &[64, 64], 2)]).unwrap()
}

/// The cost of the kernels that the search finds with each of these budgets never grows.
fn check_budgets(graph: &Graph, options: &Options, budgets: &[usize]) {
    let mut last = (0, f64::INFINITY);
    for &budget in budgets {
        let mut options = options.clone();
        options.fusion.budget_states = budget;
        let partition = plan(graph, &options).partition;
        let cost = cost_of(graph, &options, &partition);
        assert!(
            cost <= last.1 * (1.0 + 1e-9),
            "{cost} at {budget}, {} at {}",
            last.1,
            last.0
        );
        last = (budget, cost);
    }
}

/// The cost of hard graphs never grows with the budget.
pub(crate) fn hard(input: &[u8]) {
    let (picks, reach, options) = drawn(
        input,
        &(
            prop::collection::vec((0..100_usize, 0..100_usize), 20..=64),
            2..12_usize,
            choices(),
        ),
    );
    let graph = hard_ops(&picks, reach);
    check_budgets(&graph, &options, &[0, 1, 3, 10, 40, 100, 400, 1_000, 3_000]);
}

/// Nor does that of others.
pub(crate) fn fusable(input: &[u8]) {
    let ((ops, externals), options) = drawn(input, &(fusable_ops(20..=90), choices()));
    let graph = build_graph(&ops, &externals).unwrap();
    check_budgets(&graph, &options, &[0, 1, 3, 10, 40, 100, 400, 1_000, 3_000]);
}

/// A known input of `hard`.
pub(crate) fn a_hard_graph_of_a_word() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap()
    };
    let picks: Vec<(usize, usize)> = (0..64).map(|_| (random(), random())).collect();
    let graph = hard_ops(&picks, 6);
    for objective in [Objective::Bytes, Objective::Time] {
        let mut options = Options::of_policy(Policy::Optimal);
        options.fusion.objective = objective;
        check_budgets(&graph, &options, &[1, 10, 100, 1_000, 10_000, 50_000]);
    }
}

fn cost(analysis: &Analysis) -> f64 {
    match analysis.options.fusion.objective {
        Objective::Bytes => analysis.fused.traffic.total as f64,
        Objective::Time | Objective::Measured => analysis.fused.time_s,
    }
}

fn parts() -> impl Strategy<Value = Option<Parts>> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    prop::option::weighted(
        0.8,
        flags.prop_map(|(is_apart, is_masked, is_dropped)| Parts {
            is_apart,
            is_masked,
            is_dropped,
        }),
    )
}

/// With attention in it, too, the certificate is the cost and no other kernels are better.
pub(crate) fn attention(input: &[u8]) {
    let ((ops, tensors), drawn, options, externals, marks) = drawn(
        input,
        &(
            fusable_ops(1..=12),
            prop::collection::vec(parts(), 1..4),
            choices(),
            prop::sample::select(Externals::VARIANTS),
            prop::collection::vec(1_u32..5, 1..9),
        ),
    );

    let ops = with_attention(&ops, &drawn);
    let options = Options {
        fusion: FusionOptions {
            attention: true,
            ..options.fusion
        },
        conventions: Conventions {
            externals,
            ..options.conventions
        },
        ..options
    };
    let best = analysis_of(&ops, &tensors, &options, Policy::Optimal);
    assert!(
        is_close(certified(&best), cost(&best)),
        "{} {}",
        certified(&best),
        cost(&best)
    );
    if !best.certificate.unwrap().is_optimal {
        return;
    }

    // The kernels of other policies where they are legal, and random kernels.
    let mut stated: Vec<Vec<u32>> = vec![marks.into_iter().cycle().take(ops.len()).collect()];
    for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
        let theirs = analysis_of(&ops, &tensors, &options, policy);
        let number = |kernel: KernelId| u32::try_from(kernel.number()).unwrap();
        let mut marks = vec![0; ops.len()];
        for (op, listed) in theirs.graph.listed_at.iter_enumerated() {
            marks[*listed] = number(theirs.partition.kernel_of[op]);
        }
        stated.push(marks);
    }
    for marks in stated {
        let marked: Vec<Op> = ops
            .iter()
            .zip(marks)
            .map(|(op, kernel)| Op {
                kernel: Some(kernel),
                ..op.clone()
            })
            .collect();
        let manual = analysis_of(&marked, &tensors, &options, Policy::Manual);
        assert!(
            cost(&best) <= cost(&manual) || is_close(cost(&best), cost(&manual)),
            "{} {}",
            cost(&best),
            cost(&manual)
        );
    }
}

/// With one attention there are two choices. With more, either choice for all of them is a start.
pub(crate) fn attention_or_not(input: &[u8]) {
    let ((ops, tensors), drawn, options) = drawn(
        input,
        &(
            fusable_ops(1..=12),
            prop::collection::vec(parts(), 1..4),
            choices(),
        ),
    );

    let ops = with_attention(&ops, &drawn);
    let best = |attention, attention_search| {
        let fusion = FusionOptions {
            attention,
            attention_search,
            ..options.fusion
        };
        analysis_of(
            &ops,
            &tensors,
            &Options {
                fusion,
                ..options.clone()
            },
            Policy::Optimal,
        )
    };
    let (searched, always, never) = (best(false, true), best(true, false), best(false, false));
    assert!(
        is_close(certified(&searched), cost(&searched)),
        "{} {}",
        certified(&searched),
        cost(&searched)
    );
    let better = cost(&always).min(cost(&never));
    assert!(
        cost(&searched) <= better || is_close(cost(&searched), better),
        "{} {better}",
        cost(&searched)
    );
    let are_proven = [&always, &never, &searched]
        .iter()
        .all(|a| a.certificate.unwrap().is_optimal);
    assert!(are_proven);
    let scope = searched.certificate.unwrap().scope;
    match find(&searched.graph).len() {
        0 => assert_eq!(scope, Scope::LegalKernels),
        1 => {
            assert_eq!(scope, Scope::AttentionAllowed);
            assert!(
                is_close(cost(&searched), better),
                "{} {better}",
                cost(&searched)
            );
        }
        _ => assert!(scope != Scope::LegalKernels),
    }
    let record = record(&searched.graph, &searched.options);
    let replayed = record.partition_after(&searched.graph, record.decisions.len());
    assert_eq!(&replayed, &searched.partition);
    assert!(runs_in_order(&searched.graph, &searched.partition));
}
