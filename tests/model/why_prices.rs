//! What fusing an edge saves: on random programs, the price is the difference of two analyses.

use crate::partitions::choices;
use crate::random_graph::fusable_ops;
use crate::why::under;
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::cost::roofline;
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::cost::work::op_work;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::decision_trace::{Decision, trace_decisions};
use fuseline_core::fusion::legality;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::adjacency::Adjacency;
use fuseline_core::model::work::Work;
use fuseline_core::notation::parse;
use fuseline_core::{
    Graph, IdVec, KernelId, Op, OpId, OpType, Options, Partition, Policy, ReshapeCost, analyze,
    analyze_program, device,
};
use proptest::prelude::*;
use strum::VariantArray;

/// Bytes and seconds of all kernels, computed from scratch.
pub(crate) fn totals(graph: &Graph, options: &Options, partition: &Partition) -> (u64, f64) {
    let traffics = kernel_traffic(graph, partition, options.conventions);
    let mut sum = (0, 0.0);
    for (kernel, traffic) in partition.kernels.ids().zip(traffics) {
        let own = &partition.kernels[kernel];
        let computed = own.iter().chain(&partition.recomputed[kernel]);
        let work = computed.fold(Work::default(), |sum, &op| sum.and(op_work(graph, op)));
        let is_free = options.conventions.reshape == ReshapeCost::View
            && own.iter().all(|&op| graph.ops[op].is_view());
        sum.0 += traffic.total();
        sum.1 += roofline::place(options, work, traffic.total(), is_free).time_s;
    }
    sum
}

