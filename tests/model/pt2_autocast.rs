//! Element types in which ops of exported programs compute.

use crate::pt2::{analysed, converted, lines_of};
use crate::pt2_files::{file, named, node, node_of, program, tensor};
use serde_json::{Value, json};

/// Element types as the file numbers them.
const I32: u32 = 4;
const I64: u32 = 5;
const F16: u32 = 6;
const F32: u32 = 7;
const BF16: u32 = 13;

fn typed(dtype: u32, sizes: &[i64]) -> Value {
    let mut tensor = tensor(sizes);
    tensor["dtype"] = json!(dtype);
    tensor
}

/// A tensor as an argument.
fn of(name: &str, tensor: &str) -> Value {
    named(name, &json!({ "as_tensor": { "name": tensor } }))
}

#[test]
fn operands_are_cast_to_the_type_in_which_an_op_computes() {
    let half = typed(F16, &[4, 8]);
    let nodes = [
        node("relu.default", &["x"], "a"),
        node("add.Tensor", &["x", "a"], "y"),
    ];
    // The first op gives another type than it reads, and the second promotes what it reads.
    let lines = lines_of(&nodes, &[("a", half)]);
    assert_eq!(
        lines,
        [
            "cast = cast(x, dtype=f16)",
            "relu = relu(cast) : f16[4, 8]",
            "add = add(x, relu) : f32[4, 8]"
        ]
    );
}

/// PyTorch promotes the operands inside of its kernel, and gives i64 for sums of integers unless
/// the call states another type.
#[test]
fn an_op_that_promotes_integers_reads_them_as_they_are() {
    let x = |argument: &str| of(argument, "x");
    let whole = |sizes: &[i64]| typed(I64, sizes);
    let narrow = |sizes: &[i64]| typed(I32, sizes);
    let dim = || named("dim", &json!({ "as_int": 1 }));
    let dims = || named("dim", &json!({ "as_ints": [1] }));
    let half = named("min", &json!({ "as_float": 0.5 }));
    #[rustfmt::skip]
    let cases = [
        ("div.Tensor", whole(&[4, 8]), vec![x("self"), x("other")], typed(F32, &[4, 8]), &["div = div(x, x) : f32[4, 8]"][..]),
        ("sqrt.default", whole(&[4, 8]), vec![x("self")], typed(F32, &[4, 8]), &["sqrt = sqrt(x) : f32[4, 8]"]),
        ("clamp.default", whole(&[4, 8]), vec![x("self"), half], typed(F32, &[4, 8]), &["clamp = clamp(x, min=0.5) : f32[4, 8]"]),
        ("sum.dim_IntList", narrow(&[4, 8]), vec![x("self"), dims()], whole(&[4]), &["sum = sum(x, axis=1, keepdim=false) : i64[4]"]),
        ("cumsum.default", narrow(&[4, 8]), vec![x("self"), dim()], whole(&[4, 8]), &["cumsum = cumsum(x, axis=1) : i64[4, 8]"]),
        ("cumsum.default", narrow(&[4, 8]), vec![x("self"), dim()], narrow(&[4, 8]), &["cumsum = cumsum(x, axis=1)", "cast = cast(cumsum, dtype=i32) : i32[4, 8]"]),
        ("prod.dim_int", narrow(&[4, 8]), vec![x("self"), dim()], narrow(&[4]), &["prod = prod(x, axis=1, keepdim=false)", "cast = cast(prod, dtype=i32) : i32[4]"]),
    ];
    for (operator, input, inputs, result, expected) in cases {
        let known = [("x", input), ("y", result)];
        let lines = lines_of(&[node_of(operator, &inputs, "y")], &known);
        assert_eq!(lines, expected, "{operator}");
    }
}

#[test]
fn losses_under_autocast_are_computed_in_the_type_of_their_result() {
    let float = |sizes: &[i64]| typed(F32, sizes);
    let half = typed(BF16, &[4, 8]);
    let dim = named("dim", &json!({ "as_ints": [1] }));
    let mode = named("compute_mode", &json!({ "as_int": 1 }));
    let cases = [
        (
            "mse_loss.default",
            vec![of("self", "a"), of("target", "b")],
            float(&[]),
            2,
        ),
        (
            "cross_entropy_loss.default",
            vec![of("self", "a"), of("target", "classes")],
            float(&[]),
            1,
        ),
        (
            "softplus.default",
            vec![of("self", "a")],
            typed(F32, &[4, 8]),
            1,
        ),
        (
            "logsumexp.default",
            vec![of("self", "a"), dim],
            float(&[4]),
            1,
        ),
        (
            "cdist.default",
            vec![of("x1", "a"), of("x2", "b"), mode],
            float(&[4, 4]),
            2,
        ),
    ];
    for (operator, inputs, result, casts) in cases {
        let nodes = [
            node("to.dtype", &["x"], "a"),
            node("exp.default", &["a"], "b"),
            node("argmax.default", &["x"], "classes"),
            node_of(operator, &inputs, "y"),
        ];
        let dim = named("dim", &json!({ "as_int": 1 }));
        let mut nodes = nodes;
        nodes[2]["inputs"].as_array_mut().unwrap().push(dim);
        let known = [
            ("x", tensor(&[4, 8])),
            ("a", half.clone()),
            ("b", half.clone()),
            ("classes", typed(I64, &[4])),
            ("y", result),
        ];
        let text = converted(&file(&program(&known, &nodes, "y"))).text;
        analysed(&text);
        assert!(!text.contains("opaque"), "{operator}:\n{text}");
        let to_float = text.matches("dtype=f32").count();
        let of_counts = usize::from(operator.starts_with("cross"));
        assert_eq!(to_float, casts + of_counts, "{operator}:\n{text}");
    }
}

#[test]
fn attention_under_autocast_computes_in_the_type_of_its_result() {
    let heads = [1, 2, 4, 8];
    let known = [
        ("x", tensor(&heads)),
        ("k", tensor(&heads)),
        ("v", typed(BF16, &heads)),
        ("y", typed(BF16, &heads)),
    ];
    let inputs = [of("query", "x"), of("key", "k"), of("value", "v")];
    let nodes = [
        node("relu.default", &["x"], "k"),
        node("exp.default", &["k"], "v"),
        node_of("scaled_dot_product_attention.default", &inputs, "y"),
    ];
    let text = converted(&file(&program(&known, &nodes, "y"))).text;
    analysed(&text);
    assert!(text.contains("sdpa("), "{text}");
    // The query and the key; what gives the value reads bf16.
    assert_eq!(text.matches("dtype=bf16").count(), 3, "{text}");
}
