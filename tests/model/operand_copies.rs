//! Copies of operands for matmuls, against those of PyTorch's own dispatcher
//! (`operand_copies.json`, written by `tests/measure/operand_copies.py`).

use crate::inductor_measured::{DEFAULT, EAGER, options};
use crate::view_bytes::moved_by_kernel;
use fuseline_core::analysis::Execution;
use fuseline_core::analysis::memory::live_at_peak;
use fuseline_core::analyze_program;
use fuseline_core::model::sizes::written_size;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, OpId, Policy, ReshapeCost};
use serde_json::Value;

fn analysis(text: &str, variant: &str) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    analyze_program(&parsed.program, &options(variant))
        .analysis
        .unwrap()
}

#[test]
fn eager_matmuls_copy_the_operands_that_pytorch_copies() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/model/operand_copies.json"
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let lists = file["lists"].as_object().unwrap();
    assert!(lists.len() >= 38);
    let mut wrong = Vec::new();
    for (name, row) in lists {
        let lines = row["list"].as_array().unwrap().iter();
        let lines: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
        let copies = row["copies"].as_array().unwrap().iter();
        let analysis = analysis(&lines.join("\n"), EAGER);
        // All tensors of a list have one type.
        let size = analysis.graph.ops.iter().next().unwrap().bytes_per_element;
        let recorded: Vec<u64> = copies
            .map(|copy| size.bytes_of(copy.as_u64().unwrap()).unwrap())
            .collect();
        let copies = analysis.partition.copies.iter();
        let views = analysis.partition.copied_views.iter();
        let written = |&view: &OpId| (view, written_size(&analysis.graph, view));
        let mut counted: Vec<(OpId, u64)> = copies
            .map(|copy| (copy.op, copy.bytes_written))
            .chain(views.map(written))
            .collect();
        counted.sort_by_key(|&(op, _)| op);
        let counted: Vec<u64> = counted.into_iter().map(|(_, bytes)| bytes).collect();
        if counted != recorded {
            wrong.push((name, recorded, counted));
        }
    }
    assert_eq!(wrong, []);
}

const SCORES: &str = "\
input q : bf16[8, 128, 1, 512]
input c : bf16[8, 1, 512, 4096]
s = matmul(q, c)
";

/// The product of a broadcast operand writes a copy of it and reads the copy, eager and compiled.
#[test]
fn the_copy_of_a_broadcast_operand_counts_in_bytes_launches_and_memory() {
    let (q, c) = (8 * 128 * 512 * 2, 8 * 512 * 4096 * 2);
    let (copy, s) = (128 * c, 8 * 128 * 4096 * 2);
    for variant in [EAGER, DEFAULT] {
        let analysis = analysis(SCORES, variant);
        for run in [&analysis.unfused, &analysis.fused] {
            assert_eq!(run.traffic.bytes_read, q + c + copy, "{variant}");
            assert_eq!(run.traffic.bytes_written, copy + s, "{variant}");
            assert_eq!(run.launches, 2, "{variant}");
            assert_eq!(run.peak_memory.bytes, q + c + copy + s, "{variant}");
            let live = live_at_peak(&analysis, run);
            let written: u64 = live.written.iter().map(|lifetime| lifetime.bytes).sum();
            assert_eq!(live.external_bytes + written, run.peak_memory.bytes);
        }
    }
}

/// Two matmuls of one list: `compiled` copies for both of them once.
#[test]
fn the_compiler_copies_an_operand_once_for_all_its_readers() {
    let text = "\
input x : bf16[8, 16, 4, 64]
input k : bf16[8, 4, 64, 16]
q = transpose(x, perm=[0, 2, 1, 3])
y = matmul(q, k)
z = matmul(q, k)
";
    let x = 8 * 16 * 4 * 64 * 2;
    let [eager, compiled] = [EAGER, DEFAULT].map(|variant| analysis(text, variant).fused);
    assert_eq!((eager.launches, compiled.launches), (4, 3));
    let read = |copies: u64| (2 + copies) * x + 2 * x;
    assert_eq!(eager.traffic.bytes_read, read(2));
    assert_eq!(eager.traffic.bytes_written, 2 * x + 2 * 8 * 4 * 16 * 16 * 2);
    assert_eq!(compiled.traffic.bytes_written, x + 2 * 8 * 4 * 16 * 16 * 2);
}