/// The partition with two kernels merged, in no particular order.
pub(crate) fn merged(partition: &Partition, a: KernelId, b: KernelId) -> Partition {
    let (into, gone) = (a.min(b), a.max(b));
    let kernel = |k: KernelId| match k {
        k if k == gone => into,
        k if k > gone => KernelId::new(k.index() - 1),
        k => k,
    };
    let kernel_of: IdVec<OpId, KernelId> = partition.kernel_of.iter().map(|&k| kernel(k)).collect();
    let count = partition.kernels.len();
    let mut again: IdVec<KernelId, Vec<OpId>> = IdVec::from_elem(Vec::new(), count - 1);
    for (k, ops) in partition.recomputed.iter_enumerated() {
        let ops = ops.iter().copied();
        again[kernel(k)].extend(ops.filter(|&op| kernel_of[op] != kernel(k)));
    }
    let mut partition = Partition::of_ops(kernel_of, count - 1);
    partition.recomputed = Adjacency::with_capacity(count, 0);
    for ops in &mut again {
        ops.sort_unstable();
        ops.dedup();
        partition.recomputed.push(ops.iter().copied());
    }
    partition
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_edge_has_one_verdict_and_the_price_of_a_new_analysis((ops, externals) in fusable_ops(1..=24), options in choices(), policy in prop::sample::select(Policy::VARIANTS)) {
        let options = Options { policy, ..options };
        let analysis = analyze(&ops, &externals, &options).unwrap();
        let graph = &analysis.graph;
        let partition = &analysis.partition;
        let edges = Why::new(&analysis).edges();
        let asked: Vec<(OpId, OpId)> = edges.iter().map(|e| (e.producer, e.consumer)).collect();
        let all: Vec<(OpId, OpId)> = (graph.ops.ids())
            .flat_map(|op| graph.predecessors[op].iter().map(move |&p| (p, op)))
            .collect();
        prop_assert_eq!(asked, all);
        let before = totals(graph, &options, partition);
        for edge in &edges {
            let (a, b) = (partition.kernel_of[edge.producer], partition.kernel_of[edge.consumer]);
            let Verdict::Separate { reason, price } = &edge.verdict else {
                prop_assert!(partition.computes(b, edge.producer));
                continue;
            };
            prop_assert!(!partition.computes(b, edge.producer));
            let after_partition = merged(partition, a, b);
            let after = totals(graph, &options, &after_partition);
            let saved_bytes = i64::try_from(before.0).unwrap() - i64::try_from(after.0).unwrap();
            prop_assert_eq!(price.saved_bytes(), saved_bytes, "{:?}", edge);
            let has_matmul = |kernel| {
                partition.kernels[kernel].iter().any(|&op| graph.ops[op].op_type == OpType::Matmul)
            };
            match price.bound_saved_s() {
                Some(saved_s) => prop_assert!((saved_s - (before.1 - after.1)).abs() <= 1e-9 * before.1, "{:?}", edge),
                None => prop_assert!(has_matmul(a) && has_matmul(b), "{:?}", edge),
            }
            // A reason against a merge must be true of the merged kernel.
            let whole = &after_partition.kernels[a.min(b)];
            let is_free_to_merge = matches!(
                reason,
                Reason::NotWorthIt | Reason::NotLookedAt | Reason::NotStated
            );
            if is_free_to_merge {
                prop_assert_eq!(legality::check(graph, &options, whole), Ok(()));
                prop_assert!(can_be_ordered(graph, &after_partition));
            }
            if let Reason::Cycle { path } = reason {
                prop_assert!(!can_be_ordered(graph, &after_partition));
                // A path from one kernel to the other: each op feeds the next or is in the same
                // kernel.
                prop_assert_eq!(partition.kernel_of[path[0]], a);
                prop_assert!(partition.computes(b, path[path.len() - 1]));
                let goes_on = path.windows(2).all(|pair| {
                    graph.successors[pair[0]].contains(&pair[1])
                        || partition.computes(partition.kernel_of[pair[1]], pair[0])
                });
                prop_assert!(goes_on, "{path:?}");
            }
            // The compiler has its own rules.
            let is_compilers = matches!(
                reason,
                Reason::TooManyNodes { .. }
                    | Reason::LibraryCall { .. }
                    | Reason::FusedAttention { .. }
                    | Reason::Loops { .. }
                    | Reason::Reordered
                    | Reason::TooLittleShared { .. }
                    | Reason::KeepsMemory { .. }
                    | Reason::Between { .. }
                    | Reason::TooFar { .. }
                    | Reason::NotCompared
            );
            let is_order = matches!(reason, Reason::Cycle { .. });
            prop_assert!(is_order || is_compilers == (policy == Policy::Inductor), "{:?}", edge);
            if policy == Policy::Optimal && analysis.certificate.unwrap().is_optimal {
                prop_assert!(*reason != Reason::NotLookedAt, "{:?}", edge);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reason_of_an_edge_under_the_rules_is_their_refusal((ops, externals) in fusable_ops(1..=24)) {
        let options = under(Policy::Rules);
        let analysis = analyze(&ops, &externals, &options).unwrap();
        let decisions = trace_decisions(&analysis.graph, &options).decisions;
        for edge in Why::new(&analysis).edges() {
            let Verdict::Separate { reason, .. } = edge.verdict else {
                continue;
            };
            if matches!(reason, Reason::Cycle { .. }) {
                continue;
            }
            let ops = vec![edge.producer, edge.consumer];
            let refused = Decision::Refused { ops, reason };
            prop_assert!(decisions.contains(&refused), "{refused:?}");
        }
    }
}

/// Whether kernels can be ordered, with recomputed ops depending on no other kernel.
fn can_be_ordered(graph: &Graph, partition: &Partition) -> bool {
    let kernels = partition.kernels.ids();
    let mut done = IdVec::from_elem(false, kernels.len());
    for _ in kernels.clone() {
        for kernel in kernels.clone() {
            let mut ops = partition.kernels[kernel]
                .iter()
                .chain(&partition.recomputed[kernel]);
            done[kernel] |= ops.all(|&op| {
                graph.predecessors[op]
                    .iter()
                    .all(|&p| partition.computes(kernel, p) || done[partition.kernel_of[p]])
            });
        }
    }
    done.into_iter().all(|is_done| is_done)
}

/// Each kernel of the partition as a mark on its ops.
fn marked(ops: &[Op], graph: &Graph, partition: &Partition) -> Vec<Op> {
    let mut ops = ops.to_vec();
    for (op, &kernel) in partition.kernel_of.iter_enumerated() {
        ops[graph.listed_at[op]].kernel = u32::try_from(kernel.number()).ok();
    }
    ops
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The programs are so small that every access hits the cache, whatever is merged.
    #[test]
    fn on_a_measured_device_the_predicted_saving_is_that_of_a_new_analysis((ops, externals) in fusable_ops(1..=16), reshape in prop::sample::select(ReshapeCost::VARIANTS)) {
        let mut options = under(Policy::Manual);
        options.device = device("h200").unwrap().clone();
        options.conventions.reshape = reshape;
        let rules = analyze(&ops, &externals, &Options { policy: Policy::Rules, ..options.clone() }).unwrap();
        let before = analyze(marked(&ops, &rules.graph, &rules.partition), &externals, &options).unwrap();
        let Some(predicted) = &before.predicted else {
            return Ok(());
        };
        let why = Why::new(&before);
        for edge in why.priced_edges() {
            let [a, b] = [edge.producer, edge.consumer].map(|op| before.partition.kernel_of[op]);
            if why.merge(a, b).is_err() {
                continue;
            }
            let merged = merged(&before.partition, a, b);
            let after = analyze(marked(&ops, &before.graph, &merged), &externals, &options).unwrap();
            prop_assert!(after.refused.is_empty());
            let saved_s = predicted.fused_s - after.predicted.unwrap().fused_s;
            let price_s = edge.price.predicted_saved_s().unwrap();
            prop_assert!((price_s - saved_s).abs() <= 1e-9 * predicted.fused_s, "{price_s} {saved_s}");
            prop_assert!(edge.price.time_s() == Some(price_s));
        }
    }
}

/// torch.compile computes an op again in an earlier reader and writes it before its input is
/// overwritten, for a later reader. Nothing need write it for both readers as one kernel.
#[test]
fn a_merge_spares_the_write_of_what_one_kernel_computes_again_and_the_other_reads() {
    let text = "input x : f32[1024, 1024]\ne = exp(x)\ns = sum(e, axis=1, keepdim=true)\nq = sum(e, axis=0)\nx2 = mul_(x, 2)\nz = mul(e, s)\nc = sum(z, axis=0)\n";
    let options = under(Policy::Inductor);
    let analysis = analyze_program(&parse(text).program, &options);
    let analysis = analysis.analysis.unwrap();
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let op = |name: &str| {
        graph
            .ops
            .ids()
            .find(|&op| graph.ops[op].name == name)
            .unwrap()
    };
    let [e, writes, reads] = ["e", "x2", "z"].map(|name| partition.kernel_of[op(name)]);
    assert!(
        writes != e && partition.computes(writes, op("e")) && !partition.computes(reads, op("e"))
    );
    let why = Why::new(&analysis);
    let edge = why
        .priced_edges()
        .into_iter()
        .find(|edge| edge.consumer == op("z") && edge.producer != op("e"));
    let after = totals(graph, &options, &merged(partition, writes, reads)).0;
    let before = totals(graph, &options, partition).0;
    assert_eq!(
        edge.unwrap().price.saved_bytes(),
        before.cast_signed() - after.cast_signed()
    );
    // The merged kernel reads neither `s` nor `e`, and no kernel writes them.
    assert_eq!(before - after, 2 * (1024 + 1024 * 1024) * 4);
}

/// No merge is priced at more than the two kernels take; without a time are only merges with a
/// matmul.
#[test]
fn no_price_exceeds_the_time_of_the_two_kernels() {
    let mut without_time = 0;
    for example in EXAMPLES {
        let program = parse(example.text).program;
        for &policy in Policy::VARIANTS {
            for id in ["a100-80", "h100", "h200"] {
                let mut options = under(policy);
                options.device = device(id).unwrap().clone();
                let analysis = analyze_program(&program, &options).analysis.unwrap();
                let (partition, graph) = (&analysis.partition, &analysis.graph);
                let now_s = |kernel| match &analysis.predicted {
                    Some(predicted) => predicted.kernels[kernel].time_s,
                    None => analysis.fused.kernels[kernel].placement.time_s,
                };
                for edge in Why::new(&analysis).priced_edges() {
                    let kernels = [edge.producer, edge.consumer].map(|op| partition.kernel_of[op]);
                    let has_matmul = |kernel| {
                        let mut ops = partition.kernels[kernel].iter();
                        ops.any(|&op| graph.ops[op].op_type == OpType::Matmul)
                    };
                    let Some(saved_s) = edge.price.time_s() else {
                        assert!(kernels.into_iter().any(has_matmul));
                        without_time += 1;
                        continue;
                    };
                    let both_s: f64 = kernels.into_iter().map(now_s).sum();
                    assert!(
                        saved_s.abs() <= both_s,
                        "{} on {id}, {policy:?}: {saved_s} of {both_s}, {edge:?}",
                        example.id
                    );
                }
            }
        }
    }
    assert!(without_time > 0);
}
