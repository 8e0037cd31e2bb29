//! Speed of the core: the time per op must not grow with the size of the program.
//!
//! Criterion measures the distributions. The summary at the end prints ns per op and the ratio
//! between two sizes, which are measured in turns in one run because the machine's speed drifts.
//! The summary of ops and texts uses processor time, because other processes interrupt long runs
//! more than short ones.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "criterion's macros, and a benchmark may panic"
)]

mod families;
#[path = "../model/gpt2.rs"]
mod gpt2;

use cpu_time::ThreadTime;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group};
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::{
    FusionOptions, Graph, Objective, Op, OpType, Options, Policy, TensorDecl, analyze,
    analyze_program, build_graph, notation, plan,
};
use gpt2::{OPS_PER_BLOCK, gpt2};
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The page's memory grows and is never returned. The system's allocator returns it after each run
/// and requests it again, which costs the large sizes more than the analysis does. This one keeps
/// it, with the setting `MIMALLOC_PURGE_DELAY` in `.cargo/config.toml`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 3] = [14, 10_000, 100_000];
/// Numbers of chained GPT-2 blocks whose optimum is searched.
const BLOCKS: [usize; 4] = [1, 12, 48, 96];
/// Ops of a graph with more ways to fuse than the search budget can visit.
const HARD_OPS: usize = 60;
/// Assumed slowdown of the page against native code. The page's limit is 50 ms.
const PAGE_FACTOR: f64 = 3.0;
/// Largest allowed ratio of times when the number of ops grows tenfold.
const LINEAR_LIMIT: f64 = 12.0;

/// Chained transformer blocks, cut at `count` ops.
fn stack(count: usize) -> (Vec<Op>, Vec<TensorDecl>) {
    let (block, externals) = transformer_block(512, 768, 12, 2).expect("a valid block");
    let mut ops = Vec::with_capacity(count + block.len());
    while ops.len() < count {
        let layer = ops.len() / block.len();
        let rename = |name: &String| match name.as_str() {
            "input" if layer > 0 => format!("ln2.{}", layer - 1),
            "input" | "w_qkv" | "w_out" | "w_ffn_up" | "w_ffn_down" => name.clone(),
            _ => format!("{name}.{layer}"),
        };
        ops.extend(block.iter().map(|op| Op {
            name: rename(&op.name),
            output: rename(&op.output),
            inputs: op.inputs.iter().map(rename).collect(),
            ..op.clone()
        }));
    }
    ops.truncate(count);
    (ops, externals)
}

/// The same program as text.
fn text(count: usize) -> String {
    let (ops, externals) = stack(count);
    let list = |sizes: &[u64]| {
        sizes
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = String::new();
    for tensor in &externals {
        writeln!(
            text,
            "weight {} : f16[{}]",
            tensor.name,
            list(&tensor.shape)
        )
        .unwrap();
    }
    for op in &ops {
        let inputs = op.inputs.join(", ");
        let callee = match (op.op_type, op.k) {
            (OpType::Matmul, Some(k)) => format!("matmul({inputs}, k={k})"),
            _ => format!("{}({inputs})", op.op_type.name()),
        };
        writeln!(
            text,
            "{}: {} = {callee} : f16[{}]",
            op.name,
            op.output,
            list(&op.shape)
        )
        .unwrap();
    }
    text
}

fn whole_text(text: &str, options: &Options) -> usize {
    let outcome = analyze_program(&notation::parse(text).program, options);
    outcome.analysis.expect("a valid program").graph.ops.len()
}

fn analysis(c: &mut Criterion) {
    let mut group = c.benchmark_group("analyze");
    for count in SIZES {
        let (ops, externals) = stack(count);
        let options = Options::default();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            b.iter_batched(
                || ops.clone(),
                |ops| analyze(black_box(ops), &externals, &options),
                BatchSize::PerIteration,
            );
        });
    }
}

fn text_to_analysis(c: &mut Criterion) {
    let mut group = c.benchmark_group("text_to_analysis");
    for count in SIZES {
        let text = text(count);
        let options = Options::default();
        assert_eq!(whole_text(&text, &options), count, "every op is analysed");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            b.iter(|| whole_text(black_box(&text), &options));
        });
    }
}

/// The optimum of chained GPT-2 blocks: each block consists of a few regions.
fn optimum(c: &mut Criterion) {
    blocks_in_a_row(c, "optimum", Policy::Optimal);
}

/// The kernels of policy `inductor` for the same blocks.
fn compiler(c: &mut Criterion) {
    blocks_in_a_row(c, "compiler", Policy::Inductor);
}

fn blocks_in_a_row(c: &mut Criterion, name: &str, policy: Policy) {
    let mut group = c.benchmark_group(name);
    for blocks in BLOCKS {
        let (ops, externals) = gpt2(blocks, true);
        let graph = build_graph(&ops, &externals).expect("a valid program");
        let options = Options::of_policy(policy);
        group.throughput(Throughput::Elements((blocks * OPS_PER_BLOCK) as u64));
        group.bench_function(BenchmarkId::from_parameter(blocks), |b| {
            b.iter(|| plan(black_box(&graph), &options));
        });
    }
}

