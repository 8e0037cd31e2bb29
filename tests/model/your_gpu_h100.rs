//! The examples as an H100 ran them by WebGPU, beside what is predicted:
//! `tests/measure/results/webgpu_h100.json`.

use fuseline_codegen::interpret::{Reference, Setup};
use fuseline_codegen::your_gpu::{Limits, Rates, predicted, timed_budget};
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::model::device::DeviceProbe;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, analyze_program};
use fuseline_view::present::format::{format_rate, format_seconds};
use serde::Deserialize;
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../docs/kernel_code.md");

#[derive(Deserialize)]
struct File {
    rates: FileRates,
    limits: FileLimits,
    rows: Vec<Row>,
    programs: Vec<ProgramRow>,
}

#[derive(Deserialize)]
struct FileRates {
    memory_bytes_per_s: f64,
    vector_flops_per_s: f64,
    shader_product_flops_per_s: f64,
    exp_per_s: f64,
    launch_us: f64,
}

#[derive(Deserialize)]
struct FileLimits {
    buffer_bytes: u64,
    binding_bytes: u64,
    bindings: u32,
    workgroups: u32,
    workgroup_bytes: u32,
}

#[derive(Deserialize)]
struct Row {
    example: String,
    kernels: usize,
    unfused_us: f64,
    fused_us: f64,
    results: usize,
    /// The largest error over the one that is tolerated.
    error_of_tolerated: f64,
    /// Params that were smaller than the example's.
    #[serde(default)]
    reduced: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
struct ProgramRow {
    text: String,
    unfused_us: f64,
}

impl File {
    fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            max_buffer_bytes: limits.buffer_bytes,
            max_binding_bytes: limits.binding_bytes,
            max_bindings: limits.bindings,
            max_workgroups: limits.workgroups,
            max_workgroup_bytes: limits.workgroup_bytes,
        }
    }

    fn measured(&self) -> DeviceProbe {
        let rates = Rates {
            memory_bytes_per_s: self.rates.memory_bytes_per_s,
            vector_flops_per_s: self.rates.vector_flops_per_s,
            shader_product_flops_per_s: Some(self.rates.shader_product_flops_per_s),
            exp_per_s: Some(self.rates.exp_per_s),
            launch_s: self.rates.launch_us * 1e-6,
        };
        let day = "2026-11-25".parse().unwrap();
        rates.device_probe("nvidia", day, &self.limits()).unwrap()
    }

    /// What the page predicts for this GPU, and the params that it makes smaller.
    fn predicted(&self, text: &str) -> (Analysis, BTreeMap<String, i64>) {
        let program = parse(text).program;
        let options = Options::default();
        let shown = analyze_program(&program, &options).analysis.unwrap();
        let kernels = &shown.partition;
        let budget = timed_budget(&self.limits(), &self.measured());
        let large = Reference::new(&program, kernels, &Setup::default(), &budget).unwrap();
        let own = program.params.iter().map(|param| param.value);
        let reduced = large.sizes.iter().zip(own);
        let reduced = reduced.filter(|((_, timed), own)| timed != own);
        (
            predicted(&large, kernels, &self.measured(), &options).unwrap(),
            reduced.map(|(size, _)| size.clone()).collect(),
        )
    }
}

fn file() -> File {
    serde_json::from_str(include_str!("../measure/results/webgpu_h100.json")).unwrap()
}

/// Examples that are newer than the run.
const NOT_RUN: [&str; 3] = ["residual_layer", "transformer_block", "recompute"];

#[test]
fn all_examples_ran_with_right_results() {
    let file = file();
    let ids = EXAMPLES.iter().map(|example| example.id);
    let ids: Vec<&str> = ids.filter(|id| !NOT_RUN.contains(id)).collect();
    let ran: Vec<&str> = file.rows.iter().map(|row| &*row.example).collect();
    assert_eq!(ran, ids);
    for row in &file.rows {
        assert!(
            row.results > 0 && row.error_of_tolerated < 0.02,
            "{}",
            row.example
        );
    }
}

/// The document has measured times and those that the model predicts now, of the kernels that ran.
#[test]
fn the_document_has_the_times_that_were_measured() {
    let file = file();
    let (_, section) = DOCUMENT.split_once("## On a real GPU\n").unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let mut told = 0;
    for line in lines {
        let id = line.split('`').nth(1).unwrap();
        let row = file.rows.iter().find(|row| row.example == id).unwrap();
        let (analysis, reduced) = file.predicted(example(id).unwrap().text);
        assert_eq!(analysis.partition.kernels.len(), row.kernels, "{id}");
        assert_eq!(reduced, row.reduced, "{id}");
        let [unfused, fused] = [
            (analysis.unfused.time_s, row.unfused_us),
            (analysis.fused.time_s, row.fused_us),
        ]
        .map(|(predicted_s, measured_us)| {
            [predicted_s, measured_us * 1e-6]
                .map(format_seconds)
                .join(" | ")
        });
        assert_eq!(line, format!("| `{id}` | {unfused} | {fused} |"));
        told += 1;
    }
    assert!(told >= 12, "{told} rows");
}

/// The rate of products follows from the product of 4096 x 4096 matrices, which was a program of
/// its own in this run.
#[test]
fn the_rate_of_products_is_that_of_a_product_that_ran() {
    let file = file();
    let mut programs = file.programs.iter();
    let product = programs.find(|row| row.text.ends_with("4096]\ny = matmul(x, w)"));
    let flops_per_s = 2.0 * 4096_f64.powi(3) / (product.unwrap().unfused_us * 1e-6);
    assert_eq!(
        format_rate(flops_per_s),
        format_rate(file.rates.shader_product_flops_per_s)
    );
}
