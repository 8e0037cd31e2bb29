//! Work does not explode with readers and inputs. Each size is one at which a method that visits all of both kernels for
//! each edge, or all inputs for each pair of kernels, takes minutes.

use crate::families::{Reads, bipartite, chain, fan_out_and_back, ladder, reads_all, text_of};
use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::model::diagnostic::{line_and_column, lines_and_columns};
use fuseline_core::{
    Analysis, Code, Diagnostic, Op, OpId, OpType, Options, Policy, Span, TensorDecl,
    analyze_program, build_graph, notation, plan,
};
use fuseline_view::picture::dag::repeats::Repeats;
use fuseline_view::picture::dag::{folded_layout, layout};
use fuseline_view::present::report::Report;
use proptest::prelude::*;
use std::fmt::Write as _;
use strum::VariantArray;

fn analysis(reads: &Reads, policy: Policy) -> Analysis {
    let program = notation::parse(&text_of(reads)).program;
    let outcome = analyze_program(&program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

#[test]
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

#[test]
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
                if let Verdict::Apart { price, .. } = alone {
                    assert_eq!(prices.next().unwrap().price, price);
                }
            }
            assert!(prices.next().is_none());
        }
    }
}

#[test]
fn many_producers_that_each_op_reads_have_prices_and_reasons() {
    let analysis = analysis(&bipartite(500), Policy::None);
    assert_eq!(Why::new(&analysis).edges().len(), 250 * 250);
}

#[test]
fn an_op_with_many_inputs_has_limits_and_a_picture() {
    let analysis = analysis(&fan_out_and_back(20_000), Policy::Rules);
    let limits = limits(&analysis).unwrap();
    assert!(limits.iter().any(|kernel| kernel.live_values > 19_000));
    assert_eq!(
        layout(&analysis.graph, &analysis.partition).ops.len(),
        20_000
    );
}

#[test]
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

#[test]
fn the_compiler_pairs_kernels_that_share_many_buffers_once() {
    let analysis = analysis(&reads_all(200), Policy::Inductor);
    assert!(analysis.partition.kernels.len() < 200);
}

#[test]
fn matmuls_that_read_one_weight_are_regions_of_their_own() {
    const OPS: usize = 3_000;
    let name = |op: usize| format!("x{op}");
    let matmul = |op: usize| {
        let inputs = [&name(op), "w"];
        Op::new(
            &name(op + 1),
            OpType::Matmul,
            &inputs,
            &name(op + 1),
            &[64, 64],
            2,
        )
    };
    let ops: Vec<Op> = (0..OPS).map(matmul).collect();
    let square = |name| TensorDecl::new(name, &[64, 64], 2);
    let graph = build_graph(ops, &[square("x0"), square("w")]).unwrap();
    let mut options = Options::of_policy(Policy::Optimal);
    options.fusion.horizontal = true;
    let certificate = plan(&graph, &options).certificate.unwrap();
    assert!(certificate.is_optimal);
    assert_eq!(certificate.regions, OPS);
}

#[test]
fn a_report_finds_the_places_of_many_diagnostics() {
    const LINES: usize = 100_000;
    let text = "é bad\n".repeat(LINES);
    let diagnostic = |line: usize| {
        let start = line * 7 + 3;
        Diagnostic::warning(Code::Syntax, "bad").at(Span {
            start,
            end: start + 3,
        })
    };
    let diagnostics: Vec<Diagnostic> = (0..LINES).map(diagnostic).collect();
    let analysis = analysis(&vec![vec![0]], Policy::Rules);
    let report = Report::new(&analysis, &diagnostics, &text);
    let last = report.diagnostics.last().unwrap();
    assert_eq!((last.line, last.column), (Some(LINES), Some(3)));
}

proptest! {
    #[test]
    fn many_places_in_a_text_are_those_of_each((text, offsets) in ("[aé\\n]{0,40}", prop::collection::vec(0_usize..90, 0..20))) {
        let each: Vec<(usize, usize)> = offsets.iter().map(|&at| line_and_column(&text, at)).collect();
        prop_assert_eq!(lines_and_columns(&text, &offsets), each);
    }

    #[test]
    fn distinct_inputs_are_those_of_first_mention(picks in prop::collection::vec(0_usize..30, 0..80)) {
        let names: Vec<String> = picks.iter().map(|pick| format!("x{pick}")).collect();
        let inputs: Vec<&str> = names.iter().map(String::as_str).collect();
        let graph = build_graph([Op::new("y", OpType::Elementwise, &inputs, "y", &[4], 2)].as_slice(), &[]).unwrap();
        let mut first = Vec::new();
        for name in &inputs {
            if !first.contains(name) {
                first.push(*name);
            }
        }
        let distinct: Vec<&str> = graph.distinct_inputs(OpId::new(0)).map(|tensor| graph.tensor_name(tensor)).collect();
        prop_assert_eq!(distinct, first);
    }
}
