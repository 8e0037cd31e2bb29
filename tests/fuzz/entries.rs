//! The ways in, each a function of bytes. Choices are drawn from the input, so that an input fails again on its own.

use crate::known::{self, Known};
use crate::{corpus, searches};
use fuseline::app::jobs::is_quick;
use fuseline_core::analysis::compare::compare;
use fuseline_core::analysis::limits::limits;
use fuseline_core::analysis::measured::Measurements;
use fuseline_core::analysis::replay::analysis_with;
use fuseline_core::analysis::why::Why;
use fuseline_core::complete;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fixes::sound_fixes;
use fuseline_core::fusion::record::record;
use fuseline_core::json::read_json;
use fuseline_core::model::calibration::Calibrations;
use fuseline_core::model::options::PAGE_BUDGET_STATES;
use fuseline_core::notation::import::{OpList, ops_of_list, read_op_lines, tensors_of_list};
use fuseline_core::notation::{Parsed, edit, parse, print};
use fuseline_core::{
    Analysis, Conventions, DEVICES, DType, Externals, F32Matmul, FusionOptions, Objective, Options,
    Outcome, Policy, ReshapeCost, Span, analyze_program, device, estimate_memory_traffic,
};
use fuseline_import::calibrate::{Measured, calibrate};
use fuseline_import::matching::{match_kernels, short_neighbours};
use fuseline_import::profile::{Kind, Reader, is_packed, read_profile, recognise, unpacked_start};
use fuseline_import::pt2::{import, is_archive};
use fuseline_view::opened::converted;
use fuseline_view::opened::model_file::{ModelFormat, kind_of, read_model};
use fuseline_view::page::links::{fragment_of, packed_in, read_state, write_state};
use fuseline_view::picture::charts::measured_scatter;
use fuseline_view::picture::charts::{
    Charted, by_kernel_scene, roofline, roofline_compare, traffic_bars,
};
use fuseline_view::picture::code::code_lines;
use fuseline_view::picture::dag::layout;
use fuseline_view::picture::dag::looks::Looks;
use fuseline_view::present::findings::{Shown, finding_rows, findings_summary};
use fuseline_view::present::kernel_details::kernel_details;
use fuseline_view::present::limits::limit_rows;
use fuseline_view::present::manual::{Change, propose};
use fuseline_view::present::measured::{
    Quantity, comparisons, error_summary, predicted_rows, table_rows,
};
use fuseline_view::present::profile::{
    ProfileFigure, neighbour_rows, notes, profile_explanation, profile_rows, profile_totals,
};
use fuseline_view::present::report::Report;
use fuseline_view::present::steps::Steps;
use fuseline_view::present::why::{EdgeOrder, WhyNot};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Cursor;
use std::sync::Arc;
use strum::VariantArray;

pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// What mutations start from.
    pub(crate) corpus: fn() -> Vec<Vec<u8>>,
    pub(crate) run: fn(&[u8]),
    /// What each run tries once, before mutated inputs.
    pub(crate) known: &'static [Known],
    /// Mutated inputs that each run tries, however little time it has.
    pub(crate) least: u64,
}

/// An entry of mutated inputs only.
const fn mutations(name: &'static str, corpus: fn() -> Vec<Vec<u8>>, run: fn(&[u8])) -> Entry {
    Entry {
        name,
        corpus,
        run,
        known: &[],
        least: 0,
    }
}

/// An entry whose inputs stand for random graphs, of which each run tries this many.
const fn graphs(name: &'static str, run: fn(&[u8]), least: u64) -> Entry {
    Entry {
        least,
        ..mutations(name, corpus::numbers, run)
    }
}

