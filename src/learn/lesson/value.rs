//! Values of quantities: as numbers to compare, as text to read, and as a visitor writes them.

use crate::language::Language;
use fuseline_view::present::format::{
    format_amount, format_bandwidth, format_bytes, format_exact, format_flops, format_intensity,
    format_percent, format_rate, format_ratio, format_seconds,
};
pub use fuseline_view::present::quantity::Unit;
use fuseline_view::present::quantity::{self, Quantity};

/// How an answer in a unit is written.
pub trait AnswerUnit {
    /// The placeholder of an empty field: the form of an answer, and no number near it.
    fn form_in(self, language: Language) -> &'static str;

    /// An answer in this unit that is near no right one, to show the form in a message.
    fn sample(self) -> &'static str;

    /// The metric prefixes with which an answer is usually written, the largest first.
    fn prefixes(self) -> &'static [f64];

    /// Whether a number may stand without its unit, because no prefix could be meant: whoever
    /// writes that many bytes counts single ones.
    fn may_be_left_out(self, number: f64) -> bool;
}

impl AnswerUnit for Unit {
    fn form_in(self, language: Language) -> &'static str {
        match self {
            Self::Count => language.form_count(),
            Self::Bytes => language.form_bytes(),
            Self::Seconds => language.form_seconds(),
            Self::Flops => language.form_flops(),
            Self::Intensity => language.form_intensity(),
            Self::Percent => language.form_percent(),
            Self::Ratio => language.form_ratio(),
            Self::FlopsPerSecond => language.form_flops_per_second(),
            Self::BytesPerSecond => language.form_bytes_per_second(),
        }
    }

    fn sample(self) -> &'static str {
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

    fn prefixes(self) -> &'static [f64] {
        match self {
            Self::Count | Self::Percent | Self::Ratio | Self::Intensity => &[],
            Self::Seconds => &[1.0, 1e-3, 1e-6, 1e-9],
            Self::Bytes | Self::Flops | Self::FlopsPerSecond | Self::BytesPerSecond => {
                &[1e12, 1e9, 1e6, 1e3]
            }
        }
    }

    fn may_be_left_out(self, number: f64) -> bool {
        /// Below this a number is one of kilobytes, megabytes or gigabytes.
        const PLAIN: f64 = 10_000.0;
        number == 0.0
            || match self {
                Self::Count | Self::Percent | Self::Ratio | Self::Intensity => true,
                Self::Bytes | Self::Flops | Self::FlopsPerSecond | Self::BytesPerSecond => {
                    number.abs() >= PLAIN
                }
                Self::Seconds => false,
            }
    }
}

/// The value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureValue {
    Number(f64, Unit),
    /// One of a few words: `memory`.
    Word(String),
}

impl FigureValue {
    /// A number of things.
    pub const fn count(count: usize) -> Self {
        Self::Number(count as f64, Unit::Count)
    }

    /// A number of bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self::Number(bytes as f64, Unit::Bytes)
    }

    /// The value of a quantity, in its unit.
    pub(super) fn of(value: quantity::Value, of: Quantity) -> Self {
        match value {
            quantity::Value::Number(number) => {
                Self::Number(number.value(), of.unit().unwrap_or(Unit::Count))
            }
            quantity::Value::Word(word) => Self::Word(word.to_owned()),
        }
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

/// Whether a text begins like a number.
pub(super) fn is_number(text: &str) -> bool {
    text.trim_start()
        .starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '−' || c == '.')
}

/// A number with a point and nothing else: commas between thousands go, and any other comma is the
/// point of who writes `134,2`. `None` where both readings fail.
pub(super) fn plain_number(text: &str) -> Option<String> {
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

/// By what a number with this unit is multiplied: its prefix, metric or binary. `None` where the
/// unit is another.
pub(super) fn factor_of(written: &str, unit: Unit) -> Option<f64> {
    let symbol = unit.symbol();
    let is_symbol = |rest: &str| {
        let names: &[&str] = match unit {
            // What is counted is not asked for.
            Unit::Count => {
                return rest.chars().count() > 1 && rest.chars().all(char::is_alphabetic);
            }
            Unit::Percent => &["%", "percent", "per cent", "pct"],
            Unit::Ratio => &[
                "x",
                "×",
                "times",
                "fold",
                "x faster",
                "× faster",
                "times faster",
            ],
            Unit::Bytes => &["B", "byte", "bytes"],
            Unit::Seconds => &["s", "sec", "second", "seconds"],
            Unit::Flops => &["FLOP", "FLOPs"],
            Unit::Intensity => &[
                "FLOP/B",
                "FLOPs/B",
                "FLOP/byte",
                "FLOPs/byte",
                "FLOP per byte",
                "FLOPs per byte",
            ],
            Unit::FlopsPerSecond => &["FLOP/s", "FLOPs/s", "FLOPS"],
            Unit::BytesPerSecond => &["B/s", "byte/s", "bytes/s"],
        };
        names.iter().any(|name| rest.eq_ignore_ascii_case(name))
    };
    if is_symbol(written) {
        return Some(1.0);
    }
    if let Some(factor) = binary_prefix(written, |rest| unit == Unit::Bytes && is_symbol(rest)) {
        return Some(factor);
    }
    let prefixes = [
        ("nano", 1e-9),
        ("micro", 1e-6),
        ("milli", 1e-3),
        ("kilo", 1e3),
        ("mega", 1e6),
        ("giga", 1e9),
        ("tera", 1e12),
    ];
    for (name, factor) in prefixes {
        let (start, rest) = written.split_at_checked(name.len()).unwrap_or_default();
        if start.eq_ignore_ascii_case(name) && !symbol.is_empty() && is_symbol(rest) {
            return Some(factor);
        }
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

/// `MiB` and the like: powers of 1024.
fn binary_prefix(written: &str, is_symbol: impl Fn(&str) -> bool) -> Option<f64> {
    let prefixes = [("ki", 1), ("mi", 2), ("gi", 3), ("ti", 4)];
    prefixes.into_iter().find_map(|(prefix, power)| {
        let (start, rest) = written.split_at_checked(prefix.len())?;
        let is_it = start.eq_ignore_ascii_case(prefix) && is_symbol(rest);
        is_it.then(|| 1024_f64.powi(power))
    })
}

/// A tolerated distance as text: `5 %`.
pub(super) fn within_text(part: f64) -> String {
    format_amount(100.0 * part, "%")
}
