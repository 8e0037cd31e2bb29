//! Where a drawing can be broken into columns: between two layers, where only lines are that go
//! straight down.

use super::dag_layout::{DagLayout, Edge, EdgeEnd, PillId};
use fuseline_core::{IdVec, KernelId, TensorId};

/// From the lowest box above a break to the break; the first track is further down.
const BELOW_BOX: f64 = 1.75;
/// Least distance of the boxes above and below a break. Those of one layer are closer to their size
/// labels.
const LEAST_GAP: f64 = 4.0;
/// Pixels of height that are worth as much as a line that goes on in the next column.
const LINE_COST_PX: f64 = 120.0;
/// Lines that are led to the next column, at most.
const MAX_LINES: usize = 8;

/// A line across the whole drawing that meets no box.
#[derive(Clone, Copy, Debug)]
struct Gap {
    y: f64,
    /// Whether there is a kernel between it and the gap above. Pills alone are no piece of a
    /// drawing.
    is_below_kernel: bool,
    /// Lines that cross it. Those of pills right above it do not count, because these move to the
    /// next column.
    lines: usize,
}

/// The gaps of a drawing, from top to bottom.
pub(super) struct Gaps(Vec<Gap>);

impl Gaps {
    /// `O(n log n)` in boxes and corners of edges.
    pub(super) fn of(layout: &DagLayout) -> Self {
        let mut gaps = Self(Vec::new());
        // There is no gap above the first box.
        let mut reach = f64::INFINITY;
        let mut is_below_kernel = false;
        for (top, bottom, is_kernel) in heights(layout) {
            if top > reach + LEAST_GAP {
                gaps.0.push(Gap {
                    y: reach + BELOW_BOX,
                    is_below_kernel,
                    lines: 0,
                });
                is_below_kernel = false;
            }
            is_below_kernel |= is_kernel;
            reach = if reach.is_finite() {
                reach.max(bottom)
            } else {
                bottom
            };
        }
        gaps.count_lines(layout);
        gaps
    }

    /// The heights that break the drawing into `columns` of about the same height, with few lines
    /// from one to the next.
    pub(super) fn breaks(&self, columns: usize, (top, bottom): (f64, f64)) -> Option<Vec<f64>> {
        let mut start = top;
        (1..columns)
            .rev()
            .map(|rest| {
                let cost = |gap: &&Gap| {
                    let tallest = (gap.y - start).max((bottom - gap.y) / rest as f64);
                    tallest + gap.lines as f64 * LINE_COST_PX
                };
                let gap = (self.0.iter())
                    .filter(|gap| gap.y > start && gap.is_below_kernel && gap.lines <= MAX_LINES)
                    .min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
                start = gap.y;
                Some(gap.y)
            })
            .collect()
    }

    /// The first gap below a height.
    pub(super) fn below(&self, y: f64) -> Option<f64> {
        let next = self.0.partition_point(|gap| gap.y < y);
        self.0.get(next).map(|gap| gap.y)
    }

    fn count_lines(&mut self, layout: &DagLayout) {
        // Edges of one tensor share lines: each is counted once, over the whole way that any of
        // them goes along it.
        let mut lines: Vec<(TensorId, i64, f64, f64)> = Vec::new();
        for edge in &layout.edges {
            let from = match edge.from {
                EdgeEnd::Op(_) => f64::NEG_INFINITY,
                EdgeEnd::Pill(pill) => (layout.pills.get(pill))
                    .and_then(|pill| self.below(pill.rect.bottom()))
                    .map_or(f64::INFINITY, |y| y + LEAST_GAP),
            };
            for [a, b] in edge.points.array_windows() {
                let top = a.y.max(from);
                if b.y > top {
                    lines.push((edge.tensor, place_key(a.x), top, b.y));
                }
            }
        }
        lines.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        // Changes from gap to gap, so that a line across many gaps costs two entries.
        let mut changes = vec![0_isize; self.0.len() + 1];
        for line in lines.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let mut next = 0;
            for &(.., top, bottom) in line {
                // Pieces of one line may overlap, and gaps before `next` are counted already.
                let first = self.0.partition_point(|gap| gap.y < top).max(next);
                let last = self.0.partition_point(|gap| gap.y < bottom);
                if first < last {
                    changes[first] += 1;
                    changes[last] -= 1;
                    next = last;
                }
            }
        }
        let mut count = 0;
        for (gap, change) in self.0.iter_mut().zip(changes) {
            count += change;
            gap.lines = count.unsigned_abs();
        }
    }
}

