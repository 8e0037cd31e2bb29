//! Every figure explains itself: its value is the one that is shown, and its terms come to it.

use crate::derivations::comes_out;
use crate::random_graph;
use fuseline_core::analysis::compare::compare;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, Externals, KernelId, Objective, OpId, Options, Policy, ReshapeCost,
    analyze, analyze_program, device,
};
use fuseline_view::present::compare::{COLUMNS, policy_rows};
use fuseline_view::present::explain::ledger;
use fuseline_view::present::figure::{Explanation, explanation, explanation_of_policy};
use fuseline_view::present::headline::headline;
use fuseline_view::present::inspect::{inspect_kernel, inspect_op, inspect_tensor};
use fuseline_view::present::kernel_details::kernel_details;
use fuseline_view::present::kernels::{self, kernel_rows, kernel_total};
use fuseline_view::present::limits::{self, limit_rows};
use fuseline_view::present::memory::memory_sentence;
use fuseline_view::present::quantity::{Figure, Quantity, Run, Subject};
use fuseline_view::present::table::{Cells, Column};
use proptest::prelude::*;
use std::sync::LazyLock;
use strum::VariantArray;

pub(crate) const DEVICES: [&str; 3] = ["a100-80", "h100", "h200"];

pub(crate) fn analysis(text: &str, policy: Policy, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(policy)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

const QUANTITIES: [Quantity; 25] = [
    Quantity::Bytes,
    Quantity::BytesRead,
    Quantity::BytesWritten,
    Quantity::Saving,
    Quantity::Launches,
    Quantity::Flops,
    Quantity::Intensity,
    Quantity::Bottleneck,
    Quantity::Ridge,
    Quantity::Time,
    Quantity::LowerBound,
    Quantity::Speedup,
    Quantity::BoundSpeedup,
    Quantity::PeakMemory,
    Quantity::Differing,
    Quantity::DeviceMemory,
    Quantity::BytesVanished,
    Quantity::OnChip,
    Quantity::OnChipAvailable,
    Quantity::Registers,
    Quantity::Occupancy,
    Quantity::Blocks,
    Quantity::Waves,
    Quantity::WaveEfficiency,
    Quantity::TileEfficiency,
];

/// Every explanation of an analysis.
fn explanations(analysis: &Analysis) -> Vec<Explanation> {
    let kernels = analysis.fused.kernels.iter();
    let kernels = kernels.filter_map(|kernel| Some(Subject::Kernel(*kernel.ops.first()?)));
    let ops = analysis.graph.ops.ids().map(Subject::Op);
    let tensors = analysis.graph.tensors.ids().map(Subject::Tensor);
    let moved = analysis.fused.kernels.iter_enumerated();
    let moved = moved.flat_map(|(id, kernel)| {
        let first = kernel.ops.first().copied();
        let tensors = ledger(analysis, id).into_iter();
        tensors.filter_map(move |row| Some(Subject::TensorAt(first?, row.tensor)))
    });
    let of = [Subject::Program]
        .into_iter()
        .chain(kernels)
        .chain(ops)
        .chain(tensors)
        .chain(moved);
    let figures = of.flat_map(|of| {
        QUANTITIES
            .into_iter()
            .flat_map(move |quantity| [Figure::unfused(of, quantity), Figure::fused(of, quantity)])
    });
    figures
        .filter_map(|figure| explanation(figure, analysis))
        .collect()
}

fn assert_all_come_out(analysis: &Analysis) -> Result<(), String> {
    for told in explanations(analysis) {
        if let Some(term) = &told.term {
            comes_out(term).map_err(|why| format!("{} of {}: {why}", told.title, told.subject))?;
        }
        let is_told =
            !told.formula.is_empty() && !told.sources.is_empty() && !told.value.is_empty();
        if !is_told || told.term.is_none() && told.notes.is_empty() && told.value != "–" {
            return Err(format!("{told:#?}"));
        }
    }
    Ok(())
}

fn value(analysis: &Analysis, figure: Figure) -> String {
    explanation(figure, analysis).unwrap().value
}

/// Each example under each policy on devices with and without measured rates.
static ANALYSES: LazyLock<Vec<(&str, Analysis)>> = LazyLock::new(|| {
    let each = EXAMPLES.iter().flat_map(|example| {
        Policy::VARIANTS.iter().flat_map(move |&policy| {
            DEVICES.map(|device| (example.id, analysis(example.text, policy, device)))
        })
    });
    each.collect()
});

fn each_analysis(check: impl Fn(&str, &Analysis)) {
    for (id, analysis) in ANALYSES.iter() {
        check(id, analysis);
    }
}

#[test]
fn all_terms_of_every_example_come_out() {
    each_analysis(|id, analysis| {
        // Each kernel of a long program costs a look at all of them.
        if analysis.graph.ops.len() < 60 {
            assert_all_come_out(analysis).unwrap_or_else(|why| panic!("{id}: {why}"));
        }
    });
}

#[test]
fn figures_of_the_headline_are_those_that_are_told() {
    each_analysis(|id, analysis| {
        let shown = headline(analysis);
        let told = |run, quantity| {
            value(
                analysis,
                Figure {
                    quantity,
                    run,
                    of: Subject::Program,
                },
            )
        };
        assert_eq!(
            told(Run::Unfused, Quantity::Bytes),
            shown.unfused_bytes,
            "{id}"
        );
        assert_eq!(told(Run::Fused, Quantity::Bytes), shown.fused_bytes, "{id}");
        assert_eq!(told(Run::Fused, Quantity::Saving), shown.change, "{id}");
        assert_eq!(
            told(Run::Unfused, Quantity::Launches),
            shown.unfused_kernels,
            "{id}"
        );
        assert_eq!(
            told(Run::Fused, Quantity::Launches),
            shown.fused_kernels,
            "{id}"
        );
        // The mark of a prediction outside the measured sizes is a word there.
        let time = |run| told(run, Quantity::Time).trim_end_matches('?').to_owned();
        assert_eq!(time(Run::Unfused), shown.unfused_time, "{id}");
        assert_eq!(time(Run::Fused), shown.fused_time, "{id}");
        let ratio = shown.ratio.unwrap();
        // A ratio of 1.00× reads `no faster`.
        let said = |ratio: String| {
            if ratio == "1.00×" {
                "no".to_owned()
            } else {
                ratio
            }
        };
        let speedup = said(told(Run::Fused, Quantity::Speedup));
        // A little slower reads in percent.
        assert!(
            ratio.split(' ').any(|word| word == speedup)
                || speedup == "no" && ratio.contains(" % slower"),
            "{id}: {ratio}"
        );
        if let Some(bounds) = shown.bounds {
            for figure in [
                told(Run::Unfused, Quantity::LowerBound),
                told(Run::Fused, Quantity::LowerBound),
                told(Run::Fused, Quantity::BoundSpeedup),
            ] {
                assert!(bounds.contains(&figure), "{id}: {figure} in {bounds}");
            }
        }
    });
}

/// The numbers of a row are those that its cards show.
fn assert_cells_match_cards(
    name: &str,
    columns: &[Column],
    cells: &Cells,
    card_value: impl Fn(Quantity, Run) -> Option<String>,
) {
    for &(quantity, run) in columns.iter().flat_map(|column| column.quantities) {
        // Its column says it beside the bottleneck, whose card explains both.
        if quantity == Quantity::RooflineBound {
            continue;
        }
        let shown = cells.number(quantity, run).map(|shown| {
            let bound = shown
                .trim_start_matches("lower bound ")
                .replace('\u{a0}', " ");
            bound.trim_end_matches(" with a cold cache").to_owned()
        });
        // A lower bound stands beside predicted times only; otherwise it is the time.
        let shown = match quantity {
            Quantity::LowerBound => {
                shown.or_else(|| cells.number(Quantity::Time, run).map(str::to_owned))
            }
            _ => shown,
        };
        assert_eq!(
            card_value(quantity, run),
            shown,
            "{name}: {quantity:?} of {cells:?}"
        );
    }
}

#[test]
fn figures_of_the_table_of_kernels_are_those_that_are_told() {
    each_analysis(|id, analysis| {
        let card_value =
            |of| move |quantity, run| Some(value(analysis, Figure { quantity, run, of }));
        for row in kernel_rows(analysis, 30) {
            assert_cells_match_cards(id, kernels::COLUMNS, &row.cells, card_value(row.of));
        }
        let total = kernel_total(analysis);
        let columns: Vec<Column> = (kernels::COLUMNS.iter().copied())
            .filter(|column| total.fused(column.quantity().unwrap()).is_some())
            .collect();
        assert!(columns.len() > 3);
        assert_cells_match_cards(id, &columns, &total, card_value(Subject::Program));
    });
}

#[test]
fn figures_of_the_comparison_are_those_that_are_told() {
    for example in EXAMPLES {
        for device_id in DEVICES {
            let chosen = analysis(example.text, Policy::Rules, device_id);
            let compared = compare(&chosen);
            for shown in policy_rows(&compared, Policy::Rules, Objective::Bytes) {
                let of = Subject::Policy(shown.policy);
                let own = compared
                    .iter()
                    .find(|one| one.policy == shown.policy)
                    .unwrap();
                let told = |quantity, run| {
                    let figure = Figure { quantity, run, of };
                    let told = explanation_of_policy(figure, own).unwrap();
                    if let Some(term) = &told.term {
                        comes_out(term).unwrap();
                    }
                    Some(told.value)
                };
                assert_cells_match_cards(example.id, COLUMNS, &shown.cells, told);
                if shown.policy != Policy::Rules {
                    let differing = told(Quantity::Differing, Run::Fused);
                    assert_eq!(differing, Some(shown.differing));
                }
            }
        }
    }
}

#[test]
fn numbers_on_cards_are_those_that_are_told() {
    each_analysis(|id, analysis| {
        let graph = &analysis.graph;
        let kernels = analysis.fused.kernels.ids().take(20);
        let kernels = kernels.filter_map(|kernel| inspect_kernel(analysis, kernel));
        let ops = graph
            .ops
            .ids()
            .take(20)
            .filter_map(|op| inspect_op(analysis, op));
        let tensors = graph
            .tensors
            .ids()
            .take(20)
            .filter_map(|tensor| inspect_tensor(analysis, tensor));
        for card in kernels.chain(ops).chain(tensors) {
            for part in card.facts.iter().flat_map(|fact| &fact.parts) {
                if let Some(figure) = part.figure {
                    assert_eq!(value(analysis, figure), part.text, "{id}: {card:?}");
                }
            }
        }
    });
}

#[test]
fn figures_of_the_table_of_limits_are_those_that_are_told() {
    each_analysis(|id, analysis| {
        for row in limit_rows(analysis, 30).unwrap() {
            let of = Subject::Kernel(row.first_op);
            assert_cells_match_cards(id, limits::COLUMNS, &row.cells, |quantity, run| {
                let figure = Figure { quantity, run, of };
                explanation(figure, analysis).map(|told| told.value)
            });
        }
        for part in memory_sentence(analysis) {
            if let Some(figure) = part.figure {
                assert_eq!(value(analysis, figure), part.text, "{id}");
            }
        }
    });
}

#[test]
fn bytes_of_tensors_in_the_details_of_a_kernel_are_those_that_are_told() {
    each_analysis(|id, analysis| {
        for kernel in analysis.fused.kernels.ids().take(20) {
            let details = kernel_details(analysis, kernel).unwrap();
            for row in details.tensors {
                let told = |quantity| {
                    let figure = Figure::fused(row.of, quantity);
                    let told = explanation(figure, analysis);
                    // The column of the source has the mark of an assumed size.
                    Some(told?.value.trim_start_matches('~').to_owned())
                };
                assert_eq!(told(Quantity::BytesRead), row.bytes_read, "{id}");
                assert_eq!(told(Quantity::BytesWritten), row.bytes_written, "{id}");
                assert_eq!(told(Quantity::BytesVanished), row.bytes_vanished, "{id}");
            }
        }
    });
}

/// The transformer block of the README, computed by hand where it is short.
#[test]
fn what_is_told_of_the_transformer_block() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let analysis = analysis(text, Policy::Rules, "a100-80");
    let told = explanation(Figure::fused(Subject::Program, Quantity::Saving), &analysis).unwrap();
    assert_eq!(told.value, "−14.6 %");
    assert_eq!(told.subject, "the whole program");
    let worked = told.term.unwrap().derivation.unwrap();
    assert_eq!(worked.line().unwrap(), "336 MB saved / 2.30 GB unfused");
    let saved = worked.terms[0].derivation.as_ref().unwrap();
    assert_eq!(saved.line().unwrap(), "2.30 GB unfused − 1.96 GB fused");

    let kernel = Subject::Kernel(OpId::new(0));
    let told = explanation(Figure::fused(kernel, Quantity::Flops), &analysis).unwrap();
    let terms = told.term.unwrap().derivation.unwrap().terms;
    assert_eq!(terms[0].name, "qkv_proj");
    let line = terms[0].derivation.as_ref().unwrap().line().unwrap();
    assert_eq!(line, "2 × 2,048 × 12,288 × 4,096 (K)");

    let told = explanation(Figure::fused(kernel, Quantity::BytesRead), &analysis).unwrap();
    let terms = told.term.clone().unwrap().derivation.unwrap().terms;
    let lines: Vec<_> = terms
        .iter()
        .map(|term| {
            format!(
                "{}: {}",
                term.name,
                term.derivation.as_ref().unwrap().line().unwrap()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "reads w_qkv: 4,096 × 12,288 × 2 B",
            "reads input: 2,048 × 4,096 × 2 B"
        ]
    );
    assert!(
        told.conventions[0]
            .choice
            .starts_with("Inputs and weights count"),
        "{told:#?}"
    );
    assert_eq!(told.exact().as_deref(), Some("117,440,512 B"));
}

#[test]
fn a_long_sum_is_cut_and_still_comes_out() {
    let text = EXAMPLES.iter().find(|e| e.id == "gpt2").unwrap().text;
    let analysis = analysis(text, Policy::None, "a100-80");
    let told = explanation(Figure::fused(Subject::Program, Quantity::Bytes), &analysis).unwrap();
    let term = told.term.unwrap();
    comes_out(&term).unwrap();
    let last = term.terms().last().unwrap();
    assert!(
        last.name.starts_with("and ") && last.name.ends_with(" more, in total"),
        "{last:?}"
    );
    assert!(term.terms().len() < analysis.fused.kernels.len());
}

#[test]
fn a_kernel_that_is_gone_explains_nothing() {
    let text = EXAMPLES
        .iter()
        .find(|e| e.id == "transformer")
        .unwrap()
        .text;
    let rules = analysis(text, Policy::Rules, "a100-80");
    // The second op runs in the kernel of the first.
    assert_eq!(rules.partition.kernel_of[OpId::new(1)], KernelId::new(0));
    let figure = Figure::fused(Subject::Kernel(OpId::new(1)), Quantity::Bytes);
    assert_eq!(explanation(figure, &rules), None);
    let alone = analysis(text, Policy::None, "a100-80");
    assert!(explanation(figure, &alone).is_some());
    let beyond = Figure::fused(Subject::Kernel(OpId::new(1000)), Quantity::Bytes);
    assert_eq!(explanation(beyond, &rules), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_terms_of_any_graph_come_out(
        (ops, externals) in random_graph::ops(14),
        declared in any::<bool>(),
        counted in prop::sample::select(Externals::VARIANTS),
        reshape in prop::sample::select(ReshapeCost::VARIANTS),
    ) {
        for &policy in Policy::VARIANTS {
            let options = Options {
                conventions: Conventions { externals: counted, reshape, ..Conventions::default() },
                ..Options::of_policy(policy)
            };
            let externals = if declared { &externals[..] } else { &[] };
            let analysis = analyze(&ops, externals, &options).unwrap();
            if let Err(why) = assert_all_come_out(&analysis) {
                prop_assert!(false, "{}", why);
            }
        }
    }
}
