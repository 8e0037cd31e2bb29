//! Predicted against measured, on logarithmic axes of one scale: points on the diagonal are
//! predicted exactly.

use crate::picture::charts::axis::decades;
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::frame::{ChartFrame, Margins, draw_frame, drawable, is_compact};
use crate::picture::charts::marks::{circle, polygon, rect, tenths, text};
use crate::picture::charts::scene::{Anchor, Label, Mark, Point, Role, Scene};
use crate::present::format::format_error;
use crate::present::measured::{Comparison, MeasuredQuantity, variant_text};
use fuseline_core::analysis::measured::Variant;

/// Factor between the diagonal and the two thin lines beside it.
const BAND: f64 = 1.25;

/// Draws a point for each comparison into a frame of `size` units, at least 240 by 140.
/// `O(comparisons)`.
pub fn scene(comparisons: &[Comparison], quantity: MeasuredQuantity, size: (f64, f64)) -> Scene {
    let size = drawable(size);
    let is_compact = is_compact(size);
    let values = || {
        let both = comparisons
            .iter()
            .flat_map(|comparison| [comparison.predicted, comparison.measured]);
        both.filter(|value| value.is_finite() && *value > 0.0)
    };
    let (low, high) = (
        values().reduce(f64::min).unwrap_or(1.0),
        values().reduce(f64::max).unwrap_or(10.0),
    );
    let axis = decades(low, high, 1);
    let (start, end) = axis.ends();
    let beside = |factor: f64| vec![(start, start * factor), (end, end * factor)];
    let lines = [
        (Role::Ridge, vec![(start * BAND, start), (end, end / BAND)]),
        (Role::Ridge, vec![(start, start * BAND), (end / BAND, end)]),
        (Role::MemoryRoof, beside(1.0)),
    ];
    let ticks = |value: f64| without_zeros(&quantity.text(value));
    let frame = ChartFrame {
        size,
        margins: Margins {
            top: 30.0,
            right: 16.0,
            bottom: 46.0,
            left: if is_compact { 54.0 } else { 72.0 },
        },
        x: axis,
        y: Some(axis),
        x_ticks: if is_compact { 5 } else { 10 },
        x_text: &ticks,
        y_text: &ticks,
        lines: &lines,
    };
    let mut marks = Vec::new();
    let plot = draw_frame(&frame, &mut marks);
    for comparison in comparisons {
        let place = plot.place(comparison.measured, comparison.predicted);
        marks.push(point(comparison, place, quantity));
    }
    let Bounds {
        left,
        top,
        right,
        bottom,
    } = plot.bounds;
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
    Scene::new(
        size,
        format!("{}, predicted against measured", quantity.name()),
        "Both axes are logarithmic and share one scale. Points on the thick line are predicted exactly. The thin lines are 25 % above and 20 % below the measured value.",
        marks,
    )
}

/// A measured run. Shapes distinguish variants for those who cannot see the colours.
fn point(comparison: &Comparison, place: Point, quantity: MeasuredQuantity) -> Mark {
    let (x, y) = tenths(place);
    let side = 4.5;
    let mark = match comparison.variant {
        Variant::Eager => circle(Role::EagerPoint, (x, y), 4.0),
        Variant::Inductor => rect(Role::CompiledPoint, (x - 3.5, y - 3.5), (x + 3.5, y + 3.5)),
        Variant::InductorTritonGemm => {
            let corners = [(x, y - side), (x + side, y + side), (x - side, y + side)];
            polygon(Role::TunedPoint, &corners)
        }
    };
    let facts = vec![
        ("", variant_text(comparison.variant).to_owned()),
        ("predicted", quantity.text(comparison.predicted)),
        ("measured", quantity.text(comparison.measured)),
        ("error", format_error(comparison.error())),
    ];
    mark.named(Label::new(comparison.name.clone(), facts))
}

/// The text of a power of ten without its zeros: `10 µs`.
fn without_zeros(text: &str) -> String {
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
