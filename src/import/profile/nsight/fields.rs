//! The fields of a profiler's table: numbers with their units, sizes of grids, and ranges.

use crate::profile::{ContentError, VARIANTS};

/// A field without blanks around it; empty without the column.
pub(super) fn text(fields: &[String], column: Option<usize>) -> &str {
    column
        .and_then(|column| fields.get(column))
        .map_or("", |field| field.trim())
}

/// A number as a table spells it. `1.211` may be 1.211 or 1,211, depending on the profiler's
/// locale; other numbers in the table decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spelled {
    /// Read with a decimal point, and with a decimal comma; at least one reading is valid.
    readings: [Option<f64>; 2],
}

impl Spelled {
    /// Whether the number is spelled with a decimal comma; `None` where it may be either.
    pub(super) fn has_comma(self) -> Option<bool> {
        match self.readings {
            [Some(_), Some(_)] => None,
            [point, _] => Some(point.is_none()),
        }
    }

    /// The number, in a table that has decimal commas or not.
    pub(super) fn value(self, has_comma: bool) -> f64 {
        let [point, comma] = self.readings;
        let value = if has_comma {
            comma.or(point)
        } else {
            point.or(comma)
        };
        value.unwrap_or_default()
    }

    /// The time since another one; `None` if it is earlier.
    pub(super) fn minus(self, start: Self) -> Option<Self> {
        let mut readings = [None; 2];
        for ((left, end), start) in readings.iter_mut().zip(self.readings).zip(start.readings) {
            *left = end
                .zip(start)
                .map(|(end, start)| end - start)
                .filter(|&left| left >= 0.0);
        }
        (readings != [None, None]).then_some(Self { readings })
    }

    /// The number in another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            readings: self.readings.map(|value| Some(value? * factor)),
        }
    }
}

/// A number with or without thousands separators; `None` where nothing was measured.
pub(super) fn number(text: &str) -> Result<Option<Spelled>, ContentError> {
    if text.is_empty() || matches!(text, "n/a" | "N/A" | "-" | "nan" | "(nan)") {
        return Ok(None);
    }
    // French separates thousands by spaces, and Swiss German by apostrophes.
    let is_gap = |c: char| c.is_whitespace() || matches!(c, '\'' | '\u{2019}');
    let plain: String = text.chars().filter(|&c| !is_gap(c)).collect();
    let readings = [('.', ','), (',', '.')].map(|signs| read(&plain, signs));
    if readings == [None, None] {
        return Err(ContentError::NoNumber(text.to_owned()));
    }
    Ok(Some(Spelled { readings }))
}

/// The number, if these are its decimal and its thousands separator.
fn read(text: &str, (decimal, group): (char, char)) -> Option<f64> {
    let (whole, fraction) = text.split_once(decimal).unwrap_or((text, ""));
    let mut groups = whole.split(group);
    let first = groups.next()?;
    let mut are_thousands = groups.map(|group| group.len() == 3);
    if whole.contains(group) {
        let starts_well = matches!(first.len(), 1..=3) && !first.starts_with('0');
        if !starts_well || !are_thousands.all(|is| is) {
            return None;
        }
    }
    let mut plain = whole.replace(group, "");
    if !fraction.is_empty() {
        plain.push('.');
        plain.push_str(fraction);
    }
    let number = plain.parse::<f64>().ok();
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

/// A number of bytes; `None` if it is not finite.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of bytes, at least 0; one past the largest integer becomes that integer"
)]
pub(super) fn whole(bytes: f64) -> Option<u64> {
    bytes.is_finite().then(|| bytes.round() as u64)
}

/// Seconds or bytes in a unit, which may be per second.
pub(super) fn factor(unit: &str) -> Option<f64> {
    let unit = unit.split_once('/').map_or(unit, |(unit, _)| unit);
    Some(match unit {
        "ns" | "nsecond" => 1e-9,
        "us" | "usecond" | "μs" | "µs" => 1e-6,
        "ms" | "msecond" => 1e-3,
        "s" | "second" | "sec" | "byte" | "B" => 1.0,
        "Kbyte" => 1e3,
        "Mbyte" => 1e6,
        "Gbyte" => 1e9,
        "Tbyte" => 1e12,
        _ => return None,
    })
}

/// Three sizes: `(384, 1, 1)`, or `384, 1, 1` in the window.
pub(super) fn sizes(text: &str) -> Option<[u32; 3]> {
    let inner = text.trim_start_matches('(').trim_end_matches(')');
    let mut sizes = inner.split(',').map(|size| size.trim().parse().ok());
    Some([sizes.next()??, sizes.next()??, sizes.next()??])
}

/// The innermost range with the name of a variant: `eager` of
/// `640  "<default domain>:eager:none:none:none:none:none:none" `.
pub(super) fn variant_of(text: &str) -> Option<&'static str> {
    let mut names = text.rsplit('"').filter_map(|part| part.split(':').nth(1));
    names.find_map(|name| VARIANTS.into_iter().find(|variant| *variant == name.trim()))
}
