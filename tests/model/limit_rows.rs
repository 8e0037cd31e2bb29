//! The rows of the table of limits.

use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Device, KernelId, Options, Policy, analyze, analyze_program, device,
};
use fuseline_view::present::limits::{LimitRow, harms, limit_rows, unknown_device};
use fuseline_view::present::quantity::Quantity;

/// The sum of each row has a block alone, the GELU as many as it likes.
pub(crate) const FEW_ROWS: &str = "input x : f16[16, 16384]\ny = gelu(x)\nz = sum(y)\n";

fn transformer(device: Device) -> Analysis {
    let (ops, externals) = transformer_block(2048, 4096, 32, 2).unwrap();
    let options = Options {
        device,
        ..Options::default()
    };
    analyze(&ops, &externals, &options).unwrap()
}

fn rows(analysis: &Analysis) -> Vec<LimitRow> {
    limit_rows(analysis, usize::MAX).unwrap()
}

#[test]
fn a_row_for_each_kernel_in_order() {
    let analysis = transformer(device("h200").unwrap().clone());
    let rows = rows(&analysis);
    let first_op = |kernel: KernelId| analysis.fused.kernels[kernel].ops[0];
    assert_eq!(rows.len(), analysis.fused.kernels.len());
    for (kernel, row) in analysis.fused.kernels.ids().zip(&rows) {
        assert_eq!((row.kernel, row.first_op), (kernel, first_op(kernel)));
        // The limit of a block on this device. A free view is not launched and needs no resources.
        assert!(
            matches!(
                row.cells.fused(Quantity::OnChipAvailable),
                Some("232 kB") | None
            ),
            "{row:?}"
        );
    }
    assert!((rows.iter()).any(|row| row.cells.fused(Quantity::OnChipAvailable).is_some()));
    assert_eq!(limit_rows(&analysis, 3).unwrap(), rows[..3]);
}

#[test]
fn what_gains_little_is_worth_knowing_and_does_no_harm() {
    let analysis = transformer(device("a100-80").unwrap().clone());
    let warns = |row: &LimitRow| row.warnings.contains("compute-bound");
    assert!(rows(&analysis).iter().any(warns));
    assert!(harms(&analysis).iter().all(String::is_empty));
}

#[test]
fn what_hurts_stands_in_the_row_of_its_kernel() {
    let program = parse(FEW_ROWS).program;
    let options = Options::of_policy(Policy::Rules);
    let analysis = analyze_program(&program, &options).analysis.unwrap();
    let rows = rows(&analysis);
    let harms = harms(&analysis);
    assert_eq!(harms.len(), rows.len());
    assert!(harms.iter().any(|harm| !harm.is_empty()));
    for (row, harm) in rows.iter().zip(&harms) {
        assert!(row.warnings.contains(harm.as_str()), "{harm} in {row:?}");
        // Warnings contain figures.
        assert!(harm.is_empty() || harm.contains(|c: char| c.is_ascii_digit()));
    }
}

#[test]
fn fusion_does_no_harm_where_nothing_is_fused() {
    // Four tiles of a matmul alone, and a softmax over a few rows that fit no block.
    let text = "input x : bf16[128, 512]\nweight w : bf16[512, 128]\ninput s : f32[4, 1000000]\n\
                y = matmul(x, w)\nz = softmax(s)\n";
    for policy in [Policy::None, Policy::Rules] {
        let options = Options {
            device: device("a100-80").unwrap().clone(),
            ..Options::of_policy(policy)
        };
        let program = parse(text).program;
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        let warned = rows(&analysis).iter().any(|row| !row.warnings.is_empty());
        assert!(warned, "{policy:?}");
        assert!(harms(&analysis).iter().all(String::is_empty), "{policy:?}");
    }
}

#[test]
fn a_device_without_figures_says_so() {
    let analysis = transformer(Device::custom(1e12, 1e13, 1e14, 2e-6));
    assert!(harms(&analysis).is_empty());
    assert_eq!(limit_rows(&analysis, usize::MAX), None);
    assert!(unknown_device(&analysis).contains("is unknown"));
}
