//! In how many columns a tall drawing is shown, in a frame that is wider than it.
//!
//! Each room of the page has a rule of its own: beside other panes texts stay legible, beside a
//! lesson the whole picture counts, and in a puzzle as many kernels as possible are in sight.

use super::dag_layout::DagLayout;
use super::geometry::Rect;
use super::in_columns::in_columns;
use super::viewport::{LEGIBLE_SCALE, Size, whole_scale};

/// Columns beside other panes, at most.
pub const MAX_COLUMNS: usize = 3;
/// Columns where the graph has the page and all kernels are compared, at most.
const MAX_COLUMNS_OF_PAGE: usize = 6;
/// Greatest height of a column, in heights of the frame. After a longer column, a reader scrolls up
/// too far.
const MAX_FRAMES: f64 = 3.0;
/// A drawing is small below this share of the scale at which its texts are easy to read.
const SMALL_PART: f64 = 0.75;

/// The drawing in as many of `max_columns` as it takes to see all of it in the frame, or as many as
/// fit beside each other with texts that can be read; `None` where that is one. It depends on the
/// frame and the drawing only, so nothing moves while a slider moves. `O(n log n)` in boxes and
/// corners of edges.
pub fn wrap(layout: &DagLayout, frame: Size, max_columns: usize) -> Option<DagLayout> {
    let room = (frame.0 / LEGIBLE_SCALE, frame.1 / LEGIBLE_SCALE);
    if layout.height <= room.1 || room.1 <= 0.0 {
        return None;
    }
    let is_too_long = |&columns: &usize| layout.height > columns as f64 * MAX_FRAMES * room.1;
    let mut best = None;
    for (_, wrapped) in wrapped_in(layout, (2..=max_columns).skip_while(is_too_long)) {
        if wrapped.width > room.0 {
            break;
        }
        let is_whole_visible = wrapped.height <= room.1;
        best = Some(wrapped);
        if is_whole_visible {
            break;
        }
    }
    best
}

/// The number of columns in which most kernels are in sight at once, where the graph has the page
/// for a puzzle: the one from `before` a move unless another shows all or clearly more. `O(n^3)` in
/// kernels, for each number.
pub fn columns_on_page(layout: &DagLayout, frame: Size, before: Option<usize>) -> usize {
    let visible_in = |columns: usize, of: &DagLayout| VisibleKernels {
        columns,
        kernels: most_in_sight(of, frame),
        is_across: of.width * LEGIBLE_SCALE > frame.0,
    };
    let mut best = visible_in(1, layout);
    let mut all = vec![best];
    for (columns, wrapped) in wrapped_in(layout, 2..=MAX_COLUMNS_OF_PAGE) {
        let visible = visible_in(columns, &wrapped);
        all.push(visible);
        let worth = if visible.is_harder_than(best) {
            best.kernels * 3 / 2
        } else {
            best.kernels
        };
        if visible.kernels > worth {
            best = visible;
        }
    }
    // A kernel that moves to another column has to be found again, so a small gain does not pay.
    let shows_all = best.kernels == layout.panels.len();
    let is_good = |visible: &&VisibleKernels| {
        !shows_all && !visible.is_harder_than(best) && visible.kernels * 5 / 4 >= best.kernels
    };
    let kept = all.iter().find(|visible| Some(visible.columns) == before);
    kept.filter(is_good).unwrap_or(&best).columns
}

/// How much of a drawing in columns the frame shows.
#[derive(Clone, Copy)]
struct VisibleKernels {
    columns: usize,
    /// Kernels in sight at once, at most.
    kernels: usize,
    /// It is broader than the frame.
    is_across: bool,
}

impl VisibleKernels {
    /// Whether it has to be moved across, and not only down as another one.
    const fn is_harder_than(self, other: Self) -> bool {
        self.is_across && !other.is_across
    }
}

/// How many kernels the frame shows at most, wherever the drawing is moved to, with texts that can
/// be read.
fn most_in_sight(layout: &DagLayout, frame: Size) -> usize {
    let room = (frame.0 / LEGIBLE_SCALE, frame.1 / LEGIBLE_SCALE);
    let sides = |side: fn(&Rect) -> f64| {
        let mut sides: Vec<f64> = layout.panels.iter().map(side).collect();
        sides.sort_by(f64::total_cmp);
        sides.dedup();
        sides
    };
    let tops = sides(|panel| panel.y);
    let in_sight = |left: f64, top: f64| {
        let is_in = |panel: &&Rect| {
            panel.x >= left
                && panel.y >= top
                && panel.right() <= left + room.0
                && panel.bottom() <= top + room.1
        };
        layout.panels.iter().filter(is_in).count()
    };
    let lefts = sides(|panel| panel.x).into_iter();
    let counts = lefts.flat_map(|left| tops.iter().map(move |&top| (left, top)));
    let most = counts.map(|(left, top)| in_sight(left, top)).max();
    most.unwrap_or_default()
}

/// The drawing in each number of columns, up to the first one at which it cannot be broken.
fn wrapped_in(
    layout: &DagLayout,
    mut counts: impl Iterator<Item = usize>,
) -> impl Iterator<Item = (usize, DagLayout)> {
    std::iter::from_fn(move || {
        let columns = counts.next()?;
        Some((columns, in_columns(layout, columns)?))
    })
}

/// The drawing in columns beside a lesson, whose step is about all of it. Where [`wrap`] keeps one
/// column and the drawing is small, it gets the columns in which the whole of it is largest, unless
/// that is small, too. A drawing of one column is easier to follow.
pub fn wrap_in_step(layout: &DagLayout, frame: Size) -> Option<DagLayout> {
    wrap(layout, frame, MAX_COLUMNS).or_else(|| {
        let is_small = |of: &DagLayout| whole_scale(of.size(), frame) < SMALL_PART * LEGIBLE_SCALE;
        let wrapped = is_small(layout).then(|| largest_whole(layout, frame, MAX_COLUMNS));
        wrapped.flatten().filter(|wrapped| !is_small(wrapped))
    })
}

/// The drawing in the number of columns, up to `max_columns`, at which the whole of it is largest
/// in the frame; `None` where that is one. `O(n log n)` in boxes and corners of edges, for each
/// number.
pub fn largest_whole(layout: &DagLayout, frame: Size, max_columns: usize) -> Option<DagLayout> {
    let mut best = (whole_scale(layout.size(), frame), None);
    for (_, wrapped) in wrapped_in(layout, 2..=max_columns) {
        let scale = whole_scale(wrapped.size(), frame);
        if scale > best.0 {
            best = (scale, Some(wrapped));
        }
    }
    best.1
}
