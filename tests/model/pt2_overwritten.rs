//! Exported programs that overwrite buffers and inputs: each write is in the program, whether or
//! not a result reads it, and no op reads an old value after it.

use crate::pt2::{analysed, converted};
use crate::pt2_files::{file, named, node, node_of, program, tensor};
use fuseline_view::opened::converted as pasted;
use serde_json::{Value, json};

/// Nodes, each with its operator, the tensors that it reads and its output.
type Nodes = &'static [(&'static str, &'static [&'static str], &'static str)];

/// Inputs, each with what becomes its value.
type Overwritten = &'static [(&'static str, &'static str)];

/// Nodes, what they overwrite, the result, and the ops of the program.
type Case = (Nodes, Overwritten, &'static str, &'static [&'static str]);

/// A program over the inputs `x` and `h` that returns `result`.
fn saved(nodes: Nodes, overwritten: Overwritten, result: &str) -> Value {
    let nodes_of = nodes.iter().map(|(operator, reads, output)| {
        let mut node = node(operator, reads, output);
        if operator.starts_with("copy") {
            node["inputs"][1]["name"] = json!("src");
        }
        if *operator == "mm.default" {
            node["inputs"][1]["name"] = json!("mat2");
        }
        node
    });
    let tensors = ["x", "h"]
        .into_iter()
        .chain(nodes.iter().map(|(.., output)| *output));
    let tensors: Vec<_> = tensors.map(|name| (name, tensor(&[8, 8]))).collect();
    let mut saved = program(&tensors, &nodes_of.collect::<Vec<_>>(), result);
    let tensor = |name: &str| json!({ "as_tensor": { "name": name } });
    let graph = &mut saved["graph_module"];
    graph["graph"]["inputs"] = json!(["x", "h"].map(tensor));
    let specs = ["x", "h"].map(|name| json!({ "user_input": { "arg": tensor(name) } }));
    graph["signature"]["input_specs"] = json!(specs);
    let mutations = overwritten.iter().map(|(input, value)| {
        json!({ "user_input_mutation": { "arg": { "name": value }, "user_input_name": input } })
    });
    let specs = mutations.chain([json!({ "user_output": { "arg": tensor(result) } })]);
    graph["signature"]["output_specs"] = specs.collect();
    let values = overwritten.iter().map(|(_, value)| tensor(value));
    graph["graph"]["outputs"] = values.chain([tensor(result)]).collect();
    saved
}

/// The ops of a text without their types, after it was analyzed.
fn ops(text: &str) -> Vec<String> {
    analysed(text);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let ops = lines.filter_map(|line| {
        let (name, call) = line.split_once(" = ")?;
        let call = call.split(" : ").next()?;
        Some(format!("{} = {call}", name.trim()))
    });
    ops.collect()
}

#[test]
fn writes_that_the_graph_keeps_are_in_the_program() {
    #[rustfmt::skip]
    let cases: &[(Nodes, &str, &[&str])] = &[
        // No result reads the writes.
        (&[("mul_.Tensor", &["x", "h"], "a"), ("add_.Tensor", &["a", "h"], "b"), ("neg.default", &["h"], "y")], "y",
            &["mul = mul_(x, h)", "add = add_(mul, h)", "neg = neg(h)"]),
        (&[("mul_.Tensor", &["x", "h"], "a"), ("add_.Tensor", &["x", "h"], "b"), ("neg.default", &["x"], "y")], "y",
            &["mul = mul_(x, h)", "add = add_(mul, h)", "neg = neg(add)"]),
        // The result is the input itself, and a tensor beside it.
        (&[("add_.Tensor", &["x", "h"], "b")], "b", &["add = add_(x, h)"]),
        (&[("add.Tensor", &["x", "h"], "b"), ("copy_.default", &["x", "b"], "c")], "b",
            &["add = add(x, h)", "x_new = copy_(x, add)"]),
        // The program writes into no tensor of the caller.
        (&[("neg.default", &["x"], "a"), ("add_.Tensor", &["a", "h"], "b")], "b", &["neg = neg(x)", "add = add(neg, h)"]),
        // A whole value, once before its source changes.
        (&[("copy_.default", &["h", "x"], "a"), ("add_.Tensor", &["x", "x"], "b"), ("neg.default", &["x"], "y")], "y",
            &["h_new = copy_(h, x)", "add = add_(x, x)", "neg = neg(add)"]),
    ];
    for (nodes, result, expected) in cases {
        let text = converted(&file(&saved(nodes, &[], result))).text;
        assert_eq!(ops(&text), *expected, "{text}");
    }
}

#[test]
fn values_of_the_signature_are_written_in_place_or_copied() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        (&[("mul.Tensor", &["x", "h"], "a"), ("add.Tensor", &["a", "h"], "b"), ("neg.default", &["h"], "y")], &[("x", "b")], "y",
            &["mul = mul_(x, h)", "add = add_(mul, h)", "neg = neg(h)"]),
        // The input is not the first of the last op.
        (&[("mul.Tensor", &["h", "x"], "a"), ("neg.default", &["h"], "y")], &[("x", "a")], "y",
            &["mul = mul(h, x)", "x_new = copy_(x, mul)", "neg = neg(h)"]),
        // No function of single elements gives the value.
        (&[("mm.default", &["x", "h"], "a"), ("neg.default", &["h"], "y")], &[("x", "a")], "y",
            &["matmul = matmul(x, h)", "x_new = copy_(x, matmul)", "neg = neg(h)"]),
        // A later op reads the old value, or that of an op between.
        (&[("add.Tensor", &["x", "h"], "a"), ("neg.default", &["x"], "y")], &[("x", "a")], "y",
            &["add = add(x, h)", "neg = neg(x)", "x_new = copy_(x, add)"]),
        (&[("mul.Tensor", &["x", "h"], "a"), ("add.Tensor", &["a", "h"], "b"), ("neg.default", &["a"], "y")], &[("x", "b")], "y",
            &["mul = mul(x, h)", "add = add(mul, h)", "x_new = copy_(x, add)", "neg = neg(mul)"]),
        // The op reads other elements of what it would write.
        (&[("t.default", &["x"], "t"), ("add.Tensor", &["x", "t"], "a"), ("neg.default", &["h"], "y")], &[("x", "a")], "y",
            &["transpose = transpose(x, perm=[1, 0])", "add = add(x, transpose)", "x_new = copy_(x, add)", "neg = neg(h)"]),
        // Two inputs get one value.
        (&[("add.Tensor", &["x", "h"], "a"), ("neg.default", &["a"], "y")], &[("x", "a"), ("h", "a")], "y",
            &["add = add_(x, h)", "h_new = copy_(h, add)", "neg = neg(add)"]),
    ];
    for (nodes, overwritten, result, expected) in cases {
        let text = converted(&file(&saved(nodes, overwritten, result))).text;
        assert_eq!(ops(&text), *expected, "{text}");
    }
}

