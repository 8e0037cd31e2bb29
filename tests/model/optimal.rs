//! The optimum compared with every acyclic legal partition by brute force, and its properties on any graph.

use crate::partitions::{
    brute_force, choices, cost_of, costs_of, is_close, is_legal, optimum, runs_in_order,
};
use crate::random_graph::{fusable_ops, small_device};
use fuseline_core::fusion::legality;
use fuseline_core::{FusionOptions, Objective, Op, Options, Policy, TensorDecl, build_graph, plan};
use proptest::prelude::*;
use strum::VariantArray;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_brute_force((ops, externals) in fusable_ops(1..=9), options in choices()) {
        let graph = build_graph(&ops, &externals).unwrap();
        let (partition, certificate) = optimum(&graph, &options);
        let cost = cost_of(&graph, &options, &partition);
        prop_assert!(certificate.is_optimal);
        prop_assert!(is_close(cost, certificate.cost.value()), "{cost} {certificate:?}");
        let (best, _) = brute_force(&graph, &options);
        prop_assert!(is_close(cost, best), "{cost} instead of {best}");
        for ops in partition.kernels.iter() {
            prop_assert_eq!(legality::check(&graph, &options, ops), Ok(()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// With equal bytes the smaller time decides, with equal time the fewer bytes.
    #[test]
    fn equals_brute_force_in_the_order_of_both_costs((ops, externals) in fusable_ops(1..=8), options in choices()) {
        let graph = build_graph(&ops, &externals).unwrap();
        let mut options = options;
        // Equal sums of vector FLOPs round to different times.
        if options.fusion.objective == Objective::Time {
            options.device.vector_flops_per_s.as_mut().unwrap().value = 1e17;
        }
        let (partition, _) = optimum(&graph, &options);
        let (first, second) = costs_of(&graph, &options, &partition);
        let (least, other) = brute_force(&graph, &options);
        prop_assert!(is_close(first, least), "{first} instead of {least}");
        prop_assert!(is_close(second, other), "{second} instead of {other} at {first}");
    }
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

fn check_any_order(
    ops: &[Op],
    externals: &[TensorDecl],
    options: &Options,
    seed: u64,
) -> Result<(), TestCaseError> {
    let cost = |ops: &[Op]| {
        let graph = build_graph(ops, externals).unwrap();
        let (_, certificate) = optimum(&graph, options);
        (certificate.is_optimal, certificate.cost.value())
    };
    let (is_optimal, first) = cost(ops);
    let (is_still_optimal, second) = cost(&renumbered(ops, seed));
    if is_optimal && is_still_optimal {
        prop_assert!(is_close(first, second), "{first} {second}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn costs_the_same_in_any_order((ops, externals) in fusable_ops(1..=25), options in choices(), seed in any::<u64>()) {
        check_any_order(&ops, &externals, &options, seed)?;
    }

    #[test]
    fn is_never_worse_than_another_policy_with_legal_groups((ops, externals) in fusable_ops(1..=80), options in choices(), budget in prop::sample::select(vec![0_usize, 3, 40, 1_000])) {
        let graph = build_graph(&ops, &externals).unwrap();
        let options = Options { fusion: FusionOptions { budget_states: budget, ..options.fusion }, ..options };
        let (partition, certificate) = optimum(&graph, &options);
        prop_assert!(runs_in_order(&graph, &partition));
        prop_assert!(is_legal(&graph, &options, &partition));
        prop_assert!(certificate.states <= budget);
        let (cost, other_cost) = costs_of(&graph, &options, &partition);
        prop_assert!(is_close(cost, certificate.cost.value()));
        for &policy in Policy::VARIANTS {
            let other = plan(&graph, &Options { policy, ..options.clone() }).partition;
            // Partitions that recompute ops are not in the search space.
            if other.recomputed.is_empty() && is_legal(&graph, &options, &other) {
                let (theirs, their_other) = costs_of(&graph, &options, &other);
                prop_assert!(cost <= theirs || is_close(cost, theirs), "{cost}, {policy:?} {theirs}");
                // Bytes are equal or not; times are equal up to rounding, so then nothing follows.
                if options.fusion.objective == Objective::Bytes && cost.total_cmp(&theirs).is_eq() {
                    prop_assert!(other_cost <= their_other || is_close(other_cost, their_other), "{other_cost}, {policy:?} {their_other} at {cost}");
                }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    // For regions with more ops than a word, the order decides which ops share a word.
    #[test]
    fn long_programs_cost_the_same_in_any_order((ops, externals) in fusable_ops(66..=90), options in choices(), seed in any::<u64>()) {
        let options = Options { fusion: FusionOptions { budget_states: 3_000, ..options.fusion }, ..options };
        check_any_order(&ops, &externals, &options, seed)?;
    }
}
