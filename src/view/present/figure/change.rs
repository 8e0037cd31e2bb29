//! How a figure has changed since a state was pinned.

use super::explanation::Explanation;
use super::{bytes, explanation};
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::number::Number;
use crate::present::quantity::{Figure, Quantity};
use crate::present::times::TimeKind;
use fuseline_core::Analysis;

/// The explanation of a figure of a pinned state.
pub fn explanation_of_pinned(figure: Figure, pinned: &Analysis) -> Option<Explanation> {
    let explanation = explanation(figure, pinned)?;
    Some(Explanation {
        subject: format!("the pinned state, {}", explanation.subject),
        ..explanation
    })
}

/// The explanation of the change of a figure, pinned and now, that is shown as `change`.
pub fn explanation_of_change(
    [before, after]: [(Figure, &Analysis); 2],
    change: String,
) -> Option<Explanation> {
    // Of a predicted time and a lower bound, both lower bounds are compared.
    let is_one_kind = TimeKind::of(before.1) == TimeKind::of(after.1);
    let comparable = |figure: Figure| match figure.quantity {
        Quantity::Time if !is_one_kind => Figure {
            quantity: Quantity::LowerBound,
            ..figure
        },
        _ => figure,
    };
    let before = explanation(comparable(before.0), before.1)?;
    let explanation = explanation(comparable(after.0), after.1)?;
    let [pinned, now] = [&before, &explanation]
        .map(|explanation| explanation.term.as_ref().map(|term| term.number));
    let (formula, term) = match (pinned?, now?) {
        (Number::Count(pinned), Number::Count(now)) => {
            let terms = vec![
                Term::given("now", Number::Count(now)),
                Term::given("pinned", Number::Count(pinned)),
            ];
            let more = Number::Amount(now as f64 - pinned as f64, "");
            let derivation = Derivation::new(Operation::Difference, terms);
            ("now − pinned", Term::derived("", more, derivation))
        }
        numbers => (
            "(pinned − now) / pinned",
            bytes::saved_part(["pinned", "now"], numbers.into()),
        ),
    };
    Some(Explanation {
        title: format!("{}, relative to the pinned state", explanation.title),
        value: change,
        formula,
        term: Some(term),
        notes: Vec::new(),
        ..explanation
    })
}
