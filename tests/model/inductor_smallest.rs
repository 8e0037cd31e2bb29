//! The smallest forms of what the compiler's policy once had wrong. The counts are those of
//! TorchInductor 2.11; of the lists marked H200 the kernels also ran on one.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, analyze_program};

pub(crate) fn check(cases: &[(&str, usize)]) {
    for &(text, expected) in cases {
        assert_eq!(analyzed(text).fused.launches, expected, "{text}");
    }
}

pub(crate) fn analyzed(text: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
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

/// What is resampled is no pool: the compiler computes its elements where they are read, unless
/// each is read several times and costs more than that.
#[test]
fn what_is_resampled_is_computed_where_it_is_read() {
    let images = "input a : f32[2, 16, 32, 32]\ninput b : f32[2, 16, 32, 32]\ninput c : f32[2, 16, 32, 32]\ninput d : f32[2, 16, 32, 32]\ninput e : f32[2, 16, 32, 32]\nx = add(a, b)\nz = add(x, c)\nw = add(z, d)\nv = add(w, e)\n";
    let launches = |mode: &str| {
        let text = format!("{images}y = interpolate(v, size=[64, 64], mode={mode})");
        analyzed(&text).fused.launches
    };
    assert_eq!([launches("nearest"), launches("bilinear")], [1, 2]);
    let of_two = "input a : f32[2, 16, 32, 32]\ninput b : f32[2, 16, 32, 32]\nx = add(a, b)\ny = interpolate(x, times=2, mode=bilinear)\nz = relu(y)";
    assert_eq!(analyzed(of_two).fused.launches, 1);
}
