//! Work does not explode with readers and inputs: each size is one at which a method that visits
//! all inputs for each pair of kernels takes minutes. Larger graphs are in
//! `tests/fuzz/known/graphs.rs`.

use crate::families::{Reads, reads_all, text_of};
use fuseline_core::model::diagnostic::{line_and_column, lines_and_columns};
use fuseline_core::{
    Analysis, Code, Diagnostic, Op, OpId, OpType, Options, Policy, Span, TensorDecl,
    analyze_program, build_graph, notation, plan,
};
use fuseline_view::present::report::Report;
use proptest::prelude::*;

fn analysis(reads: &Reads, policy: Policy) -> Analysis {
    let program = notation::parse(&text_of(reads)).program;
    let outcome = analyze_program(&program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
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
