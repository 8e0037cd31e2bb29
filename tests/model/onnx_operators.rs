//! Operators of ONNX, each by itself, as the lines that they become.

use crate::onnx::{converted, statements};
use crate::onnx_files::{
    Model, attribute_float, attribute_int, attribute_ints, attribute_text, field, floats, ints,
    node, typed,
};

/// Inputs, constants, a node that writes `y`, and the lines that it becomes.
type Case<'a> = (&'a [&'a str], Vec<Vec<u8>>, Vec<u8>, &'a str);

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn operators_become_functions() {
    let x = ["x f32[B, 4, 8]"];
    let image = ["x f32[B, 16, 32, 32]", "w f32[8, 16, 3, 3]"];
    let matrices = ["x f32[B, 8]", "w f32[8, 16]", "b f32[16]"];
    let gather = ["x f32[4, 6, 8]", "i i64[B]"];
    let a = attribute_int;
    let list = attribute_ints;
    let cases: Vec<Case<'_>> = vec![
        (
            &x,
            vec![floats("c", &[0.1])],
            node("Mul", "x c", "y", &[]),
            "y = mul(x, 0.1)",
        ),
        (
            &x,
            vec![floats("c", &[2.0])],
            node("Sub", "c x", "y", &[]),
            "y = sub(2, x)",
        ),
        (
            &x,
            vec![],
            node("Gelu", "x", "y", &[]),
            "y = gelu(x, approximate=none)",
        ),
        (
            &x,
            vec![],
            node("Gelu", "x", "y", &[attribute_text("approximate", "tanh")]),
            "y = gelu(x, approximate=tanh)",
        ),
        (
            &x,
            vec![],
            node("Elu", "x", "y", &[attribute_float("alpha", 0.3)]),
            "y = elu(x, alpha=0.3)",
        ),
        (
            &x,
            vec![floats("high", &[6.0])],
            node("Clip", "x - high", "y", &[]),
            "y = clamp(x, max=6)",
        ),
        (
            &x,
            vec![],
            node("Cast", "x", "y", &[a("to", 10)]),
            "y = cast(x, dtype=f16)",
        ),
        (
            &x,
            vec![],
            node("Softmax", "x", "y", &[]),
            "y = softmax(x, axis=-1)",
        ),
        (
            &x,
            vec![],
            node("Max", "x x x", "y", &[]),
            "y_0 = maximum(x, x)\ny = maximum(y_0, x)",
        ),
        (
            &x,
            vec![ints("axes", &[-1, 1])],
            node("ReduceMean", "x axes", "y", &[a("keepdims", 0)]),
            "y = mean(x, axis=[1, 2], keepdim=false)",
        ),
        (
            &x,
            vec![],
            node("ReduceSum", "x", "y", &[]),
            "y = sum(x, axis=[0, 1, 2])",
        ),
        (
            &x,
            vec![],
            node("ArgMax", "x", "y", &[a("axis", 1)]),
            "y = argmax(x, axis=1)",
        ),
        (
            &x,
            vec![ints("k", &[3])],
            node("TopK", "x k", "v y", &[]),
            "y = topk_indices(x, count=3, axis=-1)",
        ),
        (
            &x,
            vec![ints("shape", &[0, -1])],
            node("Reshape", "x shape", "y", &[]),
            "y = reshape(x, shape=[B, 32])",
        ),
        (
            &x,
            vec![],
            node("Flatten", "x", "y", &[a("axis", 2)]),
            "y = reshape(x, shape=[4*B, 8])",
        ),
        (
            &x,
            vec![ints("axes", &[0, -1])],
            node("Unsqueeze", "x axes", "y", &[]),
            "y = reshape(x, shape=[1, B, 4, 8, 1])",
        ),
        (
            &x,
            vec![],
            node("Transpose", "x", "y", &[]),
            "y = transpose(x, perm=[2, 1, 0])",
        ),
        (
            &x,
            vec![ints("shape", &[5, 1, 1, 8])],
            node("Expand", "x shape", "y", &[]),
            "y = expand(x, shape=[5, B, 4, 8])",
        ),
        (
            &x,
            vec![ints("times", &[1, 2, 3])],
            node("Tile", "x times", "y", &[]),
            "y = repeat(x, times=[1, 2, 3])",
        ),
        (
            &x,
            vec![ints("pads", &[0, 1, 2, 0, 3, 4])],
            node("Pad", "x pads", "y", &[]),
            "y = pad(x, pad=[2, 4, 1, 3])",
        ),
        (
            &x,
            vec![],
            node("Concat", "x x", "y", &[a("axis", 0)]),
            "y = concat(x, x, axis=0)",
        ),
        (
            &x,
            vec![
                ints("s", &[1, -3]),
                ints("e", &[i64::MAX, -1]),
                ints("a", &[1, 2]),
            ],
            node("Slice", "x s e a", "y", &[]),
            "y_1 = slice(x, start=1, axis=1)\ny = slice(y_1, start=-3, end=-1, axis=2)",
        ),
        (
            &x,
            vec![],
            node("Split", "x", "a y", &[a("axis", 2)]),
            "y = split(x, parts=2, index=1, axis=2)",
        ),
        (
            &x,
            vec![ints("split", &[3, 5])],
            node("Split", "x split", "a y", &[a("axis", 2)]),
            "y = slice(x, start=3, end=8, axis=2)",
        ),
        (
            &x,
            vec![ints("k", &[1])],
            node("Trilu", "x k", "y", &[a("upper", 0)]),
            "y = tril(x, diagonal=1)",
        ),
        (
            &["x f32[4, 8]", "i i64[B, 3]"],
            vec![],
            node("Gather", "x i", "y", &[]),
            "y = embedding(i, x)",
        ),
        (
            &gather,
            vec![],
            node("Gather", "x i", "y", &[]),
            "y = index(x, i)",
        ),
        (
            &gather,
            vec![],
            node("Gather", "x i", "y", &[a("axis", 1)]),
            "y = rearrange(x, i) : f32[4, B, 8]",
        ),
        (
            &gather,
            vec![ints("last", &[-1])],
            node("Gather", "x last", "y", &[a("axis", 1)]),
            "y_slice = slice(x, start=-1, axis=1)\ny = reshape(y_slice, shape=[4, 1, 8])",
        ),
        (
            &matrices,
            vec![],
            node("MatMul", "x w", "y", &[]),
            "y = matmul(x, w)",
        ),
        (
            &matrices,
            vec![],
            node("Gemm", "x w b", "y", &[]),
            "y_product = matmul(x, w)\ny = add(y_product, b)",
        ),
        (
            &["x f32[B, 8]", "w f32[16, 8]", "b f32[16]"],
            vec![],
            node("Gemm", "x w b", "y", &[a("transB", 1)]),
            "y = linear(x, w, b)",
        ),
        (
            &matrices,
            vec![],
            node("Gemm", "x w", "y", &[attribute_float("alpha", 0.5)]),
            "y_product = matmul(x, w)\ny = scale(y_product, factor=0.5)",
        ),
        (
            &["x f32[B, 4, 8]", "w f32[8]"],
            vec![],
            node("MatMul", "x w", "y", &[]),
            "y_column = reshape(w, shape=[8, 1])\ny_product = matmul(x, y_column)\ny = reshape(y_product, shape=[B, 4])",
        ),
        (
            &image,
            vec![],
            node(
                "Conv",
                "x w",
                "y",
                &[list("pads", &[1, 1, 1, 1]), list("strides", &[2, 2])],
            ),
            "y = conv2d(x, w, stride=2, padding=1)",
        ),
        (
            &image,
            vec![],
            node(
                "Conv",
                "x w",
                "y",
                &[attribute_text("auto_pad", "SAME_UPPER")],
            ),
            "y = conv2d(x, w, padding=1)",
        ),
        (
            &image,
            vec![],
            node(
                "MaxPool",
                "x",
                "y",
                &[list("kernel_shape", &[2, 3]), list("strides", &[2, 2])],
            ),
            "y = max_pool2d(x, kernel=[2, 3], stride=2)",
        ),
        (
            &image,
            vec![],
            node("GlobalAveragePool", "x", "y", &[]),
            "y = mean(x, axis=[2, 3])",
        ),
        (
            &image,
            vec![floats("scales", &[1.0, 1.0, 2.0, 2.0])],
            node(
                "Resize",
                "x - scales",
                "y",
                &[attribute_text("mode", "linear")],
            ),
            "y = interpolate(x, size=[64, 64], mode=bilinear)",
        ),
        (
            &["x f32[B, 8]", "w f32[8]"],
            vec![],
            node("LayerNormalization", "x w", "y", &[]),
            "y = layer_norm(x, w, eps=1e-5)",
        ),
        (
            &[
                "x f16[B, 4]",
                "g f16[4]",
                "b f16[4]",
                "m f16[4]",
                "v f16[4]",
            ],
            vec![],
            node("BatchNormalization", "x g b m v", "y", &[]),
            "y = batch_norm(x, m, v, g, b, eps=1e-5)",
        ),
        (
            &["x f32[B, 8, 4]", "w f32[8]", "b f32[8]"],
            vec![],
            node("GroupNormalization", "x w b", "y", &[a("num_groups", 2)]),
            "y = group_norm(x, w, b, groups=2, eps=1e-5)",
        ),
        (
            &[
                "q f16[B, 2, 5, 4]",
                "k f16[B, 2, 6, 4]",
                "v f16[B, 2, 6, 4]",
            ],
            vec![],
            node("Attention", "q k v", "y", &[a("is_causal", 1)]),
            "y = sdpa(q, k, v, causal=true)",
        ),
    ];
    for (inputs, weights, node, expected) in cases {
        let name = expected.lines().last().unwrap();
        assert_eq!(
            statements(inputs, &weights, &[node], "y"),
            expected,
            "{name}"
        );
    }
}

