//! What an import of an ONNX model counts, and what it says about it.

use crate::onnx::{converted, statements};
use crate::onnx_files::{
    Model, attribute_float, attribute_graph, attribute_int, attribute_ints, attribute_text, branch,
    field, floats, int, ints, node, typed,
};
use crate::resolve::ops;
use fuseline_view::opened::Converted;

/// A model whose outputs are separated by blanks.
fn model(inputs: &[&str], weights: &[Vec<u8>], nodes: &[Vec<u8>], outputs: &str) -> Converted {
    let model = Model {
        inputs: inputs.iter().map(|input| typed(input)).collect(),
        weights: weights.to_vec(),
        nodes: nodes.to_vec(),
        outputs: (outputs.split_whitespace())
            .map(|name| field(1, name))
            .collect(),
        ..Model::default()
    };
    converted(&model.bytes())
}

/// What the summary says after the number of ops.
fn said(converted: &Converted) -> &str {
    let (_, said) = converted.summary.split_once(" from ONNX.").unwrap();
    said.trim_start()
}

#[test]
fn a_node_may_have_thousands_of_outputs() {
    const COUNT: usize = 8_000;
    let outputs: Vec<String> = (0..COUNT).map(|output| format!("s{output}")).collect();
    let outputs = outputs.join(" ");
    let split = |rows: usize, attributes: &[Vec<u8>]| {
        let split = node("Split", "x", &outputs, attributes);
        ops(&model(&[&format!("x f32[{rows}, 4]")], &[], &[split], &outputs).text)
    };
    let axis = attribute_int("axis", 0);
    let equal = split(2 * COUNT, std::slice::from_ref(&axis));
    let sizes = [2, 1].repeat(COUNT / 2);
    let unequal = split(COUNT / 2 * 3, &[axis, attribute_ints("split", &sizes)]);
    for (ops, rows) in [(equal, 2), (unequal, 1)] {
        assert_eq!(ops.len(), COUNT);
        assert_eq!(ops[COUNT - 1].shape, [rows, 4]);
    }
}

#[test]
fn integer_products_count_the_batches_of_both_matrices() {
    let product = node("MatMulInteger", "a b", "y", &[]);
    assert_eq!(
        statements(&["a i8[4, 8]", "b i8[3, 8, 5]"], &[], &[product], "y"),
        "y = matmul(a, b) : i32[3, 4, 5]"
    );
}

#[test]
fn a_quantised_convolution_has_the_work_of_a_convolution() {
    let inputs = ["x i8[1, 4, 8, 8]", "w i8[16, 4, 3, 3]", "s f32[]", "z i8[]"];
    let convolution = node("QLinearConv", "x s z w s z s z", "y", &[]);
    assert_eq!(
        statements(&inputs, &[], &[convolution], "y"),
        "y_sums = conv2d(x, w) : i32[1, 16, 6, 6]\n\
         y_float = cast(y_sums, dtype=f32)\n\
         y_once = mul(y_float, s)\n\
         y_twice = mul(y_once, s)\n\
         y_divided = div(y_twice, s)\n\
         y_rounded = round(y_divided)\n\
         y_offset = cast(z, dtype=f32)\n\
         y_shifted = add(y_rounded, y_offset)\n\
         y_held = clamp(y_shifted, min=-128, max=127)\n\
         y = cast(y_held, dtype=i8)"
    );
}

