//! Large graphs. Each size is one at which a method that visits all of both kernels for each edge,
//! or all inputs for each pair of kernels, takes minutes.

use super::{Known, known};
use crate::families::{Reads, bipartite, chain, fan_out_and_back, ladder, reads_all, text_of};
use crate::searches::a_hard_graph_of_a_word;
use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::{Analysis, Options, Policy, analyze_program, notation};
use fuseline_view::picture::dag::repeats::Repeats;
use fuseline_view::picture::dag::{folded_layout, layout};
use std::fmt::Write as _;
use strum::VariantArray;

pub(crate) static ANSWERS: &[Known] = known![
    many_readers_of_one_op_that_one_op_reads_have_prices_and_reasons,
    all_edges_at_once_have_the_answers_of_each_alone,
    many_producers_that_each_op_reads_have_prices_and_reasons,
];

pub(crate) static PICTURES: &[Known] = known![
    an_op_with_many_inputs_has_limits_and_a_picture,
    very_many_repeats_have_frames,
];

pub(crate) static HARD: &[Known] = known![a_hard_graph_of_a_word];

fn analysis(reads: &Reads, policy: Policy) -> Analysis {
    let program = notation::parse(&text_of(reads)).program;
    let outcome = analyze_program(&program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

fn many_readers_of_one_op_that_one_op_reads_have_prices_and_reasons() {
    for policy in [Policy::None, Policy::Rules] {
        let analysis = analysis(&fan_out_and_back(20_000), policy);
        let why = Why::new(&analysis);
        let edges = why.edges();
        assert_eq!(edges.len(), 2 * 19_998);
        let apart = edges.iter().filter(|edge| edge.verdict != Verdict::Fused);
        assert_eq!(apart.count(), why.priced_edges().len());
    }
}

fn all_edges_at_once_have_the_answers_of_each_alone() {
    for reads_of in [chain, ladder, fan_out_and_back, bipartite, reads_all] {
        for &policy in Policy::VARIANTS {
            let mut options = Options::of_policy(policy);
            options.fusion.budget_states = 100;
            let program = notation::parse(&text_of(&reads_of(120))).program;
            let analysis = analyze_program(&program, &options).analysis.unwrap();
            let why = Why::new(&analysis);
            let mut prices = why.priced_edges().into_iter();
            for edge in why.edges() {
                let alone = why.ask(edge.producer, edge.consumer);
                assert_eq!(edge.verdict, alone, "{policy:?} {edge:?}");
                if let Verdict::Separate { price, .. } = alone {
                    assert_eq!(prices.next().unwrap().price, price);
                }
            }
            assert!(prices.next().is_none());
        }
    }
}

fn many_producers_that_each_op_reads_have_prices_and_reasons() {
    let analysis = analysis(&bipartite(500), Policy::None);
    assert_eq!(Why::new(&analysis).edges().len(), 250 * 250);
}

fn an_op_with_many_inputs_has_limits_and_a_picture() {
    let analysis = analysis(&fan_out_and_back(20_000), Policy::Rules);
    let limits = limits(&analysis).unwrap();
    assert!(limits.iter().any(|kernel| kernel.live_values > 19_000));
    assert_eq!(
        layout(&analysis.graph, &analysis.partition).ops.len(),
        20_000
    );
}

fn very_many_repeats_have_frames() {
    let mut text = "input x : f16[64, 8]\n".to_owned();
    let mut last = "x".to_owned();
    let mut op = |name: String, call: &dyn Fn(&str) -> String| {
        writeln!(text, "{name} = {}", call(&last)).unwrap();
        last = name;
    };
    for repeat in 0..6_000 {
        // Another width, so that no two of them are rounds of one.
        let width = 9 + repeat;
        let weight = |name: String, k: usize| {
            move |last: &str| format!("matmul({last}, {name}, k={k}) : f16[64, {width}]")
        };
        op(
            format!("r{repeat}"),
            &weight(format!("u{repeat}"), width - 1),
        );
        for round in 0..3 {
            let of = format!("{repeat}_{round}");
            op(format!("m{of}"), &weight(format!("w{of}"), width));
            op(format!("s{of}"), &|last| format!("softmax({last})"));
        }
    }
    let program = notation::parse(&text).program;
    let outcome = analyze_program(&program, &Options::of_policy(Policy::None));
    let analysis = outcome.analysis.unwrap();
    let repeats = Repeats::find(&analysis.graph, &analysis.partition);
    let picture = folded_layout(&analysis.graph, &analysis.partition, repeats);
    assert_eq!(picture.frames.len(), 6_000);
}
