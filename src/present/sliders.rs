//! The params of a program as sliders and number boxes.

use crate::core::Program;
use crate::core::model::program::ParamRange;

/// A param.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliderRow {
    /// Its name in expressions; unique.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// The slider's range; without one there is only a number box.
    pub range: Option<ParamRange>,
}

impl SliderRow {
    /// The value of a partly typed number. `None` if it is no number or out of range: the visitor may still be
    /// typing.
    pub fn typed(&self, text: &str) -> Option<i64> {
        let value = text.parse().ok()?;
        let is_in_range = |range: ParamRange| (range.min..=range.max).contains(&value);
        self.range.is_none_or(is_in_range).then_some(value)
    }

    /// The value of a typed number, clamped to the range. `None` if it is no number.
    pub fn entered(&self, text: &str) -> Option<i64> {
        let value: i64 = text.parse().ok()?;
        // In an empty range `max` is below `min`.
        Some(self.range.map_or(value, |range| {
            value.clamp(range.min, range.max.max(range.min))
        }))
    }
}

/// The first `max_rows` params, in text order.
pub fn slider_rows(program: &Program, max_rows: usize) -> Vec<SliderRow> {
    let rows = program.params.iter().take(max_rows).map(|param| SliderRow {
        name: param.name.text.clone(),
        value: param.value,
        range: param.range,
    });
    rows.collect()
}
