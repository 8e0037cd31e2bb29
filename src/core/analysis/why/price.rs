//! Prices: the costs before and after a change.

use crate::analysis::Analysis;
use crate::fusion::certificate::ROUNDING;
use crate::model::ids::KernelId;
use crate::model::options::Objective;
use borsh::{BorshDeserialize, BorshSerialize};

/// Bytes and times of kernels.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Cost {
    /// Bytes through memory.
    pub bytes: u64,
    /// The lower bound of the time. `None` where no kernel does the work, as of two matmuls.
    pub bound_s: Option<f64>,
    /// Time that the device model predicts; `None` where there is no bound, or the analysis has no
    /// [`Predicted`].
    ///
    /// [`Predicted`]: crate::analysis::device_model::Predicted
    pub predicted_s: Option<f64>,
}

impl Cost {
    /// The cost of a fused kernel.
    pub fn of_kernel(analysis: &Analysis, kernel: KernelId) -> Option<Self> {
        let fused = analysis.fused.kernels.get(kernel)?;
        let predicted = analysis.predicted.as_ref();
        Some(Self {
            bytes: fused.bytes(),
            bound_s: Some(fused.placement.time_s),
            predicted_s: predicted
                .and_then(|predicted| Some(predicted.kernels.get(kernel)?.time_s)),
        })
    }

    /// The cost of no kernel.
    pub const NOTHING: Self = Self {
        bytes: 0,
        bound_s: Some(0.0),
        predicted_s: Some(0.0),
    };

    /// The cost of these and other kernels together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = |own: Option<f64>, other: Option<f64>| Some(own? + other?);
        Self {
            bytes: self.bytes + other.bytes,
            bound_s: sum(self.bound_s, other.bound_s),
            predicted_s: sum(self.predicted_s, other.predicted_s),
        }
    }
}

/// The cost of the kernels that a change replaces, and of those that replace them. Savings are
/// negative where the change costs more.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Price {
    /// Without the change.
    pub before: Cost,
    /// With the change.
    pub after: Cost,
}

impl Price {
    /// The price of changing nothing.
    pub const NOTHING: Self = Self {
        before: Cost::NOTHING,
        after: Cost::NOTHING,
    };

    /// Bytes through memory that it saves.
    pub const fn saved_bytes(self) -> i64 {
        self.before.bytes.cast_signed() - self.after.bytes.cast_signed()
    }

    /// By how much the lower bound falls.
    pub fn bound_saved_s(self) -> Option<f64> {
        Some(self.before.bound_s? - self.after.bound_s?)
    }

    /// Time that the device model predicts it to save.
    pub fn predicted_saved_s(self) -> Option<f64> {
        Some(self.before.predicted_s? - self.after.predicted_s?)
    }

    /// The time that is predicted to be saved or, where the analysis predicts none, by how much the
    /// lower bound falls. `None` where the device model knows no kernel of the change.
    pub fn time_s(self) -> Option<f64> {
        match self.before.predicted_s {
            Some(_) => self.predicted_saved_s(),
            None => self.bound_saved_s(),
        }
    }

    /// Whether [`Self::time_s`] is predicted.
    pub const fn is_predicted(self) -> bool {
        self.before.predicted_s.is_some() && self.after.predicted_s.is_some()
    }

    /// The price of two changes that have no kernel in common.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            before: self.before.and(other.before),
            after: self.after.and(other.after),
        }
    }

    /// Whether it is a gain by the objective of the analysis. A time must save more than rounding
    /// can.
    pub fn is_gain(self, analysis: &Analysis) -> bool {
        match analysis.options.fusion.objective {
            Objective::Bytes => self.saved_bytes() > 0,
            Objective::Time | Objective::Measured => {
                let least_s = analysis.fused.time_s * ROUNDING;
                (self.bound_saved_s()).is_some_and(|saved_s| saved_s > least_s)
            }
        }
    }
}

/// The price of a merge, and of the equal merges in the other iterations of its block.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct RepeatedPrice {
    /// The price of this merge.
    pub own: Price,
    /// The price of the other merges together.
    pub others: Price,
    /// Number of iterations; 1 where there are no others.
    pub iterations: usize,
}

impl RepeatedPrice {
    /// The price of a change that is made once.
    pub const fn once(own: Price) -> Self {
        Self {
            own,
            others: Price::NOTHING,
            iterations: 1,
        }
    }

    /// Adds the price of one more iteration.
    pub fn add_iteration(&mut self, other: Price) {
        self.others = self.others.and(other);
        self.iterations += 1;
    }

    /// The price of all iterations together.
    pub fn total(self) -> Price {
        self.own.and(self.others)
    }
}
