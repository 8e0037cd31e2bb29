//! What a kernel computes for itself alone, it computes where its readers ask for it.

use crate::view_bytes::moved;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, ReshapeCost, analyze_program};
use strum::VariantArray;

fn compiled(text: &str) -> Analysis {
    compiled_with(text, ReshapeCost::default())
}

fn compiled_with(text: &str, reshape: ReshapeCost) -> Analysis {
    let mut options = Options::of_policy(Policy::Inductor);
    options.conventions.reshape = reshape;
    let outcome = analyze_program(&parse(text).program, &options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

/// torch.compile launches a reduction of the logits, and a kernel that reads of them one element
/// for each label.
#[test]
fn a_loss_reads_its_logits_once() {
    const LOSS: &str = "\
input logits : bf16[4096, 128256]
input labels : i64[4096, 1]
wide = cast(logits, dtype=f32)
l = log_softmax(wide)
picked = gather(l, labels, axis=1)
n = neg(picked)
loss = mean(n, axis=[0, 1])
";
    let analysis = compiled(LOSS);
    let [statistics, loss] = analysis.fused.kernels.as_slice() else {
        panic!("two kernels");
    };
    let logits = 4096 * 128_256 * 2;
    assert_eq!(statistics.bytes_read, logits);
    // One logit of 2 bytes and one label of 8 bytes for each token.
    assert_eq!(loss.bytes_read, 4096 * (2 + 8));
    // A cast, 5 FLOPs of log_softmax, the sign and the sum.
    assert_eq!(loss.work.flops(), 4096 * (1 + 5 + 1 + 1));
}

/// Views before and behind the softmax, up to the logits of a causal language model, which are cut
/// and joined.
#[test]
fn a_loss_reads_one_logit_for_each_label_through_views() {
    // The ops up to the log-softmax of 256 rows of 4,096 logits, and the FLOPs that the second
    // kernel has for each label.
    #[rustfmt::skip]
    let cases: &[(&str, u128)] = &[
        ("input x : bf16[4, 65, 4096]\ns = slice(x, end=64, axis=1)\nk = contiguous(s)\nr = reshape(k, shape=[256, 4096])\nc = cast(r, dtype=f32)\nl = log_softmax(c, axis=1)", 1 + 5 + 1),
        ("input x : bf16[4, 65, 4096]\ns = slice(x, end=64, axis=1)\nr = reshape(s, shape=[256, 4096])\nc = cast(r, dtype=f32)\nl = log_softmax(c, axis=1)", 1 + 5 + 1),
        ("input x : bf16[4096, 256]\ne = neg(x)\nt = transpose(e, perm=[1, 0])\nl = log_softmax(t, axis=1)", 1 + 5 + 1),
        ("input x : bf16[4, 64, 4096]\nc = cast(x, dtype=f32)\nm = log_softmax(c, axis=2)\nl = reshape(m, shape=[256, 4096])", 1 + 5 + 1),
        ("input x : bf16[65, 4, 4096]\nc = cast(x, dtype=f32)\nm = log_softmax(c, axis=2)\nt = transpose(m, perm=[1, 0, 2])\ns = slice(t, start=1, axis=1)\nk = contiguous(s)\nl = reshape(k, shape=[256, 4096])", 1 + 5 + 1),
    ];
    for &(logits, flops) in cases {
        let text = format!(
            "input y : i64[256, 1]\n{logits}\ng = gather(l, y, axis=1)\nn = sum(g, axis=0)"
        );
        for &reshape in ReshapeCost::VARIANTS {
            let analysis = compiled_with(&text, reshape);
            let [_, loss] = analysis.fused.kernels.as_slice() else {
                panic!("two kernels: {text}");
            };
            assert_eq!(loss.bytes_read, 256 * (2 + 8), "{text} {reshape:?}");
            assert_eq!(loss.work.flops(), 256 * flops, "{text} {reshape:?}");
        }
    }
}

/// A reader of all elements needs all, whatever another one takes.
#[test]
fn a_reader_of_the_whole_decides() {
    const TEXT: &str = "\
input x : f32[1024, 4096]
e = exp(x)
s = sum(e, axis=0)
a = slice(e, end=64, axis=1)
b = neg(a)
";
    let analysis = compiled(TEXT);
    let whole = 1024 * 4096 * 4;
    let reads: Vec<u64> = (analysis.fused.kernels.iter())
        .map(|kernel| kernel.bytes_read)
        .collect();
    assert_eq!(reads, [whole, whole / 64], "{reads:?}");
}

/// Each of two kernels computes the half that its own slice names, also the first.
#[test]
fn two_kernels_compute_a_half_each() {
    const TEXT: &str = "\
input x : f32[64, 1024]
m = tanh(x)
a = slice(m, start=0, end=512, axis=1)
b = mul(a, 2)
c = slice(m, start=512, end=1024, axis=1)
e = relu(c)
";
    let analysis = compiled(TEXT);
    let reads: Vec<u64> = (analysis.fused.kernels.iter())
        .map(|kernel| kernel.bytes_read)
        .collect();
    assert_eq!(reads, [64 * 512 * 4; 2]);
}

/// What one kernel alone computes and need not write, it computes where it is read, as
/// torch.compile inlines it: of a quantised table the rows that are looked up, with their scales.
#[test]
fn one_kernel_alone_computes_what_its_readers_take() {
    const X: &str = "input x : f32[64, 1024]\n";
    const TABLE: &str = "weight q : i8[128256, 4096]\ninput ids : i64[8]\n";
    let (row, whole) = (4 * 1024, 64 * 4 * 1024);
    #[rustfmt::skip]
    let cases: &[(&str, &str, u64, u128)] = &[
        (TABLE, "weight s : bf16[128256, 1]\nw = dequantize(q, s)\ne = embedding(ids, w)\ny = mul(e, 2)",
            8 * 4096 + 8 * 2 + 8 * 8, 8 * 4096 * (2 + 1)),
        (TABLE, "weight s : bf16[128256, 32]\nw = dequantize(q, s)\ne = embedding(ids, w)\ny = mul(e, 2)",
            8 * 4096 + 8 * 32 * 2 + 8 * 8, 8 * 4096 * (2 + 1)),
        // Ops that one look-up asks for read and compute the same rows.
        (TABLE, "m = sigmoid(q)\nw = mul(q, m)\ne = embedding(ids, w)\ny = relu(e)", 8 * 4096 + 8 * 8, 8 * 4096 * (4 + 1 + 1)),
        // Scales of blocks of a table that a reshape joins to rows, or splits from them.
        ("input i : i64[16]\nweight q : i8[32000, 8, 128]\nweight s : bf16[32000, 8, 1]\n",
            "w = mul(q, s)\nr = reshape(w, shape=[32000, 1024])\ne = embedding(i, r)\ny = relu(e)",
            16 * 1024 + 16 * 8 * 2 + 16 * 8, 2 * 16 * 1024),
        ("input i : i64[16]\nweight q : i8[1000, 32, 1024]\nweight s : bf16[1000, 1, 1024]\n",
            "w = mul(q, s)\nr = reshape(w, shape=[32000, 1024])\ne = embedding(i, r)\ny = relu(e)",
            16 * 1024 + 16 * 1024 * 2 + 16 * 8, 2 * 16 * 1024),
        (X, "a = neg(x)\nb = slice(a, end=8, axis=0)\ny = relu(b)", 8 * row, 2 * 8 * 1024),
        // A slice of a slice, also through a transpose.
        (X, "a = slice(x, end=32, axis=0)\nb = neg(a)\nc = slice(b, end=8, axis=0)\ny = relu(c)", 8 * row, 2 * 8 * 1024),
        (X, "a = neg(x)\nb = slice(a, end=8, axis=0)\nt = transpose(b)\nc = slice(t, end=16, axis=0)\ny = relu(c)",
            8 * 16 * 4, 2 * 8 * 16),
        // Of a square, too, a transpose asks for columns, each of which meets all rows of `r`.
        ("input x : f32[1024, 1024]\ninput r : f32[1024, 1]\n", "a = mul(x, r)\nt = transpose(a)\nb = slice(t, end=8, axis=0)\ny = relu(b)",
            8 * row + 1024 * 4, 2 * 8 * 1024),
        // Two equal slices ask for the same rows.
        (X, "a = neg(x)\nb = slice(a, end=8, axis=0)\nc = slice(a, end=8, axis=0)\ny = mul(b, c)", 8 * row, 2 * 8 * 1024),
        // Of what is broadcast as many elements.
        (X, "input r : f32[64, 1]\ninput c : f32[1024]\na = mul(x, r)\nb = add(a, c)\nd = slice(b, end=8, axis=0)\ny = relu(d)",
            8 * row + 8 * 4 + row, 3 * 8 * 1024),
        // One element of a row for each index.
        (X, "input i : i64[64, 1]\na = neg(x)\ng = gather(a, i, axis=1)\ny = relu(g)",
            64 * (4 + 8), 2 * 64),
        // A look-up or a slice of what only moves elements: at most one of each operand.
        ("input w : f32[4096, 64]\ninput v : f32[64, 64]\ninput i : i64[16]\n", "c = concat(w, v, axis=0)\ne = embedding(i, c)\ny = relu(e)",
            2 * 16 * 64 * 4 + 16 * 8, 16 * 64),
        (X, "p = pad(x, pad=[1, 1])\nb = slice(p, end=8, axis=0)\ny = relu(b)", 8 * 1026 * 4, 8 * 1026),
        // The program returns all, which another kernel reads.
        (X, "a = neg(x)\nb = slice(a, end=8, axis=0)\ny = relu(b)\noutput a", whole + 8 * row, 0),
    ];
    for &(inputs, ops, read, flops) in cases {
        let text = format!("{inputs}{ops}\n");
        for &reshape in ReshapeCost::VARIANTS {
            let [bytes, _] = moved(&text, Policy::Inductor, reshape);
            assert_eq!(bytes, read, "{text} {reshape:?}");
        }
        let kernels = compiled(&text).fused.kernels;
        if let [kernel] = kernels.as_slice() {
            assert_eq!(kernel.work.flops(), flops, "{text}");
        }
        // Textbook rules keep FLOPs: each op is computed whole.
        let options = Options::of_policy(Policy::Rules);
        let analysis = analyze_program(&parse(&text).program, &options)
            .analysis
            .unwrap();
        let [fused, unfused] = [&analysis.fused, &analysis.unfused].map(|execution| {
            let flops = execution.kernels.iter().map(|kernel| kernel.work.flops());
            flops.sum::<u128>()
        });
        assert_eq!(fused, unfused, "{text}");
    }
}
