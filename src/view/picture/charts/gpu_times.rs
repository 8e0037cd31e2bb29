//! Times on your GPU (WebGPU) beside what is predicted for it.

use crate::picture::charts::axis::round_axis;
use crate::picture::charts::bytes_axis::{tick_count, without_zeros};
use crate::picture::charts::frame::{ChartFrame, Plot, draw_frame};
use crate::picture::charts::scene::{Label, Mark, Role, Scene};
use crate::picture::charts::two_panels::{BarPlace, MAX_ROWS, NAME_CHARS, TwoPanels, bar};
use crate::present::format::{format_seconds, format_tick_seconds};
use crate::present::names::{counted, short_name};
use crate::present::your_gpu::{TimePair, TimeRow, time_rows, total_row};
use fuseline_codegen::your_gpu::Outcome;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuTimeRows {
    /// All kernels together.
    Total,
    /// Each fused kernel.
    Kernels,
}

/// Draws a row for each fused kernel, or one for all, unfused left and fused right on one scale,
/// into a frame of `width` units; its height follows from the number of rows. In a row the upper
/// bar is measured and the lower one predicted.
pub fn scene(outcome: &Outcome, of: GpuTimeRows, width: f64) -> Scene {
    let (rows, left_out) = match of {
        GpuTimeRows::Total => (vec![total_row(outcome)], 0),
        GpuTimeRows::Kernels => slowest(time_rows(outcome)),
    };
    let of_pair = |pair: TimePair| pair.predicted_s.max(pair.measured_s);
    let each = rows
        .iter()
        .map(|row| of_pair(row.unfused).max(of_pair(row.fused)));
    let longest_s = each.fold(0.0, f64::max);
    let panels = TwoPanels::new(width, rows.len());
    let size = panels.size;

    let mut marks = Vec::new();
    let plots = panels.plots(["unfused", "fused"], &mut marks, |margins, marks| {
        let frame = ChartFrame {
            size,
            margins,
            x: round_axis(longest_s),
            y: None,
            x_ticks: tick_count(panels.axis_length),
            x_text: &|seconds| without_zeros(&format_tick_seconds(seconds)),
            y_text: &|_| String::new(),
            lines: &[],
        };
        draw_frame(&frame, marks)
    });
    for (index, row) in rows.iter().enumerate() {
        push_row(index, row, panels, &plots, &mut marks);
    }
    let more = match left_out {
        0 => String::new(),
        more => format!(" {} with less time are left out.", counted(more, "kernel")),
    };
    let title = match of {
        GpuTimeRows::Total => "Times of all kernels on your GPU",
        GpuTimeRows::Kernels => "Times of each fused kernel on your GPU",
    };
    let description = format!(
        "Unfused on the left, fused on the right. The upper bar is measured, the lower bar is predicted.{more}"
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

fn push_row(
    index: usize,
    row: &TimeRow,
    panels: TwoPanels,
    [unfused, fused]: &[Plot; 2],
    marks: &mut Vec<Mark>,
) {
    let of_kernel = |mark: Mark| match row.kernel {
        Some(kernel) => mark.of_kernel(kernel),
        None => mark,
    };
    let heading = match row.kernel {
        Some(kernel) => format!("kernel {}: {}", kernel.number(), row.name),
        None => row.name.clone(),
    };
    let name = short_name(&row.name, NAME_CHARS);
    let caption = panels.number_and_name(index, row.kernel, &name);
    marks.extend(caption.into_iter().flatten().map(of_kernel));
    for (plot, pair, what) in [
        (
            unfused,
            row.unfused,
            ["measured unfused", "predicted unfused"],
        ),
        (fused, row.fused, ["measured fused", "predicted fused"]),
    ] {
        for (role, seconds, place, what) in [
            (
                Role::MeasuredTime,
                pair.measured_s,
                BarPlace::Upper,
                what[0],
            ),
            (
                Role::PredictedTime,
                pair.predicted_s,
                BarPlace::Lower,
                what[1],
            ),
        ] {
            let label = Label::new(heading.as_str(), vec![(what, format_seconds(seconds))]);
            marks.push(of_kernel(bar(plot, role, index, place, seconds)).named(label));
        }
    }
}
