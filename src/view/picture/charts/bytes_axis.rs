//! The frame of bar charts: one horizontal axis of bytes.

use crate::picture::charts::axis::{Axes, round_axis};
use crate::picture::charts::frame::{ChartFrame, Margins, Plot, draw_frame};
use crate::picture::charts::scene::Mark;
use crate::present::format::format_bytes;

/// Draws an axis that ends at a round figure of at least `max_bytes`, or the held one, with as many
/// ticks as fit into `length`.
pub(super) fn draw_bytes_frame(
    size: (f64, f64),
    margins: Margins,
    max_bytes: u64,
    held: Option<Axes>,
    length: f64,
    marks: &mut Vec<Mark>,
) -> Plot {
    let frame = ChartFrame {
        size,
        margins,
        x: round_axis(max_bytes as f64).or_held(held.map(|axes| axes.x)),
        y: None,
        x_ticks: tick_count(length),
        x_text: &tick_text,
        y_text: &|_| String::new(),
        lines: &[],
    };
    draw_frame(&frame, marks)
}

/// How many byte counts fit below an axis of this length.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths are on the frame"
)]
pub(super) fn tick_count(length: f64) -> usize {
    (length / 80.0).clamp(2.0, 11.0) as usize
}

/// The text of a tick, without trailing zeros: `0`, `500 MB`, `1.5 GB`. None at a part of a byte,
/// as an empty program would have.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ticks are positive and at most a power of ten above the program's bytes"
)]
pub(super) fn tick_text(bytes: f64) -> String {
    const ROUNDING: f64 = 1e-6;
    if bytes < 10.0 && (bytes - bytes.round()).abs() > ROUNDING {
        return String::new();
    }
    without_zeros(&format_bytes(bytes.round() as u64))
}

/// A figure with its unit, without trailing zeros: `0`, `500 MB`, `1.5 ms`.
pub(super) fn without_zeros(text: &str) -> String {
    match text.split_once(' ') {
        Some(("0", _)) => "0".to_owned(),
        Some((digits, unit)) if digits.contains('.') => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits} {unit}")
        }
        _ => text.to_owned(),
    }
}
