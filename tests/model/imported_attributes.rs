//! Attributes of operators that change values or shapes: an import states each, or the op says that
//! it computes an unknown function.

use crate::onnx::statements;
use crate::onnx_files::{
    attribute_float, attribute_int, attribute_ints, attribute_text, floats, ints, node as onnx_node,
};
use crate::pt2::{analysed, converted, functions};
use crate::pt2_files::{file, named, node_of, program, tensor};
use serde_json::{Value, json};

/// An operator of `ATen`, its arguments, the shapes of `x` and `y`, and the ops that it becomes.
type Case<'a> = (&'a str, Value, &'a [i64], &'a [i64], &'a str);

/// The ops of an operator of `ATen` on `x`, each on a line.
fn lines(operator: &str, arguments: &Value, x: &[i64], y: &[i64]) -> String {
    let x_argument = json!({ "as_tensor": { "name": "x" } });
    let first = if operator.contains("_norm") {
        "input"
    } else {
        "self"
    };
    let arguments = arguments.as_object().unwrap().iter();
    let arguments = arguments.map(|(name, value)| named(name, value));
    let reads = !operator.starts_with("arange") && operator != "fill.Tensor";
    let inputs = reads.then(|| named(first, &x_argument)).into_iter();
    let inputs: Vec<Value> = inputs.chain(arguments).collect();
    let nodes = [node_of(operator, &inputs, "y")];
    let text = converted(&file(&program(
        &[("x", tensor(x)), ("y", tensor(y))],
        &nodes,
        "y",
    )))
    .text;
    analysed(&text);
    let lines = text.lines().filter(|line| line.contains(" = "));
    let lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
#[rustfmt::skip]
fn aten_states_what_changes_values() {
    let image: &[i64] = &[2, 8, 4, 4];
    let cases: &[Case<'_>] = &[
        ("pixel_shuffle.default", json!({ "upscale_factor": { "as_int": 2 } }), image, &[2, 2, 8, 8],
            "reshape = reshape(x, shape=[2, 2, 2, 2, 4, 4])\ntranspose = transpose(reshape, perm=[0, 1, 4, 2, 5, 3])\ncontiguous = contiguous(transpose) : f32[2, 2, 4, 2, 4, 2]\nreshape_2 = reshape(contiguous) : f32[2, 2, 8, 8]"),
        ("pixel_unshuffle.default", json!({ "downscale_factor": { "as_int": 2 } }), image, &[2, 32, 2, 2],
            "reshape = reshape(x, shape=[2, 8, 2, 2, 2, 2])\ntranspose = transpose(reshape, perm=[0, 1, 3, 5, 2, 4])\ncontiguous = contiguous(transpose) : f32[2, 8, 2, 2, 2, 2]\nreshape_2 = reshape(contiguous) : f32[2, 32, 2, 2]"),
        ("channel_shuffle.default", json!({ "groups": { "as_int": 2 } }), image, image,
            "reshape = reshape(x, shape=[2, 2, 4, 4, 4])\ntranspose = transpose(reshape, perm=[0, 2, 1, 3, 4])\ncontiguous = contiguous(transpose) : f32[2, 4, 2, 4, 4]\nreshape_2 = reshape(contiguous) : f32[2, 8, 4, 4]"),
        ("pad.default", json!({ "pad": { "as_ints": [1, 1] }, "value": { "as_float": 3.0 } }), &[4, 8], &[4, 10],
            "pad = pad(x, pad=[1, 1], value=3) : f32[4, 10]"),
        ("constant_pad_nd.default", json!({ "pad": { "as_ints": [1, 1] }, "value": { "as_int": 0 } }), &[4, 8], &[4, 10],
            "pad = pad(x, pad=[1, 1]) : f32[4, 10]"),
        ("constant_pad_nd.default", json!({ "pad": { "as_ints": [1, -1] }, "value": { "as_int": -2 } }), &[4, 8], &[4, 8],
            "slice = slice(x, start=0, end=7, axis=1)\npad = pad(slice, pad=[1, 0], value=-2) : f32[4, 8]"),
        // No reshape: the compiler cuts all elements as an earlier reduction has cut them.
        ("max.default", json!({}), image, &[], "max = max(x, axis=[0, 1, 2, 3], keepdim=false) : f32[]"),
        ("min.default", json!({}), &[8], &[], "min = min(x, axis=0, keepdim=false) : f32[]"),
        ("max.default", json!({}), &[], &[], "reshape = reshape(x, shape=[1])\nmax = max(reshape, axis=0, keepdim=false) : f32[]"),
        ("arange.default", json!({ "end": { "as_int": 8 } }), &[8], &[8],
            "arange = arange() : f32[8]"),
        ("arange.start_step", json!({ "start": { "as_int": 3 }, "end": { "as_int": 19 }, "step": { "as_int": 2 } }), &[8], &[8],
            "arange = arange(start=3, step=2) : f32[8]"),
        ("arange.start_step", json!({ "start": { "as_float": 4.0 }, "end": { "as_int": 0 }, "step": { "as_int": -1 } }), &[4], &[4],
            "arange = arange(start=4, step=-1) : f32[4]"),
        ("arange.start_step", json!({ "start": { "as_float": 0.5 }, "end": { "as_int": 2 }, "step": { "as_float": 0.25 } }), &[6], &[6],
            "arange = arange() : f32[6]\nscale = scale(arange, factor=0.25)\nshift = shift(scale, amount=0.5) : f32[6]"),
        ("round.default", json!({}), &[4], &[4], "round = round(x) : f32[4]"),
        ("round.decimals", json!({ "decimals": { "as_int": 1 } }), &[4], &[4], "elementwise = elementwise(x) : f32[4]"),
        ("rms_norm.default", json!({ "normalized_shape": { "as_ints": [8] } }), &[4, 8], &[4, 8],
            "rms_norm = rms_norm(x, eps=1.1920928955078125e-7) : f32[4, 8]"),
        ("rms_norm.default", json!({ "normalized_shape": { "as_ints": [8] }, "eps": { "as_float": 1e-6 } }), &[4, 8], &[4, 8],
            "rms_norm = rms_norm(x, eps=1e-6) : f32[4, 8]"),
    ];
    let more: &[Case<'_>] = &[
        ("softplus.default", json!({ "threshold": { "as_int": 20 } }), &[4], &[4], "softplus = softplus(x) : f32[4]"),
        ("softplus.default", json!({ "threshold": { "as_int": 1 } }), &[4], &[4], "elementwise = elementwise(x) : f32[4]"),
        ("instance_norm.default", json!({ "use_input_stats": { "as_bool": false }, "eps": { "as_float": 1e-5 } }), image, image, "instance_norm = opaque(x, name=aten.instance_norm) : f32[2, 8, 4, 4]"),
        ("narrow.default", json!({ "dim": { "as_int": 0 }, "start": { "as_int": -2 }, "length": { "as_int": 2 } }), &[4], &[2], "slice = slice(x, start=2, end=4, axis=0) : f32[2]"),
        ("full_like.default", json!({ "fill_value": { "as_float": 2.5 } }), &[4], &[4], "full = full(value=2.5) : f32[4]"),
        ("fill.Tensor", json!({ "value": { "as_tensor": { "name": "x" } } }), &[], &[4], "expand = expand(x) : f32[4]"),
    ];
    for (operator, arguments, x, y, expected) in cases.iter().chain(more) {
        assert_eq!(lines(operator, arguments, x, y), *expected, "{operator} {arguments}");
    }
}

#[test]
#[rustfmt::skip]
fn onnx_states_what_changes_values() {
    let a = attribute_int;
    let image = "x f32[B, 8, 4, 6]";
    let cases = [
        (image, vec![], onnx_node("DepthToSpace", "x", "y", &[a("blocksize", 2)]),
            "y_blocks = reshape(x, shape=[B, 2, 2, 2, 4, 6])\ny_turned = transpose(y_blocks, perm=[0, 3, 4, 1, 5, 2])\ny = reshape(y_turned, shape=[B, 2, 8, 12])"),
        (image, vec![], onnx_node("DepthToSpace", "x", "y", &[a("blocksize", 2), attribute_text("mode", "CRD")]),
            "y_blocks = reshape(x, shape=[B, 2, 2, 2, 4, 6])\ny_turned = transpose(y_blocks, perm=[0, 1, 4, 2, 5, 3])\ny = reshape(y_turned, shape=[B, 2, 8, 12])"),
        (image, vec![], onnx_node("SpaceToDepth", "x", "y", &[a("blocksize", 2)]),
            "y_blocks = reshape(x, shape=[B, 8, 2, 2, 3, 2])\ny_turned = transpose(y_blocks, perm=[0, 3, 5, 1, 2, 4])\ny = reshape(y_turned, shape=[B, 32, 2, 3])"),
        ("x f32[B, 8]", vec![ints("pads", &[0, 1, 0, 1]), floats("c", &[3.0])], onnx_node("Pad", "x pads c", "y", &[]),
            "y = pad(x, pad=[1, 1], value=3)"),
        ("x f32[B, 8]", vec![ints("pads", &[0, 1, 0, 1]), floats("c", &[f32::NEG_INFINITY])], onnx_node("Pad", "x pads c", "y", &[]),
            "y = pad(x, pad=[1, 1], value=-3.4e38)"),
        ("x f32[B, 8]", vec![ints("pads", &[0, 1, 0, 1]), floats("c", &[0.0])], onnx_node("Pad", "x pads c", "y", &[]),
            "y = pad(x, pad=[1, 1])"),
    ];
    for (input, weights, node, expected) in cases {
        assert_eq!(statements(&[input], &weights, &[node], "y"), expected);
    }
}

#[test]
#[rustfmt::skip]
fn onnx_has_ops_of_unknown_functions_where_an_attribute_has_no_name() {
    let a = attribute_int;
    let image = "x f32[B, 8, 4, 6]";
    let window = [attribute_ints("kernel_shape", &[3, 3]), attribute_ints("pads", &[1; 4])];
    let counting = [window[0].clone(), window[1].clone(), a("count_include_pad", 1)];
    let cases = [
        ("x f32[B, 8]", vec![], onnx_node("Mod", "x x", "y", &[a("fmod", 1)]), "y = elementwise(x, x) : f32[B, 8]"),
        ("x f32[B, 8]", vec![], onnx_node("Mod", "x x", "y", &[a("fmod", 0)]), "y = remainder(x, x)"),
        ("x f32[B, 8]", vec![], onnx_node("IsInf", "x", "y", &[a("detect_negative", 0)]), "y = elementwise(x) : bool[B, 8]"),
        ("x f32[B, 8]", vec![], onnx_node("Selu", "x", "y", &[attribute_float("alpha", 1.5)]), "y = elementwise(x) : f32[B, 8]"),
        ("x f32[B, 8]", vec![], onnx_node("Selu", "x", "y", &[attribute_float("alpha", 1.673_263_2)]), "y = selu(x)"),
        ("x f32[B, 8]", vec![ints("axis", &[1])], onnx_node("CumSum", "x axis", "y", &[a("reverse", 1)]), "y = reduction(x) : f32[B, 8]"),
        ("x f32[B, 8]", vec![ints("axis", &[1])], onnx_node("CumSum", "x axis", "y", &[]), "y = cumsum(x, axis=1)"),
        ("x f32[B, 8]", vec![], onnx_node("ArgMax", "x", "y", &[a("axis", 1), a("select_last_index", 1)]), "y = reduction(x) : i64[B, 1]"),
        ("x f32[B, 8]", vec![], onnx_node("LpNormalization", "x", "y", &[a("p", 1)]), "y = reduction(x) : f32[B, 8]"),
        ("x f32[8, 8]", vec![], onnx_node("EyeLike", "x", "y", &[]), "y = elementwise() : f32[8, 8]"),
        ("x i64[B]", vec![ints("depth", &[4]), floats("values", &[0.0, 1.0])], onnx_node("OneHot", "x depth values", "y", &[]), "y_classes = one_hot(x, classes=4)\ny = cast(y_classes, dtype=f32)"),
        ("x i64[B]", vec![ints("depth", &[4]), floats("values", &[1.0, 3.0])], onnx_node("OneHot", "x depth values", "y", &[]), "y = elementwise(x, values) : f32[B, 4]"),
        (image, vec![], onnx_node("AveragePool", "x", "y", &window), "y = reduction(x) : f32[B, 8, 4, 6]"),
        (image, vec![], onnx_node("AveragePool", "x", "y", &counting), "y = avg_pool2d(x, kernel=3, stride=1, padding=1)"),
        (image, vec![floats("c", &[1.0; 8])], onnx_node("BatchNormalization", "x c c c c", "y", &[a("training_mode", 1)]), "y = batch_norm(x, c, c, eps=1e-5, training=true)"),
    ];
    for (input, weights, node, expected) in cases {
        assert_eq!(statements(&[input], &weights, &[node], "y"), expected);
    }
}

#[test]
fn a_write_into_no_elements_is_no_op() {
    let argument = |name: &str| json!({ "as_tensor": { "name": name } });
    let int = |value: i64| json!({ "as_int": value });
    let slice = |of: &str, dim: i64, start: i64, end: i64, output: &str| {
        let inputs = [
            named("self", &argument(of)),
            named("dim", &int(dim)),
            named("start", &int(start)),
            named("end", &int(end)),
        ];
        node_of("slice.Tensor", &inputs, output)
    };
    let nodes = [
        node_of("relu.default", &[named("self", &argument("x"))], "m"),
        slice("m", 0, 0, 0, "a"),
        slice("a", 1, 0, 8, "b"),
        node_of(
            "fill_.Scalar",
            &[named("self", &argument("b")), named("value", &int(1))],
            "c",
        ),
        node_of("exp.default", &[named("self", &argument("m"))], "y"),
    ];
    let whole = || tensor(&[4, 16]);
    let tensors = [
        ("x", whole()),
        ("m", whole()),
        ("a", tensor(&[0, 16])),
        ("b", tensor(&[0, 8])),
        ("c", tensor(&[0, 8])),
        ("y", whole()),
    ];
    for output in ["y", "c"] {
        let text = converted(&file(&program(&tensors, &nodes, output))).text;
        let ops = functions(&analysed(&text));
        assert!(
            !ops.contains_key("slice") && !ops.contains_key("opaque"),
            "{text}"
        );
        assert_eq!(ops["relu"], 1, "{text}");
    }
}
