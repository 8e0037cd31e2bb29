//! SVG path data and transforms: commands and their numbers.

use std::fmt::Write as _;

/// Appends `command` and its numbers: `L30 20.5`.
pub(crate) fn push_command(data: &mut String, command: &str, numbers: &[f64]) {
    data.push_str(command);
    for (place, &number) in numbers.iter().enumerate() {
        if place > 0 {
            data.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = write!(data, "{number}");
    }
}

/// `value` rounded to so many decimals, which keeps path data short.
pub(crate) fn rounded(value: f64, decimals: u32) -> f64 {
    let unit = f64::from(10_u32.pow(decimals));
    (value * unit).round() / unit
}
