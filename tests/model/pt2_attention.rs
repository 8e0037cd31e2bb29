//! Attention of exported programs.

use crate::pt2::lines_of;
use crate::pt2_files::{named, node_of, tensor};
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
    let of = |name: &str, tensor: &str| named(name, &json!({ "as_tensor": { "name": tensor } }));
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
