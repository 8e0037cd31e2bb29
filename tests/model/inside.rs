//! Kernels drawn as what they write, as in a large puzzle.

use crate::random_graph;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, KernelId, OpId, Options, Policy, TensorId, analyze, analyze_program,
};
use fuseline_view::picture::dag::looks::{Looks, Way};
use fuseline_view::picture::dag::{DagLayout, EdgeEnd, Folding, layout, layout_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

const LLAMA: &str = include_str!("../../public/puzzles/llama.fuse");

fn llama(policy: Policy) -> Analysis {
    let options = Options::of_policy(policy);
    analyze_program(&parse(LLAMA).program, &options)
        .analysis
        .unwrap()
}

fn folded(analysis: &Analysis) -> DagLayout {
    layout_of(&analysis.graph, &analysis.partition, Folding::Kernels)
}

/// The boxes of each kernel with the names of the ops that they stand for, too.
fn boxes(analysis: &Analysis) -> Vec<String> {
    let picture = folded(analysis);
    let name = |op: OpId| &*analysis.graph.ops[op].name;
    let kernels = analysis.partition.kernels.iter().map(|ops| {
        let shown = ops.iter().filter(|&&op| picture.shows_op(op));
        let boxes = shown.map(|&op| {
            let inside: Vec<_> = picture.inside(op).into_iter().map(name).collect();
            format!("{} ({})", name(op), inside.join(" "))
        });
        boxes.collect::<Vec<_>>().join(" | ")
    });
    kernels.collect()
}

#[test]
fn a_kernel_is_what_it_writes() {
    assert_eq!(
        boxes(&llama(Policy::Rules)),
        [
            "mean1 (square1)",
            "rms1 (eps1 rsqrt1 norm1)",
            "q (q_rows)",
            "k (k_rows)",
            "v (v_rows)",
            "q_rope (q1 q2 q_minus q_turned q_cos q_sin)",
            "k_rope (k1 k2 k_minus k_turned k_cos k_sin)",
            "masked (scores scaled)",
            "probs ()",
            "merged (mixed)",
            "resid1 (proj)",
            "mean2 (square2)",
            "rms2 (eps2 rsqrt2 norm2)",
            "up ()",
            "product (gate silu)",
            "y (down)",
        ]
    );
}

#[test]
fn of_single_ops_nothing_is_left_out() {
    let analysis = llama(Policy::None);
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    assert_eq!(folded(&analysis), layout(graph, partition));
    assert!(!Folding::Kernels.leaves_out(graph, partition));
}

#[test]
fn all_ops_of_a_small_puzzle_are_drawn() {
    let text = include_str!("../../public/puzzles/layer_norm.fuse");
    let options = Options::of_policy(Policy::Rules);
    let analysis = analyze_program(&parse(text).program, &options);
    let analysis = analysis.analysis.unwrap();
    assert!(analysis.partition.kernels.len() < analysis.graph.ops.len());
    assert_eq!(
        folded(&analysis),
        layout(&analysis.graph, &analysis.partition)
    );
}

/// The tensors that come through memory by the edges of a picture, and the kernels to which they
/// come.
fn through_memory(analysis: &Arc<Analysis>, picture: &DagLayout) -> BTreeSet<(TensorId, KernelId)> {
    let looks = Looks::new(analysis.clone(), true);
    let edges = picture.edges.iter();
    let reads = edges.filter(|edge| looks.edge(edge).way == Way::Dram);
    let reads = reads.filter_map(|edge| {
        let reader = edge.to.op()?;
        Some((edge.tensor, analysis.partition.kernel_of[reader]))
    });
    reads.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_through_memory_is_drawn_as_before(
        (ops, externals) in random_graph::fusable_ops(21..=40),
        policy in prop::sample::select(&[Policy::Rules, Policy::Inductor][..]),
    ) {
        let analysis = Arc::new(analyze(&ops, &externals, &Options::of_policy(policy)).unwrap());
        let (graph, partition) = (&analysis.graph, &analysis.partition);
        let (whole, picture) = (layout(graph, partition), folded(&analysis));
        prop_assert_eq!(through_memory(&analysis, &picture), through_memory(&analysis, &whole));
        for edge in &picture.edges {
            if let EdgeEnd::Op(reader) = edge.to {
                prop_assert!(graph.inputs[reader].contains(&edge.tensor));
                let end = edge.points.last().unwrap();
                let place = picture.ops[picture.shown_op(reader)].rect;
                prop_assert!(end.x >= place.x && end.x <= place.right());
                prop_assert!(end.y >= place.y && end.y <= place.bottom());
            }
        }
        for (op, place) in picture.ops.iter_enumerated() {
            let kernel = partition.kernel_of[op];
            let leaves = |&reader: &OpId| partition.kernel_of[reader] != kernel;
            let readers = &graph.successors[op];
            let is_written = readers.is_empty()
                || graph.is_final(graph.output[op])
                || readers.iter().any(leaves);
            let boxes: BTreeSet<OpId> = readers.iter().map(|&op| picture.shown_op(op)).collect();
            prop_assert_eq!(picture.shows_op(op), is_written || boxes.len() > 1);
            prop_assert_eq!(partition.kernel_of[picture.shown_op(op)], kernel);
            let panel = picture.panels[kernel];
            prop_assert_eq!(panel.with(&place.rect), panel);
            prop_assert!(picture.size_labels[op].is_none() || picture.shows_op(op));
        }
        for (kernel, panel) in picture.panels.iter_enumerated() {
            for (other, beside) in picture.panels.iter_enumerated() {
                prop_assert!(kernel == other || !panel.meets(beside), "{} {}", kernel, other);
            }
        }
    }
}
