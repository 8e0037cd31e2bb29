//! The words of SVG: a command and its numbers.

use std::fmt::Write as _;

/// Appends `command` and the numbers behind it: `L30 20.5`.
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

/// `value` to so many decimals: what a picture needs is shorter than what a float holds.
pub(crate) fn rounded(value: f64, decimals: u32) -> f64 {
    let unit = f64::from(10_u32.pow(decimals));
    (value * unit).round() / unit
}
