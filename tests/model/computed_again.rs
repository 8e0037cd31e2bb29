//! What a kernel computes again, it computes where its readers ask for it.

use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program};

fn compiled(text: &str) -> Analysis {
    let options = Options::of_policy(Policy::Inductor);
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
