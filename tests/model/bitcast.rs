//! The bits of a tensor in another element type: a view, for eager PyTorch and for torch.compile.
//! The counts are those of TorchInductor 2.11.

use crate::inductor_smallest::check;
use crate::pt2::{analysed, converted, lines_of};
use crate::pt2_files::{file, index_copy, named, node, node_of, program, read, tensor};
use fuseline_codegen::interpret::{Setup, interpret};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, ReshapeCost, analyze_program};
use serde_json::{Value, json};

const U8: i64 = 1;
const I64: i64 = 5;
const F8E4M3: i64 = 29;
const BF16: i64 = 13;

fn typed(sizes: &[i64], dtype: i64) -> Value {
    let mut of = tensor(sizes);
    of["dtype"] = json!(dtype);
    of
}

fn viewed(input: &str, dtype: i64, output: &str) -> Value {
    let inputs = [
        named("self", &read(input)),
        named("dtype", &json!({ "as_scalar_type": dtype })),
    ];
    node_of("view.dtype", &inputs, output)
}

fn analysis(text: &str, policy: Policy) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let mut options = Options {
        policy,
        ..Options::default()
    };
    options.conventions.reshape = ReshapeCost::View;
    let outcome = analyze_program(&parsed.program, &options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

#[test]
fn bits_in_another_type_of_the_same_size_are_a_view() {
    let known = [
        ("x", typed(&[4, 8], U8)),
        ("v", typed(&[4, 8], F8E4M3)),
        ("y", tensor(&[4, 8])),
    ];
    let cast = node("relu.default", &["v"], "y");
    assert_eq!(
        lines_of(&[viewed("x", F8E4M3, "v"), cast], &known)[0],
        "bitcast = bitcast(x, dtype=f8e4m3) : f8e4m3[4, 8]"
    );
    let known = [("x", typed(&[4, 8], U8)), ("y", typed(&[4, 4], BF16))];
    assert_eq!(
        lines_of(&[viewed("x", BF16, "y")], &known),
        ["view = opaque(x, name=aten.view.dtype) : bf16[4, 4]"]
    );
}

/// `cache.view(torch.uint8).index_copy_(0, at, new.view(torch.uint8))`.
#[test]
fn a_cache_that_is_written_by_its_bits_stays_one_storage() {
    let write = index_copy("c", "at", "n", "w");
    let nodes = [
        viewed("x", U8, "c"),
        viewed("new", U8, "n"),
        write,
        node("relu.default", &["x"], "y"),
    ];
    let known = [
        ("x", typed(&[64, 8], F8E4M3)),
        ("at", typed(&[2], I64)),
        ("new", typed(&[2, 8], F8E4M3)),
        ("c", typed(&[64, 8], U8)),
        ("n", typed(&[2, 8], U8)),
        ("w", typed(&[64, 8], U8)),
        ("y", typed(&[64, 8], F8E4M3)),
    ];
    let mut saved = program(&known, &nodes, "y");
    let inputs = ["x", "at", "new"].map(read);
    let specs = inputs
        .clone()
        .map(|arg| json!({ "user_input": { "arg": arg } }));
    saved["graph_module"]["signature"]["input_specs"] = json!(specs);
    saved["graph_module"]["graph"]["inputs"] = json!(inputs);
    let text = converted(&file(&saved)).text;
    assert!(
        text.contains("= index_copy_(bitcast, at, bitcast_2, axis=0)"),
        "{text}"
    );
    assert!(
        text.contains("= bitcast(index_copy, dtype=f8e4m3)"),
        "{text}"
    );
    assert!(!text.contains("opaque"), "{text}");
    analysed(&text);
    // Two rows are written, and all are read once and written once by the last op.
    let traffic = analysis(&text, Policy::None).fused.traffic;
    assert_eq!(traffic.bytes_written, 2 * 8 + 64 * 8);
}

#[test]
fn who_reads_a_bitcast_reads_the_bits() {
    let weights = "input a : i8[512, 512]\ninput b : bf16[512, 512]\nv = bitcast(a, dtype=f8e4m3)\nc = cast(v, dtype=bf16)\ny = matmul(c, b)";
    let eager = analysis(weights, Policy::None).fused;
    assert_eq!(eager.launches, 2);
    assert_eq!(eager.traffic.bytes_read, 512 * 512 * (1 + 2 + 2));
    let small =
        "input a : f32[512, 512]\nr = relu(a)\nc = cast(r, dtype=f8e4m3)\nv = bitcast(c, dtype=i8)";
    let product = "input a : i8[512, 512]\ninput b : f8e4m3[512, 512]\ninput s : f32[1]\nc = add(a, 1)\nv = bitcast(c, dtype=f8e4m3)\ny = scaled_matmul(v, b, s, s, transpose_b=true) : bf16[512, 512]";
    let cache = "input n : f8e4m3[1, 512]\ninput at : i64[1]\nm = bitcast(n, dtype=i8)";
    check(&[
        (weights, 2),
        (product, 2),
        (small, 1),
        (&format!("{small}\noutput c"), 1),
        (&format!("{small}\ny = add(v, 1)\noutput v"), 1),
        (
            &format!(
                "input c : i8[512, 512]\n{cache}\nw = index_copy_(c, at, m, axis=0)\nb = bitcast(w, dtype=f8e4m3)\ny = cast(b, dtype=bf16)"
            ),
            2,
        ),
        // A write through a view runs on a copy.
        (
            &format!(
                "input c : f8e4m3[512, 512]\n{cache}\nv = bitcast(c, dtype=i8)\nw = index_copy_(v, at, m, axis=0)\nb = bitcast(w, dtype=f8e4m3)\ny = cast(b, dtype=bf16)"
            ),
            3,
        ),
    ]);
}

#[test]
fn numbers_have_no_bits() {
    let parsed = parse("input a : f32[4]\nv = bitcast(a, dtype=i32)\ny = add(v, 1)");
    let analysis = analyze_program(&parsed.program, &Options::default())
        .analysis
        .unwrap();
    let ran = interpret(&parsed.program, &analysis.partition, &Setup::default()).unwrap();
    let refused: Vec<String> = ran
        .refused
        .iter()
        .map(|own| own.reason.to_string())
        .collect();
    assert_eq!(refused[0], "`bitcast` cannot run on numbers");
}
