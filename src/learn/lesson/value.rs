//! Values of quantities: as numbers to compare, as text to read, and as a visitor writes them.

use fuseline_core::Bound;
use fuseline_view::present::format::{
    format_amount, format_bandwidth, format_bytes, format_exact, format_flops, format_intensity,
    format_percent, format_rate, format_ratio, format_seconds,
};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things: kernels, ops, the value of a param.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Floating-point operations.
    Flops,
    /// FLOPs for each byte moved.
    Intensity,
    /// Hundredths.
    Percent,
    /// A factor: `1.7x`.
    Ratio,
    /// FLOPs in a second.
    FlopsPerSecond,
    /// Bytes in a second.
    BytesPerSecond,
}

impl Unit {
    /// How it is written behind a number; empty for counts.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Bytes => "B",
            Self::Seconds => "s",
            Self::Flops => "FLOP",
            Self::Intensity => "FLOP/B",
            Self::Percent => "%",
            Self::Ratio => "x",
            Self::FlopsPerSecond => "FLOP/s",
            Self::BytesPerSecond => "B/s",
        }
    }

    /// What stands in an empty field: the form of an answer, and no number near it.
    pub const fn form(self) -> &'static str {
        match self {
            Self::Count => "a number",
            Self::Bytes => "a number with kB, MB or GB",
            Self::Seconds => "a number with ns, µs or ms",
            Self::Flops => "a number with GFLOP or TFLOP",
            Self::Intensity => "a number of FLOP/B",
            Self::Percent => "a percentage",
            Self::Ratio => "a factor",
            Self::FlopsPerSecond => "a number with TFLOP/s",
            Self::BytesPerSecond => "a number with GB/s or TB/s",
        }
    }

    /// An answer in this unit that is near no right one, to show the form in a message.
    pub const fn sample(self) -> &'static str {
        match self {
            Self::Count => "12",
            Self::Bytes => "1.2 GB",
            Self::Seconds => "350 µs",
            Self::Flops => "2 TFLOP",
            Self::Intensity => "40 FLOP/B",
            Self::Percent => "25 %",
            Self::Ratio => "12x",
            Self::FlopsPerSecond => "80 TFLOP/s",
            Self::BytesPerSecond => "500 GB/s",
        }
    }

    /// Whether a number may stand without its unit, because no prefix could be meant.
    const fn may_be_left_out(self) -> bool {
        matches!(
            self,
            Self::Count | Self::Percent | Self::Ratio | Self::Intensity
        )
    }
}

/// The value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64, Unit),
    /// One of a few words: `memory`.
    Word(String),
}

impl Value {
    /// A number of things.
    pub const fn count(count: usize) -> Self {
        Self::Number(count as f64, Unit::Count)
    }

    /// A number of bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self::Number(bytes as f64, Unit::Bytes)
    }

    /// What limits a kernel: memory, compute or launch.
    pub fn bound(bound: Bound) -> Self {
        Self::Word(
            match bound {
                Bound::Memory => "memory",
                Bound::Matrix | Bound::Vector => "compute",
                Bound::Launch => "launch",
                Bound::Unknown => "unknown",
            }
            .to_owned(),
        )
    }

    /// As a person reads it, rounded as everywhere on the page: `1.96 GB`.
    pub fn text(&self) -> String {
        let &Self::Number(number, unit) = self else {
            return match self {
                Self::Word(word) => word.clone(),
                Self::Number(..) => String::new(),
            };
        };
        match unit {
            // Counts are whole and far below 2^53.
            Unit::Count if number < 0.0 => format!("−{}", format_exact(whole(-number).into())),
            Unit::Count => format_exact(whole(number).into()),
            Unit::Bytes if number < 0.0 => format!("−{}", format_bytes(whole(-number))),
            Unit::Bytes => format_bytes(whole(number)),
            Unit::Seconds => format_seconds(number),
            Unit::Flops => format_flops(whole(number).into()),
            Unit::Intensity => format_intensity(number),
            Unit::Percent => format_percent(number),
            Unit::Ratio => format_ratio(number),
            Unit::FlopsPerSecond => format_rate(number),
            Unit::BytesPerSecond => format_bandwidth(number),
        }
    }
}

