//! The layout of the graph: no overlaps, no lost edges, no movement when sizes change.
//!
//! `DAG_SVG=dir cargo test --test model dag` also writes all drawings to `dir`.

use crate::dag_check::{crossings, faults};
use crate::gpt2::{OPS_PER_BLOCK, gpt2};
use crate::random_graph;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::op::UnknownOperator;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Op, OpId, OpType, Options, Partition, Policy, analyze, analyze_program, build_graph,
    plan,
};
use fuseline_view::picture::dag::layout;
use fuseline_view::picture::export::graph;
use proptest::prelude::*;
use std::sync::Arc;

fn of_text(text: &str) -> Analysis {
    analyze_program(&parse(text).program, &Options::default())
        .analysis
        .unwrap()
}

fn of_gpt2(blocks: usize) -> Analysis {
    let (ops, externals) = gpt2(blocks, true);
    assert_eq!(ops.len(), blocks * OPS_PER_BLOCK);
    analyze(&ops, &externals, &Options::default()).unwrap()
}

fn keep_picture(name: &str, analysis: &Analysis) {
    if let Some(folder) = std::env::var_os("DAG_SVG") {
        let folder = std::path::PathBuf::from(folder);
        let analysis = Arc::new(analysis.clone());
        let layout = layout(&analysis.graph, &analysis.partition);
        let svg = |is_fused| graph(&analysis, &layout, is_fused).plain_svg();
        std::fs::write(folder.join(format!("{name}.svg")), svg(true)).unwrap();
        std::fs::write(folder.join(format!("{name}_unfused.svg")), svg(false)).unwrap();
    }
}

fn assert_clean(name: &str, analysis: &Analysis) {
    assert_crossings(name, analysis, 0);
}

fn assert_crossings(name: &str, analysis: &Analysis, allowed: usize) {
    keep_picture(name, analysis);
    let picture = layout(&analysis.graph, &analysis.partition);
    let faults = faults(&analysis.graph, &analysis.partition, &picture);
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    assert_eq!(
        crossings(&analysis.partition, &picture),
        (allowed, 0),
        "{name}: crossings"
    );
}

#[test]
fn examples_have_no_overlap_and_no_crossing() {
    for example in EXAMPLES {
        // Two of its kernels read the same two tables, which a layered drawing cannot show without
        // a crossing.
        let allowed = if example.id == "llama" { 4 } else { 0 };
        assert_crossings(example.id, &of_text(example.text), allowed);
    }
}

#[test]
fn gpt2_blocks_have_no_overlap_and_no_crossing() {
    assert_clean("gpt2_block", &of_gpt2(1));
    assert_clean("gpt2_stack", &of_gpt2(48));
}

/// Partitions that no policy makes: convex kernels with several results and with ops that others
/// read.
fn any_partition(count: usize, cuts: &[bool]) -> Partition {
    let mut kernels: Vec<Vec<OpId>> = Vec::new();
    for op in (0..count).map(OpId::new) {
        let starts_kernel = cuts.get(op.index() % cuts.len().max(1)) != Some(&false);
        match kernels.last_mut() {
            // Consecutive ops in execution order are always convex.
            Some(kernel) if !starts_kernel => kernel.push(op),
            _ => kernels.push(vec![op]),
        }
    }
    Partition::new(&kernels, count)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_have_no_overlap((ops, externals) in random_graph::ops(40)) {
        let analysis = analyze(&ops, &externals, &Options::default()).unwrap();
        let picture = layout(&analysis.graph, &analysis.partition);
        let faults = faults(&analysis.graph, &analysis.partition, &picture);
        prop_assert!(faults.is_empty(), "{faults:#?}");
        prop_assert_eq!(crossings(&analysis.partition, &picture).1, 0, "lines through boxes");
        prop_assert_eq!(&picture, &layout(&analysis.graph, &analysis.partition));
    }

    /// Results that other ops read have their pills between the ops of their kernel.
    #[test]
    fn results_inside_kernels_overlap_nothing(
        (mut ops, externals) in random_graph::ops(20),
        is_output in prop::collection::vec(any::<bool>(), 20),
    ) {
        for (op, is_output) in ops.iter_mut().zip(is_output) {
            op.is_output = is_output;
        }
        let analysis = analyze(&ops, &externals, &Options::default()).unwrap();
        let picture = layout(&analysis.graph, &analysis.partition);
        let faults = faults(&analysis.graph, &analysis.partition, &picture);
        prop_assert!(faults.is_empty(), "{}", faults.join("; "));
    }

    #[test]
    fn any_kernels_have_no_overlap(
        (ops, externals) in random_graph::ops(30),
        cuts in prop::collection::vec(any::<bool>(), 1..12),
    ) {
        let graph = build_graph(&ops, &externals).unwrap();
        let partition = any_partition(graph.ops.len(), &cuts);
        let picture = layout(&graph, &partition);
        let faults = faults(&graph, &partition, &picture);
        prop_assert!(faults.is_empty(), "{faults:#?}");
        prop_assert_eq!(crossings(&partition, &picture).1, 0, "lines through boxes");
    }
}

