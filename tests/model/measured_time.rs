//! The objective *measured time*: records of fused patterns decide what is one kernel.

use crate::calibration::shipped;
use crate::cli::{run, stderr, stdout};
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::fusion::structure::structure;
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, FusionOptions, Objective, OpId, Options, Policy, analyze_program, device,
};
use std::fmt::Write as _;
use std::sync::Arc;

/// The search by measured time on the command line.
const MEASURED_ON_H200: [&str; 8] = [
    "analyze",
    "-",
    "--policy",
    "optimal",
    "--objective",
    "measured",
    "--device",
    "h200",
];

pub(crate) fn options(policy: Policy, min_speedup_percent: u32, device_id: &str) -> Options {
    Options {
        fusion: FusionOptions {
            objective: Objective::Measured,
            min_speedup_percent,
            ..FusionOptions::default()
        },
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(policy)
    }
}

fn analysed(text: &str, options: &Options) -> Analysis {
    analyze_program(&parse(text).program, options)
        .analysis
        .unwrap()
}

fn kernels(analysis: &Analysis) -> Vec<Vec<&str>> {
    let name = |&op: &OpId| analysis.graph.ops[op].name.as_str();
    let names = analysis
        .partition
        .kernels
        .iter()
        .map(|ops| ops.iter().map(name).collect());
    names.collect()
}

const ADD_RELU: &str =
    "input a : bf16[8192, 8192]\ninput b : bf16[8192, 8192]\ns = add(a, b)\ny = relu(s)\n";

/// Measured: 1.69 times as fast with as much work.
#[test]
fn the_threshold_decides_whether_a_measured_pattern_is_one_kernel() {
    for (percent, expected) in [(120, 1), (165, 1), (170, 2)] {
        let analysis = analysed(ADD_RELU, &options(Policy::Optimal, percent, "h200"));
        assert_eq!(analysis.partition.kernels.len(), expected, "{percent} %");
        assert!(analysis.certificate.unwrap().is_optimal);
    }
    // Nobody measured patterns on this one: the model decides, whatever the threshold.
    let analysis = analysed(ADD_RELU, &options(Policy::Optimal, 500, "a100-80"));
    assert_eq!(kernels(&analysis), [["s", "y"]]);
}

/// The cost of a chain's kernels as it is defined: bounds of lone ops over the speed-up, but never
/// below the bound of the kernel.
fn cost_s(text: &str, intervals: &[std::ops::Range<usize>]) -> f64 {
    let mut stated = String::new();
    let mut place = 0;
    for line in text.lines() {
        stated.push_str(line);
        if line.contains('=') {
            let kernel = intervals
                .iter()
                .position(|interval| interval.contains(&place));
            write!(stated, " @kernel {}", kernel.unwrap() + 1).unwrap();
            place += 1;
        }
        stated.push('\n');
    }
    let analysis = analysed(&stated, &options(Policy::Manual, 120, "h200"));
    assert_eq!(analysis.refused, [], "{stated}");
    let graph = &analysis.graph;
    let kernel_s = |kernel: &fuseline_core::Kernel| {
        let bound_s = kernel.placement.time_s;
        let alone = || kernel.ops.iter().map(|&op| analysis.unfused.of_lone_op(op));
        let flops = alone().map(|kernel| kernel.work.flops() as f64).sum();
        let name = structure(graph, kernel.ops.iter().copied(), |_| false);
        let apart_s: f64 = alone().map(|kernel| kernel.placement.time_s).sum();
        match shipped().nearest(&name, flops) {
            Some(record) if kernel.ops.len() > 1 => {
                let factor = match record.speedup_factor {
                    speedup if speedup <= 1.2 => 1.0,
                    _ if !record.is_one_kernel() => return bound_s,
                    speedup => speedup,
                };
                bound_s.max(apart_s / factor)
            }
            _ => bound_s,
        }
    };
    analysis.fused.kernels.iter().map(kernel_s).sum()
}

