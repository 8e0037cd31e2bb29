//! The arithmetic behind the bytes and FLOPs of a kernel.

use fuseline_core::analysis::analyze;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::model::ids::{KernelId, OpId};
use fuseline_core::model::op::{Op, TensorDecl};
use fuseline_core::model::op_type::OpType::*;
use fuseline_core::model::options::Options;
use fuseline_view::present::explain::{flops_text, ledger};
use fuseline_view::present::times::time_lines;

fn epilogue() -> fuseline_core::Analysis {
    let ops = [
        Op::new("up", Matmul, &["x", "w"], "y1", &[1024, 4096], 2),
        Op::new("bias", Elementwise, &["y1", "b"], "y2", &[1024, 4096], 2),
    ];
    let x = TensorDecl::new("x", &[1024, 512], 2);
    match analyze(&ops, &[x], &Options::default()) {
        Ok(analysis) => analysis,
        Err(problems) => unreachable!("{problems:?}"),
    }
}

#[test]
fn a_ledger_accounts_for_every_byte_of_the_comparison() {
    let analysis = epilogue();
    let rows = ledger(&analysis, KernelId::new(0));
    let names: Vec<&str> = rows
        .iter()
        .map(|r| analysis.graph.tensor_name(r.tensor))
        .collect();
    assert_eq!(names, ["x", "w", "y1", "b", "y2"]);
    assert_eq!(rows[1].source, SizeSource::Inferred);
    assert_eq!(rows[1].size, "512 × 4,096 × 2 B");
    assert_eq!(rows[3].source, SizeSource::Assumed);
    assert_eq!(
        rows[2].bytes_vanished,
        2 * 1024 * 4096 * 2,
        "written and read again"
    );
    let kernel = &analysis.fused.kernels[KernelId::new(0)];
    let moved: u64 = rows.iter().map(|r| r.bytes_read + r.bytes_written).sum();
    let vanished: u64 = rows.iter().map(|r| r.bytes_vanished).sum();
    assert_eq!(moved, kernel.bytes());
    assert_eq!(
        moved + vanished,
        analysis.comparisons[KernelId::new(0)].unfused_bytes
    );
    assert!(ledger(&analysis, KernelId::new(7)).is_empty());
}

#[test]
fn flops_and_times_say_their_factors() {
    let analysis = epilogue();
    assert_eq!(
        flops_text(&analysis.graph, OpId::new(0)),
        "2 × 1,024 × 4,096 × 512 (K) = 4.29 GFLOP"
    );
    assert_eq!(
        flops_text(&analysis.graph, OpId::new(1)),
        "1 for each of 4,194,304 elements = 4.19 MFLOP"
    );
    let lines = time_lines(&analysis, KernelId::new(0));
    assert_eq!(lines.len(), 4);
    assert!(
        lines[1].starts_with("matrix units, f16: 4.29 GFLOP / 312 TFLOP/s"),
        "{}",
        lines[1]
    );
}
