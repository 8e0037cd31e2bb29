//! Memory traffic kernel by kernel: what each reads and writes, before and after fusion.

use crate::picture::charts::Charted;
use crate::picture::charts::bytes_axis::draw_bytes_frame;
use crate::picture::charts::kernel_bytes::{KernelBytes, ShownKernel};
use crate::picture::charts::labels::short_op_names;
use crate::picture::charts::scene::{Axes, Label, Mark, Role, Scene};
use crate::picture::charts::two_panels::{BarPlace, MAX_ROWS, NAME_CHARS, TwoPanels, bar};
use crate::present::format::format_bytes;
use crate::present::names::{counted, short_name};
use fuseline_core::{Analysis, KernelId};
use std::cmp::Reverse;

struct Row {
    /// `None` for the kernels that share the last row.
    kernel: Option<KernelId>,
    name: String,
    heading: String,
    bytes: KernelBytes,
}

/// Draws a row for each fused kernel, reads left and writes right on one scale, into a frame of
/// `width` units (at least 240); its height follows from the number of kernels.
///
/// Of many kernels those that move most bytes before fusion have rows of their own, in the order in
/// which they run. Further kernels share the last row. The axis that was `held` stands still as in
/// [`scene`](super::traffic_bars::scene).
pub fn by_kernel_scene(analysis: &Analysis, width: f64, held: Option<Axes>) -> Scene {
    by_kernel_scene_of(Charted::fused(analysis), width, held)
}

/// The traffic of `charted`, with one row for all equal kernels of a program that is repeated. It
/// shows both states at once.
pub fn by_kernel_scene_of(charted: Charted<'_>, width: f64, held: Option<Axes>) -> Scene {
    let Charted {
        analysis, repeats, ..
    } = charted;
    let rows = rows(analysis, ShownKernel::of(analysis, repeats));
    let max_bytes = rows
        .iter()
        .flat_map(|row| [row.bytes.unfused.read, row.bytes.unfused.written])
        .max()
        .unwrap_or(0);
    let panels = TwoPanels::new(width, rows.len());
    let size = panels.size;

    let mut marks = Vec::new();
    let [reads, writes] = panels.plots(["read", "written"], &mut marks, |margins, marks| {
        draw_bytes_frame(size, margins, max_bytes, held, panels.axis_length, marks)
    });

    for (index, row) in rows.iter().enumerate() {
        let of_kernel = |mark: Mark| match row.kernel {
            Some(kernel) => mark.of_kernel(kernel),
            None => mark,
        };
        let caption = panels.number_and_name(index, row.kernel, &row.name);
        marks.extend(caption.into_iter().flatten());
        let KernelBytes { unfused, fused } = row.bytes;
        for (role, plot, count, place, verb) in [
            (
                Role::ReadBefore,
                &reads,
                unfused.read,
                BarPlace::Upper,
                "read unfused",
            ),
            (
                Role::Read,
                &reads,
                fused.read,
                BarPlace::Lower,
                "read fused",
            ),
            (
                Role::WriteBefore,
                &writes,
                unfused.written,
                BarPlace::Upper,
                "written unfused",
            ),
            (
                Role::Write,
                &writes,
                fused.written,
                BarPlace::Lower,
                "written fused",
            ),
        ] {
            let label = Label::new(row.heading.as_str(), vec![(verb, format_bytes(count))]);
            let bar = bar(plot, role, index, place, count as f64);
            marks.push(of_kernel(bar).named(label));
        }
    }
    let scene = Scene::new(
        size,
        "Memory traffic by kernel",
        "Bytes that each kernel reads and writes, before fusion above and after fusion below.",
        marks,
    );
    Scene {
        axes: Some(reads.x_axes()),
        ..scene.of_kernels(&analysis.partition)
    }
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
            let times = match shown.iterations {
                ..=1 => String::new(),
                iterations => format!(" × {iterations}"),
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
        let count = rest.iter().map(|shown| shown.iterations).sum();
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
