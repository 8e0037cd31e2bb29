//! The frame of a chart, drawn by plotters: grid, axes, ticks and their texts.

use crate::picture::charts::recording::{Recording, SCALE, shape_style, text_style};
use crate::picture::charts::scene::{Mark, Point, Role};
use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::IntoDrawingArea;
use plotters::element::PathElement;
use std::ops::Range;

/// One axis. Both kinds are one type, so that a visitor downloads plotters' chart once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::picture) enum Axis {
    /// Powers of ten from `10^from` to `10^to`.
    Decades {
        /// Exponent at the start.
        from: i32,
        /// Exponent at the end, greater.
        to: i32,
    },
    /// From 0 to `end * unit`, where `end` lies between 1 and 10.
    Linear {
        /// End of the axis, in units.
        end: f64,
        /// What one unit stands for.
        unit: f64,
    },
}

/// Where the plot stands in its frame and what is written around it.
pub(in crate::picture) struct Frame<'a> {
    /// Width and height of the whole, as [`drawable`] gives them.
    pub size: (f64, f64),
    /// Room above, right, below and left of the plot.
    pub margins: [f64; 4],
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, drawn upwards; `None` for a chart without one.
    pub y: Option<Axis>,
    /// How many ticks the horizontal axis has room for.
    pub x_ticks: usize,
    /// The text of a horizontal tick.
    pub x_text: &'a dyn Fn(f64) -> String,
    /// The text of a vertical tick.
    pub y_text: &'a dyn Fn(f64) -> String,
    /// Lines in values of the axes, drawn over the grid.
    pub lines: &'a [(Role, Vec<(f64, f64)>)],
}

/// Values to places, as plotters maps them.
pub(in crate::picture) struct Plot {
    coord: Cartesian2d<AxisCoord, AxisCoord>,
    x: Axis,
    y: Axis,
    /// Edges of the plot: left, top, right, bottom.
    pub edges: [f64; 4],
}

impl Plot {
    /// The place of `(x, y)`. Values beyond an axis stand at its end, so every place is on the plot.
    pub(in crate::picture) fn place(&self, x: f64, y: f64) -> Point {
        let (x, y) = self
            .coord
            .translate(&(self.x.to_coord(x), self.y.to_coord(y)));
        (f64::from(x) / SCALE, f64::from(y) / SCALE)
    }

    /// The value at the top of the vertical axis.
    pub(in crate::picture) fn rate_at_top(&self) -> f64 {
        super::roofline::ends(self.y).1
    }
}

impl Axis {
    /// What plotters counts in: values of a logarithmic axis, units of a linear one.
    fn to_coord(self, value: f64) -> f64 {
        let (scaled, ends) = match self {
            Self::Decades { from, to } => (value, 10_f64.powi(from)..10_f64.powi(to)),
            Self::Linear { end, unit } => (value / unit, 0.0..end),
        };
        if scaled.is_nan() {
            ends.start
        } else {
            scaled.clamp(ends.start, ends.end)
        }
    }

    fn value(self, coord: f64) -> f64 {
        match self {
            Self::Decades { .. } => coord,
            Self::Linear { unit, .. } => coord * unit,
        }
    }

    fn coord(self) -> AxisCoord {
        match self {
            // A hair of room beyond both ends keeps the outermost ticks through rounding.
            Self::Decades { from, to } => AxisCoord::Log(
                (10_f64.powi(from) * (1.0 - 1e-9)..10_f64.powi(to) * (1.0 + 1e-9))
                    .log_scale()
                    .into(),
            ),
            Self::Linear { end, .. } => AxisCoord::Linear((0.0..end).into()),
        }
    }
}

/// Both of plotters' coordinates as one type.
enum AxisCoord {
    Log(LogCoord<f64>),
    Linear(RangedCoordf64),
}

impl Ranged for AxisCoord {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self {
            Self::Log(coord) => coord.map(value, limit),
            Self::Linear(coord) => coord.map(value, limit),
        }
    }

    /// Plotters' key points for labelled ticks; no finer grid, which would say nothing more.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        let limit = hint.max_num_points();
        match self {
            Self::Log(coord) => {
                let mut points = coord.key_points(limit);
                // With lines between the decades plotters gives each further decade twice.
                points.dedup_by(|next, last| (*next / *last - 1.0).abs() < 1e-6);
                points
            }
            Self::Linear(coord) => {
                let mut points = coord.key_points(limit);
                // A lone 0 gives no scale.
                if points.len() == 1 {
                    points.push(coord.range().end);
                }
                points
            }
        }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Self::Log(coord) => coord.range(),
            Self::Linear(coord) => coord.range(),
        }
    }
}

