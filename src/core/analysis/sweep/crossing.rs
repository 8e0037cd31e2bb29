//! Crossings: values of the param at which something changes.

use super::figures::{Measure, SweepFigures};
use crate::model::bound::Bound;
use crate::model::options::Policy;
use borsh::{BorshDeserialize, BorshSerialize};
use std::cmp::Ordering;

/// A value of the param at which something changes.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Crossing {
    /// The first value at which it holds.
    pub value: i64,
    /// The last value before it at which the program has no error.
    pub before: i64,
    /// The change.
    pub change: CrossingChange,
    /// Under which policies; none for what concerns no policy, and for [`CrossingChange::Order`].
    /// Of [`CrossingChange::Half`] and [`CrossingChange::Bound`] it is the chosen one.
    pub policies: Vec<Policy>,
}

impl Crossing {
    /// Merges a crossing at the same value into this one, if one sentence can report both: the same
    /// change under another policy, or of another kernel. Returns whether it did.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        if self.change == other.change {
            self.policies.extend(&other.policies);
            return true;
        }
        match (&mut self.change, &other.change) {
            (
                CrossingChange::Bound {
                    kernels,
                    bound,
                    before,
                },
                CrossingChange::Bound {
                    kernels: more,
                    bound: other_bound,
                    before: other_before,
                },
            ) if (*bound, *before) == (*other_bound, *other_before)
                && self.policies == other.policies =>
            {
                kernels.extend_from_slice(more);
                true
            }
            _ => false,
        }
    }
}

/// A change at a value. Tensors of equal size are named together.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub enum CrossingChange {
    /// Whether the tensors that are live at once fit the device.
    Fits(bool),
    /// Whether each of some tensors is larger than all weights together.
    Weights {
        /// Their names.
        tensors: Vec<String>,
        /// From the value on.
        is_larger: bool,
    },
    /// Whether some tensors are more than half of all bytes that are moved.
    Half {
        /// Their names.
        tensors: Vec<String>,
        /// From the value on.
        is_more: bool,
    },
    /// Two policies change places.
    Order {
        /// By bytes or by time.
        measure: Measure,
        /// The two.
        policies: [Policy; 2],
        /// The first against the second, up to the value before.
        before: Relation,
        /// The first against the second, from the value on.
        now: Relation,
    },
    /// Which of the tensors that ops write is larger than all others.
    Largest {
        /// From the value on.
        tensors: Vec<String>,
        /// The largest up to the value before, without those that still are.
        before: Vec<String>,
        /// Whether both were equally large at the value before.
        was_equal: bool,
    },
    /// How many kernels are launched.
    Kernels {
        /// From the value on.
        count: usize,
        /// Up to the value before.
        before: usize,
    },
    /// The bottleneck of some kernels.
    Bound {
        /// For each the names of its ops.
        kernels: Vec<Vec<String>>,
        /// From the value on.
        bound: Bound,
        /// Up to the value before.
        before: Bound,
    },
}

/// One figure against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Relation {
    /// It is smaller.
    Below,
    /// Both are equal, times up to rounding.
    Equal,
    /// It is larger.
    Above,
}

impl Relation {
    /// The relation of the first to the second in `measure`; `None` where one of them is unknown.
    pub(super) fn of(
        first: &SweepFigures,
        second: &SweepFigures,
        measure: Measure,
    ) -> Option<Self> {
        let order = match measure {
            Measure::Bytes => first.bytes.cmp(&second.bytes),
            Measure::Kernels => first.kernels.cmp(&second.kernels),
            Measure::Time => rounded_order(first.time_s, second.time_s),
            Measure::Intensity => rounded_order(first.intensity()?, second.intensity()?),
        };
        Some(match order {
            Ordering::Less => Self::Below,
            Ordering::Equal => Self::Equal,
            Ordering::Greater => Self::Above,
        })
    }
}

fn rounded_order(first: f64, second: f64) -> Ordering {
    /// Sums of the same times in another order differ by less.
    const ROUNDING: f64 = 1e-9;
    if (first - second).abs() <= ROUNDING * first.abs().max(second.abs()) {
        Ordering::Equal
    } else {
        first.total_cmp(&second)
    }
}
