//! The numbers of *Why not*, *What to do*, *Sweep* and *Measured* explain themselves: what is told
//! is what is shown, and its terms come to it.

use crate::derivations::comes_out;
use crate::figures::DEVICES;
use crate::measured_rows::{FILES, predicted, read};
use fuseline_core::analysis::advice::Advice;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::measured::Variant;
use fuseline_core::analysis::sweep::{Measure, sweep};
use fuseline_core::analysis::why::{RepeatedPrice, Why};
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, IdVec, OpId, Options, Policy, analyze_program, device};
use fuseline_view::present::advice::{advice_rows, done_words};
use fuseline_view::present::derivation::Operation;
use fuseline_view::present::figure::{
    Explanation, MeasuredFigure, advice_explanation, explanation, measured_explanation,
    swept_explanation,
};
use fuseline_view::present::measured::{MeasuredQuantity, table_rows};
use fuseline_view::present::number::Number;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::saved::Saved;
use fuseline_view::present::sweep::{sweep_rows, swept_params};
use fuseline_view::present::verdict::verdict_text;
use fuseline_view::present::why::{EdgeOrder, EdgeRow, WhyNot, edge_explanation};
use std::sync::Arc;
use strum::{IntoEnumIterator, VariantArray};

fn analysed(text: &str, policy: Policy, device_id: &str) -> (Arc<Analysis>, IdVec<OpId, usize>) {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(policy)
    };
    let outcome = analyze_program(&parse(text).program, &options);
    (Arc::new(outcome.analysis.unwrap()), outcome.statement_of_op)
}

/// What is told of a number that is shown so.
fn check(told: Option<Explanation>, shown: &str) -> Explanation {
    let told = told.unwrap_or_else(|| panic!("nothing is told of {shown}"));
    assert_eq!(told.value, shown, "{told:#?}");
    match &told.term {
        Some(term) => {
            // The marks of a lower bound and of an unverified prediction are not of the number.
            let number = shown.trim_start_matches("≥ ").trim_end_matches('?');
            // A cost is a negative saving.
            assert_eq!(term.text(), number.replace("costs ", "−"));
            comes_out(term).unwrap_or_else(|why| panic!("{}: {why}", told.subject));
        }
        None => assert!(shown == "not known" && !told.notes.is_empty(), "{told:#?}"),
    }
    let has_words = [&told.title, &told.subject]
        .iter()
        .all(|words| !words.is_empty());
    assert!(
        has_words && !told.formula.is_empty() && !told.sources.is_empty(),
        "{told:#?}"
    );
    told
}

/// What the whole program moves or takes, as the headline explains it.
fn of_program(analysis: &Analysis, quantity: Quantity) -> Number {
    let told = explanation(Figure::fused(Subject::Program, quantity), analysis).unwrap();
    told.term.unwrap().number
}

fn check_row(row: &EdgeRow, analysis: &Analysis) {
    for saved in [Saved::Bytes, Saved::Time] {
        let told = check(row.explanation(analysis, saved), &row.saved(saved));
        let Some(term) = told.term else {
            continue;
        };
        let [before, after] = term.terms() else {
            panic!("{term:#?}");
        };
        // Two kernels, and those of the other rounds.
        assert_eq!(
            before.terms().len(),
            if row.price.iterations > 1 { 3 } else { 2 }
        );
        assert_eq!(after.terms().is_empty(), row.price.iterations == 1);
        let ops = [row.ops.0, row.ops.1];
        for (op, of_kernel) in ops.into_iter().zip(before.terms()) {
            let first = analysis.partition.kernels[analysis.partition.kernel_of[op]][0];
            let quantity = match saved {
                Saved::Bytes => Quantity::Bytes,
                Saved::Time | Saved::Share => Quantity::Time,
            };
            let own =
                explanation(Figure::fused(Subject::Kernel(first), quantity), analysis).unwrap();
            let own = own.term.unwrap().number.value();
            assert!(
                (of_kernel.number.value() - own).abs() <= 1e-12 * own,
                "{of_kernel:#?}"
            );
        }
    }
}

