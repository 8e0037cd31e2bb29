//! What a figure says beside its terms: its formula, notes and counting conventions.

use crate::figures::analysis;
use fuseline_core::analysis::compare::compare;
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, ReshapeCost, analyze_program, device};
use fuseline_view::present::figure::{explanation, explanation_of_policy};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use std::collections::BTreeSet;
use strum::VariantArray;

/// A part of the formula that is zero has no row, and no place in the formula.
#[test]
fn the_formula_of_the_number_of_kernels_names_its_rows() {
    let mut formulas = BTreeSet::new();
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            for reshape in [ReshapeCost::Copy, ReshapeCost::View] {
                let mut options = Options::of_policy(policy);
                options.conventions.reshape = reshape;
                options.device = device("h200").unwrap().clone();
                let program = parse(example.text).program;
                let analysis = analyze_program(&program, &options).analysis.unwrap();
                for figure in [Figure::fused, Figure::unfused] {
                    let figure = figure(Subject::Program, Quantity::Launches);
                    let told = explanation(figure, &analysis).unwrap();
                    let term = told.term.unwrap();
                    let rows = term.terms().iter().map(|term| &*term.name);
                    let named = |part: &str| {
                        let mut rows = rows.clone();
                        rows.any(|name| name.starts_with(part))
                    };
                    match told.formula {
                        "number of kernels" => assert!(named("kernels")),
                        formula => {
                            for part in formula.split(['−', '+']) {
                                assert!(named(part.trim()), "{formula}: {term:#?}");
                            }
                        }
                    }
                    formulas.insert(told.formula);
                }
            }
        }
    }
    assert!(formulas.len() > 2, "{formulas:?}");
}

/// Where a reshape counts as a copy, a note says how to count none; it does not say so of a copy
/// that PyTorch makes, too.
#[test]
fn the_number_of_kernels_says_which_of_them_only_copy() {
    let program = parse(example("transformer_block").unwrap().text).program;
    let told = |policy, reshape, run: fn(Subject, Quantity) -> Figure| {
        let mut options = Options::of_policy(policy);
        options.conventions.reshape = reshape;
        let analysis = analyze_program(&program, &options).analysis.unwrap();
        explanation(run(Subject::Program, Quantity::Launches), &analysis).unwrap()
    };
    let unfused = told(Policy::Rules, ReshapeCost::Copy, Figure::unfused);
    assert_eq!(unfused.title, "kernels, unfused");
    let views = "5 of the 21 kernels only copy a tensor into another shape or layout. PyTorch often needs no such copy. \
        Choose under Model that a reshape is a view to count none.";
    let as_views = told(Policy::Rules, ReshapeCost::View, Figure::unfused);
    let copy = |of| {
        format!(
            "1 of the {of} kernels only copies a tensor into new memory. PyTorch makes such a copy, too."
        )
    };
    assert_eq!(unfused.notes, [format!("{views} {}", copy(21))]);
    assert_eq!(as_views.notes, [copy(16)]);
    let fused = told(Policy::Rules, ReshapeCost::Copy, Figure::fused);
    assert_eq!(fused.notes, [""; 0]);
    assert_eq!(
        told(Policy::None, ReshapeCost::Copy, Figure::fused).title,
        "kernels, no fusion"
    );
}

/// The softmax of a compiler takes longer than PyTorch's, and neither is limited by memory, as the
/// data sheet says.
#[test]
fn a_kernel_that_fusing_makes_slower_says_why() {
    let text = example("transformer_block").unwrap().text;
    let analysis = analysis(text, Policy::Rules, "h100");
    let kernel = analysis.partition.kernel_of[analysis.graph.op_named("probs").unwrap()];
    let of = Subject::kernel(&analysis, kernel).unwrap();
    let told = |quantity| explanation(Figure::fused(of, quantity), &analysis).unwrap();
    let times = analysis.predicted.as_ref().unwrap().kernels[kernel];
    assert!(times.unfused_s < times.time_s, "{times:?}");
    let time = told(Quantity::Time).notes;
    assert!(
        time.iter()
            .any(|note| note.starts_with("Unfused it takes 300 µs: ")),
        "{time:?}"
    );
    let limit = told(Quantity::Bottleneck);
    assert_eq!(limit.value, "running statistics");
    let on_roofline = "which the roofline shows, it is: memory.";
    assert!(
        limit.notes.iter().any(|note| note.ends_with(on_roofline)),
        "{:?}",
        limit.notes
    );
    // A norm takes no longer.
    let norm = analysis.partition.kernel_of[analysis.graph.op_named("norm1").unwrap()];
    let of = Subject::kernel(&analysis, norm).unwrap();
    let notes = explanation(Figure::fused(of, Quantity::Time), &analysis)
        .unwrap()
        .notes;
    assert!(
        notes.iter().all(|note| !note.starts_with("Unfused")),
        "{notes:?}"
    );
}

/// Edges are no bytes: how a reshape counts changes launches, and no edge.
#[test]
fn edges_that_differ_have_the_policy_as_their_only_convention() {
    let text = example("transformer_block").unwrap().text;
    let shown = analysis(text, Policy::Rules, "h200");
    for compared in &compare(&shown) {
        let choices = |quantity| {
            let figure = Figure::fused(Subject::Policy(compared.policy), quantity);
            let told = explanation_of_policy(figure, compared).unwrap();
            let choices = told.conventions.into_iter();
            choices
                .map(|convention| convention.choice)
                .collect::<Vec<_>>()
        };
        let of_edges = choices(Quantity::Differing);
        assert!(
            matches!(&of_edges[..], [only] if only.starts_with("Fusion policy: ")),
            "{of_edges:?}"
        );
        let of_launches = choices(Quantity::Launches);
        assert!(
            of_launches
                .iter()
                .any(|choice| choice.starts_with("A reshape is")),
            "{of_launches:?}"
        );
    }
}
