//! Model files that are small and stand for very much.

use super::{Known, known};
use crate::onnx_files::{Model, attribute_ints, field, int, ints, node as onnx_node, typed};
use crate::pt2_files::{file, node, program, tensor};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};
use fuseline_view::opened::Converted;
use fuseline_view::opened::model_file::{ModelError, ModelFormat, read_model};
use serde_json::{Value, json};
use std::io::Cursor;

pub(crate) static ONNX: &[Known] = known![
    small_files_with_too_many_reads_are_refused,
    an_order_that_repeats_a_dimension_is_not_followed,
];

pub(crate) static PT2: &[Known] = known![
    very_many_sizes_are_refused,
    products_that_overflow_are_told_by_the_notation,
    more_text_than_is_read_is_refused,
];

fn small_files_with_too_many_reads_are_refused() {
    let outputs: Vec<String> = (0..3000).map(|place| format!("y{place}")).collect();
    let model = |nodes, outputs: &[String]| Model {
        inputs: vec![typed("x f32[4]")],
        nodes,
        outputs: outputs.iter().map(|name| field(1, name)).collect(),
        weights: vec![ints("c0", &[1; 512])],
        ..Model::default()
    };
    let wide = vec![onnx_node(
        "Wide",
        &"x ".repeat(3000),
        &outputs.join(" "),
        &[],
    )];
    let copies = (0..5000)
        .map(|n| onnx_node("Identity", &format!("c{n}"), &format!("c{}", n + 1), &[]))
        .collect();
    let of_high_rank = format!("r0 f32[{}]", "1,".repeat(3000));
    let chain = (0..2000).map(|n| onnx_node("Relu", &format!("r{n}"), &format!("r{}", n + 1), &[]));
    let high = Model {
        inputs: vec![typed(&of_high_rank)],
        ..model(chain.collect(), &["r2000".to_owned()])
    };
    let models = [
        model(wide, &outputs),
        model(copies, &["c5000".to_owned()]),
        high,
    ];
    for model in models {
        assert_eq!(
            (read_model(ModelFormat::Onnx, Cursor::new(model.bytes())).unwrap_err()).to_string(),
            "This ONNX file was not opened: its ops read more than 4 million tensors and sizes, the limit for one file."
        );
    }
}

/// Followed, 64 elements would become 64^6.
fn an_order_that_repeats_a_dimension_is_not_followed() {
    let elements: Vec<u8> = (0..64_i64).flat_map(i64::to_le_bytes).collect();
    let dims = [64, 1, 1, 1, 1, 1].map(|size| int(1, size)).concat();
    let weight = [dims, int(2, 7), field(8, "p"), field(9, elements)].concat();
    let model = Model {
        inputs: vec![typed("x f32[4]")],
        weights: vec![weight],
        nodes: vec![
            onnx_node("Transpose", "p", "q", &[attribute_ints("perm", &[0; 6])]),
            onnx_node("Reshape", "x q", "y", &[]),
        ],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let converted = read_model(ModelFormat::Onnx, Cursor::new(model.bytes())).unwrap();
    let is_unknown = converted.text.contains("q = opaque(p, name=transpose)\n");
    assert!(is_unknown, "{}", converted.text);
}

fn read(bytes: &[u8]) -> Result<Converted, ModelError> {
    read_model(ModelFormat::Pt2, Cursor::new(bytes))
}

/// A shape of very many sizes that many nodes read; a chain of ops that read two tensors each.
fn many(rank: usize, nodes: usize) -> Value {
    let mut tensors = vec![("x".to_owned(), tensor(&vec![1; rank]))];
    tensors.extend((1..=nodes).map(|node| (format!("t{node}"), tensor(&[1]))));
    let name = |node: usize| match node {
        0 => "x".to_owned(),
        node => format!("t{node}"),
    };
    let list = (0..nodes).map(|n| node("frobnicate.default", &["x", &name(n)], &name(n + 1)));
    let tensors = tensors.iter();
    let tensors: Vec<(&str, Value)> = tensors
        .map(|(name, meta)| (name.as_str(), meta.clone()))
        .collect();
    program(&tensors, &list.collect::<Vec<_>>(), &name(nodes))
}

fn very_many_sizes_are_refused() {
    assert_eq!(
        read(&file(&many(3000, 1400))).unwrap_err().to_string(),
        "This .pt2 file was not opened: its ops read more than 4 million tensors and sizes, the limit for one file."
    );
}

fn products_that_overflow_are_told_by_the_notation() {
    let vast = program(
        &[
            ("x", tensor(&[i64::MAX, i64::MAX])),
            ("y", tensor(&[i64::MAX, i64::MAX])),
        ],
        &[node("relu.default", &["x"], "y")],
        "y",
    );
    let text = read(&file(&vast)).unwrap().text;
    let outcome = analyze_program(&parse(&text).program, &Options::default());
    assert!(has_errors(&outcome.diagnostics), "{text}");
}

/// By long paths of modules.
fn more_text_than_is_read_is_refused() {
    let mut long = many(1, 30_000);
    let nodes = long["graph_module"]["graph"]["nodes"]
        .as_array_mut()
        .unwrap();
    for node in nodes {
        let stack = format!("k,{},Module", "m".repeat(119));
        node["metadata"] = json!({ "nn_module_stack": stack });
    }
    let said = read(&file(&long)).unwrap_err().to_string();
    assert!(
        said.contains("30000 ops need more than 8 MB of notation"),
        "{said}"
    );
}