/// ONNX divides integers without a remainder, and sums them in their own type.
#[test]
fn integers_keep_their_type() {
    let axis = vec![ints("axis", &[1])];
    let cases = [
        (
            "i i64[4, 8]",
            vec![],
            node("Div", "i i", "y", &[]),
            "y = trunc_divide(i, i)",
        ),
        (
            "i f16[4, 8]",
            vec![],
            node("Div", "i i", "y", &[]),
            "y = div(i, i)",
        ),
        (
            "i i64[4, 8]",
            axis.clone(),
            node("ReduceSum", "i axis", "y", &[]),
            "y = sum(i, axis=1)",
        ),
        (
            "i i32[4, 8]",
            axis.clone(),
            node("ReduceSum", "i axis", "y", &[]),
            "y_wide = sum(i, axis=1)\ny = cast(y_wide, dtype=i32)",
        ),
        (
            "i i32[4, 8]",
            axis,
            node("CumSum", "i axis", "y", &[]),
            "y_wide = cumsum(i, axis=1)\ny = cast(y_wide, dtype=i32)",
        ),
    ];
    for (input, weights, node, expected) in cases {
        assert_eq!(
            statements(&[input], &weights, &[node], "y"),
            expected,
            "{input}"
        );
    }
}

#[test]
fn what_keeps_its_input_is_no_op() {
    let same = [
        node("Identity", "x", "a", &[]),
        node("Dropout", "a", "b", &[]),
        node("Cast", "b", "c", &[attribute_int("to", 1)]),
        node("Slice", "c s e", "d", &[]),
        node("Concat", "d", "f", &[attribute_int("axis", 0)]),
        node("Relu", "f", "y", &[]),
    ];
    let whole = [ints("s", &[0]), ints("e", &[i64::MAX])];
    assert_eq!(
        statements(&["x f32[B, 4]"], &whole, &same, "y"),
        "y = relu(x)"
    );
}

#[test]
fn an_output_that_is_left_out_is_no_input_that_is_left_out() {
    let model = Model {
        inputs: vec![
            typed("x f32[4, 8]"),
            typed("w f32[1, 32, 8]"),
            typed("r f32[1, 32, 8]"),
        ],
        weights: vec![floats("high", &[6.0])],
        nodes: vec![
            node("LSTM", "x w r", "- h", &[]),
            node("Clip", "h - high", "y", &[]),
        ],
        between: vec![typed("h f32[1, 4, 8]")],
        outputs: vec![field(1, "y")],
    };
    let text = converted(&model.bytes()).text;
    let expected = "\
h = opaque(x, w, r, name=LSTM) : f32[1, 4, 8]
y = clamp(h, max=6)
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn what_stands_between_has_no_name_of_an_input() {
    let inputs = ["sum_1 f32[4]", "sum_2 f32[4]", "sum_0 f32[4]"];
    let sum = node("Sum", "sum_1 sum_2 sum_0", "sum", &[]);
    assert_eq!(
        statements(&inputs, &[], &[sum], "sum"),
        "sum_0_2 = add(sum_1, sum_2)\nsum = add(sum_0_2, sum_0)"
    );
}