fn optimum_summary() {
    const ROUNDS: usize = 25;
    let options = Options::of_policy(Policy::Optimal);
    let graphs = BLOCKS.map(|blocks| {
        let (ops, externals) = gpt2(blocks, true);
        build_graph(&ops, &externals).expect("a valid program")
    });
    let medians = medians(ROUNDS, BLOCKS.len(), &|size| {
        let start = Instant::now();
        let plan = black_box(plan(&graphs[size], &options));
        let time = start.elapsed();
        let certificate = plan.certificate.expect("a search");
        assert!(certificate.is_optimal, "proven for every size");
        time
    });
    println!("\noptimum of GPT-2 blocks of {OPS_PER_BLOCK} ops, median of {ROUNDS} rounds");
    for (blocks, seconds) in BLOCKS.iter().zip(&medians) {
        println!(
            "{blocks:>3} blocks {:>9.3} ms {:>9.1} µs a block",
            seconds * 1e3,
            seconds * 1e6 / *blocks as f64
        );
    }
    println!(
        "one block under a millisecond {}",
        verdict(medians[0] < 1e-3)
    );
    let ratio = medians[3] / medians[1];
    println!(
        "96 blocks in {ratio:.1} times the time of 12 (limit {}) {}",
        8.0 * LINEAR_LIMIT / 10.0,
        verdict(ratio <= 8.0 * LINEAR_LIMIT / 10.0)
    );
}

/// Elementwise ops that each read two of the six ops before them, so that nearly every set of
/// neighbours can be a kernel.
fn hard_graph(seed: u64) -> Graph {
    let mut state = seed;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut ops = Vec::with_capacity(HARD_OPS);
    for at in 1..=HARD_OPS as u64 {
        let mut read = || format!("x{}", (at - 1).saturating_sub(random(6)));
        let (first, second, name) = (read(), read(), format!("x{at}"));
        let inputs = [first.as_str(), second.as_str()];
        ops.push(Op::new(
            &name,
            OpType::Elementwise,
            &inputs,
            &name,
            &[256, 256],
            2,
        ));
    }
    build_graph(&ops, &[TensorDecl::new("x0", &[256, 256], 2)]).expect("a valid program")
}

fn hard_summary() {
    const ROUNDS: usize = 9;
    let graphs: Vec<Graph> = (1..=8).map(hard_graph).collect();
    let seconds_of = |states: usize| {
        let mut options = Options::of_policy(Policy::Optimal);
        options.fusion.objective = Objective::Time;
        options.fusion.horizontal = true;
        options.fusion.budget_states = states;
        let medians = medians(ROUNDS, graphs.len(), &|graph| {
            let start = Instant::now();
            black_box(plan(&graphs[graph], &options));
            start.elapsed()
        });
        medians.into_iter().fold(0.0, f64::max)
    };
    let [page, full] = [PAGE_BUDGET_STATES, FusionOptions::default().budget_states].map(seconds_of);
    println!(
        "\nslowest of {} hard graphs of {HARD_OPS} ops: {:.1} ms with the page's budget, {:.1} ms with the command line's",
        graphs.len(),
        page * 1e3,
        full * 1e3
    );
    println!(
        "on a page under 50 ms {}",
        verdict(page * PAGE_FACTOR < 0.05)
    );
}

const fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "DOES NOT HOLD" }
}

/// Median seconds for each size, measured in turns.
fn medians(rounds: usize, sizes: usize, run: &dyn Fn(usize) -> Duration) -> Vec<f64> {
    let mut seconds = vec![Vec::with_capacity(rounds); sizes];
    for _ in 0..rounds {
        for (size, seconds) in seconds.iter_mut().enumerate() {
            seconds.push(run(size).as_secs_f64());
        }
    }
    for list in &mut seconds {
        list.sort_by(f64::total_cmp);
    }
    seconds.iter().map(|list| list[list.len() / 2]).collect()
}

fn summary() {
    const ROUNDS: usize = 25;
    let options = Options::default();
    let stacks = SIZES.map(stack);
    let texts = SIZES.map(text);
    let from_ops = |size: usize| {
        let (ops, externals) = stacks[size].clone();
        let start = ThreadTime::now();
        black_box(analyze(ops, &externals, &options)).expect("a valid program");
        start.elapsed()
    };
    let from_text = |size: usize| {
        let start = ThreadTime::now();
        black_box(whole_text(&texts[size], &options));
        start.elapsed()
    };
    println!(
        "\nns of processor time per op, median of {ROUNDS} rounds   14 ops   10,000 ops   100,000 ops   100,000 / 10,000 (limit {LINEAR_LIMIT})"
    );
    let runs: [(&str, &dyn Fn(usize) -> Duration); 2] = [
        ("ops to analysis", &from_ops),
        ("text to analysis", &from_text),
    ];
    for (what, run) in runs {
        let medians = medians(ROUNDS, SIZES.len(), run);
        let per_op: Vec<f64> = medians
            .iter()
            .zip(SIZES)
            .map(|(s, n)| s * 1e9 / n as f64)
            .collect();
        let ratio = medians[2] / medians[1];
        println!(
            "{what:<30} {:>8.0} {:>12.0} {:>13.0} {ratio:>14.1}   (14 ops: {:.1} µs)",
            per_op[0],
            per_op[1],
            per_op[2],
            medians[0] * 1e6
        );
        println!("{:<30} the limit {}", "", verdict(ratio <= LINEAR_LIMIT));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = analysis, text_to_analysis, optimum, compiler
}

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    summary();
    optimum_summary();
    hard_summary();
    families::summary();
}
