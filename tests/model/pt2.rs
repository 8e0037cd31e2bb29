//! Exported programs of PyTorch: as `torch.export.save` and `fuseline.export` save the same module,
//! and operators by themselves. `tests/model/files/make_pt2.py` writes the files.

use crate::pt2_files::{archive, far_archive, file, named, node, node_of, program, tensor};
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, TensorRole, analyze_program};
use fuseline_view::opened::Converted;
use fuseline_view::opened::model_file::{FileKind, ModelFormat, ModelReader, kind_of, read_model};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Cursor;

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model/files");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

pub(crate) fn converted(bytes: &[u8]) -> Converted {
    read_model(ModelFormat::Pt2, Cursor::new(bytes)).unwrap()
}

pub(crate) fn analysed(text: &str) -> Analysis {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, &Options::default());
    let problems = [parsed.diagnostics, outcome.diagnostics].concat();
    assert!(!has_errors(&problems), "{problems:?}\n{text}");
    outcome.analysis.unwrap()
}

/// How many ops of each function there are.
pub(crate) fn functions(analysis: &Analysis) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (_, op) in analysis.graph.ops.iter_enumerated() {
        let function = op.function.map_or("none", Function::name);
        *counts.entry(function.to_owned()).or_insert(0) += 1;
    }
    counts
}

pub(crate) fn flops(analysis: &Analysis) -> u128 {
    let kernels = analysis.unfused.kernels.iter();
    kernels.map(|kernel| kernel.work.flops()).sum()
}

fn weight_bytes(text: &str) -> u64 {
    let resolved = fuseline_core::resolve::resolve(&parse(text).program);
    let weights = resolved
        .externals
        .iter()
        .filter(|tensor| tensor.role == TensorRole::Weight);
    weights
        .map(|t| {
            t.bytes_per_element
                .bytes_of(t.shape.iter().product::<u64>())
                .unwrap()
        })
        .sum()
}

/// The program of the file that `fuseline.export` saves.
pub(crate) fn exporter(name: &str) -> String {
    converted(&bytes(&format!("{name}.fuseline.pt2"))).text
}

#[test]
fn a_saved_export_is_the_program_that_the_exporter_saves() {
    let names = [
        "mlp",
        "attention",
        "gpt2",
        "llama",
        "autocast",
        "losses",
        "class_losses",
        "bags",
        "small_products",
    ];
    for name in names {
        let text = converted(&bytes(&format!("{name}.pt2"))).text;
        let (own, reference) = (analysed(&text), analysed(&exporter(name)));
        assert_eq!(functions(&own), functions(&reference), "{name}:\n{text}");
        assert_eq!(flops(&own), flops(&reference), "{name}");
        assert_eq!(
            own.unfused.traffic.total, reference.unfused.traffic.total,
            "{name}"
        );
        assert_eq!(weight_bytes(&text), weight_bytes(&exporter(name)), "{name}");
    }
}

#[test]
fn autocast_is_casts_and_matrix_units() {
    let analysis = analysed(&converted(&bytes("autocast.pt2")).text);
    let works = analysis.unfused.kernels.iter().map(|kernel| kernel.work);
    let types: Vec<_> = works.filter_map(|work| work.matrix_dtype).collect();
    assert_eq!(types, [DType::Bf16; 2]);
    assert_eq!(functions(&analysis)["cast"], 5);
}

#[test]
fn a_recurrent_layer_is_one_op_with_its_flops() {
    let text = converted(&bytes("recurrent.pt2")).text;
    let analysis = analysed(&text);
    // 8 sequences of 30 steps, each by both matrices of three gates.
    let own = 2 * 8 * 30 * 3 * 64 * (40 + 64);
    assert!(
        text.contains(&format!("flops={own}, units=matrix) : f32[")),
        "{text}"
    );
    assert_eq!(functions(&analysis)["opaque"], 1, "{text}");
    assert_eq!(functions(&analysis)["part"], 2, "{text}");
    assert_eq!(
        functions(&analysed(&exporter("recurrent"))),
        functions(&analysis)
    );
}