#[test]
fn scales_of_blocks_broadcast_along_their_block() {
    let blocks = [attribute_int("axis", 0), attribute_int("block_size", 8)];
    let quantize = node("QuantizeLinear", "x s z", "y", &blocks);
    let inputs = ["x f16[16, 8]", "s f16[2, 8]", "z i8[2, 8]"];
    assert_eq!(
        statements(&inputs, &[], &[quantize], "y"),
        "y_in_blocks = reshape(x, shape=[2, 8, 8])\n\
         y_scale = reshape(s, shape=[2, 1, 8])\n\
         y_scaled = div(y_in_blocks, y_scale)\n\
         y_rounded = round(y_scaled)\n\
         y_zero = reshape(z, shape=[2, 1, 8])\n\
         y_offset = cast(y_zero, dtype=f16)\n\
         y_shifted = add(y_rounded, y_offset)\n\
         y_held = clamp(y_shifted, min=-128, max=127)\n\
         y_short = cast(y_held, dtype=i8)\n\
         y = reshape(y_short, shape=[16, 8])"
    );
    let dequantized = |inputs: &[&str], read: &str, attributes: &[Vec<u8>]| {
        let dequantize = node("DequantizeLinear", read, "y", attributes);
        statements(inputs, &[], &[dequantize], "y")
    };
    let q = ["q i8[16, 8]", "s f16[2, 8]", "z i8[2, 8]"];
    assert_eq!(dequantized(&q, "q s z", &blocks), "y = dequantize(q, s, z)");
    let wide = [&blocks[..], &[attribute_int("output_dtype", 1)]].concat();
    assert_eq!(
        dequantized(&q[..2], "q s", &wide),
        "y_wide = dequantize(q, s)\ny = cast(y_wide, dtype=f32)"
    );
    // The last block is not full.
    let rest = ["q i8[15, 8]", "s f16[2, 8]"];
    assert_eq!(
        dequantized(&rest, "q s", &blocks),
        "y = opaque(q, s, name=DequantizeLinear) : f16[15, 8]"
    );
}

#[test]
fn quantised_numbers_stay_in_the_range_of_their_type() {
    // A scalar of one byte: 2 is u8, 3 is i8, 21 is u4.
    let zero = |data_type: i64| [int(2, data_type), field(8, "z"), field(9, [1])].concat();
    let range = |data_type: i64| {
        let nodes = [
            node("Identity", "z", "same", &[]),
            node("QuantizeLinear", "x s same", "y", &[]),
        ];
        let weights = [floats("s", &[0.5]), zero(data_type)];
        let text = statements(&["x f32[4]"], &weights, &nodes, "y");
        let line = text.lines().find(|line| line.contains("clamp")).unwrap();
        line.split_once("min=").unwrap().1.to_owned()
    };
    assert_eq!(range(2), "0, max=255)");
    assert_eq!(range(3), "-128, max=127)");
    assert_eq!(range(21), "0, max=15)");
    let without_zero = |attributes: &[Vec<u8>]| {
        let quantize = node("QuantizeLinear", "x s", "y", attributes);
        let scale = floats("s", &[0.5]);
        statements(&["x f32[4]"], &[scale], &[quantize], "y")
    };
    assert_eq!(
        without_zero(&[]),
        "y_scaled = div(x, 0.5)\n\
         y_rounded = round(y_scaled)\n\
         y_held = clamp(y_rounded, min=0, max=255)\n\
         y = cast(y_held, dtype=i8)"
    );
    assert_eq!(
        without_zero(&[attribute_int("output_dtype", 17)]),
        "y_scaled = div(x, 0.5)\ny = cast(y_scaled, dtype=f8e4m3)"
    );
}

#[test]
fn every_reduction_without_axes_may_keep_its_input() {
    for operator in ["L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Max"] {
        let kept = attribute_int("noop_with_empty_axes", 1);
        let nodes = [
            node(&format!("Reduce{operator}"), "x", "r", &[kept]),
            node("Relu", "r", "y", &[]),
        ];
        let text = statements(&["x f32[4, 8]"], &[], &nodes, "y");
        assert_eq!(text, "y = relu(x)", "{operator}");
    }
}

