//! Two results of one operator are one kernel: it reads its tensor once and writes both.

use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program};
use fuseline_view::present::decisions::decision_text;
use strum::VariantArray;

/// The two results of each operator over 64 rows of 512 elements.
const OPERATORS: &[(&str, &str)] = &[
    ("topk(x, count=8)", "topk_indices(x, count=8)"),
    (
        "topk(x, count=8, axis=0)",
        "topk_indices(x, count=8, axis=0)",
    ),
    ("sort(x)", "argsort(x)"),
    (
        "sort(x, axis=0, descending=true)",
        "argsort(x, axis=0, descending=true)",
    ),
    ("max(x, axis=1)", "argmax(x, axis=1)"),
    (
        "max(x, axis=0, keepdim=false)",
        "argmax(x, axis=0, keepdim=false)",
    ),
    ("min(x, axis=-1)", "argmin(x, axis=-1)"),
];

/// Pairs that are two calls.
const TWO_CALLS: &[(&str, &str)] = &[
    ("topk(x, count=8)", "topk_indices(x, count=9)"),
    ("topk(x, count=8)", "topk(x, count=8)"),
    ("topk(x, count=8)", "topk_indices(z, count=8)"),
    ("sort(x)", "argsort(x, axis=0)"),
    ("sort(x)", "argsort(x, descending=true)"),
    ("max(x, axis=1)", "argmin(x, axis=1)"),
    ("max(x, axis=1)", "argmax(x, axis=0)"),
    ("max(x, axis=1)", "argmax(x, axis=1, keepdim=false)"),
    ("var(x, axis=1)", "mean(x, axis=1)"),
];

fn analysis(text: &str, policy: Policy) -> Analysis {
    let mut options = Options::of_policy(policy);
    // PyTorch's kernel of each op, without what the search could gain by siblings.
    options.fusion.horizontal = false;
    let outcome = analyze_program(&parse(text).program, &options);
    assert!(
        outcome.diagnostics.is_empty(),
        "{text}: {:?}",
        outcome.diagnostics
    );
    outcome.analysis.unwrap()
}

fn program((a, b): (&str, &str)) -> String {
    format!("input x : f16[64, 512]\ninput z : f16[64, 512]\na = {a}\nb = {b}\nc = neg(z)\n")
}

#[test]
fn two_results_of_one_operator_are_one_kernel_under_every_policy() {
    for &pair in OPERATORS {
        for &pair in &[pair, (pair.1, pair.0)] {
            let text = program(pair);
            for &policy in Policy::VARIANTS {
                let analysis = analysis(&text, policy);
                let case = format!("{text}{}", policy.name());
                let graph = &analysis.graph;
                let x = 64 * 512 * 2;
                let outputs = graph
                    .output
                    .iter()
                    .map(|&out| graph.tensors[out].bytes().unwrap());
                let outputs: u64 = outputs.sum();
                for run in [&analysis.unfused, &analysis.fused] {
                    assert_eq!(run.traffic.bytes_read, 2 * x, "{case}");
                    assert_eq!(run.traffic.bytes_written, outputs, "{case}");
                    assert_eq!(run.launches, 2, "{case}");
                }
                assert_eq!(analysis.partition.kernels.len(), 2, "{case}");
                assert_eq!(
                    analysis.unfused.time_s.to_bits(),
                    analysis.fused.time_s.to_bits(),
                    "{case}"
                );
                // One comparison for each element, for both; a sort counts none.
                let flops: u128 = analysis.fused.kernels.iter().map(|k| k.work.flops()).sum();
                let compares = if text.contains("sort") { 0 } else { 64 * 512 };
                assert_eq!(flops, compares + 64 * 512, "{case}");
                if let Some(certificate) = &analysis.certificate {
                    assert!(certificate.is_optimal, "{case}");
                    let bytes = format!("{:?}", certificate.cost);
                    assert_eq!(
                        bytes,
                        format!("Bytes({})", analysis.fused.traffic.total),
                        "{case}"
                    );
                }
            }
        }
    }
}

#[test]
fn results_of_two_calls_are_two_kernels() {
    for &pair in TWO_CALLS {
        let text = program(pair);
        for policy in [Policy::None, Policy::Rules, Policy::Optimal, Policy::Manual] {
            let analysis = analysis(&text, policy);
            assert_eq!(analysis.unfused.launches, 3, "{text}");
            assert_eq!(analysis.fused.launches, 3, "{text}{}", policy.name());
        }
    }
}

#[test]
fn readers_of_either_result_run_after_the_kernel_of_both() {
    let text = "input x : f16[64, 512]\ny = relu(x)\nv = topk(y, count=8)\ni = topk_indices(y, count=8)\n\
                s = slice(i, start=0, end=4)\na = mul(v, 2)\nb = gather(x, s)\nr = reshape(i, shape=[512])\n";
    for &policy in Policy::VARIANTS {
        let mut options = Options::of_policy(policy);
        options.conventions.reshape = fuseline_core::ReshapeCost::View;
        let outcome = analyze_program(&parse(text).program, &options);
        let analysis = outcome.analysis.unwrap();
        let graph = &analysis.graph;
        let kernel = |name: &str| analysis.partition.kernel_of[graph.op_named(name).unwrap()];
        assert_eq!(kernel("v"), kernel("i"), "{}", policy.name());
        assert!(
            kernel("a") > kernel("v") && kernel("b") > kernel("i"),
            "{}",
            policy.name()
        );
        // y is written and read once; i is read for the four columns that `gather` takes.
        let record = trace_decisions(graph, &options);
        let last = record.partition_after(graph, record.decisions.len());
        assert_eq!(last, analysis.partition, "{}", policy.name());
        let counts = record.kernel_counts(graph);
        assert_eq!(
            counts.last(),
            Some(&analysis.fused.launches),
            "{}",
            policy.name()
        );
        let said = record
            .decisions
            .iter()
            .map(|decision| decision_text(graph, decision));
        let said: Vec<String> = said.collect();
        let sentence = "`v` and `i` are results of one operator: one kernel writes both";
        assert!(said.iter().any(|said| said == sentence), "{said:#?}");
    }
}

#[test]
fn marks_may_name_both_results_of_a_library_kernel() {
    let text = "input x : f16[64, 512]\nv = topk(x, count=8) @kernel 1\ni = topk_indices(x, count=8) @kernel 1\n";
    let analysis = analysis(text, Policy::Manual);
    assert_eq!(analysis.refused, []);
    assert_eq!(analysis.fused.launches, 1);
    assert_eq!(analysis.fused.traffic.bytes_read, 64 * 512 * 2);
}
