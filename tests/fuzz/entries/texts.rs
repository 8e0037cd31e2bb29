//! Texts as visitors write, paste and edit them.

use super::{analysed, assert_sums, choices_of, one, parsed};
use fuseline_core::analysis::by_hand;
use fuseline_core::complete;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::json::read_json;
use fuseline_core::notation::import::{OpList, ops_of_list, read_op_lines, tensors_of_list};
use fuseline_core::notation::{Parsed, edit, parse, print};
use fuseline_core::{
    Conventions, DType, Options, Outcome, Span, analyze_program, estimate_memory_traffic,
};
use fuseline_view::opened::converted;
use fuseline_view::page::links::{fragment_of, packed_in, read_state, write_state};
use fuseline_view::picture::code::code_lines;
use fuseline_view::present::findings::{ShownText, finding_rows, findings_summary};
use fuseline_view::present::manual::{Change, propose};
use fuseline_view::present::report::Report;
use proptest::prelude::RngExt;
use proptest::test_runner::TestRng;
use strum::VariantArray;

pub(super) fn notation(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Parsed {
        program,
        diagnostics,
    } = parsed(&text);
    code_lines(
        &text,
        0..text.lines().count(),
        &diagnostics,
        &[Span::new(0, 1)],
    );
    let outcome = analyze_program(&program, &Options::default());
    let all = [diagnostics, outcome.diagnostics].concat();
    let fixes = sound_fixes(&text, &all);
    for fix in fixes.iter().flatten() {
        assert!(fix.applied(&text).is_some(), "{fix:?}");
    }
    finding_rows(&all, &fixes, &text, 1000);
    complete(&text, text.len() / 2);
    findings_summary(&all, ShownText::LastGoodText);
    if let Some(analysis) = &outcome.analysis {
        let report = Report::new(analysis, &all, &text);
        assert!(serde_json::to_string(&report).is_ok());
        assert_sums(analysis);
    }
    let printed = print(&program);
    assert_eq!(print(&parse(&printed).program), printed, "printed anew");
}

pub(super) fn json(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = converted(&text);
    let Ok(list) = read_json::<OpList>(&text) else {
        return;
    };
    if let (Ok(ops), Ok(tensors)) = (ops_of_list(&list), tensors_of_list(&list.tensors)) {
        for fused in [false, true] {
            let _ = estimate_memory_traffic(&ops, &tensors, Conventions::default(), fused);
        }
    }
}

pub(super) fn op_lines(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let program = read_op_lines(&text).program;
    let _ = converted(&text);
    analyze_program(&program, &Options::default());
}

pub(super) fn links(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = packed_in(&text).map(|(payload, packed)| fragment_of(payload, &packed));
    if let Ok(state) = read_state(input.to_vec()) {
        let again = write_state(&state).map(|written| read_state(written.into_bytes()));
        if let Ok(again) = again {
            assert_eq!(again.as_ref(), Ok(&state));
        }
        analyze_program(&parse(&state.text).program, &Options::default());
    }
}

pub(super) fn edits(input: &[u8]) {
    let mut text = String::from_utf8_lossy(input).into_owned();
    let mut rng = choices_of(input);
    for _ in 0..6 {
        text = edited(&text, &mut rng);
    }
    parse(&text);
}

fn edited(text: &str, rng: &mut TestRng) -> String {
    const WORDS: &[&str] = &[
        "",
        "y",
        "x y",
        "a`b",
        "f16[S, 4]",
        "relu",
        "4 : f16[",
        "line\nbreak",
        "é",
    ];
    let (Parsed { program, .. }, outcome) = analysed(text, rng);
    let count = program.ops.len() + 1;
    let [op, other] = [(); 2].map(|()| rng.random_range(0..count));
    let word = one(rng, WORDS);
    match rng.random_range(0..12_u32) {
        0 => edit::set_callee(text, &program, op, word),
        1 => edit::set_inputs(text, &program, op, &[word.to_owned(), "x".to_owned()]),
        2 => edit::set_annotation(text, &program, op, Some(word).filter(|w| !w.is_empty())),
        3 => edit::set_kernel(text, &program, op, Some(7).filter(|_| rng.random_bool(0.5))),
        4 => edit::add_op(text, &program, Some(op)),
        5 => edit::remove_op(text, &program, op),
        6 => edit::move_op(text, &program, op, other),
        7 => edit::rename_op(text, &program, op, word).unwrap_or_default(),
        8 => edit::rename_tensor(text, &program, "x", word).unwrap_or_default(),
        9 => edit::set_dtype(text, &program, one(rng, DType::VARIANTS)),
        10 => edit::set_param(text, &program, 0, rng.random()),
        _ => by_hand(
            text,
            &Parsed {
                program,
                diagnostics: Vec::new(),
            },
            &outcome,
            rng,
        ),
    }
}

/// A merge or a cut of kernels.
fn by_hand(text: &str, parsed: &Parsed, outcome: &Outcome, rng: &mut TestRng) -> String {
    let Some(analysis) = outcome
        .analysis
        .as_ref()
        .filter(|a| !a.graph.ops.is_empty())
    else {
        return text.to_owned();
    };
    let ops: Vec<_> = analysis.graph.ops.ids().collect();
    let [producer, consumer] = [(); 2].map(|()| one(rng, &ops));
    let [a, b] = [producer, consumer].map(|op| analysis.partition.kernel_of[op]);
    let change = if rng.random_bool(0.5) {
        Change::Merge(a, b)
    } else {
        Change::Cut { producer, consumer }
    };
    let shown = by_hand::KernelsInText {
        text,
        program: &parsed.program,
        analysis,
        statement_of_op: &outcome.statement_of_op,
    };
    let proposed = propose(change, shown);
    proposed.text.unwrap_or_default()
}