/// Against all ways to cut a chain into kernels.
#[test]
fn the_search_finds_the_least_measured_time() {
    let chain = |inputs: &str, ops: &[&str]| {
        let mut text = inputs.to_owned();
        for (at, op) in ops.iter().enumerate() {
            let before = at
                .checked_sub(1)
                .map_or_else(|| "a".to_owned(), |at| format!("t{at}"));
            writeln!(text, "t{at} = {}", op.replace('_', &before)).unwrap();
        }
        text
    };
    let matrices = "input a : bf16[4096, 4096]\ninput b : bf16[4096, 4096]\n";
    let linear = "input a : bf16[2048, 2048]\nweight w : bf16[2048, 2048]\nweight c : bf16[2048]\n";
    let chains = [
        chain(matrices, &["add(_, b)", "relu(_)"]),
        chain(
            matrices,
            &[
                "mul(_, b)",
                "add(_, b)",
                "relu(_)",
                "sigmoid(_)",
                "mul(_, b)",
            ],
        ),
        chain(
            matrices,
            &["sigmoid(_)", "mul(_, b)", "add(_, b)", "relu(_)"],
        ),
        chain(linear, &["matmul(_, w)", "add(_, c)", "relu(_)"]),
        chain(
            linear,
            &[
                "matmul(_, w)",
                "add(_, c)",
                "relu(_)",
                "matmul(_, w)",
                "add(_, c)",
            ],
        ),
    ];
    for text in chains {
        let analysis = analysed(&text, &options(Policy::Optimal, 120, "h200"));
        let certificate = analysis.certificate.unwrap();
        assert!(certificate.is_optimal, "{text}");
        let count = analysis.graph.ops.len();
        let matmuls = |interval: &std::ops::Range<usize>| {
            let lines = text.lines().filter(|line| line.contains('='));
            let own = lines.skip(interval.start).take(interval.len());
            own.filter(|line| line.contains("matmul")).count()
        };
        let mut least_s = f64::INFINITY;
        for cuts in 0..1_u32 << (count - 1) {
            let mut starts: Vec<usize> = vec![0];
            starts.extend((1..count).filter(|at| cuts >> (at - 1) & 1 == 1));
            starts.push(count);
            let intervals: Vec<_> = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
            // A kernel has at most one matmul, and it comes first.
            let is_legal = intervals.iter().all(|interval| {
                matmuls(interval) == matmuls(&(interval.start..interval.start + 1))
            });
            if is_legal {
                least_s = least_s.min(cost_s(&text, &intervals));
            }
        }
        let Amount::Seconds(found_s) = certificate.cost else {
            panic!("a time");
        };
        assert!(
            (found_s / least_s - 1.0).abs() < 1e-6,
            "{found_s} {least_s}\n{text}"
        );
    }
}

#[test]
fn each_kernel_says_what_decided() {
    let flags = [&MEASURED_ON_H200[..], &["--steps"]].concat();
    let steps = |text: &str| stdout(&run(&flags, text)).to_owned();
    let text = steps(ADD_RELU);
    assert!(
        text.contains("by measurement: add_relu was 1.69× faster at 134 MFLOP"),
        "{text}"
    );
    assert!(
        text.contains("no kernels that the search allows have a shorter time (measured where a record exists, otherwise the lower bound)"),
        "{text}"
    );
    let unknown = steps("input a : bf16[4096]\ns = tanh(a)\ny = exp(s)\n");
    assert!(
        unknown.contains("by the device model: the pattern was not measured"),
        "{unknown}"
    );
    let wrong = run(&[&flags[..], &["--min-speedup", "0.5"]].concat(), ADD_RELU);
    assert!(stderr(&wrong).contains("write a ratio from 1 to 5, such as 1.2"));
}

const ATTENTION: &str = "input q : bf16[16, 2048, 64]\ninput k : bf16[16, 2048, 64]\ninput v : bf16[16, 2048, 64]\nscores = matmul(q, k, transpose_b=true)\nscaled = scale(scores, factor=0.125)\nprobs = softmax(scaled)\nout = matmul(probs, v)\n";
const SDPA: &str = "input q : bf16[1, 16, 2048, 64]\ninput k : bf16[1, 16, 2048, 64]\ninput v : bf16[1, 16, 2048, 64]\nout = sdpa(q, k, v)\n";

