//! The marks of the memory timeline: bars, arrows, boxes and words.

use super::arrows::{Flow, arrow, places};
use super::bars::{Bar, BarKind, Bars, Small};
use super::columns::{ColumnKind, TimelineColumn};
use super::stack::{BarStack, Segment};
use super::words::{
    bar_label, box_label, box_words, flow_label, on_chip, on_chip_label, peak_words, tensor_name,
};
use super::{BOX_HEIGHT, Plot, STRIP_TOP};
use crate::picture::charts::Charted;
use crate::picture::charts::marks::{bold_text_width, circle, line, rect, text, text_width};
use crate::picture::charts::scene::{Anchor, FONT_PX, Label, Mark, Point, Role};
use crate::present::format::format_bytes;
use crate::present::names::counted;
use crate::present::quantity::{Quantity, Run, Values};
use fuseline_core::{Execution, IdVec, KernelId};

/// Between neighbouring boxes.
const BOX_GAP: f64 = 1.5;
/// Height of a tensor that stays on chip, whatever its bytes.
const ON_CHIP_HEIGHT: f64 = 5.0;
/// Width of such a tensor, at least; in narrower kernels none are drawn.
const MIN_ON_CHIP_WIDTH: f64 = 3.0;
/// Between the bottom of the kernels and what is below them.
const BELOW_BOX: f64 = 2.0;
/// How far an arrow reaches into its bar, at most.
const INTO_BAR: f64 = 5.0;
/// Size of the type in a box in which no other has room, as the style sheet has it.
const NARROW_FONT_PX: f64 = 11.0;
/// Height of a bar, at least.
const HAIRLINE: f64 = 0.7;
/// Height of a line of words, with space around it.
const LINE_HEIGHT: f64 = FONT_PX + 3.0;

/// All that is drawn.
pub(super) struct Drawn<'a> {
    pub(super) charted: Charted<'a>,
    pub(super) execution: &'a Execution,
    pub(super) plot: &'a Plot,
    pub(super) columns: &'a [TimelineColumn],
    /// For each kernel the bytes that are live while it runs.
    pub(super) live: &'a IdVec<KernelId, u64>,
    pub(super) bars: &'a Bars,
    pub(super) stack: BarStack,
    /// For each column what its arrows stand for.
    pub(super) flows: Vec<Vec<Flow>>,
    /// Width of an arrow for each byte.
    pub(super) arrow_scale: f64,
}