#[rustfmt::skip]
pub(crate) static ENTRIES: &[Entry] = &[
    Entry { known: known::NOTATION, ..mutations("notation", corpus::notation, notation) },
    mutations("json", corpus::json_lists, json),
    Entry { known: known::OP_LINES, ..mutations("op_lines", corpus::op_lines, op_lines) },
    mutations("links", corpus::links, links),
    mutations("edits", corpus::notation, edits),
    Entry { known: known::PICTURES, ..mutations("pictures", corpus::notation, pictures) },
    mutations("policies", corpus::notation, policies),
    Entry { known: known::ANSWERS, ..mutations("answers", corpus::notation, answers) },
    Entry { known: known::ONNX, ..mutations("onnx", corpus::onnx, onnx) },
    Entry { known: known::PT2, ..mutations("pt2", corpus::pt2, pt2) },
    mutations("graphs", corpus::graphs, json),
    mutations("measured", corpus::measured, measured),
    Entry { known: known::PROFILES, ..mutations("profiles", corpus::profiles, profiles) },
    graphs("optima", searches::optima, 2000),
    graphs("both_costs", searches::both_costs, 1000),
    graphs("shuffled", searches::shuffled, 300),
    graphs("long_shuffled", searches::long_shuffled, 40),
    graphs("other_policies", searches::other_policies, 300),
    graphs("on_chip", searches::on_chip, 300),
    graphs("cut_budgets", searches::cut_budgets, 300),
    graphs("attention", searches::attention, 1000),
    graphs("attention_or_not", searches::attention_or_not, 600),
    graphs("ladders", searches::ladders, 120),
    graphs("larger_budgets", searches::larger_budgets, 24),
    graphs("chains", searches::chains, 60),
    Entry { known: known::HARD, ..graphs("hard", searches::hard, 24) },
    graphs("fusable", searches::fusable, 24),
];

/// Random choices that an input decides.
pub(crate) fn choices_of(input: &[u8]) -> TestRng {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let mut seed = [0; 32];
    for (place, byte) in seed.iter_mut().zip(hasher.finish().to_le_bytes()) {
        *place = byte;
    }
    TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
}

fn one<T: Copy>(rng: &mut TestRng, list: &[T]) -> T {
    list[rng.random_range(0..list.len())]
}

fn options(rng: &mut TestRng, policy: Policy) -> Options {
    Options {
        policy,
        fusion: FusionOptions {
            objective: one(rng, Objective::VARIANTS),
            horizontal: rng.random_bool(0.5),
            prologue: rng.random_bool(0.5),
            after_reductions: rng.random_bool(0.5),
            max_autotune: rng.random_bool(0.5),
            attention: rng.random_bool(0.5),
            budget_states: PAGE_BUDGET_STATES,
            ..FusionOptions::default()
        },
        conventions: Conventions {
            externals: one(rng, Externals::VARIANTS),
            reshape: one(rng, ReshapeCost::VARIANTS),
            f32_matmul: one(rng, F32Matmul::VARIANTS),
        },
        device: DEVICES[rng.random_range(0..DEVICES.len())].clone(),
        own_calibrations: None,
    }
}

/// A text, parsed. Blocks that would make it longer than any input run once, because larger programs only take longer.
fn parsed(text: &str) -> Parsed {
    let mut parsed = parse(text);
    if !is_quick(&parsed.program) {
        parsed.program.blocks.clear();
    }
    parsed
}

/// The analysis of a text under a random policy, if there is one.
fn analysed(text: &str, rng: &mut TestRng) -> (Parsed, Outcome) {
    let policy = one(rng, Policy::VARIANTS);
    let parsed = parsed(text);
    let outcome = analyze_program(&parsed.program, &options(rng, policy));
    (parsed, outcome)
}

fn notation(input: &[u8]) {
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
    findings_summary(&all, Shown::LastGoodText);
    if let Some(analysis) = &outcome.analysis {
        let report = Report::new(analysis, &all, &text);
        assert!(serde_json::to_string(&report).is_ok());
        assert_sums(analysis);
    }
    let printed = print(&program);
    assert_eq!(print(&parse(&printed).program), printed, "printed anew");
}

/// The sums that are shown are those of their parts.
fn assert_sums(analysis: &Analysis) {
    for execution in [&analysis.unfused, &analysis.fused] {
        let kernels = execution.kernels.iter();
        let total: u128 = kernels.map(|kernel| u128::from(kernel.bytes())).sum();
        assert_eq!(total, u128::from(execution.traffic.total));
    }
    let saved =
        i128::from(analysis.unfused.traffic.total) - i128::from(analysis.fused.traffic.total);
    assert_eq!(saved, i128::from(analysis.fused.traffic.saved_by_fusion));
}

