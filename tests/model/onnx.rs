//! ONNX models as programs: those that PyTorch exports, and each operator by itself.

use crate::onnx_files::{
    Model, attribute_float, attribute_graph, attribute_int, attribute_ints, attribute_text, field,
    floats, ints, node, typed,
};
use fuseline::app::model_file::{ModelFormat, read_model};
use fuseline::app::opened::Converted;
use fuseline::core::model::diagnostic::has_errors;
use fuseline::core::notation::parse;
use fuseline::core::{Analysis, Options, analyze_program};
use std::io::Cursor;

fn converted(bytes: &[u8]) -> Converted {
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
fn analysed(text: &str, param: Option<(usize, i64)>) -> Analysis {
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
    // Matmuls of the block, for each token: QKV, scores and values over 512 tokens, out, up and down.
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
    assert!(converted.is_incomplete);
    assert_eq!(
        converted.summary,
        "8 ops from ONNX became notation. Sizes that the file leaves open are params: inner.x_0 = 8. \
         4 ops are not understood and counted as opaque: 1 If, 1 NonZero, 2 my.ops.Frobnicate. \
         The shape of 1 op could not be told from the file: write it after a colon."
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
input inner.x : f32[inner.x_0, 32]
input flag    : bool[]
first.relu: inner.x_2 = relu(inner.x)
branch:     chosen    = opaque(flag, inner.x_2, name=If) : f32[inner.x_0, 32]
            places    = opaque(inner.x_2, name=NonZero)
            v1        = opaque(chosen, inner.x_2, name=my.ops.Frobnicate) : f32[inner.x_0, 32]
            v2        = opaque(v1, name=my.ops.Frobnicate) : f32[inner.x_0, 32]
            best      = topk(v2, count=4, axis=-1)
            which     = topk_indices(v2, count=4, axis=-1)
            param     = exp(best)"
    );
    let outcome = analyze_program(&parse(&converted.text).program, &Options::default());
    let told: Vec<&str> = outcome
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(told, ["only an annotation says this shape"]);
}

/// The statements of ops that a model of these nodes becomes, without declarations.
fn statements(inputs: &[&str], weights: &[Vec<u8>], nodes: &[Vec<u8>], output: &str) -> String {
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

#[test]
fn shapes_that_the_file_computes_are_followed() {
    // x.view(x.shape[0] * x.shape[1], -1), and a causal mask of the length.
    let constant = |name: &str, values: &[i64]| {
        node(
            "Constant",
            "",
            name,
            &[attribute_ints("value_ints", values)],
        )
    };
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
input w      : f8[64]
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
