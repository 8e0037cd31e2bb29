//! The params of a program as sliders and number boxes.

use super::format::format_exact;
use crate::core::Program;
use crate::core::notation::print_expr;
use crate::core::resolve::{ParamValues, param_values};

/// A param.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliderRow {
    /// Its name in expressions; unique.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// The values of the slider; without them there is only a number box.
    values: Option<ParamValues>,
    /// What they must divide; empty if nothing.
    dividend: String,
}

/// The numbers of an `<input type="range">`. Where only some values of a range count, they are the places of these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliderTrack {
    /// Its smallest value.
    pub min: i64,
    /// Its largest value.
    pub max: i64,
    /// The distance of two values.
    pub step: i64,
    /// Where it stands.
    pub at: i64,
}

impl SliderRow {
    /// The slider; `None` without a range.
    pub fn track(&self) -> Option<SliderTrack> {
        Some(match self.values.as_ref()? {
            &ParamValues::Steps { min, max, step } => SliderTrack {
                min,
                max,
                step,
                at: self.value,
            },
            listed @ ParamValues::Listed(values) => {
                let place = values.binary_search(&listed.nearest(self.value));
                let short = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
                SliderTrack {
                    min: 0,
                    max: short(values.len() - 1),
                    step: 1,
                    at: short(place.unwrap_or_default()),
                }
            }
        })
    }

    /// The value of the slider when it stands at `at`.
    pub fn value_at(&self, at: i64) -> i64 {
        match &self.values {
            Some(ParamValues::Listed(values)) => {
                let place = usize::try_from(at).unwrap_or_default();
                values[place.min(values.len() - 1)]
            }
            _ => at,
        }
    }

    /// The smallest and the largest value, if there is a range.
    pub fn ends(&self) -> Option<(i64, i64)> {
        match self.values.as_ref()? {
            &ParamValues::Steps { min, max, .. } => Some((min, max)),
            ParamValues::Listed(values) => Some((*values.first()?, *values.last()?)),
        }
    }

    /// The value so many steps of the slider away; without a range each whole number is one step.
    pub fn stepped(&self, steps: i64) -> i64 {
        match self.track() {
            Some(track) => {
                let at = track.at.saturating_add(steps.saturating_mul(track.step));
                self.value_at(at.clamp(track.min, track.max))
            }
            None => self.value.saturating_add(steps),
        }
    }

    /// The value of a typed number.
    ///
    /// # Errors
    /// Why it is no value of the param, as a sentence.
    pub fn entered(&self, text: &str) -> Result<i64, String> {
        let Some(value) = size_of(text) else {
            let text = text.trim();
            let subject = if text.is_empty() { "Nothing" } else { text };
            return Err(format!(
                "{subject} is no size. Write a whole number, such as 4096, 4k for 4 × 1024, or 1e3."
            ));
        };
        let (name, text) = (&self.name, text.trim());
        let grouped = |value: i64| format_exact(value.unsigned_abs().into());
        match &self.values {
            Some(ParamValues::Steps { min, max, .. }) if !(*min..=*max).contains(&value) => {
                let [min, max] = [*min, *max].map(grouped);
                Err(format!(
                    "{name} goes from {min} to {max}, and {text} is outside."
                ))
            }
            Some(values @ ParamValues::Listed(_)) if !values.contains(value) => {
                let (dividend, nearest) = (&self.dividend, grouped(values.nearest(value)));
                Err(format!(
                    "{name} must divide {dividend}, and {text} does not; {nearest} does."
                ))
            }
            _ if value < 1 => Err(format!("{name} is a size, so at least 1.")),
            _ => Ok(value),
        }
    }
}

/// The count that a text like `4096`, `16,384`, `4k` or `1e3` means; `k` and `M` are powers of 1024, as is usual for sizes
/// of tensors.
fn size_of(text: &str) -> Option<i64> {
    let digits: String = (text.chars())
        .filter(|c| !c.is_whitespace() && !matches!(c, '_' | ',' | '\'' | '’'))
        .collect();
    if let Ok(value) = digits.parse() {
        return Some(value);
    }
    let (number, unit) = match digits.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1024.0),
        None => match digits.strip_suffix(['m', 'M']) {
            Some(number) => (number, 1024.0 * 1024.0),
            None => (&*digits, 1.0),
        },
    };
    let value = number.parse::<f64>().ok()? * unit;
    // Up to 2^53 every whole number is exact, and is printed without a fraction.
    let is_exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    is_exact.then(|| value.to_string().parse().ok())?
}

/// The first `max_rows` params, in text order.
pub fn slider_rows(program: &Program, max_rows: usize) -> Vec<SliderRow> {
    let rows = program.params.iter().take(max_rows).map(|param| {
        let dividing = (param.range.as_ref()).and_then(|range| range.dividing.as_ref());
        SliderRow {
            name: param.name.text.clone(),
            value: param.value,
            values: param_values(program, param),
            dividend: dividing.map_or_else(String::new, print_expr),
        }
    });
    rows.collect()
}
