//! The measured patterns: op lists that describe the measured programs. Op by op they launch as
//! many kernels as eager PyTorch.

use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Conventions, Options, Policy, ReshapeCost, analyze_program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A row of the measured file.
pub(crate) struct Row {
    pub(crate) pattern: String,
    pub(crate) variant: String,
    pub(crate) size: Vec<i64>,
    pub(crate) launches: usize,
    pub(crate) time_us: f64,
    pub(crate) dram_read_bytes: Option<u64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("public/measured")
}

pub(crate) fn rows() -> Vec<Row> {
    rows_of("h200.json")
}

fn rows_of(file: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let rows = file["rows"].as_array().unwrap().iter();
    rows.map(|row| Row {
        pattern: row["pattern"].as_str().unwrap().to_owned(),
        variant: row["variant"].as_str().unwrap().to_owned(),
        size: row["size"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_i64().unwrap())
            .collect(),
        launches: row["kernels"].as_array().unwrap().len(),
        time_us: row["time_us"].as_f64().unwrap(),
        dram_read_bytes: row["dram_read_bytes"].as_u64(),
    })
    .collect()
}

/// A pattern at its measured size; views are free, as on a GPU.
pub(crate) fn analysis(pattern: &str, size: &[i64], options: &Options) -> Analysis {
    let text = std::fs::read_to_string(folder().join(format!("{pattern}.fuse"))).unwrap();
    let parsed = parse(&text);
    assert_eq!(parsed.diagnostics, [], "{pattern}");
    let mut program = parsed.program;
    assert!(program.params.len() >= size.len(), "{pattern}");
    for (param, &value) in program.params.iter_mut().zip(size) {
        param.value = value;
    }
    let options = Options {
        conventions: Conventions {
            reshape: ReshapeCost::View,
            ..Conventions::default()
        },
        ..options.clone()
    };
    let outcome = analyze_program(&program, &options);
    assert_eq!(outcome.diagnostics, [], "{pattern}");
    outcome.analysis.unwrap()
}

#[test]
fn every_pattern_has_an_op_list_and_every_op_list_a_pattern() {
    let measured = [
        "h200.json",
        "h200_fused.json",
        "h200_decode.json",
        "h200_rows.json",
    ]
    .into_iter()
    .flat_map(rows_of);
    let patterns: BTreeSet<String> = measured.map(|row| row.pattern).collect();
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".fuse").map(str::to_owned)
        })
        .collect();
    assert_eq!(files.len(), 66);
    assert_eq!(files, patterns);
}

/// The text contains the measured size, so that the page shows the measured program.
#[test]
fn the_written_params_are_the_measured_sizes() {
    for row in rows() {
        let text = std::fs::read_to_string(folder().join(format!("{}.fuse", row.pattern))).unwrap();
        let params = parse(&text).program.params;
        let values: Vec<i64> = params.iter().map(|p| p.value).collect();
        assert_eq!(values, row.size, "{}", row.pattern);
        assert!(params.iter().all(|p| p.range.is_some()), "{}", row.pattern);
    }
}

#[test]
fn op_by_op_they_launch_what_eager_pytorch_launched() {
    for row in rows().iter().filter(|row| row.variant == "eager") {
        let analysis = analysis(&row.pattern, &row.size, &Options::of_policy(Policy::None));
        // One library call executes these four ops, in eager mode and compiled.
        let launches = match row.pattern.as_str() {
            "sdpa_flash" => 4,
            _ => row.launches,
        };
        assert_eq!(analysis.fused.launches, launches, "{}", row.pattern);
    }
}

/// If no matmul reads tiles twice and the data exceed the 60 MB of the L2, DRAM reads are
/// compulsory.
#[test]
fn op_by_op_they_read_what_was_measured() {
    let mut compared = 0;
    for row in rows().iter().filter(|row| row.variant == "eager") {
        let analysis = analysis(&row.pattern, &row.size, &Options::of_policy(Policy::None));
        let ops = &analysis.graph.ops;
        let has_matmul = ops.iter().any(|op| op.k.is_some());
        // PyTorch's layer norm reads rows of this width twice.
        let has_layer_norm = ops
            .iter()
            .any(|op| op.function == Some(Function::LayerNorm));
        let Some(measured) = row
            .dram_read_bytes
            .filter(|_| !has_matmul && !has_layer_norm)
        else {
            continue;
        };
        let read = analysis.fused.traffic.bytes_read;
        assert!(
            read.abs_diff(measured) * 200 <= measured,
            "{}: {read} predicted, {measured} measured",
            row.pattern
        );
        compared += 1;
    }
    assert_eq!(compared, 7);
}
