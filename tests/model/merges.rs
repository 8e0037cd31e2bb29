//! The merges that a card offers: those that hold, of producers and consumers alike, with the
//! effect that they have.

use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, KernelId, Options, Outcome, Policy, analyze_program};
use fuseline_view::present::manual::{Change, propose};
use fuseline_view::present::merges::{Offer, merge_offers};
use std::fmt::Write as _;

fn outcome(text: &str, policy: Policy) -> Outcome {
    analyze_program(&parse(text).program, &Options::of_policy(policy))
}

/// The offers of the kernel that runs the op of this name.
fn offers(text: &str, policy: Policy, op: &str) -> (Vec<Offer>, Analysis) {
    let Outcome {
        analysis,
        statement_of_op,
        ..
    } = outcome(text, policy);
    let analysis = analysis.unwrap();
    let kernel = analysis.partition.kernel_of[analysis.graph.op_named(op).unwrap()];
    let program = parse(text).program;
    let offers = merge_offers(
        kernel,
        KernelsInText {
            text,
            program: &program,
            analysis: &analysis,
            statement_of_op: &statement_of_op,
        },
    );
    for offer in &offers {
        let proposal = propose(
            offer.change,
            KernelsInText {
                text,
                program: &program,
                analysis: &analysis,
                statement_of_op: &statement_of_op,
            },
        );
        assert!(proposal.text.is_some(), "{offer:?}");
        assert!(
            proposal.words.ends_with(&format!("{}.", offer.effect)),
            "{offer:?}"
        );
    }
    (offers, analysis)
}

fn partners(offers: &[Offer]) -> Vec<&str> {
    offers.iter().map(|offer| offer.partner.as_str()).collect()
}

const CHAIN: &str = "\
input x : f16[1024, 1024]
a = relu(x)
b = exp(a)
s = softmax(b)
m = matmul(s, x)
c = add(m, b)
";

#[test]
fn producers_and_consumers_are_offered_alike() {
    let (of_b, _) = offers(CHAIN, Policy::None, "b");
    // Merged with the sum, which reads it as well, the kernel would wait for itself.
    assert_eq!(partners(&of_b), ["kernel 1 (a)", "kernel 3 (s)"]);
    let kernels = |of: &Offer| match of.change {
        Change::Merge(a, b) | Change::MergeOnTop(a, b) => [a, b],
        Change::Cut { .. } => panic!("{of:?}"),
    };
    let id = KernelId::new;
    assert_eq!(kernels(&of_b[0]), [id(1), id(0)]);
    assert_eq!(kernels(&of_b[1]), [id(1), id(2)]);
    assert!(of_b[0].effect.starts_with("saves 4.19 MB and "), "{of_b:?}");
    let (of_m, _) = offers(CHAIN, Policy::None, "m");
    assert_eq!(
        partners(&of_m),
        ["kernel 5 (c)"],
        "a softmax may not run into a matmul"
    );
}

#[test]
fn the_best_come_first_and_are_few() {
    let mut text = "input x : f16[1024, 1024]\na = relu(x)\n".to_owned();
    for reader in 0..40 {
        let _ = writeln!(text, "r{reader} = exp(a)");
    }
    let (of_a, analysis) = offers(&text, Policy::None, "a");
    assert_eq!(analysis.partition.kernels.len(), 41);
    assert_eq!(of_a.len(), 3);
    let wide = "\
input x : f16[1024, 1024]
small = sum(x)
b = relu(x)
c = add(b, small)
";
    let (of_c, _) = offers(wide, Policy::None, "c");
    assert!(of_c[0].partner.ends_with("(b)"), "{of_c:?}");
    assert!(of_c[1].partner.ends_with("(small)"), "{of_c:?}");
}

#[test]
fn a_kernel_without_neighbours_has_no_offers() {
    let (alone, _) = offers(
        "a = relu(x) : f16[8]\nb = exp(y) : f16[8]\n",
        Policy::None,
        "a",
    );
    assert_eq!(alone, []);
}
