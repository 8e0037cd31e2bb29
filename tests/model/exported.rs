//! Models that `public/python/fuseline.py` has exported, against what PyTorch says of them.
//! `tests/measure/models.py` writes both: a file, and beside it the module's bytes and its FLOPs by
//! `FlopCounterMode`.

use crate::inductor_measured::{DEFAULT, EAGER, options};
use crate::pt2::converted;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::TensorRole;
use fuseline_core::notation::{parse, print};
use fuseline_core::resolve::resolve;
use fuseline_core::{Analysis, analyze_program};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Ops, iterations of the repeated layers, and launches: op by op and under torch.compile's policy.
#[rustfmt::skip]
const MODELS: &[(&str, usize, &[u64], usize, usize)] = &[
    ("bert", 377, &[12], 299, 195),
    ("gpt2", 500, &[12], 275, 101),
    ("llama", 1006, &[16], 676, 231),
    ("mixtral", 734, &[8], 484, 167),
    ("resnet50", 175, &[2, 3, 5, 2], 174, 104),
    // Its layers differ in width or in what they read: what goes down is read again on the way up.
    ("unet", 452, &[], 304, 309),
    ("vit", 394, &[12], 149, 147),
];

/// What PyTorch says of a model.
#[derive(Deserialize)]
struct Truth {
    parameter_bytes: u64,
    buffer_bytes: u64,
    flops: u128,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/model/exported/{name}"))
}

fn text(name: &str) -> String {
    converted(&std::fs::read(file(&format!("{name}.pt2"))).unwrap()).text
}

fn truth(name: &str) -> Truth {
    let json = std::fs::read_to_string(file(&format!("{name}.json"))).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// The analysis of a text in which nothing is wrong.
fn analysed(text: &str, variant: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let outcome = analyze_program(&parsed.program, &options(variant));
    assert_eq!(outcome.diagnostics, []);
    outcome.analysis.unwrap()
}

#[test]
fn weights_have_the_bytes_of_the_module() {
    for (name, ..) in MODELS {
        let truth = truth(name);
        let resolved = resolve(&parse(&text(name)).program);
        let weights = (resolved.externals.iter()).filter(|t| t.role == TensorRole::Weight);
        let bytes: u64 = weights
            .map(|t| {
                t.bytes_per_element
                    .bytes_of(t.shape.iter().product::<u64>())
                    .unwrap()
            })
            .sum();
        let module = truth.parameter_bytes + truth.buffer_bytes;
        // What no op reads is left out, such as counters of batches.
        let unread = module.checked_sub(bytes).unwrap();
        assert!(unread < 1000, "{name}: {unread}");
    }
}

#[test]
fn products_have_the_flops_that_pytorch_counts() {
    for (name, ..) in MODELS {
        let analysis = analysed(&text(name), EAGER);
        let kernels = analysis.unfused.kernels.iter();
        let counted: u128 = kernels.map(|kernel| kernel.work.matrix_flops).sum();
        let expected = truth(name).flops;
        assert!(expected > 1_000_000_000, "{name}");
        assert!(
            counted.abs_diff(expected) * 100 <= expected,
            "{name}: {counted} FLOPs, {expected} by PyTorch"
        );
    }
}

#[test]
fn every_operator_is_known() {
    for (name, ops, ..) in MODELS {
        let resolved = resolve(&parse(&text(name)).program);
        assert_eq!(resolved.ops.len(), *ops, "{name}");
        let opaque = (resolved.ops.iter()).find(|op| op.function == Some(Function::Opaque));
        assert!(opaque.is_none(), "{name}: {opaque:?}");
    }
}

#[test]
fn equal_layers_are_one_block() {
    for (name, _, expected, ..) in MODELS {
        let text = text(name);
        let headers = text.lines().filter_map(|line| line.strip_prefix("repeat "));
        let rounds: Vec<u64> = headers
            .map(|header| header.split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(rounds, *expected, "{name}");
    }
}

/// Kernels of one call on an H200, by variant.
#[derive(Deserialize)]
struct Launched {
    models: BTreeMap<String, BTreeMap<String, Launches>>,
}

#[derive(Deserialize)]
struct Launches {
    launches: usize,
}

/// What makes the difference is in `docs/scripts.md`.
#[test]
fn launches_are_near_those_of_a_gpu() {
    let file = "tests/measure/results/h200_models.json";
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    let ran: Launched = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for &(name, _, _, apart, compiled) in MODELS {
        for (variant, predicted) in [(EAGER, apart), (DEFAULT, compiled)] {
            // Called without the exporter, it has no mask and so one kernel of attention.
            if (name, variant) == ("bert", EAGER) {
                continue;
            }
            let ratio = predicted as f64 / ran.models[name][variant].launches as f64;
            assert!((0.55..=1.3).contains(&ratio), "{name} {variant}: {ratio}");
        }
    }
}

#[test]
fn launches_are_those_recorded() {
    let counted: Vec<_> = (MODELS.iter())
        .map(|&(name, ops, rounds, ..)| {
            let text = text(name);
            let launches = |variant| analysed(&text, variant).fused.launches;
            (name, ops, rounds, launches(EAGER), launches(DEFAULT))
        })
        .collect();
    assert_eq!(counted, MODELS);
}

#[test]
fn printed_they_mean_the_same() {
    for (name, ..) in MODELS {
        let text = text(name);
        let printed = print(&parse(&text).program);
        let [before, after] = [&*text, &printed].map(|text| analysed(text, DEFAULT));
        assert_eq!(before.graph, after.graph, "{name}");
        assert_eq!(before.fused, after.fused, "{name}");
    }
}

/// Dynamic sizes: each param at the least, an odd and the largest value of its range gives a
/// program without an error.
#[test]
fn they_hold_at_other_sizes() {
    let mut params = 0;
    for (name, ops, ..) in MODELS {
        let text = text(name);
        for line in text.lines().filter(|line| line.starts_with("param ")) {
            let (stated, rest) = line.split_once(" in ").unwrap();
            let (label, _) = stated.split_once(" = ").unwrap();
            let (low, high) = rest.split("  #").next().unwrap().split_once("..").unwrap();
            for value in [low, "37", high] {
                let changed = text.replace(line, &format!("{label} = {value}"));
                let resolved = resolve(&parse(&changed).program);
                assert_eq!(resolved.diagnostics, [], "{name}: {label} = {value}");
                assert_eq!(resolved.ops.len(), *ops, "{name}");
            }
            params += 1;
        }
    }
    assert_eq!(
        params, 8,
        "B and T of three language models, B of two for images"
    );
}
