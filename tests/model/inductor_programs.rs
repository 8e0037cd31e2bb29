//! Kernel counts of programs that the compiler's policy was not made with, against those of an H200. `tests/measure/programs.py` is the
//! same programs in PyTorch, `programs/` their op lists, `programs/h200.json` what was measured.

use crate::inductor_measured::{DEFAULT, EAGER, options};
use fuseline::core::analyze_program;
use fuseline::core::notation::parse;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where policy `none` has another count than eager PyTorch: program, measured, counted, and why.
#[rustfmt::skip]
const EAGER_WRONG: &[(&str, usize, usize, &str)] = &[
    ("attention_causal_tril", 12, 9, "the matmuls copy Q, K and V, whose batch dimensions are no one dimension"),
    ("attention_permuted_divided", 10, 7, "the matmuls copy Q, K and V, whose batch dimensions are no one dimension"),
    ("attention_permuted_multiplied", 10, 7, "the matmuls copy Q, K and V, whose batch dimensions are no one dimension"),
    ("attention_where", 6, 5, "`where` fills a scalar for its number"),
    ("attention_with_position_bias", 8, 5, "the matmuls copy Q, K and V, whose batch dimensions are no one dimension"),
    ("clip_by_norm", 8, 7, "`1 / x` is a reciprocal and a product with 1"),
    ("gate_with_threshold", 8, 7, "`where` fills a scalar for its number"),
    ("grouped_attention_layer", 26, 24, "a copy of Q for its matmul, and the scalar of `where`"),
    ("pad_conv_relu", 7, 4, "cuDNN takes these operands in another layout and gives its result back, each in kernels of its own"),
    ("residual_conv_block", 13, 8, "cuDNN takes these operands in another layout and gives its result back, each in kernels of its own"),
    ("rope_pairs", 11, 10, "`stack` copies its two inputs one by one"),
    ("swap_then_normalize", 3, 2, "`layer_norm` copies a transposed input"),
    ("time_shift", 10, 9, "`pad` fills the result and copies into it"),
];

/// Where the compiler's policy has another count than torch.compile.
#[rustfmt::skip]
const INDUCTOR_WRONG: &[(&str, usize, usize, &str)] = &[
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/programs")
}

/// For each program its kernels under both variants, as measured.
fn measured() -> BTreeMap<String, (usize, usize)> {
    let text = std::fs::read_to_string(folder().join("h200.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let count = |row: &Value, variant: &str| row[variant].as_array().unwrap().len();
    (file["programs"].as_object().unwrap().iter())
        .map(|(name, row)| (name.clone(), (count(row, "eager"), count(row, "inductor"))))
        .collect()
}

/// For each round of programs that were written before they were measured what the recipe of that day said of them.
fn predicted() -> BTreeMap<String, BTreeMap<String, (usize, usize)>> {
    let text = std::fs::read_to_string(folder().join("predicted.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let count = |row: &Value, variant: &str| usize::try_from(row[variant].as_u64().unwrap());
    let round = |(round, programs): (&String, &Value)| {
        let programs = programs.as_object().unwrap().iter().map(|(name, row)| {
            let counts = (count(row, "eager"), count(row, "inductor"));
            (name.clone(), (counts.0.unwrap(), counts.1.unwrap()))
        });
        (round.clone(), programs.collect())
    };
    file["rounds"]
        .as_object()
        .unwrap()
        .iter()
        .map(round)
        .collect()
}

fn launches(name: &str, variant: &str) -> usize {
    let text = std::fs::read_to_string(folder().join(format!("{name}.fuse"))).unwrap();
    let parsed = parse(&text);
    assert_eq!(parsed.diagnostics, [], "{name}");
    let outcome = analyze_program(&parsed.program, &options(variant));
    assert_eq!(outcome.diagnostics, [], "{name}");
    outcome.analysis.unwrap().fused.launches
}

/// The programs with another count than the measured one: name, measured, counted.
fn wrong(variant: &str, of: impl Fn((usize, usize)) -> usize) -> Vec<(String, usize, usize)> {
    let counts = measured().into_iter().map(|(name, counts)| {
        let counted = launches(&name, variant);
        (name, of(counts), counted)
    });
    counts
        .filter(|(_, measured, counted)| measured != counted)
        .collect()
}

fn listed(known: &[(&str, usize, usize, &str)]) -> Vec<(String, usize, usize)> {
    let rows = known.iter();
    rows.map(|&(name, measured, counted, _)| (name.to_owned(), measured, counted))
        .collect()
}

#[test]
fn every_program_is_measured() {
    let lists = std::fs::read_dir(folder()).unwrap();
    let lists = lists.filter_map(|entry| {
        let path = entry.unwrap().path();
        let is_list = path
            .extension()
            .is_some_and(|extension| extension == "fuse");
        is_list.then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
    });
    let mut lists: Vec<String> = lists.collect();
    lists.sort();
    let mut known: Vec<String> = measured().into_keys().collect();
    known.extend(predicted().into_values().flat_map(BTreeMap::into_keys));
    known.sort();
    known.dedup();
    assert_eq!(lists, known);
}

#[test]
fn at_least_95_of_100_programs_have_the_kernels_of_torch_compile() {
    let wrong = wrong(DEFAULT, |(_, inductor)| inductor);
    assert_eq!(wrong, listed(INDUCTOR_WRONG));
    let (wrong, all) = (wrong.len(), measured().len());
    assert!(all >= 69 && wrong * 20 <= all, "{wrong} of {all}");
}

#[test]
fn op_by_op_the_programs_have_the_kernels_of_eager_pytorch() {
    assert_eq!(wrong(EAGER, |(eager, _)| eager), listed(EAGER_WRONG));
}