#[test]
fn the_length_of_a_range_is_rounded_up() {
    let length = |start: f32, end: f32, step: f32| {
        let numbers = [("start", start), ("end", end), ("step", step)];
        let weights = numbers.map(|(name, number)| floats(name, &[number]));
        let nodes = [
            node("Range", "start end step", "r", &[]),
            node("Exp", "r", "y", &[]),
        ];
        let text = statements(&[], &weights, &nodes, "y");
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(length(0.0, 10.0, 3.0), "r = arange(step=3) : f32[4]");
    // Its values are no integers.
    assert_eq!(length(0.0, 1.0, 0.25), "r_index = arange() : f32[4]");
    assert_eq!(
        length(5.0, 0.0, -1.0),
        "r = arange(start=5, step=-1) : f32[5]"
    );
}

/// A condition with these two branches.
fn choice(condition: &str, output: &str, branches: [&[u8]; 2]) -> Vec<u8> {
    let branches = [
        attribute_graph("then_branch", branches[0]),
        attribute_graph("else_branch", branches[1]),
    ];
    node("If", condition, output, &branches)
}

#[test]
fn a_branch_states_types_for_itself_alone() {
    let branch = |nodes: Vec<Vec<u8>>, between: Vec<Vec<u8>>, output: &str| {
        Model {
            nodes,
            between,
            outputs: vec![field(1, output)],
            ..Model::default()
        }
        .graph()
    };
    let first = branch(
        vec![node("Relu", "x", "t", &[]), node("Exp", "t", "u", &[])],
        vec![typed("t f32[4]")],
        "u",
    );
    let second = branch(
        vec![node("Foo", "z", "t", &[]), node("Exp", "t", "v", &[])],
        vec![],
        "v",
    );
    let converted = model(
        &["x f32[4]", "z f32[9]"],
        &[ints("c", &[1])],
        &[
            choice("c", "a", [&first, &first]),
            choice("c", "b", [&second, &second]),
            node("Neg", "a", "y", &[]),
            node("Neg", "b", "w", &[]),
        ],
        "y w",
    );
    let foo = converted
        .text
        .lines()
        .find(|line| line.contains("name=Foo"));
    assert!(
        foo.is_some_and(|line| line.ends_with("opaque(z, name=Foo)")),
        "{}",
        converted.text
    );
}

#[test]
fn conditions_count_where_an_output_needs_them() {
    let of = |outputs: &str| {
        let choice = choice("c", "z", [&branch("Relu"), &branch("Exp")]);
        let without_branches = node("If", "c", "n", &[]);
        model(
            &["x f32[4]", "c bool[]"],
            &[],
            &[choice, without_branches, node("Exp", "x", "y", &[])],
            outputs,
        )
    };
    assert_eq!(said(&of("y")), "");
    assert_eq!(
        said(&of("y z")),
        "1 If condition is known only at run time. Fuseline counts its then branch."
    );
}

/// A chain of products of which none fits.
fn misfits(count: usize) -> Converted {
    let weights: Vec<String> = (0..count)
        .map(|at| format!("w{at} f32[{}, 3]", 9 + at))
        .collect();
    let inputs: Vec<&str> = std::iter::once("x f32[4, 8]")
        .chain(weights.iter().map(String::as_str))
        .collect();
    let mut nodes: Vec<Vec<u8>> = (0..count)
        .map(|at| {
            node(
                "MatMul",
                &format!("p{at} w{at}"),
                &format!("p{}", at + 1),
                &[],
            )
        })
        .collect();
    nodes.push(node("Relu", &format!("p{count}"), "y", &[]));
    let first = node("Exp", "x", "p0", &[]);
    model(&inputs, &[], &[vec![first], nodes].concat(), "y")
}

#[test]
fn any_number_of_ops_may_not_fit() {
    for count in [12, 300] {
        let misfits = misfits(count);
        let outcome = fuseline_core::analyze_program(
            &fuseline_core::notation::parse(&misfits.text).program,
            &fuseline_core::Options::default(),
        );
        assert!(
            !fuseline_core::model::diagnostic::has_errors(&outcome.diagnostics),
            "{:?}",
            outcome.diagnostics
        );
        let start = format!(
            "{count} ops count as opaque: {count} matmul. \
             {count} ops do not fit their inputs and count as opaque. The first: "
        );
        assert!(said(&misfits).starts_with(&start), "{}", misfits.summary);
    }
}

#[test]
fn an_opaque_op_with_an_impossible_size_has_an_unknown_shape() {
    let reflect = attribute_text("mode", "reflect");
    let converted = model(
        &["x f32[2, 4]"],
        &[ints("p", &[0, -5, 0, 0])],
        &[
            node("Pad", "x p", "l", &[reflect]),
            node("Relu", "l", "y", &[]),
        ],
        "y",
    );
    assert_eq!(
        said(&converted),
        "1 op counts as opaque: 1 Pad. \
         2 ops of unknown shape are not counted. Write their shapes after a colon, the first op first."
    );
    assert!(converted.is_incomplete);
}

#[test]
fn results_that_no_op_can_hold_are_ops_by_themselves() {
    // Their elements together have more terms than a size may have. FLOPs count once, and so does
    // the operator.
    let converted = model(
        &[
            "x f32[a + b + c + d, e + f + g, 4]",
            "w f32[1, 32, 4]",
            "r f32[1, 32, 8]",
        ],
        &[],
        &[node("LSTM", "x w r", "y h c", &[])],
        "y h c",
    );
    let of_lstm = |line: &&str| line.contains("name=LSTM");
    let ops = converted.text.lines().filter(of_lstm).count();
    assert_eq!(ops, 3, "{}", converted.text);
    assert_eq!(
        converted.text.matches("flops=").count(),
        1,
        "{}",
        converted.text
    );
    assert!(
        said(&converted).contains("1 op counts as opaque: 1 LSTM."),
        "{}",
        converted.summary
    );
}

#[test]
fn sizes_that_hold_at_the_defaults_are_told() {
    let image = "x f32[1, 4, H, W]";
    let note = "1 tensor has a size that the notation cannot express. The size is right only at the params' defaults.";
    let pool = [
        attribute_ints("kernel_shape", &[2, 2]),
        attribute_ints("strides", &[2, 2]),
    ];
    let scales = floats("scales", &[1.0, 1.0, 1.5, 1.5]);
    let cases = [
        node("LpPool", "x", "l", &pool),
        node("Resize", "x - scales", "l", &[]),
    ];
    for own in cases {
        let nodes = [own, node("Relu", "l", "y", &[])];
        let converted = model(&[image], std::slice::from_ref(&scales), &nodes, "y");
        assert!(converted.summary.ends_with(note), "{}", converted.summary);
        // Nothing needs it.
        let nodes = [nodes.as_slice(), &[node("Exp", "x", "z", &[])]].concat();
        let converted = model(&[image], std::slice::from_ref(&scales), &nodes, "z");
        assert!(!converted.summary.contains(note), "{}", converted.summary);
    }
    // A quotient that the file computes.
    let nodes = [
        node("Shape", "x", "shape", &[]),
        node("Gather", "shape two", "height", &[]),
        node("Div", "height three", "third", &[]),
        node(
            "Concat",
            "third four",
            "wanted",
            &[attribute_int("axis", 0)],
        ),
        node("ConstantOfShape", "wanted", "y", &[]),
    ];
    let weights = [ints("two", &[2]), ints("three", &[3]), ints("four", &[4])];
    let quotient = model(&[image], &weights, &nodes, "y");
    assert!(quotient.summary.ends_with(note), "{}", quotient.summary);
    // Sizes that are whole at every default are expressions.
    let elu = node("Elu", "x", "y", &[attribute_float("alpha", 0.3)]);
    let whole = model(&[image], &[], &[elu], "y");
    assert!(!whole.summary.contains(note), "{}", whole.summary);
}
