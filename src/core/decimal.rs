//! Decimal numbers to floats and back, correctly rounded for every float and any number of digits.
//!
//! The standard library does the same at speed, by tables that are 10 kB of download. Here an integer as large as
//! the number needs does it in a page of code; what is written often takes the short way of [`shortest`].

use super::big::Big;

/// Powers of ten up to `10^22` are floats without rounding.
const MAX_EXACT_POWER: u32 = 22;
/// Integers up to `2^53` are floats without rounding.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Places of a float's fraction, below the point of its largest bit.
const FRACTION_BITS: i32 = 52;
/// The smallest float is `2^-1074`, and none has more places.
const MIN_EXPONENT: i32 = -1074;
/// The middle between two floats has at most 767 digits, so digits behind these only say "a little more".
const MAX_DIGITS: usize = 800;

/// The float nearest to the number that `text` writes, of two the even one: `-12`, `0.125`, `1.5e-3`; `None` for
/// anything else. `O(text)`.
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
    let mut digits = Big::new(0);
    let mut exponent: i32 = 0;
    let mut count = 0;
    let (mut has_digits, mut is_fraction, mut is_longer) = (false, false, false);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'0'..=b'9' => {
                has_digits = true;
                if count < MAX_DIGITS {
                    digits.multiply_add(10, u32::from(byte - b'0'));
                    count += usize::from(!digits.is_zero());
                    exponent = exponent.saturating_sub(i32::from(is_fraction));
                } else {
                    is_longer |= byte != b'0';
                    exponent = exponent.saturating_add(i32::from(!is_fraction));
                }
            }
            b'.' if !is_fraction => is_fraction = true,
            b'e' | b'E' if has_digits => {
                exponent = exponent.saturating_add(parse_exponent(bytes.as_slice())?);
                break;
            }
            _ => return None,
        }
    }
    if is_longer {
        digits.multiply_add(10, 1);
        exponent = exponent.saturating_sub(1);
        count += 1;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "little more than MAX_DIGITS"
    )]
    let magnitude = exponent.saturating_add(count as i32);
    let size = match magnitude {
        _ if digits.is_zero() => 0.0,
        ..-330 => 0.0,
        -330..=310 => nearest(digits, exponent),
        _ => f64::INFINITY,
    };
    has_digits.then_some(if is_negative { -size } else { size })
}

/// Decimals for a picture: the fewest that give `value` back when 15 digits do, else as many as 15 digits need.
/// Without an exponent: `0.125`, `2039000000000`.
///
/// ```
/// use fuseline::core::decimal::shortest;
/// assert_eq!(shortest(19.5e12), "19500000000000");
/// assert_eq!(shortest(0.000_002), "0.000002");
/// ```
pub fn shortest(value: f64) -> String {
    let size = value.abs();
    let mut decimals = 0;
    let mut power = 1.0;
    while decimals < MAX_EXACT_POWER {
        let digits = (size * power).round();
        #[allow(clippy::float_cmp, reason = "the same float is what is looked for")]
        let is_exact = digits / power == size;
        if is_exact && digits < MAX_EXACT_INTEGER {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number below 2^53"
            )]
            return pointed(&(digits as u64).to_string(), decimals, value);
        }
        // The next place would no longer be exact.
        if digits * 10.0 > MAX_EXACT_INTEGER {
            break;
        }
        decimals += 1;
        power *= 10.0;
    }
    fixed(value, decimals)
}

/// The fewest decimals from which [`parse_decimal`] gives `value` back, whatever digits that takes.
///
/// ```
/// use fuseline::core::decimal::{exact, parse_decimal};
/// assert_eq!(exact(19.5e12), "19500000000000");
/// assert_eq!(exact(0.1 + 0.2), "0.30000000000000004");
/// assert_eq!(parse_decimal(&exact(1e-300)), Some(1e-300));
/// ```
pub fn exact(value: f64) -> String {
    let most = MIN_EXPONENT.unsigned_abs();
    let texts = (0..most).map(|decimals| fixed(value, decimals));
    let mut given_back = texts.filter(|text| parse_decimal(text) == Some(value));
    given_back.next().unwrap_or_else(|| fixed(value, most))
}

/// `value` with so many decimals, rounded to nearest and halves to even: `33.6`; a word for what is no number.
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
    let digits = scaled(value, decimals, 0);
    pointed(&digits.into_text(), decimals, value)
}

/// Three digits and an exponent: `3.40e38`. For sizes of 100 and more that no prefix reaches.
///
/// ```
/// use fuseline::core::decimal::scientific;
/// assert_eq!(scientific(f64::MAX), "1.80e308");
/// assert_eq!(scientific(-999_500.0), "-1.00e6");
/// ```
pub fn scientific(value: f64) -> String {
    if !value.is_finite() {
        return fixed(value, 2);
    }
    let mut dropped = 0;
    let mut digits = scaled(value, 0, 0).into_text();
    // Rounding may carry into a digit more.
    while let Some(more @ 1..) = u32::try_from(digits.len())
        .ok()
        .and_then(|d| d.checked_sub(3))
    {
        dropped += more;
        digits = scaled(value, 0, dropped).into_text();
    }
    let mut text = pointed(&digits, 2, value);
    text.push('e');
    text.push_str(&(dropped + 2).to_string());
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

/// The float nearest to `digits * 10^exponent`, whose size lies between `10^-331` and `10^310`.
fn nearest(mut digits: Big, exponent: i32) -> f64 {
    let tenths = exponent.min(0).unsigned_abs();
    // Four bits for each division by ten, and more than a float's 53 are left.
    let raised = 66 + 4 * tenths;
    digits.multiply_power(2, raised);
    digits.multiply_power(10, exponent.max(0).unsigned_abs());
    let mut is_inexact = digits.divide_power(10, tenths);
    let raised = raised.cast_signed();
    let dropped = (digits.bits() - FRACTION_BITS - 1).max(raised + MIN_EXPONENT);
    is_inexact |= digits.divide_power(2, dropped.unsigned_abs() - 1);
    digits.halve(is_inexact);
    let exponent = dropped - raised;
    let half = exponent / 2;
    // Neither step rounds: the bits that a float cannot hold are gone.
    digits.low_64() as f64 * power_of_two(half) * power_of_two(exponent - half)
}

/// `2^exponent` for exponents from -1022 to 1023.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).unsigned_abs()) << FRACTION_BITS)
}

/// The whole number nearest to `|value| * 10^decimals / 10^dropped`, of two the even one. `value` is finite.
fn scaled(value: f64, decimals: u32, dropped: u32) -> Big {
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let exponent = bits >> FRACTION_BITS & 0x7ff;
    // Numbers without an exponent have no leading 1.
    let (mantissa, exponent) = match exponent {
        0 => (fraction, 1),
        _ => (fraction | 1 << FRACTION_BITS, exponent),
    };
    #[allow(clippy::cast_possible_truncation, reason = "11 bits")]
    let exponent = exponent as i32 + MIN_EXPONENT - 1;
    let mut digits = Big::new(mantissa);
    digits.multiply_power(10, decimals);
    // One bit more than is kept decides the rounding.
    digits.multiply_power(2, (exponent + 1).max(0).unsigned_abs());
    let mut is_inexact = digits.divide_power(2, (exponent + 1).min(0).unsigned_abs());
    is_inexact |= digits.divide_power(10, dropped);
    digits.halve(is_inexact);
    digits
}

/// `digits` with a point before the last `decimals` of them, and the sign of `value`.
fn pointed(digits: &str, decimals: u32, value: f64) -> String {
    let mut text = digits.to_owned();
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
