//! Vertical and horizontal fusion: chains, and ops that only read the same.

use fuseline_core::examples::example;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::fusion::horizontal::fuses_horizontally;
use fuseline_core::notation::parse;
use fuseline_core::{Graph, OpId, Options, Policy, analyze_program};
use fuseline_view::present::decisions::decision_text;

fn graph_of(text: &str) -> Graph {
    let outcome = analyze_program(&parse(text).program, &Options::default());
    outcome.analysis.unwrap().graph
}

fn decisions(text: &str, policy: Policy) -> Vec<String> {
    let graph = graph_of(text);
    let mut options = Options::of_policy(policy);
    options.fusion.horizontal = true;
    let record = trace_decisions(&graph, &options);
    let decisions = record.decisions.iter();
    decisions.map(|d| decision_text(&graph, d)).collect()
}

const CHAIN: &str = "input x : f16[64, 64]\ny = relu(x)\nz = exp(y)\nw = add(z, y)\n";

#[test]
fn a_chain_and_a_diamond_are_vertical_and_siblings_are_not() {
    let of = |text: &str| {
        let graph = graph_of(text);
        let ops: Vec<OpId> = graph.ops.ids().collect();
        fuses_horizontally(&graph, &ops)
    };
    assert!(!of(CHAIN));
    assert!(!of("input x : f16[64]\ny = relu(x)\n"));
    assert!(of(example("siblings").unwrap().text));
    // A reader of both joins siblings vertically.
    assert!(!of(
        "input x : f16[64]\ny = relu(x)\nz = exp(x)\nw = add(y, z)\n"
    ));
    // Without it only what is inside the kernel counts.
    let graph = graph_of("input x : f16[64]\ny = relu(x)\nz = exp(x)\nw = add(y, z)\n");
    assert!(fuses_horizontally(&graph, &[0, 1].map(OpId::new)));
    assert!(!fuses_horizontally(&graph, &[]));
}

#[test]
fn the_steps_say_which_way_kernels_join() {
    let siblings = example("siblings").unwrap().text;
    let said = decisions(siblings, Policy::Inductor);
    let joined: Vec<&String> = said
        .iter()
        .filter(|said| said.contains(" fuse ("))
        .collect();
    assert_eq!(joined.len(), 2);
    assert!(
        joined
            .iter()
            .all(|said| said.contains("(horizontal fusion: they read the same tensor)"))
    );
    let optimum = decisions(siblings, Policy::Optimal);
    assert!(
        optimum
            .iter()
            .any(|said| said.contains("one kernel (horizontal fusion: siblings")),
        "{optimum:?}"
    );
    let chain = decisions(CHAIN, Policy::Optimal);
    assert!(
        chain.iter().all(|said| !said.contains("horizontal")),
        "{chain:?}"
    );
}
