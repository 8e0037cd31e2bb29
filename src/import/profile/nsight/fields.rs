//! The fields of a profiler's table: numbers with their units, sizes of grids, and ranges.

use crate::profile::VARIANTS;

/// A field without blanks around it; empty without the column.
pub(super) fn text(fields: &[String], column: Option<usize>) -> &str {
    column
        .and_then(|column| fields.get(column))
        .map_or("", |field| field.trim())
}

/// A number with or without commas between its thousands; `None` where nothing was measured.
pub(super) fn number(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() || matches!(text, "n/a" | "N/A" | "-" | "nan" | "(nan)") {
        return Ok(None);
    }
    let plain: String = text.chars().filter(|&c| c != ',').collect();
    let number = plain
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0);
    number
        .map(Some)
        .ok_or_else(|| format!("{text:?} is no number of at least 0"))
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

/// How many seconds or bytes a unit is, alone or for each second.
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

/// Three sizes: `(384, 1, 1)`.
pub(super) fn sizes(text: &str) -> Option<[u32; 3]> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut sizes = inner.split(',').map(|size| size.trim().parse().ok());
    Some([sizes.next()??, sizes.next()??, sizes.next()??])
}

/// The innermost range with the name of a variant: `eager` of `640  "<default domain>:eager:none:none:none:none:none:none" `.
pub(super) fn variant_of(text: &str) -> Option<&'static str> {
    let mut names = text.rsplit('"').filter_map(|part| part.split(':').nth(1));
    names.find_map(|name| VARIANTS.into_iter().find(|variant| *variant == name.trim()))
}
