//! ONNX files with functions of their own, with tensors without elements, and with sizes that only
//! a run gives.

use crate::onnx::{converted, statements};
use crate::onnx_bad::refused;
use crate::onnx_files::{
    Model, attribute_int, attribute_ints, field, int, ints, node, of_graph, typed,
};

/// A function `own.Gated(x, w) = relu(x @ w) * x`, with the axis of a softmax as its attribute.
fn function() -> Vec<u8> {
    // The attribute `axis` of the node is the attribute `along` of the function.
    let reference = field(
        5,
        [field(1, "axis"), field(21, "along"), int(20, 2)].concat(),
    );
    let soft = [node("Softmax", "p", "r", &[]), reference].concat();
    let nodes = [
        node("MatMul", "x w", "p", &[]),
        soft,
        node("Mul", "r x", "y", &[]),
    ];
    [
        field(1, "Gated"),
        field(4, "x"),
        field(4, "w"),
        field(5, "y"),
        field(6, "along"),
        nodes.iter().flat_map(|node| field(7, node)).collect(),
        field(9, int(2, 21)),
        field(10, "own"),
    ]
    .concat()
}

fn gated(inputs: &str, output: &str, axis: i64) -> Vec<u8> {
    [
        node("Gated", inputs, output, &[attribute_int("along", axis)]),
        field(7, "own"),
    ]
    .concat()
}

fn with_function(model: &Model, function: &[u8]) -> String {
    let bytes = [of_graph(&model.graph()), field(25, function)].concat();
    let text = converted(&bytes).text;
    let ops = text
        .lines()
        .filter(|line| !line.starts_with(['#', 'i', 'w']));
    // Columns are for the eye.
    let ops = ops.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    ops.filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn functions_of_the_file_are_opened() {
    let model = Model {
        inputs: vec![typed("x f32[4, 8]"), typed("w f32[8, 8]")],
        nodes: vec![gated("x w", "p", 0), gated("p w", "y", 1)],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    // The names inside are those of the function, once for each call.
    assert_eq!(
        with_function(&model, &function()),
        "p = matmul(x, w)\n\
         r = softmax(p, axis=0)\n\
         y_3 = mul(r, x)\n\
         p_2 = matmul(y_3, w)\n\
         r_2 = softmax(p_2, axis=1)\n\
         y = mul(r_2, y_3)"
    );
}

#[test]
fn a_function_that_calls_itself_is_refused() {
    let own = [
        field(1, "Loop"),
        field(4, "x"),
        field(5, "y"),
        field(7, [node("Loop", "x", "y", &[]), field(7, "own")].concat()),
        field(10, "own"),
    ]
    .concat();
    let model = Model {
        inputs: vec![typed("x f32[4]")],
        nodes: vec![[node("Loop", "x", "y", &[]), field(7, "own")].concat()],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let bytes = [of_graph(&model.graph()), field(25, own)].concat();
    let problem = refused(&bytes);
    assert!(problem.contains("more than 32 levels deep"), "{problem}");
}

/// A number of elements that only a run gives is a param, and all that follows counts.
#[test]
fn sizes_of_a_run_are_params() {
    let text = |nodes: &[Vec<u8>], inputs: &[&str]| {
        let model = Model {
            inputs: inputs.iter().map(|input| typed(input)).collect(),
            nodes: nodes.to_vec(),
            outputs: vec![field(1, "y")],
            ..Model::default()
        };
        converted(&model.bytes())
    };
    let nodes = [
        node("Compress", "x m", "c", &[attribute_int("axis", 0)]),
        node("Relu", "c", "y", &[]),
    ];
    let compressed = text(&nodes, &["x f32[16, 8]", "m bool[16]"]);
    assert!(!compressed.is_incomplete);
    assert!(
        compressed.text.contains("param c_0 = 16 in 1..16\n"),
        "{}",
        compressed.text
    );
    assert!(
        compressed.text.contains(": f32[c_0, 8]\n"),
        "{}",
        compressed.text
    );
    let nodes = [
        node("Reshape", "x s", "r", &[]),
        node("Relu", "r", "y", &[]),
    ];
    let reshaped = text(&nodes, &["x f32[16, 8]", "s i64[3]"]);
    assert!(!reshaped.is_incomplete);
    assert!(
        reshaped.text.contains(": f32[r_0, r_1, r_2]\n"),
        "{}",
        reshaped.text
    );
}

#[test]
fn tensors_without_elements_are_left_out() {
    // What a rotation leaves of a head that it turns as a whole, and a cache without tokens.
    let nodes = [
        node("Slice", "x start end axis", "rest", &[]),
        node("Exp", "rest", "more", &[]),
        node("Relu", "x", "turned", &[]),
        node("Concat", "turned more", "y", &[attribute_int("axis", 1)]),
    ];
    let weights = [
        ints("start", &[8]),
        ints("end", &[i64::MAX]),
        ints("axis", &[1]),
    ];
    assert_eq!(
        statements(&["x f32[4, 8]"], &weights, &nodes, "y"),
        "y = relu(x)"
    );
}

#[test]
fn an_uneven_split_has_a_smaller_last_piece() {
    let split = node(
        "Split",
        "x",
        "a b c",
        &[attribute_int("axis", 1), attribute_int("num_outputs", 3)],
    );
    assert_eq!(
        statements(&["x f32[2, 7]"], &[], &[split], "a b c"),
        "a = slice(x, start=0, end=3, axis=1)\n\
         b = slice(x, start=3, end=6, axis=1)\n\
         c = slice(x, start=6, end=7, axis=1)"
    );
}

/// A copy is the op of a model that has no other.
#[test]
fn a_model_that_only_passes_on_its_input_copies_it() {
    assert_eq!(
        statements(
            &["x f32[4, 8]"],
            &[],
            &[node("Identity", "x", "y", &[])],
            "y"
        ),
        "y = contiguous(x)"
    );
}

#[test]
fn an_output_keeps_its_name() {
    let nodes = [
        node("Relu", "x", "inner", &[]),
        node("Squeeze", "inner axes", "flat", &[]),
        node("Identity", "flat", "result", &[]),
    ];
    assert_eq!(
        statements(&["x f32[1, 8]"], &[ints("axes", &[0])], &nodes, "result"),
        "inner = relu(x)\nresult = reshape(inner, shape=[8])"
    );
}

/// Statistics, places and values of one operator come from one kernel.
#[test]
fn several_results_are_one_kernel() {
    let norm = node("LayerNormalization", "x g", "y m", &[]);
    assert_eq!(
        statements(&["x f32[4, 8]", "g f32[8]"], &[], &[norm], "y m"),
        "LayerNormalization_all = opaque(x, g, name=LayerNormalization, flops=256, units=vector) : f32[36]\n\
         y = part(LayerNormalization_all) : f32[4, 8]\n\
         m = part(LayerNormalization_all) : f32[4, 1]"
    );
    let pool = node(
        "MaxPool",
        "x",
        "y i",
        &[attribute_ints("kernel_shape", &[2, 2])],
    );
    let text = statements(&["x f32[1, 4, 8, 8]"], &[], &[pool], "y i");
    assert!(
        text.starts_with("MaxPool_all = opaque(x, name=MaxPool, flops=256, units=vector)"),
        "{text}"
    );
}
