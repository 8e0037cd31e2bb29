//! Launches and kernels over time, as a profiler's timeline shows them: the calls of the CPU above,
//! the kernels of the GPU below.

use crate::picture::charts::axis::round_axis;
use crate::picture::charts::bytes_axis::{tick_count, without_zeros};
use crate::picture::charts::frame::{ChartFrame, Margins, Plot, draw_frame, drawable};
use crate::picture::charts::labels::kernel_heading;
use crate::picture::charts::marks::{line, rect, text, text_width};
use crate::picture::charts::scene::{Anchor, FONT_PX, Label, Mark, Role, Scene};
use crate::present::format::{format_seconds, format_tick_seconds};
use crate::present::names::counted;
use fuseline_core::Analysis;
use fuseline_core::analysis::launches::{
    LATENCY_S, LaunchTimeline, LaunchedKernel, Launcher, PYTHON_LAUNCH_S,
};

/// Most kernels: of more, a screen shows no single one.
const MAX_KERNELS: usize = 60;
const HEIGHT: f64 = 130.0;
const MARGINS: Margins = Margins {
    top: 8.0,
    right: 26.0,
    bottom: 26.0,
    left: 40.0,
};
/// Height of a call and of a kernel.
const CALL_PX: f64 = 16.0;
const KERNEL_PX: f64 = 36.0;
/// Shorter gaps are not hatched: kernels that follow each other closely have them, too.
const LEAST_GAP_PX: f64 = 4.0;

/// Draws the first kernels of a timeline into a frame of `width` units.
pub fn scene(
    analysis: &Analysis,
    timeline: &LaunchTimeline,
    launcher: Launcher,
    width: f64,
) -> Scene {
    let size = drawable((width, HEIGHT));
    let shown = &timeline.kernels[..timeline.kernels.len().min(MAX_KERNELS)];
    let mut marks = Vec::new();
    let frame = ChartFrame {
        size,
        margins: MARGINS,
        x: round_axis(shown.last().map_or(0.0, |last| last.end_s)),
        y: None,
        x_ticks: tick_count(size.0 - MARGINS.left - MARGINS.right),
        x_text: &|seconds| without_zeros(&format_tick_seconds(seconds)),
        y_text: &|_| String::new(),
        lines: &[],
    };
    let plot = draw_frame(&frame, &mut marks);
    let rows = Rows::new(&plot);
    for (name, top, height) in [
        ("CPU", rows.calls_top, CALL_PX),
        ("GPU", rows.kernels_top, KERNEL_PX),
    ] {
        let at = (MARGINS.left - 6.0, top + height / 2.0 + FONT_PX / 3.0);
        marks.push(text(Role::AxisTitle, at, Anchor::End, name));
    }
    push_calls(analysis, shown, launcher, rows, &mut marks);
    for (index, run) in shown.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).and_then(|before| shown.get(before)) {
            push_gap(before.end_s, run.start_s, rows, &mut marks);
        }
        push_kernel(analysis, run, rows, &mut marks);
    }
    let more = match timeline.kernels.len() - shown.len() {
        0 => String::new(),
        more => format!(" {} follow.", counted(more, "more kernel")),
    };
    let description =
        format!("Calls of the CPU above, kernels of the GPU below. Hatched: no kernel runs.{more}");
    Scene::new(size, "Kernels over time", description, marks).of_kernels(&analysis.partition)
}

/// Where the rows are, and the time along them.
#[derive(Clone, Copy)]
struct Rows<'a> {
    plot: &'a Plot,
    calls_top: f64,
    kernels_top: f64,
}

impl<'a> Rows<'a> {
    fn new(plot: &'a Plot) -> Self {
        let calls_top = plot.bounds.top + 4.0;
        Self {
            plot,
            calls_top,
            kernels_top: plot.bounds.bottom - KERNEL_PX - 8.0,
        }
    }
}

/// The calls, and lines from them to the kernels. A call lasts until the next one is due.
fn push_calls(
    analysis: &Analysis,
    shown: &[LaunchedKernel],
    launcher: Launcher,
    rows: Rows<'_>,
    marks: &mut Vec<Mark>,
) {
    let (top, bottom) = (rows.calls_top, rows.calls_top + CALL_PX);
    let mut push = |from_s: f64, until_s: f64, label: Label| {
        let corners = [(rows.plot.x(from_s), top), (rows.plot.x(until_s), bottom)];
        marks.push(rect(Role::LaunchCall, corners[0], corners[1]).named(label));
    };
    match launcher {
        Launcher::CudaGraph => {
            let label = Label::new("one call launches the CUDA graph", Vec::new());
            push(0.0, LATENCY_S, label);
        }
        Launcher::Python => {
            for run in shown {
                let heading = format!("launch of {}", kernel_heading(analysis, run.kernel));
                let facts = vec![("Python takes about", format_seconds(PYTHON_LAUNCH_S))];
                let until_s = run.call_s + PYTHON_LAUNCH_S;
                push(run.call_s, until_s, Label::new(heading, facts));
            }
        }
    }
    for run in shown {
        let ends = [
            (rows.plot.x(run.call_s), bottom),
            (rows.plot.x(run.start_s), rows.kernels_top),
        ];
        marks.push(line(Role::LaunchLine, &ends).of_kernel(run.kernel));
    }
}

/// The GPU waits.
fn push_gap(from_s: f64, until_s: f64, rows: Rows<'_>, marks: &mut Vec<Mark>) {
    let (left, right) = (rows.plot.x(from_s), rows.plot.x(until_s));
    if right - left < LEAST_GAP_PX {
        return;
    }
    let label = Label::new(
        "no kernel runs",
        vec![("for", format_seconds(until_s - from_s))],
    );
    let (top, bottom) = (rows.kernels_top, rows.kernels_top + KERNEL_PX);
    marks.push(rect(Role::IdleGap, (left, top), (right, bottom)).named(label));
}

/// A kernel with its number, where that fits.
fn push_kernel(analysis: &Analysis, run: &LaunchedKernel, rows: Rows<'_>, marks: &mut Vec<Mark>) {
    let (left, right) = (rows.plot.x(run.start_s), rows.plot.x(run.end_s));
    let label = Label::new(
        kernel_heading(analysis, run.kernel),
        vec![
            ("runs", format_seconds(run.end_s - run.start_s)),
            ("starts", format_seconds(run.start_s)),
            ("after its launch", format_seconds(run.start_s - run.call_s)),
        ],
    );
    let (top, bottom) = (rows.kernels_top, rows.kernels_top + KERNEL_PX);
    // A kernel of any time can be seen.
    let right = right.max(left + 1.5);
    let mark = rect(Role::KernelBox, (left, top), (right, bottom));
    marks.push(mark.of_kernel(run.kernel).named(label));
    let number = run.kernel.number().to_string();
    if text_width(&number) <= right - left {
        let at = (
            f64::midpoint(left, right),
            f64::midpoint(top, bottom) + FONT_PX / 3.0,
        );
        marks.push(text(Role::BoxText, at, Anchor::Middle, number).of_kernel(run.kernel));
    }
}
