//! The exact search on random graphs, each entry a property. They stand here because they take the
//! longest, and because `./dev fuzz` tries other graphs for as long as you like. Cases by hand are
//! in `tests/model/optimal_cases.rs`.

mod attention;
mod budgets;
mod ladders;

pub(crate) use attention::{attention, attention_or_not};
pub(crate) use budgets::{a_hard_graph_of_a_word, chains, fusable, hard, larger_budgets};
pub(crate) use ladders::ladders;

use crate::entries::choices_of;
use crate::partitions::{
    brute_force, choices, cost_of, costs_of, is_close, is_legal, optimum, runs_in_order,
};
use crate::random_graph::{fusable_ops, small_device};
use fuseline_core::fusion::legality;
use fuseline_core::{FusionOptions, Objective, Op, Options, Policy, TensorDecl, build_graph, plan};
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

// Two chains that read each other have so few downsets that all of them can be visited: an exact
// method that shares only the legality with the search.
