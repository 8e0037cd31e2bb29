//! The values of a slider by their places.

use crate::resolve::ParamValues;

/// The values of a slider, ascending. Their places count from 0.
pub(super) struct Grid(ParamValues);

impl Grid {
    pub(super) fn new(values: ParamValues) -> Self {
        Self(values)
    }

    /// How many values there are; at least one.
    pub(super) fn len(&self) -> usize {
        match &self.0 {
            ParamValues::Listed(values) => values.len(),
            &ParamValues::Steps { min, max, step } => {
                usize::try_from((max - min) / step.max(1)).map_or(usize::MAX, |last| last + 1)
            }
        }
    }

    /// The value at a place; the last one beyond.
    pub(super) fn value(&self, place: usize) -> i64 {
        let place = place.min(self.len() - 1);
        match &self.0 {
            ParamValues::Listed(values) => values[place],
            &ParamValues::Steps { min, step, .. } => {
                min + i64::try_from(place).unwrap_or(i64::MAX) * step
            }
        }
    }

    /// The place of the last value that is not above this one.
    fn place(&self, value: f64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.value(middle) as f64 <= value {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// All places, or `count` of them that are about even on a logarithmic axis, both ends among
    /// them. Ascending.
    pub(super) fn spread(&self, count: usize) -> Vec<usize> {
        let last = self.len() - 1;
        if self.len() <= count || count < 2 {
            return (0..=last).collect();
        }
        // The logarithm of 0 is no value.
        let [low, high] = [0, last].map(|place| self.value(place).max(1) as f64);
        let part = |at: usize| at as f64 / (count - 1) as f64;
        // A little more, so that rounding does not miss a value that it should hit.
        let value = |at| low * (high / low).powf(part(at)) * (1.0 + 1e-9);
        let mut places: Vec<usize> = (0..count).map(|at| self.place(value(at))).collect();
        // Rounding may miss the end, too; where it did not, `dedup` removes the second one.
        places.push(last);
        places.dedup();
        places
    }
}
