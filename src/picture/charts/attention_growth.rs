//! How the bytes of attention grow with the length of the sequence, on logarithmic axes: a square is a line twice as
//! steep as a line that grows with the length alone.

use crate::core::fusion::attention::{AttentionShape, Growth, LoopOrder, growth};
use crate::picture::charts::axes::{Frame, decades, draw_frame, drawable, power_text};
use crate::picture::charts::scene::{Label, Mark, Role, Scene, Shape, tenths};
use crate::present::format::{format_bytes, format_exact};

/// What the curves are drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionView {
    /// The sizes; its length is the one that is marked.
    pub shape: AttentionShape,
    /// Memory on chip that one block has.
    pub on_chip_bytes: u64,
    /// Which loop of the one kernel is outside.
    pub order: LoopOrder,
}

/// Lengths with a point, as powers of two: 128 to 131,072.
pub const LENGTH_POWERS: std::ops::RangeInclusive<u32> = 7..=17;

/// A curve: its role, its points' role, its name, its bytes.
type Curve = (Role, Role, &'static str, fn(&Growth) -> u64);

const CURVES: [Curve; 3] = [
    (
        Role::SquareCurve,
        Role::SquarePoint,
        "three kernels, scores in memory",
        |growth| growth.standard_bytes,
    ),
    (
        Role::TileCurve,
        Role::TilePoint,
        "one kernel, each tile fetched anew",
        |growth| growth.tiled_bytes,
    ),
    (
        Role::LineCurve,
        Role::LinePoint,
        "one kernel, every tensor once",
        |growth| growth.compulsory_bytes,
    ),
];

/// Draws the three counts of bytes over the length into a frame of `size` units, at least 240 by 140. Axes snap to
/// whole decades, so the frame stands still while a slider moves. A fixed number of marks.
pub fn scene(view: &AttentionView, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let is_compact = size.0 < 520.0;
    let counts = |lengths: &mut dyn Iterator<Item = u64>| {
        growth(&view.shape, view.on_chip_bytes, view.order, lengths)
    };
    let all = counts(&mut LENGTH_POWERS.map(|power| 1_u64 << power));
    let present = counts(&mut std::iter::once(view.shape.queries));
    let ends = |of: fn(&Growth) -> u64| {
        let bytes = || all.iter().chain(&present).map(of);
        (bytes().min().unwrap_or(1), bytes().max().unwrap_or(1))
    };
    let lengths = ends(|growth| growth.length);
    let low = ends(|growth| growth.compulsory_bytes.min(growth.tiled_bytes)).0;
    let high = ends(|growth| growth.standard_bytes.max(growth.tiled_bytes)).1;
    let mut lines: Vec<(Role, Vec<(f64, f64)>)> = CURVES
        .iter()
        .map(|(role, _, _, bytes)| (*role, all.iter().map(|g| point(g, *bytes)).collect()))
        .collect();
    let y = decades(low.max(1) as f64, high.max(10) as f64, 2);
    if let Some(here) = present.first() {
        // Values beyond an axis stand at its ends.
        let length = here.length as f64;
        lines.insert(0, (Role::Ridge, vec![(length, 0.0), (length, f64::MAX)]));
    }
    let frame = Frame {
        size,
        margins: [30.0, 16.0, 46.0, if is_compact { 54.0 } else { 64.0 }],
        x: decades(lengths.0.max(1) as f64, lengths.1.max(10) as f64, 2),
        y: Some(y),
        x_ticks: if is_compact { 5 } else { 10 },
        x_text: &|value| power_text(value, ""),
        y_text: &|value| power_text(value, "B"),
        lines: &lines,
    };
    let mut marks = Vec::new();
    let mut focus_order = Vec::new();
    let plot = draw_frame(&frame, &mut marks);
    for (growths, radius) in [(&all, 3.0), (&present, 6.0)] {
        for (_, role, name, bytes) in &CURVES {
            for growth in growths {
                let (x, y) = point(growth, *bytes);
                focus_order.push(marks.len());
                let circle = Shape::Circle {
                    center: tenths(plot.place(x, y)),
                    radius,
                };
                marks.push(Mark::new(*role, circle).named(label(growth, name, *bytes)));
            }
        }
    }
    let [left, top, right, bottom] = plot.edges;
    marks.push(super::scene::text(
        Role::AxisTitle,
        (f64::midpoint(left, right), bottom + 36.0),
        super::scene::Anchor::Middle,
        "length of the sequence N",
    ));
    marks.push(super::scene::text(
        Role::AxisTitle,
        (0.0, top - 12.0),
        super::scene::Anchor::Start,
        "bytes moved",
    ));
    Scene {
        width: size.0,
        height: size.1,
        title: "Bytes of attention over the length of the sequence".to_owned(),
        description: description(present.first()),
        marks,
        focus_order,
    }
}

fn point(growth: &Growth, bytes: fn(&Growth) -> u64) -> (f64, f64) {
    (growth.length as f64, bytes(growth) as f64)
}

fn label(growth: &Growth, name: &str, bytes: fn(&Growth) -> u64) -> Label {
    let heading = ["N = ", &format_exact(growth.length.into())].concat();
    let facts = vec![
        ("", name.to_owned()),
        ("moves", format_bytes(bytes(growth))),
    ];
    Label::new(heading, facts)
}

fn description(present: Option<&Growth>) -> String {
    let mut text = "Bytes of one forward pass on logarithmic axes. With the scores in memory they grow with the square of the length, with every tensor moved once with the length alone.".to_owned();
    if let Some(here) = present {
        text.push_str(" At N = ");
        text.push_str(&format_exact(here.length.into()));
        text.push(':');
        for (place, (_, _, name, bytes)) in CURVES.iter().enumerate() {
            text.push_str(if place == 0 { " " } else { "; " });
            text.push_str(name);
            text.push(' ');
            text.push_str(&format_bytes(bytes(here)));
        }
        text.push('.');
    }
    text
}
