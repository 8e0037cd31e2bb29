//! Reductions, norms and softmaxes among the smallest forms of what the compiler's policy once had
//! wrong.

use crate::inductor_smallest::check;

#[test]
fn a_shared_input_of_two_reductions_to_single_values_is_a_buffer() {
    check(&[
        // H200: the absolute values, and two reductions in two halves each.
        (
            "input x : f32[8192, 8192]\na = abs(x)\nm = max(a, axis=[0, 1])\nq = mean(a, axis=[0, 1])",
            5,
        ),
        // H200: written once for each reader, one pass computes both.
        (
            "input x : f32[8192, 8192]\na = abs(x)\nb = abs(x)\nm = max(a, axis=[0, 1])\nq = mean(b, axis=[0, 1])",
            3,
        ),
        // H200: a reduction of a scan reads what the scan has written.
        (
            "input x : f32[4096, 24]\nc = cumsum(x, axis=1)\nm = mean(c, axis=[0, 1])",
            3,
        ),
        // H200: pieces follow the memory of a transposed input.
        (
            "input x : f32[2048, 4096]\nt = transpose(x, perm=[1, 0])\nm = mean(t, axis=[0, 1])",
            2,
        ),
    ]);
}

#[test]
fn norms_write_their_part_of_a_concatenation() {
    check(&[
        // H200.
        (
            "input x : f32[512, 64]\ninput y : f32[512, 64]\na = layer_norm(x)\nb = layer_norm(y)\nz = concat(a, b, axis=1)",
            2,
        ),
        (
            "input x : f32[512, 64]\na = layer_norm(x)\nb = rms_norm(x)\nc = softmax(x)\nz = concat(a, b, c, axis=1)\ny = relu(z)",
            2,
        ),
        // H200: a concatenation of inputs is computed by the norm and by the sum that read it.
        (
            "input x : f32[2048, 64]\ninput y : f32[2048, 64]\nc = concat(x, y, axis=0)\nn = layer_norm(c)\ns = sum(c, axis=1)",
            1,
        ),
    ]);
}

#[test]
fn a_reduction_in_pieces_shares_no_index_with_whole_rows() {
    check(&[
        // H200.
        (
            "input x : f32[4096, 256]\nt = transpose(x, perm=[1, 0])\ne = exp(x)\ns = sum(t, axis=1)",
            3,
        ),
        // H200: two halves of the statistics, and a pass that reads the image again.
        (
            "input x : f32[32, 64, 64, 64]\ny = batch_norm(x, training=true)",
            3,
        ),
        // A value of each column is no value of each row, even of a square.
        (
            "input x : f16[64, 64]\ns = softmax(x, axis=0)\ny = sum(s)",
            2,
        ),
        (
            "input x : f16[64, 64]\ns = softmax(x, axis=0)\ny = sum(s)\noutput s",
            2,
        ),
    ]);
}

#[test]
fn an_expression_over_a_short_row_counts_each_element() {
    check(&[
        // Mean and variance are two buffers of five that are read.
        (
            "input x : f32[8192, 5]\nweight w : f32[5]\nweight b : f32[5]\nn = layer_norm(x, w, b)\ny = exp(n)\ns = slice(n, axis=1, start=2, end=5)\nz = layer_norm(s)",
            4,
        ),
        (
            "input x : f16[16, 200, 3, 32]\na = gelu(x)\nb = sigmoid(a)\nm = max(b, axis=2)\ny = div(b, m)",
            2,
        ),
    ]);
}