/// Draws the frame at the end of `marks` and gives the mapping of its plot.
pub(in crate::picture) fn draw_frame(frame: &Frame<'_>, marks: &mut Vec<Mark>) -> Plot {
    let [top, right, bottom, left] = frame.margins;
    let px = |units: f64| units * SCALE;
    let y = frame.y.unwrap_or(Axis::Linear {
        end: 1.0,
        unit: 1.0,
    });

    let root = Recording {
        size: frame.size,
        marks,
    }
    .into_drawing_area();
    let mut builder = ChartBuilder::on(&root);
    builder
        .margin_top(px(top))
        .margin_right(px(right))
        .set_label_area_size(LabelAreaPosition::Bottom, px(bottom))
        .set_label_area_size(LabelAreaPosition::Left, px(left));
    let pixels = if let Ok(mut chart) = builder.build_cartesian_2d(frame.x.coord(), y.coord()) {
        let mut mesh = chart.configure_mesh();
        let x_text = |value: &f64| (frame.x_text)(frame.x.value(*value));
        let y_text = |value: &f64| (frame.y_text)(y.value(*value));
        mesh.bold_line_style(shape_style(Role::Mesh))
            .light_line_style(shape_style(Role::Mesh))
            .axis_style(shape_style(Role::Axis))
            .label_style(text_style(Role::AxisText))
            .x_labels(frame.x_ticks)
            .y_labels(20)
            .x_label_formatter(&x_text)
            .y_label_formatter(&y_text)
            .set_all_tick_mark_size(px(4.0));
        if frame.y.is_none() {
            mesh.disable_y_mesh().disable_y_axis();
        }
        // The recording takes every mark, so there is no error to hand on.
        let _ = mesh.draw();
        for (role, points) in frame.lines {
            let points: Vec<(f64, f64)> = points
                .iter()
                .map(|&(vx, vy)| (frame.x.to_coord(vx), y.to_coord(vy)))
                .collect();
            let _ = chart.draw_series([PathElement::new(points, shape_style(*role))]);
        }
        let (x, y) = chart.plotting_area().get_pixel_range();
        (x.start..x.end - 1, y.end - 1..y.start)
    } else {
        (0..1, 0..1)
    };
    let unscaled = |pixel: i32| f64::from(pixel) / SCALE;
    Plot {
        edges: [
            unscaled(pixels.0.start),
            unscaled(pixels.1.end),
            unscaled(pixels.0.end),
            unscaled(pixels.1.start),
        ],
        coord: Cartesian2d::new(frame.x.coord(), y.coord(), pixels),
        x: frame.x,
        y,
    }
}

/// The smallest frame that holds a chart with its words.
const LEAST: (f64, f64) = (240.0, 140.0);

/// `size`, where it can hold a chart; else the nearest that can.
pub(in crate::picture) fn drawable(size: (f64, f64)) -> (f64, f64) {
    let most = 10_000.0;
    // `max` first, because it also turns NaN into a number.
    (size.0.max(LEAST.0).min(most), size.1.max(LEAST.1).min(most))
}

/// The smallest axis of round length from 0 that holds `most` and changes seldom while `most` moves.
pub(in crate::picture) fn round_axis(most: f64) -> Axis {
    const ENDS: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    if !most.is_finite() || most <= 0.0 {
        return Axis::Linear {
            end: 1.0,
            unit: 1.0,
        };
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "exponents of floats are below 400"
    )]
    let unit = 10_f64.powi(most.log10().floor() as i32);
    let end = ENDS
        .into_iter()
        .find(|end| end * unit >= most)
        .unwrap_or(10.0);
    Axis::Linear { end, unit }
}

/// The whole decades around `low..=high`, at least `least` of them, within what floats can hold.
#[allow(
    clippy::cast_possible_truncation,
    reason = "logarithms of finite floats are below 400"
)]
pub(in crate::picture) fn decades(low: f64, high: f64, least: i32) -> Axis {
    let exponent = |value: f64| value.clamp(1e-30, 1e60).log10();
    let from = (exponent(low) + 1e-9).floor() as i32;
    let to = (exponent(high) - 1e-9).ceil() as i32;
    Axis::Decades {
        from,
        to: to.max(from + least),
    }
}

/// A power of ten with an SI prefix: `0.1`, `100`, `10 k`, `1 TFLOP/s`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exponents of finite floats are below 400"
)]
pub(in crate::picture) fn power_text(value: f64, unit: &str) -> String {
    const PREFIXES: [&str; 11] = ["", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];
    let exponent = value.log10().round() as i32;
    let prefix = PREFIXES.get(exponent.max(0) as usize / 3);
    let text = match (exponent, prefix) {
        (..-4, _) | (_, None) => format!("1e{exponent} {unit}"),
        (..0, _) => format!("{value:.*} {unit}", exponent.unsigned_abs() as usize),
        (_, Some(prefix)) => format!("{} {prefix}{unit}", 10_u32.pow(exponent as u32 % 3)),
    };
    text.trim_end().to_owned()
}
