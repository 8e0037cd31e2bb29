//! The picture of the graph: nothing overlaps, no line is lost, nothing moves while a slider moves.
//!
//! `DAG_SVG=dir cargo test --test model dag` also writes all pictures into `dir`.

use crate::dag_check::{crossings, faults};
use crate::dag_svg::svg;
use crate::gpt2::{OPS_PER_BLOCK, gpt2};
use crate::random_graph;
use fuseline::core::examples::EXAMPLES;
use fuseline::core::notation::parse;
use fuseline::core::{
    Analysis, Op, OpType, Options, Partition, analyze, analyze_program, build_graph,
};
use fuseline::picture::dag::layout;
use proptest::prelude::*;

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
        std::fs::write(folder.join(format!("{name}.svg")), svg(analysis, true)).unwrap();
        std::fs::write(
            folder.join(format!("{name}_unfused.svg")),
            svg(analysis, false),
        )
        .unwrap();
    }
}

fn assert_clean(name: &str, analysis: &Analysis) {
    keep_picture(name, analysis);
    let picture = layout(&analysis.graph, &analysis.partition);
    let faults = faults(&analysis.graph, &analysis.partition, &picture);
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    assert_eq!(
        crossings(&analysis.partition, &picture),
        (0, 0),
        "{name}: crossings"
    );
}

#[test]
fn examples_have_no_overlap_and_no_crossing() {
    for example in EXAMPLES {
        assert_clean(example.id, &of_text(example.text));
    }
}

#[test]
fn gpt2_blocks_have_no_overlap_and_no_crossing() {
    assert_clean("gpt2_block", &of_gpt2(1));
    assert_clean("gpt2_stack", &of_gpt2(48));
}
