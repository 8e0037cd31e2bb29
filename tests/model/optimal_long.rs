//! The search in regions with more ops than a word has bits. Its properties on random graphs are in
//! `tests/fuzz/searches/`.

use crate::partitions::{adds, cost_of, elementwise, is_close, is_legal, optimum, with_budget};
use fuseline_core::{OpId, Options, Partition, Policy, TensorDecl, build_graph, plan};

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
