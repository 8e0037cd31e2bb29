//! Writes into a part under torch.compile's policy. Launches are those of `TorchInductor` 2.11, by
//! its own lowering, scheduler and code; bytes are what these kernels load and store.

use crate::inductor_smallest::analyzed;

const TENSORS: &str = "input x : f32[64, 128]\ninput i : i64[64, 16]\ninput s : f32[64, 16]\n";
const X: u64 = 64 * 128 * 4;
const INDEX: u64 = 64 * 16 * 8;
const SOURCE: u64 = 64 * 16 * 4;

fn check(text: &str, launches: usize, total: u64) {
    let fused = analyzed(text).fused;
    let moved = (fused.launches, fused.traffic.total);
    assert_eq!(moved, (launches, total), "{text}");
}

/// What a scatter reads is computed in its loop, and its first input into the copy in which it
/// writes. A sum reads what it adds to.
#[test]
fn a_scatter_computes_its_source_and_its_copy() {
    for (scatter, added) in [("scatter", 0), ("scatter_add", SOURCE)] {
        let part = INDEX + SOURCE + added;
        let computed = format!("{TENSORS}a = mul(x, 2)\nb = mul(s, 3)\n");
        let of_zeros = format!("z = full(value=0) : f32[64, 128]\nt = {scatter}(z, i, o, axis=1)");
        check(
            &format!("{computed}t = {scatter}(a, i, b, axis=1)\ny = relu(t)"),
            3,
            4 * X + part + SOURCE,
        );
        // Another reader of the first input computes it again.
        check(
            &format!("{computed}t = {scatter}(a, i, b, axis=1)\ny = add(t, a)"),
            3,
            2 * X + part + SOURCE + 3 * X,
        );
        // As experts are chosen.
        check(
            &format!(
                "input x : f32[64, 128]\ninput i : i64[64, 16]\no = full(value=1) : f32[64, 16]\n{of_zeros}\ny = mul(t, x)"
            ),
            3,
            X + INDEX + SOURCE + added + 3 * X,
        );
        check(
            &format!("{TENSORS}o = softmax(s)\n{of_zeros}\ny = mul(t, x)"),
            3,
            X + part + SOURCE + 3 * X,
        );
        // In memory of the caller it writes into a copy, which the reader copies back.
        check(
            &format!("{TENSORS}t = {scatter}_(x, i, s, axis=1)\ny = relu(t)"),
            3,
            2 * X + part + SOURCE + 3 * X,
        );
    }
}

/// Nothing else needs the first input, so the op writes into it.
#[test]
fn an_op_out_of_place_overwrites_what_nothing_else_needs() {
    let tensors = "input x : f32[64, 128]\ninput i : i64[16]\ninput s : f32[16, 128]\n";
    let (index, source) = (16 * 8, 16 * 128 * 4);
    for (write, read) in [
        ("index_copy(a, i, b, axis=0)", source),
        ("index_add(a, i, b, axis=0)", 2 * source),
        ("index_put(a, i, b)", source),
    ] {
        let text = format!("{tensors}a = mul(x, 2)\nb = mul(s, 3)\nt = {write}\n");
        let part = index + read + source;
        check(&format!("{text}y = relu(t)"), 3, 4 * X + part);
        // A copy of what is needed later.
        let later = analyzed(&format!("{text}y = mul(t, a)")).fused;
        assert_eq!(later.launches, 4, "{text}");
    }
}

/// The compiler computes a running sum of one number from the position.
#[test]
fn a_running_sum_of_ones_is_a_position() {
    let text = "input t : f32[64, 128]\nm = full(value=1) : f32[2, 32]\nc = cumsum(m, axis=1)\np = mul(c, m)\nj = cast(p, dtype=i64)\ne = embedding(j, t)\ny = layer_norm(e)";
    assert_eq!(analyzed(text).fused.launches, 1);
}
