//! Ops that torch.compile replaces by one library call. The counts are those of TorchInductor 2.11,
//! with the kernels that the calls launched on an H200.

use crate::inductor_smallest::check;

const TOKENS: &str = "bf16[2, 16, 256]";
const LAYER: &str = "c = cast(w, dtype=bf16)\nl = linear(x, c)\ny = mul(l, s)";

#[test]
fn one_call_computes_a_linear_layer_of_int8_weights() {
    let list = |x: &str, rest: &str| {
        format!("input x : {x}\ninput w : i8[512, 256]\ninput s : bf16[512]\n{rest}")
    };
    let with = |from: &str, to: &str| list(TOKENS, &LAYER.replace(from, to));
    let then = |rest: &str| list(TOKENS, &format!("{LAYER}\n{rest}"));
    // On an H200 the call is four kernels: input and scales become f32, the result bf16 again.
    check(&[
        (&list(TOKENS, LAYER), 4),
        (&list("bf16[2, 4, 8, 256]", LAYER), 4),
        (&list("bf16[1, 1, 256]", LAYER), 4),
        (&with("linear(x, c)", "matmul(x, c, transpose_b=true)"), 4),
        (
            &with("l = linear(x, c)", "t = transpose(c)\nl = matmul(x, t)"),
            4,
        ),
        // Of a matrix alone, the cast of transposed weights.
        (
            &list(
                "bf16[32, 256]",
                "t = transpose(w)\nc = cast(t, dtype=bf16)\nl = matmul(x, c)\ny = mul(l, s)",
            ),
            4,
        ),
        // Ops before and after the call are kernels of their own.
        (
            &with("l = linear(x, c)", "r = relu(x)\nl = linear(r, c)"),
            5,
        ),
        (&then("r = relu(y)\nz = sigmoid(y)"), 5),
        // Rows that are no batch in memory are copied.
        (
            &list(
                "bf16[16, 2, 256]",
                &format!(
                    "t = transpose(x, perm=[1, 0, 2])\n{}",
                    LAYER.replace("(x", "(t")
                ),
            ),
            5,
        ),
        // No pattern: a matrix, a cast of transposed weights, scales before the product, scales of
        // another type or shape, a second reader, a bias.
        (&list("bf16[32, 256]", LAYER), 3),
        (
            &list(
                TOKENS,
                "t = transpose(w)\nc = cast(t, dtype=bf16)\nl = matmul(x, c)\ny = mul(l, s)",
            ),
            3,
        ),
        (&with("mul(l, s)", "mul(s, l)"), 3),
        (&list(TOKENS, LAYER).replace("bf16", "f16"), 3),
        (&list(TOKENS, LAYER).replace("s : bf16", "s : f32"), 3),
        (
            &list(TOKENS, LAYER).replace("s : bf16[512]", "s : bf16[1]"),
            3,
        ),
        (&then("r = relu(l)"), 3),
        (&then("r = relu(c)"), 3),
        (&with("linear(x, c)", "linear(x, c, s)"), 3),
    ]);
}

#[test]
fn attention_converts_a_boolean_mask_to_numbers() {
    let list = |mask: &str, rest: &str| {
        let heads = "bf16[2, 8, 128, 32]";
        format!("input q : {heads}\ninput k : {heads}\ninput v : {heads}\n{mask}\n{rest}")
    };
    let given = |dtype: &str| format!("input m : {dtype}[2, 1, 128, 128]");
    let call = "y = sdpa(q, k, v, m)";
    let computed = "input a : f32[2, 1, 128, 128]\ninput b : f32[2, 1, 128, 128]\nm = gt(a, b)";
    // The launches are those of an H200, in f32 as well.
    check(&[
        (&list(&given("bf16"), call), 1),
        (&list(&given("bool"), call), 2),
        (&list(&given("bool"), call).replace("bf16", "f32"), 2),
        // What computes the mask writes numbers.
        (&list(computed, call), 2),
        // So does what looks up its rows.
        (
            &list(
                "input t : bool[512, 128]\ninput at : i64[128]\nr = index(t, at)\nm = reshape(r, shape=[1, 1, 128, 128])",
                call,
            ),
            2,
        ),
        // The next call reads the same numbers.
        (
            &list(&given("bool"), &format!("{call}\nz = sdpa(y, k, v, m)")),
            3,
        ),
    ]);
}

#[test]
fn attention_with_a_mask_writes_its_result_as_q_lies() {
    // cuDNN's attention, which PyTorch takes on an H200. In f32 it takes another, which writes the
    // result by token.
    let list = |dtype: &str| {
        let heads = format!("{dtype}[2, 8, 128, 32]");
        format!(
            "input q : {heads}\ninput k : {heads}\ninput v : {heads}\ninput m : {dtype}[2, 1, 128, 128]\n\
             y = sdpa(q, k, v, m)\nt = transpose(y, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[2, 128, 256])"
        )
    };
    check(&[(&list("bf16"), 2), (&list("f16"), 2), (&list("f32"), 1)]);
}

/// In the attention of `DeepSeek` V3 a row of V has 128 elements, one of Q 192.
#[test]
fn attention_whose_values_have_other_rows_writes_its_result_as_q_lies() {
    let list = |q: u64, v: u64| {
        format!(
            "input q : bf16[2, 128, 8, {q}]\ninput k : bf16[2, 128, 8, {q}]\ninput v : bf16[2, 128, 8, {v}]\n\
             qt = transpose(q, perm=[0, 2, 1, 3])\nkt = transpose(k, perm=[0, 2, 1, 3])\nvt = transpose(v, perm=[0, 2, 1, 3])\n\
             a = sdpa(qt, kt, vt, causal=true)\nt = transpose(a, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[2, 128, {}])",
            8 * v
        )
    };
    let by_head = list(192, 128).replace("(q, perm=[0, 2, 1, 3])", "(q, perm=[0, 1, 2, 3])");
    let by_head = by_head.replace("[2, 128, 8, 192]\ninput k", "[2, 8, 128, 192]\ninput k");
    check(&[
        (&list(192, 192), 1),
        (&list(192, 128), 1),
        (&list(64, 128), 1),
        (&by_head, 2),
    ]);
}
