//! The params of a program as sliders and number boxes.

use super::format::format_exact;
use fuseline_core::Program;
use fuseline_core::model::program::Param;
use fuseline_core::notation::print_expr;
use fuseline_core::notation::spelling::shortened;
use fuseline_core::resolve::{ParamValues, param_values};

/// A param with its slider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliderRow {
    /// Its name in expressions; unique.
    pub name: String,
    /// What it is, as the comment behind it says up to its first colon or semicolon; empty without
    /// one.
    pub about: String,
    pub value: i64,
    /// The values that it may take; without them there is only a number box.
    values: Option<ParamValues>,
    /// Where the slider stops, ascending; `None` where it stops at each step of `values`.
    stops: Option<Vec<i64>>,
    /// The ends of their range.
    ends: [i64; 2],
    /// What they must divide; empty if nothing.
    dividend: String,
}

/// The numbers of an `<input type="range">`. Where a slider has stops, they are the indices of
/// these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliderTrack {
    /// Its smallest value.
    pub min: i64,
    /// Its largest value.
    pub max: i64,
    /// The distance of two values.
    pub step: i64,
    /// The current position.
    pub at: i64,
}

impl SliderRow {
    /// The slider; `None` without a range.
    pub fn track(&self) -> Option<SliderTrack> {
        let values = self.values.as_ref()?;
        match (&self.stops, values) {
            (None, &ParamValues::Steps { min, max, step }) => Some(SliderTrack {
                min,
                max,
                step,
                at: self.value,
            }),
            (Some(stops), _) | (None, ParamValues::Listed(stops)) => {
                let distance = |index: &usize| {
                    stops
                        .get(*index)
                        .map(|stop| (stop.abs_diff(self.value), *stop))
                };
                let at = (0..stops.len()).min_by_key(distance);
                let short = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
                Some(SliderTrack {
                    min: 0,
                    max: short(stops.len().saturating_sub(1)),
                    step: 1,
                    at: short(at.unwrap_or_default()),
                })
            }
        }
    }

    /// The value of the slider when it stands at `at`.
    pub fn value_at(&self, at: i64) -> i64 {
        let ((Some(stops), _) | (None, Some(ParamValues::Listed(stops)))) =
            (&self.stops, &self.values)
        else {
            return at;
        };
        let index = usize::try_from(at).unwrap_or_default();
        let last = stops.last().copied().unwrap_or(self.value);
        stops.get(index).copied().unwrap_or(last)
    }

    /// The smallest and the largest value, if there is a range.
    pub fn ends(&self) -> Option<[i64; 2]> {
        self.values.as_ref().map(|_| self.ends)
    }

    /// The next value of the slider above or below; without a range each whole number is one.
    pub fn stepped(&self, is_up: bool) -> i64 {
        let value = self.value;
        match &self.values {
            None if is_up => value.saturating_add(1),
            None => value.saturating_sub(1).max(1),
            Some(ParamValues::Listed(values)) => {
                let above = values.partition_point(|&known| known <= value);
                let below = values.partition_point(|&known| known < value);
                let next = if is_up {
                    values.get(above)
                } else {
                    values[..below].last()
                };
                next.copied().unwrap_or(value)
            }
            &Some(ParamValues::Steps { min, max, step }) => {
                let steps = (value.clamp(min, max) - min) / step;
                let at = |steps: i64| min + steps * step;
                if is_up {
                    let last = (max - min) / step;
                    at((steps + 1).min(last))
                } else if at(steps) < value {
                    at(steps)
                } else {
                    at((steps - 1).max(0))
                }
            }
        }
    }

    /// Which values may be typed: more than the steps of the slider.
    pub fn entry_hint(&self) -> String {
        let [min, max] = self.ends.map(grouped);
        match &self.values {
            None => "any whole number of at least 1".to_owned(),
            Some(ParamValues::Steps { step: 1, .. }) => {
                format!("any whole number from {min} to {max}")
            }
            &Some(ParamValues::Steps { step, .. }) => {
                let step = grouped(step);
                format!("any whole number from {min} to {max}; the slider moves in steps of {step}")
            }
            Some(ParamValues::Listed(_)) => {
                format!(
                    "a number from {min} to {max} that divides {}",
                    self.dividend
                )
            }
        }
    }

    /// The value of a typed number.
    ///
    /// # Errors
    /// Why it is no value of the param.
    pub fn entered(&self, text: &str) -> Result<i64, EntryError> {
        let (name, shown) = (self.name.clone(), shown_number(text));
        let value = match size_of(text) {
            Some(value) => Some(value),
            None if is_past_sizes(text) => None,
            None if shown.is_empty() => return Err(EntryError::Empty),
            None => return Err(EntryError::NoSize { shown }),
        };
        match &self.values {
            Some(values) if value.is_none_or(|value| !values.contains(value)) => {
                let ends = self.ends;
                Err(if self.dividend.is_empty() {
                    EntryError::Outside { name, ends, shown }
                } else {
                    EntryError::NoDivisor {
                        name,
                        ends,
                        dividend: self.dividend.clone(),
                        shown,
                        nearest: values.nearest(value.unwrap_or(i64::MAX)),
                    }
                })
            }
            _ => match value {
                None => Err(EntryError::TooLarge { shown }),
                Some(value) if value < 1 => Err(EntryError::BelowOne { name }),
                Some(value) => Ok(value),
            },
        }
    }
}

