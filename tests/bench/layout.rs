//! Speed of the graph's layout on 48 GPT-2 blocks, and that it stays linear.
//!
//! `cargo bench --bench layout` prints the table. With `-- --graph` it prints the graph as JSON instead, which
//! `node tests/bench/layout_elk.mjs` gives to ELK and sets beside ours.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark fails loudly"
)]

#[path = "../model/dag_check.rs"]
mod dag_check;
#[path = "../model/gpt2.rs"]
mod gpt2;

use dag_check::{crossings, faults};
use fuseline::core::{Graph, Partition, Policy, build_graph, partition};
use fuseline::picture::dag::{DagLayout, EdgeEnd, layout};
use gpt2::gpt2;
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

const BLOCKS: usize = 48;
/// Most time that the layout of [`BLOCKS`] blocks may take.
const LIMIT_MS: f64 = 30.0;
/// Eight times the ops may take at most this many times the time.
const LINEAR_LIMIT: f64 = 10.0;

struct Case {
    graph: Graph,
    partition: Partition,
    picture: DagLayout,
    /// Median over the runs.
    ms: f64,
}

fn case(blocks: usize, has_weights: bool) -> Case {
    let (ops, externals) = gpt2(blocks, has_weights);
    let graph = build_graph(&ops, &externals).unwrap();
    let partition = partition(&graph, Policy::Rules);
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let began = Instant::now();
            black_box(layout(black_box(&graph), black_box(&partition)));
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Case {
        picture: layout(&graph, &partition),
        ms: times[times.len() / 2],
        graph,
        partition,
    }
}

/// Boxes, groups and edges as they are, and what came of them here.
fn as_json(name: &str, case: &Case) -> serde_json::Value {
    let picture = &case.picture;
    let id = |end: EdgeEnd| match end {
        EdgeEnd::Op(op) => format!("op{op}"),
        EdgeEnd::Pill(pill) => format!("pill{pill}"),
    };
    let (crossed, _) = crossings(&case.partition, picture);
    json!({
        "name": name,
        "ours": { "ms": case.ms, "width": picture.width, "height": picture.height, "crossings": crossed },
        "panel_padding": fuseline::picture::dag::metrics::PANEL_PADDING,
        "groups": case.partition.groups,
        "ops": picture.ops.iter().map(|op| [op.rect.width, op.rect.height]).collect::<Vec<_>>(),
        "pills": picture.pills.iter().map(|p| [p.rect.width, p.rect.height]).collect::<Vec<_>>(),
        "edges": picture.edges.iter().map(|e| json!([e.tensor, id(e.from), id(e.to)])).collect::<Vec<_>>(),
    })
}

fn main() {
    let bare = case(BLOCKS, false);
    let whole = case(BLOCKS, true);
    if std::env::args().any(|argument| argument == "--graph") {
        let cases = [
            as_json("48 GPT-2 blocks", &bare),
            as_json("48 GPT-2 blocks with weights", &whole),
        ];
        println!("{}", json!(cases));
        return;
    }
    println!("layout of GPT-2 blocks, median of 31 runs");
    println!("blocks     ops      ms  ns/op  width  height  crossings  faults");
    let mut per_size = Vec::new();
    for blocks in [BLOCKS, 8 * BLOCKS] {
        let case = case(blocks, true);
        let ops = case.graph.ops.len();
        let (crossed, through) = crossings(&case.partition, &case.picture);
        println!(
            "{blocks:6} {ops:7} {:7.2} {:6.0} {:6.0} {:7.0} {crossed:10} {:7}",
            case.ms,
            case.ms * 1e6 / ops as f64,
            case.picture.width,
            case.picture.height,
            through + faults(&case.graph, &case.partition, &case.picture).len(),
        );
        per_size.push(case.ms);
    }
    let ratio = per_size[1] / per_size[0];
    println!("eight times the ops take {ratio:.1} times the time (limit {LINEAR_LIMIT})");
    println!(
        "{BLOCKS} blocks take {:.2} ms (limit {LIMIT_MS} ms)",
        per_size[0]
    );
    if per_size[0] > LIMIT_MS || ratio > LINEAR_LIMIT {
        println!("TOO SLOW");
        std::process::exit(1);
    }
}
