//! Files of `fuseline.export`, a few kB each: operators that only some models have.
//! `tests/model/files/make_pt2.py` writes the files.

use crate::pt2::{analysed, bytes, converted, exporter, functions};
use crate::pt2_files::{file, index_copy, named, node, node_of, program, read, tensor};
use fuseline_core::Analysis;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use serde_json::json;
use std::collections::HashSet;

/// FLOPs of products and attention, which PyTorch's `FlopCounterMode` counts, and what is opaque.
#[rustfmt::skip]
const SAVED: &[(&str, u128, &[&str])] = &[
    // A list of places depends on the data.
    ("masks", 2 * 50 * 16 * 16, &["aten.nonzero"]),
    ("complex", 2 * 32 * 64 * 64, &[]),
    ("int4", 2 * 64 * 128, &[]),
    // A transposed convolution of 4 * 9 * 289 steps over 1089 elements has 10 each, rounded up.
    ("volumes", 2 * (27 * 8 * 4096 + 8 * 4 * 4096 + 10 * 2 * 6 * 1089), &[]),
    ("writes", 2 * 2 * (2 * 4 * 8 * 64 * 16), &[]),
    // A branch, and one iteration of a loop. An op stands for the others.
    ("loops", 2 * 2 * 8 * 16 * 16, &["while_loop"]),
    ("flex", 2 * 2 * (2 * 128 * 128 * 16), &[]),
    // Two products forwards, and three backwards: nobody reads the gradient of the input.
    ("step", 2 * (2 * 16 * 32 * 64 + 3 * 16 * 64 * 10), &[]),
    ("borders", 0, &[]),
    ("small_products", 2 * 2 * 32 * 128 * 64, &[]),
    ("layers", 6 * 2 * (32 * 64 * (192 + 64 + 128 + 128) + 2 * 8 * 16 * 16 * 16), &[]),
];

/// FLOPs of products, and of the two of each attention: its softmax and scale have a number for
/// each score.
fn product_flops(analysis: &Analysis) -> u128 {
    let kernels = analysis.unfused.kernels.iter();
    kernels.map(|kernel| kernel.work.matrix_flops).sum()
}

#[test]
fn products_have_the_flops_that_pytorch_counts() {
    for &(name, flops, opaque) in SAVED {
        let text = exporter(name);
        let analysis = analysed(&text);
        assert_eq!(product_flops(&analysis), flops, "{name}:\n{text}");
        let names = text.lines().filter_map(|line| line.split("name=").nth(1));
        let names: HashSet<&str> = names.filter_map(|rest| rest.split(')').next()).collect();
        assert_eq!(names, opaque.iter().copied().collect(), "{name}:\n{text}");
    }
}

#[test]
fn a_size_that_only_the_data_tell_is_a_param() {
    let text = exporter("masks");
    assert!(text.contains("param size_u0 = 50 in 1..50"), "{text}");
    assert!(
        text.contains("index(x, nonzero) : f32[size_u0, 16]"),
        "{text}"
    );
}

#[test]
fn views_of_complex_numbers_are_views_of_both_parts() {
    let analysis = analysed(&exporter("complex"));
    let counts = functions(&analysis);
    // The product of complex numbers alone has no name in the notation.
    assert_eq!(counts["none"], 1, "{counts:?}");
    assert!(!counts.contains_key("opaque"), "{counts:?}");
}

