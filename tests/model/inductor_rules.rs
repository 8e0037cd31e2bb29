//! Rules of the compiler's recipe, each by the launches of a short list. The counts are those of
//! the scheduler of TorchInductor 2.11 for the same ops.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::notation::parse;
use fuseline_core::{Op, OpType, analyze_program, build_graph, plan};

fn launches(text: &str) -> usize {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap().fused.launches
}

fn check(cases: &[(&str, usize)]) {
    for &(text, expected) in cases {
        assert_eq!(launches(text), expected, "{text}");
    }
}

#[test]
fn small_sums_stay_apart_where_one_kernel_would_keep_their_inputs() {
    // Two sums in two halves each. The second halves share four bytes, and keep 383 or 128
    // elements.
    let two_means = |size: u64| {
        format!(
            "input x : f32[{size}]\ninput z : f32[{size}]\na = mean(x, keepdim=false)\nb = mean(z, keepdim=false)\ny = add(a, b)"
        )
    };
    assert_eq!(launches(&two_means(3_133_440)), 4);
    assert_eq!(launches(&two_means(1 << 20)), 3);
}

#[test]
fn the_bias_of_a_convolution_is_a_pointwise_op_behind_it() {
    let of = |rest: &str| {
        launches(&format!(
            "input x : bf16[16, 64, 56, 56]\nweight f : bf16[128, 64, 1, 1]\nweight b : bf16[128]\nc = conv2d(x, f, b)\n{rest}"
        ))
    };
    assert_eq!(of("output c"), 2);
    assert_eq!(of("y = relu(c)"), 2);
    // A pool of one buffer computes its input for each window, of two it reads it.
    assert_eq!(of("p = max_pool2d(c, kernel=2)"), 3);
    // The channels of an image lie side by side, so its mean is one of columns, in two halves.
    assert_eq!(of("m = mean(c, axis=[2, 3], keepdim=false)"), 3);
}

#[test]
fn each_piece_of_a_concatenation_is_fused_with_what_computes_it() {
    check(&[(
        "input x : f32[16, 1024, 64]\na = mean(x, axis=1, keepdim=false)\nv = var(x, axis=1, keepdim=false)\ns = sqrt(v)\ny = concat(a, s)",
        3,
    )]);
    // Row values are read through a concatenation as by any other op.
    check(&[(
        "input x : bf16[8, 512, 8, 64]\nweight g : bf16[64]\nn = rms_norm(x, g)\nh = transpose(n, perm=[0, 2, 1, 3])\n\
         b = slice(h, start=32)\nr = neg(b)\na = slice(h, end=32)\nc = concat(r, a)\ny = mul(c, 2)",
        1,
    )]);
}

#[test]
fn reductions_are_cut_as_the_compiler_cuts_them() {
    check(&[
        // A variance of few columns takes three kernels, beside a sum of the same columns four in
        // all.
        (
            "input x : f32[65536, 64]\na = mean(x, axis=0, keepdim=false)\nv = var(x, axis=0, keepdim=false)",
            4,
        ),
        // A sum of everything is cut into the rows of a softmax before it.
        (
            "input x : f32[8192, 1024]\ns = softmax(x)\np = pow(s, 2)\ny = sum(p, axis=[0, 1], keepdim=false)",
            2,
        ),
        // A value for each row, broadcast, makes the pieces of a single row look like columns: they
        // are cut again.
        (
            "input x : f32[1024, 1024]\ninput r : f32[1024]\nc = reshape(r, shape=[1024, 1])\nm = mul(x, c)\n\
             y = mean(m, axis=[0, 1], keepdim=false)",
            3,
        ),
        // Nothing is read whole, so nothing is cut.
        (
            "input a : f32[64, 1]\ninput b : f32[4096]\np = mul(a, b)\ny = sum(p)",
            1,
        ),
    ]);
}

#[test]
fn short_rows_are_written_out() {
    check(&[
        ("input x : f32[4096, 4]\ny = softmax(x)", 1),
        // From the fifth element on their maximum and sum are buffers, because each element would
        // compute them again.
        ("input x : f32[4096, 6]\ny = softmax(x)", 2),
    ]);
}

