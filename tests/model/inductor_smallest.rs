//! The smallest forms of what the compiler's policy once had wrong. The counts are those of
//! TorchInductor 2.11; of the lists marked H200 the kernels also ran on one.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::analyze_program;
use fuseline_core::notation::parse;

pub(crate) fn check(cases: &[(&str, usize)]) {
    for &(text, expected) in cases {
        let parsed = parse(text);
        assert_eq!(parsed.diagnostics, [], "{text}");
        let outcome = analyze_program(&parsed.program, &options(DEFAULT));
        assert_eq!(outcome.diagnostics, [], "{text}");
        let launches = outcome.analysis.unwrap().fused.launches;
        assert_eq!(launches, expected, "{text}");
    }
}

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
fn what_was_written_for_one_reader_is_read_by_those_behind_it() {
    check(&[
        // The mean of a slice in pieces writes what is sliced, which another view reads.
        (
            "input x : f32[768, 7, 32]\na = relu(x)\ns = slice(a, axis=1, start=3, end=7)\nm = mean(s, axis=[0, 1, 2])\ny = tanh(s)",
            4,
        ),
        // A transposed result is written before the mean, which reads the result.
        (
            "input x : f32[8192, 3000]\na = silu(x)\nn = log_softmax(x, axis=1)\nt = transpose(a)\nm = mean(t, axis=1)\noutput t",
            3,
        ),
        (
            "input x : f16[200, 48]\na = abs(x)\nb = reshape(a, shape=[9600])\ns = sum(a, axis=0)\ny = sub(a, s)",
            4,
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
fn equal_indices_that_no_sum_of_loops_gives_share_a_kernel() {
    check(&[
        (
            "input x : f32[1024, 12]\ninput i : i64[1024, 1]\ninput j : i64[1024, 1]\na = gather(x, i, axis=1)\nb = gather(x, j, axis=1)",
            1,
        ),
        (
            "input x : f32[1024, 64]\ninput i : i64[512]\ninput j : i64[512]\na = embedding(i, x)\nb = embedding(j, x)",
            1,
        ),
        // Pages of keys and values by one table, and elements by two indices.
        (
            "input k : bf16[8192, 2, 128]\ninput v : bf16[8192, 2, 128]\ninput i : i64[4, 512]\na = index(k, i)\nb = index(v, i)",
            1,
        ),
        (
            "input x : f32[64, 128, 32]\ninput y : f32[64, 128, 32]\ninput i : i64[512, 1]\ninput j : i64[16]\na = index(x, i, j)\nb = index(y, i, j)",
            1,
        ),
        (
            "input x : f32[64, 128, 32]\ninput i : i64[512]\ninput j : i64[512]\na = index(x, i)\nb = index(x, j)",
            1,
        ),
        // The rows of a slice begin at quotients of the flat index.
        (
            "input x : f32[255, 512]\ns = slice(x, axis=1, start=1, end=512)\nf = reshape(s, shape=[130305])\na = relu(f)\nb = tanh(f)",
            1,
        ),
    ]);
}

/// Two products in one kernel would both wait in memory, for 64 bytes read once.
#[test]
fn a_buffer_that_is_read_at_several_indices_waits_for_one_kernel() {
    let products = "input x : bf16[256, 512]\ninput u : bf16[512, 512]\ninput v : bf16[512, 512]\ninput g : bf16[32]\np = linear(x, u)\nq = linear(x, v)\n";
    let partly = |y: &str, x: &str| {
        format!(
            "{x}h = reshape({x}) : bf16[256, 8, 64]\n{x}a = slice({x}h, start=0, end=32, axis=2)\n{x}b = slice({x}h, start=32, end=64, axis=2)\n{x}c = mul({x}a, g)\n{y} = concat({x}c, {x}b, axis=2)\n"
        )
    };
    let wholly =
        |y: &str, x: &str| format!("{x}h = reshape({x}) : bf16[256, 16, 32]\n{y} = mul({x}h, g)\n");
    for of in [&partly as &dyn Fn(&str, &str) -> String, &wholly] {
        check(&[(&format!("{products}{}{}", of("y", "p"), of("z", "q")), 4)]);
    }
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

#[test]
fn a_concatenation_copies_a_piece_whose_layout_is_fixed() {
    check(&[
        // By a broadcast.
        (
            "input x : f32[1000, 5, 48]\ninput y : f32[1000, 1, 48]\nm = max(x, axis=1)\nd = sub(x, m)\nc = concat(m, y, axis=2)\nz = exp(y)",
            4,
        ),
        // By a minimum of all, for which it is cut into pieces.
        (
            "input x : f32[768, 12, 256]\na = abs(x)\nm = min(a, axis=[0, 1, 2])\nc = concat(a, x, axis=2)",
            4,
        ),
        // By a matmul.
        (
            "input x : bf16[256, 3000]\nweight w : bf16[3000, 64]\na = relu(x)\nc = concat(x, a, axis=1)\ny = matmul(a, w)",
            3,
        ),
        // A concatenation is no pointwise reader of a bias, which the matmul adds.
        (
            "input x : f16[8192, 1024]\ninput y : f16[8192, 1024]\nweight w : f16[1024, 128]\nweight b : f16[128]\nm = matmul(x, w)\nn = add(m, b)\nc = concat(y, n, axis=1)",
            2,
        ),
    ]);
}

#[test]
fn loops_take_the_order_of_loops_that_move_alike() {
    check(&[
        // 1,024 pieces of 8,192 are no 8,192 rows of 1,024.
        (
            "input x : f32[1024, 4096]\ninput y : f32[4096, 1024]\nt = transpose(x)\nc = concat(y, t, axis=0)\nm = min(c, axis=[0, 1])\noutput c",
            3,
        ),
        // Of two buffers as large as each other the one that the later kernel reads first decides.
        (
            "input x : f16[32768, 128]\nn = log_softmax(x, axis=1)\na = reshape(n, shape=[4, 8192, 128])\ny = add(a, 0.5)\nc = concat(n, x, axis=1)\nd = maximum(n, x)\ne = reshape(d, shape=[32768, 8, 16])\nz = gelu(e)",
            1,
        ),
        // In the order of the scan, tiles end inside its rows.
        (
            "input x : f32[3, 128, 384]\nt = transpose(x, perm=[0, 2, 1])\na = tanh(t)\nc = cumsum(a, axis=0)\noutput a",
            2,
        ),
    ]);
}

/// Eager and compiled PyTorch copy what a reshape cannot show as a view, whoever wrote it.
#[test]
fn a_reshape_of_transposed_results_is_a_copy() {
    let heads = "input p : bf16[4, 16, 512, 512]\ninput v : bf16[4, 16, 512, 64]\na = matmul(p, v)\nt = transpose(a, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[4, 512, 1024])\n";
    let [linear, matmul, relu] = ["linear(r, w)", "matmul(r, w)", "relu(r)"].map(|reader| {
        let weight = if reader.contains('w') {
            "weight w : bf16[1024, 1024]\n"
        } else {
            ""
        };
        [weight, heads, "o = ", reader].concat()
    });
    check(&[
        (&linear, 3),
        (&matmul, 3),
        (heads, 2),
        (&relu, 2),
        // The copy computes what it copies, in the loops of what it copies.
        (
            "input x : bf16[4, 16, 512, 64]\nweight w : bf16[1024, 1024]\na = softmax(x)\nt = transpose(a, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[4, 512, 1024])\no = linear(r, w)",
            2,
        ),
        (
            "input x : bf16[4, 16, 512, 64]\nweight w : bf16[1024, 1024]\na = tanh(x)\nt = transpose(a, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[4, 512, 1024])\no = linear(r, w)\ne = exp(a)",
            2,
        ),
        // The elements of a softmax are written, and copied where dimensions are split and joined.
        (
            "input x : bf16[4, 16, 512, 64]\na = softmax(x)\nr = reshape(a, shape=[4, 4, 2048, 64])",
            2,
        ),
        // Given from outside, too, in loops over the shape before the reshape.
        (
            "input x : f32[512, 1024]\nt = transpose(x)\ny = reshape(t, shape=[524288])",
            1,
        ),
        (
            "input x : f32[512, 1024]\nt = transpose(x)\ny = reshape(t, shape=[524288])\nz = exp(x)",
            1,
        ),
        (
            "input x : bf16[16, 8, 7, 8, 7, 96]\nweight w : bf16[288, 96]\nn = layer_norm(x)\nt = transpose(n, perm=[0, 1, 3, 2, 4, 5])\nr = reshape(t, shape=[50176, 96])\no = linear(r, w)",
            2,
        ),
        (
            "input q : bf16[1, 2048, 32, 128]\nn = rms_norm(q)\nt = transpose(n, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[1, 8, 8192, 128])",
            2,
        ),
        (
            "input q : bf16[1, 2048, 32, 128]\ninput k : bf16[1, 8, 2048, 128]\nn = rms_norm(q)\nt = transpose(n, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[1, 8, 8192, 128])\ns = matmul(r, k, transpose_b=true)",
            3,
        ),
        (
            "input x : bf16[4, 512, 4096]\nweight w : bf16[4096, 4096]\ninput k : bf16[4, 8, 512, 128]\nq = linear(x, w)\nh = reshape(q, shape=[4, 512, 32, 128])\nt = transpose(h, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[4, 8, 2048, 128])\ns = matmul(r, k, transpose_b=true)",
            4,
        ),
        // A kernel computes the rotation, and another one lays it out for the library.
        (
            "input q : bf16[1, 2048, 32, 128]\ninput cos : bf16[1, 1, 2048, 128]\ninput sin : bf16[1, 1, 2048, 128]\ninput k : bf16[1, 8, 2048, 128]\nt = transpose(q, perm=[0, 2, 1, 3])\nh = rotary(t, cos, sin)\nr = reshape(h, shape=[1, 8, 8192, 128])\ns = matmul(r, k, transpose_b=true)",
            3,
        ),
        (
            "input x : bf16[4, 512, 1024]\nweight a : bf16[1024, 1024]\nweight b : bf16[512, 64]\nh = linear(x, a)\nh4 = reshape(h, shape=[4, 512, 16, 64])\nt = transpose(h4, perm=[0, 2, 3, 1])\nr = reshape(t, shape=[4096, 512])\no = matmul(r, b)",
            3,
        ),
    ]);
}

#[test]
fn masks_are_no_part_of_an_index() {
    check(&[
        (
            "input x : f32[512, 3, 128]\nweight w : f32[3, 512, 129]\np = pad(x, pad=[1, 0])\nt = transpose(p, perm=[1, 0, 2])\na = maximum(t, w)\nn = layer_norm(p)",
            1,
        ),
        (
            "input x : f32[4096, 3]\np = pad(x, pad=[1, 0])\ns = sum(p, axis=1)\nm = min(x, axis=1)",
            1,
        ),
        (
            "input x : f32[64, 48, 128]\np = pad(x, pad=[1, 1, 2, 0])\na = relu(p)\nt = transpose(p)\nb = exp(t)",
            1,
        ),
        // Of the nine elements of a window the middle one is that of the image.
        (
            "input x : f32[4, 32, 56, 56]\np = max_pool2d(x, kernel=3, stride=1, padding=1)\ny = sub(x, p)\nm = avg_pool2d(x, kernel=3, stride=1, padding=1)\nz = exp(m)",
            1,
        ),
        (
            "input x : f16[7, 48, 768]\ninput y : f16[7, 48, 768]\nc = concat(x, y, axis=0)\nn = softmax(c)\nr = reshape(c, shape=[14, 48, 16, 48])\nz = exp(r)",
            1,
        ),
        (
            "input x : f16[7, 48, 768]\ninput y : f16[7, 48, 768]\nc = concat(x, y, axis=0)\nt = transpose(c, perm=[1, 2, 0])\nr = relu(t)\nz = exp(c)",
            1,
        ),
        (
            "input x : f32[512, 64]\ninput y : f32[512, 64]\nc = concat(x, y, axis=1)\na = relu(c)\nd = concat(x, y, axis=1)\nb = exp(d)",
            1,
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
fn ops_are_lowered_right_before_their_first_reader() {
    check(&[
        // The transpose, a result, moves before the sum, which then reads the written softmax.
        (
            "input x : f32[4096, 7]\nweight w : f32[8, 512]\na = softmax(x)\ns = sum(a, axis=1)\nc = concat(x, s, axis=1)\nt = transpose(a)\ny = matmul(c, w)\noutput c",
            4,
        ),
    ]);
}

#[test]
fn a_view_of_what_is_written_row_by_row_is_copied() {
    let given = "input x : f32[128, 2048]\nt = transpose(x)\na = sigmoid(t)\n";
    let cases = [
        // A result keeps its own layout.
        ("s = slice(a, axis=1, start=0, end=64)\noutput a", 1),
        ("s = slice(a, axis=1, start=0, end=64)\nu = transpose(s)", 2),
        // The copy runs over the same loops in another order.
        ("u = transpose(a)", 1),
        ("u = transpose(a)\nr = reshape(u, shape=[262144])", 2),
    ];
    for (views, expected) in cases {
        check(&[(&[given, views].concat(), expected)]);
    }
}

#[test]
fn loops_that_took_an_order_keep_it() {
    check(&[
        // In the order of the softmax, its elements share no index with the flat kernel.
        (
            "input x : f32[32, 2, 512]\nn = log_softmax(x, axis=0)\ns = silu(n)\nr = reshape(x, shape=[32, 1024])\ne = exp(r)",
            2,
        ),
    ]);
}

/// A concatenation of four pieces counts enough instructions to be written, if each piece is
/// computed. A sum of what is written reads whole rows.
#[test]
fn a_concatenation_of_four_computed_pieces_is_a_buffer() {
    let quarters = |image: &str, pieces: usize| {
        let starts = [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().take(pieces);
        let cut = starts.enumerate().map(|(at, (row, column))| {
            format!(
                "r{at} = slice({image}, start={row}, step=2, axis=1)\nq{at} = slice(r{at}, start={column}, step=2, axis=2)\n"
            )
        });
        let cut: String = cut.collect();
        let names: Vec<String> = (0..pieces).map(|at| format!("q{at}")).collect();
        format!(
            "{cut}c = concat({}, axis=3)\ny = sum(c, axis=3)",
            names.join(", ")
        )
    };
    let image = "input x : f32[8, 56, 56, 96]\n";
    let half = "input h : bf16[8, 56, 56, 96]\nd = cast(h, dtype=f32)\n";
    let doubled = format!("{image}d = mul(x, 2)\n");
    check(&[
        (&format!("{half}{}", quarters("d", 4)), 1),
        (&format!("{doubled}{}", quarters("d", 4)), 1),
        (&format!("{doubled}{}", quarters("d", 3)), 2),
        (&format!("{image}{}", quarters("x", 4)), 2),
    ]);
}
