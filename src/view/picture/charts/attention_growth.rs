//! How the bytes of attention grow with the length of the sequence. On logarithmic axes quadratic
//! growth is a line twice as steep as linear growth.

use crate::picture::charts::axis::{decade_text, decades};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::frame::{ChartFrame, Margins, draw_frame, drawable, is_compact};
use crate::picture::charts::marks::{circle, text};
use crate::picture::charts::scene::{Anchor, Label, Role, Scene};
use crate::present::attention::{AttentionCount, AttentionSizes, LENGTH_POWERS};
use crate::present::format::{format_bytes, format_exact};
use fuseline_core::fusion::attention::Growth;
use fuseline_core::model::device::Device;
use strum::IntoEnumIterator;

/// Draws the three counts of bytes over the length into a frame of `size` units, at least 240 by
/// 140, and marks the length that was chosen. Axes are of whole decades, so the frame stays the
/// same while a slider moves. `O(1)` marks.
pub fn scene(sizes: &AttentionSizes, device: &Device, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let is_compact = is_compact(size);
    let growth_at = |length| sizes.growth_at(length, device);
    let all: Vec<Growth> = LENGTH_POWERS.map(|power| growth_at(1 << power)).collect();
    let here = growth_at(sizes.shape.keys);
    let ends = |of: fn(&Growth) -> u64| {
        let bytes = || all.iter().chain([&here]).map(of);
        (bytes().min().unwrap_or(1), bytes().max().unwrap_or(1))
    };
    let lengths = ends(|growth| growth.length);
    let low = ends(|growth| growth.compulsory_bytes.min(growth.tiled_bytes)).0;
    let high = ends(|growth| growth.standard_bytes.max(growth.tiled_bytes)).1;
    let mut lines: Vec<(Role, Vec<(f64, f64)>)> = AttentionCount::iter()
        .map(|count| {
            let values = all.iter().map(|growth| values(growth, count));
            (curve_role(count), values.collect())
        })
        .collect();
    let y = decades(low.max(1) as f64, high.max(10) as f64, 2);
    // Values beyond an axis are placed at its ends.
    let length = here.length as f64;
    lines.insert(0, (Role::Ridge, vec![(length, 0.0), (length, f64::MAX)]));
    let frame = ChartFrame {
        size,
        margins: Margins {
            top: 30.0,
            right: 16.0,
            bottom: 46.0,
            left: if is_compact { 54.0 } else { 64.0 },
        },
        x: decades(lengths.0.max(1) as f64, lengths.1.max(10) as f64, 2),
        y: Some(y),
        x_ticks: if is_compact { 5 } else { 10 },
        x_text: &|value| decade_text(value, ""),
        y_text: &|value| decade_text(value, "B"),
        lines: &lines,
    };
    let mut marks = Vec::new();
    let plot = draw_frame(&frame, &mut marks);
    for (growths, radius) in [(&all[..], 3.0), (std::slice::from_ref(&here), 6.0)] {
        for count in AttentionCount::iter() {
            for growth in growths {
                let (x, y) = values(growth, count);
                let point = circle(point_role(count), plot.place(x, y), radius);
                marks.push(point.named(label(growth, count)));
            }
        }
    }
    let Bounds {
        left,
        top,
        right,
        bottom,
    } = plot.bounds;
    marks.push(text(
        Role::AxisTitle,
        (f64::midpoint(left, right), bottom + 36.0),
        Anchor::Middle,
        if sizes.is_self {
            "sequence length N"
        } else {
            "rows of K and V, N"
        },
    ));
    marks.push(text(
        Role::AxisTitle,
        (0.0, top - 12.0),
        Anchor::Start,
        "memory traffic",
    ));
    Scene::new(
        size,
        "Memory traffic of attention over sequence length",
        description(sizes, &here),
        marks,
    )
}

const fn curve_role(count: AttentionCount) -> Role {
    match count {
        AttentionCount::ScoresInMemory => Role::SquareCurve,
        AttentionCount::TilesFetchedAnew => Role::TileCurve,
        AttentionCount::TensorsOnce => Role::LineCurve,
    }
}

const fn point_role(count: AttentionCount) -> Role {
    match count {
        AttentionCount::ScoresInMemory => Role::SquarePoint,
        AttentionCount::TilesFetchedAnew => Role::TilePoint,
        AttentionCount::TensorsOnce => Role::LinePoint,
    }
}

/// A point of the curve of a count: the length and the bytes.
fn values(growth: &Growth, count: AttentionCount) -> (f64, f64) {
    (growth.length as f64, count.bytes(growth) as f64)
}

fn label(growth: &Growth, count: AttentionCount) -> Label {
    let heading = format!("N = {}", format_exact(growth.length.into()));
    let bytes = format_bytes(count.bytes(growth));
    Label::new(
        heading,
        vec![("", count.name().to_owned()), ("memory traffic", bytes)],
    )
}

fn description(sizes: &AttentionSizes, here: &Growth) -> String {
    let growth = if sizes.is_self {
        "It grows with the square of N where the scores go through memory, and in proportion to N where each tensor is read or written once."
            .to_owned()
    } else {
        let queries = format_exact(sizes.shape.queries.into());
        format!("Q keeps its {queries} rows, so all counts grow in proportion to N.")
    };
    let figures: Vec<String> = AttentionCount::iter()
        .map(|count| format!("{} {}", count.name(), format_bytes(count.bytes(here))))
        .collect();
    format!(
        "Memory traffic of one forward pass on logarithmic axes. {growth} At N = {}: {}.",
        format_exact(here.length.into()),
        figures.join("; ")
    )
}