#[test]
fn libraries_lay_operands_out_anew() {
    // Neither rows nor columns lie side by side.
    let product = |perm: &str| {
        launches(&format!(
            "input x : bf16[256, 256, 128]\ninput w : bf16[128, 256, 256]\na = transpose(x, perm={perm})\ny = matmul(a, w)"
        ))
    };
    assert_eq!(product("[2, 0, 1]"), 2);
    // Three channels are padded to eight, in the image and in the filters; not in f32.
    let image = |dtype: &str| {
        launches(&format!(
            "input x : {dtype}[32, 3, 64, 64]\nweight f : {dtype}[64, 3, 3, 3]\ny = conv2d(x, f)"
        ))
    };
    assert_eq!(image("bf16"), 3);
    assert_eq!(image("f32"), 1);
}

#[test]
fn scans_in_pieces_that_share_a_kernel_wait_once() {
    let scans =
        "input x : f32[16, 4096]\na = cumsum(x)\nb = mul(x, 2)\nc = cumsum(b)\ny = add(a, c)";
    assert_eq!(
        launches(scans),
        launches("input x : f32[16, 4096]\na = cumsum(x)\ny = mul(a, 2)")
    );
}

#[test]
fn attention_patterns_want_the_keys_transposed() {
    let head = "input q : bf16[8, 1024, 64]\ninput v : bf16[8, 1024, 64]\n";
    let rest = "p = softmax(s)\ny = matmul(p, v)";
    let transposed =
        format!("{head}input k : bf16[8, 1024, 64]\ns = matmul(q, k, transpose_b=true)\n{rest}");
    assert_eq!(launches(&transposed), 1);
    let given = format!("{head}input k : bf16[8, 64, 1024]\ns = matmul(q, k)\n{rest}");
    assert_eq!(launches(&given), 3);
}

