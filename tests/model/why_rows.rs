//! The tab on why edges are not fused: sorted by price, with names and figures.

use fuseline::core::analysis::why::{Verdict, Why};
use fuseline::core::{
    Analysis, FusionOptions, Objective, Options, Policy, analyze_program, notation,
};
use fuseline::present::why::{answer, crossing_rows, crossings};
use strum::VariantArray;

const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
small: s = softmax(x)
up: y = matmul(s, w)
act: a = relu(y)
out: z = add(a, x)
back: b = add(a, z)
";

fn analysis_of(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, options);
    outcome.analysis.unwrap()
}

fn analysis(text: &str, policy: Policy) -> Analysis {
    analysis_of(text, &Options::of_policy(policy))
}

#[test]
fn every_crossing_edge_has_a_row_dearest_first() {
    for &objective in Objective::VARIANTS {
        let options = Options {
            fusion: FusionOptions {
                objective,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::None)
        };
        let analysis = analysis_of(TEXT, &options);
        let edges = Why::new(&analysis).edges();
        let crossing = (edges.iter())
            .filter(|edge| edge.verdict != Verdict::Fused)
            .count();
        let all = crossings(&analysis);
        assert_eq!(all.len(), crossing);
        assert!(all.is_sorted_by(|a, b| match objective {
            Objective::Bytes => a.price.saved_bytes >= b.price.saved_bytes,
            Objective::Time => a.price.saved_s >= b.price.saved_s,
        }));
        let rows = crossing_rows(&analysis.graph, &Why::new(&analysis), &all);
        assert_eq!(rows.len(), crossing);
        let row = rows.iter().find(|row| row.edge == "up → act").unwrap();
        // Fused into one kernel, `y` is neither written nor read.
        assert_eq!(row.saved_bytes, "262 kB");
        assert_eq!(row.reason, "it is allowed, but this policy does not try it");
    }
}

#[test]
fn what_fusing_would_cost_is_negative() {
    let analysis = analysis(TEXT, Policy::Rules);
    let mut all = crossings(&analysis);
    let first = &mut all[0];
    first.price.saved_bytes = -1024;
    first.price.saved_s = -1e-6;
    let row = &crossing_rows(&analysis.graph, &Why::new(&analysis), &all[..1])[0];
    assert_eq!(
        [row.saved_bytes.as_str(), &row.saved_time],
        ["−1.02 kB", "−1.00 µs"]
    );
}

#[test]
fn what_runs_in_one_kernel_has_no_row() {
    let text = "input x : f16[256]\na: y = relu(x)\nb: z = gelu(y)\n";
    assert_eq!(crossings(&analysis(text, Policy::Rules)), []);
}

#[test]
fn any_two_ops_have_an_answer() {
    let analysis = analysis(TEXT, Policy::Rules);
    let op = |name| analysis.graph.op_named(name).unwrap();
    let said = |a, b| answer(&analysis.graph, &Why::new(&analysis), op(a), op(b));
    assert_eq!(said("up", "up"), "It is one op. Choose another.");
    assert_eq!(said("up", "act"), "They run in one kernel.");
    assert!(
        said("small", "up").contains("matmul `up` starts its kernel"),
        "{}",
        said("small", "up")
    );
    assert_eq!(said("small", "up"), said("up", "small"));
}
