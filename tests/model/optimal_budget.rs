//! A larger budget of the exact search never gives worse kernels.

use crate::partitions::{choices, cost_of};
use crate::random_graph::fusable_ops;
use fuseline_core::{Graph, Objective, Op, OpType, Options, Policy, TensorDecl, build_graph, plan};
use proptest::prelude::*;

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
fn check_budgets(graph: &Graph, options: &Options, budgets: &[usize]) -> Result<(), TestCaseError> {
    let mut last = (0, f64::INFINITY);
    for &budget in budgets {
        let mut options = options.clone();
        options.fusion.budget_states = budget;
        let partition = plan(graph, &options).partition;
        let cost = cost_of(graph, &options, &partition);
        prop_assert!(
            cost <= last.1 * (1.0 + 1e-9),
            "{cost} at {budget}, {} at {}",
            last.1,
            last.0
        );
        last = (budget, cost);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hard_graphs(picks in prop::collection::vec((0..100_usize, 0..100_usize), 20..=64), reach in 2..12_usize, options in choices()) {
        let graph = hard_ops(&picks, reach);
        check_budgets(&graph, &options, &[0, 1, 3, 10, 40, 100, 400, 1_000, 3_000])?;
    }

    #[test]
    fn fusable_graphs((ops, externals) in fusable_ops(20..=90), options in choices()) {
        let graph = build_graph(&ops, &externals).unwrap();
        check_budgets(&graph, &options, &[0, 1, 3, 10, 40, 100, 400, 1_000, 3_000])?;
    }
}

#[test]
fn a_hard_graph_of_a_word() -> Result<(), TestCaseError> {
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
        check_budgets(&graph, &options, &[1, 10, 100, 1_000, 10_000, 50_000])?;
    }
    Ok(())
}
