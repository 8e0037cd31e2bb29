//! What torch.compile computes into the operands of calls of attention and of products with scales.
//! Launches and bytes are those of TorchInductor 2.11, by its own lowering, scheduler and code.

use crate::inductor_measured::{DEFAULT, options};
use crate::inductor_smallest::analyzed;
use fuseline_core::analyze_program;
use fuseline_core::notation::parse;

const HEADS: &str = "input q : bf16[4, 8, 64, 32]\ninput b : bf16[4, 8, 64, 32]\ninput k : bf16[4, 8, 64, 32]\ninput v : bf16[4, 8, 64, 32]\n";

fn check(cases: &[(&str, usize, u64)]) {
    for &(text, launches, total) in cases {
        let fused = analyzed(text).fused;
        let moved = (fused.launches, fused.traffic.total);
        assert_eq!(moved, (launches, total), "{text}");
    }
}

#[test]
fn a_view_of_what_no_buffer_holds_is_copied_alone() {
    let of_one = "input q : bf16[4, 8, 16, 32]\ninput a : bf16[8, 8, 64, 32]\nx = mul(a, 2)\nk = slice(x, start=0, end=4, axis=0)\nv = slice(x, start=4, end=8, axis=0)\ny = sdpa(q, k, v)";
    let and_more = format!("{of_one}\nz = add(x, 1)");
    let by_token = HEADS
        .replace("q : bf16[4, 8, 64", "q : bf16[4, 64, 8")
        .replace("b : bf16[4, 8, 64", "b : bf16[4, 64, 8");
    let transposed = "t = transpose(q2, perm=[0, 2, 1, 3])\ny = sdpa(t, k, v)\n";
    let turned_back = "r = transpose(y, perm=[0, 2, 1, 3])\nz = add(q2, r)";
    let read_again = format!("{by_token}q2 = mul(q, b)\n{transposed}{turned_back}");
    let in_f32 = of_one.replace("bf16", "f32");
    check(&[
        (of_one, 3, 851_968),
        (&in_f32, 3, 2 * 851_968),
        (&and_more, 4, 1_376_256),
        // A reader after the call computes the value again.
        (&read_again, 3, 1_441_792),
        // Two calls read one buffer.
        (
            &format!("{by_token}q2 = mul(q, b)\n{transposed}w = sdpa(t, v, k)"),
            3,
            1_441_792,
        ),
        // Pieces of a packed projection whose bias is a pointwise op.
        (
            "input p : bf16[4, 64, 1536]\na = mul(p, 2)\nr = reshape(a) : bf16[4, 64, 3, 8, 64]\nt = transpose(r, perm=[2, 0, 3, 1, 4])\ns = slice(t, start=0, end=1, axis=0)\nm = slice(t, start=1, end=2, axis=0)\nn = slice(t, start=2, end=3, axis=0)\nq = reshape(s) : bf16[4, 8, 64, 64]\nk = reshape(m) : bf16[4, 8, 64, 64]\nv = reshape(n) : bf16[4, 8, 64, 64]\ny = sdpa(q, k, v)",
            4,
            2_621_440,
        ),
        // The keys of a group of heads.
        (
            "input q : bf16[4, 8, 64, 32]\ninput k : bf16[4, 2, 64, 32]\ninput v : bf16[4, 8, 64, 32]\na = mul(k, 2)\nr = reshape(a) : bf16[4, 2, 1, 64, 32]\ne = expand(r) : bf16[4, 2, 4, 64, 32]\nh = reshape(e) : bf16[4, 8, 64, 32]\ny = sdpa(q, h, v)",
            2,
            688_128,
        ),
    ]);
}

#[test]
fn an_operand_that_reads_one_tensor_is_computed_by_each_reader() {
    let cast = HEADS.replace("q : bf16", "q : f32");
    let cast = cast.replace("input b : bf16[4, 8, 64, 32]\n", "");
    let call = "y = sdpa(x, k, v)\nz = add(x, y)";
    check(&[
        (
            &format!("{cast}x = cast(q, dtype=bf16)\n{call}"),
            3,
            1_441_792,
        ),
        // Of several tensors it is written once.
        (&format!("{HEADS}x = mul(q, b)\n{call}"), 3, 1_310_720),
    ]);
}

/// An H200 launched as many, where cuDNN reads the numbers.
#[test]
fn each_call_of_attention_has_the_numbers_of_its_mask() {
    let heads = "input q : bf16[2, 8, 128, 64]\ninput k : bf16[2, 8, 128, 64]\ninput v : bf16[2, 8, 128, 64]\n";
    let calls = "y = sdpa(q, k, v, m)\nz = sdpa(y, k, v, m)";
    let of_two = |mask: &str| format!("{heads}{mask}\n{calls}");
    let positions = "at = arange() : i64[128]\nr = reshape(at) : i64[128, 1]\nc = reshape(at) : i64[1, 128]\nd = sub(r, c)\nm = lt(d, 32)";
    let compared = "input a : f32[128, 128]\nm = gt(a, 0)";
    check(&[
        (&of_two(compared), 3, 2_293_760),
        // The caller gets the mask, too.
        (&format!("{}\noutput m", of_two(compared)), 3, 2_310_144),
        // What shares no input is a kernel for each call.
        (&of_two(positions), 4, 2_228_224),
        // Repeated for each sequence of the batch.
        (
            &of_two(
                "input a : f32[128, 128]\ng = gt(a, 0)\nr = reshape(g) : bool[1, 1, 128, 128]\nm = expand(r) : bool[2, 1, 128, 128]",
            ),
            3,
            2_424_832,
        ),
        // In a buffer already.
        (&of_two("input m : bool[128, 128]"), 3, 2_244_608),
        (&of_two("input m : bool[2, 1, 128, 128]"), 3, 2_392_064),
        (
            &of_two(
                "input a : f32[128, 128]\ninput b : f32[128, 128]\ninput c : f32[128, 128]\ninput d : f32[128, 128]\ninput e : f32[128, 128]\ns = add(a, b)\nt = add(s, c)\nu = add(t, d)\nx = add(u, e)\nm = gt(x, 0)",
            ),
            3,
            2_555_904,
        ),
        // Slices of one computed mask.
        (
            &format!(
                "{heads}input a : f32[512, 128]\ng = gt(a, 0)\nm = slice(g, start=0, end=128, axis=0)\nn = slice(g, start=128, end=256, axis=0)\ny = sdpa(q, k, v, m)\nz = sdpa(y, k, v, n)"
            ),
            4,
            2_359_296,
        ),
    ]);
}

