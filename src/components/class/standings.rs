//! How students stand at a question: what is counted of a class.

use fuseline_learn::lesson::progress::Outcome;
use fuseline_learn::results::check::Standing;

/// A heading, and who stands so at a question.
pub(super) type Counted = (&'static str, fn(&Standing) -> bool);

/// What of a class is counted at each question.
pub(super) const STANDINGS: [Counted; 4] = [
    ("Right at once", |standing| {
        *standing == Standing::Ended(Outcome::Right)
    }),
    ("Right later", |standing| {
        *standing == Standing::Ended(Outcome::Nudged)
    }),
    ("Shown or skipped", |standing| {
        matches!(standing, Standing::Ended(Outcome::Shown | Outcome::Skipped))
    }),
    ("Stuck here", |standing| *standing == Standing::Open),
];
