//! Element types in which ops of exported programs compute.

use crate::pt2::{analysed, converted, lines_of};
use crate::pt2_files::{file, named, node, node_of, program, tensor};
use serde_json::{Value, json};

/// Element types as the file numbers them.
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
