//! What kernels read and write of tensors that they see through views.

use fuseline_core::analysis::memory::lifetimes;
use fuseline_core::model::options::{Conventions, ReshapeCost};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program};
use strum::VariantArray;

/// Bytes that all kernels read, and that they write.
pub(crate) fn moved(text: &str, policy: Policy, reshape: ReshapeCost) -> [u64; 2] {
    let kernels = moved_by_kernel(text, policy, reshape);
    let all = kernels.iter();
    all.fold([0, 0], |[read, written], kernel| {
        [read + kernel[0], written + kernel[1]]
    })
}

/// Bytes that each kernel reads, and that it writes.
pub(crate) fn moved_by_kernel(text: &str, policy: Policy, reshape: ReshapeCost) -> Vec<[u64; 2]> {
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
    all.map(|kernel| [kernel.bytes_read(), kernel.bytes_written()])
        .collect()
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

/// The one token of a decoding step changes places with the heads: the transpose is a reshape.
#[test]
fn a_transpose_of_dimensions_of_size_1_counts_as_a_reshape() {
    let transposed = "\
param T = 1
input q : bf16[8, T, 32, 128]
input cos : bf16[8, 1, T, 128]
input sin : bf16[8, 1, T, 128]
weight w : bf16[128]
n = rms_norm(q, w)
t = transpose(n, perm=[0, 2, 1, 3])
y = rotary(t, cos, sin)
";
    let reshaped = transposed.replace(
        "transpose(n, perm=[0, 2, 1, 3])",
        "reshape(n, shape=[8, 32, T, 128])",
    );
    for &policy in Policy::VARIANTS {
        for &reshape in ReshapeCost::VARIANTS {
            let [transposed, reshaped] =
                [transposed, &reshaped].map(|text| moved_by_kernel(text, policy, reshape));
            assert_eq!(transposed, reshaped, "{policy:?} {reshape:?}");
        }
    }
    let kernels = |tokens: &str| {
        let text = transposed.replace("T = 1", tokens);
        moved_by_kernel(&text, Policy::Optimal, ReshapeCost::View).len()
    };
    assert_eq!((kernels("T = 1"), kernels("T = 2")), (1, 2));
}

/// Two equal slices, lookups or views are one read. Different slices share the rows of both.
#[test]
fn equal_parts_of_a_tensor_are_read_once() {
    const X: &str = "input x : f32[64, 1024]\n";
    let (row, index) = (4 * 1024, 64 * 8);
    #[rustfmt::skip]
    let cases = [
        ("a = slice(x, end=8, axis=0)\nb = slice(x, end=8, axis=0)", 8 * row),
        ("a = slice(x, end=8, axis=0)\nb = slice(x, start=8, end=16, axis=0)", 16 * row),
        ("a = slice(x, end=8, axis=0)\nb = slice(x, end=64, step=8, axis=0)", 15 * row),
        // A piece of a split is a slice.
        ("a = slice(x, end=8, axis=0)\nb = split(x, parts=8, index=0, axis=0)", 8 * row),
        ("a = slice(x, start=8, end=16, axis=0)\nb = split(x, parts=8, index=0, axis=0)", 16 * row),
        ("input i : i64[64, 1]\na = gather(x, i, axis=1)\nb = gather(x, i, axis=1)", 64 * 4 + index),
        ("input i : i64[64, 1]\ninput j : i64[64, 1]\na = gather(x, i, axis=1)\nb = gather(x, j, axis=1)", 2 * (64 * 4 + index)),
    ];
    for (parts, read) in cases {
        let text = format!("{X}{parts}\ny = div(a, b)\n");
        for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
            for &reshape in ReshapeCost::VARIANTS {
                let kernels = moved_by_kernel(&text, policy, reshape);
                assert_eq!(kernels.len(), 1, "{text} {policy:?} {reshape:?}");
                assert_eq!(kernels[0][0], read, "{text} {policy:?} {reshape:?}");
            }
        }
    }
    // Equal views of equal views.
    let views = "\
input x : f32[64, 1024]
a = reshape(x, shape=[128, 512])
b = reshape(x, shape=[128, 512])
c = slice(a, end=8, axis=0)
d = slice(b, end=8, axis=0)
y = div(c, d)
";
    for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
        assert_eq!(moved(views, policy, ReshapeCost::View)[0], 8 * 512 * 4);
    }
    // Without fusion each copy is memory of its own.
    let copies = moved_by_kernel(
        "input x : f32[64, 1024]\na = slice(x, end=8, axis=0)\nb = slice(x, end=8, axis=0)\ny = div(a, b)\n",
        Policy::None,
        ReshapeCost::Copy,
    );
    assert_eq!(
        copies,
        [[8 * row, 8 * row], [8 * row, 8 * row], [16 * row, 8 * row]]
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

/// What a library wrote is a buffer, in which torch.compile indexes the part that the next kernel
/// reads.
#[test]
fn a_library_call_writes_all_of_what_a_view_reads_a_part_of() {
    let product = "\
input x : f16[512, 256]
weight w : f16[256, 1024]
y = matmul(x, w)
";
    let attention = "\
input q : f16[2, 8, 256, 64]
input k : f16[2, 8, 256, 64]
input v : f16[2, 8, 256, 64]
y = sdpa(q, k, v)
";
    let (operands, result) = (2 * (512 * 256 + 256 * 1024), 2 * 512 * 1024);
    let (weights, heads) = (2 * 512 * 128, 2 * 2 * 8 * 256 * 64);
    let half = result / 2;
    #[rustfmt::skip]
    let cases: &[(&str, &str, &[[u64; 2]])] = &[
        (product, "s = slice(y, axis=0, end=256)\nr = relu(s)",
            &[[operands, result], [half, half]]),
        (product, "s = slice(y, axis=1, end=512)\nr = relu(s)",
            &[[operands, result], [half, half]]),
        (product, "s = slice(y, axis=1, start=512)\nr = relu(s)\noutput s",
            &[[operands, result], [half, half]]),
        (product, "s = slice(y, axis=1, end=512)",
            &[[operands, result]]),
        // The reader may be a library, too.
        (product, "s = slice(y, axis=1, end=512)\nweight v : f16[512, 128]\nr = matmul(s, v)",
            &[[operands, result], [half + weights, 2 * 512 * 128]]),
        // The part of a view.
        (product, "t = transpose(y)\ns = slice(t, axis=0, end=512)\nr = relu(s)",
            &[[operands, result], [half, half]]),
        // The views of a part.
        (product, "s = slice(y, axis=1, end=512)\nt = transpose(s)\nr = relu(t)",
            &[[operands, result], [half, half]]),
        (product, "s = slice(y, axis=1, end=512)\nh = reshape(s, shape=[512, 8, 64])\nt = transpose(h, perm=[1, 0, 2])\nr = softmax(t)",
            &[[operands, result], [half, half]]),
        (product, "h = reshape(y, shape=[512, 16, 64])\ns = slice(h, axis=2, end=32)\nt = transpose(s, perm=[1, 0, 2])\nr = softmax(t)",
            &[[operands, result], [half, half]]),
        (attention, "s = slice(y, axis=2, end=128)\nr = relu(s)",
            &[[3 * heads, heads], [heads / 2, heads / 2]]),
        (attention, "s = slice(y, axis=3, end=32)\nr = relu(s)",
            &[[3 * heads, heads], [heads / 2, heads / 2]]),
    ];
    for &(call, readers, expected) in cases {
        let text = format!("{call}{readers}\n");
        for &reshape in ReshapeCost::VARIANTS {
            let moved = moved_by_kernel(&text, Policy::Inductor, reshape);
            assert_eq!(moved, expected, "{text} {reshape:?}");
        }
    }
}

/// What no kernel writes under its own name stays on chip only if it is no index into a buffer.
#[test]
fn a_part_of_a_buffer_is_in_memory_and_has_none_of_its_own() {
    let text = "\
input x : f16[512, 256]
weight w : f16[256, 1024]
y = matmul(x, w)
s = slice(y, axis=1, end=512)
";
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(Policy::Inductor));
    let analysis = outcome.analysis.unwrap();
    let ops: Vec<_> = analysis.graph.ops.ids().collect();
    assert!(ops.iter().all(|&op| analysis.kept_on_chip(op).is_none()));
    let written = lifetimes(&analysis, &analysis.fused);
    let written = written.iter().map(|lifetime| lifetime.tensor);
    let names: Vec<_> = written
        .map(|tensor| analysis.graph.tensor_name(tensor))
        .collect();
    assert_eq!(names, ["x", "w", "y"]);
    // Unfused, the slice is a copy.
    assert_eq!(lifetimes(&analysis, &analysis.unfused).len(), 4);
}

