//! The panel on edges that are not fused: sorted by savings, names escaped.

use crate::views::words;
use fuseline::core::analysis::why::{Verdict, Why};
use fuseline::core::{Analysis, Objective, Options, Policy, analyze_program, notation};
use fuseline::views::why::{answer, crossings, pickers, rows};

const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
small: s = softmax(x)
up: y = matmul(s, w)
act: a = relu(y)
out: z = add(a, x)
back: b = add(a, z)
";

fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&notation::parse(text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

#[test]
fn every_crossing_edge_has_a_row_dearest_first() {
    let analysis = analysis(TEXT, Policy::None);
    let edges = Why::new(&analysis).edges();
    let crossing = (edges.iter())
        .filter(|edge| edge.verdict != Verdict::Fused)
        .count();
    for objective in Objective::ALL {
        let all = crossings(edges.clone(), objective);
        assert_eq!(all.len(), crossing);
        assert!(all.is_sorted_by(|a, b| match objective {
            Objective::Bytes => a.price.saved_bytes >= b.price.saved_bytes,
            Objective::Time => a.price.saved_s >= b.price.saved_s,
        }));
    }
    let all = crossings(edges, Objective::Bytes);
    let markup = rows(&analysis.graph, &all, Some(all[1].ops));
    let html = markup.html().text;
    assert_eq!(html.matches("<tr ").count(), crossing);
    assert_eq!(html.matches("is-selected").count(), 1);
    assert!(words(&markup).contains("up → act"), "{}", words(&markup));
    // Fused into one kernel, `y` is neither written nor read.
    assert!(words(&markup).contains("262 kB"), "{}", words(&markup));
}

#[test]
fn what_runs_in_one_kernel_has_no_row() {
    let text = "input x : f16[256]\na: y = relu(x)\nb: z = gelu(y)\n";
    let analysis = analysis(text, Policy::Rules);
    let all = crossings(Why::new(&analysis).edges(), Objective::Bytes);
    assert!(words(&rows(&analysis.graph, &all, None)).starts_with("No tensor goes"));
}

#[test]
fn any_two_ops_have_an_answer() {
    let analysis = analysis(TEXT, Policy::Rules);
    let op = |name| analysis.graph.op_named(name).unwrap();
    let why = Why::new(&analysis);
    let said = |a, b| words(&answer(&analysis, (a, b), &why.ask(a, b)));
    assert_eq!(said(op("up"), op("up")), "It is one op. Choose another.");
    assert_eq!(said(op("up"), op("act")), "They run in one kernel.");
    assert!(
        said(op("small"), op("up")).contains("matmul up starts its kernel"),
        "{}",
        said(op("small"), op("up"))
    );
    assert_eq!(said(op("small"), op("up")), said(op("up"), op("small")));
}

#[test]
fn names_of_ops_stay_text() {
    let text = "input x : f16[8, 8]\n`<b>`: y = softmax(x)\n`<i>`: z = gelu(y)\n";
    let analysis = analysis(text, Policy::None);
    let all = crossings(Why::new(&analysis).edges(), Objective::Bytes);
    let html = [
        rows(&analysis.graph, &all, None).html().text,
        pickers(&analysis.graph, (0, 1)).html().text,
    ]
    .concat();
    assert!(html.contains("&lt;b&gt;") && !html.contains("<b>") && !html.contains("<i>"));
}