#[test]
fn what_an_edge_would_save_is_told_by_its_two_kernels() {
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            for device_id in DEVICES {
                let (analysis, statement_of_op) = analysed(example.text, policy, device_id);
                let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
                let rows = why_not.rows(EdgeOrder::Time, 30, None).rows;
                for row in rows.iter().filter(|row| row.is_possible) {
                    check_row(row, &analysis);
                }
            }
        }
    }
}

/// A merge that would take longer says what makes it slower, in figures of the model.
#[test]
fn a_merge_that_costs_time_names_its_cause() {
    let mut causes = Vec::new();
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            let (analysis, statement_of_op) = analysed(example.text, policy, "h100");
            let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
            for row in why_not.rows(EdgeOrder::Time, 100, None).rows {
                let costs = row.saved(Saved::Time).starts_with("costs ");
                let notes = (row.explanation(&analysis, Saved::Time))
                    .map_or_else(Vec::new, |told| told.notes);
                let cause = notes.iter().find(|note| note.contains(" as one kernel "));
                assert_eq!(cause.is_some(), costs, "{}: {notes:?}", example.id);
                // The row says it without the names.
                let said = row
                    .notes
                    .iter()
                    .find_map(|note| note.strip_prefix("As one kernel: "));
                let names_cause = |cause: &String| said.is_some_and(|said| cause.ends_with(said));
                assert_eq!(said.is_some(), costs, "{}: {row:?}", example.id);
                assert!(cause.is_none_or(names_cause), "{cause:?} {said:?}");
                causes.extend(cause.cloned());
            }
        }
    }
    let has = |words: &str| causes.iter().any(|cause| cause.contains(words));
    assert!(
        has("is a generated matmul, at 90.0 % of the library's rate."),
        "{causes:#?}"
    );
    // Which cause it is depends on the sizes.
    for (size, cause) in [
        (
            "[2048, 16384], [16384, 4096]",
            "y + z as one kernel is a generated matmul, at 90.0 % of the library's rate.",
        ),
        (
            "[64, 4096], [4096, 32]",
            "y + z as one kernel is a generated matmul, whose loop along K takes 13.1 µs.",
        ),
        (
            "[130, 16384], [16384, 16384]",
            "y + z as one kernel is a generated matmul, whose tiles compute ",
        ),
    ] {
        let (x, w) = size.split_once(", [").unwrap();
        let text = format!("input x : f16{x}\nweight w : f16[{w}\ny = matmul(x, w)\nz = relu(y)\n");
        let (analysis, statement_of_op) = analysed(&text, Policy::Inductor, "h100");
        let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
        let row = &why_not.rows(EdgeOrder::Time, 1, None).rows[0];
        let told = row.explanation(&analysis, Saved::Time).unwrap();
        assert!(told.value.starts_with("costs "), "{size}: {}", told.value);
        assert!(told.notes[0].starts_with(cause), "{size}: {:?}", told.notes);
    }
}

#[test]
fn an_edge_of_another_round_is_told_by_its_own_kernels() {
    let text = example("gpt2_layers").unwrap().text;
    let (analysis, statement_of_op) = analysed(text, Policy::Rules, "h200");
    let why_not = WhyNot::new(analysis.clone(), &statement_of_op, None);
    let all = why_not.rows(EdgeOrder::Bytes, usize::MAX, None).rows;
    let repeated = all.iter().find(|row| row.price.iterations == 12).unwrap();
    let statements = |(a, b): (OpId, OpId)| [statement_of_op[a], statement_of_op[b]];
    let alike = why_not.edges(EdgeOrder::Bytes).into_iter();
    let alike: Vec<_> = alike
        .map(|edge| (edge.producer, edge.consumer))
        .filter(|&ops| statements(ops) == statements(repeated.ops))
        .collect();
    for selected in alike {
        let rows = why_not.rows(EdgeOrder::Bytes, 1, Some(selected)).rows;
        let row = rows.iter().find(|row| row.ops == selected).unwrap();
        check_row(row, &analysis);
        assert_eq!(row.saved(Saved::Bytes), repeated.saved(Saved::Bytes));
        let told = row.explanation(&analysis, Saved::Bytes).unwrap();
        assert!(
            told.subject
                .ends_with("fused into one kernel, in each of 12 iterations"),
            "{}",
            told.subject
        );
        let term = told.term.unwrap();
        assert_eq!(term.terms()[0].terms()[2].name, "in 11 other iterations");
    }
}