#[test]
fn a_single_row_is_cut_along_what_lies_in_memory() {
    check(&[
        // Of rows across in memory the pieces have the length, but not the elements.
        (
            "input x : f32[128, 200]\nt = max(x, axis=0)\nd = div(x, t)\nc = cumsum(d, axis=0)\nm = max(d, axis=[0, 1])",
            3,
        ),
        // A view of what no buffer holds is read across, and cut twice. A conversion writes it.
        (
            "input x : f32[2048, 512]\nweight w : f32[512]\na = add(x, w)\nt = transpose(a)\nm = min(t, axis=[0, 1])",
            3,
        ),
        (
            "input x : bf16[2048, 512]\nweight w : bf16[512]\na = add(x, w)\nt = transpose(a)\nm = mean(t, axis=[0, 1])",
            2,
        ),
        // Row values are found by a division, which depends on all loops of a piece.
        (
            "input x : f16[128, 32768]\nm = max(x, axis=1)\na = sub(x, m)\ns = sum(a, axis=1)\nb = sub(a, s)\ny = max(b, axis=[0, 1])",
            7,
        ),
        (
            "input x : f32[64, 32768]\ninput r : f32[64, 1]\ninput c : f32[1, 32768]\na = mul(x, r)\nb = mul(a, c)\ny = max(b, axis=[0, 1])",
            2,
        ),
        // A view of what no buffer holds is not cut into the rows of an earlier reduction.
        (
            "input x : f32[128, 12, 128]\ns = sum(x, axis=0)\nd = sub(x, s)\nm = sum(d, axis=[0, 1, 2])",
            3,
        ),
        (
            "input x : f32[128, 12, 128]\ns = sum(x, axis=0)\nd = sub(x, s)\nt = transpose(d, perm=[0, 2, 1])\nm = sum(t, axis=[0, 1, 2])",
            4,
        ),
        // All elements of a norm are cut into its rows, those of a flat view of it into pieces.
        (
            "input x : bf16[4096, 4096]\nweight g : bf16[4096]\nh = rms_norm(x, g)\na = abs(h)\nm = max(a, axis=[0, 1], keepdim=false)",
            2,
        ),
        (
            "input x : bf16[4096, 4096]\nweight g : bf16[4096]\nh = rms_norm(x, g)\na = abs(h)\nr = reshape(a, shape=[16777216])\nm = max(r, axis=0, keepdim=false)",
            4,
        ),
    ]);
}

/// The place of an extreme is found in one pass, however long the rows are.
#[test]
fn the_place_of_an_extreme_is_not_split() {
    check(&[
        ("input x : bf16[8, 128256]\ny = argmax(x, axis=1)", 1),
        ("input x : bf16[8, 128256]\ny = max(x, axis=1)", 2),
    ]);
}

#[test]
fn row_values_of_a_softmax_are_two_buffers() {
    check(&[
        // An op with two readers reads the logits, maximum and sum, the labels and old values, so
        // it is a buffer and the two means share nothing.
        (
            "input a : f32[4096, 32000]\ninput b : i64[4096, 1]\ninput c : f32[4096, 1]\ninput d : f32[4096, 1]\nl = log_softmax(a, axis=1)\np = exp(l)\nq = mul(p, l)\ns = sum(q, axis=1)\ng = gather(l, b, axis=1)\ne = sub(g, d)\nr = exp(e)\nu = mul(r, c)\nk = clamp(r, min=0.8, max=1.2)\nv = mul(k, c)\nw = minimum(u, v)\nm = mean(w, axis=0)\nn = mean(s, axis=0)\no = sub(m, n)",
            3,
        ),
        (
            "input x : f32[4096, 6]\ninput u : f32[4096, 6]\ninput v : f32[4096, 6]\np = softmax(x)\na = mul(p, u)\nb = add(a, v)\ns = sum(b, axis=0)\nm = max(b, axis=1)",
            5,
        ),
        (
            "input x : f32[4096, 6]\ninput u : f32[4096, 6]\ninput v : f32[4096, 6]\np = softmax(x)\na = mul(p, u)\nb = add(a, v)\nm = max(b, axis=1)\ns = sub(b, m)",
            4,
        ),
        // The sum over seven elements reads nine.
        (
            "input i0 : f32[4096, 7]\nt0 = softmax(i0)\nt1 = sum(t0, axis=1)\nt2 = concat(i0, t1, axis=1)\nt3 = transpose(t0, perm=[1, 0])",
            2,
        ),
    ]);
}

