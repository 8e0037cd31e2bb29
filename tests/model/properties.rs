//! Properties of every graph.

use crate::random_graph;
use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::{
    Analysis, Conventions, Externals, Graph, IdVec, KernelId, Op, OpId, OpType, Options, Partition,
    Policy, ReshapeCost, TensorDecl, analyze, build_graph, plan,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strum::VariantArray;

fn all_conventions() -> impl Iterator<Item = Conventions> {
    Externals::VARIANTS.iter().flat_map(|&externals| {
        let reshapes = ReshapeCost::VARIANTS.iter();
        reshapes.map(move |&reshape| Conventions {
            externals,
            reshape,
            ..Conventions::default()
        })
    })
}

fn analysis(ops: &[Op], externals: &[TensorDecl], conventions: Conventions) -> Analysis {
    let options = Options {
        conventions,
        ..Options::default()
    };
    analyze(ops, externals, &options).unwrap()
}

/// The scan of the textbook rules, written again in the simplest way: groups as lists, linear
/// searches.
fn rules_by_the_letter(graph: &Graph) -> Vec<Vec<OpId>> {
    let mut groups: Vec<Vec<OpId>> = Vec::new();
    let holds = |group: &[OpId], op_type| group.iter().any(|&op| graph.ops[op].op_type == op_type);
    for op in graph.ops.ids() {
        let qualifies = |group: &Vec<OpId>| {
            let &tail = group.last().unwrap();
            let feeds = graph.predecessors[op].contains(&tail) && graph.successors[tail] == [op];
            let closed = holds(group, OpType::Reduction);
            let has_matmul = holds(group, OpType::Matmul);
            feeds
                && !holds(group, OpType::Opaque)
                && match graph.ops[op].op_type {
                    OpType::Elementwise | OpType::Reshape => !closed,
                    OpType::Reduction => !closed && !has_matmul,
                    OpType::Matmul | OpType::Opaque => false,
                }
        };
        let (mut joining, mut rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|g| qualifies(g));
        joining.sort_by_key(|g| *g.last().unwrap());
        let base = joining.iter().rposition(|g| holds(g, OpType::Matmul));
        let mut merged = Vec::new();
        for (index, group) in joining.into_iter().enumerate() {
            if holds(&group, OpType::Matmul) && Some(index) != base {
                rest.push(group);
            } else {
                merged.extend(group);
            }
        }
        merged.sort_unstable();
        merged.push(op);
        rest.push(merged);
        groups = rest;
    }
    groups.sort_by_key(|g| *g.last().unwrap());
    groups
}

/// Whether the kernels can run in their order.
fn runs_in_order(graph: &Graph, kernels: &Partition) -> bool {
    graph.ops.ids().all(|op| {
        graph.predecessors[op]
            .iter()
            .all(|&p| kernels.kernel_of[p] <= kernels.kernel_of[op])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_scan_does_what_the_baseline_rules_say((ops, externals) in random_graph::ops(14)) {
        let graph = build_graph(&ops, &externals).unwrap();
        let kernels = plan(&graph, &Options::of_policy(Policy::Rules)).partition;
        let mut groups: Vec<&[OpId]> = kernels.kernels.iter().collect();
        // They run in the order that needs the least memory.
        groups.sort_by_key(|group| group.last());
        prop_assert_eq!(groups, rules_by_the_letter(&graph));
    }

    #[test]
    fn each_op_is_in_one_kernel_and_kernels_can_run_in_order((ops, externals) in random_graph::ops(20)) {
        let graph = build_graph(&ops, &externals).unwrap();
        for (policy, reshape) in Policy::VARIANTS.iter().flat_map(|policy| ReshapeCost::VARIANTS.iter().map(move |reshape| (*policy, *reshape))) {
            let mut options = Options::of_policy(policy);
            options.conventions.reshape = reshape;
            let kernels = plan(&graph, &options).partition;
            let members: BTreeSet<OpId> = kernels.kernels.iter().flatten().copied().collect();
            prop_assert_eq!(members.len(), ops.len());
            prop_assert_eq!(kernels.kernels.iter().map(<[OpId]>::len).sum::<usize>(), ops.len());
            prop_assert!(kernels.kernels.iter().all(<[OpId]>::is_sorted));
            prop_assert!(runs_in_order(&graph, &kernels), "{policy:?}");
        }
    }

    /// So the kernels that a picture numbers are those that run.
    #[test]
    fn a_free_view_is_in_the_kernel_that_writes_or_first_reads_its_bytes((ops, externals) in random_graph::ops(20)) {
        for &policy in Policy::VARIANTS {
            let mut options = Options::of_policy(policy);
            options.conventions.reshape = ReshapeCost::View;
            let result = analyze(&ops, &externals, &options).unwrap();
            for (kernel, _) in result.fused.kernels.iter_enumerated().filter(|(_, kernel)| kernel.is_free) {
                let outside = |edges: &Adjacency<OpId, OpId>| -> BTreeSet<KernelId> {
                    let others = result.partition.kernels[kernel].iter().flat_map(|&op| edges[op].to_vec());
                    others.map(|op| result.partition.kernel_of[op]).filter(|&of| of != kernel).collect()
                };
                let (written_by, read_by) = (outside(&result.graph.predecessors), outside(&result.graph.successors));
                prop_assert!(written_by.len() > 1 || written_by.is_empty() && read_by.is_empty(), "{policy:?}");
            }
        }
    }

    #[test]
    fn a_group_is_an_in_tree_that_writes_its_root((ops, externals) in random_graph::ops(20)) {
        let result = analysis(&ops, &externals, Conventions::default());
        let graph = &result.graph;
        for (kernel, members) in result.fused.kernels.iter().zip(result.partition.kernels.iter()) {
            let (&root, inner) = members.split_last().unwrap();
            for &op in inner {
                prop_assert_eq!(graph.successors[op].len(), 1);
                prop_assert!(members.contains(&graph.successors[op][0]));
            }
            let written: Vec<_> = kernel.traffic.writes.iter().map(|w| w.tensor).collect();
            prop_assert_eq!(written, [graph.output[root]]);
            let matmuls = members.iter().filter(|&&op| graph.ops[op].op_type == OpType::Matmul).count();
            prop_assert!(matmuls <= 1);
        }
    }

    #[test]
    fn fusion_keeps_flops_and_never_adds_bytes((ops, externals) in random_graph::ops(20)) {
        for conventions in all_conventions() {
            let result = analysis(&ops, &externals, conventions);
            let flops = |kernels: &IdVec<KernelId, fuseline_core::Kernel>| -> u128 { kernels.iter().map(|k| k.work.flops()).sum() };
            prop_assert_eq!(flops(&result.unfused.kernels), flops(&result.fused.kernels));
            let (before, after) = (result.unfused.traffic, result.fused.traffic);
            prop_assert!(after.bytes_read <= before.bytes_read);
            prop_assert!(after.bytes_written <= before.bytes_written);
            prop_assert_eq!(after.saved_by_fusion, (before.total - after.total).cast_signed());
            prop_assert!(result.fused.time_s <= result.unfused.time_s * (1.0 + 1e-12));
            prop_assert!(result.speedup.is_none_or(|speedup| speedup >= 1.0 - 1e-12));
        }
    }

    #[test]
    fn a_kernel_moves_right_on_the_roofline((ops, externals) in random_graph::ops(20)) {
        let result = analysis(&ops, &externals, Conventions::default());
        for (kernel, comparison) in result.fused.kernels.iter().zip(&result.comparisons) {
            let before = comparison.unfused_placement.intensity;
            if let (Some(before), Some(after)) = (before, kernel.placement.intensity) {
                prop_assert!(before <= after);
            }
        }
    }

    #[test]
    fn the_bytes_of_tensors_and_of_kernels_are_the_same_bytes((ops, externals) in random_graph::ops(20)) {
        for conventions in all_conventions() {
            let result = analysis(&ops, &externals, conventions);
            prop_assert_eq!(result.tensors.iter().map(|t| t.unfused_bytes).sum::<u64>(), result.unfused.traffic.total);
            prop_assert_eq!(result.tensors.iter().map(|t| t.fused_bytes).sum::<u64>(), result.fused.traffic.total);
            prop_assert!(result.tensors.iter().all(|t| t.fused_bytes <= t.unfused_bytes));
            for (tensor, traffic) in result.tensors.iter_enumerated() {
                prop_assert!(!(traffic.is_on_chip && result.graph.is_final(tensor) && conventions.reshape == ReshapeCost::Copy));
            }
        }
    }

    #[test]
    fn renaming_and_reordering_change_nothing((ops, externals) in random_graph::ops(12), seed in any::<u64>()) {
        let result = analysis(&ops, &externals, Conventions::default());
        let rename = |name: &str| if name.starts_with('t') { format!("renamed_{name}") } else { name.to_owned() };
        let mut shuffled: Vec<Op> = ops.iter().map(|op| Op {
            name: rename(&op.name),
            output: rename(&op.output),
            inputs: op.inputs.iter().map(|i| rename(i)).collect(),
            ..op.clone()
        }).collect();
        let mut state = seed | 1;
        for i in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(i, (state >> 33) as usize % (i + 1));
        }
        let other = analysis(&shuffled, &externals, Conventions::default());
        prop_assert_eq!(other.unfused.traffic, result.unfused.traffic);
        prop_assert!(runs_in_order(&other.graph, &other.partition));
    }

    #[test]
    fn the_block_saves_twenty_bytes_widths_a_hidden_element(s in 1_u64..4000, head in 1_u64..200, heads in 1_u64..64, width in prop::sample::select(vec![1_u32, 2, 4, 8])) {
        let block = fuseline_core::analyze_transformer_block(s, head * heads, heads, width).unwrap();
        prop_assert_eq!(block.fused_traffic.saved_by_fusion.unsigned_abs(), 20 * s * head * heads * u64::from(width));
        prop_assert_eq!(block.fusion_groups.len(), 9);
    }
}
