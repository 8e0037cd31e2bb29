//! The rows of the table of limits.

use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::{Analysis, Device, KernelId, Options, analyze, device};
use fuseline_view::present::limits::{LimitRow, harms, limit_rows, unknown_device};

fn transformer(device: Device) -> Analysis {
    transformer_of(2048, device)
}

fn transformer_of(seq_len: u64, device: Device) -> Analysis {
    let (ops, externals) = transformer_block(seq_len, 4096, 32, 2).unwrap();
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
            row.on_chip_available.as_deref() == Some("232 kB") || row.on_chip == "–",
            "{row:?}"
        );
    }
    assert!(rows.iter().any(|row| row.on_chip != "–"));
    assert_eq!(limit_rows(&analysis, 3).unwrap(), rows[..3]);
}

#[test]
fn what_gains_little_is_worth_knowing_and_does_no_harm() {
    let analysis = transformer(device("a100-80").unwrap().clone());
    let warns = |row: &LimitRow| row.warnings.contains("bound by arithmetic");
    assert!(rows(&analysis).iter().any(warns));
    assert!(harms(&analysis).iter().all(String::is_empty));
}

#[test]
fn what_hurts_stands_in_the_row_of_its_kernel() {
    // At this sequence length there are fewer tiles than multiprocessors.
    let analysis = transformer_of(128, device("a100-80").unwrap().clone());
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
fn a_device_without_figures_says_so() {
    let analysis = transformer(Device::custom(1e12, 1e13, 1e14, 2e-6));
    assert!(harms(&analysis).is_empty());
    assert_eq!(limit_rows(&analysis, usize::MAX), None);
    assert!(unknown_device(&analysis).contains("are not known"));
}
