//! `output` statements and numbers in the place of inputs: what they mean, how they are edited, how
//! they travel as JSON.

use crate::resolve::resolved;
use fuseline_core::json::read_json;
use fuseline_core::notation::import::{self, program_of_op_list};
use fuseline_core::notation::{TokenKind, edit, highlight, parse, print};
use fuseline_core::{Analysis, Code, Options, Outcome, Policy, ReshapeCost, Span, analyze_program};
use fuseline_view::present::export::OpList;
use std::path::Path;

const NORM: &str = "input x : f16[64, 256]\nh = relu(x)\ny = exp(h)\n";

fn options(policy: Policy) -> Options {
    let mut options = Options::of_policy(policy);
    options.conventions.reshape = ReshapeCost::View;
    options
}

fn analysis(text: &str, policy: Policy) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    let outcome = analyze_program(&parsed.program, &options(policy));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

#[test]
fn an_output_is_written_although_ops_of_its_kernel_read_it() {
    const FULL: u64 = 64 * 256 * 2;
    for policy in [Policy::Rules, Policy::Optimal, Policy::Inductor] {
        let fused = |text: &str| analysis(text, policy).fused;
        let (without, with) = (fused(NORM), fused(&format!("{NORM}output h\n")));
        assert_eq!((without.launches, with.launches), (1, 1), "{policy:?}");
        assert_eq!(without.traffic.total, 2 * FULL, "{policy:?}");
        // It is written once and not read again.
        assert_eq!(with.traffic.total, 3 * FULL, "{policy:?}");
        assert_eq!(with.traffic.bytes_read, FULL, "{policy:?}");
    }
}

#[test]
fn an_output_that_is_read_again_ends_no_attention() {
    let text = "input q : f16[8, 64, 32]\ns = matmul(q, q, transpose_b=true)\np = softmax(s)\no = matmul(p, q)\n";
    assert_eq!(analysis(text, Policy::Inductor).fused.launches, 1);
    let seen = format!("{text}output p\n");
    assert_eq!(analysis(&seen, Policy::Inductor).fused.launches, 3);
    let mut options = options(Policy::Optimal);
    options.fusion.attention = true;
    let parsed = parse(&seen);
    let analysis = analyze_program(&parsed.program, &options).analysis.unwrap();
    let p = analysis.graph.op_named("p").unwrap();
    let written = analysis
        .fused
        .kernels
        .iter()
        .flat_map(|k| &k.traffic.writes);
    assert!({ written }.any(|access| access.tensor == analysis.graph.output[p]));
}

#[test]
fn an_output_that_no_op_writes_is_refused() {
    for (line, message) in [
        ("output x", "no op writes the output `x`"),
        ("output z", "no op writes the output `z`"),
    ] {
        let found = resolved(&format!("{NORM}{line}"));
        let problems: Vec<_> = found
            .diagnostics
            .iter()
            .map(|d| (d.code, &*d.message))
            .collect();
        assert_eq!(problems, [(Code::UndeclaredTensor, message)]);
    }
    let twice = parse(&format!("{NORM}output h\noutput h\n")).diagnostics;
    assert_eq!(twice[0].message, "line 4 already makes `h` an output");
    assert_eq!(parse("output").diagnostics.len(), 1);
    // A tensor may be called so.
    let named = parse("output = relu(x)\nlabel: y = relu(output)\noutput output\n");
    assert_eq!(
        (named.diagnostics.len(), named.program.outputs.len()),
        (0, 1)
    );
}

#[test]
fn edits_follow_outputs_and_numbers() {
    let text = format!("{NORM}z = div(y, 8)   # a number\noutput h\n");
    let program = parse(&text).program;
    let renamed = edit::rename_tensor(&text, &program, "h", "g").unwrap();
    assert!(renamed.contains("g = relu(x)\ny = exp(g)") && renamed.ends_with("output g\n"));
    let removed = edit::remove_op(&text, &program, 0);
    assert_eq!(
        removed,
        "input x : f16[64, 256]\ny = exp(x)\nz = div(y, 8)   # a number\n"
    );
    let inputs = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let edited = edit::set_inputs(&text, &program, 2, &names);
        edited.lines().nth(3).unwrap().to_owned()
    };
    assert_eq!(inputs(&["y", "4"]), "z = div(y, 4)   # a number");
    assert_eq!(inputs(&["h", "8"]), "z = div(h, 8)   # a number");
    assert_eq!(inputs(&["-1e-5", "y"]), "z = div(-1e-5, y)   # a number");
    assert_eq!(inputs(&["y"]), "z = div(y)   # a number");
}

#[test]
fn a_number_is_highlighted_as_one() {
    let text = "y = where(c, -inf, 0.5)\noutput y";
    let pieces = highlight(text, Span::new(0, text.len()));
    let kind = |piece: &str| {
        let found = pieces.iter().find(|(span, _)| span.slice(text) == piece);
        found.map(|&(_, kind)| kind)
    };
    assert_eq!(kind("inf"), Some(TokenKind::Number));
    assert_eq!(kind("0.5"), Some(TokenKind::Number));
    assert_eq!(kind("output"), Some(TokenKind::Keyword));
    assert_eq!(kind("c"), Some(TokenKind::Tensor));
}

/// What each program of the folder exports opens as the same ops and kernels.
#[test]
fn every_program_comes_back_from_json() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/programs");
    let mut opened = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "fuse") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let program = parse(&text).program;
        assert_eq!(print(&parse(&print(&program)).program), print(&program));
        let Outcome {
            analysis: before,
            statement_of_op,
            ..
        } = analyze_program(&program, &options(Policy::Inductor));
        let before = before.unwrap();
        let list = OpList::new(&before.graph).with_attributes(&program, &statement_of_op);
        let json = serde_json::to_string(&list).unwrap();
        let list: import::OpList = read_json(&json).unwrap();
        let parsed = program_of_op_list(&list);
        assert_eq!(parsed.diagnostics, [], "{}", path.display());
        let after = analysis(&print(&parsed.program), Policy::Inductor);
        assert_eq!(after.graph.ops, before.graph.ops, "{}", path.display());
        assert_eq!(after.partition, before.partition, "{}", path.display());
        assert_eq!(after.fused, before.fused, "{}", path.display());
        opened += 1;
    }
    assert!(opened >= 59, "{opened}");
}

#[test]
fn what_is_indexed_is_read_where_the_index_leads() {
    let read = |rows: u64| {
        let text = format!(
            "input ids : i64[{rows}]\nweight table : f16[1000, 64]\ny = embedding(ids, table)\n"
        );
        analysis(&text, Policy::None).fused.traffic.bytes_read
    };
    // The index, and as many rows as it has elements.
    assert_eq!(read(10), 10 * 8 + 10 * 64 * 2);
    // At most the table.
    assert_eq!(read(5000), 5000 * 8 + 1000 * 64 * 2);
    let gathered = "input x : f16[100, 64]\ninput i : i64[100, 4]\ny = gather(x, i)\n";
    let traffic = analysis(gathered, Policy::None).fused.traffic;
    assert_eq!(traffic.bytes_read, 100 * 4 * 8 + 100 * 4 * 2);
    // An expanded view holds what its source holds.
    let wide = "input x : f16[1, 64]\nw = expand(x, shape=[100, 64])\ny = relu(w)\n";
    assert_eq!(
        analysis(wide, Policy::None).fused.traffic.bytes_read,
        64 * 2
    );
}
