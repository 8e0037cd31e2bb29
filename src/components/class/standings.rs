//! How students stand at a question: what is counted of a class.

use fuseline_learn::lesson::progress::StepOutcome;
use fuseline_learn::results::check::Standing;

/// A heading, and whether a student's standing at a question counts below it.
pub(super) type Counted = (&'static str, fn(&Standing) -> bool);

/// What of a class is counted at each question.
pub(super) const STANDINGS: [Counted; 4] = [
    ("Right at once", |standing| {
        *standing == Standing::Ended(StepOutcome::Right)
    }),
    ("Right later", |standing| {
        *standing == Standing::Ended(StepOutcome::Nudged)
    }),
    ("Shown or skipped", |standing| {
        matches!(
            standing,
            Standing::Ended(StepOutcome::Shown | StepOutcome::Skipped)
        )
    }),
    ("Stuck here", |standing| *standing == Standing::Open),
];
