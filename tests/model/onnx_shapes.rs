//! Shapes of operators of ONNX that no file states: windows, quantised tensors, recurrent layers,
//! branches.

use crate::onnx::{converted, statements};
use crate::onnx_files::{
    Model, attribute_graph, attribute_int, attribute_ints, attribute_tensor, attribute_text,
    branch, field, floats, ints, node, typed, weight,
};
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};

const X: &str = "x f32[1, 4, 32, 32]";

#[test]
fn constants_of_nodes_are_weights() {
    let held = attribute_tensor("value", &weight("", "f32[8, 4, 3, 3]"));
    let model = Model {
        inputs: vec![typed(X)],
        nodes: vec![
            node("Constant", "", "w", &[held]),
            node("Conv", "x w", "y", &[]),
        ],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let text = converted(&model.bytes()).text;
    let expected = "\
input  x : f32[1, 4, 32, 32]
weight w : f32[8, 4, 3, 3]
y = conv2d(x, w)
";
    assert_eq!(text, expected);
}

/// Only the author of an operator knows the shape of its result.
#[test]
fn ops_of_unknown_shape_are_named_with_what_to_write() {
    let shapeless = |count: usize| {
        let names = ["a", "b", "c"].iter().take(count);
        let nodes = names.clone().map(|name| node("Frobnicate", "x", name, &[]));
        let model = Model {
            inputs: vec![typed(X)],
            nodes: nodes.collect(),
            outputs: names.map(|name| field(1, name)).collect(),
            ..Model::default()
        };
        converted(&model.bytes())
    };
    for (count, told) in [
        (
            1,
            "1 op of unknown shape is not counted. Write its shape after a colon.",
        ),
        (
            3,
            "3 ops of unknown shape are not counted. Write their shapes after a colon, the first op first.",
        ),
    ] {
        let converted = shapeless(count);
        assert!(converted.summary.ends_with(told), "{}", converted.summary);
        assert!(
            converted.text.contains(&format!("# {told}\n")),
            "{}",
            converted.text
        );
    }
}

#[test]
fn windows_have_the_borders_that_give_the_same_size() {
    let same = attribute_text("auto_pad", "SAME_UPPER");
    let ints = attribute_ints;
    let cases = [
        // 32 of stride 2 are 16: one element behind the image.
        (
            "Conv",
            vec![same.clone(), ints("strides", &[2, 2])],
            "y = conv2d(x, w, stride=2, padding=1)",
        ),
        (
            "Conv",
            vec![ints("pads", &[0, 0, 1, 1]), ints("strides", &[2, 2])],
            "y = conv2d(x, w, stride=2, padding=1)",
        ),
        // No border on both sides gives 31 elements.
        (
            "Conv",
            vec![ints("pads", &[0, 0, 1, 1])],
            "y_border = pad(x, pad=[0, 1, 0, 1])\ny = conv2d(y_border, w)",
        ),
        (
            "MaxPool",
            vec![
                ints("kernel_shape", &[3, 3]),
                same,
                ints("strides", &[2, 2]),
            ],
            "y = max_pool2d(x, kernel=3, stride=2, padding=1)",
        ),
        (
            "AveragePool",
            vec![
                ints("kernel_shape", &[2, 2]),
                ints("strides", &[2, 2]),
                attribute_int("ceil_mode", 1),
            ],
            "y = avg_pool2d(x, kernel=2, stride=2)",
        ),
        // Of an even window at each element a half is no border.
        (
            "AveragePool",
            vec![ints("kernel_shape", &[2, 2]), ints("pads", &[0, 0, 1, 1])],
            "y = reduction(x) : f32[1, 4, 32, 32]",
        ),
    ];
    for (operator, attributes, expected) in cases {
        let (inputs, reads) = if operator == "Conv" {
            (vec![X, "w f32[8, 4, 3, 3]"], "x w")
        } else {
            (vec![X], "x")
        };
        let nodes = [node(operator, reads, "y", &attributes)];
        assert_eq!(statements(&inputs, &[], &nodes, "y"), expected);
    }
}

#[test]
fn operators_without_a_function_have_shapes_and_flops() {
    let a = attribute_int;
    let list = attribute_ints;
    let lstm = ["x f32[20, 2, 4]", "w f32[1, 32, 4]", "r f32[1, 32, 8]"];
    let cases: &[(&[&str], Vec<u8>, &str)] = &[
        (
            &[X],
            node("LRN", "x", "y", &[a("size", 5)]),
            "y = opaque(x, name=LRN, flops=49152, units=vector) : f32[1, 4, 32, 32]",
        ),
        (
            &lstm,
            node("LSTM", "x w r", "y", &[]),
            "y = opaque(x, w, r, name=LSTM, flops=30720, units=matrix) : f32[20, 1, 2, 8]",
        ),
        (
            &[X, "w f32[4, 8, 2, 2]"],
            node("ConvTranspose", "x w", "y", &[list("strides", &[2, 2])]),
            "y = convolution(x, w, k=4) : f32[1, 8, 64, 64]",
        ),
        (
            &["x f16[B, 16, 64]", "w i8[128, 2, 16]", "s f16[256]"],
            node("MatMulNBits", "x w s", "y", &[a("K", 64), a("N", 128)]),
            "y_short = part(w) : i4[128, 64]\n\
             y_scales = part(s) : f16[128, 2]\n\
             y_weights = dequantize(y_short, y_scales)\n\
             y = matmul(x, y_weights, transpose_b=true)",
        ),
    ];
    for (inputs, own, expected) in cases {
        assert_eq!(
            statements(inputs, &[], std::slice::from_ref(own), "y"),
            *expected
        );
    }
}

#[test]
fn several_results_are_parts_of_one_op() {
    let inputs = ["x f32[20, 2, 4]", "w f32[1, 32, 4]", "r f32[1, 32, 8]"];
    let lstm = node("LSTM", "x w r", "y h c", &[]);
    assert_eq!(
        statements(&inputs, &[], &[lstm], "y c"),
        "LSTM_all = opaque(x, w, r, name=LSTM, flops=30720, units=matrix) : f32[336]\n\
         y = part(LSTM_all) : f32[20, 1, 2, 8]\n\
         c = part(LSTM_all) : f32[1, 2, 8]"
    );
    // Of several types, by bytes.
    assert_eq!(
        statements(
            &["x f32[4, 8]"],
            &[],
            &[node("DynamicQuantizeLinear", "x", "q s", &[])],
            "q s"
        ),
        "DynamicQuantizeLinear_all = opaque(x, name=DynamicQuantizeLinear, flops=192, units=vector) : i8[36]\n\
         q = part(DynamicQuantizeLinear_all) : i8[4, 8]\n\
         s = part(DynamicQuantizeLinear_all) : f32[]"
    );
    // Functions of the notation, whose ops are one kernel.
    assert_eq!(
        statements(
            &["x f32[4, 8]"],
            &[ints("k", &[2])],
            &[node("TopK", "x k", "v i", &[])],
            "v i"
        ),
        "i = topk_indices(x, count=2, axis=-1)\nv = topk(x, count=2, axis=-1)"
    );
    // No function gives the smallest values.
    let smallest = [attribute_int("largest", 0)];
    assert_eq!(
        statements(
            &["x f32[4, 8]"],
            &[ints("k", &[2])],
            &[node("TopK", "x k", "v i", &smallest)],
            "v"
        ),
        "v = opaque(x, name=TopK, flops=32, units=vector) : f32[4, 2]"
    );
    // One sum for the norm and the result.
    let skip = node("SkipLayerNormalization", "x r g b c", "n - - s", &[]);
    assert_eq!(
        statements(
            &[
                "x f16[4, 8]",
                "r f16[4, 8]",
                "g f16[8]",
                "b f16[8]",
                "c f16[8]"
            ],
            &[],
            &[skip],
            "n s"
        ),
        "s_residual = add(x, r)\ns = add(s_residual, c)\nn = layer_norm(s, g, b, eps=1e-12)"
    );
}

#[test]
fn quantised_weights_are_a_byte_each() {
    let nodes = [
        node("QuantizeLinear", "x s zero", "q", &[]),
        node("DequantizeLinear", "q s zero", "x2", &[]),
        node("DequantizeLinear", "w t", "w2", &[attribute_int("axis", 0)]),
        node("Conv", "x2 w2", "y", &[]),
    ];
    let inputs = [X, "w i8[8, 4, 3, 3]", "t f32[8]", "zero i8[]"];
    assert_eq!(
        statements(&inputs, &[floats("s", &[0.5])], &nodes, "y"),
        "\
q_scaled = div(x, 0.5)
q_rounded = round(q_scaled)
q_offset = cast(zero, dtype=f32)
q_shifted = add(q_rounded, q_offset)
q_held = clamp(q_shifted, min=-128, max=127)
q = cast(q_held, dtype=i8)
x2_cast = cast(q, dtype=f32)
x2_offset = cast(zero, dtype=f32)
x2_centred = sub(x2_cast, x2_offset)
x2 = mul(x2_centred, 0.5)
w2_scale = reshape(t, shape=[8, 1, 1, 1])
w2_cast = cast(w, dtype=f32)
w2 = mul(w2_cast, w2_scale)
y = conv2d(x2, w2)"
    );
}

#[test]
fn a_branch_takes_the_place_of_its_condition() {
    let branches = [
        attribute_graph("then_branch", &branch("Relu")),
        attribute_graph("else_branch", &branch("Exp")),
    ];
    let condition = |value: i64| ints("flag", &[value]);
    let choice = node("If", "flag", "z", &branches);
    let behind = node("Neg", "z", "y", &[]);
    let nodes = [choice, behind];
    let of = |weights: &[Vec<u8>]| statements(&["x f32[4]"], weights, &nodes, "y");
    assert_eq!(of(&[condition(1)]), "inner = relu(x)\ny = neg(inner)");
    assert_eq!(of(&[condition(0)]), "inner = exp(x)\ny = neg(inner)");
    let model = Model {
        inputs: vec![typed("x f32[4]"), typed("flag bool[]")],
        nodes: nodes.to_vec(),
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let summary = converted(&model.bytes()).summary;
    assert!(
        summary.ends_with(
            "1 If condition is known only at run time. Fuseline counts its then branch."
        ),
        "{summary}"
    );
}

#[test]
fn a_reduction_without_axes_may_keep_its_input() {
    let kept = attribute_int("noop_with_empty_axes", 1);
    let nodes = [
        node("ReduceSum", "x", "r", std::slice::from_ref(&kept)),
        node("Relu", "r", "y", &[]),
    ];
    assert_eq!(
        statements(&["x f32[4, 8]"], &[], &nodes, "y"),
        "y = relu(x)"
    );
    let nodes = [
        node("ReduceSum", "x a", "r", &[kept]),
        node("Relu", "r", "y", &[]),
    ];
    assert_eq!(
        statements(&["x f32[4, 8]"], &[ints("a", &[])], &nodes, "y"),
        "y = relu(x)"
    );
}

#[test]
fn a_range_of_floats_has_the_length_of_its_size() {
    let nodes = [
        node("Shape", "x", "shape", &[]),
        node("Gather", "shape one", "size", &[]),
        node("Cast", "size", "end", &[attribute_int("to", 1)]),
        node("Range", "start end step", "r", &[]),
        node("Add", "x r", "y", &[]),
    ];
    let weights = [
        ints("one", &[1]),
        floats("start", &[0.0]),
        floats("step", &[1.0]),
    ];
    assert_eq!(
        statements(&["x f32[4, n]"], &weights, &nodes, "y"),
        "r = arange() : f32[n]\ny = add(x, r)"
    );
}

/// The `TorchScript` exporter writes the shape of an index of `index_copy_` so.
#[test]
fn a_shape_with_replaced_sizes_is_known() {
    let nodes = [
        node("Shape", "i", "length", &[]),
        node("ScatterElements", "sizes place length", "shape", &[]),
        node("Expand", "x shape", "y", &[]),
    ];
    let weights = [ints("sizes", &[2, -1, 8]), ints("place", &[-2])];
    let inputs = ["x f32[1, 1, 8]", "i i64[n]"];
    assert_eq!(
        statements(&inputs, &weights, &nodes, "y"),
        "y = expand(x, shape=[2, n, 8])"
    );
}

#[test]
fn a_gather_reads_what_it_gives() {
    let gather = node("Gather", "x i", "y", &[attribute_int("axis", 1)]);
    let text = statements(&["x f32[64, 4096]", "i i64[2]"], &[], &[gather], "y");
    let text = format!("input x : f32[64, 4096]\ninput i : i64[2]\n{text}");
    let analysis = analyze_program(&parse(&text).program, &Options::default());
    let traffic = analysis.analysis.unwrap().unfused.traffic;
    assert_eq!(traffic.bytes_read, 64 * 2 * 4 + 2 * 8);
}

#[test]
fn borders_that_a_file_computes_are_followed() {
    // As PyTorch exports a pad: pairs from the last dimension on, turned around, and transposed.
    let nodes = [
        node("Reshape", "pads pairs", "rows", &[]),
        node("Slice", "rows last end axes back", "turned", &[]),
        node(
            "Transpose",
            "turned",
            "sides",
            &[attribute_ints("perm", &[1, 0])],
        ),
        node("Reshape", "sides flat", "borders", &[]),
        node(
            "Pad",
            "x borders",
            "y",
            &[attribute_text("mode", "reflect")],
        ),
    ];
    let weights = [
        ints("pads", &[1, 2, 3, 4]),
        ints("pairs", &[-1, 2]),
        ints("last", &[-1]),
        ints("end", &[i64::MIN + 1]),
        ints("axes", &[0]),
        ints("back", &[-1]),
        ints("flat", &[-1]),
    ];
    assert_eq!(
        statements(&["x f32[10, 20]"], &weights, &nodes, "y"),
        "y = rearrange(x) : f32[17, 23]"
    );
}

#[test]
fn an_op_that_does_not_fit_hides_nothing() {
    let model = Model {
        inputs: vec![typed("x f32[4, 8]"), typed("w f32[9, 3]")],
        nodes: vec![node("MatMul", "x w", "p", &[]), node("Relu", "p", "y", &[])],
        outputs: vec![field(1, "y")],
        ..Model::default()
    };
    let converted = converted(&model.bytes());
    assert!(
        converted
            .text
            .ends_with("p = opaque(x, w, name=matmul) : f32[4, 3]\ny = relu(p)\n"),
        "{}",
        converted.text
    );
    assert!(
        converted.summary.contains(
            "1 op counts as opaque: 1 matmul. 1 op does not fit its inputs and counts as opaque: "
        ),
        "{}",
        converted.summary
    );
}
