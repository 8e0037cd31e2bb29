//! Softmax of a row in one pass and in three.
#![allow(
    clippy::float_cmp,
    reason = "equal figures come out of the same arithmetic"
)]

use fuseline_core::fusion::attention::{
    SoftmaxMethod, SoftmaxPass, naive_in_f16, softmax_of, softmax_steps,
};
use fuseline_view::present::online_softmax::{
    CellState, METHODS, SoftmaxRun, overflow_note, same_as_plain, softmax_view,
};
use proptest::prelude::*;

const ONE: SoftmaxMethod = SoftmaxMethod::Online { block: 1 };

/// `1, 3, 2`: at 3 the sum of 1 is scaled by exp(1 - 3) and 1 is added; 2 leaves the maximum.
#[test]
fn three_numbers_by_hand() {
    let steps = softmax_steps(&[1.0, 3.0, 2.0], ONE);
    let found: Vec<_> = steps
        .iter()
        .map(|step| (step.after.maximum, step.after.sum, step.rescale))
        .collect();
    let scaled = (-2.0_f64).exp() + 1.0;
    let sum = scaled + (-1.0_f64).exp();
    assert_eq!(
        found,
        [
            (1.0, 1.0, Some(0.0)),
            (3.0, scaled, Some((-2.0_f64).exp())),
            (3.0, sum, Some(1.0)),
            (3.0, sum, None),
        ]
    );
    assert_eq!(steps[3].pass, SoftmaxPass::Divide);
    assert_eq!(softmax_of(&steps)[1], 1.0 / sum);
    assert!(softmax_steps(&[], ONE).is_empty());
    // Three passes: a maximum and a term for each number, and the quotients.
    assert_eq!(
        softmax_steps(&[1.0, 3.0, 2.0], SoftmaxMethod::ThreePasses).len(),
        7
    );
    // Blocks of two: one whole and one of a single number.
    let blocks = softmax_steps(&[1.0, 3.0, 2.0], SoftmaxMethod::Online { block: 2 });
    assert_eq!(
        (blocks[0].reads.clone(), blocks[1].reads.clone()),
        (0..2, 2..3)
    );
}

/// exp(12) is 162,755, and the largest f16 is 65,504.
#[test]
fn without_the_maximum_f16_overflows() {
    let lost = naive_in_f16(&[1.0, 12.0]);
    assert!(lost[0] == 0.0 && lost[1].is_nan(), "{lost:?}");
    // exp(11) is 59,874, and two of them are too many.
    assert!(naive_in_f16(&[11.0])[0] == 1.0);
    assert_eq!(naive_in_f16(&[11.0, 11.0]), [0.0, 0.0]);
    let mut run = SoftmaxRun::default();
    assert!(overflow_note(&run).contains("exp(12) = 162,755 exceeds the largest f16, 65,504"));
    assert!(overflow_note(&run).contains("1 of 8 results are ∞/∞"));
    run = run.with_number(5, "5").unwrap();
    assert!(overflow_note(&run).contains("still holds"));
}

#[test]
fn the_steps_are_told_with_their_figures() {
    let run = SoftmaxRun::default();
    assert_eq!(run.steps().len(), 9);
    let start = softmax_view(&run, 0);
    assert!(start.formulas.is_empty() && start.maximum == "−∞");
    let second = softmax_view(&run, 2);
    assert_eq!(
        second.cells[..3],
        [CellState::Done, CellState::Read, CellState::Waiting]
    );
    let lines: Vec<_> = second
        .formulas
        .iter()
        .map(|f| (f.text.as_str(), f.is_rescaling))
        .collect();
    assert_eq!(
        lines,
        [
            ("m = max(1, 3) = 3", false),
            (
                "the maximum grew from 1 to 3: multiply the old sum by exp(1 − 3) = 0.1353",
                true
            ),
            ("exp(3 − 3) = 1", false),
            ("l = 1 · 0.1353 + 1 = 1.135", true),
        ]
    );
    // At 2 the maximum stays.
    assert!(
        softmax_view(&run, 3)
            .formulas
            .iter()
            .all(|f| !f.is_rescaling)
    );
    let end = softmax_view(&run, 9);
    assert!(end.terms.iter().all(|term| !term.is_empty()));
    assert_eq!(run.with_number(0, "1e9"), None);
    assert_eq!(run.with_number(0, "three"), None);
    assert_eq!(run.with_number(8, "1"), None);
}

proptest! {
    /// Every way gives the softmax that three passes give, its results are shares of one, and sums
    /// stay finite.
    #[test]
    fn every_way_gives_the_same(row in prop::array::uniform8(-100.0..100.0_f64)) {
        let plain = softmax_steps(&row, SoftmaxMethod::ThreePasses);
        let plain = softmax_of(&plain);
        prop_assert!((plain.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for method in METHODS {
            let steps = softmax_steps(&row, method);
            for (ours, theirs) in softmax_of(&steps).iter().zip(plain) {
                prop_assert!((ours - theirs).abs() <= 1e-14 + 1e-12 * theirs);
            }
            let last = steps.last().unwrap().after;
            prop_assert_eq!(last.maximum, most);
            for step in &steps {
                prop_assert!(step.after.sum.is_finite() && step.after.maximum >= step.before.maximum);
                prop_assert!(step.rescale.is_none_or(|factor| (0.0..=1.0).contains(&factor)));
            }
            let run = SoftmaxRun { row, method };
            prop_assert!(same_as_plain(&run).contains("three passes"));
        }
    }
}
