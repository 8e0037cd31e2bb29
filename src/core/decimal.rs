//! Decimal numbers to floats and back, for the few digits that people write and read.
//!
//! The standard library's conversions are exact for any digits, which takes tables and big integers of 20 kB
//! on the page. These are exact for up to 15 digits with a point within 22 places of them, because such a
//! number is the quotient or product of two integers that floats hold exactly; beyond that the last of a
//! float's 17 digits may be off.

/// Powers of ten up to `10^22` are floats without rounding.
const MAX_EXACT_POWER: u32 = 22;
/// Integers up to `2^53` are floats without rounding.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The number that `text` writes: `-12`, `0.125`, `1.5e-3`; `None` for anything else. `O(text)`.
///
/// ```
/// use fuseline::core::decimal::parse_decimal;
/// assert_eq!(parse_decimal("0.125"), Some(0.125));
/// assert_eq!(parse_decimal("-3.35e12"), Some(-3.35e12));
/// assert_eq!(parse_decimal("1e400"), Some(f64::INFINITY));
/// assert_eq!(parse_decimal("1,5"), None);
/// ```
pub fn parse_decimal(text: &str) -> Option<f64> {
    let (is_negative, text) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let mut digits: u64 = 0;
    let mut exponent: i32 = 0;
    let mut has_digits = false;
    let mut is_fraction = false;
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'0'..=b'9' => {
                has_digits = true;
                let longer = digits
                    .checked_mul(10)
                    .and_then(|d| d.checked_add(u64::from(byte - b'0')));
                // Digits past the 19th only move the point.
                exponent = match longer {
                    Some(_) => exponent.saturating_sub(i32::from(is_fraction)),
                    None => exponent.saturating_add(i32::from(!is_fraction)),
                };
                digits = longer.unwrap_or(digits);
            }
            b'.' if !is_fraction => is_fraction = true,
            b'e' | b'E' if has_digits => {
                exponent = exponent.saturating_add(parse_exponent(bytes.as_slice())?);
                break;
            }
            _ => return None,
        }
    }
    let size = scaled(digits as f64, exponent);
    has_digits.then_some(if is_negative { -size } else { size })
}

/// The fewest decimals that give `value` back, without an exponent: `0.125`, `2039000000000`.
///
/// ```
/// use fuseline::core::decimal::{parse_decimal, shortest};
/// assert_eq!(shortest(19.5e12), "19500000000000");
/// assert_eq!(shortest(0.000_002), "0.000002");
/// assert_eq!(parse_decimal(&shortest(0.1)), Some(0.1));
/// ```
pub fn shortest(value: f64) -> String {
    let size = value.abs();
    let mut decimals = 0;
    let mut power = 1.0;
    while decimals < MAX_EXACT_POWER {
        let digits = (size * power).round();
        #[allow(clippy::float_cmp, reason = "the same float is what is looked for")]
        let is_exact = digits / power == size;
        // The next place would no longer be exact.
        if is_exact || digits * 10.0 > MAX_EXACT_INTEGER {
            break;
        }
        decimals += 1;
        power *= 10.0;
    }
    fixed(value, decimals)
}

/// `value` with so many decimals, rounded to nearest: `33.6`; a word for what is no number.
///
/// ```
/// use fuseline::core::decimal::fixed;
/// assert_eq!(fixed(33.554, 1), "33.6");
/// assert_eq!(fixed(-0.04, 1), "-0.0");
/// assert_eq!(fixed(9.996, 2), "10.00");
/// ```
pub fn fixed(value: f64, decimals: u32) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "NaN" } else { "inf" }.to_owned();
    }
    let digits = scaled(value.abs(), decimals.cast_signed()).round_ties_even();
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a large float stops at the largest integer"
    )]
    let mut text = (digits as u128).to_string();
    if decimals > 0 {
        let places = decimals as usize;
        while text.len() <= places {
            text.insert(0, '0');
        }
        text.insert(text.len() - places, '.');
    }
    if value.is_sign_negative() {
        text.insert(0, '-');
    }
    text
}

/// Three digits and an exponent: `3.40e38`. For sizes that no prefix reaches.
pub fn scientific(value: f64) -> String {
    let mut exponent = 0_i32;
    let mut scaled = value;
    while scaled.is_finite() && scaled.abs() >= 9.995 {
        scaled /= 10.0;
        exponent += 1;
    }
    let mut text = fixed(scaled, 2);
    text.push('e');
    text.push_str(&exponent.to_string());
    text
}

fn parse_exponent(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // What overflows is past any float, whichever way.
    let size = digits.parse().unwrap_or(i32::MAX / 2);
    Some(if text.starts_with('-') { -size } else { size })
}

/// `value * 10^exponent` in steps of exact powers.
fn scaled(mut value: f64, exponent: i32) -> f64 {
    let mut left = exponent.unsigned_abs();
    while left > 0 && value != 0.0 && value.is_finite() {
        let step = left.min(MAX_EXACT_POWER);
        let mut power = 1.0;
        for _ in 0..step {
            power *= 10.0;
        }
        value = if exponent < 0 {
            value / power
        } else {
            value * power
        };
        left -= step;
    }
    value
}
