//! Whether the terms of an explanation come to its number.

use fuseline_view::present::derivation::{Operation, Term};
use fuseline_view::present::figure::Explanation;
use fuseline_view::present::number::Number;

/// Whole numbers, where the number is one.
fn whole(number: Number) -> Option<i128> {
    match number {
        Number::Count(count) | Number::Bytes(count) => Some(count.into()),
        Number::SavedBytes(bytes) => Some(bytes.into()),
        Number::Flops(flops) => flops.try_into().ok(),
        _ => None,
    }
}

/// Whether the terms of a number come to it, and theirs to each of them.
pub(crate) fn comes_out(term: &Term) -> Result<(), String> {
    let Some(worked) = &term.derivation else {
        return Ok(());
    };
    worked.terms.iter().try_for_each(comes_out)?;
    let exact: Option<Vec<i128>> = worked.terms.iter().map(|term| whole(term.number)).collect();
    let values: Vec<f64> = worked
        .terms
        .iter()
        .map(|term| term.number.value())
        .collect();
    let is_equal = match (whole(term.number), exact, worked.operation) {
        (Some(number), Some(terms), Operation::Sum) => terms.iter().sum::<i128>() == number,
        (Some(number), Some(terms), Operation::Product) => terms.iter().product::<i128>() == number,
        (Some(number), Some(terms), Operation::Difference) => terms[0] - terms[1] == number,
        (Some(number), Some(terms), Operation::RoundedUp) => {
            terms[0].div_euclid(terms[1]) + i128::from(terms[0] % terms[1] > 0) == number
        }
        (Some(number), Some(terms), Operation::RoundedDown) => {
            terms[0].div_euclid(terms[1]) == number
        }
        (Some(number), Some(terms), Operation::Smallest) => terms.iter().min() == Some(&number),
        (Some(number), Some(terms), Operation::Between) => {
            terms[0].clamp(terms[1], terms[2]) == number
        }
        (_, _, how) => {
            let result = match how {
                Operation::Sum => values.iter().sum(),
                Operation::Difference => values[0] - values[1],
                Operation::Product => values.iter().product(),
                Operation::Quotient => values[0] / values[1],
                Operation::Percent => values[0] / values[1] * 100.0,
                Operation::RelativeError => values[0] / values[1] - 1.0,
                Operation::Longest => values.iter().copied().fold(0.0, f64::max),
                Operation::RoundedUp
                | Operation::RoundedDown
                | Operation::Smallest
                | Operation::Between => f64::NAN,
            };
            (result - term.number.value()).abs() <= 1e-9 * result.abs().max(1e-30)
        }
    };
    is_equal.then_some(()).ok_or_else(|| format!("{term:#?}"))
}

/// What a view tells about a number: its terms come to what is shown, or words say why there is no
/// number.
pub(crate) fn assert_told(told: &Explanation) {
    match &told.term {
        Some(term) => {
            comes_out(term)
                .unwrap_or_else(|why| panic!("{} of {}: {why}", told.title, told.subject));
            assert_eq!(told.value, term.text(), "{told:#?}");
        }
        None => assert!(!told.notes.is_empty(), "{told:#?}"),
    }
    let texts = [&told.title, &told.subject, &told.value];
    assert!(texts.iter().all(|text| !text.is_empty()), "{told:#?}");
    assert!(
        !told.formula.is_empty() && !told.sources.is_empty(),
        "{told:#?}"
    );
}
