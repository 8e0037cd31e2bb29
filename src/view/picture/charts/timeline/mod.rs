//! The memory timeline: which tensors lie in DRAM while which kernel runs.
//!
//! ```text
//!   on chip  [ 1 ][ 2 ][    3    ]     kernels in launch order
//!              |    ^    ^     |       reads and writes, as wide as their bytes
//!   DRAM           ____  |     v
//!            _____|_y1_|_________
//!            |_________x_________|     tensors, from their kernel to the last one that reads them
//! ```
//!
//! Bars are as high as their bytes. They are stacked without gaps, so that the height of the stack
//! is the live memory.

mod arrows;
mod bars;
mod columns;
mod marks;
mod stack;
mod words;

use self::arrows::flows;
use self::bars::bars;
use self::columns::columns;
use self::marks::Drawn;
use self::stack::stack;
use crate::picture::charts::Charted;
use crate::picture::charts::axis::{Axis, exact_axis, round_axis};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::bytes_axis::tick_text;
use crate::picture::charts::frame::drawable;
use crate::picture::charts::marks::{line, text};
use crate::picture::charts::scene::{Anchor, Axes, Mark, Role, Scene};
use fuseline_core::analysis::memory::{Lifetime, lifetimes};
use fuseline_core::{Analysis, Execution, IdVec, KernelId};
pub use words::claim;

/// Top of the kernels.
const STRIP_TOP: f64 = 4.0;
/// Height of a kernel.
const BOX_HEIGHT: f64 = 24.0;
/// Between the kernels and the top of the axis. Holds the words at the peak.
const BETWEEN: f64 = 30.0;
/// Space for the names and figures left of the plot.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 10.0;
/// Space for the words below the plot.
const BOTTOM: f64 = 22.0;
/// Share of a held axis below which the stack would be a line, so that the axis follows it.
const LEAST_HELD_SHARE: f64 = 0.1;
/// Between two ticks, at least.
const TICK_DISTANCE: f64 = 32.0;
/// Steps of the axis, at most.
const MAX_STEPS: f64 = 6.0;
/// Height of a bar, at least; smaller tensors are summed. So low that a size has to change much
/// before a bar comes or goes: biases are below, activations above.
const MIN_BAR_HEIGHT: f64 = 0.1;

/// Draws the memory timeline of the fused program, see [`scene_of`].
pub fn scene(analysis: &Analysis, size: (f64, f64), held: Option<Axes>) -> Scene {
    scene_of(Charted::fused(analysis), size, held)
}

/// Draws the memory timeline into a frame of `size` units, at least 240 by 140. Of equal iterations
/// one is shown, and a narrow column for the later ones. Both views have the same scale; the axis
/// that was `held` before stands still while a slider is held and the stack has at least a tenth of
/// it. `O(n log n)` in ops and tensors.
pub fn scene_of(charted: Charted<'_>, size: (f64, f64), held: Option<Axes>) -> Scene {
    let Charted {
        analysis, is_fused, ..
    } = charted;
    let (width, height) = drawable(size);
    let (execution, other) = if is_fused {
        (&analysis.fused, &analysis.unfused)
    } else {
        (&analysis.unfused, &analysis.fused)
    };
    let most = (analysis.unfused.peak_memory.bytes).max(analysis.fused.peak_memory.bytes);
    let held = held.and_then(|axes| axes.y);
    let held = held.filter(|axis| most as f64 >= LEAST_HELD_SHARE * axis.ends().1);
    let axis = exact_axis(most as f64).or_held(held);
    let plot = Plot {
        axis,
        bounds: Bounds {
            left: LEFT,
            top: STRIP_TOP + BOX_HEIGHT + BETWEEN,
            right: width - RIGHT,
            bottom: height - BOTTOM,
        },
    };
    let mut marks = plot.frame();
    let span = (plot.bounds.left, plot.bounds.right);
    let lifetimes = lifetimes(analysis, execution);
    let live = live_bytes(execution, &lifetimes);
    let shown = columns(charted, execution, &live, span);
    // The arrows of both views have one scale, too.
    let fused_or_not = Charted {
        is_fused: !is_fused,
        ..charted
    };
    let other_columns = columns(fused_or_not, other, &IdVec::default(), span);
    let arrow_scale = arrows::scale([(execution, &*shown), (other, &*other_columns)]);
    let min_bytes = MIN_BAR_HEIGHT * plot.axis.ends().1 / plot.bounds.height();
    let bars = bars(charted, &lifetimes, &shown, min_bytes);
    let drawn = Drawn {
        charted,
        execution,
        plot: &plot,
        columns: &shown,
        live: &live,
        flows: (shown.iter().enumerate())
            .map(|(place, column)| flows(execution, column, place, &bars, &execution.views))
            .collect(),
        arrow_scale,
        stack: stack(&bars.list, shown.len()),
        bars: &bars,
    };
    let focus_order = drawn.draw(&mut marks);
    Scene {
        axes: Some(Axes {
            x: round_axis(1.0),
            y: Some(axis),
        }),
        focus_order,
        ..Scene::new(
            (width, height),
            claim(analysis, is_fused),
            words::description(analysis, &bars, is_fused),
            marks,
        )
        .of_kernels(&analysis.partition)
    }
}

