//! Which kernel of torch.compile an op, its bytes and its further launches count with, if several
//! kernels compute it or serve it.

use crate::inductor_measured::{DEFAULT, options};
use fuseline_core::analysis::device_model::cold_time;
use fuseline_core::model::bound::Bound;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, analyze_program};
use fuseline_view::present::kernels::kernel_rows;

fn compiled(text: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(DEFAULT));
    outcome.analysis.unwrap()
}

/// The name of a kernel, and the bytes that it reads and writes.
type Moved<'a> = (&'a str, [u64; 2]);

fn moved(analysis: &Analysis) -> Vec<(String, [u64; 2])> {
    let rows = kernel_rows(analysis, usize::MAX).into_iter();
    let kernels = analysis.fused.kernels.iter();
    rows.zip(kernels)
        .map(|(row, kernel)| (row.ops, [kernel.bytes_read, kernel.bytes_written]))
        .collect()
}

/// Statistics come first, elements second; the op is in the kernel that writes it.
#[test]
fn an_op_of_two_kernels_belongs_to_the_one_that_writes_it() {
    const IMAGE: u64 = 32 * 64 * 112 * 112 * 2;
    const ROWS: u64 = 16 * 65_536 * 2;
    // A weight and a bias for each channel or column.
    const OF_CHANNELS: u64 = 2 * 64 * 2;
    const OF_COLUMNS: u64 = 2 * 65_536 * 2;
    let cases: [(&str, &[Moved<'_>]); 7] = [
        (
            "input x : f16[32, 64, 112, 112]\ny = group_norm(x, groups=32)\n",
            &[("intermediate of y", [IMAGE, 0]), ("y", [IMAGE, IMAGE])],
        ),
        (
            "input x : f16[32, 64, 112, 112]\nr = relu(x)\ny = group_norm(r, groups=32)\n",
            &[
                ("r, intermediate of y", [IMAGE, 0]),
                ("y, recomputes r", [IMAGE, IMAGE]),
            ],
        ),
        (
            "input x : f16[16, 65536]\ny = softmax(x)\nz = relu(y)\n",
            &[("y", [ROWS, 0]), ("z, recomputes y", [ROWS, ROWS])],
        ),
        // Statistics need neither weight nor bias.
        (
            "input x : f16[32, 64, 112, 112]\nweight w : f16[64]\nweight b : f16[64]\ny = group_norm(x, w, b, groups=32)\n",
            &[
                ("intermediate of y", [IMAGE, 0]),
                ("y", [IMAGE + OF_CHANNELS, IMAGE]),
            ],
        ),
        (
            "input x : f16[32, 64, 112, 112]\nweight w : f16[64]\nweight b : f16[64]\ny = group_norm(x, w, b, groups=32)\nr = reshape(y, shape=[32, 64, 12544])\nz = silu(r)\n",
            &[
                ("y", [IMAGE, 0]),
                ("r + z, recomputes y", [IMAGE + OF_CHANNELS, IMAGE]),
            ],
        ),
        (
            "input x : f16[32, 64, 112, 112]\nweight w : f16[64]\nweight b : f16[64]\ny = batch_norm(x, w, b, training=true)\nz = silu(y)\n",
            &[
                ("y", [IMAGE, 0]),
                ("z, recomputes y", [IMAGE + OF_CHANNELS, IMAGE]),
            ],
        ),
        (
            "input x : f16[16, 65536]\nweight w : f16[65536]\nweight b : f16[65536]\ny = layer_norm(x, w, b)\n",
            &[
                ("intermediate of y", [ROWS, 0]),
                ("y", [ROWS + OF_COLUMNS, ROWS]),
            ],
        ),
    ];
    for (text, expected) in cases {
        let found = moved(&compiled(text));
        let found: Vec<Moved<'_>> = found
            .iter()
            .map(|(name, bytes)| (&name[..], *bytes))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// An H200 took 27.5 µs for the reduction and 24.9 µs for the elements of this norm.
#[test]
fn statistics_take_the_time_of_a_reduction_and_elements_that_of_a_loop() {
    let analysis = compiled("input x : f16[32, 64, 112, 112]\ny = group_norm(x, groups=32)\n");
    let measured_us = [27.5, 24.9];
    let kernels = analysis.fused.kernels.ids().zip(measured_us);
    for (kernel, measured_us) in kernels {
        let predicted_us = cold_time(&analysis, kernel).unwrap() * 1e6;
        let error = predicted_us / measured_us - 1.0;
        assert!(error.abs() < 0.1, "{kernel:?}: {predicted_us}");
    }
    let reductions = analysis
        .fused
        .kernels
        .iter()
        .map(|kernel| kernel.reductions.len());
    assert_eq!(reductions.collect::<Vec<_>>(), [1, 0]);
    let bounds = analysis
        .fused
        .kernels
        .iter()
        .map(|kernel| kernel.placement.bound);
    assert!(bounds.into_iter().all(|bound| bound == Bound::Memory));
}

/// A launch that no op stands for counts with the kernel that it serves.
#[test]
fn launches_count_with_the_kernel_whose_operand_they_copy_or_whose_rows_they_reduce() {
    let cases: [(&str, &[(&str, u32)]); 4] = [
        // Maximum and sum of rows, each in pieces.
        (
            "input a : f16[16, 512]\nweight w : f16[512, 65536]\nx = matmul(a, w)\ny = softmax(x)\n",
            &[("x", 1), ("intermediate of y", 4), ("y", 1)],
        ),
        // Heads that lie in another order.
        (
            "input x : f16[4, 64, 256]\ninput p : f16[4, 8, 64, 64]\nweight w : f16[256, 512]\nh = matmul(x, w)\nv = reshape(h, shape=[4, 64, 8, 64])\nt = transpose(v, perm=[0, 2, 1, 3])\ny = matmul(p, t)\n",
            &[("h + v + t", 1), ("y", 2)],
        ),
        // One operand for many products, of a kernel and of the caller.
        (
            "input a : f16[8, 1, 512, 64]\ninput b : f16[8, 1, 64, 4096]\ninput q : f16[8, 128, 1, 512]\nc = matmul(a, b)\ns = matmul(q, c)\n",
            &[("c", 1), ("s", 2)],
        ),
        (
            "input c : f16[8, 1, 512, 4096]\ninput q : f16[8, 128, 1, 512]\ns = matmul(q, c)\n",
            &[("s", 2)],
        ),
    ];
    for (text, expected) in cases {
        let analysis = compiled(text);
        let rows = kernel_rows(&analysis, usize::MAX);
        let found: Vec<(&str, u32)> = (rows.iter())
            .map(|row| {
                let further = analysis.partition.further_launches_of(row.kernel);
                (&row.ops[..], 1 + further)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// TorchInductor 2.11 makes one kernel of the norm, of the rotation and of the copy.
#[test]
fn a_copy_in_the_kernel_of_its_operand_reads_nothing_and_may_be_all_that_is_written() {
    const Q: u64 = 4 * 4 * 8 * 32 * 2;
    const ROTATIONS: u64 = 2 * 4 * 32 * 2 + 32 * 2;
    const K: u64 = 4 * 8 * 32 * 512 * 2;
    const PRODUCT: u64 = 4 * 8 * 4 * 512 * 2;
    let text = "input q : bf16[4, 4, 8, 32]\ninput cos : bf16[1, 1, 4, 32]\ninput sin : bf16[1, 1, 4, 32]\ninput k : bf16[4, 8, 32, 512]\nweight w : bf16[32]\n\
        c = cast(q, dtype=f32)\ns = square(c)\nm = mean(s, axis=3, keepdim=true)\na = add(m, 1e-6)\nr = rsqrt(a)\nn = mul(c, r)\nh = cast(n, dtype=bf16)\ny = mul(w, h)\nt = transpose(y, perm=[0, 2, 1, 3])\n\
        x1 = mul(t, cos)\nl = slice(t, start=0, end=16, axis=3)\nu = slice(t, start=16, end=32, axis=3)\ng = neg(u)\nj = concat(g, l, axis=3)\nx2 = mul(j, sin)\nz = add(x1, x2)\no = matmul(z, k)\n";
    // The caller gets the operand itself, too.
    for (output, written) in [("", Q), ("output z\n", 2 * Q)] {
        let found = moved(&compiled(&format!("{text}{output}")));
        let bytes: Vec<[u64; 2]> = found.into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(
            bytes,
            [[Q + ROTATIONS, written], [Q + K, PRODUCT]],
            "{output}"
        );
    }
}
