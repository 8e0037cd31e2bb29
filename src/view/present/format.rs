//! Numbers for people: three significant digits, decimal SI prefixes, always a unit.
//!
//! Every byte count, rate and time on the page and on the command line goes through here, so that
//! the same number reads the same everywhere. [`format_exact`] gives the digits behind a rounded
//! figure.

/// SI prefixes by powers of 1000, from 1 up.
const LARGE: [&str; 11] = ["", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];
/// SI prefixes by powers of 1000, from 1 down.
const SMALL: [&str; 5] = ["", "m", "µ", "n", "p"];

/// Bytes: `33.6 MB`. Whole bytes below 1 kB.
pub fn format_bytes(bytes: u64) -> String {
    format_whole(u128::from(bytes), "B")
}

/// Floating-point operations: `1.37 TFLOP`.
pub fn format_flops(flops: u128) -> String {
    format_whole(flops, "FLOP")
}

/// Rate of arithmetic from FLOP/s: `312 TFLOP/s`.
pub fn format_rate(flops_per_s: f64) -> String {
    format_large(flops_per_s, "FLOP/s")
}

/// Rate of memory from byte/s: `2.04 TB/s`.
pub fn format_bandwidth(bytes_per_s: f64) -> String {
    format_large(bytes_per_s, "B/s")
}

/// Any amount: `12.6 MB`, `3.76 T/s`, and without a unit `134 M`.
pub fn format_amount(amount: f64, unit: &str) -> String {
    format_large(amount, unit).trim_end().to_owned()
}

/// A duration from seconds: `4.40 µs`, `1.23 ms`, `0 s`, `< 1 ns`.
pub fn format_seconds(seconds: f64) -> String {
    // No GPU clock resolves less than a nanosecond, so a smaller number would say nothing.
    if seconds > 0.0 && seconds < 1e-9 {
        return "< 1 ns".to_owned();
    }
    format_tick_seconds(seconds)
}

/// A duration at a tick of an axis, which has its value however small: `200 ps`.
pub fn format_tick_seconds(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    if !seconds.is_finite() || seconds >= 0.9995 {
        return format_large(seconds, "s");
    }
    let mut scaled = seconds;
    let mut last = "";
    for prefix in SMALL {
        last = prefix;
        if scaled >= 0.9995 {
            break;
        }
        if prefix != "p" {
            scaled *= 1000.0;
        }
    }
    format!("{} {last}s", three_digits(scaled))
}

/// An amount with six digits, for close comparison: `454.214 µs`.
pub fn format_precisely(amount: f64, unit: &str) -> String {
    let small = SMALL.iter().zip(0_i32..).skip(1);
    let small = small.map(|(prefix, power)| (amount * 1000_f64.powi(power), prefix));
    let large = LARGE.iter().zip(0_i32..);
    let large = large.map(|(prefix, power)| (amount / 1000_f64.powi(power), prefix));
    let found = small
        .chain(large)
        .find(|(scaled, _)| (1.0..1000.0).contains(&scaled.abs()));
    let Some((scaled, prefix)) = found else {
        return format_amount(amount, unit);
    };
    let decimals = match scaled.abs() {
        size if size >= 100.0 => 3,
        size if size >= 10.0 => 4,
        _ => 5,
    };
    format!("{scaled:.decimals$} {prefix}{unit}")
}

/// A figure, marked if it rests on an assumed size: `~33.6 MB`.
pub fn assumed(is_assumed: bool, figure: &str) -> String {
    let mark = if is_assumed { "~" } else { "" };
    format!("{mark}{figure}")
}

/// A figure, marked if it is only a lower bound: `≥ 430 µs`.
pub fn at_least(is_least: bool, figure: &str) -> String {
    let sign = if is_least { "≥ " } else { "" };
    format!("{sign}{figure}")
}

/// Arithmetic intensity in FLOPs for each byte of memory traffic: `156 FLOP/B`, whole above 1000:
/// `1,365 FLOP/B`.
pub fn format_intensity(flops_per_byte: f64) -> String {
    if (999.5..999_999.5).contains(&flops_per_byte) {
        return format!("{} FLOP/B", group_digits(&format!("{flops_per_byte:.0}")));
    }
    format_large(flops_per_byte, "FLOP/B")
}

/// A percentage with one decimal: `14.6 %`.
pub fn format_percent(percent: f64) -> String {
    if percent.is_finite() {
        // A rounded minus zero would read as a loss.
        let rounded = (percent * 10.0).round() / 10.0 + 0.0;
        format!("{rounded:.1} %")
    } else {
        "–".to_owned()
    }
}

