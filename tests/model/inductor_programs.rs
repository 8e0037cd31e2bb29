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
    assert_eq!(lists, measured().into_keys().collect::<Vec<_>>());
}

#[test]
fn at_least_95_of_100_programs_have_the_kernels_of_torch_compile() {
    let wrong = wrong(DEFAULT, |(_, inductor)| inductor);
    assert_eq!(wrong, listed(INDUCTOR_WRONG));
    assert!(wrong.len() * 20 <= measured().len(), "{}", wrong.len());
}

#[test]
fn op_by_op_the_programs_have_the_kernels_of_eager_pytorch() {
    assert_eq!(wrong(EAGER, |(eager, _)| eager), listed(EAGER_WRONG));
}
