//! A kernel in detail.

use fuseline_core::{Analysis, KernelId, Options, Policy, analyze_program, notation};
use fuseline_view::present::kernel_details::kernel_details;
use std::fmt::Write as _;

pub(crate) fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

pub(crate) const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
up: y = matmul(x, w)
act: z = relu(y)
norm: n = softmax(z)
";

#[test]
fn tensors_edges_flops_and_time_of_a_kernel() {
    let analysis = analysis(TEXT, Policy::Rules);
    let details = kernel_details(&analysis, KernelId::new(0)).unwrap();
    assert_eq!(
        (details.kernel, details.ops.as_str()),
        (KernelId::new(0), "up + act")
    );
    assert_eq!(details.number_in_text, None);
    let names: Vec<_> = details
        .tensors
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(names, ["x", "w", "y", "z"]);
    let y = &details.tensors[2];
    let bytes = [&y.bytes_read, &y.bytes_written, &y.bytes_vanished].map(Option::as_deref);
    assert_eq!(
        bytes,
        [None, None, Some("262 kB")],
        "written and read again"
    );
    assert_eq!(y.source, "output of an op");
    let edges: Vec<_> = details
        .edges
        .iter()
        .map(|edge| edge.names.join(" → "))
        .collect();
    assert_eq!(edges, ["up → act"]);
    let flops: Vec<_> = details.flops.iter().map(|(op, _)| op.as_str()).collect();
    assert_eq!(flops, ["up", "act"]);
    assert!(details.flops[0].1.starts_with("2 × 256 × 256 × 256 (K) = "));
    assert!(details.time[0].starts_with("memory: 393 kB / "));
    assert_eq!(
        (
            details.hidden_tensors,
            details.hidden_edges,
            details.hidden_ops
        ),
        (0, 0, 0)
    );
    assert_eq!(
        kernel_details(&analysis, KernelId::new(1)).unwrap().edges,
        []
    );
    assert_eq!(kernel_details(&analysis, KernelId::new(2)), None);
}

#[test]
fn a_number_in_the_text_that_is_not_the_one_of_the_pictures_is_said() {
    let text = TEXT.replace("relu(y)", "relu(y) @kernel 7");
    let analysis = analysis(&text, Policy::Manual);
    let said = |kernel| kernel_details(&analysis, kernel).unwrap().number_in_text;
    assert_eq!(
        said(KernelId::new(1)).as_deref(),
        Some("@kernel 7 in the text")
    );
    assert_eq!(said(KernelId::new(0)), None);
}

#[test]
fn a_size_that_is_assumed_is_marked() {
    let text = "input x : f16[4, 64, 64]\ny = matmul(x, r, k=64) : f16[4, 64, 64]\n";
    let details = kernel_details(&analysis(text, Policy::Rules), KernelId::new(0)).unwrap();
    let r = details.tensors.iter().find(|row| row.name == "r").unwrap();
    assert_eq!(r.source, "~ assumed");
    assert!(r.source_reason.contains("no declaration"), "{r:?}");
}

#[test]
fn of_a_long_kernel_the_rest_is_counted() {
    let mut text = "input x0 : f16[64]\n".to_owned();
    for at in 1..=100 {
        let _ = writeln!(text, "x{at} = relu(x{})", at - 1);
    }
    let details = kernel_details(&analysis(&text, Policy::Rules), KernelId::new(0)).unwrap();
    assert_eq!(details.tensors.len() + details.hidden_tensors, 101);
    assert_eq!(details.edges.len() + details.hidden_edges, 99);
    assert_eq!(details.flops.len() + details.hidden_ops, 100);
    assert!(details.hidden_tensors > 0 && details.hidden_edges > 0 && details.hidden_ops > 0);
}

/// V in the packed projection, and a third of a split: the figure says that it counts whole, and
/// why.
#[test]
fn a_tensor_of_which_a_part_is_needed_says_why_it_counts_whole() {
    let packed = analysis(
        "input qkv : f16[8, 512, 192]\ns = matmul(qkv, qkv, k=64) : f16[8, 512, 512]\n",
        Policy::Rules,
    );
    let details = kernel_details(&packed, KernelId::new(0)).unwrap();
    let row = &details.tensors[0];
    assert_eq!(row.source, "declared, counted in full");
    // Q and K, 8 * 512 * 64 elements each, of three such parts.
    assert!(
        row.source_reason
            .contains("counts in full although s needs only 1.05 MB of it"),
        "{}",
        row.source_reason
    );
    assert_eq!(row.bytes_read.as_deref(), Some("1.57 MB"));
    let third = analysis(
        "input x : f16[64, 192]\nq = slice(x, axis=1, start=0, end=64)\nr = relu(q)\n",
        Policy::Rules,
    );
    let details = kernel_details(&third, KernelId::new(0)).unwrap();
    let row = &details.tensors[0];
    assert!(row.source.ends_with(", counted in full"), "{row:?}");
    assert!(
        row.source_reason.contains("q needs only 8.19 kB of it"),
        "{}",
        row.source_reason
    );
    let whole = analysis(TEXT, Policy::Rules);
    let details = kernel_details(&whole, KernelId::new(0)).unwrap();
    assert!(
        details
            .tensors
            .iter()
            .all(|row| !row.source.contains("whole"))
    );
}