/// A pointwise op before the copy is computed into it.
#[test]
fn the_compiler_computes_a_pointwise_op_into_the_copy() {
    let text = "\
input a : bf16[8, 128, 16, 512]
input b : bf16[8, 1, 512, 4096]
e = exp(b)
y = matmul(a, e)
";
    let (a, b, y) = (
        8 * 128 * 16 * 512 * 2,
        8 * 512 * 4096 * 2,
        8 * 128 * 16 * 4096 * 2,
    );
    let fused = analysis(text, DEFAULT).fused;
    assert_eq!(fused.launches, 2);
    assert_eq!(moved(&fused), [[b, 128 * b], [a + 128 * b, y]]);
}

/// Batch dimensions of which some are broadcast, and a transpose of the list into the copy. The
/// copy is in memory until the product has read it.
#[test]
fn the_kernel_that_computes_into_a_copy_writes_it() {
    let (q, k, m) = (
        4 * 4 * 4 * 64 * 2,
        4 * 4 * 64 * 1024 * 2,
        4 * 4 * 4 * 1024 * 2,
    );
    let copied = [
        "input k : bf16[4, 4, 1, 64, 1024]\nr = relu(k)",
        "input k : bf16[4, 4, 1, 1024, 64]\nt = relu(k)\nr = transpose(t, perm=[0, 1, 2, 4, 3])",
    ];
    for copied in copied {
        let text = format!("input q : bf16[4, 4, 4, 1, 64]\n{copied}\nm = matmul(q, r)\n");
        let analysis = analysis(&text, DEFAULT);
        let fused = &analysis.fused;
        assert_eq!(moved(fused), [[k, 4 * k], [q + 4 * k, m]], "{text}");
        assert_eq!(fused.peak_memory.bytes, q + k + 4 * k + m, "{text}");
        let live = live_at_peak(&analysis, fused);
        let written: u64 = live.written.iter().map(|lifetime| lifetime.bytes).sum();
        assert_eq!(live.external_bytes + written, fused.peak_memory.bytes);
    }
    // A transpose that counts as a copy is a kernel, and a view is none.
    let text = "\
input q : bf16[4, 4, 4, 1, 64]
input k : bf16[4, 4, 1, 1024, 64]
r = transpose(k, perm=[0, 1, 2, 4, 3])
m = matmul(q, r)
";
    let moved = |reshape| moved_by_kernel(text, Policy::Inductor, reshape);
    let copied = [[k, 4 * k], [q + 4 * k, m]];
    assert_eq!(moved(ReshapeCost::Copy), copied);
    assert_eq!(moved(ReshapeCost::View), [[k + q + 4 * k, 4 * k + m]]);
}