/// For each kernel the bytes that are live while it runs.
fn live_bytes(execution: &Execution, lifetimes: &[Lifetime]) -> IdVec<KernelId, u64> {
    let mut coming: IdVec<KernelId, u64> = IdVec::from_elem(0, execution.kernels.len());
    let mut freed: IdVec<KernelId, u64> = IdVec::from_elem(0, execution.kernels.len());
    for lifetime in lifetimes {
        coming[lifetime.first] += lifetime.bytes;
        freed[lifetime.last] += lifetime.bytes;
    }
    let mut live = 0;
    let kernels = coming.iter().zip(freed.iter());
    let live_then = kernels.map(|(coming, freed)| {
        live += coming;
        let then = live;
        live -= freed;
        then
    });
    live_then.collect()
}

/// Where bytes are, upwards from the bottom.
struct Plot {
    axis: Axis,
    bounds: Bounds,
}

impl Plot {
    /// The height at which so many bytes end.
    fn y(&self, bytes: u64) -> f64 {
        let share = bytes as f64 / self.axis.ends().1;
        self.bounds.bottom - share.min(1.0) * self.bounds.height()
    }

    /// Grid, axis and ticks, and what both halves are.
    fn frame(&self) -> Vec<Mark> {
        let Bounds {
            left,
            top,
            right,
            bottom,
        } = self.bounds;
        let mut marks = Vec::new();
        for bytes in self.ticks() {
            let y = bottom - bytes / self.axis.ends().1 * self.bounds.height();
            let tick = tick_text(bytes);
            marks.push(line(Role::Mesh, &[(left, y), (right, y)]));
            marks.push(text(
                Role::AxisText,
                (left - 6.0, y + 4.2),
                Anchor::End,
                tick,
            ));
        }
        marks.push(line(
            Role::Axis,
            &[(left, top), (left, bottom), (right, bottom)],
        ));
        let title = |at: (f64, f64), words| text(Role::AxisTitle, at, Anchor::End, words);
        let middle = STRIP_TOP + BOX_HEIGHT / 2.0 + 4.2;
        marks.push(title((left - 6.0, middle), "on chip"));
        marks.push(title((left - 6.0, top - 13.0), "DRAM"));
        marks
    }

    /// Bytes at ticks, with round distances.
    fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        const STEPS: [f64; 6] = [0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
        let end = self.axis.ends().1;
        let unit = 10_f64.powf((end.log10() + 1e-9).floor());
        let most = (self.bounds.height() / TICK_DISTANCE).clamp(1.0, MAX_STEPS);
        let mut steps = STEPS.into_iter().map(|step| step * unit);
        let step = steps.find(|step| end / step <= most);
        let step = step.unwrap_or(end);
        let ticks = std::iter::successors(Some(0.0), move |tick| Some(tick + step));
        ticks.take_while(move |tick| *tick <= end * (1.0 + 1e-9))
    }
}
