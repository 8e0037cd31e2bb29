//! How many values of an expression torch.compile computes again in each reader. The lengths are
//! those of TorchInductor 2.11, by its own lowering: one more step, and the value is written.

use crate::inductor_measured::{DEFAULT, options};
use crate::inductor_smallest::check;
use fuseline_core::analyze_program;
use fuseline_core::notation::parse;
use std::fmt::Write;

/// Whether the second of two readers, behind a matmul, computes a chain of these steps again.
fn is_computed_again(step: &str, length: usize) -> bool {
    let mut text = "input a : f32[256, 256]\ninput w : f32[256, 256]\n".to_owned();
    let mut last = "a".to_owned();
    for at in 0..length {
        writeln!(
            text,
            "g{at} = {}",
            step.replacen("(x", &format!("({last}"), 1)
        )
        .unwrap();
        last = format!("g{at}");
    }
    let text =
        format!("{text}q = relu({last})\nm = matmul(q, w)\nn = matmul(m, w)\ny = sub(n, {last})");
    let parsed = parse(&text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    let partition = outcome.analysis.unwrap().partition;
    partition.recomputed.iter().any(|ops| !ops.is_empty())
}

#[test]
fn a_function_counts_its_values_and_its_constants_once() {
    for (step, longest) in [
        ("neg(x)", 29),
        ("square(x)", 29),
        ("mul(x, 3)", 28),
        ("maximum(x, 3)", 28),
        ("pow(x, 3)", 14),
        ("clamp(x, min=0.5, max=2.5)", 13),
        ("softsign(x)", 9),
        ("leaky_relu(x)", 9),
        ("silu(x)", 7),
        ("softplus(x)", 7),
        ("log_sigmoid(x)", 4),
        ("hardsigmoid(x)", 6),
        ("gelu_erf(x)", 5),
        ("elu(x)", 5),
        ("hardswish(x)", 5),
        ("selu(x)", 4),
        ("mish(x)", 4),
        ("gelu(x)", 2),
    ] {
        assert!(is_computed_again(step, longest), "{step}");
        assert!(!is_computed_again(step, longest + 1), "{step}");
    }
}

/// The rotary embedding of a normalized key counts 32 values, so it is written before a cache and
/// its heads are joined.
#[test]
fn a_large_expression_of_several_tensors_is_written_for_one_reader() {
    check(&[(
        "input q : bf16[4, 2, 4, 1, 32]\ninput p : bf16[4, 2, 511, 32]\ninput k : bf16[4, 2, 1, 32]\ninput c : bf16[4, 1, 1, 32]\ninput s : bf16[4, 1, 1, 32]\ninput w : bf16[32]\nf = cast(k, dtype=f32)\ng = square(f)\nh = mean(g, axis=3, keepdim=true)\ni = add(h, 1e-6)\nj = rsqrt(i)\nl = mul(f, j)\nm = cast(l, dtype=bf16)\nn = mul(m, w)\no = mul(n, c)\na = slice(n, start=0, end=16, axis=3)\nb = slice(n, start=16, end=32, axis=3)\nd = neg(b)\nr = concat(d, a, axis=3)\nt = mul(r, s)\nu = add(o, t)\nv = concat(p, u, axis=2)\ne = reshape(v) : bf16[4, 2, 1, 512, 32]\nx = expand(e) : bf16[4, 2, 4, 512, 32]\ny = transpose(x, perm=[0, 1, 2, 4, 3])\nz = matmul(q, y)",
        4,
    )]);
}

/// The angles of a rotary embedding, twice side by side as in models of Hugging Face, are read
/// where they lie, so that the copy of the key for its heads computes the embedding.
#[test]
fn copies_of_one_tensor_side_by_side_are_a_broadcast() {
    let list = |angles: &str| {
        format!(
            "input l : bf16[2, 400, 2, 64]\n{angles}\ninput q : bf16[2, 14, 400, 64]\n\
             k = transpose(l, perm=[0, 2, 1, 3])\nco = cos(e)\nc = cast(co, dtype=bf16)\n\
             cs = reshape(c, shape=[2, 1, 400, 64])\nsi = sin(e)\ns = cast(si, dtype=bf16)\n\
             ss = reshape(s, shape=[2, 1, 400, 64])\na = mul(k, cs)\nu = slice(k, start=32, end=64, axis=3)\n\
             n = neg(u)\nv = slice(k, start=0, end=32, axis=3)\nh = concat(n, v, axis=3)\nb = mul(h, ss)\n\
             r = add(a, b)\nw = reshape(r, shape=[2, 2, 1, 400, 64])\nx = expand(w) : bf16[2, 2, 7, 400, 64]\n\
             y = contiguous(x)\nz = reshape(y, shape=[2, 14, 400, 64])\no = matmul(q, z, transpose_b=true)"
        )
    };
    let given = "input e : f32[2, 400, 64]";
    let twice = "input f : f32[2, 400, 32]\ne = concat(f, f, axis=2)";
    let of_two = "input f : f32[2, 400, 32]\ninput g : f32[2, 400, 32]\ne = concat(f, g, axis=2)";
    check(&[(&list(given), 2), (&list(twice), 2), (&list(of_two), 3)]);
}

/// A value that counts much is written before it is repeated, however the program says so.
#[test]
fn what_is_repeated_is_written_as_what_is_broadcast() {
    let list = |again: &str| {
        format!(
            "input x : f32[4, 1, 256]\na = gelu(x)\nb = gelu(a)\nc = gelu(b)\n{again}\nz = neg(y)"
        )
    };
    check(&[
        (&list("y = repeat(c, times=[1, 8, 1])"), 2),
        (&list("y = repeat_interleave(c, times=8, axis=1)"), 2),
        (&list("y = concat(c, c, c, c, axis=1)"), 2),
        (&list("y = expand(c) : f32[4, 8, 256]"), 2),
        (&list("y = relu(c)"), 1),
    ]);
}

/// A rotary embedding loads its input for itself and either half for the other one, so it counts
/// five loads, which is too many to be computed by each reader.
#[test]
fn a_rotary_embedding_loads_its_input_three_times() {
    let key = "input k : bf16[2, 8, 512, 128]\ninput c : bf16[512, 128]\ninput s : bf16[512, 128]\nr = rotary(k, c, s)";
    let list = |readers: &str| format!("{key}\n{readers}");
    let repeated = "input q : bf16[2, 32, 512, 128]\na = reshape(r) : bf16[2, 8, 1, 512, 128]\nb = expand(a, shape=[2, 8, 4, 512, 128])\nd = reshape(b) : bf16[2, 32, 512, 128]\nz = matmul(q, d, transpose_b=true)";
    let in_parts = "a = slice(r, start=0, end=256, axis=2)\nb = slice(r, start=256, end=512, axis=2)\ny = exp(a)\nz = neg(b)";
    check(&[
        (&list("z = neg(r)"), 1),
        (&list("input y : bf16[4, 2, 8, 512, 128]\nz = mul(r, y)"), 2),
        (&list(repeated), 3),
        (&list(in_parts), 3),
    ]);
}

/// A divergence of distributions counts 31 values, so that it is written before its sum. Without
/// the temperatures it counts 28: a scale is moved behind the subtraction of a softmax, and its
/// sign stays before it.
#[test]
fn a_loss_of_logarithms_is_written_before_its_sum() {
    let list = |scale: &str| {
        format!(
            "input a : bf16[512, 4096]\ninput b : bf16[512, 4096]\nc = cast(a, dtype=f32)\nd = {scale}\nl = log_softmax(d)\n\
             e = cast(b, dtype=f32)\nf = {}\np = softmax(f)\nx = xlogy(p, p)\nm = mul(p, l)\ns = sub(x, m)\ny = sum(s, axis=[0, 1], keepdim=false)",
            scale.replace('c', "e")
        )
    };
    check(&[
        (&list("div(c, 2)"), 3),
        (&list("mul(c, 0.5)"), 3),
        (&list("neg(c)"), 2),
    ]);
}

/// Two of them count 34 values in f32, and three conversions of the second in bf16.
#[test]
fn logarithms_of_sums_of_powers_are_long() {
    let list = |dtype: &str, second: &str| {
        format!(
            "input a : {dtype}[512, 4096]\ninput b : {dtype}[512, 4096]\ng = logaddexp(a, b)\nm = mul(a, b)\n{second}\ny = sum(h, axis=[0, 1], keepdim=false)"
        )
    };
    check(&[
        (&list("f32", "h = logaddexp(g, m)"), 3),
        (&list("bf16", "h = logaddexp(g, m)"), 3),
        (&list("f32", "h = maximum(g, m)"), 2),
        (&list("bf16", "h = maximum(g, m)"), 2),
    ]);
}

/// What an expand repeats is written if it counts too much for each copy, unless the expand says -1
/// for a size that it keeps: then the compiler counts no copies.
#[test]
fn an_expand_with_a_size_of_minus_one_computes_its_input_again() {
    let list = |shape: &str| {
        format!(
            "input k : bf16[2, 1, 1024, 64]\ninput y : bf16[2, 16, 1024, 64]\ninput c : bf16[1024, 64]\ninput s : bf16[1024, 64]\n\
             r = rotary(k, c, s)\ne = expand(r, shape={shape})\nz = mul(e, y)"
        )
    };
    check(&[
        (&list("[2, 16, 1024, 64]"), 2),
        (&list("[-1, 16, -1, -1]"), 1),
        (&list("[2, 16, -1, 64]"), 1),
        (&list("[2, 16, -1, -1]"), 1),
    ]);
}