#[test]
fn each_operand_has_a_copy_of_its_own() {
    let keys = "input q : bf16[4, 8, 64, 32]\ninput a : bf16[4, 64, 8, 32]\nx = mul(a, 2)\nt = transpose(x, perm=[0, 2, 1, 3])";
    let second = "input p : bf16[4, 8, 64, 32]\ninput v : bf16[4, 8, 64, 32]";
    check(&[
        // One tensor as K and V.
        (&format!("{keys}\ny = sdpa(q, t, t)"), 2, 917_504),
        (
            &format!("{keys}\n{second}\ny = sdpa(q, t, v)\nz = sdpa(p, t, v)"),
            3,
            1_441_792,
        ),
        (
            &format!("{keys}\n{second}\ny = sdpa(q, t, t)\nz = sdpa(p, t, v)"),
            3,
            1_572_864,
        ),
    ]);
}

/// Both halves of a stacked cache are read before the whole is copied back.
#[test]
fn a_call_reads_copies_of_both_halves_of_a_stacked_cache() {
    let written = "input c : bf16[2, 4, 2, 256, 32]\ninput k : bf16[1, 4, 2, 256, 32]\ninput v : bf16[1, 4, 2, 256, 32]\ninput q : bf16[4, 2, 1, 32]\nd = slice_scatter_(c, k, start=0, end=1, axis=0)\ne = slice_scatter_(d, v, start=1, end=2, axis=0)\n";
    let half = |at: u64| format!("slice(e, start={at}, end={}, axis=0)", at + 1);
    let read = format!(
        "m = {}\nn = {}\nK = reshape(m) : bf16[4, 2, 256, 32]\nV = reshape(n) : bf16[4, 2, 256, 32]\ny = sdpa(q, K, V)",
        half(0),
        half(1)
    );
    let parsed = parse(&format!("{written}{read}"));
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    assert_eq!(outcome.analysis.unwrap().fused.launches, 3);
    // As `kv[0].index_copy_(2, pos, k); kv[1].index_copy_(2, pos, v)` is exported.
    let rows = "input c : bf16[2, 4, 2, 256, 32]\ninput k : bf16[4, 2, 1, 32]\ninput v : bf16[4, 2, 1, 32]\ninput q : bf16[4, 2, 1, 32]\ninput at : i64[1]\na = slice(c, start=0, end=1, axis=0)\nb = reshape(a) : bf16[4, 2, 256, 32]\nf = index_copy_(b, at, k, axis=2)\ng = reshape(f, shape=[1, 4, 2, 256, 32])\nd = slice_scatter_(c, g, start=0, end=1, axis=0)\nh = slice(d, start=1, end=2, axis=0)\ni = reshape(h) : bf16[4, 2, 256, 32]\nj = index_copy_(i, at, v, axis=2)\nl = reshape(j, shape=[1, 4, 2, 256, 32])\ne = slice_scatter_(d, l, start=1, end=2, axis=0)\n";
    let parsed = parse(&format!("{rows}{read}"));
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    assert_eq!(outcome.analysis.unwrap().fused.launches, 7);
}

/// The operands of a product with scales have exact strides, so each product writes its own.
#[test]
fn each_product_with_scales_copies_what_no_buffer_holds() {
    let row = "input x : bf16[64, 2048]\nweight v : f8e4m3[2048, 2048]\nweight c : f32[1, 2048]\na = abs(x)\nm = max(a, axis=1, keepdim=true)\nf = cast(m, dtype=f32)\ns = div(f, 448)\nb = div(x, s)\nq = cast(b, dtype=f8e4m3)\nvt = transpose(v)\ny = scaled_matmul(q, vt, s, c) : bf16[64, 2048]";
    let two = format!(
        "{row}\nweight w : f8e4m3[512, 2048]\nweight d : f32[1, 512]\nwt = transpose(w)\nz = scaled_matmul(q, wt, s, d) : bf16[64, 512]"
    );
    // Blocks of 128: the quantized elements are computed in the loops of the operand, which are
    // not those of the maxima.
    let blocks = "input x : bf16[256, 4096]\nweight w : f8e4m3[2048, 4096]\nweight v : f32[16, 32]\nr = reshape(x) : bf16[256, 32, 128]\na = abs(r)\nm = max(a, axis=2, keepdim=false)\nf = cast(m, dtype=f32)\ns = div(f, 448)\ng = cast(r, dtype=f32)\nt = reshape(s) : f32[256, 32, 1]\nb = div(g, t)\nc = cast(b, dtype=f8e4m3)\nq = reshape(c) : f8e4m3[256, 4096]\nwt = transpose(w)\nvt = transpose(v)\ny = scaled_matmul(q, wt, s, vt) : bf16[256, 2048]";
    check(&[
        (row, 2, 4_989_440),
        (&two, 3, 6_368_256),
        (blocks, 3, 15_828_992),
    ]);
}
