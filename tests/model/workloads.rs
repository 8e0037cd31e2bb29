//! Whole models as an H100 ran them, beside what is predicted:
//! `tests/measure/results/h100_models.json`.

use crate::inductor_measured::{DEFAULT, EAGER, options};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, ReshapeCost, analyze_program, device};
use fuseline_import::matching::{Matching, match_kernels};
use fuseline_import::profile::{Kind, MeasuredKernel, MeasuredRun, read_profile};
use fuseline_import::workload::patterns_in_program;
use fuseline_view::present::profile::{Note, Offer, notes};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct File {
    names: Vec<String>,
    models: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
struct Model {
    digest: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    variant: String,
    time_us: f64,
    errors: Vec<f64>,
    kernels: Vec<(usize, f64)>,
}

impl Row {
    fn run(&self, names: &[String]) -> MeasuredRun {
        let kernel =
            |&(name, time_us): &(usize, f64)| MeasuredKernel::new(&*names[name], time_us * 1e-6);
        MeasuredRun {
            variant: Some(self.variant.clone()),
            time_s: Some(self.time_us * 1e-6),
            kernels: self.kernels.iter().map(kernel).collect(),
            ..MeasuredRun::default()
        }
    }
}

fn file() -> File {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/tests/measure/results/h100_models.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The text that was measured: most models are exported in f32 and ran in bf16.
fn text(name: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let file = format!("{root}/tests/measure/results/models/{name}.fuse");
    let text = std::fs::read_to_string(file).unwrap();
    if ["llama", "mixtral", "unet"].contains(&name) {
        return text;
    }
    text.replace(": f32[", ": bf16[")
}

fn analysed(text: &str, variant: &str) -> Analysis {
    let options = Options {
        device: device("h100").unwrap().clone(),
        ..options(variant)
    };
    let outcome = analyze_program(&parse(text).program, &options);
    assert_eq!(outcome.diagnostics, []);
    outcome.analysis.unwrap()
}

/// Eager and compiled: what is predicted, and what ran.
fn ran(name: &str, of: &File) -> [(Analysis, Matching); 2] {
    [EAGER, DEFAULT].map(|variant| {
        let analysis = analysed(&text(name), variant);
        let called = if variant == EAGER {
            "eager"
        } else {
            "compiled"
        };
        let row = of.models[name]
            .rows
            .iter()
            .find(|row| row.variant == called);
        let matching = match_kernels(&analysis, &row.unwrap().run(&of.names));
        (analysis, matching)
    })
}

#[test]
fn the_programs_are_those_that_ran_and_agree_with_eager() {
    let file = file();
    assert_eq!(file.models.len(), 7);
    for (name, model) in &file.models {
        let analysis = analysed(&text(name), EAGER);
        assert_eq!(analysis.graph.digest(), model.digest, "{name}");
        for row in &model.rows {
            // Rounding decides which experts a token of Mixtral meets.
            let agrees = row.errors.iter().all(|&error| error < 0.03);
            assert!(agrees || name == "mixtral", "{name}");
        }
    }
}

/// Kernels that ran, those of them that found a predicted one, and the error of the estimated time
/// of all kernels in percent.
type Run = (usize, usize, i32);

/// Of each model eager and compiled, and the predicted speedup in percent, as docs/scripts.md has
/// them.
#[rustfmt::skip]
const MODELS: [(&str, [Run; 2], i32); 7] = [
    ("bert", [(408, 143, -64), (195, 113, -35)], 109),
    ("gpt2", [(320, 276, -32), (103, 101, -3)], 196),
    ("llama", [(733, 677, -3), (231, 231, -8)], 137),
    ("mixtral", [(549, 501, -18), (182, 166, -24)], 196),
    ("resnet50", [(347, 294, -30), (124, 106, -9)], 184),
    ("unet", [(501, 442, -21), (335, 307, -8)], 134),
    ("vit", [(177, 152, -38), (140, 138, -32)], 115),
];

#[test]
fn kernels_and_times_of_whole_models_are_as_the_document_says() {
    let file = file();
    #[allow(clippy::cast_possible_truncation, reason = "a percentage")]
    let percent = |ratio: f64| (ratio * 100.0).round() as i32;
    let found = MODELS.map(|(name, ..)| {
        let runs = ran(name, &file);
        let of_run = runs.each_ref().map(|(analysis, matching)| {
            let found = matching.of_measured.iter().flatten().count();
            let error = analysis.time_s() / matching.run.kernels_s() - 1.0;
            (matching.run.kernels.len(), found, percent(error))
        });
        let [eager, compiled] = runs.map(|(analysis, _)| analysis.time_s());
        (name, of_run, percent(eager / compiled))
    });
    assert_eq!(found, MODELS);
}

#[test]
fn a_pattern_in_a_model_is_compared_with_its_records() {
    let file = file();
    let patterns = |name| {
        let [eager, compiled] = ran(name, &file);
        let records = compiled.0.options.calibrations().unwrap();
        patterns_in_program((&eager.0, &eager.1), (&compiled.0, &compiled.1), records)
    };
    // Each of the twelve layers adds and normalizes twice.
    let bert = patterns("bert");
    let [norm] = &bert[..] else {
        panic!("{bert:?}");
    };
    assert_eq!(
        (&*norm.fusion_pattern, norm.occurrences),
        ("add_layernorm", 24)
    );
    assert!((norm.speedup() - norm.unfused_s / norm.fused_s).abs() < 1e-12);
    assert!(
        norm.speedup() > 2.0 && norm.speedup_of_records() < 1.5,
        "{norm:?}"
    );
    // Bias and GELU of llama's layers are in no record.
    assert_eq!(patterns("llama"), []);
}

/// What is said of a compiled run that is `times` as fast as eager, under `policy` and with
/// `reshape`.
fn notes_of(text: &str, times: f64, policy: &str, reshape: ReshapeCost) -> Vec<Note> {
    let mut options = Options {
        device: device("h100").unwrap().clone(),
        ..options(policy)
    };
    options.conventions.reshape = reshape;
    let analysis = analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap();
    let run = |variant: &str, time_s| MeasuredRun {
        variant: Some(variant.to_owned()),
        time_s: Some(time_s),
        kernels: vec![MeasuredKernel::new("triton_poi_fused_add_relu_0", time_s)],
        ..MeasuredRun::default()
    };
    let [eager, compiled] = [run("eager", 1e-3), run("compiled", 1e-3 / times)];
    let matching = match_kernels(&analysis, &compiled);
    let json = r#"{"program": "p", "device": "NVIDIA H100 80GB HBM3", "torch": "2", "rows": [{"variant": "eager", "kernels": [{"name": "k", "time_us": 1}]}]}"#;
    let mut profile = read_profile(Kind::Script, json.as_bytes()).unwrap();
    profile.runs = vec![eager, compiled];
    notes(&analysis, &profile, &analysis.graph.digest(), &matching)
}

#[test]
fn a_speedup_that_the_model_does_not_predict_is_a_warning() {
    let text = "input x : bf16[8192, 8192]\ninput w : bf16[8192, 8192]\na = add(x, w)\ny = relu(a)";
    for (times, is_warning, said) in [
        (
            1.6,
            false,
            "One eager call takes 1.00 ms, so this run is 1.60× faster; the device model predicts 1.6",
        ),
        (
            4.0,
            true,
            "this run is 4.00× faster; the device model predicts 1.6",
        ),
        (0.9, true, "this run is 0.90× as fast"),
    ] {
        let notes = notes_of(text, times, DEFAULT, ReshapeCost::View);
        let note = notes
            .iter()
            .find(|note| note.text.contains("this run is"))
            .unwrap();
        assert!(note.text.contains(said), "{}", note.text);
        assert_eq!(note.is_warning, is_warning, "{}", note.text);
    }
}

#[test]
fn kernels_of_views_alone_offer_to_count_them_as_views() {
    let text = "input x : bf16[8, 8]\na = transpose(x)\nb = softmax(a)\ny = transpose(b)";
    let offers = |reshape| {
        let notes = notes_of(text, 1.0, EAGER, reshape).into_iter();
        notes.filter_map(|note| note.offer).collect::<Vec<_>>()
    };
    assert!(offers(ReshapeCost::Copy).contains(&Offer::Views));
    assert!(!offers(ReshapeCost::View).contains(&Offer::Views));
}
