//! The search in regions with more ops than a word has bits.

use crate::partitions::{
    choices, cost_of, elementwise, is_close, is_legal, optimum, runs_in_order,
};
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::{Graph, Op, OpId, Options, Partition, Policy, TensorDecl, build_graph, plan};
use proptest::prelude::*;

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
fn check_budgets(graph: &Graph, options: &Options) -> Result<(), TestCaseError> {
    let mut last = f64::INFINITY;
    for budget in [0, 60, 700, 1_500, 4_000, 15_000] {
        let options = with_budget(options, budget);
        let (partition, certificate) = optimum(graph, &options);
        prop_assert!(is_legal(graph, &options, &partition));
        prop_assert!(runs_in_order(graph, &partition));
        let cost = cost_of(graph, &options, &partition);
        prop_assert!(
            is_close(cost, certificate.cost.value()),
            "{cost} {certificate:?}"
        );
        prop_assert!(certificate.states <= budget);
        prop_assert!(certificate.lower_bound.value() <= certificate.cost.value());
        prop_assert!(
            cost <= last || is_close(cost, last),
            "{budget}: {cost} after {last}"
        );
        last = cost;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_larger_budget_never_gives_worse_kernels(picks in prop::collection::vec((0..3_usize, 0..100_usize), 70..=120), reach in 1..100_usize, options in choices()) {
        let graph = build_graph(adds(&picks, reach), &[]).unwrap();
        check_budgets(&graph, &options)?;
    }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_chain_beyond_a_word_is_cut_in_the_best_places(widths in prop::collection::vec(prop::sample::select(vec![1_u32, 2, 4, 8]), 65..=150), max_ops in prop::sample::select(vec![3_usize, 20, 63, 64])) {
        let names: Vec<String> = (0..widths.len()).map(|op| format!("t{op}")).collect();
        let ops: Vec<Op> = widths.iter().enumerate().map(|(op, &bytes_per_element)| {
            let input = op.checked_sub(1).map_or("x", |before| &names[before]);
            Op { bytes_per_element, ..elementwise(&names[op], &[input]) }
        }).collect();
        let graph = build_graph(&ops, &[TensorDecl::new("x", &[1024], 2)]).unwrap();
        let mut options = Options::of_policy(Policy::Optimal);
        options.fusion.max_ops = max_ops;
        let (partition, certificate) = optimum(&graph, &options);
        prop_assert!(certificate.is_optimal);
        prop_assert!(is_legal(&graph, &options, &partition) && runs_in_order(&graph, &partition));
        let bytes: Vec<u64> = widths.iter().map(|&width| 1024 * u64::from(width)).collect();
        prop_assert_eq!(certificate.cost, Amount::Bytes(2048 + best_cuts(&bytes, max_ops)));
    }
}

#[test]
fn seventy_adds_are_cut_at_least_as_well_as_by_hand() {
    for seed in 0..8_usize {
        // Each op adds an earlier value to the last one, so some cuts are much better than others.
        let pick = |op: usize| (0, (op + 1) * (2 * seed + 17) * 31 % (op + 1));
        let picks: Vec<(usize, usize)> = (0..70).map(pick).collect();
        let graph = build_graph(adds(&picks, 70), &[]).unwrap();
        let options = with_budget(&Options::of_policy(Policy::Optimal), 1_500);
        let by_hand = (6..=64).map(|cut| {
            let ops: Vec<OpId> = graph.ops.ids().collect();
            let halves = [ops[..cut].to_vec(), ops[cut..].to_vec()];
            cost_of(&graph, &options, &Partition::new(&halves, 70))
        });
        let by_hand = by_hand.fold(f64::INFINITY, f64::min);
        let (_, certificate) = optimum(&graph, &options);
        assert!(
            certificate.cost.value() <= by_hand,
            "{seed}: {certificate:?} {by_hand}"
        );
    }
}

/// The compiler runs both results in one kernel; the search sees them as two regions.
#[test]
fn a_kernel_that_reaches_into_another_region_is_none() {
    let mut ops = vec![elementwise("alone", &["x"])];
    let names: Vec<String> = (0..70).map(|op| format!("t{op}")).collect();
    for (op, name) in names.iter().enumerate() {
        let input = op.checked_sub(1).map_or("x", |before| &names[before]);
        ops.push(elementwise(name, &[input]));
    }
    let x = TensorDecl::new("x", &[1024], 2);
    let graph = build_graph(&ops, &[x]).unwrap();
    let compiled = plan(&graph, &Options::of_policy(Policy::Inductor)).partition;
    assert_eq!(compiled.kernels.len(), 1);
    let options = Options::of_policy(Policy::Optimal);
    let (partition, certificate) = optimum(&graph, &options);
    assert!(is_legal(&graph, &options, &partition));
    assert_eq!(partition.kernels.len(), 3);
    assert!(certificate.is_optimal);
    assert!(is_close(
        certificate.cost.value(),
        cost_of(&graph, &options, &partition)
    ));
}
