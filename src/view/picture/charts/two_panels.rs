//! The layout of charts with a row for each kernel and two plots beside each other, on one scale.

use crate::picture::charts::frame::{Margins, Plot, drawable, is_compact};
use crate::picture::charts::marks::{rect, text};
use crate::picture::charts::scene::{Anchor, Mark, Point, Role};
use fuseline_core::KernelId;

/// Rows, at most.
pub(super) const MAX_ROWS: usize = 40;
/// Characters of a kernel's name, at most.
pub(super) const NAME_CHARS: usize = 26;
const ROW_HEIGHT: f64 = 28.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 28.0;
const RIGHT: f64 = 26.0;
/// Between the plots, where the last tick of the left one needs room.
const GAP: f64 = 44.0;
/// Where a row begins its bars, from its top, and how tall they are.
const UPPER: f64 = 4.0;
const LOWER: f64 = 14.0;
const BAR_HEIGHT: f64 = 9.0;

/// Where everything is.
#[derive(Clone, Copy)]
pub(super) struct TwoPanels {
    /// Width and height of the whole.
    pub size: (f64, f64),
    /// The length of the horizontal axis of each plot.
    pub axis_length: f64,
    is_compact: bool,
    /// The width of the column of names.
    names: f64,
}

/// A bar of a row.
#[derive(Clone, Copy)]
pub(super) enum BarPlace {
    Upper,
    Lower,
}

impl TwoPanels {
    /// Places `rows` rows in a frame of `width` units; its height follows from them.
    pub(super) fn new(width: f64, rows: usize) -> Self {
        let (width, _) = drawable((width, 0.0));
        let size = (width, TOP + BOTTOM + ROW_HEIGHT * rows.max(1) as f64);
        let is_compact = is_compact(size);
        let names = if is_compact { 26.0 } else { 214.0 };
        Self {
            size,
            axis_length: ((width - names - GAP - RIGHT) / 2.0).max(20.0),
            is_compact,
            names,
        }
    }

    /// Both plots with their titles, drawn by `draw` within margins.
    pub(super) fn plots(
        self,
        titles: [&str; 2],
        marks: &mut Vec<Mark>,
        draw: impl Fn(Margins, &mut Vec<Mark>) -> Plot,
    ) -> [Plot; 2] {
        let column = self.axis_length + GAP;
        let mut plot = |left: f64, right: f64, title: &str| {
            let margins = Margins {
                top: TOP,
                right,
                bottom: BOTTOM,
                left,
            };
            let plot = draw(margins, marks);
            let at = (plot.bounds.left, TOP - 8.0);
            marks.push(text(Role::BarText, at, Anchor::Start, title));
            plot
        };
        let [left, right] = titles;
        [
            plot(self.names, column + RIGHT, left),
            plot(self.names + column, RIGHT, right),
        ]
    }

    /// The number of the kernel of a row, and, where there is room, its name.
    pub(super) fn number_and_name(
        self,
        row: usize,
        kernel: Option<KernelId>,
        name: &str,
    ) -> [Option<Mark>; 2] {
        let at = |x: f64| -> Point { (x, top_of(row) + 18.0) };
        let number = kernel.map(|kernel| {
            let number = kernel.number().to_string();
            text(Role::Number, at(20.0), Anchor::End, number).of_kernel(kernel)
        });
        let name = (!self.is_compact).then(|| text(Role::BarFigure, at(28.0), Anchor::Start, name));
        [number, name]
    }
}

/// A bar of a row from zero to `value`.
pub(super) fn bar(plot: &Plot, role: Role, row: usize, place: BarPlace, value: f64) -> Mark {
    let offset = match place {
        BarPlace::Upper => UPPER,
        BarPlace::Lower => LOWER,
    };
    let top = top_of(row) + offset;
    rect(role, (plot.x(0.0), top), (plot.x(value), top + BAR_HEIGHT))
}

fn top_of(row: usize) -> f64 {
    TOP + ROW_HEIGHT * row as f64
}