/// A copy of a view computes what the view shows, and every other reader computes its own. Bytes by
/// the compiler's own count.
#[test]
fn a_copy_of_a_view_is_written_as_the_view() {
    let (own, copy, q, m, n) = (262_144, 1_048_576, 2048, 32_768, 2048);
    let keys = "input k : bf16[4, 2, 512, 32]\n";
    let with = |ops: &str| format!("input q : bf16[4, 2, 4, 1, 32]\n{keys}{ops}");
    // Grouped heads: each key head for four heads of queries.
    let expanded =
        "r = reshape(c) : bf16[4, 2, 1, 512, 32]\ne = expand(r) : bf16[4, 2, 4, 512, 32]\n";
    let product = "t = transpose(e, perm=[0, 1, 2, 4, 3])\nm = matmul(q, t)";
    let joined = |ops: &str| {
        let list = with(&format!(
            "c = mul(k, 2)\n{expanded}f = reshape(e) : bf16[4, 8, 512, 32]\nt = transpose(f)\nm = matmul(q, t)\n{ops}"
        ));
        list.replace("[4, 2, 4, 1, 32]", "[4, 8, 1, 32]")
    };
    let of_heads = |ops: &str| {
        format!("input q : bf16[4, 8, 1, 32]\ninput k : bf16[4, 512, 8, 32]\nc = mul(k, 2)\n{ops}")
    };
    let cases = [
        (
            with(&format!("c = mul(k, 2)\n{expanded}{product}")),
            vec![[own, copy], [q + copy, m]],
        ),
        (
            with(&format!(
                "input n : bf16[4, 2, 1, 32]\nc = concat(k, n, axis=2)\n{expanded}{product}"
            ))
            .replace("k : bf16[4, 2, 512", "k : bf16[4, 2, 511"),
            vec![[own, copy], [q + copy, m]],
        ),
        (joined(""), vec![[own, copy], [q + copy, m]]),
        (
            joined("n = matmul(m, f)"),
            vec![[own, copy], [q + copy, m], [m + copy, n]],
        ),
        (joined("z = add(c, 1)"), vec![[own, copy], [q + copy, m], [own, own]]),
        (
            with(&format!(
                "input b : bf16[4, 2, 512, 32]\nc = mul(k, b)\n{expanded}{product}\nz = add(c, 1)"
            )),
            vec![[2 * own, copy], [q + copy, m], [2 * own, own]],
        ),
        // Two views of one value.
        (
            of_heads(
                "t = transpose(c, perm=[0, 2, 3, 1])\nm = matmul(q, t)\nu = transpose(c, perm=[0, 2, 1, 3])\nn = matmul(m, u)",
            ),
            vec![[copy, 2 * copy], [q + copy, m], [m + copy, n]],
        ),
        // Half of the heads.
        (
            of_heads("s = slice(c, start=0, end=8, axis=2)\nt = transpose(s, perm=[0, 2, 3, 1])\nm = matmul(q, t)")
                .replace("512, 8, 32]", "512, 16, 32]"),
            vec![[copy, copy], [q + copy, m]],
        ),
        // Copies that the caller gets.
        (
            format!("{keys}c = mul(k, 2)\n{expanded}f = reshape(e) : bf16[4, 8, 512, 32]"),
            vec![[own, copy]],
        ),
        (
            format!("{keys}c = mul(k, 2)\ns = slice(c, start=0, end=1, axis=1)\nt = transpose(s, perm=[0, 2, 1, 3])\nr = reshape(t) : bf16[2048, 32]\nu = transpose(r)\nf = reshape(u) : bf16[65536]"),
            vec![[own / 2, own / 2]],
        ),
    ];
    for (text, expected) in cases {
        let fused = analysis(&text, DEFAULT).fused;
        assert_eq!(fused.launches, expected.len(), "{text}");
        assert_eq!(moved(&fused), expected, "{text}");
    }
}

/// The bytes that each kernel reads and writes.
fn moved(run: &Execution) -> Vec<[u64; 2]> {
    let kernels = run.kernels.iter().map(|kernel| &kernel.traffic);
    kernels
        .map(|traffic| [traffic.bytes_read(), traffic.bytes_written()])
        .collect()
}

/// Kernels that are written by hand read by strides.
#[test]
fn other_policies_copy_nothing() {
    let analysis = analysis(SCORES, EAGER);
    let mut options = analysis.options.clone();
    for policy in [fuseline_core::Policy::Rules, fuseline_core::Policy::Optimal] {
        options.policy = policy;
        let parsed = parse(SCORES);
        let outcome = analyze_program(&parsed.program, &options);
        let other = outcome.analysis.unwrap();
        assert_eq!(other.partition.copies, []);
        assert!(other.fused.traffic.total < other.unfused.traffic.total / 100);
    }
}