#[test]
fn bits_that_are_unpacked_fuse() {
    let text = exporter("int4");
    for line in [
        "= remainder(w, 16) : i8[64, 64]",
        "= floor_divide(w, 16) : i8[64, 64]",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_product_of_small_floats_is_scaled_by_the_call() {
    let text = exporter("small_products");
    assert!(
        text.contains("= matmul(cast, transpose) : i32[32, 64]"),
        "{text}"
    );
    assert!(
        text.contains("= scaled_matmul(cast_2, transpose_2, s, s) : bf16[32, 64]"),
        "{text}"
    );
    assert_eq!(text.matches("= mul(").count(), 1, "{text}");
}

/// The lines of `_scaled_mm` with these scales of `x` and `w`, and with a bias.
fn scaled_product(x_scale: &[i64], w_scale: &[i64]) -> String {
    // The number of `torch.float32` in `torch._export.serde.schema.ScalarType`.
    scaled_by(7, x_scale, w_scale)
}

/// The same with scales of another element type.
fn scaled_by(scales: i64, x_scale: &[i64], w_scale: &[i64]) -> String {
    let read = |name: &str| named(name, &json!({ "as_tensor": { "name": name } }));
    let reads = ["self", "mat2", "scale_a", "scale_b", "bias"].map(read);
    let of = |sizes: &[i64], dtype: i64| {
        let mut of = tensor(sizes);
        of["dtype"] = json!(dtype);
        of
    };
    let (f8, bf16) = (29, 13);
    let known = [
        ("self", of(&[64, 256], f8)),
        ("mat2", of(&[256, 128], f8)),
        ("scale_a", of(x_scale, scales)),
        ("scale_b", of(w_scale, scales)),
        ("bias", of(&[128], bf16)),
        ("y", of(&[64, 128], bf16)),
    ];
    let nodes = [node_of("_scaled_mm.default", &reads, "y")];
    let mut saved = program(&known, &nodes, "y");
    let inputs = reads.each_ref().map(|read| read["arg"].clone());
    let specs = inputs
        .each_ref()
        .map(|arg| json!({ "user_input": { "arg": arg } }));
    saved["graph_module"]["signature"]["input_specs"] = json!(specs);
    saved["graph_module"]["graph"]["inputs"] = json!(inputs);
    let text = converted(&file(&saved)).text;
    analysed(&text);
    text
}

#[test]
fn scales_of_rows_of_columns_and_of_blocks_and_a_bias_are_operands_of_the_product() {
    for (x_scale, w_scale) in [
        (&[][..], &[][..]),
        (&[1], &[1]),
        (&[64, 1], &[1, 128]),
        (&[64, 2], &[2, 1]),
    ] {
        let text = scaled_product(x_scale, w_scale);
        let product = "= scaled_matmul(self, mat2, scale_a, scale_b, bias) : bf16[64, 128]";
        assert!(text.contains(product), "{text}");
        for function in ["add", "mul"] {
            assert!(!text.contains(&format!("= {function}(")), "{text}");
        }
    }
    // In an order of the library: no blocks of the operand.
    let text = scaled_product(&[1024], &[1024]);
    assert!(
        text.contains("= matmul(self, mat2) : bf16[64, 128]"),
        "{text}"
    );
    assert!(text.contains("= add("), "{text}");
}

#[test]
fn writes_read_and_write_what_they_change() {
    let text = exporter("writes");
    // Into the buffers in place; the table is a tensor of the program's own.
    assert_eq!(text.matches("= index_copy_(").count(), 2, "{text}");
    assert_eq!(text.matches("= index_put(").count(), 1, "{text}");
    // A slice is written between what stands before it and behind.
    assert!(
        text.contains("= concat(slice_2, mul, slice_3, axis=1)"),
        "{text}"
    );
    // The buffers are results although attention reads them, because they are overwritten.
    assert_eq!(text.matches("\noutput ").count(), 0, "{text}");
    let graph = analysed(&text).graph;
    let written = graph.ops.iter_enumerated().filter(|(_, op)| op.in_place);
    let results = written.filter(|&(op, _)| graph.is_final(graph.output[op]));
    assert_eq!(results.count(), 2, "{text}");
}

/// Rows of the input are negated in it; then `z` is made of `last` and the new value.
fn negated_rows(last: &str) -> String {
    let int = |name: &str, value: i64| named(name, &json!({ "as_int": value }));
    let read = |name: &str, of: &str| named(name, &json!({ "as_tensor": { "name": of } }));
    let range = [int("dim", 0), int("start", 0), int("end", 2)];
    let slice = [&[read("self", "x")], &range[..]].concat();
    let scatter = [&[read("self", "x"), read("src", "n")], &range[..]].concat();
    let nodes = [
        node_of("slice.Tensor", &slice, "s"),
        node("neg.default", &["s"], "n"),
        node_of("slice_scatter.default", &scatter, "y"),
        node("relu.default", &[last], "r"),
        node("add.Tensor", &["r", "y"], "z"),
    ];
    let (whole, rows) = (tensor(&[4, 8]), tensor(&[2, 8]));
    let known = [
        ("s", &rows),
        ("n", &rows),
        ("x", &whole),
        ("y", &whole),
        ("r", &whole),
        ("z", &whole),
    ];
    let known = known.map(|(name, meta)| (name, meta.clone()));
    let mut saved = program(&known, &nodes, "z");
    saved["graph_module"]["signature"]["output_specs"] = json!([
        { "user_input_mutation": { "arg": { "name": "y" }, "user_input_name": "x" } },
        { "user_output": { "arg": { "as_tensor": { "name": "z" } } } },
    ]);
    converted(&file(&saved)).text
}

#[test]
fn a_new_value_of_an_input_is_written_into_it_unless_the_old_one_is_read_later() {
    let text = negated_rows("y");
    assert!(text.contains("= slice_scatter_(x, neg, "), "{text}");
    let analysis = analysed(&text);
    let kernels = &analysis.unfused.kernels;
    let write = kernels
        .iter()
        .find(|kernel| kernel.bytes_written == 2 * 8 * 4);
    assert!(write.is_some(), "{text}");
    for old in ["x", "s"] {
        let text = negated_rows(old);
        // The slice shows the memory of the input.
        assert!(text.contains("= slice_scatter(x, neg, "), "{text}");
        analysed(&text);
    }
}

/// A program that is saved before its decomposition keeps the write, and no signature tells of it.
#[test]
fn a_write_in_place_of_the_graph_is_one_of_the_program() {
    let write = index_copy("x", "at", "new", "w");
    let nodes = [write, node("relu.default", &["x"], "y")];
    let mut at = tensor(&[2]);
    at["dtype"] = json!(5);
    let whole = tensor(&[64, 8]);
    let known = [
        ("x", whole.clone()),
        ("at", at),
        ("new", tensor(&[2, 8])),
        ("w", whole.clone()),
        ("y", whole),
    ];
    let mut saved = program(&known, &nodes, "y");
    let inputs = ["x", "at", "new"].map(read);
    saved["graph_module"]["signature"]["input_specs"] = json!(
        inputs
            .clone()
            .map(|arg| json!({ "user_input": { "arg": arg } }))
    );
    saved["graph_module"]["graph"]["inputs"] = json!(inputs);
    let text = converted(&file(&saved)).text;
    assert!(text.contains("= index_copy_(x, at, new, axis=0)"), "{text}");
    assert!(text.contains("= relu(index_copy)"), "{text}");
    analysed(&text);
}

#[test]
fn loops_and_conditions_count_their_bodies() {
    let converted = converted(&bytes("loops.fuseline.pt2"));
    for note in [
        "Of a condition that only the data tell, the first branch counts.",
        "1 loop has a number of iterations known only at run time. Fuseline counts one iteration, so all totals are lower bounds.",
    ] {
        assert!(converted.summary.contains(note), "{}", converted.summary);
    }
    // One row for each of 8 iterations, and all of them stacked.
    assert_eq!(converted.text.matches("= tanh(").count(), 8);
    let analysis = analysed(&converted.text);
    // All totals are marked as lower bounds.
    assert!(converted.is_incomplete && analysis.is_partial());
    assert_eq!(analysis.graph.unknown_ops.len(), 1, "{}", converted.text);
    let mut ops = analysis.graph.ops.iter();
    let stacked = ops.find(|op| op.function == Some(Function::Concat));
    assert_eq!(*stacked.unwrap().shape, [8, 16]);
}

#[test]
fn equal_layers_are_one_block_with_its_source_lines() {
    let text = exporter("layers");
    let parsed = parse(&text);
    let [block] = parsed.program.blocks.as_slice() else {
        panic!("{text}");
    };
    assert_eq!(block.declarations.len(), 12, "{text}");
    assert_eq!(parsed.program.ops.len(), block.ops.len(), "{text}");
    assert!(text.contains("\nrepeat 6 with input = norm2 {\n"), "{text}");
    assert!(text.contains("  weight linear1.weight "), "{text}");
    let text = exporter("mlp");
    assert!(text.contains("\n# make_pt2.py:"), "{text}");
    assert!(
        text.contains(": return x + self.down(functional.gelu("),
        "{text}"
    );
}

#[test]
fn dimensions_have_the_names_of_their_caller() {
    let text = exporter("attention");
    assert!(
        text.contains("param batch  = 4 in 1..64\nparam length = 8 in 2..512\n"),
        "{text}"
    );
}

/// The operators that `fuseline.py` does not decompose.
#[test]
fn the_exporter_keeps_operators_that_are_read_whole() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/public/python/fuseline.py");
    let script = std::fs::read_to_string(path).unwrap();
    let kept = script.split("KEPT = \"\"\"\n").nth(1).unwrap();
    let kept = kept.split("\"\"\"").next().unwrap();
    let unknown: Vec<&str> = kept
        .split_whitespace()
        .filter(|name| !fuseline_import::pt2::reads_whole(name))
        .collect();
    assert!(kept.len() > 1000);
    assert_eq!(unknown, [""; 0]);
}

/// `FLOAT8E8M0FNU`, which PyTorch saves in versions behind 2.11.
#[test]
fn a_scale_may_be_a_power_of_two() {
    let text = scaled_by(33, &[64, 8], &[8, 128]);
    assert!(text.contains("input scale_a : f8e8m0[64, 8]"), "{text}");
}