#[test]
fn bags_of_rows_read_rows() {
    let converted = converted(&bytes("bags.pt2"));
    assert_eq!(converted.summary, "Imported 2 ops from PyTorch.");
    let analysis = analysed(&converted.text);
    let reads = analysis.unfused.traffic.bytes_read;
    // The rows twice, once from the table; 96 indices and 32 offsets.
    assert_eq!(reads, 2 * 96 * 64 * 4 + (96 + 32) * 8);
}

#[test]
fn products_of_small_types_have_flops() {
    let analysis = analysed(&converted(&bytes("small_products.pt2")).text);
    let kernels = analysis
        .unfused
        .kernels
        .iter()
        .map(|kernel| kernel.work.flops());
    assert_eq!(
        kernels.filter(|&flops| flops == 2 * 32 * 128 * 64).count(),
        2
    );
}

#[test]
fn a_model_has_the_same_ops_where_the_exporter_decomposes() {
    // What is written into a view in place is a part between slices of the whole, in both.
    let text = converted(&bytes("conv.pt2")).text;
    let [own, reference] = [&text, &exporter("conv")].map(|text| functions(&analysed(text)));
    let differs: BTreeMap<&String, (usize, usize)> = own
        .keys()
        .chain(reference.keys())
        .map(|name| {
            let count = |of: &BTreeMap<String, usize>| of.get(name).copied().unwrap_or(0);
            (name, (count(&own), count(&reference)))
        })
        .filter(|(_, (own, reference))| own != reference)
        .collect();
    let names: Vec<&str> = differs.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, [""; 0], "{differs:?}");
    assert!(!text.contains("opaque("), "{text}");
    assert_eq!(weight_bytes(&text), weight_bytes(&exporter("conv")));
    // A decomposed export has its linear layers as transpose, product and sum, whose FLOPs but the
    // sum are the same.
    let decomposed = converted(&bytes("conv_decomposed.pt2")).text;
    let of_matmuls = |text: &str| {
        let analysis = analysed(text);
        let kernels = analysis.unfused.kernels.iter();
        kernels.map(|kernel| kernel.work.matrix_flops).sum::<u128>()
    };
    assert_eq!(of_matmuls(&decomposed), of_matmuls(&text));
    assert_eq!(weight_bytes(&decomposed), weight_bytes(&text));
    assert!(!decomposed.contains("opaque("), "{decomposed}");
}

#[test]
fn symbolic_sizes_are_params_with_their_bounds_and_scale_the_work() {
    let text = converted(&bytes("attention.pt2")).text;
    let mut parsed = parse(&text);
    let params = parsed.program.params.iter().map(|param| {
        let range = param.range.as_ref().unwrap();
        (param.name.text.as_str(), param.value, range.min, range.max)
    });
    assert_eq!(
        params.collect::<Vec<_>>(),
        [("B", 4, 1, 64), ("x_size1", 8, 2, 512)]
    );
    assert!(text.contains("x          : f32[B, x_size1, 64]"), "{text}");
    let whole = flops(&analysed(&text));
    parsed.program.params[0].value = 8;
    let outcome = analyze_program(&parsed.program, &Options::default());
    assert!(
        !has_errors(&outcome.diagnostics),
        "{:?}",
        outcome.diagnostics
    );
    assert_eq!(flops(&outcome.analysis.unwrap()), 2 * whole);
}