/// Keys of a cache that heads share, repeated for each of them, and written in place before.
const REPEATED: &str = "\
e = reshape(k, shape=[8, 8, 1, 8192, 128])
f = expand(e, shape=[8, 8, 4, 8192, 128])
g = reshape(f, shape=[8, 32, 8192, 128])
s = matmul(q, g, transpose_b=true)
";

/// No strides show repeated keys as one head after the other, so the library reads a copy of them.
/// The copy reads the keys, and every product reads the copy.
#[test]
fn repeated_keys_are_copied_where_they_are_joined() {
    let given = "input q : bf16[8, 32, 1, 128]\ninput k : bf16[8, 8, 8192, 128]\n";
    let in_place = "\
input q : bf16[8, 32, 1, 128]
input c : bf16[8, 8, 8192, 128]
input at : i64[1]
input n : bf16[8, 8, 1, 128]
k = index_copy_(c, at, n, axis=2)
";
    let token = 2 * 8 * 8 * 128;
    let (keys, repeated) = (8192 * token, 4 * 8192 * token);
    let (queries, scores) = (2 * 8 * 32 * 128, 2 * 8 * 32 * 8192);
    let copy = [keys, repeated];
    let product = [queries + repeated, scores];
    let write = [token + 8, token];
    let twice = format!("{REPEATED}t = matmul(q, g, transpose_b=true)\n");
    for policy in [Policy::None, Policy::Inductor] {
        let of = |text: String, reshape| moved_by_kernel(&text, policy, reshape);
        let view = |text| of(text, ReshapeCost::View);
        assert_eq!(
            view(format!("{given}{REPEATED}")),
            [copy, product],
            "{policy:?}"
        );
        assert_eq!(
            view(format!("{given}{twice}")),
            [copy, product, product],
            "{policy:?}"
        );
        // What is written in place has views under both conventions.
        for &reshape in ReshapeCost::VARIANTS {
            let kernels = of(format!("{in_place}{REPEATED}"), reshape);
            assert_eq!(kernels, [write, copy, product], "{policy:?} {reshape:?}");
        }
    }
    // Kernels of their own read by strides.
    for policy in [Policy::Rules, Policy::Optimal] {
        let kernels = moved_by_kernel(&format!("{given}{REPEATED}"), policy, ReshapeCost::View);
        assert_eq!(kernels, [[queries + keys, scores]], "{policy:?}");
    }
}

