//! The frame of a chart, drawn by plotters: grid, axes, ticks and their texts.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::recording::{Recording, SCALE};
use crate::picture::charts::scene::{FONT_PX, Mark, Point, Role, line};
use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{BLACK, FontDesc, FontFamily, FontStyle};
use std::ops::Range;

/// One axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axis {
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
pub(super) struct Frame<'a> {
    /// Width and height of the whole, as [`drawable`] gives them.
    pub size: (f64, f64),
    /// Space around the plot.
    pub margins: Margins,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, drawn upwards; `None` for a chart without one.
    pub y: Option<Axis>,
    /// How many ticks fit the horizontal axis.
    pub x_ticks: usize,
    /// The text of a horizontal tick.
    pub x_text: &'a dyn Fn(f64) -> String,
    /// The text of a vertical tick.
    pub y_text: &'a dyn Fn(f64) -> String,
    /// Lines in values of the axes, drawn over the grid.
    pub lines: &'a [(Role, Vec<(f64, f64)>)],
}

/// Space around a plot, in the scene's units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margins {
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    pub left: f64,
}

impl Frame<'_> {
    /// The vertical axis, or one that nothing is drawn of.
    fn y_or_unit(&self) -> Axis {
        self.y.unwrap_or(Axis::Linear {
            end: 1.0,
            unit: 1.0,
        })
    }
}

/// Values to places, as plotters maps them.
pub(super) struct Plot {
    coord: Cartesian2d<AxisCoord, AxisCoord>,
    x: Axis,
    y: Axis,
    /// Where the plot stands in its frame.
    pub bounds: Bounds,
}

impl Plot {
    /// The place of `(x, y)`. Values beyond an axis stand at its end, so every place is on the plot.
    pub(super) fn place(&self, x: f64, y: f64) -> Point {
        let (x, y) = self
            .coord
            .translate(&(self.x.to_coord(x), self.y.to_coord(y)));
        (f64::from(x) / SCALE, f64::from(y) / SCALE)
    }

    /// The value at the top of the vertical axis.
    pub(super) fn y_end(&self) -> f64 {
        self.y.ends().1
    }
}

impl Axis {
    /// First and last value.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Self::Decades { from, to } => (10_f64.powi(from), 10_f64.powi(to)),
            Self::Linear { end, unit } => (0.0, end * unit),
        }
    }

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
            // The range is a little longer at both ends, so that rounding drops no outermost tick.
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

/// The parts of a frame whose lines differ in role, so that each is a recording of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FramePart {
    Grid,
    AxesWithTicks,
}

/// Draws the frame at the end of `marks` and gives the mapping of its plot.
pub(super) fn draw_frame(frame: &Frame<'_>, marks: &mut Vec<Mark>) -> Plot {
    draw_part(frame, FramePart::Grid, marks);
    let (x_pixels, y_pixels) = draw_part(frame, FramePart::AxesWithTicks, marks);
    let unscaled = |pixel: i32| f64::from(pixel) / SCALE;
    let y = frame.y_or_unit();
    let plot = Plot {
        bounds: Bounds {
            left: unscaled(x_pixels.start),
            top: unscaled(y_pixels.end),
            right: unscaled(x_pixels.end),
            bottom: unscaled(y_pixels.start),
        },
        coord: Cartesian2d::new(frame.x.coord(), y.coord(), (x_pixels, y_pixels)),
        x: frame.x,
        y,
    };
    for (role, values) in frame.lines {
        let points: Vec<Point> = values.iter().map(|&(x, y)| plot.place(x, y)).collect();
        marks.push(line(*role, &points));
    }
    plot
}

/// Draws a part of the frame by plotters. Gives the pixels of the plot from left to right and from bottom to top.
fn draw_part(
    frame: &Frame<'_>,
    part: FramePart,
    marks: &mut Vec<Mark>,
) -> (Range<i32>, Range<i32>) {
    let px = |units: f64| units * SCALE;
    let y = frame.y_or_unit();
    let root = Recording {
        size: frame.size,
        line_role: match part {
            FramePart::Grid => Role::Mesh,
            FramePart::AxesWithTicks => Role::Axis,
        },
        text_role: Role::AxisText,
        marks,
    }
    .into_drawing_area();
    let mut builder = ChartBuilder::on(&root);
    builder
        .margin_top(px(frame.margins.top))
        .margin_right(px(frame.margins.right))
        .set_label_area_size(LabelAreaPosition::Bottom, px(frame.margins.bottom))
        .set_label_area_size(LabelAreaPosition::Left, px(frame.margins.left));
    let Ok(mut chart) = builder.build_cartesian_2d(frame.x.coord(), y.coord()) else {
        return (0..1, 0..1);
    };
    let mut mesh = chart.configure_mesh();
    let x_text = |value: &f64| (frame.x_text)(frame.x.value(*value));
    let y_text = |value: &f64| (frame.y_text)(y.value(*value));
    let font = FontDesc::new(FontFamily::SansSerif, px(FONT_PX), FontStyle::Normal);
    mesh.label_style(font.color(&BLACK))
        .x_labels(frame.x_ticks)
        .y_labels(20)
        .x_label_formatter(&x_text)
        .y_label_formatter(&y_text)
        .set_all_tick_mark_size(px(4.0));
    match part {
        FramePart::Grid => mesh.disable_axes(),
        FramePart::AxesWithTicks => mesh.disable_mesh(),
    };
    if frame.y.is_none() {
        mesh.disable_y_mesh().disable_y_axis();
    }
    // A recording refuses nothing, so there is no error to hand on.
    let _ = mesh.draw();
    let (x, y) = chart.plotting_area().get_pixel_range();
    (x.start..x.end - 1, y.end - 1..y.start)
}

/// The smallest frame that holds a chart with its words.
const MIN_SIZE: (f64, f64) = (240.0, 140.0);
const MAX_SIDE: f64 = 10_000.0;

/// `size`, where it can hold a chart; else the nearest that can.
pub(super) fn drawable((width, height): (f64, f64)) -> (f64, f64) {
    // `max` first, because it also turns NaN into a number.
    (
        width.max(MIN_SIZE.0).min(MAX_SIDE),
        height.max(MIN_SIZE.1).min(MAX_SIDE),
    )
}

/// The shortest axis of round length from 0 that holds `max` and changes seldom while `max` moves.
pub(super) fn round_axis(max: f64) -> Axis {
    const ENDS: [f64; 9] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    if !max.is_finite() || max <= 0.0 {
        return Axis::Linear {
            end: 1.0,
            unit: 1.0,
        };
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "exponents of floats are below 400"
    )]
    let unit = 10_f64.powi(max.log10().floor() as i32);
    let end = ENDS
        .into_iter()
        .find(|end| end * unit >= max)
        .unwrap_or(10.0);
    Axis::Linear { end, unit }
}

/// The whole decades around `low..=high`, at least `min_decades` of them, within what floats can hold.
#[allow(
    clippy::cast_possible_truncation,
    reason = "logarithms of finite floats are below 400"
)]
pub(super) fn decades(low: f64, high: f64, min_decades: i32) -> Axis {
    let exponent = |value: f64| value.clamp(1e-30, 1e60).log10();
    let from = (exponent(low) + 1e-9).floor() as i32;
    let to = (exponent(high) - 1e-9).ceil() as i32;
    Axis::Decades {
        from,
        to: to.max(from + min_decades),
    }
}

/// A power of ten with an SI prefix: `0.1`, `100`, `10 k`, `1 TFLOP/s`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "exponents of finite floats are below 400"
)]
pub(super) fn power_text(value: f64, unit: &str) -> String {
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
