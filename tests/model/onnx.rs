//! ONNX models as programs: those that PyTorch exports, and what their graphs hold.

use crate::onnx_files::{
    Model, attribute_graph, attribute_int, attribute_ints, field, node, typed,
};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, analyze_program};
use fuseline_view::opened::Converted;
use fuseline_view::opened::model_file::{ModelFormat, read_model};
use std::io::Cursor;

pub(crate) fn converted(bytes: &[u8]) -> Converted {
    read_model(ModelFormat::Onnx, Cursor::new(bytes)).unwrap()
}

fn file(name: &str) -> Converted {
    let path = format!(
        "{}/tests/model/files/{name}.onnx",
        env!("CARGO_MANIFEST_DIR")
    );
    converted(&std::fs::read(path).unwrap())
}

/// The analysis of a text with another value for one of its params.
pub(crate) fn analysed(text: &str, param: Option<(usize, i64)>) -> Analysis {
    let mut parsed = parse(text);
    if let Some((index, value)) = param {
        parsed.program.params[index].value = value;
    }
    let outcome = analyze_program(&parsed.program, &Options::default());
    let problems = [parsed.diagnostics, outcome.diagnostics].concat();
    assert!(!has_errors(&problems), "{problems:?}\n{text}");
    outcome.analysis.unwrap()
}

fn flops(analysis: &Analysis) -> u128 {
    let kernels = analysis.unfused.kernels.iter();
    kernels.map(|kernel| kernel.work.flops()).sum()
}

#[test]
fn what_pytorch_exports_is_understood_at_every_size() {
    // Ops, params, and sizes that each param may have.
    let files = [
        ("mlp", 3, [].as_slice()),
        ("attention", 28, &["batch", "length"]),
        ("attention_traced", 28, &["batch", "length"]),
        ("resnet_block", 10, &["batch"]),
        ("resnet_block_traced", 10, &["batch", "height", "width"]),
        ("decoder", 37, &["batch", "length"]),
        ("decoder_traced", 34, &["batch", "length"]),
    ];
    for (name, ops, params) in files {
        let converted = file(name);
        assert!(!converted.is_incomplete, "{name}");
        assert!(!converted.text.contains("opaque("), "{}", converted.text);
        let program = parse(&converted.text).program;
        assert_eq!(program.ops.len(), ops, "{name}:\n{}", converted.text);
        let names: Vec<&str> = program
            .params
            .iter()
            .map(|p| p.name.text.as_str())
            .collect();
        assert_eq!(names, params, "{name}");
        let whole = analysed(&converted.text, None);
        for (index, param) in program.params.iter().enumerate() {
            let half = analysed(&converted.text, Some((index, param.value / 2)));
            let works = [&half, &whole].map(flops);
            assert!(works[0] < works[1], "{name} by {}", param.name.text);
        }
    }
}

#[test]
fn both_exporters_give_the_same_work() {
    // Matmuls of the block, for each token: QKV, scores and values over 512 tokens, out, up and
    // down.
    let tokens = 8 * 512_u128;
    let matmuls = tokens * 2 * (64 * 192 + 2 * 512 * 64 + 64 * 64 + 2 * 64 * 256);
    let work = |name: &str| flops(&analysed(&file(name).text, None));
    let [new, old] = ["attention", "attention_traced"].map(work);
    assert_eq!(new, old);
    assert!((matmuls..matmuls + matmuls / 10).contains(&new), "{new}");
    // Convolutions of the block at 32 x 32 pixels, of which a stride of 2 leaves 16 x 16.
    let pixels = 8 * 16 * 16_u128;
    let products = pixels * 2 * 32 * (16 * 9 + 32 * 9 + 16);
    let flops = work("resnet_block");
    assert!(
        (products..products + products / 10).contains(&flops),
        "{flops}"
    );
}

#[test]
fn what_is_not_understood_stays_in_the_graph_and_is_named() {
    let converted = file("by_hand");
    assert!(!converted.is_incomplete);
    assert_eq!(
        converted.summary,
        "Imported 8 ops from ONNX. \
         Params stand for the sizes that the file leaves open: inner.x_0 = 8, places_1 = 256. \
         3 ops count as opaque: 1 NonZero, 2 my.ops.Frobnicate. \
         1 If condition is known only at run time. Fuseline counts its then branch."
    );
    let program: Vec<&str> = converted
        .text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert_eq!(
        program.join("\n"),
        "\
param inner.x_0 = 8 in 1..256
param places_1  = 256 in 1..256
input inner.x : f32[inner.x_0, 32]
first.relu: inner.x_2 = relu(inner.x)
            a         = exp(inner.x_2)
            places    = opaque(inner.x_2, name=NonZero, flops=0) : i64[2, places_1]
            v1        = opaque(a, inner.x_2, name=my.ops.Frobnicate) : f32[inner.x_0, 32]
            v2        = opaque(v1, name=my.ops.Frobnicate) : f32[inner.x_0, 32]
            which     = topk_indices(v2, count=4, axis=-1)
            best      = topk(v2, count=4, axis=-1)
            param     = exp(best)"
    );
    let outcome = analyze_program(&parse(&converted.text).program, &Options::default());
    let told: Vec<&str> = outcome
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert!(told.is_empty(), "{told:?}");
}