/// A moving average in place: two kernels that read and write it without fusion.
#[test]
fn a_chain_in_place_reads_and_writes_the_buffer() {
    let nodes: Nodes = &[
        ("mul.Tensor", &["x", "h"], "a"),
        ("add.Tensor", &["a", "h"], "b"),
        ("neg.default", &["h"], "y"),
    ];
    let analysis = analysed(&converted(&file(&saved(nodes, &[("x", "b")], "y"))).text);
    let all = 8 * 8 * 4;
    let kernels = analysis.unfused.kernels.iter();
    let bytes: Vec<_> = kernels
        .map(|kernel| (kernel.bytes_read, kernel.bytes_written))
        .collect();
    assert_eq!(bytes, [(2 * all, all), (2 * all, all), (all, all)]);
    // Both inputs and the result: what is written in place needs no memory of its own.
    assert_eq!(analysis.unfused.peak_memory.bytes, 3 * all);
}

#[test]
fn the_signature_of_a_printed_program_says_what_it_overwrites() {
    let graph = r#"
class GraphModule(torch.nn.Module):
    def forward(self, b_m: "f32[8, 8]", g: "f32[8, 8]"):
        mul: "f32[8, 8]" = torch.ops.aten.mul.Tensor(b_m, 0.9);  b_m = None
        add: "f32[8, 8]" = torch.ops.aten.add.Tensor(mul, g);  mul = None
        neg: "f32[8, 8]" = torch.ops.aten.neg.default(g);  g = None
        return (add, neg)

Graph signature:
"#;
    for signature in [
        "# inputs\nb_m: BUFFER target='m' persistent=True\ng: USER_INPUT\n\n# outputs\nadd: BUFFER_MUTATION target='m'\nneg: USER_OUTPUT\n",
        "ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_m'), target='m', persistent=True), InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='g'), target=None, persistent=None)], output_specs=[OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, arg=TensorArgument(name='add'), target='m'), OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=TensorArgument(name='neg'), target=None)])\n",
    ] {
        let text = pasted(&format!("{graph}{signature}"))
            .unwrap()
            .unwrap()
            .text;
        let expected = ["mul = mul_(m, 0.9)", "add = add_(mul, g)", "neg = neg(g)"];
        assert_eq!(ops(&text), expected, "{text}");
    }
}