/// A position as a whole number, equal for positions that differ by rounding only.
#[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
pub(super) fn place_key(x: f64) -> i64 {
    (x * 10.0).round() as i64
}

/// Upper and lower side of all that must not be broken, and whether it is a kernel, by the upper
/// side. An op stays with its size label or the pill of its result, and the borders of a frame stay
/// with the kernels beside them.
fn heights(layout: &DagLayout) -> Vec<(f64, f64, bool)> {
    let panels = layout
        .panels
        .iter()
        .map(|rect| (rect.y, rect.bottom(), true));
    let pills = (layout.pills.iter()).map(|pill| (pill.rect.y, pill.rect.bottom(), false));
    let mut heights: Vec<(f64, f64, bool)> = panels.chain(pills).collect();
    for (op, label) in layout.ops.iter().zip(&layout.size_labels) {
        heights.extend(label.map(|label| (op.rect.y, label.bottom(), true)));
    }
    heights.extend(
        (layout.edges.iter()).filter_map(|edge| match (edge.from, edge.to) {
            (EdgeEnd::Op(op), EdgeEnd::Pill(pill)) => {
                let pill = layout.pills.get(pill)?;
                Some((layout.ops.get(op)?.rect.y, pill.rect.bottom(), true))
            }
            _ => None,
        }),
    );
    for (frame, run) in layout.frames.iter().zip(layout.repeats.runs()) {
        let rect = frame.rect();
        let panels = (run.shown()).filter_map(|kernel| layout.panels.get(KernelId::new(kernel)));
        let (mut first, mut last) = (rect.bottom(), rect.y);
        for panel in panels {
            first = first.min(panel.bottom());
            last = last.max(panel.y);
        }
        heights.extend([(rect.y, first, true), (last, rect.bottom(), true)]);
    }
    heights.sort_by(|a, b| a.0.total_cmp(&b.0));
    heights
}

/// Which piece of a broken drawing each height and each pill belongs to.
pub(super) struct Pieces {
    /// The heights of the breaks, from top to bottom.
    pub(super) breaks: Vec<f64>,
    of_pill: IdVec<PillId, usize>,
}

impl Pieces {
    pub(super) fn new(layout: &DagLayout, gaps: &Gaps, breaks: Vec<f64>) -> Self {
        let mut pieces = Self {
            breaks,
            of_pill: IdVec::with_capacity(layout.pills.len()),
        };
        for pill in &layout.pills {
            pieces.of_pill.push(pieces.at(pill.rect.y));
        }
        // A pill right above a break goes with those that read it.
        for edge in &layout.edges {
            if let (EdgeEnd::Pill(pill), EdgeEnd::Op(op)) = (edge.from, edge.to)
                && let (Some(place), Some(op)) = (layout.pills.get(pill), layout.ops.get(op))
                && gaps.below(place.rect.bottom()) == pieces.next_break(place.rect.y)
                && pieces.at(op.rect.y) > pieces.at(place.rect.y)
            {
                pieces.of_pill[pill] = pieces.at(place.rect.y) + 1;
            }
        }
        pieces
    }

    fn next_break(&self, y: f64) -> Option<f64> {
        self.breaks.get(self.at(y)).copied()
    }

    /// The piece at a height.
    pub(super) fn at(&self, y: f64) -> usize {
        self.breaks.partition_point(|&at| at < y)
    }

    pub(super) fn of_pill(&self, pill: PillId) -> usize {
        self.of_pill.get(pill).copied().unwrap_or(0)
    }

    /// The piece in which an edge starts.
    pub(super) fn of_start(&self, edge: &Edge) -> usize {
        match (edge.from, edge.points.first()) {
            (EdgeEnd::Pill(pill), _) => self.of_pill(pill),
            (EdgeEnd::Op(_), Some(point)) => self.at(point.y),
            (EdgeEnd::Op(_), None) => 0,
        }
    }
}
