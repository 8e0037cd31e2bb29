//! The rows of the table of kernels.

use crate::limit_rows::FEW_ROWS;
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::{
    Analysis, KernelId, OpId, Options, analyze, analyze_program, device, notation,
};
use fuseline_view::present::kernels::{kernel_rows, kernel_total};
use fuseline_view::present::limits::harms;

fn transformer(seq_len: u64, device_id: &str) -> Analysis {
    let (ops, externals) = transformer_block(seq_len, 4096, 32, 2).unwrap();
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::default()
    };
    analyze(&ops, &externals, &options).unwrap()
}

fn of_text(text: &str) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, &Options::default());
    outcome.analysis.unwrap()
}

#[test]
fn a_row_for_each_kernel_with_its_bytes_before_and_after() {
    let analysis = of_text(
        "input x : f16[256, 256]\nweight w : f16[256, 256]\nup: y = matmul(x, w)\nact: z = relu(y)\nnorm: n = softmax(z)\n",
    );
    let rows = kernel_rows(&analysis, usize::MAX);
    let names: Vec<_> = rows.iter().map(|row| row.ops.as_str()).collect();
    assert_eq!(names, ["up + act", "norm"]);
    assert_eq!(
        (rows[1].kernel, rows[1].first_op),
        (KernelId::new(1), OpId::new(2))
    );
    let figures = &rows[0].figures;
    // x, w, y and y, z; fused x, w, z; each of 256 * 256 * 2 bytes.
    assert_eq!(figures.exact_bytes, "655,360 B unfused, 393,216 B fused");
    assert_eq!(figures.missing, None);
    assert!(
        figures
            .times
            .ends_with(&format!("{} fused", figures.time.time))
    );
    assert_eq!(kernel_rows(&analysis, 1), rows[..1]);
}

#[test]
fn the_total_is_that_of_the_analysis() {
    let analysis = transformer(2048, "a100-80");
    let total = kernel_total(&analysis);
    assert_eq!(
        total.exact_bytes,
        "2,298,478,592 B unfused, 1,962,934,272 B fused"
    );
    // A total has no intensity and no bound.
    assert_eq!((total.intensity.as_str(), total.bound), ("", ""));
}

#[test]
fn a_row_says_what_hurts() {
    let analysis = of_text(FEW_ROWS);
    let rows = kernel_rows(&analysis, usize::MAX);
    let said: Vec<_> = rows.into_iter().map(|row| row.harm).collect();
    assert_eq!(said, harms(&analysis).as_slice());
    assert!(said.iter().any(|harm| !harm.is_empty()));
}

#[test]
fn an_unknown_peak_makes_the_time_a_lower_bound_that_says_why() {
    let analysis = of_text("input x : i64[256, 256]\nweight w : i64[256, 256]\ny = matmul(x, w)\n");
    let figures = &kernel_rows(&analysis, 1)[0].figures;
    let reason = figures.missing.as_deref().unwrap();
    assert!(figures.time.time.starts_with("≥ "), "{figures:?}");
    assert!(figures.times.ends_with(reason), "{figures:?}");
    assert_eq!(kernel_total(&analysis).time, figures.time);
}

#[test]
fn a_figure_that_rests_on_an_assumed_size_is_marked() {
    // With batch dimensions the undeclared operand may be shared or batched.
    let analysis = of_text("input x : f16[4, 64, 64]\ny = matmul(x, r, k=64) : f16[4, 64, 64]\n");
    let figures = &kernel_rows(&analysis, 1)[0].figures;
    assert!(figures.fused_bytes.starts_with('~'), "{figures:?}");
    assert!(figures.bytes_read.starts_with('~'), "{figures:?}");
    assert!(!figures.bytes_written.starts_with('~'), "{figures:?}");
}
