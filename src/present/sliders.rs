//! The params of a program as sliders and number boxes.

use crate::core::Program;
use crate::core::model::program::ParamRange;

/// A param.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliderRow {
    /// What expressions call it; no other param has this name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// The slider's range; without one there is only a number box.
    pub range: Option<ParamRange>,
}

impl SliderRow {
    /// The value of what is typed so far into the box. `None` while it is no number or out of range: it may be on its
    /// way to another one.
    pub fn typed(&self, text: &str) -> Option<i64> {
        let value = text.parse().ok()?;
        let is_in_range = |range: ParamRange| (range.min..=range.max).contains(&value);
        self.range.is_none_or(is_in_range).then_some(value)
    }

    /// The value of what was typed into the box, moved into the range. `None` where it is no number.
    pub fn entered(&self, text: &str) -> Option<i64> {
        let value: i64 = text.parse().ok()?;
        // A range that is empty has an end before its start.
        Some(self.range.map_or(value, |range| {
            value.clamp(range.min, range.max.max(range.min))
        }))
    }
}

/// All params, in text order.
pub fn slider_rows(program: &Program) -> Vec<SliderRow> {
    let rows = program.params.iter().map(|param| SliderRow {
        name: param.name.text.clone(),
        value: param.value,
        range: param.range,
    });
    rows.collect()
}
