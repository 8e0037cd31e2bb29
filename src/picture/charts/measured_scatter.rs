//! Predicted against measured, on logarithmic axes of one scale: what lies on the diagonal is predicted exactly.

use crate::core::analysis::measured::Variant;
use crate::picture::charts::axes::{Frame, decades, draw_frame, drawable};
use crate::picture::charts::roofline::ends;
use crate::picture::charts::scene::{Anchor, Label, Mark, Role, Scene, Shape, tenths, text};

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// What ran: the pattern and its sizes.
    pub name: String,
    /// In which way.
    pub variant: Variant,
    /// What the model says.
    pub predicted: f64,
    /// What was measured.
    pub measured: f64,
}

impl Pair {
    /// How far the prediction is off, as a part of what was measured: 0.1 is a tenth too much.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// What the axes show.
#[derive(Clone, Copy)]
pub struct Quantity<'a> {
    /// Its name.
    pub name: &'a str,
    /// The text of a value, with its unit.
    pub text: fn(f64) -> String,
}

/// Factor between the diagonal and the two thin lines beside it.
pub const BAND: f64 = 1.25;

/// Draws one point for each pair into a frame of `size` units, at least 240 by 140. `O(pairs)`.
pub fn scene(pairs: &[Pair], quantity: Quantity<'_>, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let is_compact = size.0 < 520.0;
    let values = || {
        let both = pairs
            .iter()
            .flat_map(|pair| [pair.predicted, pair.measured]);
        both.filter(|value| value.is_finite() && *value > 0.0)
    };
    let (low, high) = (
        values().reduce(f64::min).unwrap_or(1.0),
        values().reduce(f64::max).unwrap_or(10.0),
    );
    let axis = decades(low, high, 1);
    let (start, end) = ends(axis);
    let beside = |factor: f64| vec![(start, start * factor), (end, end * factor)];
    let lines = [
        (Role::Ridge, vec![(start * BAND, start), (end, end / BAND)]),
        (Role::Ridge, vec![(start, start * BAND), (end / BAND, end)]),
        (Role::MemoryRoof, beside(1.0)),
    ];
    let ticks = |value: f64| {
        // Of the lines between powers of ten the texts would stand too close.
        let power = value.log10();
        if (power - power.round()).abs() < 1e-6 {
            whole(&(quantity.text)(value))
        } else {
            String::new()
        }
    };
    let frame = Frame {
        size,
        margins: [30.0, 16.0, 46.0, if is_compact { 54.0 } else { 72.0 }],
        x: axis,
        y: Some(axis),
        x_ticks: if is_compact { 5 } else { 10 },
        x_text: &ticks,
        y_text: &ticks,
        lines: &lines,
    };
    let mut marks = Vec::new();
    let plot = draw_frame(&frame, &mut marks);
    let mut focus_order = Vec::new();
    for pair in pairs {
        focus_order.push(marks.len());
        marks.push(point(
            pair,
            plot.place(pair.measured, pair.predicted),
            quantity,
        ));
    }
    let [left, top, right, bottom] = plot.edges;
    let middle = f64::midpoint(left, right);
    marks.push(text(
        Role::AxisTitle,
        (middle, bottom + 36.0),
        Anchor::Middle,
        "measured",
    ));
    marks.push(text(
        Role::AxisTitle,
        (left, top - 12.0),
        Anchor::Start,
        "predicted",
    ));
    Scene {
        width: size.0,
        height: size.1,
        title: format!("{}, predicted against measured", quantity.name),
        description: "Both axes are logarithmic and of one scale. Points on the thick line are predicted exactly; the thin lines stand 25 % above and 20 % below what was measured.".to_owned(),
        marks,
        focus_order,
    }
}

/// A run of a library, a compiler or a compiler with its own matmuls; its shape says which, as its colour does.
fn point(pair: &Pair, (x, y): (f64, f64), quantity: Quantity<'_>) -> Mark {
    let (x, y) = tenths((x, y));
    let side = 4.5;
    let (role, shape) = match pair.variant {
        Variant::Eager => (
            Role::EagerPoint,
            Shape::Circle {
                center: (x, y),
                radius: 4.0,
            },
        ),
        Variant::Inductor => (
            Role::CompiledPoint,
            Shape::Rect {
                corner: tenths((x - 3.5, y - 3.5)),
                width: 7.0,
                height: 7.0,
            },
        ),
        Variant::InductorTritonGemm => (
            Role::TunedPoint,
            Shape::Path {
                points: [(x, y - side), (x + side, y + side), (x - side, y + side)]
                    .map(tenths)
                    .to_vec(),
                is_closed: true,
            },
        ),
    };
    let facts = vec![
        ("", variant_text(pair.variant).to_owned()),
        ("predicted", (quantity.text)(pair.predicted)),
        ("measured", (quantity.text)(pair.measured)),
        ("error", error_text(pair.error())),
    ];
    Mark::new(role, shape).named(Label::new(pair.name.clone(), facts))
}

/// The text of a power of ten without its zeros: `10 µs`.
fn whole(text: &str) -> String {
    let Some((whole, rest)) = text.split_once('.') else {
        return text.to_owned();
    };
    let unit = rest.trim_start_matches('0');
    if unit.starts_with(|c: char| c.is_ascii_digit()) {
        text.to_owned()
    } else {
        format!("{whole}{unit}")
    }
}

/// The way to run a program, in a few words.
pub const fn variant_text(variant: Variant) -> &'static str {
    match variant {
        Variant::Eager => "eager",
        Variant::Inductor => "compiled",
        Variant::InductorTritonGemm => "compiled, own matmuls",
    }
}

/// A relative error with its sign: `+4.7 %`.
pub fn error_text(error: f64) -> String {
    if !error.is_finite() {
        return "–".to_owned();
    }
    let percent = crate::present::format::format_percent(error.abs() * 100.0);
    let sign = if error < 0.0 { "−" } else { "+" };
    format!("{sign}{percent}")
}