#[test]
fn numbers_in_the_words_of_a_verdict_are_those_of_its_edge() {
    for &policy in Policy::VARIANTS {
        let (analysis, _) = analysed(example("transformer").unwrap().text, policy, "h200");
        let why = Why::new(&analysis);
        let mut numbers = 0;
        for edge in why.priced_edges() {
            let ops = (edge.producer, edge.consumer);
            let said = verdict_text(&analysis, [ops.0, ops.1], &why.ask(ops.0, ops.1));
            for part in &said.parts {
                if let (Some(saved), Some(price)) = (part.saved, said.price) {
                    assert_eq!(price, edge.price);
                    let price = RepeatedPrice::once(price);
                    let told = edge_explanation(&analysis, ops, price, saved).unwrap();
                    // The sentence has the sign in its verb.
                    assert_eq!(told.value.trim_start_matches("costs "), part.text);
                    comes_out(&told.term.unwrap()).unwrap();
                    numbers += 1;
                }
            }
        }
        assert!(numbers > 4, "{policy:?}");
    }
}

#[test]
fn what_an_advice_would_save_is_told_by_what_runs_now_and_then() {
    let mut options_told = 0;
    for example in EXAMPLES {
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            for device_id in DEVICES {
                let (analysis, statement_of_op) = analysed(example.text, policy, device_id);
                for row in advice_rows(KernelsInText {
                    text: example.text,
                    program: &parse(example.text).program,
                    analysis: &analysis,
                    statement_of_op: &statement_of_op,
                }) {
                    for saved in [Saved::Bytes, Saved::Time, Saved::Share] {
                        let told = advice_explanation(&analysis, &row, saved);
                        let told = check(told, &row.saved(saved));
                        let term = told.term.unwrap();
                        let quantity = match saved {
                            Saved::Bytes => Quantity::Bytes,
                            Saved::Time | Saved::Share => Quantity::Time,
                        };
                        if let Advice::LargerBatch { .. } | Advice::CudaGraph = row.advice {
                            // The price of several runs, or of a timeline.
                        } else if saved == Saved::Share {
                            assert_eq!(term.terms()[1].number, of_program(&analysis, quantity));
                        } else if let Some(set) = done_words(row.advice) {
                            options_told += 1;
                            assert_eq!(term.terms()[0].number, of_program(&analysis, quantity));
                            let (_, changed) = set.split_once(": ").unwrap();
                            assert!(told.notes[0].ends_with(changed), "{:?}", told.notes);
                        } else if let Advice::Merge(a, b) = row.advice {
                            let names = term.terms()[0].terms().iter().map(|term| &term.name);
                            let names: Vec<_> = names.collect();
                            for (kernel, name) in [a, b].into_iter().zip(names) {
                                assert!(name.starts_with(&format!("kernel {}:", kernel.number())));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(options_told > 20, "{options_told}");
}

#[test]
fn each_value_of_a_sweep_is_told() {
    for (id, device_id) in [
        ("transformer", "a100-80"),
        ("transformer", "h200"),
        ("mlp", "h100"),
    ] {
        let text = example(id).unwrap_or(&EXAMPLES[0]).text;
        let program = parse(text).program;
        let (analysis, _) = analysed(text, Policy::Rules, device_id);
        let param = &swept_params(&program)[0];
        let sweep = sweep(&program, param.index, &analysis.options).unwrap();
        for &measure in Measure::VARIANTS {
            for row in sweep_rows(&sweep, measure) {
                for (&policy, shown) in sweep.policies.iter().zip(&row.figures) {
                    let told = swept_explanation(&sweep, row.value, policy, measure, &analysis);
                    let told = check(told, shown);
                    let has_terms = told.term.is_some_and(|term| term.derivation.is_some());
                    assert_eq!(has_terms, measure == Measure::Intensity);
                    assert!(
                        told.notes.iter().any(|note| note.contains(&row.text)),
                        "{:?}",
                        told.notes
                    );
                    let is_multiple = told.notes[0].contains("the value without fusion");
                    assert_eq!(is_multiple, policy != Policy::None, "{:?}", told.notes);
                    let chosen = told.conventions.last().unwrap();
                    assert!(chosen.choice.starts_with("Fusion policy: "), "{chosen:?}");
                }
            }
        }
        let beyond = swept_explanation(&sweep, -1, Policy::None, Measure::Bytes, &analysis);
        assert_eq!(beyond, None);
    }
}

/// The headline at a value of the sweep has the number of the sweep.
#[test]
fn a_value_that_is_set_has_the_terms_of_the_sweep() {
    let text = example("transformer").unwrap().text;
    let mut program = parse(text).program;
    let (before, _) = analysed(text, Policy::Rules, "h200");
    let param = &swept_params(&program)[0];
    let swept = sweep(&program, param.index, &before.options).unwrap();
    let value = swept.points[swept.points.len() / 2].value;
    program.params[param.index].value = value;
    let outcome = analyze_program(&program, &before.options);
    let analysis = outcome.analysis.unwrap();
    for (measure, quantity) in [
        (Measure::Bytes, Quantity::Bytes),
        (Measure::Time, Quantity::Time),
        (Measure::Kernels, Quantity::Launches),
    ] {
        let told = swept_explanation(&swept, value, Policy::Rules, measure, &before).unwrap();
        let of_headline =
            explanation(Figure::fused(Subject::Program, quantity), &analysis).unwrap();
        assert_eq!(told.value, of_headline.value);
        assert_eq!(told.formula, of_headline.formula);
        assert_eq!(told.conventions, of_headline.conventions);
        assert_eq!(told.sources, of_headline.sources);
    }
}

#[test]
fn each_number_of_the_measurements_is_told() {
    for name in FILES {
        let file = read(name);
        let rows = predicted(&file);
        for quantity in MeasuredQuantity::iter() {
            for shown in table_rows(&rows, quantity) {
                let row = &rows[shown.place];
                let told = |figure, shown: &str| {
                    let told = measured_explanation(&file, row, quantity, figure);
                    check(told, shown)
                };
                let error = told(MeasuredFigure::Error, &shown.error);
                let worked = error.term.unwrap().derivation.unwrap();
                assert_eq!(worked.operation, Operation::RelativeError);
                assert!(worked.line().unwrap().ends_with("measured − 1"));
                let expected = told(MeasuredFigure::Predicted, &shown.predicted);
                let measured = told(MeasuredFigure::Measured, &shown.measured);
                assert!(measured.sources[0].contains(&file.note), "{measured:#?}");
                let is_speedup = quantity == MeasuredQuantity::Speedup;
                for (told, is_worked) in [(expected, true), (measured, is_speedup)] {
                    assert_eq!(told.term.unwrap().derivation.is_some(), is_worked);
                }
                let [launches, ran] = &shown.kernels;
                told(MeasuredFigure::PredictedKernels, launches);
                let ran = told(MeasuredFigure::MeasuredKernels, ran);
                assert!(!ran.term.unwrap().terms().is_empty());
            }
        }
    }
}

#[test]
fn a_compiled_run_is_told_beside_its_eager_one() {
    let file = read("h200");
    let rows = predicted(&file);
    let row = rows
        .iter()
        .find(|row| row.row.pattern == "add_relu" && row.row.variant == Variant::Inductor)
        .unwrap();
    let told =
        |figure| measured_explanation(&file, row, MeasuredQuantity::Speedup, figure).unwrap();
    let measured = told(MeasuredFigure::Measured);
    let line = measured.term.unwrap().derivation.unwrap().line().unwrap();
    assert!(
        line.contains(" eager / ") && line.ends_with(" in this run"),
        "{line}"
    );
    let beyond = MeasuredQuantity::Speedup;
    let eager = rows
        .iter()
        .find(|row| row.row.variant == Variant::Eager)
        .unwrap();
    let told = measured_explanation(&file, eager, beyond, MeasuredFigure::Error);
    assert_eq!(told, None);
}
