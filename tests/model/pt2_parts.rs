//! Parts written into a tensor of an exported program: the graph keeps the writes into slices, or
//! has them as new tensors. Both are one program.

use crate::pt2::{analysed, converted, lines_of};
use crate::pt2_files::{file, named, node, node_of, program, tensor};
use serde_json::{Value, json};

/// A part of the columns of `k`, from and up to these, that gets the value of a tensor.
type Write = (i64, i64, &'static str);

fn of(argument: &str, tensor: &str) -> Value {
    named(argument, &json!({ "as_tensor": { "name": tensor } }))
}

fn int(argument: &str, value: i64) -> Value {
    named(argument, &json!({ "as_int": value }))
}

/// The ops of a program that makes `k` of this width by `maker`, writes into it and applies `relu`.
/// `is_kept`: the graph keeps the writes into slices.
fn lines(maker: &str, width: i64, writes: &[Write], is_kept: bool) -> Vec<String> {
    let sizes = named("size", &json!({ "as_ints": [4, width] }));
    let mut nodes = vec![
        node("neg.default", &["x"], "a"),
        node("exp.default", &["x"], "b"),
        node_of(maker, &[of("self", "x"), sizes], "k"),
    ];
    let mut tensors = vec![
        ("a".to_owned(), tensor(&[4, 8])),
        ("b".to_owned(), tensor(&[4, 8])),
        ("k".to_owned(), tensor(&[4, width])),
        ("y".to_owned(), tensor(&[4, width])),
    ];
    let mut whole = "k".to_owned();
    for (number, &(start, end, value)) in writes.iter().enumerate() {
        let range = [int("dim", 1), int("start", start), int("end", end)];
        let [slice, written] = ["slice", "written"].map(|word| format!("{word}_{number}"));
        if is_kept {
            let shown = [&[of("self", "k")], &range[..]].concat();
            nodes.push(node_of("slice.Tensor", &shown, &slice));
            let copied = [of("self", &slice), of("src", value)];
            nodes.push(node_of("copy_.default", &copied, &written));
            tensors.push((slice, tensor(&[4, end - start])));
            tensors.push((written, tensor(&[4, end - start])));
        } else {
            let scattered = [&[of("self", &whole), of("src", value)], &range[..]].concat();
            nodes.push(node_of("slice_scatter.default", &scattered, &written));
            tensors.push((written.clone(), tensor(&[4, width])));
            whole = written;
        }
    }
    nodes.push(node("relu.default", &[&whole], "y"));
    let tensors: Vec<(&str, Value)> = (tensors.iter())
        .map(|(name, meta)| (name.as_str(), meta.clone()))
        .collect();
    // A concatenation states its shape only where the graph does.
    let lines = lines_of(&nodes, &tensors).into_iter();
    lines
        .map(|line| line.replace(&format!(" : f32[4, {width}]"), ""))
        .collect()
}

#[test]
fn parts_of_a_tensor_are_joined_however_the_graph_writes_them() {
    const NEG: &str = "neg = neg(x) : f32[4, 8]";
    const EXP: &str = "exp = exp(x) : f32[4, 8]";
    const FULL: &str = "full = full(value=0)";
    const RELU: &str = "relu = relu(cat)";
    let [empty, zeros] = ["new_empty.default", "new_zeros.default"];
    #[rustfmt::skip]
    let cases: &[(&str, i64, &[Write], &[&str])] = &[
        // All of an empty tensor is written: no op makes or copies it.
        (empty, 16, &[(0, 8, "a"), (8, 16, "b")], &[NEG, EXP, "cat = concat(neg, exp, axis=1)", RELU]),
        (empty, 16, &[(8, 16, "b"), (0, 8, "a")], &[NEG, EXP, "cat = concat(neg, exp, axis=1)", RELU]),
        // What nothing writes stays, as one slice of the first value.
        (zeros, 24, &[(0, 8, "a"), (8, 16, "b")],
            &[NEG, EXP, FULL, "slice = slice(full, start=16, axis=1)", "cat = concat(neg, exp, slice, axis=1)", RELU]),
        (zeros, 24, &[(8, 16, "a")],
            &[NEG, FULL, "slice = slice(full, end=8, axis=1)", "slice_2 = slice(full, start=16, axis=1)", "cat = concat(slice, neg, slice_2, axis=1)", RELU]),
        // A later write covers an earlier one, or a part of it.
        (zeros, 16, &[(0, 8, "a"), (0, 8, "b")],
            &[EXP, FULL, "slice = slice(full, start=8, axis=1)", "cat = concat(exp, slice, axis=1)", RELU]),
        (zeros, 16, &[(0, 8, "a"), (4, 12, "b")],
            &[NEG, EXP, FULL, "slice = slice(neg, end=4, axis=1)", "slice_2 = slice(full, start=12, axis=1)", "cat = concat(slice, exp, slice_2, axis=1)", RELU]),
    ];
    for &(maker, width, writes, expected) in cases {
        for is_kept in [true, false] {
            let own = lines(maker, width, writes, is_kept);
            assert_eq!(own, expected, "{writes:?} kept {is_kept}");
        }
    }
}

/// Eager PyTorch reads and writes each part once, and so does the concatenation.
#[test]
fn a_joined_tensor_moves_what_its_parts_have() {
    let lines = lines("new_empty.default", 16, &[(0, 8, "a"), (8, 16, "b")], true);
    let analysis = analysed(&format!("input x : f32[4, 8]\n{}\n", lines.join("\n")));
    let part = 4 * 8 * 4;
    // Two ops that read the input, the parts, and the result.
    assert_eq!(
        analysis.unfused.traffic.total,
        4 * part + 4 * part + 4 * part
    );
}

/// The ops of a program that writes `-v` into columns of `k`, or of what `maker` makes of `k`, and
/// applies `relu`. `is_kept`: the graph keeps the write into a slice.
fn strided(maker: Option<&str>, range: [i64; 3], is_kept: bool) -> Vec<String> {
    let [start, end, step] = range;
    let range = [
        int("dim", 1),
        int("start", start),
        int("end", end),
        int("step", step),
    ];
    let own = if maker.is_some() { "own" } else { "k" };
    let part = tensor(&[4, (end.min(16) - start + step - 1) / step]);
    let mut nodes = vec![node("neg.default", &["v"], "a")];
    nodes.extend(maker.map(|maker| node(maker, &["k"], own)));
    nodes.push(node_of(
        "slice.Tensor",
        &[&[of("self", own)], &range[..]].concat(),
        "s",
    ));
    let copied = [of("self", "s"), of("src", "a")];
    let whole = if is_kept {
        nodes.push(node_of("copy_.default", &copied, "c"));
        own
    } else {
        nodes.push(node_of("copy.default", &copied, "c"));
        let scattered = [&[of("self", own), of("src", "c")], &range[..]].concat();
        nodes.push(node_of("slice_scatter.default", &scattered, "w"));
        "w"
    };
    nodes.push(node("relu.default", &[whole], "y"));
    let known = ["k", "own", "w", "y"].map(|name| (name, tensor(&[4, 16])));
    let parts = ["v", "a", "s", "c"].map(|name| (name, part.clone()));
    let mut saved = program(&[&known[..], &parts[..]].concat(), &nodes, "y");
    let tensor = |name: &str| json!({ "as_tensor": { "name": name } });
    let graph = &mut saved["graph_module"];
    graph["graph"]["inputs"] = json!(["k", "v"].map(tensor));
    graph["signature"]["input_specs"] =
        json!(["k", "v"].map(|name| json!({ "user_input": { "arg": tensor(name) } })));
    let mut outputs = vec![json!({ "user_output": { "arg": tensor("y") } })];
    if !is_kept && maker.is_none() {
        let written = json!({ "arg": { "name": "w" }, "user_input_name": "k" });
        outputs.insert(0, json!({ "user_input_mutation": written }));
    }
    graph["signature"]["output_specs"] = json!(outputs);
    let text = converted(&file(&saved)).text;
    analysed(&text);
    let ops = text.lines().filter_map(|line| line.split_once(" = "));
    ops.map(|(_, call)| call.split(" : ").next().unwrap().to_owned())
        .collect()
}

#[test]
fn columns_with_a_step_are_put_back_however_the_graph_writes_them() {
    #[rustfmt::skip]
    let cases: &[(Option<&str>, [i64; 3], &[&str])] = &[
        (None, [0, i64::MAX, 2],
            &["neg(v)", "slice_scatter_(k, neg, start=0, end=16, step=2, axis=1)", "relu(slice_scatter)"]),
        (None, [1, 12, 3],
            &["neg(v)", "slice_scatter_(k, neg, start=1, end=12, step=3, axis=1)", "relu(slice_scatter)"]),
        // A tensor of the program's own is no memory of the caller.
        (Some("exp.default"), [0, i64::MAX, 2],
            &["neg(v)", "exp(k)", "slice_scatter(exp, neg, start=0, end=16, step=2, axis=1)", "relu(slice_scatter)"]),
    ];
    for &(maker, range, expected) in cases {
        for is_kept in [true, false] {
            let own = strided(maker, range, is_kept);
            assert_eq!(own, expected, "{range:?} kept {is_kept}");
        }
    }
}

/// A diagonal is every element of a row of all that is one further in the next row.
#[test]
fn a_diagonal_is_a_slice() {
    let lines = |operator: &str, offset: i64, sizes: &[i64]| {
        let inputs = [
            of("self", "x"),
            named("offset", &json!({ "as_int": offset })),
        ];
        let given = if operator == "trace" { 1 } else { 2 };
        let node = node_of(&format!("{operator}.default"), &inputs[..given], "y");
        lines_of(&[node], &[("y", tensor(sizes))])
    };
    // `x` is f32[4, 8].
    assert_eq!(
        lines("diagonal", 1, &[4]),
        [
            "reshape = reshape(x, shape=[32])",
            "slice = slice(reshape, start=1, end=29, step=9, axis=0) : f32[4]"
        ]
    );
    assert_eq!(
        lines("diagonal", -2, &[2]),
        [
            "reshape = reshape(x, shape=[32])",
            "slice = slice(reshape, start=16, end=26, step=9, axis=0) : f32[2]"
        ]
    );
    assert_eq!(
        lines("trace", 0, &[]),
        [
            "reshape = reshape(x, shape=[32])",
            "slice = slice(reshape, start=0, end=28, step=9, axis=0)",
            "sum = sum(slice, axis=0, keepdim=false) : f32[]"
        ]
    );
}