/// Attention as one kernel, rewritten or called, takes the time of its ops over the measured
/// speed-up.
#[test]
fn attention_as_one_op_is_priced_by_measurement() {
    let apart = analysed(ATTENTION, &options(Policy::None, 120, "h200"));
    let record = shipped()
        .nearest("matmul(x,x) scale(0) softmax(1) matmul(2,x)", 1.758e10)
        .unwrap();
    let predicted_s = apart.unfused.time_s / record.speedup_factor;
    for text in [ATTENTION, SDPA] {
        let analysis = analysed(text, &options(Policy::Optimal, 120, "h200"));
        assert_eq!(analysis.partition.kernels.len(), 1, "{text}");
        let Amount::Seconds(found_s) = analysis.certificate.unwrap().cost else {
            panic!("a time");
        };
        assert!(
            (found_s / predicted_s - 1.0).abs() < 1e-6,
            "{found_s} {predicted_s}\n{text}"
        );
        let steps = stdout(&run(&[&MEASURED_ON_H200[..], &["--steps"]].concat(), text)).to_owned();
        assert!(
            steps.contains("by measurement: attention was 7.27× faster at 17.6 GFLOP"),
            "{steps}"
        );
    }
    // A slow record keeps the ops apart, where they are ops; a mask was not measured.
    let slow = Options {
        own_calibrations: Some(Arc::new(records_of("attention", 1.1))),
        ..options(Policy::Optimal, 120, "h200")
    };
    assert!(analysed(ATTENTION, &slow).partition.kernels.len() > 1);
    assert_eq!(analysed(SDPA, &slow).partition.kernels.len(), 1);
    let masked = SDPA.replace("sdpa(q, k, v)", "sdpa(q, k, v, m)");
    let masked = format!("input m : bf16[1, 1, 2048, 2048]\n{masked}");
    let steps = stdout(&run(
        &[&MEASURED_ON_H200[..], &["--steps"]].concat(),
        &masked,
    ))
    .to_owned();
    assert!(!steps.contains("by measurement"), "{steps}");
}

/// The records of `add_relu` alone, with another speed-up and of another GPU.
pub(crate) fn own_records(speedup: f64) -> Calibrations {
    records_of("add_relu", speedup)
}

/// The same of any pattern.
fn records_of(pattern: &str, speedup: f64) -> Calibrations {
    let is_it = |r: &&FusionCalibration| r.fusion_pattern == pattern;
    let mut own = Calibrations {
        device: "NVIDIA A100".to_owned(),
        patterns: shipped().patterns.iter().filter(is_it).cloned().collect(),
        ..Calibrations::default()
    };
    for record in &mut own.patterns {
        record.speedup_factor = speedup;
    }
    own
}

#[test]
fn records_of_ones_own_decide_instead_of_the_shipped_ones() {
    for (speedup, device_id, expected) in [(1.1, "h200", 2), (1.3, "h200", 1), (1.1, "a100-80", 2)]
    {
        let options = Options {
            own_calibrations: Some(Arc::new(own_records(speedup))),
            ..options(Policy::Optimal, 120, device_id)
        };
        let analysis = analysed(ADD_RELU, &options);
        assert_eq!(
            analysis.partition.kernels.len(),
            expected,
            "{speedup} {device_id}"
        );
    }
}

#[test]
fn the_command_line_reads_records_of_ones_own() {
    let file = std::env::temp_dir().join(format!("fuseline-records-{}.json", std::process::id()));
    let records = ["--calibrations", file.to_str().unwrap()];
    let flags = [&MEASURED_ON_H200[..], &records].concat();
    std::fs::write(&file, serde_json::to_string(&own_records(1.1)).unwrap()).unwrap();
    let apart = run(&flags, ADD_RELU);
    std::fs::write(&file, "{\"patterns\": []}").unwrap();
    let wrong = run(&flags, ADD_RELU);
    std::fs::remove_file(&file).unwrap();
    assert!(
        stdout(&apart).contains("2 -> 2 kernels"),
        "{}",
        stdout(&apart)
    );
    assert!(
        stderr(&wrong).contains("missing field `device`"),
        "{}",
        stderr(&wrong)
    );
}
