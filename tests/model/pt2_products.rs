//! Attention, einsums and scaled weights of exported programs.

use crate::pt2::lines_of;
use crate::pt2_files::{named, node_of, read, tensor};
use serde_json::json;

/// Element types as the file numbers them.
const F32: u32 = 7;
const BOOL: u32 = 12;
const BF16: u32 = 13;

/// The functions of attention over heads of this type with a mask of this type, which lies in
/// memory by these strides.
fn functions(heads: u32, mask: u32, strides: [i64; 4]) -> Vec<String> {
    let typed = |dtype: u32| {
        let mut tensor = tensor(&[2, 4, 8, 8]);
        tensor["dtype"] = json!(dtype);
        tensor
    };
    let of = |name: &str, tensor: &str| named(name, &read(tensor));
    let mut mask = (
        if mask == BOOL { "logical_not" } else { "relu" },
        typed(mask),
    );
    mask.1["strides"] = strides.iter().map(|own| json!({ "as_int": own })).collect();
    let known = [("x", typed(heads)), ("m", mask.1), ("y", typed(heads))];
    let operands = ["query", "key", "value"].map(|name| of(name, "x"));
    let inputs = [&operands[..], &[of("attn_mask", "m")]].concat();
    let nodes = [
        node_of(&format!("{}.default", mask.0), &[of("self", "x")], "m"),
        node_of("scaled_dot_product_attention.default", &inputs, "y"),
    ];
    let lines = lines_of(&nodes, &known);
    let called = lines.iter().filter_map(|line| line.split_once(" = "));
    let called = called.filter_map(|(_, call)| call.split_once('('));
    called
        .skip(1)
        .map(|(function, _)| function.to_owned())
        .collect()
}

/// PyTorch has no fused kernel for a mask that is broadcast along the keys: it multiplies in f32,
/// and a row without keys is 0.
#[test]
fn a_mask_that_is_broadcast_along_the_keys_takes_attention_apart() {
    let by_rows = [256, 64, 8, 1];
    assert_eq!(functions(BF16, BOOL, by_rows), ["sdpa"]);
    assert_eq!(functions(F32, F32, by_rows), ["sdpa"]);
    let broadcast = [32, 8, 1, 0];
    #[rustfmt::skip]
    let of_numbers = ["mul", "transpose", "mul", "matmul", "add", "softmax", "eq", "all", "where", "matmul"];
    assert_eq!(functions(F32, F32, broadcast), of_numbers);
    #[rustfmt::skip]
    let in_f32 = ["cast", "cast", "cast", "mul", "transpose", "mul", "matmul", "where", "softmax", "eq", "all", "where", "matmul", "cast"];
    assert_eq!(functions(BF16, BOOL, broadcast), in_f32);
}

/// An einsum is the products into which PyTorch takes it apart, and their orders of dimensions.
#[test]
fn an_einsum_is_its_products() {
    let lines = |equation: &str, operands: &[&str], sizes: &[i64]| {
        let names: Vec<_> = operands
            .iter()
            .map(|name| json!({ "name": name }))
            .collect();
        let inputs = [
            named("equation", &json!({ "as_string": equation })),
            named("tensors", &json!({ "as_tensors": names })),
        ];
        lines_of(
            &[node_of("einsum.default", &inputs, "y")],
            &[("y", tensor(sizes))],
        )
    };
    // `x` is f32[4, 8].
    assert_eq!(
        lines("ij,kj->ik", &["x", "x"], &[4, 4]),
        ["matmul = matmul(x, x, transpose_b=true) : f32[4, 4]"]
    );
    assert_eq!(
        lines("ij,ij->i", &["x", "x"], &[4]),
        [
            "reshape = reshape(x, shape=[4, 8, 1])",
            "reshape_2 = reshape(x, shape=[4, 8, 1])",
            "matmul = matmul(reshape, reshape_2, transpose_a=true)",
            "reshape_3 = reshape(matmul, shape=[4]) : f32[4]",
        ]
    );
    assert_eq!(
        lines("ij->ji", &["x"], &[8, 4]),
        ["transpose = transpose(x, perm=[1, 0]) : f32[8, 4]"]
    );
    assert_eq!(
        lines("ij->", &["x"], &[]),
        ["sum = sum(x, axis=[0, 1], keepdim=false) : f32[]"]
    );
}

#[test]
fn a_weight_with_a_length_is_scaled_by_its_norm() {
    let of = |name: &str| named(name, &read("x"));
    let inputs = [of("v"), of("g"), named("dim", &json!({ "as_int": 1 }))];
    assert_eq!(
        lines_of(&[node_of("_weight_norm.default", &inputs, "y")], &[]),
        [
            "square = square(x)",
            "sum = sum(square, axis=[0], keepdim=true)",
            "sqrt = sqrt(sum)",
            "div = div(x, sqrt)",
            "mul = mul(x, div) : f32[4, 8]",
        ]
    );
}