/// Why a typed text is no value of a param, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Nothing was typed.
    #[error("The field was empty. {WRITE_A_SIZE}")]
    Empty,
    /// What was typed is no whole number.
    #[error("{shown} is not a size. {WRITE_A_SIZE}")]
    NoSize {
        /// What was typed.
        shown: String,
    },
    /// A number beyond an end of the slider.
    #[error("{name} ranges from {} to {}, and {shown} is outside.", grouped(ends[0]), grouped(ends[1]))]
    Outside {
        /// The param.
        name: String,
        /// Its least and its largest value.
        ends: [i64; 2],
        /// What was typed.
        shown: String,
    },
    /// A number that does not divide what the param has to.
    #[error(
        "{name} ranges from {} to {} and must divide {dividend}: {shown} does not, {} does.",
        grouped(ends[0]), grouped(ends[1]), grouped(*nearest)
    )]
    NoDivisor {
        /// The param.
        name: String,
        /// Its least and its largest value.
        ends: [i64; 2],
        /// What it has to divide.
        dividend: String,
        /// What was typed.
        shown: String,
        /// The nearest value that does.
        nearest: i64,
    },
    /// A number that no size can be.
    #[error("{shown} exceeds 2^63.")]
    TooLarge {
        /// What was typed.
        shown: String,
    },
    /// Zero, or a negative number.
    #[error("{name} is a size, so it is at least 1.")]
    BelowOne {
        /// The param.
        name: String,
    },
}

const WRITE_A_SIZE: &str = "Write a whole number, such as 4096, 4k for 4 × 1024, or 1e3.";

/// A typed text in a sentence; digits in groups.
fn shown_number(text: &str) -> String {
    let text = text.trim();
    match text.parse::<i128>() {
        Ok(value) => {
            let sign = if value < 0 { "-" } else { "" };
            format!("{sign}{}", format_exact(value.unsigned_abs()))
        }
        Err(_) => shortened(text),
    }
}

fn grouped(value: i64) -> String {
    format_exact(value.unsigned_abs().into())
}

/// The count that a text like `4096`, `16,384`, `4k` or `1e3` means; `k` and `M` are powers of
/// 1024, as is usual for sizes of tensors. A separator stands before three digits.
fn size_of(text: &str) -> Option<i64> {
    let (digits, unit) = digits_and_unit(text)?;
    if let Ok(value) = digits.parse::<i64>() {
        return value.checked_mul(unit.into());
    }
    let value = digits.parse::<f64>().ok()? * f64::from(unit);
    // Up to 2^53 every whole number is exact, and is printed without a fraction.
    let is_exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
    is_exact.then(|| value.to_string().parse().ok())?
}

/// Whether a text is a number above all sizes.
fn is_past_sizes(text: &str) -> bool {
    let value = digits_and_unit(text).and_then(|(digits, unit)| {
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
        let value = digits.parse::<f64>().ok().filter(|_| is_number)?;
        Some(value * f64::from(unit))
    });
    value.is_some_and(|value| value >= i64::MAX as f64)
}

/// A number without separators, and what its unit stands for.
fn digits_and_unit(text: &str) -> Option<(String, i32)> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().next_back()? {
        (end, 'k' | 'K') => (&text[..end], 1024_i32),
        (end, 'm' | 'M') => (&text[..end], 1024 * 1024),
        _ => (text, 1),
    };
    let mut groups = number
        .trim()
        .split([' ', '\u{a0}', '\u{202f}', '_', ',', '\'', '’']);
    let mut digits = groups.next()?.to_owned();
    for group in groups {
        let is_group = group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
        if !is_group || digits.is_empty() {
            return None;
        }
        digits.push_str(group);
    }
    Some((digits, unit))
}

/// The first `max_rows` params of a text, in its order.
pub fn slider_rows(text: &str, program: &Program, max_rows: usize) -> Vec<SliderRow> {
    let values = param_values(program, max_rows);
    let rows = program.params.iter().zip(values).map(|(param, values)| {
        let range = param.range.as_ref();
        let dividing = range.and_then(|range| range.dividing.as_ref());
        SliderRow {
            name: param.name.text.clone(),
            about: about(text, param),
            value: param.value,
            stops: values.as_ref().and_then(logarithmic_stops),
            values,
            ends: range.map_or_else(Default::default, |range| [range.min, range.max]),
            dividend: dividing.map_or_else(String::new, print_expr),
        }
    });
    rows.collect()
}

/// The ratio of its ends above which a slider is logarithmic, so that every doubling is as long.
const LINEAR_RATIO: i64 = 100;

/// Powers of two and four multiples between two of them, as far as they are steps of the range, and
/// its ends; `None` for a range of fewer than two decades.
fn logarithmic_stops(values: &ParamValues) -> Option<Vec<i64>> {
    let &ParamValues::Steps { min, max, step } = values else {
        return None;
    };
    if min < 1 || max / min <= LINEAR_RATIO {
        return None;
    }
    let powers = (0..i64::BITS - 1).map(|exponent| 1_i64 << exponent);
    let multiples = powers.flat_map(|power| (0..4).map(move |quarter| power + power / 4 * quarter));
    let is_step = |stop: &i64| (min..=max).contains(stop) && (stop - min) % step == 0;
    let mut stops: Vec<i64> = (multiples.chain([min, max]).filter(is_step)).collect();
    stops.sort_unstable();
    stops.dedup();
    Some(stops)
}

/// What the comment behind a param says that it is.
fn about(text: &str, param: &Param) -> String {
    let rest = text.get(param.span.end..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    let comment = line.trim_start().strip_prefix('#').unwrap_or_default();
    let words = comment.split([':', ';']).next().unwrap_or_default();
    shortened(words.trim())
}