#[test]
fn sizes_move_nothing() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let small = of_text(&text.replace("param S = 2048", "param S = 128"));
    let large = of_text(&text.replace("param S = 2048", "param S = 16384"));
    assert_ne!(small.fused.traffic, large.fused.traffic);
    assert_eq!(
        layout(&small.graph, &small.partition),
        layout(&large.graph, &large.partition)
    );
}

#[test]
fn a_long_name_makes_no_wide_picture() {
    let name = "n".repeat(10_000);
    let ops = [
        Op::new(&name, OpType::Matmul, &["x", &name[1..]], "y", &[8, 8], 2),
        Op {
            unknown: Some(Box::new(UnknownOperator {
                name: Some(name.clone()),
                flops: None,
                units: None,
            })),
            ..Op::new("z", OpType::Elementwise, &["y"], &name[2..], &[8, 8], 2)
        },
    ];
    let analysis = analyze(&ops, &[], &Options::default()).unwrap();
    assert_clean("long_names", &analysis);
    let picture = layout(&analysis.graph, &analysis.partition);
    assert!(picture.width < 500.0, "{}", picture.width);
    assert!(
        picture.ops[OpId::new(0)].function == "matmul"
            && picture.ops[OpId::new(1)].function.ends_with('…')
    );
}

#[test]
fn an_op_with_very_many_inputs_gets_few_pills() {
    let names: Vec<String> = (0..5_000).map(|i| format!("x{i}")).collect();
    let inputs: Vec<&str> = names.iter().map(String::as_str).collect();
    let ops = [Op::new("concat", OpType::Reshape, &inputs, "y", &[8], 2)];
    let analysis = analyze(&ops, &[], &Options::default()).unwrap();
    assert_clean("many_inputs", &analysis);
    let picture = layout(&analysis.graph, &analysis.partition);
    assert!(picture.pills.len() < 10);
    assert!(
        picture
            .pills
            .iter()
            .any(|pill| pill.text.ends_with(" more"))
    );
}

/// A network that keeps every activation for its backward pass: `depth` nested skips.
fn hourglass(depth: usize) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut last = "x".to_owned();
    for index in 0..2 * depth {
        let name = format!("t{index}");
        let skip = format!("t{}", (2 * depth).saturating_sub(index + 1));
        let inputs: &[&str] = if index < depth {
            &[&last]
        } else {
            &[&last, &skip]
        };
        ops.push(Op::new(&name, OpType::Reduction, inputs, &name, &[8], 2));
        last = name;
    }
    ops
}

#[test]
fn nested_skips_cross_nothing_while_they_are_few() {
    assert_clean(
        "hourglass",
        &analyze(hourglass(12), &[], &Options::default()).unwrap(),
    );
}

#[test]
fn very_many_long_skips_go_around_and_stay_linear() {
    for depth in [200, 10_000] {
        let ops = hourglass(depth);
        let graph = build_graph(&ops, &[]).unwrap();
        let partition = plan(&graph, &Options::of_policy(Policy::Rules)).partition;
        let picture = layout(&graph, &partition);
        let points: usize = picture.edges.iter().map(|edge| edge.points.len()).sum();
        assert!(points < 20 * graph.ops.len(), "{points} corners");
        if depth < 1_000 {
            let faults = faults(&graph, &partition, &picture);
            assert!(faults.is_empty(), "{faults:#?}");
            assert_eq!(crossings(&partition, &picture).1, 0, "lines through boxes");
        }
    }
}

#[test]
fn nothing_gives_an_empty_picture() {
    let analysis = analyze(&[], &[], &Options::default()).unwrap();
    assert_clean("empty", &analysis);
}

#[test]
fn corners_of_a_path_are_round() {
    use fuseline_view::picture::dag::{Point, path::path_data};
    let points = [
        Point::new(0.0, 0.0),
        Point::new(0.0, 20.0),
        Point::new(30.0, 20.0),
    ];
    assert_eq!(path_data(&points, 8.0), "M0 0L0 12Q0 20 8 20L30 20");
}