#[test]
fn names_are_the_paths_of_modules() {
    let text = converted(&bytes("mlp.pt2")).text;
    for line in [
        "\nup   = linear(norm, up.weight, up.bias)",
        "\ndown = linear(gelu, down.weight, down.bias)",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let text = converted(&bytes("gpt2.pt2")).text;
    assert!(text.contains("transformer.h.0.ln_1 "), "{text}");
}

#[test]
fn what_is_not_understood_is_counted_named_and_stays() {
    let converted = converted(&bytes("unknown.pt2"));
    assert_eq!(
        converted.summary,
        "Imported 4 ops from PyTorch. Params stand for the sizes that the file leaves open: B = 4. 1 op counts as opaque: 1 aten.linalg_inv. 1 tensor has a size that the notation cannot express. The size is \
         right only at the params' defaults."
    );
    assert!(
        converted.text.contains("= reshape(x) : f32[2*B, 32]"),
        "{}",
        converted.text
    );
    analysed(&converted.text);
}

/// The lines of ops that a program over `x : f32[4, 8]` becomes, the last of which writes `y`.
pub(crate) fn lines_of(nodes: &[Value], tensors: &[(&str, Value)]) -> Vec<String> {
    let known = [&[("x", tensor(&[4, 8])), ("y", tensor(&[4, 8]))], tensors].concat();
    let text = converted(&file(&program(&known, nodes, "y"))).text;
    analysed(&text);
    let lines = text.lines().filter(|line| line.contains(" = "));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn arguments_decide_what_an_operator_is() {
    let x = named("self", &json!({ "as_tensor": { "name": "x" } }));
    let one = |operator: &str, arguments: &[(&str, Value)]| {
        let arguments = arguments.iter().map(|(name, value)| named(name, value));
        let inputs: Vec<Value> = std::iter::once(x.clone()).chain(arguments).collect();
        lines_of(&[node_of(operator, &inputs, "y")], &[])
    };
    let int = |value: i64| json!({ "as_int": value });
    let float = |value: f64| json!({ "as_float": value });
    #[rustfmt::skip]
    let cases = [
        (one("relu_.default", &[]), vec!["relu = relu_(x) : f32[4, 8]"]),
        (one("gelu.default", &[("approximate", json!({ "as_string": "tanh" }))]), vec!["gelu = gelu(x, approximate=tanh) : f32[4, 8]"]),
        (one("gelu.default", &[]), vec!["gelu = gelu(x, approximate=none) : f32[4, 8]"]),
        (one("pow.Tensor_Scalar", &[("exponent", int(2))]), vec!["square = square(x) : f32[4, 8]"]),
        (one("pow.Tensor_Scalar", &[("exponent", int(3))]), vec!["pow = pow(x, exponent=3) : f32[4, 8]"]),
        (one("add.Tensor", &[("other", float(0.5)), ("alpha", int(2))]), vec!["add = add(x, 1) : f32[4, 8]"]),
        (one("div.Tensor_mode", &[("other", int(2)), ("rounding_mode", json!({ "as_string": "trunc" }))]), vec!["trunc_divide = trunc_divide(x, 2) : f32[4, 8]"]),
        (one("div.Tensor_mode", &[("other", int(1)), ("rounding_mode", json!({ "as_string": "floor" }))]), vec!["floor_divide = floor_divide(x, 1) : f32[4, 8]"]),
        (one("div.Tensor_mode", &[("other", int(2)), ("rounding_mode", json!({ "as_string": "floor" }))]), vec!["floor_divide = floor_divide(x, 2) : f32[4, 8]"]),
        (one("clamp.default", &[("min", int(0))]), vec!["clamp = clamp(x, min=0) : f32[4, 8]"]),
        (one("hardtanh.default", &[("min_val", int(0)), ("max_val", float(6.0))]), vec!["clamp = clamp(x, min=0, max=6) : f32[4, 8]"]),
        (one("masked_fill.Scalar", &[("mask", json!({ "as_tensor": { "name": "x" } })), ("value", json!({ "as_float": "-Infinity" }))]), vec!["where = where(x, -inf, x) : f32[4, 8]"]),
        (one("xlogy.Tensor", &[("other", json!({ "as_tensor": { "name": "x" } }))]), vec!["xlogy = xlogy(x, x) : f32[4, 8]"]),
        (one("special_xlogy.other_scalar", &[("other", float(0.5))]), vec!["xlogy = xlogy(x, 0.5) : f32[4, 8]"]),
        (one("logaddexp.default", &[("other", json!({ "as_tensor": { "name": "x" } }))]), vec!["logaddexp = logaddexp(x, x) : f32[4, 8]"]),
        (one("kl_div.default", &[("target", json!({ "as_tensor": { "name": "x" } })), ("reduction", int(0))]),
            vec!["xlogy = xlogy(x, x)", "mul = mul(x, x)", "sub = sub(xlogy, mul) : f32[4, 8]"]),
        (one("kl_div.default", &[("target", json!({ "as_tensor": { "name": "x" } })), ("reduction", int(0)), ("log_target", json!({ "as_bool": true }))]),
            vec!["exp = exp(x)", "sub = sub(x, x)", "mul = mul(exp, sub) : f32[4, 8]"]),
        (one("log_sigmoid.default", &[]), vec!["log_sigmoid = log_sigmoid(x) : f32[4, 8]"]),
        (one("binary_cross_entropy_with_logits.default", &[("target", json!({ "as_tensor": { "name": "x" } })), ("reduction", int(0))]),
            vec!["sub = sub(1, x)", "mul = mul(sub, x)", "log_sigmoid = log_sigmoid(x)", "sub_2 = sub(mul, log_sigmoid) : f32[4, 8]"]),
        (one("flip.default", &[("dims", json!({ "as_ints": [0, 1] }))]), vec!["flip = flip(x, axis=[0, 1]) : f32[4, 8]"]),
        (one("cumsum.default", &[("dim", int(1))]), vec!["cumsum = cumsum(x, axis=1) : f32[4, 8]"]),
        (one("roll.default", &[("shifts", json!({ "as_ints": [1, -1] })), ("dims", json!({ "as_ints": [0, 1] }))]), vec!["roll = roll(x, shift=1, axis=0)", "roll_2 = roll(roll, shift=-1, axis=1) : f32[4, 8]"]),
        (one("frobnicate.default", &[]), vec!["frobnicate = opaque(x, name=aten.frobnicate) : f32[4, 8]"]),
    ];
    for (lines, expected) in cases {
        assert_eq!(lines, expected);
    }
}

/// PyTorch flattens a tensor for a roll without dimensions, and copies it before if its elements
/// lie in another order.
#[test]
fn a_roll_without_dimensions_is_one_of_the_flattened_tensor() {
    let lines = |sizes: &[i64], strides: &[i64]| {
        let mut x = tensor(sizes);
        x["strides"] = strides.iter().map(|own| json!({ "as_int": own })).collect();
        let inputs = [
            named("self", &json!({ "as_tensor": { "name": "x" } })),
            named("shifts", &json!({ "as_ints": [3] })),
        ];
        let known = [("x", x), ("y", tensor(sizes))];
        lines_of(&[node_of("roll.default", &inputs, "y")], &known)
    };
    assert_eq!(
        lines(&[8], &[1]),
        ["roll = roll(x, shift=3, axis=0) : f32[8]"]
    );
    let rolled = [
        "reshape = reshape(x, shape=[32])",
        "roll = roll(reshape, shift=3, axis=0)",
        "reshape_2 = reshape(roll) : f32[4, 8]",
    ];
    assert_eq!(lines(&[4, 8], &[8, 1]), rolled);
    let [first, ..] = &lines(&[4, 8], &[1, 4])[..] else {
        panic!("no lines");
    };
    assert_eq!(first, "contiguous = contiguous(x)");
}

#[test]
fn what_computes_nothing_is_no_op() {
    let nodes = [
        node("relu.default", &["x"], "a"),
        node("detach.default", &["a"], "b"),
        node_of(
            "add.Tensor",
            &[
                named("self", &json!({ "as_tensor": { "name": "b" } })),
                named("other", &json!({ "as_int": 0 })),
            ],
            "c",
        ),
        node_of(
            "dropout.default",
            &[
                named("input", &json!({ "as_tensor": { "name": "c" } })),
                named("p", &json!({ "as_float": 0.1 })),
                named("train", &json!({ "as_bool": false })),
            ],
            "d",
        ),
        node("view.default", &["d"], "e"),
        node("view.default", &["e"], "f"),
        node("neg.default", &["f"], "y"),
    ];
    let between: Vec<(&str, Value)> = ["a", "b", "c", "d", "f"]
        .map(|name| (name, tensor(&[4, 8])))
        .to_vec();
    let tensors = [between.as_slice(), &[("e", tensor(&[32]))]].concat();
    assert_eq!(
        lines_of(&nodes, &tensors),
        ["relu = relu(x) : f32[4, 8]", "neg = neg(relu) : f32[4, 8]"]
    );
}

#[test]
fn what_is_written_in_place_is_read_afterwards() {
    // The second op reads `a` under its old name, and so the result of what was written into it.
    let nodes = [
        node("exp.default", &["x"], "a"),
        node("relu_.default", &["a"], "b"),
        node("neg.default", &["a"], "y"),
    ];
    let tensors = ["a", "b"].map(|name| (name, tensor(&[4, 8])));
    assert_eq!(
        lines_of(&nodes, &tensors),
        [
            "exp = exp(x) : f32[4, 8]",
            "relu = relu(exp) : f32[4, 8]",
            "neg = neg(relu) : f32[4, 8]"
        ]
    );
}

/// `y = relu(x)` as an exported program.
fn relu() -> Value {
    program(
        &[("x", tensor(&[4])), ("y", tensor(&[4]))],
        &[node("relu.default", &["x"], "y")],
        "y",
    )
}

/// Reads the program of [`relu`] from a file that is no more than its slices, and little of it.
fn read_little(file_bytes: u64, slice: impl Fn(std::ops::Range<u64>) -> Vec<u8>) {
    let mut reader = ModelReader::new(ModelFormat::Pt2, file_bytes);
    let mut read = 0;
    while let Some(wanted) = reader.wanted() {
        let slice = slice(wanted);
        read += slice.len();
        reader.feed(&slice).unwrap();
    }
    assert!(read < 100_000, "{read}");
    assert!(reader.finish().unwrap().text.contains("relu(x) : f32[4]"));
}

#[test]
fn the_weights_of_a_large_archive_are_not_read() {
    let weights = vec![7; 20 << 20];
    let json = relu().to_string();
    let bytes = archive(&[
        ("m/data/weights/weight_0", &weights, false),
        ("m/models/model.json", json.as_bytes(), false),
    ]);
    let place = |at: u64| usize::try_from(at).unwrap();
    read_little(bytes.len() as u64, |wanted| {
        bytes[place(wanted.start)..place(wanted.end)].to_vec()
    });
}

#[test]
fn a_graph_behind_more_than_4_gb_of_weights_is_found() {
    let gap = 7_000_000_000;
    let bytes = far_archive(&file(&relu()), gap);
    // Zeros stand for the weights.
    let byte = |at: u64| {
        at.checked_sub(gap)
            .map_or(0, |at| bytes[usize::try_from(at).unwrap()])
    };
    read_little(gap + bytes.len() as u64, |wanted| {
        wanted.map(byte).collect()
    });
}

#[test]
fn older_archives_and_a_file_of_any_name_are_known() {
    let graph = program(
        &[("x", tensor(&[4])), ("y", tensor(&[4]))],
        &[node("relu.default", &["x"], "y")],
        "y",
    );
    let json = graph.to_string().replace("\"major\":8", "\"major\":7");
    let bytes = archive(&[
        ("serialized_exported_program.json", json.as_bytes(), false),
        ("version", b"2.1", false),
    ]);
    assert_eq!(kind_of("model", &bytes), FileKind::Model(ModelFormat::Pt2));
    assert!(converted(&bytes).text.contains("relu(x) : f32[4]"));
}
