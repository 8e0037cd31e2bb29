//! Speed of the graph's layout on 48 GPT-2 blocks, and whether it is linear.
//!
//! `cargo bench --bench layout` prints the table. With `-- --graph` it prints the graphs as JSON,
//! for `node tests/bench/layout_elk.mjs`, which compares the layout with ELK's.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a benchmark may panic"
)]

#[path = "../model/dag_check.rs"]
mod dag_check;
#[path = "../model/gpt2.rs"]
mod gpt2;

use dag_check::{crossings, faults};
use fuseline_core::{Graph, Options, Partition, Policy, build_graph, plan};
use fuseline_view::picture::dag::{DagLayout, EdgeEnd, layout};
use gpt2::gpt2;
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

const BLOCKS: usize = 48;
const RUNS: usize = 15;
/// Time limit for the layout of [`BLOCKS`] blocks.
const LIMIT_MS: f64 = 30.0;
/// Largest allowed ratio of times when the number of ops grows tenfold.
const LINEAR_LIMIT: f64 = 12.0;

struct Case {
    graph: Graph,
    partition: Partition,
    picture: DagLayout,
    /// One for each run.
    times_ms: Vec<f64>,
}

impl Case {
    fn new(blocks: usize, has_weights: bool) -> Self {
        let (ops, externals) = gpt2(blocks, has_weights);
        let graph = build_graph(&ops, &externals).unwrap();
        let partition = plan(&graph, &Options::of_policy(Policy::Rules)).partition;
        Self {
            picture: layout(&graph, &partition),
            graph,
            partition,
            times_ms: Vec::new(),
        }
    }

    fn run(&mut self) {
        let began = Instant::now();
        let picture = black_box(layout(black_box(&self.graph), black_box(&self.partition)));
        self.times_ms.push(began.elapsed().as_secs_f64() * 1e3);
        drop(picture);
    }

    fn ms(&self) -> f64 {
        median(self.times_ms.clone())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs the cases in turns, because the machine's speed drifts.
fn run_in_turns(cases: &mut [Case]) {
    for _ in 0..RUNS {
        for case in &mut *cases {
            case.run();
        }
    }
}

/// Boxes, groups and edges, and the results of our layout.
fn as_json(name: &str, case: &Case) -> serde_json::Value {
    let picture = &case.picture;
    let id = |end: EdgeEnd| match end {
        EdgeEnd::Op(op) => format!("op{op}"),
        EdgeEnd::Pill(pill) => format!("pill{pill}"),
    };
    let (crossed, _) = crossings(&case.partition, picture);
    json!({
        "name": name,
        "ours": { "ms": case.ms(), "width": picture.width, "height": picture.height, "crossings": crossed },
        "panel_padding": fuseline_view::picture::dag::metrics::PANEL_PADDING,
        "groups": case.partition.kernels.iter().collect::<Vec<_>>(),
        "ops": picture.ops.iter().map(|op| [op.rect.width, op.rect.height]).collect::<Vec<_>>(),
        "pills": picture.pills.iter().map(|p| [p.rect.width, p.rect.height]).collect::<Vec<_>>(),
        "edges": picture.edges.iter().map(|e| json!([e.tensor, id(e.from), id(e.to)])).collect::<Vec<_>>(),
    })
}

fn main() {
    if std::env::args().any(|argument| argument == "--graph") {
        let mut cases = [Case::new(BLOCKS, false), Case::new(BLOCKS, true)];
        run_in_turns(&mut cases);
        let cases = [
            as_json("48 GPT-2 blocks", &cases[0]),
            as_json("48 GPT-2 blocks with weights", &cases[1]),
        ];
        println!("{}", json!(cases));
        return;
    }
    let mut cases = [BLOCKS, 4 * BLOCKS, 40 * BLOCKS].map(|blocks| Case::new(blocks, true));
    // Measured alone, as on the page with its one graph; the large cases would leave the caches
    // cold.
    run_in_turns(&mut cases[..1]);
    run_in_turns(&mut cases[1..]);
    println!("layout of GPT-2 blocks, median of {RUNS} runs");
    println!("    ops      ms  ns/op  width  height  crossings  faults");
    for case in &cases {
        let ops = case.graph.ops.len();
        let (crossed, through) = crossings(&case.partition, &case.picture);
        println!(
            "{ops:7} {:7.2} {:6.0} {:6.0} {:7.0} {crossed:10} {:7}",
            case.ms(),
            case.ms() * 1e6 / ops as f64,
            case.picture.width,
            case.picture.height,
            through + faults(&case.graph, &case.partition, &case.picture).len(),
        );
    }
    let ratios = cases[2].times_ms.iter().zip(&cases[1].times_ms);
    let ratio = median(ratios.map(|(large, small)| large / small).collect());
    let ms = cases[0].ms();
    println!("ten times the ops take {ratio:.1} times the time (limit {LINEAR_LIMIT})");
    println!("{BLOCKS} blocks take {ms:.2} ms (limit {LIMIT_MS} ms)");
    if ms > LIMIT_MS || ratio > LINEAR_LIMIT {
        println!("TOO SLOW");
        std::process::exit(1);
    }
}