/// The kernel of the row values runs before that of the elements, which alone computes what scales
/// them.
#[test]
fn kernels_run_in_order_where_what_scales_a_short_norm_is_computed() {
    let ops = [
        Op::new("scale", OpType::Elementwise, &["x"], "scale", &[1], 1),
        Op::new("product", OpType::Matmul, &["x"], "product", &[5], 1),
        Op::new(
            "norm",
            OpType::Reduction,
            &["product", "scale"],
            "norm",
            &[5],
            1,
        ),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let kernel_of = plan(&graph, &options(DEFAULT)).partition.kernel_of;
    for op in graph.ops.ids() {
        for &producer in &graph.predecessors[op] {
            assert!(kernel_of[producer] <= kernel_of[op], "{kernel_of:?}");
        }
    }
}

#[test]
fn one_kernel_mark_states_a_call_of_attention() {
    let of = |mark: &str| {
        launches(&format!(
            "input q : f32[2, 8, 64, 64]\ninput k : f32[2, 8, 64, 64]\ninput v : f32[2, 8, 64, 64]\n\
             s = matmul(q, k, transpose_b=true){mark}\nc = div(s, 8){mark}\np = softmax(c){mark}\ny = matmul(p, v){mark}"
        ))
    };
    assert_eq!(of(" @kernel 1"), 1);
    assert_eq!(of(""), 3);
}

#[test]
fn what_is_summed_to_one_value_in_pieces_is_a_buffer_from_then_on() {
    check(&[
        (
            "input x : f32[4, 2, 524288]\nm = mul(x, x)\ns = sum(m, axis=1, keepdim=false)\ne = sqrt(s)\n\
             a = mean(e, axis=[0, 1], keepdim=false)\nl = gt(e, 3)\nf = cast(l, dtype=f32)\n\
             b = mean(f, axis=[0, 1], keepdim=false)\noutput a",
            5,
        ),
        // What is read by a quotient counts as another element at each place, so the first halves
        // fuse.
        (
            "input x : f32[2048, 2048]\nweight w : f32[2048, 2048]\ninput a : f32[2048]\ninput b : f32[2048]\n\
             p = matmul(x, w)\nq = matmul(w, x)\nc = reshape(a, shape=[2048, 1])\ns = add(c, b)\nt = sub(s, p)\n\
             e = exp(t)\nm = mean(e, axis=[0, 1], keepdim=false)\nu = sub(c, b)\nv = sub(u, q)\nf = exp(v)\n\
             n = mean(f, axis=[0, 1], keepdim=false)\ny = sub(m, n)",
            7,
        ),
    ]);
}

#[test]
fn a_place_in_a_concatenation_lies_across_its_axis() {
    check(&[(
        "input a : bf16[4096, 256]\ninput b : bf16[4096, 256]\nweight g : bf16[512]\nc = concat(a, b)\ny = layer_norm(c, g, g)",
        3,
    )]);
}

#[test]
fn a_pointwise_kernel_that_runs_over_tiles_keeps_a_reduction_apart() {
    check(&[
        (
            "input a : f32[64, 64, 64]\nt = transpose(a, perm=[0, 2, 1])\ns = add(a, t)\n\
             y = sum(s, axis=[1, 2], keepdim=false)\noutput s",
            2,
        ),
        // Tiles of whole rows do not.
        (
            "input a : f32[64, 64, 64]\nt = transpose(a, perm=[0, 2, 1])\ns = mul(t, 2)\ny = sum(s, keepdim=false)\noutput s",
            1,
        ),
    ]);
}

#[test]
fn a_result_whose_dimensions_are_cut_and_joined_is_a_copy() {
    let of = |shape: &str| {
        launches(&format!(
            "input x : bf16[4, 48, 48, 18]\ninput b : bf16[18]\na = add(x, b)\ny = reshape(a, shape={shape})"
        ))
    };
    assert_eq!(of("[4, 6912, 6]"), 2);
    assert_eq!(of("[4, 2304, 18]"), 1);
    assert_eq!(of("[4, 48, 48, 3, 6]"), 1);
    // Of the first dimensions with one after them, no quotient is left in the index.
    assert_eq!(of("[27648, 6]"), 1);
    assert_eq!(of("[16, 48, 12, 18]"), 2);
    assert_eq!(of("[2, 2, 6912, 6]"), 2);
    assert_eq!(of("[8, 24, 8, 6, 18]"), 2);
    let counts = [
        (
            "input x : bf16[128, 128]\ny = mul(x, 2)\nz = reshape(y, shape=[64, 256])",
            1,
        ),
        (
            "input x : bf16[64, 96]\ny = softmax(x)\nz = reshape(y, shape=[48, 128])",
            1,
        ),
        // A library reads it in the same way.
        (
            "input x : f32[128, 128]\ninput w : f32[256, 32]\ny = mul(x, 2)\nz = reshape(y, shape=[64, 256])\nr = matmul(z, w)",
            2,
        ),
        (
            "input x : f32[4, 48, 18]\ninput w : f32[6, 32]\ny = mul(x, 2)\nz = reshape(y, shape=[4, 144, 6])\nr = matmul(z, w)",
            3,
        ),
        // The f8 scales of groups of 128 elements.
        (
            "input x : bf16[64, 512]\ny = reshape(x, shape=[256, 128])\na = abs(y)\nm = max(a, axis=1)\nq = div(y, m)\n\
             f = cast(q, dtype=f8e4m3)\ng = reshape(f, shape=[64, 512])\ns = reshape(m, shape=[64, 4])",
            1,
        ),
    ];
    check(&counts);
}

#[test]
fn a_linear_layer_of_a_transposed_input_is_a_batch_of_products() {
    check(&[
        (
            "input x : bf16[8, 64, 512]\nweight w : bf16[128, 64]\nweight b : bf16[128]\n\
             t = transpose(x, perm=[0, 2, 1])\ny = linear(t, w, b)",
            2,
        ),
        (
            "input x : bf16[8, 64, 512]\nweight w : bf16[128, 64]\nt = transpose(x, perm=[0, 2, 1])\ny = linear(t, w)",
            1,
        ),
        (
            "input x : bf16[8, 16, 32, 64]\nweight w : bf16[128, 64]\nt = transpose(x, perm=[0, 2, 1, 3])\ny = linear(t, w)",
            2,
        ),
    ]);
}

#[test]
fn a_norm_over_short_rows_has_row_values_of_their_own() {
    check(&[("input x : f32[1024, 4]\ny = layer_norm(x)", 2)]);
}

#[test]
fn a_group_norm_runs_as_a_norm_of_rows() {
    for (shape, rows, back) in [
        // Rows enough for the device, and rows that are cut into pieces.
        ("16, 512, 8, 8", "16, 32, 1024", "16, 512, 8, 8"),
        ("2, 320, 64, 64", "2, 32, 40960", "2, 320, 64, 64"),
    ] {
        let channels = shape.split(", ").nth(1).unwrap();
        let head = format!(
            "input x : bf16[{shape}]\nweight g : bf16[{channels}]\nweight b : bf16[{channels}]\nweight g4 : bf16[1, {channels}, 1, 1]\n"
        );
        let whole =
            format!("{head}n = group_norm(x, g, b, groups=32)\ny = silu(n)\nz = mul(y, g4)");
        let in_steps = format!(
            "{head}r = reshape(x, shape=[{rows}])\nm = layer_norm(r)\nn = reshape(m, shape=[{back}])\ny = silu(n)\nz = mul(y, g4)"
        );
        let count = |text: &str| {
            let program = parse(text).program;
            let outcome = analyze_program(&program, &options(DEFAULT));
            outcome.analysis.unwrap().fused.launches
        };
        assert_eq!(count(&whole), count(&in_steps), "{shape}");
    }
}

#[test]
fn images_of_another_size_are_inlined_and_large_windows_are_calls() {
    check(&[
        (
            "input x : bf16[2, 64, 32, 32]\ny = interpolate(x, times=2)\nz = relu(y)",
            1,
        ),
        (
            "input x : bf16[2, 64, 32, 32]\na = relu(x)\ny = interpolate(a, size=48, mode=bilinear)\nz = relu(y)",
            1,
        ),
        (
            "input x : bf16[2, 64, 32, 32]\nweight f : bf16[64, 64, 3, 3]\nc = conv2d(x, f, padding=1)\nu = interpolate(c, times=2)\ny = conv2d(u, f, padding=1)",
            3,
        ),
        (
            "input x : bf16[2, 64, 12, 12]\ny = adaptive_avg_pool2d(x, size=6)\nz = relu(y)",
            1,
        ),
        (
            "input x : bf16[2, 64, 7, 7]\ny = adaptive_avg_pool2d(x, size=3)\nz = relu(y)",
            1,
        ),
        // Windows of 64 elements.
        (
            "input x : bf16[2, 64, 64, 64]\ny = adaptive_avg_pool2d(x, size=8)\nz = relu(y)",
            2,
        ),
        (
            "input x : bf16[2, 64, 64, 64]\ny = max_pool2d(x, kernel=8)\nz = relu(y)",
            2,
        ),
    ]);
    let whole = "input x : bf16[2, 2048, 7, 7]\n";
    assert_eq!(
        launches(&format!(
            "{whole}a = relu(x)\ny = adaptive_avg_pool2d(a, size=1)"
        )),
        launches(&format!("{whole}a = relu(x)\ny = mean(a, axis=[2, 3])")),
    );
}

#[test]
fn sorts_and_scatters_are_kernels_of_their_own() {
    check(&[
        // The softmax, the call, and what the places pick.
        (
            "input x : f32[512, 8]\np = softmax(x)\ni = topk_indices(p, count=2)\nw = gather(p, i)\ny = mul(w, 2)",
            3,
        ),
        (
            "input x : f32[4096]\na = neg(x)\ny = sort(a)\nz = relu(y)",
            3,
        ),
        // Of an input a copy is written, of a value that nobody else reads the value itself.
        (
            "input x : f32[64, 8]\ninput i : i64[16]\ninput s : f32[16, 8]\ny = index_add(x, i, s, axis=0)",
            2,
        ),
        (
            "input x : f32[64, 8]\ninput i : i64[16]\ninput s : f32[16, 8]\na = relu(x)\ny = index_add(a, i, s, axis=0)",
            2,
        ),
        (
            "input x : f32[64, 8]\ninput i : i64[16]\na = relu(x)\ny = index(a, i)\nz = mul(y, 2)",
            1,
        ),
    ]);
}

#[test]
fn a_sort_of_short_rows_is_generated() {
    check(&[
        (
            "input x : f32[64, 512]\ny = exp(x)\ni = argsort(y)\nv = sort(y)\nz = mul(v, 2)\ns = sum(z, axis=1)",
            1,
        ),
        (
            "input x : f32[64, 128]\ni = sort(x, axis=0)\nz = mul(i, 2)",
            1,
        ),
        // Tokens in the order of their experts.
        (
            "input x : i64[128]\ninput a : f32[128]\ni = argsort(x)\ng = index(a, i)\nf = floor_divide(i, 2)",
            1,
        ),
        (
            "input x : f32[64, 1024]\ny = exp(x)\ni = argsort(y)\nz = mul(i, 2)",
            3,
        ),
    ]);
}
