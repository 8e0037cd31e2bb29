//! The colour of a kernel follows its first op.

use crate::random_graph;
use fuseline_core::{IdVec, KernelId, OpId, Options, Partition, analyze};
use fuseline_view::present::badge::{KernelLook, kernel_looks};
use proptest::prelude::*;

fn looks_of(partition: &Partition) -> Vec<(OpId, KernelLook)> {
    let looks: IdVec<KernelId, KernelLook> = kernel_looks(partition);
    (partition.kernels.iter().zip(&looks))
        .map(|(ops, &look)| (ops[0], look))
        .collect()
}

fn partition(kernels: &[&[usize]]) -> Partition {
    let ops = kernels.iter().map(|kernel| kernel.len()).sum();
    let kernels: Vec<Vec<OpId>> = (kernels.iter())
        .map(|kernel| kernel.iter().copied().map(OpId::new).collect())
        .collect();
    Partition::new(&kernels, ops)
}

#[test]
fn a_kernel_keeps_its_colour_when_others_merge() {
    let before = looks_of(&partition(&[&[0], &[1], &[2, 3], &[4], &[5, 6]]));
    let after = looks_of(&partition(&[&[0, 1], &[2, 3], &[4], &[5, 6]]));
    for (first, look) in after {
        let same = before.iter().find(|(op, _)| *op == first);
        assert_eq!(same, Some(&(first, look)));
    }
}

#[test]
fn a_kernel_of_twelve_ops_and_the_next_one_differ() {
    let long: Vec<usize> = (0..12).collect();
    let looks = looks_of(&partition(&[
        &long,
        &[12, 13],
        &[14],
        &[15],
        &(16..24).collect::<Vec<_>>(),
        &[24],
    ]));
    let classes: Vec<String> = looks.iter().map(|(_, look)| look.class()).collect();
    let last = "kernel-1 kernel-round-2";
    assert_eq!(
        classes,
        [
            "kernel-1", "kernel-2", "kernel-3", "kernel-4", "kernel-5", last
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn neighbours_differ((ops, externals) in random_graph::ops(60)) {
        let analysis = analyze(&ops, &externals, &Options::default()).unwrap();
        let looks = looks_of(&analysis.partition);
        for [(_, a), (_, b)] in looks.array_windows() {
            prop_assert_ne!(a.color, b.color);
        }
    }
}
