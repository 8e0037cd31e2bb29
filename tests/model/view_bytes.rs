//! What kernels read and write of tensors that they see through views.

use fuseline_core::model::options::{Conventions, ReshapeCost};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program};
use strum::VariantArray;

/// Bytes that all kernels read, and that they write.
fn moved(text: &str, policy: Policy, reshape: ReshapeCost) -> [u64; 2] {
    let options = Options {
        conventions: Conventions {
            reshape,
            ..Conventions::default()
        },
        ..Options::of_policy(policy)
    };
    let outcome = analyze_program(&parse(text).program, &options);
    assert_eq!(outcome.diagnostics, [], "{text}");
    let kernels = outcome.analysis.unwrap().fused.kernels;
    let all = kernels.iter().map(|kernel| &kernel.traffic);
    all.fold([0, 0], |[read, written], kernel| {
        [read + kernel.bytes_read(), written + kernel.bytes_written()]
    })
}

/// A tensor as a whole and by views, of rotated halves and of a transposed copy.
#[test]
fn one_kernel_reads_a_tensor_once_by_all_views() {
    let rotary = "\
input q : bf16[4, 32, 2048, 128]
input c : bf16[1, 1, 2048, 128]
input s : bf16[1, 1, 2048, 128]
a = slice(q, end=64, axis=3)
b = slice(q, start=64, axis=3)
n = neg(b)
r = concat(n, a, axis=3)
m = mul(q, c)
t = mul(r, s)
y = add(m, t)
";
    let angles = 2048 * 128 * 2;
    let heads = 4 * 32 * angles;
    let symmetric = "\
input x : bf16[4096, 4096]
t = transpose(x)
y = add(x, t)
";
    let matrix = 4096 * 4096 * 2;
    for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
        for &reshape in ReshapeCost::VARIANTS {
            let moved = |text| moved(text, policy, reshape);
            assert_eq!(moved(rotary), [heads + 2 * angles, heads], "{policy:?}");
            assert_eq!(moved(symmetric), [matrix, matrix], "{policy:?}");
        }
    }
    // Parts without the whole are as many bytes as they name.
    let ends = "\
input x : bf16[4096, 4096]
a = slice(x, end=8, axis=0)
b = slice(x, start=4088, axis=0)
y = add(a, b)
";
    let rows = 8 * 4096 * 2;
    assert_eq!(
        moved(ends, Policy::Rules, ReshapeCost::View),
        [2 * rows, rows]
    );
}

/// A cache with heads behind its keys, as models store it.
#[test]
fn a_view_of_a_cache_is_no_copy_of_it() {
    let text = "\
input cache : bf16[4, 1024, 512]
input position : i64[1]
input new : bf16[4, 1, 512]
input q : bf16[4, 16, 512]
k = index_copy_(cache, position, new, axis=1)
keys = transpose(k, perm=[0, 2, 1])
scores = matmul(q, keys)
";
    let row = 4 * 512 * 2;
    let (cache, query, scores) = (1024 * row, 16 * row, 4 * 16 * 1024 * 2);
    for &policy in Policy::VARIANTS {
        for &reshape in ReshapeCost::VARIANTS {
            let expected = [row + 8 + cache + query, row + scores];
            assert_eq!(moved(text, policy, reshape), expected, "{policy:?}");
        }
    }
}
