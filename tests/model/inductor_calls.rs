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
