//! Open sizes of ONNX files: which of them are equal, which values the graph allows, and the values
//! that a visitor states.

use crate::onnx::converted;
use crate::onnx_files::{
    Model, attribute_int, attribute_ints, attribute_text, field, floats, ints, node, typed, weight,
};
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};
use fuseline_view::opened::model_file::{ModelFormat, read_model_at};
use std::io::Cursor;

fn model(inputs: &[&str], weights: &[Vec<u8>], nodes: &[Vec<u8>]) -> Vec<u8> {
    Model {
        inputs: inputs.iter().map(|input| typed(input)).collect(),
        weights: weights.to_vec(),
        nodes: nodes.to_vec(),
        outputs: vec![field(1, "y")],
        ..Model::default()
    }
    .bytes()
}

fn text(inputs: &[&str], weights: &[Vec<u8>], nodes: &[Vec<u8>]) -> String {
    converted(&model(inputs, weights, nodes)).text
}

/// Four strides of 2 and a window of 3 rows, of which a squeeze needs one to be left.
fn reader() -> Vec<u8> {
    let pool = |input: &str, output: &str, window: [i64; 2]| {
        let attributes = [
            attribute_ints("kernel_shape", &window),
            attribute_ints("strides", &window),
        ];
        node("MaxPool", input, output, &attributes)
    };
    let nodes = [
        pool("x", "a", [2, 2]),
        pool("a", "b", [2, 2]),
        pool("b", "c", [2, 2]),
        pool("c", "d", [2, 1]),
        pool("d", "e", [3, 1]),
        node("Squeeze", "e axes", "f", &[]),
        node("Transpose", "f", "g", &[attribute_ints("perm", &[0, 2, 1])]),
        node("MatMul", "g w", "y", &[]),
    ];
    model(
        &["x f32[B, 8, ?, W]"],
        &[ints("axes", &[2]), weight("w", "f32[8, 100]")],
        &nodes,
    )
}

/// FLOPs of all ops at these values of params of the text.
fn flops(text: &str, values: &[(&str, i64)]) -> u128 {
    let mut program = parse(text).program;
    for (name, value) in values {
        let param = program.params.iter_mut().find(|own| own.name.text == *name);
        param.unwrap().value = *value;
    }
    let outcome = analyze_program(&program, &Options::default());
    assert!(
        outcome.diagnostics.is_empty(),
        "{:?}\n{text}",
        outcome.diagnostics
    );
    let analysis = outcome.analysis.unwrap();
    let kernels = analysis.unfused.kernels.iter();
    kernels.map(|kernel| kernel.work.flops()).sum()
}

#[test]
fn a_default_is_a_size_that_the_graph_allows() {
    let text = converted(&reader()).text;
    assert!(
        text.contains("param v = 48 in 32..2048 step 16\n"),
        "{text}"
    );
    assert!(text.contains("shape=[B, 8, -1]"), "{text}");
    assert!(!text.contains("opaque("), "{text}");
}

#[test]
fn a_program_of_an_open_image_is_right_at_every_size() {
    let bytes = reader();
    let text = converted(&bytes).text;
    for width in [64, 320] {
        let given = [("W".to_owned(), width), ("v".to_owned(), 48)];
        let again = read_model_at(ModelFormat::Onnx, Cursor::new(&bytes), &given).unwrap();
        // A product for each of 8 images and each eighth column, and one FLOP for each element of 8
        // channels that a pool reads.
        let width = u128::try_from(width).unwrap();
        let products = width * 8 * 100 * 2;
        let pools = 48 * width + 24 * width / 2 + 12 * width / 4 + 6 * width / 8 + 3 * width / 8;
        let own = flops(&again.text, &[]);
        assert_eq!(own, products + 8 * 8 * pools);
        let width = i64::try_from(width).unwrap();
        assert_eq!(flops(&text, &[("W", width)]), own);
    }
}

/// A batch of one image is no row of an image that has one.
#[test]
fn a_given_value_is_no_size_of_something_else() {
    let given = [("B".to_owned(), 1)];
    let again = read_model_at(ModelFormat::Onnx, Cursor::new(reader()), &given).unwrap();
    assert!(
        again.text.contains("param B = 1 in 1..256\n"),
        "{}",
        again.text
    );
    assert!(!again.text.contains("only at"), "{}", again.text);
}

/// A value that no even split of the image reaches is in the text as a number, at which it is
/// right.
#[test]
fn a_given_value_is_the_one_that_the_text_is_right_at() {
    let nodes = [
        node(
            "MaxPool",
            "x",
            "p",
            &[
                attribute_ints("kernel_shape", &[2, 2]),
                attribute_ints("strides", &[2, 2]),
            ],
        ),
        node("Shape", "p", "s", &[]),
        node("ConstantOfShape", "s", "z", &[]),
        node("Add", "p z", "y", &[]),
    ];
    let bytes = model(&["x f32[B, 8, H, W]"], &[], &nodes);
    let at = |values: &[(String, i64)]| {
        let converted = read_model_at(ModelFormat::Onnx, Cursor::new(&bytes), values);
        converted.unwrap().text
    };
    let given = at(&[("H".to_owned(), 40)]);
    assert!(
        given.contains("param H = 40 in 32..2048 step 8\n"),
        "{given}"
    );
    assert!(given.contains("f32[B, 8, 20, 112]"), "{given}");
    assert!(at(&[]).contains("f32[B, 8, 112, 112]"));
}

#[test]
fn sizes_that_an_operator_says_are_equal_are_one() {
    let recurrent = text(
        &["x f32[T, b, 4]", "h f32[1, states, 8]"],
        &[weight("w", "f32[1, 32, 4]"), weight("r", "f32[1, 32, 8]")],
        &[node(
            "LSTM",
            "x w r - - h h",
            "y",
            &[attribute_int("hidden_size", 8)],
        )],
    );
    assert!(!recurrent.contains("param states"), "{recurrent}");
    assert!(recurrent.contains("h : f32[1, b, 8]\n"), "{recurrent}");
    let product = text(
        &["x f32[B, width]"],
        &[weight("w", "f32[784, 10]")],
        &[node("MatMul", "x w", "y", &[])],
    );
    assert!(product.contains("x : f32[B, 784]\n"), "{product}");
    // A sum of two sizes, as keys of the past and new ones.
    let attention = text(
        &["p f32[B, past, 8]", "x f32[B, new, 8]", "m f32[B, all, 8]"],
        &[],
        &[
            node("Concat", "p x", "k", &[attribute_int("axis", 1)]),
            node("Concat", "k m", "y", &[attribute_int("axis", 2)]),
        ],
    );
    assert!(
        attention.contains("m : f32[B, past + new, 8]\n"),
        "{attention}"
    );
}

/// Broadcast sizes may also be 1, so they stay params; their defaults fit.
#[test]
fn a_size_that_is_broadcast_has_a_default_that_fits() {
    let sum = text(
        &["x f32[B, width]"],
        &[floats("c", &[0.5; 48])],
        &[node("Add", "x c", "y", &[])],
    );
    assert!(
        sum.contains("param width = 48 in 32..2048 step 16\n"),
        "{sum}"
    );
}

#[test]
fn signs_without_a_name_are_a_size_each() {
    let image = text(
        &["x f32[?, 3, ?, ?]"],
        &[],
        &[node("Relu", "x", "y", &[attribute_text("unused", "")])],
    );
    assert!(image.contains("x : f32[v, 3, v_2, v_3]\n"), "{image}");
}
