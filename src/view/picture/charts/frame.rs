//! The frame of a chart, drawn by plotters: grid, axes, ticks and their texts.

use crate::picture::charts::axis::{Axes, Axis, AxisCoord};
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::marks::line;
use crate::picture::charts::recording::{Recording, SCALE};
use crate::picture::charts::scene::{FONT_PX, Mark, Point, Role};
use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{BLACK, FontDesc, FontFamily, FontStyle};
use std::ops::Range;

/// The axes of a chart and the space around its plot.
pub(super) struct ChartFrame<'a> {
    /// Width and height of the whole, as [`drawable`] gives them.
    pub size: (f64, f64),
    pub margins: Margins,
    pub x: Axis,
    /// The vertical axis, drawn upwards; `None` for a chart without one.
    pub y: Option<Axis>,
    /// Ticks of the horizontal axis, at most.
    pub x_ticks: usize,
    /// The text of a horizontal tick.
    pub x_text: &'a dyn Fn(f64) -> String,
    /// The text of a vertical tick.
    pub y_text: &'a dyn Fn(f64) -> String,
    /// Lines over the grid, in values of the axes.
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

impl ChartFrame<'_> {
    /// The vertical axis; plotters needs one also where none is drawn.
    fn y_or_unit(&self) -> Axis {
        self.y.unwrap_or(Axis::Linear {
            end: 1.0,
            unit: 1.0,
        })
    }
}

/// The mapping from values to places.
pub(super) struct Plot {
    coord: Cartesian2d<AxisCoord, AxisCoord>,
    x: Axis,
    y: Axis,
    /// The place of the plot in its frame.
    pub bounds: Bounds,
}

impl Plot {
    /// The place of `(x, y)`. Values beyond an axis are placed at its end.
    pub(super) fn place(&self, x: f64, y: f64) -> Point {
        let (x, y) = self
            .coord
            .translate(&(self.x.to_coord(x), self.y.to_coord(y)));
        (f64::from(x) / SCALE, f64::from(y) / SCALE)
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.place(value, 0.0).0
    }

    /// First and last value of the horizontal axis.
    pub(super) fn x_ends(&self) -> (f64, f64) {
        self.x.ends()
    }

    /// The axes of a chart of bytes along the horizontal one.
    pub(super) fn x_axes(&self) -> Axes {
        Axes { x: self.x, y: None }
    }

    pub(super) fn axes(&self) -> Axes {
        Axes {
            x: self.x,
            y: Some(self.y),
        }
    }

    pub(super) fn y_end(&self) -> f64 {
        self.y.ends().1
    }
}

/// The smallest frame that holds a chart with its texts.
const MIN_SIZE: (f64, f64) = (240.0, 140.0);
const MAX_SIDE: f64 = 10_000.0;
/// Width below which texts are shorter and margins smaller.
const COMPACT_WIDTH: f64 = 520.0;

/// Whether a frame of this size has shorter texts and smaller margins.
pub(super) fn is_compact((width, _): (f64, f64)) -> bool {
    width < COMPACT_WIDTH
}

/// `size`, limited to what can hold a chart.
pub(super) fn drawable((width, height): (f64, f64)) -> (f64, f64) {
    // `max` first, because it also turns NaN into a number.
    (
        width.max(MIN_SIZE.0).min(MAX_SIDE),
        height.max(MIN_SIZE.1).min(MAX_SIDE),
    )
}

/// Parts of a frame with lines of different roles. A [`Recording`] has one role for all lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FramePart {
    Grid,
    AxesWithTicks,
}

/// Appends the frame to `marks`, and returns the mapping of its plot.
pub(super) fn draw_frame(frame: &ChartFrame<'_>, marks: &mut Vec<Mark>) -> Plot {
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

/// Draws a part of the frame with plotters. Returns the pixels of the plot from left to right and
/// from bottom to top.
fn draw_part(
    frame: &ChartFrame<'_>,
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
    let text = |axis: Axis, of: &dyn Fn(f64) -> String, coord: f64| {
        let value = axis.is_labelled(coord).then(|| axis.value(coord));
        value.map(of).unwrap_or_default()
    };
    let x_text = |coord: &f64| text(frame.x, frame.x_text, *coord);
    let y_text = |coord: &f64| text(y, frame.y_text, *coord);
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
    // A recording has no errors.
    let _ = mesh.draw();
    let (x, y) = chart.plotting_area().get_pixel_range();
    (x.start..x.end - 1, y.end - 1..y.start)
}
