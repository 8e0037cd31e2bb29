//! Memory traffic kernel by kernel: what each reads and writes, before and after fusion.

use crate::core::{Analysis, KernelId};
use crate::picture::charts::Charted;
use crate::picture::charts::bytes_axis::draw_bytes_frame;
use crate::picture::charts::frame::{Margins, Plot, drawable, is_compact};
use crate::picture::charts::kernel_bytes::{KernelBytes, ShownKernel};
use crate::picture::charts::labels::short_op_names;
use crate::picture::charts::marks::{rect, text};
use crate::picture::charts::scene::{Anchor, Axes, Label, Mark, Role, Scene};
use crate::present::format::format_bytes;
use crate::present::names::{counted, short_name};
use std::cmp::Reverse;

/// Rows, at most. Further kernels share the last one.
const MAX_ROWS: usize = 40;
/// Characters of a kernel's name, at most.
const NAME_CHARS: usize = 26;
const ROW_HEIGHT: f64 = 28.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 28.0;

struct Row {
    /// `None` for the kernels that share the last row.
    kernel: Option<KernelId>,
    name: String,
    heading: String,
    bytes: KernelBytes,
}

/// Draws a row for each fused kernel, reads left and writes right on one scale, into a frame of `width` units (at least
/// 240); its height follows from the number of kernels.
///
/// Of many kernels those that move most bytes before fusion have rows of their own, in the order in which they run.
/// The axis that was `held` stands still as in [`scene`](super::traffic_bars::scene).
pub fn by_kernel_scene(analysis: &Analysis, width: f64, held: Option<Axes>) -> Scene {
    by_kernel_scene_of(Charted::fused(analysis), width, held)
}

/// The same, with one row for all equal kernels of a program that is repeated. It shows both states at once.
pub fn by_kernel_scene_of(charted: Charted<'_>, width: f64, held: Option<Axes>) -> Scene {
    let Charted {
        analysis, repeats, ..
    } = charted;
    let rows = rows(analysis, ShownKernel::of(analysis, repeats));
    let (width, _) = drawable((width, 0.0));
    let size = (width, TOP + BOTTOM + ROW_HEIGHT * rows.len().max(1) as f64);
    let max_bytes = rows
        .iter()
        .flat_map(|row| [row.bytes.unfused.read, row.bytes.unfused.written])
        .max()
        .unwrap_or(0);
    let is_compact = is_compact(size);
    let names = if is_compact { 26.0 } else { 214.0 };
    let (gap, right) = (44.0, 26.0);
    let column = ((width - names - gap - right) / 2.0).max(20.0);

    let mut marks = Vec::new();
    let mut plot = |left: f64, right: f64, title: &str| {
        let margins = Margins {
            top: TOP,
            right,
            bottom: BOTTOM,
            left,
        };
        let plot = draw_bytes_frame(size, margins, max_bytes, held, column, &mut marks);
        let at = (plot.bounds.left, TOP - 8.0);
        marks.push(text(Role::BarText, at, Anchor::Start, title));
        plot
    };
    let reads = plot(names, column + gap + right, "read");
    let writes = plot(names + column + gap, right, "written");

    for (index, row) in rows.iter().enumerate() {
        let top = TOP + ROW_HEIGHT * index as f64;
        let of_kernel = |mark: Mark| match row.kernel {
            Some(kernel) => mark.of_kernel(kernel),
            None => mark,
        };
        if let Some(kernel) = row.kernel {
            let number = kernel.number().to_string();
            marks.push(of_kernel(text(
                Role::Number,
                (20.0, top + 18.0),
                Anchor::End,
                number,
            )));
        }
        if !is_compact {
            let at = (28.0, top + 18.0);
            marks.push(text(Role::BarFigure, at, Anchor::Start, row.name.as_str()));
        }
        let KernelBytes { unfused, fused } = row.bytes;
        for (role, plot, count, offset, verb) in [
            (Role::ReadBefore, &reads, unfused.read, 4.0, "read unfused"),
            (Role::Read, &reads, fused.read, 14.0, "read fused"),
            (
                Role::WriteBefore,
                &writes,
                unfused.written,
                4.0,
                "written unfused",
            ),
            (Role::Write, &writes, fused.written, 14.0, "written fused"),
        ] {
            let label = Label::new(row.heading.as_str(), vec![(verb, format_bytes(count))]);
            marks.push(of_kernel(bar(plot, role, count, top + offset)).named(label));
        }
    }
    let scene = Scene::new(
        size,
        "Memory traffic by kernel",
        "Bytes that each fused kernel reads and writes, above before fusion, below after.",
        marks,
    );
    Scene {
        axes: Some(reads.x_axes()),
        ..scene.of_kernels(&analysis.partition)
    }
}

fn bar(plot: &Plot, role: Role, bytes: u64, top: f64) -> Mark {
    rect(role, (plot.x(0.0), top), (plot.x(bytes as f64), top + 9.0))
}

fn rows(analysis: &Analysis, kernels: Vec<ShownKernel>) -> Vec<Row> {
    let own_rows = if kernels.len() > MAX_ROWS {
        MAX_ROWS - 1
    } else {
        kernels.len()
    };
    let mut by_bytes = kernels;
    by_bytes.sort_by_key(|shown| Reverse(shown.bytes.unfused.total()));
    let rest = by_bytes.split_off(own_rows);
    let mut shown = by_bytes;
    shown.sort_by_key(|shown| shown.kernel);
    let mut rows: Vec<Row> = (shown.iter())
        .filter_map(|shown| {
            let ops = &analysis.fused.kernels.get(shown.kernel)?.ops;
            let times = match shown.rounds {
                ..=1 => String::new(),
                rounds => format!(" × {rounds}"),
            };
            let chars = NAME_CHARS - times.chars().count();
            let name = short_name(&short_op_names(analysis, ops), chars);
            Some(Row {
                kernel: Some(shown.kernel),
                name: name + &times,
                heading: shown.heading(analysis),
                bytes: shown.bytes,
            })
        })
        .collect();
    if !rest.is_empty() {
        let count = rest.iter().map(|shown| shown.rounds).sum();
        let name = counted(count, "more kernel");
        rows.push(Row {
            kernel: None,
            heading: name.clone(),
            name,
            bytes: (rest.iter()).fold(KernelBytes::default(), |sum, shown| sum + shown.bytes),
        });
    }
    rows
}