/// The compiler lowers an op right before its first reader, so copies need not have the order of
/// the list.
#[test]
fn copies_count_in_any_order_of_the_list() {
    let values = "r = reshape(f, shape=[8, 32, 8192, 128])\n";
    let keys = "t = reshape(e, shape=[8, 32, 128, 8192])\n";
    let of = |[first, second]: [&str; 2]| {
        format!(
            "input q : bf16[8, 32, 1, 128]\ninput k : bf16[8, 8, 1, 128, 8192]\ninput v : bf16[8, 8, 1, 8192, 128]\n\
             e = expand(k, shape=[8, 8, 4, 128, 8192])\nf = expand(v, shape=[8, 8, 4, 8192, 128])\n{first}{second}\
             s = matmul(q, t)\no = matmul(s, r)\n"
        )
    };
    for reshape in ReshapeCost::VARIANTS {
        let [one, other] = [[keys, values], [values, keys]]
            .map(|order| moved(&of(order), Policy::Inductor, *reshape));
        assert_eq!(one, other, "{reshape:?}");
    }
}

/// A library reads a copy of an operand that no strides show: one launch, which reads the operand
/// and writes the copy, whether the views of the list count as copies or as free.
#[test]
fn torch_compile_copies_an_operand_once_under_both_conventions() {
    // Keys that heads share, repeated by hand.
    let repeated = "\
input k : bf16[8, 8, 8192, 128]
input q : bf16[8, 16, 1, 128]
k1 = reshape(k, shape=[8, 8, 1, 8192, 128])
k2 = expand(k1, shape=[8, 8, 2, 8192, 128])
k3 = reshape(k2, shape=[8, 16, 8192, 128])
s = matmul(q, k3, transpose_b=true)
";
    let (keys, copy) = (2 * 8 * 8 * 8192 * 128, 2 * 8 * 16 * 8192 * 128);
    let (queries, scores) = (2 * 8 * 16 * 128, 2 * 8 * 16 * 8192);
    // Batch dimensions that are broadcast in part.
    let expanded = "\
input q : bf16[8, 12, 4, 512]
input k : bf16[8, 1, 512, 4096]
e = expand(k, shape=[8, 12, 512, 4096])
s = matmul(q, e)
";
    let (one, all) = (2 * 8 * 512 * 4096, 2 * 8 * 12 * 512 * 4096);
    let (rows, products) = (2 * 8 * 12 * 4 * 512, 2 * 8 * 12 * 4 * 4096);
    for &reshape in ReshapeCost::VARIANTS {
        let moved = |text| moved(text, Policy::Inductor, reshape);
        assert_eq!(
            moved(repeated),
            [keys + copy + queries, copy + scores],
            "{reshape:?}"
        );
        assert_eq!(
            moved(expanded),
            [one + all + rows, all + products],
            "{reshape:?}"
        );
    }
}