/// A list of numbers that the file states.
fn constant(name: &str, values: &[i64]) -> Vec<u8> {
    let values = attribute_ints("value_ints", values);
    node("Constant", "", name, &[values])
}

/// The statements of ops that a model of these nodes becomes, without declarations.
pub(crate) fn statements(
    inputs: &[&str],
    weights: &[Vec<u8>],
    nodes: &[Vec<u8>],
    output: &str,
) -> String {
    let model = Model {
        inputs: inputs.iter().map(|input| typed(input)).collect(),
        weights: weights.to_vec(),
        nodes: nodes.to_vec(),
        between: Vec::new(),
        outputs: output
            .split_whitespace()
            .map(|name| field(1, name))
            .collect(),
    };
    let converted = converted(&model.bytes());
    assert!(!converted.is_incomplete, "{}", converted.text);
    analysed(&converted.text, None);
    let is_op = |line: &&str| line.contains('=') && !line.starts_with(['#', 'p']);
    let lines: Vec<&str> = converted
        .text
        .lines()
        .filter(is_op)
        .map(str::trim)
        .collect();
    // Columns are for the eye.
    let lines: Vec<String> = lines
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    lines.join("\n")
}

#[test]
fn shapes_that_the_file_computes_are_followed() {
    // x.view(x.shape[0] * x.shape[1], -1), and a causal mask of the length.
    let nodes = [
        node("Shape", "x", "shape", &[]),
        constant("zero", &[0]),
        constant("one", &[1]),
        constant("rest", &[-1]),
        node("Gather", "shape zero", "batch", &[]),
        node("Gather", "shape one", "length", &[]),
        node("Mul", "batch length", "rows", &[]),
        node("Concat", "rows rest", "wanted", &[attribute_int("axis", 0)]),
        node("Reshape", "x wanted", "flat", &[]),
        node(
            "Concat",
            "length length",
            "square",
            &[attribute_int("axis", 0)],
        ),
        node("ConstantOfShape", "square", "mask", &[]),
        node("Equal", "wanted rest", "is_open", &[]),
        node("Where", "is_open one wanted", "chosen", &[]),
        node("Expand", "flat chosen", "y", &[]),
    ];
    assert_eq!(
        statements(&["x f32[batch, length, 8]"], &[], &nodes, "y mask"),
        "flat = reshape(x, shape=[batch*length, 8])\nmask = full(value=0) : f32[length, length]\ny = expand(flat, shape=[batch*length, 8])"
    );
}

#[test]
fn known_values_are_broadcast_before_their_shape_is_read() {
    let nodes = [
        constant("row", &[1, 2, 3]),
        constant("as_column", &[3, 1]),
        node("Reshape", "row as_column", "column", &[]),
        // As many elements as the row, but in another dimension: the sum is a square.
        node("Add", "column row", "square", &[]),
        node("Shape", "square", "shape", &[]),
        node("Expand", "x shape", "y", &[]),
    ];
    assert_eq!(
        statements(&["x f32[1, 3]"], &[], &nodes, "y"),
        "y = expand(x, shape=[3, 3])"
    );
}

#[test]
fn sizes_may_be_expressions_and_element_types_are_kept() {
    let model = Model {
        inputs: vec![
            typed("past f16[B, past, 64]"),
            typed("x f16[B, s, 64]"),
            typed("mask bool[B, past + s]"),
            typed("w f8[64]"),
        ],
        nodes: vec![
            node("Concat", "past x", "all", &[attribute_int("axis", 1)]),
            node("Relu", "all", "y", &[]),
            node("Not", "mask", "z", &[]),
            node("Neg", "w", "v", &[]),
        ],
        outputs: vec![
            typed("y f16[B, past + s, 64]"),
            typed("z bool[B, past + s]"),
            typed("all f16[B, past + s, 64]"),
            typed("v f8[64]"),
        ],
        ..Model::default()
    };
    let converted = converted(&model.bytes());
    let expected = "\
input past_2 : f16[B, past, 64]
input x      : f16[B, s, 64]
input mask   : bool[B, past + s]
input w      : f8e4m3[64]
";
    assert!(converted.text.contains(expected), "{}", converted.text);
    assert!(
        converted.text.ends_with("output all\n"),
        "{}",
        converted.text
    );
    analysed(&converted.text, Some((1, 77)));
}

#[test]
fn a_graph_inside_a_node_reads_from_outside() {
    let inner = Model {
        nodes: vec![
            node("Relu", "inside", "seen", &[]),
            node("Add", "seen hidden", "result", &[]),
        ],
        inputs: vec![typed("inside f32[4]")],
        outputs: vec![field(1, "result")],
        ..Model::default()
    };
    let model = Model {
        inputs: vec![typed("x f32[4]"), typed("count i64[]")],
        nodes: vec![
            node("Exp", "x", "hidden", &[]),
            node(
                "Loop",
                "count - x",
                "y",
                &[attribute_graph("body", &inner.graph())],
            ),
        ],
        outputs: vec![typed("y f32[4]")],
        ..Model::default()
    };
    let converted = converted(&model.bytes());
    let expected = "hidden = exp(x)\ny      = opaque(count, x, hidden, name=Loop) : f32[4]\n";
    assert!(converted.text.ends_with(expected), "{}", converted.text);
}