impl Drawn<'_> {
    /// Appends all marks. Returns those that can be focused: kernels, then tensors from left to
    /// right.
    pub(super) fn draw(&self, marks: &mut Vec<Mark>) -> Vec<usize> {
        let mut tensors = Vec::new();
        for (bar, segments) in self.bars.list.iter().zip(&self.stack.segments) {
            self.draw_bar(bar, segments, marks, &mut tensors);
        }
        self.draw_small(marks, &mut tensors);
        self.draw_peaks(marks);
        self.draw_arrows(marks);
        let mut order = Vec::new();
        for column in self.columns {
            order.push(marks.len());
            self.draw_box(column, marks);
        }
        for column in self.columns {
            self.draw_on_chip(column, marks, &mut tensors);
        }
        for (bar, segments) in self.bars.list.iter().zip(&self.stack.segments) {
            marks.extend(self.bar_text(bar, segments));
        }
        self.draw_words(marks);
        order.extend(tensors);
        order
    }

    fn span(&self, columns: &std::ops::Range<usize>) -> Option<(f64, f64)> {
        let covered = self.columns.get(columns.clone())?;
        Some((covered.first()?.left, covered.last()?.right))
    }

    /// The corners of a part of a bar, the upper left one first. At least a hairline.
    fn corners(&self, bytes: u64, segment: &Segment) -> Option<(Point, Point)> {
        let (left, right) = self.span(&segment.columns)?;
        let bottom = self.plot.y(segment.bottom);
        let top = self.plot.y(segment.bottom + bytes).min(bottom - HAIRLINE);
        Some(((left, top), (right, bottom)))
    }

    /// The longest part of a bar, which is reached by keys.
    fn longest<'s>(&self, segments: &'s [Segment]) -> Option<&'s Segment> {
        let width = |segment: &Segment| {
            self.span(&segment.columns)
                .map_or(0.0, |(left, right)| right - left)
        };
        let longer = |best: &'s Segment, next: &'s Segment| {
            if width(next) > width(best) {
                next
            } else {
                best
            }
        };
        segments.iter().reduce(longer)
    }

    fn draw_bar(
        &self,
        bar: &Bar,
        segments: &[Segment],
        marks: &mut Vec<Mark>,
        tensors: &mut Vec<usize>,
    ) {
        let longest = self.longest(segments);
        for segment in segments {
            let Some((from, to)) = self.corners(bar.bytes, segment) else {
                continue;
            };
            if longest == Some(segment) {
                tensors.push(marks.len());
            }
            let (role, kernel) = match bar.kind {
                BarKind::Weight => (Role::WeightBar, None),
                BarKind::Input => (Role::InputBar, None),
                BarKind::Written(kernel) => (Role::TensorBar, Some(kernel)),
            };
            let mark = rect(role, from, to).of_tensor(bar.shown);
            let mark = match kernel {
                Some(kernel) => mark.of_kernel(kernel),
                None => mark,
            };
            marks.push(mark.named(bar_label(self.charted, bar)));
        }
    }

    /// On top of each column what has no bar of its own.
    fn draw_small(&self, marks: &mut Vec<Mark>, tensors: &mut Vec<usize>) {
        let tops = self.stack.tops.iter().copied();
        let all: Vec<(u64, Small)> = tops.zip(self.bars.small.iter().copied()).collect();
        let mut parts: Vec<(Segment, Small)> = Vec::new();
        for (column, &(bottom, small)) in all.iter().enumerate() {
            match parts.last_mut() {
                Some((segment, before))
                    if segment.columns.end == column
                        && (segment.bottom, *before) == (bottom, small) =>
                {
                    segment.columns.end = column + 1;
                }
                _ if small.count == 0 => {}
                _ => {
                    let columns = column..column + 1;
                    parts.push((Segment { columns, bottom }, small));
                }
            }
        }
        let most = parts.iter().map(|(_, small)| small.count).max();
        let main = parts
            .iter()
            .position(|(_, small)| Some(small.count) == most);
        for (place, (segment, small)) in parts.iter().enumerate() {
            let Some((from, to)) = self.corners(small.bytes, segment) else {
                continue;
            };
            if Some(place) == main {
                tensors.push(marks.len());
            }
            let label = Label::new(
                counted(small.count, "small tensor"),
                vec![("", format_bytes(small.bytes))],
            );
            marks.push(rect(Role::SmallBar, from, to).named(label));
        }
    }

    fn draw_arrows(&self, marks: &mut Vec<Mark>) {
        let from_y = STRIP_TOP + BOX_HEIGHT + BELOW_BOX;
        for (place, (column, flows)) in self.columns.iter().zip(&self.flows).enumerate() {
            let places = places(flows, column, self.arrow_scale);
            for (flow, (x, width)) in flows.iter().zip(places) {
                let Some(bar) = self.bars.list.get(flow.bar) else {
                    continue;
                };
                let segments = self.stack.segments.get(flow.bar);
                let here = |segment: &&Segment| segment.columns.contains(&place);
                let Some(segment) = segments.and_then(|segments| segments.iter().find(here)) else {
                    continue;
                };
                let top = self.plot.y(segment.bottom + bar.bytes);
                let inside = (self.plot.y(segment.bottom) - top) / 2.0;
                let bar_y = top + inside.min(INTO_BAR);
                let mark = if flow.is_write {
                    arrow(Role::StoreArrow, x, width, from_y, bar_y)
                } else {
                    arrow(Role::LoadArrow, x, width, bar_y, from_y)
                };
                let mark = match column.kind {
                    ColumnKind::Kernel(kernel) => mark.of_kernel(kernel),
                    _ => mark,
                };
                let label = flow_label(self.charted, column, bar, flow.is_write, flow.bytes);
                marks.push(mark.of_tensor(bar.shown).named(label));
            }
        }
    }

    fn draw_box(&self, column: &TimelineColumn, marks: &mut Vec<Mark>) {
        let inset = (BOX_GAP / 2.0).min(column.width() / 8.0);
        let (left, right) = (column.left + inset, column.right - inset);
        let role = match column.kind {
            ColumnKind::Kernel(_) | ColumnKind::Kernels => Role::KernelBox,
            ColumnKind::Iterations(_) => Role::IterationsBox,
        };
        let of_kernel = |mark: Mark| match column.kind {
            ColumnKind::Kernel(kernel) => mark.of_kernel(kernel),
            _ => mark,
        };
        let label = box_label(self.charted, self.execution, column, self.live);
        let mark = rect(role, (left, STRIP_TOP), (right, STRIP_TOP + BOX_HEIGHT));
        marks.push(of_kernel(mark).named(label));
        let words = box_words(self.charted, self.execution, column);
        let narrow_width = |words: &str| text_width(words) * NARROW_FONT_PX / FONT_PX;
        let room = right - left - 2.0;
        let fitting = |words: &str| {
            if bold_text_width(words) <= room {
                Some(Role::BoxText)
            } else {
                (narrow_width(words) <= room).then_some(Role::NarrowBoxText)
            }
        };
        // The shortest may take the whole column in smaller type: neighbours do not touch even so.
        let shortest = || {
            let shortest = words.last()?;
            (narrow_width(shortest) <= column.width()).then_some((Role::NarrowBoxText, shortest))
        };
        let found = words
            .iter()
            .find_map(|words| Some((fitting(words)?, words)));
        if let Some((role, words)) = found.or_else(shortest) {
            let at = (column.middle(), STRIP_TOP + BOX_HEIGHT / 2.0 + 2.2);
            marks.push(of_kernel(text(role, at, Anchor::Middle, words.clone())));
        }
    }

    /// The tensors that never leave the chip, in the boxes of their kernels.
    fn draw_on_chip(
        &self,
        column: &TimelineColumn,
        marks: &mut Vec<Mark>,
        tensors: &mut Vec<usize>,
    ) {
        let ColumnKind::Kernel(kernel) = column.kind else {
            return;
        };
        let analysis = self.charted.analysis;
        let ops = analysis
            .fused
            .kernels
            .get(kernel)
            .map_or(1, |of| of.ops.len());
        let width = column.width() / ops.max(1) as f64;
        if width < MIN_ON_CHIP_WIDTH {
            return;
        }
        let bottom = STRIP_TOP + BOX_HEIGHT - 1.0;
        for (place, tensor) in on_chip(self.charted, kernel) {
            let left = column.left + width * place as f64;
            let mark = rect(
                Role::TensorBar,
                (left + width * 0.15, bottom - ON_CHIP_HEIGHT),
                (left + width * 0.85, bottom),
            );
            tensors.push(marks.len());
            let label = on_chip_label(analysis, tensor, kernel);
            marks.push(mark.of_kernel(kernel).of_tensor(tensor).named(label));
        }
    }

    /// The name and the bytes of a tensor, where its bar has room.
    fn bar_text(&self, bar: &Bar, segments: &[Segment]) -> Option<Mark> {
        const PADDING: f64 = 5.0;
        let (from, to) = self.corners(bar.bytes, self.longest(segments)?)?;
        if to.1 - from.1 < LINE_HEIGHT {
            return None;
        }
        let name = tensor_name(self.charted.analysis, bar.first.tensor);
        let name = match bar.count {
            1 => name,
            count => format!("{name} and {} more", count - 1),
        };
        let words = [format!("{name} {}", format_bytes(bar.bytes)), name];
        let words = words.into_iter();
        let mut fitting = words.filter(|words| text_width(words) + 2.0 * PADDING <= to.0 - from.0);
        let at = (from.0 + PADDING, f64::midpoint(from.1, to.1) + 4.2);
        let mark = text(Role::TensorText, at, Anchor::Start, fitting.next()?);
        let mark = mark.of_tensor(bar.shown);
        Some(match bar.kind {
            BarKind::Written(kernel) => mark.of_kernel(kernel),
            _ => mark,
        })
    }

    /// The level of the peak, and that of the unfused program above it.
    fn draw_peaks(&self, marks: &mut Vec<Mark>) {
        let analysis = self.charted.analysis;
        let (left, right) = (self.plot.bounds.left, self.plot.bounds.right);
        let level = |role, y| line(role, &[(left, y), (right, y)]);
        let [before, after] =
            [&analysis.unfused, &analysis.fused].map(|execution| execution.peak_memory.bytes);
        if self.charted.is_fused && before != after {
            let y = self.plot.y(before);
            marks.push(level(Role::UnfusedPeak, y));
        }
        if self.execution.peak_memory.kernel.is_some() {
            let y = self.plot.y(self.execution.peak_memory.bytes);
            marks.push(level(Role::PeakLine, y));
        }
    }

    /// The words at the peaks, and what the axis shows.
    fn draw_words(&self, marks: &mut Vec<Mark>) {
        const ABOVE: f64 = 5.0;
        let analysis = self.charted.analysis;
        let bounds = self.plot.bounds;
        let words = if self.charted.is_fused {
            "kernels in launch order"
        } else if self.execution.kernels.iter().any(|kernel| kernel.is_free) {
            "ops in launch order, each a kernel of its own; views are none"
        } else {
            "ops in launch order, each a kernel of its own"
        };
        let below = (bounds.right, bounds.bottom + 15.0);
        marks.push(text(Role::AxisTitle, below, Anchor::End, words));
        let Some(kernel) = self.execution.peak_memory.kernel else {
            return;
        };
        let y = self.plot.y(self.execution.peak_memory.bytes);
        let before_y = self.plot.y(analysis.unfused.peak_memory.bytes);
        // No words stand across the line of the unfused peak.
        let is_crossed = self.charted.is_fused && y - before_y < LINE_HEIGHT + ABOVE;
        let words_y = if is_crossed { y.min(before_y) } else { y } - ABOVE;
        let mut peak_words_end = bounds.left;
        let is_peak = |column: &&TimelineColumn| column.kernels.contains(&kernel.index());
        if let Some(column) = self.columns.iter().find(is_peak) {
            marks.push(circle(Role::PeakPoint, (column.middle(), y), 3.5));
            let words = peak_words(analysis, Run::shown(self.charted.is_fused)).into_iter();
            let mut widths = words.map(|words| (bold_text_width(&words), words));
            // Beside the arrows of the column, on the side with more room.
            let is_left = column.middle() > f64::midpoint(bounds.left, bounds.right);
            if let Some((width, words)) = widths.find(|(width, _)| *width <= bounds.width()) {
                let (x, anchor) = if is_left {
                    (column.left.max(bounds.left + width), Anchor::End)
                } else {
                    (column.right.min(bounds.right - width), Anchor::Start)
                };
                peak_words_end = if is_left { x } else { x + width };
                marks.push(text(Role::PeakText, (x, words_y), anchor, words));
            }
        }
        if self.charted.is_fused && before_y < y {
            let peak = Values::new(analysis).total(Quantity::PeakMemory, Run::Unfused);
            let words = format!("unfused {peak}");
            let right = bounds.right - 4.0;
            if !is_crossed || peak_words_end + ABOVE <= right - text_width(&words) {
                let at = (right, before_y - ABOVE);
                marks.push(text(Role::UnfusedPeakText, at, Anchor::End, words));
            }
        }
    }
}