#[test]
fn a_group_of_channels_is_normed_in_two_kernels() {
    let of = |shape: &str, groups: u64| {
        format!(
            "input x : bf16[{shape}]\nweight w : bf16[64]\nweight b : bf16[64]\ny = group_norm(x, w, b, groups={groups})"
        )
    };
    let (image, small) = ("32, 64, 112, 112", "512, 64, 7, 7");
    for (text, expected) in [
        // H200.
        (of(image, 32), 2),
        (of(small, 32), 2),
        // A row is a channel, or all of them.
        (of(image, 64), 1),
        (of(small, 1), 1),
        (of("512, 64", 1), 1),
    ] {
        check(&[(&text, expected)]);
    }
}

/// Pieces of rows are loops of their own, so that the index is that of a pointwise kernel only if
/// that kernel has another number of loops, or the same.
#[test]
fn pieces_of_rows_are_loops() {
    check(&[
        // 8 x 12 x 8,000 and 8 x 3,000 x 32.
        (
            "input x : bf16[8, 3000, 32]\na = neg(x)\nm = min(x, axis=[1, 2])",
            3,
        ),
        // No loop of 255 x 7 x 768 ends where a piece of 8,160 does.
        (
            "input x : bf16[5, 255, 7, 768]\nm = mean(x, axis=[1, 2, 3])\na = abs(x)",
            3,
        ),
        // A piece has two images, whose elements begin at quotients.
        (
            "input x : bf16[4, 16, 56, 56]\nn = batch_norm(x, training=true)\np = pad(n, pad=[1, 1])\na = relu(x)\nc = cast(a, dtype=f32)",
            4,
        ),
        // Both read a column of the same elements.
        (
            "input x : f32[768, 5, 96]\ns = sum(x, axis=0)\nt = transpose(x, perm=[2, 1, 0])\nm = mean(t, axis=2)",
            3,
        ),
    ]);
}

#[test]
fn a_maximum_of_all_is_reduced_from_that_of_the_rows() {
    let list = |shape: &str, rest: &str| format!("input x : bf16[{shape}]\na = abs(x)\n{rest}");
    let rows = "m = max(a, axis=1)";
    let all = "n = max(a, axis=[0, 1], keepdim=false)";
    let both = format!("{rows}\n{all}");
    check(&[
        (&list("64, 256", &both), 2),
        (&list("64, 256", &format!("{all}\n{rows}")), 2),
        (&list("64, 256", &both.replace("max", "min")), 2),
        (&list("64, 256", &both.replace("axis=1", "axis=0")), 2),
        (&list("4096, 4096", &both), 2),
        // The maxima of long columns are split.
        (&list("4096, 4096", &both.replace("axis=1", "axis=0")), 3),
        // What reads both is a kernel behind them.
        (
            &list("64, 256", &format!("{both}\ny = div(x, m)\nz = div(x, n)")),
            3,
        ),
        // The last rows give the first value of all, and no other value.
        (
            &list("64, 256", &format!("{rows}\nk = max(a, axis=0)\n{all}")),
            3,
        ),
        // Not of few elements, of rows without a dimension for them, nor of another function.
        (&list("16, 255", &both), 2),
        (
            &list("64, 256", &both.replace("axis=1", "axis=1, keepdim=false")),
            3,
        ),
        (&list("64, 256", &format!("m = min(a, axis=1)\n{all}")), 3),
        (&list("64, 256", &both.replace(", keepdim=false", "")), 3),
    ]);
}

/// A norm of each head, then a maximum of the whole row: cut at the heads, its first half shares
/// the kernel of the heads' statistics, which it reads where they are written.
#[test]
fn a_row_that_is_cut_at_heads_shares_the_kernel_of_their_statistics() {
    let heads = "input x : bf16[64, 16, 128]\nn = rms_norm(x)\nr = reshape(n) : bf16[64, 2048]\n";
    check(&[
        (
            &format!("{heads}a = abs(r)\nm = max(a, axis=1)\ns = div(m, 448)\nq = div(r, s)"),
            3,
        ),
        (&format!("{heads}y = rms_norm(r)"), 3),
    ]);
}