/// The change of a total by a saving in percent.
pub fn format_change(saved_percent: f64) -> String {
    let sign = match saved_percent {
        saved if saved > 0.0 => "−",
        saved if saved < 0.0 => "+",
        _ => return "0 %".to_owned(),
    };
    format!("{sign}{}", format_percent(saved_percent.abs()))
}

/// A relative error with its sign.
pub fn format_error(error: f64) -> String {
    if !error.is_finite() {
        return "–".to_owned();
    }
    let sign = if error < 0.0 { "−" } else { "+" };
    format!("{sign}{}", format_percent(error.abs() * 100.0))
}

/// A ratio such as a speedup: `1.17×`.
pub fn format_ratio(ratio: f64) -> String {
    if ratio.is_finite() {
        // Below 1 two decimals say enough.
        if (0.0995..0.9995).contains(&ratio) {
            format!("{ratio:.2}×")
        } else if (999.5..1e15).contains(&ratio) {
            format!("{}×", group_digits(&format!("{ratio:.0}")))
        } else {
            format!("{}×", three_digits(ratio))
        }
    } else {
        "–".to_owned()
    }
}

/// A speedup as the end of a sentence: `1.06× faster`, `0.90× as fast`; close to 1 `0.4 % faster`,
/// `0.4 % slower`, `no faster`.
pub fn format_faster(speedup: f64) -> String {
    let ratio = format_ratio(speedup);
    if ratio == "1.00×" {
        let change = format_percent(100.0 * (speedup - 1.0).abs());
        return match speedup {
            _ if change == "0.0 %" => "no faster".to_owned(),
            faster if faster > 1.0 => format!("{change} faster"),
            _ => format!("{change} slower"),
        };
    }
    let faster = if speedup > 1.0 { "faster" } else { "as fast" };
    format!("{ratio} {faster}")
}

/// A number without a unit, with this many significant digits and no trailing zeros; far from 1
/// with its power of ten.
pub fn format_digits(value: f64, digits: usize) -> String {
    plain(value, |size| {
        if !(1e-4..1e9).contains(&size) {
            let places = digits.saturating_sub(1);
            return format!("{size:.places$e}");
        }
        let before_point = (0..9).filter(|&power| size >= 10_f64.powi(power)).count();
        let after_point = (1..4).filter(|&power| size < 10_f64.powi(-power)).count();
        let places = (digits + after_point).saturating_sub(before_point);
        let text = format!("{size:.places$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    })
}

/// All digits that distinguish a number in f64 from others: `0.0999755859375`.
pub fn format_all_digits(value: f64) -> String {
    plain(value, |size| {
        if (1e-4..1e15).contains(&size) {
            size.to_string()
        } else {
            format!("{size:e}")
        }
    })
}

/// A small number with its power of ten and three digits: `4.88e−4`.
pub fn format_scientific(value: f64) -> String {
    plain(value, |size| format!("{size:.2e}"))
}

/// Adds sign and digit groups to a number; zero, infinity and NaN need no digits.
fn plain(value: f64, digits: impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let size = match value.abs() {
        size if size.is_nan() => return "not a number".to_owned(),
        size if size.is_infinite() => "∞".to_owned(),
        0.0 => return "0".to_owned(),
        size => digits(size),
    };
    let size = match size.split_once('.') {
        Some((whole, rest)) if !rest.contains('e') => format!("{}.{rest}", group_digits(whole)),
        None if !size.contains(['e', '∞']) => group_digits(&size),
        _ => size,
    };
    format!("{sign}{}", size.replace('-', "−"))
}

/// All digits, in groups of three: `2,298,478,592`.
pub fn format_exact(count: u128) -> String {
    group_digits(&count.to_string())
}

/// A number of things: `9`, `1,200`.
pub fn format_count(count: usize) -> String {
    group_digits(&count.to_string())
}

fn group_digits(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole count: all digits below 1000, scaled above.
fn format_whole(count: u128, unit: &str) -> String {
    if count < 1000 {
        format!("{count} {unit}")
    } else {
        format_large(count as f64, unit)
    }
}

/// `value` with the prefix that leaves one to three digits before the point.
fn format_large(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return format!("– {unit}");
    }
    let mut scaled = value;
    for prefix in LARGE {
        // 999.5 and above would round to a fourth digit.
        if scaled.abs() < 999.5 {
            return format!("{} {prefix}{unit}", three_digits(scaled));
        }
        scaled /= 1000.0;
    }
    format!("{value:.2e} {unit}")
}

/// Three significant digits, without an exponent: `0.0123`, `1.20`, `33.6`, `312`.
fn three_digits(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 99.95 || size == 0.0 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else if size >= 0.099_95 {
        3
    } else {
        4
    };
    format!("{value:.decimals$}")
}
