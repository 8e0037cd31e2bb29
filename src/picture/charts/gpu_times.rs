//! Times on the visitor's own GPU beside what is predicted for it.

use crate::core::own_gpu::Outcome;
use crate::picture::charts::axis::round_axis;
use crate::picture::charts::bytes_axis::{tick_count, without_zeros};
use crate::picture::charts::frame::{Frame, Margins, Plot, draw_frame, drawable, is_compact};
use crate::picture::charts::marks::{rect, text};
use crate::picture::charts::scene::{Anchor, Label, Mark, Role, Scene};
use crate::present::format::format_seconds;
use crate::present::names::{counted, short_name};
use crate::present::own_gpu::{TimePair, TimeRow, time_rows, total_row};
use std::cmp::Reverse;

/// Rows, at most; the slowest kernels have them.
const MAX_ROWS: usize = 40;
/// Characters of a kernel's name, at most.
const NAME_CHARS: usize = 26;
const ROW_HEIGHT: f64 = 28.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 28.0;

/// What has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All kernels together.
    Total,
    /// Each fused kernel.
    Kernels,
}

/// Draws a row for each fused kernel, or one for all, unfused left and fused right on one scale, into a frame of `width` units;
/// its height follows from the number of rows. In a row the upper bar is measured and the lower one predicted.
pub fn scene(outcome: &Outcome, of: Rows, width: f64) -> Scene {
    let (rows, left_out) = match of {
        Rows::Total => (vec![total_row(outcome)], 0),
        Rows::Kernels => slowest(time_rows(outcome)),
    };
    let (width, _) = drawable((width, 0.0));
    let size = (width, TOP + BOTTOM + ROW_HEIGHT * rows.len().max(1) as f64);
    let of_pair = |pair: TimePair| pair.predicted_s.max(pair.measured_s);
    let each = rows
        .iter()
        .map(|row| of_pair(row.unfused).max(of_pair(row.fused)));
    let longest_s = each.fold(0.0, f64::max);
    let is_compact = is_compact(size);
    let names = if is_compact { 26.0 } else { 214.0 };
    let (gap, right) = (44.0, 26.0);
    let column = ((width - names - gap - right) / 2.0).max(20.0);

    let mut marks = Vec::new();
    let mut plot = |left: f64, right: f64, title: &str| {
        let frame = Frame {
            size,
            margins: Margins {
                top: TOP,
                right,
                bottom: BOTTOM,
                left,
            },
            x: round_axis(longest_s),
            y: None,
            x_ticks: tick_count(column),
            x_text: &|seconds| without_zeros(&format_seconds(seconds)),
            y_text: &|_| String::new(),
            lines: &[],
        };
        let plot = draw_frame(&frame, &mut marks);
        let at = (plot.bounds.left, TOP - 8.0);
        marks.push(text(Role::BarText, at, Anchor::Start, title));
        plot
    };
    let unfused = plot(names, column + gap + right, "unfused");
    let fused = plot(names + column + gap, right, "fused");
    for (index, row) in rows.iter().enumerate() {
        push_row(
            row,
            TOP + ROW_HEIGHT * index as f64,
            [&unfused, &fused],
            is_compact,
            &mut marks,
        );
    }
    let more = match left_out {
        0 => String::new(),
        more => format!(
            " {} that took less time are left out.",
            counted(more, "kernel")
        ),
    };
    let title = match of {
        Rows::Total => "Times of all kernels on your GPU",
        Rows::Kernels => "Times of each fused kernel on your GPU",
    };
    let description = format!(
        "Unfused left and fused right; the upper bar is measured, the lower one predicted.{more}"
    );
    Scene::new(size, title, description, marks).of_kernels(&outcome.predicted.partition)
}

/// Those that took longest, in their order, and how many are left out.
fn slowest(mut rows: Vec<TimeRow>) -> (Vec<TimeRow>, usize) {
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    if left_out > 0 {
        let time_s = |row: &TimeRow| row.unfused.measured_s.max(row.fused.measured_s);
        rows.sort_by(|a, b| time_s(b).total_cmp(&time_s(a)));
        rows.truncate(MAX_ROWS);
        rows.sort_by_key(|row| Reverse(row.kernel));
        rows.reverse();
    }
    (rows, left_out)
}

fn push_row(row: &TimeRow, top: f64, plots: [&Plot; 2], is_compact: bool, marks: &mut Vec<Mark>) {
    let of_kernel = |mark: Mark| match row.kernel {
        Some(kernel) => mark.of_kernel(kernel),
        None => mark,
    };
    let number = row.kernel.map(|kernel| kernel.number().to_string());
    let heading = match &number {
        Some(number) => format!("kernel {number}: {}", row.name),
        None => row.name.clone(),
    };
    if let Some(number) = number {
        let at = (20.0, top + 18.0);
        marks.push(of_kernel(text(Role::Number, at, Anchor::End, number)));
    }
    if !is_compact {
        let name = short_name(&row.name, NAME_CHARS);
        let at = (28.0, top + 18.0);
        marks.push(of_kernel(text(Role::BarFigure, at, Anchor::Start, name)));
    }
    for (plot, pair, what) in [
        (
            plots[0],
            row.unfused,
            ["measured unfused", "predicted unfused"],
        ),
        (plots[1], row.fused, ["measured fused", "predicted fused"]),
    ] {
        for (role, seconds, offset, what) in [
            (Role::MeasuredTime, pair.measured_s, 4.0, what[0]),
            (Role::PredictedTime, pair.predicted_s, 14.0, what[1]),
        ] {
            let top = top + offset;
            let bar = rect(role, (plot.x(0.0), top), (plot.x(seconds), top + 9.0));
            let label = Label::new(heading.as_str(), vec![(what, format_seconds(seconds))]);
            marks.push(of_kernel(bar).named(label));
        }
    }
}