/// A figure that is whole and not negative, as an integer.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; the figures come from u64"
)]
const fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// A number as a visitor or a lesson writes it: `1.2 GB`, `3,328`, `50 %`, `350 µs`.
///
/// # Errors
/// What is wrong and what to write instead.
pub fn number_in(text: &str, unit: Unit) -> Result<f64, String> {
    let text = text.trim();
    let (number, written) = split_number(text);
    let sample = unit.sample();
    let number = plain_number(number)
        .and_then(|number| number.parse::<f64>().ok())
        .ok_or_else(|| format!("write a number, such as {sample}"))?;
    if !number.is_finite() {
        return Err(format!("write a number, such as {sample}"));
    }
    if written.is_empty() {
        return if unit.may_be_left_out() || number == 0.0 {
            Ok(number)
        } else {
            Err(format!("write the unit, too, such as {sample}"))
        };
    }
    if let Some(factor) = factor_of(written, unit.symbol()) {
        return Ok(number * factor);
    }
    Err(format!(
        "the unit `{written}` does not fit here: write, for example, {sample}"
    ))
}

/// An answer. A share may be written as a part of one, too: `97 %`, `0.97`, `128/132`.
///
/// # Errors
/// As [`number_in`].
pub fn parts_in(text: &str, unit: Unit) -> Result<f64, String> {
    if unit != Unit::Percent {
        return number_in(text, unit);
    }
    if let Some((part, whole)) = text.split_once('/') {
        let [part, whole] = [part, whole].map(|text| number_in(text, Unit::Count));
        let share = 100.0 * part? / whole?;
        return if share.is_finite() {
            Ok(share)
        } else {
            Err(format!("write a number, such as {}", unit.sample()))
        };
    }
    let number = number_in(text, unit)?;
    let has_unit = !split_number(text.trim()).1.is_empty();
    Ok(if has_unit || number.abs() >= 1.0 {
        number
    } else {
        100.0 * number
    })
}

/// Whether a text begins like a number.
pub(super) fn is_number(text: &str) -> bool {
    text.trim_start()
        .starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '−' || c == '.')
}

/// The digits with their points and commas, and what follows them.
fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '−')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim())
}

/// A number with a point and nothing else: commas between thousands go, and any other comma is the point of who writes `134,2`.
/// `None` where both readings fail.
fn plain_number(text: &str) -> Option<String> {
    let text = text.replace('−', "-");
    if !text.contains(',') {
        return Some(text);
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next().unwrap_or_default();
    let has_thousands = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && !decimals.contains(',')
        && groups.all(|group| group.len() == 3);
    match text.matches(',').count() {
        _ if has_thousands => Some(text.replace(',', "")),
        1 if !text.contains('.') => Some(text.replace(',', ".")),
        _ => None,
    }
}

/// By what a number with this unit is multiplied: its metric prefix. `None` where the unit is another.
fn factor_of(written: &str, symbol: &str) -> Option<f64> {
    let is_symbol = |rest: &str| {
        rest.eq_ignore_ascii_case(symbol)
            || match symbol {
                "%" => rest == "percent",
                "x" => rest == "×" || rest == "times",
                "B" => rest == "bytes",
                "FLOP" => rest.eq_ignore_ascii_case("FLOPs"),
                _ => false,
            }
    };
    if is_symbol(written) {
        return Some(1.0);
    }
    let mut letters = written.chars();
    let factor = match letters.next()? {
        'n' => 1e-9,
        'u' | 'µ' | 'μ' => 1e-6,
        'm' if symbol == "s" => 1e-3,
        'k' | 'K' => 1e3,
        'M' | 'm' => 1e6,
        'G' | 'g' => 1e9,
        'T' | 't' => 1e12,
        'P' => 1e15,
        _ => return None,
    };
    let rest = letters.as_str();
    (is_symbol(rest) || (symbol.is_empty() && rest.is_empty())).then_some(factor)
}

/// A tolerated distance as text: `5 %`.
pub(super) fn within_text(part: f64) -> String {
    format_amount(100.0 * part, "%")
}