#[test]
fn what_an_input_gets_of_another_is_read_before_it_is_overwritten() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        // Two inputs swap their values.
        (&[("neg.default", &["x"], "y")], &[("x", "h"), ("h", "x")], "y",
            &["h_old = copy(x, h)", "h_new = copy_(h, x)", "neg = neg(x)", "x_new = copy_(x, h_old)"]),
        (&[("clone.default", &["x"], "a"), ("clone.default", &["h"], "b"), ("copy_.default", &["x", "b"], "c"),
            ("copy_.default", &["h", "a"], "d"), ("add.Tensor", &["c", "d"], "y")], &[], "y",
            &["h_old = copy(x, h)", "add = add(h, x)", "h_new = copy_(h, x)", "x_new = copy_(x, h_old)"]),
        (&[("t.default", &["h"], "t"), ("neg.default", &["x"], "y")], &[("x", "t"), ("h", "x")], "y",
            &["transpose = transpose(h, perm=[1, 0])", "t_old = copy(x, transpose)", "h_new = copy_(h, x)", "neg = neg(x)",
                "x_new = copy_(x, t_old)"]),
        // An input gets its own elements in another order.
        (&[("t.default", &["x"], "t"), ("neg.default", &["h"], "y")], &[("x", "t")], "y",
            &["transpose = transpose(x, perm=[1, 0])", "t_old = copy(x, transpose)", "x_new = copy_(x, t_old)", "neg = neg(h)"]),
        // One gets the old value of the other, in both orders of the signature.
        (&[("mm.default", &["x", "h"], "a"), ("neg.default", &["h"], "y")], &[("h", "a"), ("x", "h")], "y",
            &["matmul = matmul(x, h)", "x_new = copy_(x, h)", "neg = neg(h)", "h_new = copy_(h, matmul)"]),
        (&[("mm.default", &["x", "h"], "a"), ("neg.default", &["h"], "y")], &[("x", "h"), ("h", "a")], "y",
            &["matmul = matmul(x, h)", "x_new = copy_(x, h)", "neg = neg(h)", "h_new = copy_(h, matmul)"]),
        // Each gets a value computed from both.
        (&[("add.Tensor", &["x", "h"], "a"), ("sub.Tensor", &["x", "h"], "b"), ("neg.default", &["b"], "y")],
            &[("x", "a"), ("h", "b")], "y",
            &["add = add(x, h)", "sub = sub(x, h)", "x_new = copy_(x, add)", "h_new = copy_(h, sub)", "neg = neg(sub)"]),
    ];
    for (nodes, overwritten, result, expected) in cases {
        let text = converted(&file(&saved(nodes, overwritten, result))).text;
        assert_eq!(ops(&text), *expected, "{text}");
    }
}

/// A batch norm in training whose running statistics have this element type. The decomposed op
/// computes new ones in f32 and casts them back.
fn batch_norm(statistics: i64) -> Value {
    let typed = |dtype: i64, sizes: &[i64]| {
        let mut of = tensor(sizes);
        of["dtype"] = json!(dtype);
        of
    };
    let tensor = |name: &str| json!({ "as_tensor": { "name": name } });
    let of = |argument: &str, name: &str| named(argument, &tensor(name));
    let (f32, inputs) = (7, ["x", "w", "b", "mean", "variance"]);
    let arguments = ["input", "weight", "bias", "running_mean", "running_var"];
    let mut reads: Vec<Value> = arguments
        .iter()
        .zip(inputs)
        .map(|(argument, name)| of(argument, name))
        .collect();
    reads.push(named("training", &json!({ "as_bool": true })));
    reads.push(named("momentum", &json!({ "as_float": 0.1 })));
    reads.push(named("eps", &json!({ "as_float": 1e-5 })));
    let outputs = ["y", "save_mean", "save_scale", "new_mean", "new_variance"];
    let mut norm = node_of("_native_batch_norm_legit_functional.default", &reads, "y");
    norm["outputs"] = json!(outputs.map(tensor));
    let back = |value: &str, output: &str| {
        let dtype = named("dtype", &json!({ "as_scalar_type": statistics }));
        node_of("_to_copy.default", &[of("self", value), dtype], output)
    };
    let nodes = [norm, back("new_mean", "a"), back("new_variance", "c")];
    let images = ["x", "y"].map(|name| (name, typed(f32, &[4, 16, 8, 8])));
    let own = ["mean", "variance", "a", "c"].map(|name| (name, typed(statistics, &[16])));
    let others = [
        "w",
        "b",
        "save_mean",
        "save_scale",
        "new_mean",
        "new_variance",
    ];
    let others = others.map(|name| (name, typed(f32, &[16])));
    let mut saved = program(&[&images[..], &own, &others].concat(), &nodes, "y");
    let graph = &mut saved["graph_module"];
    graph["graph"]["inputs"] = json!(inputs.map(tensor));
    graph["graph"]["outputs"] = json!(["a", "c", "y"].map(tensor));
    let specs = inputs.map(|name| json!({ "user_input": { "arg": tensor(name) } }));
    graph["signature"]["input_specs"] = json!(specs);
    let written = [("mean", "a"), ("variance", "c")].map(|(input, value)| {
        json!({ "user_input_mutation": { "arg": { "name": value }, "user_input_name": input } })
    });
    let result = json!({ "user_output": { "arg": tensor("y") } });
    graph["signature"]["output_specs"] = json!([&written[..], &[result]].concat());
    saved
}

#[test]
fn running_statistics_are_not_overwritten_whatever_their_type() {
    let (f16, f32, bf16) = (6, 7, 13);
    for statistics in [f16, f32, bf16] {
        let text = converted(&file(&batch_norm(statistics))).text;
        let norm = "batch_norm = batch_norm(x, w, b, eps=1e-5, training=true)";
        assert_eq!(ops(&text), [norm], "{text}");
    }
}