fn json(input: &[u8]) {
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

fn onnx(input: &[u8]) {
    let _ = kind_of("a file", input);
    let Ok(converted) = read_model(ModelFormat::Onnx, Cursor::new(input)) else {
        return;
    };
    // What an import writes can be read.
    let parsed = parse(&converted.text);
    assert_eq!(parsed.diagnostics, [], "{}", converted.text);
    analyze_program(&parsed.program, &Options::default());
}

/// An archive, or the graph in one.
fn pt2(input: &[u8]) {
    let program = if is_archive(input) {
        let read = read_model(ModelFormat::Pt2, Cursor::new(input));
        read.map(|converted| parse(&converted.text))
    } else {
        let imported = import(&String::from_utf8_lossy(input));
        imported
            .map(|imported| parse(&print(&imported.program)))
            .map_err(|problem| problem.to_string())
    };
    // What an import writes can be read.
    if let Ok(parsed) = program {
        assert_eq!(parsed.diagnostics, []);
        if is_quick(&parsed.program) {
            analyze_program(&parsed.program, &Options::default());
        }
    }
}

fn op_lines(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let program = read_op_lines(&text).program;
    let _ = converted(&text);
    analyze_program(&program, &Options::default());
}

fn links(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let _ = packed_in(&text).map(|packed| fragment_of(&packed));
    if let Ok(state) = read_state(input.to_vec()) {
        let again = write_state(&state).map(|written| read_state(written.into_bytes()));
        if let Ok(again) = again {
            assert_eq!(again.as_ref(), Ok(&state));
        }
        analyze_program(&parse(&state.text).program, &Options::default());
    }
}

fn edits(input: &[u8]) {
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
    let proposed = propose(
        change,
        text,
        &parsed.program,
        analysis,
        &outcome.statement_of_op,
    );
    proposed.text.unwrap_or_default()
}

fn pictures(input: &[u8]) {
    const SIZES: [(f64, f64); 3] = [(900.0, 560.0), (360.0, 300.0), (1.0, 1.0)];
    let mut rng = choices_of(input);
    let outcome = analysed(&String::from_utf8_lossy(input), &mut rng).1;
    let Some(analysis) = outcome.analysis else {
        return;
    };
    let size = one(&mut rng, &SIZES);
    for scene in [
        roofline::scene(&analysis, size, None),
        traffic_bars::scene(&analysis, size, None),
        by_kernel_scene(&analysis, size.0, None),
    ] {
        let keys = scene.keys();
        assert_eq!(keys.len(), scene.marks.len());
    }
    let analysis = Arc::new(analysis);
    let picture = layout(&analysis.graph, &analysis.partition);
    assert!(picture.width.is_finite() && picture.height.is_finite());
    let looks = Looks::new(Arc::clone(&analysis), rng.random_bool(0.5));
    for (id, op) in picture.ops.iter_enumerated() {
        looks.op(id, op.rect.width);
    }
    for edge in &picture.edges {
        looks.edge(edge);
    }
}

fn policies(input: &[u8]) {
    let mut rng = choices_of(input);
    let program = parsed(&String::from_utf8_lossy(input)).program;
    for &policy in Policy::VARIANTS {
        let outcome = analyze_program(&program, &options(&mut rng, policy));
        if let Some(analysis) = &outcome.analysis {
            assert_sums(analysis);
            let ops: usize = analysis.partition.kernels.iter().map(<[_]>::len).sum();
            assert_eq!(ops, analysis.graph.ops.len());
        }
    }
}

/// Everything that is computed on demand.
fn answers(input: &[u8]) {
    let mut rng = choices_of(input);
    let outcome = analysed(&String::from_utf8_lossy(input), &mut rng).1;
    let Some(analysis) = outcome.analysis else {
        return;
    };
    let why = Why::new(&analysis);
    why.edges();
    let why_not = WhyNot::new(Arc::new(analysis.clone()), &outcome.statement_of_op, None);
    why_not.rows(EdgeOrder::Name, 50, None);
    let kernels: Vec<_> = analysis.partition.kernels.ids().collect();
    for _ in 0..kernels.len().min(20) {
        let _ = why.merge(one(&mut rng, &kernels), one(&mut rng, &kernels));
        kernel_details(&analysis, one(&mut rng, &kernels));
    }
    limits(&analysis);
    limit_rows(&analysis, 200);
    let record = record(&analysis.graph, &analysis.options);
    let steps = Steps::new(&analysis.graph, &record);
    steps.lines(&analysis.graph, 1..steps.count() + 1);
    let step = rng.random_range(0..=record.decisions.len());
    let earlier = record.partition_after(&analysis.graph, step);
    assert_sums(&analysis_with(&analysis, earlier));
    let all = compare(&analysis);
    roofline_compare::scene(&analysis, &all, (600.0, 400.0), None);
}

fn measured(input: &[u8]) {
    let Ok(file) = read_json::<Measurements>(&String::from_utf8_lossy(input)) else {
        return;
    };
    let programs: Vec<_> = EXAMPLES
        .iter()
        .map(|example| (example.id.to_owned(), parse(example.text).program))
        .collect();
    let mut file = file;
    file.rows.truncate(40);
    let files = [Measured::of_patterns(file, programs.clone())];
    let Some(device) = device("h200") else { return };
    let records = calibrate(&files, device).records;
    if !records.patterns.is_empty()
        && let Ok(text) = serde_json::to_string(&records)
    {
        // The last digit of a float may change on its way through JSON.
        let read = Calibrations::read(&text).map(|read| read.patterns.len());
        assert_eq!(read, Ok(records.patterns.len()));
    }
    let [file] = files;
    let rows = file.measurements.rows;
    let rows = predicted_rows(rows, &programs, device);
    for quantity in [Quantity::Time, Quantity::Reads, Quantity::Speedup] {
        let compared = comparisons(&rows, quantity);
        error_summary(&compared);
        table_rows(&rows, quantity);
        measured_scatter::scene(&compared, quantity, (600.0, 400.0));
    }
}

/// Files of profilers, in slices, as each kind; what can be read says the same when it is packed, and is compared with a program.
fn profiles(input: &[u8]) {
    let mut rng = choices_of(input);
    recognise("measured", input);
    unpacked_start(input, 1000);
    let length = rng.random_range(1..=input.len().max(1));
    for kind in [Kind::Script, Kind::Table, Kind::Trace] {
        let mut reader = Reader::new(kind);
        if input
            .chunks(length)
            .any(|slice| reader.push(slice).is_err())
        {
            continue;
        }
        let Ok(mut profile) = reader.finish() else {
            continue;
        };
        if !is_packed(input) {
            let unpacked = read_profile(kind, &corpus::packed(input));
            assert_eq!(unpacked.as_ref(), Ok(&profile));
        }
        let policy = one(&mut rng, Policy::VARIANTS);
        let example = &EXAMPLES[rng.random_range(0..EXAMPLES.len())];
        let program = parse(example.text).program;
        let outcome = analyze_program(&program, &options(&mut rng, policy));
        let Some(analysis) = outcome.analysis else {
            continue;
        };
        for run in &profile.runs {
            assert!(!run.kernels.is_empty());
            let matching = match_kernels(&analysis, run);
            assert_eq!(matching.of_measured.len(), matching.run.kernels.len());
            notes(&analysis, &profile, "", &matching);
            for row in profile_rows(&analysis, &matching) {
                profile_explanation(&analysis, &matching, row.of, ProfileFigure::BytesError, "");
            }
            for row in profile_totals(&analysis, &matching) {
                profile_explanation(&analysis, &matching, row.of, ProfileFigure::Time, "");
                profile_explanation(
                    &analysis,
                    &matching,
                    row.of,
                    ProfileFigure::PredictedTime,
                    "",
                );
            }
            neighbour_rows(&analysis, &short_neighbours(&analysis, &matching));
            let charted = Charted {
                measured: Some(&matching),
                ..Charted::fused(&analysis)
            };
            roofline::scene_of(charted, (600.0, 400.0), None);
        }
        let other = profile.clone();
        profile.kind = Kind::Script;
        let _ = profile.add(other);
    }
}
