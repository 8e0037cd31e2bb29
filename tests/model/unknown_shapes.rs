//! Ops of unknown shape: the rest is counted, and all totals are lower bounds.

use fuseline_core::model::diagnostic::{Severity, has_errors};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Code, Diagnostic, Options, Policy, analyze_program, edited};
use fuseline_view::present::headline::headline;
use fuseline_view::present::kernels::kernel_total;
use fuseline_view::present::quantity::Quantity;

const TEXT: &str = "\
input x : f32[1024, 8]
places = opaque(x, name=NonZero)
turned = transpose(places)
few    = relu(turned)
y      = exp(x)
mixed  = opaque(few, y, name=Mix) : f32[4, 4]
z      = tanh(mixed)
output few
output z
";

fn analysed(text: &str) -> (Analysis, Vec<Diagnostic>) {
    let outcome = analyze_program(&parse(text).program, &Options::default());
    assert!(
        !has_errors(&outcome.diagnostics),
        "{:?}",
        outcome.diagnostics
    );
    (outcome.analysis.unwrap(), outcome.diagnostics)
}

#[test]
fn what_is_known_is_counted() {
    let (analysis, found) = analysed(TEXT);
    let ops: Vec<&str> = analysis
        .graph
        .ops
        .iter()
        .map(|op| op.name.as_str())
        .collect();
    assert_eq!(ops, ["y", "mixed", "z"]);
    // x and y of 32,768 bytes each, y once more, and three accesses to a 4 by 4 matrix.
    assert_eq!(analysis.unfused.traffic.total, 3 * 32_768 + 3 * 64);
    let [warning] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (warning.severity, warning.code),
        (Severity::Warning, Code::UnknownShape)
    );
    assert_eq!(
        warning.message,
        "the shape of `places` is unknown, so its op is not counted, nor are the 2 ops that depend on it"
    );
}

#[test]
fn totals_are_lower_bounds() {
    let (analysis, _) = analysed(TEXT);
    let shown = headline(&analysis);
    for figure in [
        &shown.unfused_bytes,
        &shown.fused_bytes,
        &shown.unfused_kernels,
        &shown.fused_kernels,
        &shown.unfused_time,
        &shown.fused_time,
    ] {
        assert!(figure.starts_with("≥ "), "{figure}");
    }
    assert!(
        shown
            .time_note
            .contains("3 ops of unknown shape are not counted"),
        "{}",
        shown.time_note
    );
    let total = kernel_total(&analysis);
    for quantity in [Quantity::Flops, Quantity::BytesRead] {
        assert!(
            total.fused(quantity).unwrap().starts_with("≥ "),
            "{total:?}"
        );
    }
}

#[test]
fn a_shape_that_is_written_brings_its_readers_back() {
    let (_, found) = analysed(TEXT);
    let [fix] = found[0].fixes.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(fix.label, "Write `: f32[1024, 8]`");
    let (analysis, found) = analysed(&edited(TEXT, &fix.edits).unwrap());
    assert_eq!(found, []);
    assert_eq!(analysis.graph.ops.len(), 6);
    assert!(!headline(&analysis).unfused_bytes.contains('≥'));
}

#[test]
fn a_program_of_which_nothing_is_known_has_no_error() {
    let (analysis, found) = analysed("input x : f32[4]\ny = opaque(x)\nz = relu(y)\n");
    assert_eq!(analysis.graph.ops.len(), 0);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn what_an_op_of_unknown_shape_reads_is_written() {
    let text = "input x : f32[1024]\nh = relu(x)\ny = exp(h)\nplaces = opaque(h, name=NonZero)\n";
    let (analysis, _) = analysed(text);
    // As with a shape: h has two readers, so the rules write it, and `exp` reads it.
    assert_eq!(analysis.fused.kernels.len(), 2);
    assert_eq!(analysis.fused.traffic.total, 4 * 4096);
    let program = parse(text).program;
    let optimal = analyze_program(&program, &Options::of_policy(Policy::Optimal));
    // x, h and y once each, although `exp` is in the kernel that gives h.
    let fused = optimal.analysis.unwrap().fused;
    assert_eq!((fused.kernels.len(), fused.traffic.total), (1, 3 * 4096));
}
