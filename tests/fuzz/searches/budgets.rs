//! A search whose budget ends, in regions of any size.

use super::drawn;
use crate::partitions::{
    adds, choices, cost_of, elementwise, is_close, is_legal, optimum, runs_in_order, with_budget,
};
use crate::random_graph::fusable_ops;
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::{Graph, Objective, Op, OpType, Options, Policy, TensorDecl, build_graph, plan};
use proptest::prelude::*;

/// Kernels are in order, are legal and cost what the certificate says; a larger budget never makes
/// them worse.
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
                bytes_per_element: ElementSize::of_bytes(bytes_per_element),
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

/// Elementwise ops that each read two of the `reach` ops before them, so that nearly every set of
/// neighbours can be a kernel.
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
