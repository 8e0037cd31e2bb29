//! Bytes of concatenations under torch.compile, which allocates the whole and lets the kernel of
//! each piece write its part.

use crate::inductor_measured::{DEFAULT, options};
use crate::inductor_smallest::check;
use crate::view_bytes::moved_by_kernel;
use fuseline_core::notation::parse;
use fuseline_core::{Policy, ReshapeCost, analyze_program};

/// Bytes of a piece.
const PIECE: u64 = 1024 * 512 * 2;
/// Bytes of a weight.
const WEIGHT: u64 = 512 * 512 * 2;

fn list(ops: &str) -> String {
    format!(
        "input a : bf16[1024, 512]\ninput b : bf16[1024, 512]\ninput w : bf16[512, 512]\n{ops}\n\
         y = matmul(c, w)\n"
    )
}

#[test]
fn a_piece_is_written_once_where_the_concatenation_has_it() {
    let product = [2 * PIECE + WEIGHT, 2 * PIECE];
    let piece = [PIECE, PIECE];
    let of_product = [PIECE + WEIGHT, PIECE];
    for (ops, kernels) in [
        (
            "p = rms_norm(a)\nq = rms_norm(b)\nc = concat(p, q, axis=0)",
            vec![piece, piece, product],
        ),
        // A library, too, is given the part as its output.
        (
            "p = matmul(a, w)\nq = matmul(b, w)\nc = concat(p, q, axis=0)",
            vec![of_product, of_product, product],
        ),
        // What is an input is copied.
        (
            "p = rms_norm(a)\nc = concat(b, p, axis=0)",
            vec![piece, piece, product],
        ),
        // A product of more dimensions is read through a view, and a batched one has a layout.
        (
            "s = reshape(a, shape=[2, 512, 512])\nt = reshape(b, shape=[2, 512, 512])\n\
             p = matmul(s, w)\nq = matmul(t, w)\nc = concat(p, q, axis=0)",
            vec![of_product, of_product, [2 * PIECE, 2 * PIECE], product],
        ),
        // The other reader reads the part.
        (
            "p = matmul(a, w)\nq = rms_norm(b)\nc = concat(p, q, axis=0)\nz = softmax(q)",
            vec![of_product, [PIECE, 2 * PIECE], product],
        ),
    ] {
        let moved = moved_by_kernel(&list(ops), Policy::Inductor, ReshapeCost::View);
        assert_eq!(moved, kernels, "{ops}");
    }
}

/// A loss over a large vocabulary in chunks: the logarithm of each sum is a row of the whole.
#[test]
fn a_view_of_what_a_kernel_computes_is_written_in_its_place() {
    let chunk = |x: &str| {
        format!(
            "input {x} : f32[512, 4096]\nm{x} = max({x}, axis=1)\ns{x} = sub({x}, m{x})\ne{x} = exp(s{x})\n\
             r{x} = sum(e{x}, axis=1)\ng{x} = log(r{x})\nl{x} = add(g{x}, m{x})\n\
             v{x} = reshape(l{x}, shape=[1, 512])\n"
        )
    };
    let text = format!("{}{}c = concat(va, vb, axis=0)\n", chunk("a"), chunk("b"));
    let moved = moved_by_kernel(&text, Policy::Inductor, ReshapeCost::View);
    let of_chunk = [512 * 4096 * 4, 512 * 4];
    assert_eq!(moved, [of_chunk, of_chunk]);
}

/// The library's call takes as long, wherever its result lies.
#[test]
fn a_product_that_is_written_in_its_place_takes_no_longer() {
    let text = list("p = matmul(a, w)\nq = matmul(b, w)\nc = concat(p, q, axis=0)");
    let analysis = analyze_program(&parse(&text).program, &options(DEFAULT))
        .analysis
        .unwrap();
    let predicted = analysis.predicted.unwrap();
    let mut times = predicted.kernels.iter().map(|kernel| kernel.time_s);
    assert_eq!(times.next(), times.next());
    assert_eq!(predicted.generated_matmuls, 0);
}

#[test]
fn a_concatenation_and_its_pieces_are_one_memory() {
    let text = list("p = rms_norm(a)\nq = rms_norm(b)\nc = concat(p, q, axis=0)");
    let program = parse(&text).program;
    let analysis = analyze_program(&program, &options(DEFAULT))
        .analysis
        .unwrap();
    let given = 2 * PIECE + WEIGHT;
    assert_eq!(
        analysis.fused.peak_memory.bytes,
        given + 2 * PIECE + 2 * PIECE
    );
}

/// The key of `DeepSeek` V3, whose rotated part all heads share. Counted with the compiler's own
/// scheduler.
#[test]
fn a_broadcast_of_what_is_written_for_it_is_a_kernel_of_its_own() {
    let list = |rotated: &str, key: &str, rest: &str| {
        format!(
            "input l : bf16[1, 1024, 128, 256]\ninput p : bf16[1, 1024, 64]\ninput c : bf16[1, 1024, 64]\n\
             input s : bf16[1, 1024, 64]\nn = split(l, parts=2, index=0, axis=3)\n{rotated}\n{key}\n\
             k = concat(n, e, axis=3)\n{rest}"
        )
    };
    let rotated = "a = mul(p, c)\nh = slice(p, start=32, end=64, axis=2)\ng = neg(h)\n\
                   f = slice(p, start=0, end=32, axis=2)\nu = concat(g, f, axis=2)\nb = mul(u, s)\nr = add(a, b)";
    let added = "a = mul(p, c)\nr = add(a, s)";
    let of_heads = "v = reshape(r, shape=[1, 1024, 1, 64])\ne = expand(v) : bf16[1, 1024, 128, 64]";
    let product =
        "input q : bf16[1, 128, 1024, 192]\nt = transpose(k, perm=[0, 2, 3, 1])\ny = matmul(q, t)";
    check(&[
        (&list(rotated, of_heads, product), 4),
        // Little is computed again by each head.
        (&list(added, of_heads, product), 2),
        (&list(rotated, of_heads, "y = relu(k)"), 2),
    ]);
}

/// Counted with the compiler's own scheduler.
#[test]
fn a_product_with_scales_is_copied_into_a_concatenation() {
    let text = "input a : f8e4m3[2048, 2048]\ninput b : f8e4m3[1024, 2048]\ninput c : f8e4m3[2048, 2048]\n\
                input s : f32[]\ninput o : bf16[3072, 2048]\nt = transpose(b, perm=[1, 0])\n\
                p = scaled_matmul(a, t, s, s) : bf16[2048, 1024]\nu = transpose(c, perm=[1, 0])\n\
                q = scaled_matmul(a, u, s, s) : bf16[2048, 2048]\nl = concat(p, q, axis=1)\ny = matmul(l, o)";
    check(&[(text, 4)]);
}
