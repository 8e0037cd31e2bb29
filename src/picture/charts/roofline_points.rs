//! The points of the roofline: each kernel before and after fusion, exactly where it stands,
//! and numbered.

use crate::core::Analysis;
use crate::core::sorting::{rank_of, sort_by_rank};
use crate::picture::charts::axes::Plot;
use crate::picture::charts::label_space::around;
use crate::picture::charts::labels::{
    add_others, kernel_heading, kernel_label, point_label, short_op_names,
};
use crate::picture::charts::roofline::{Space, point_of};
use crate::picture::charts::roofline_arcs::{Arc, Move, hang};
use crate::picture::charts::roofline_numbers::{Number, beside_points, centered};
use crate::picture::charts::scene::{
    Anchor, Label, Mark, Point, Role, Shape, rect, tenths, text, text_width,
};
use crate::present::names::joined;
use std::collections::BTreeMap;

/// Above this many ops the ops' own points are left out.
const OPS_SHOWN: usize = 400;
/// Above this many kernels those that share a place share a point.
const KERNELS_APART: usize = 64;
/// Numbers that are placed, at most.
const NUMBERS: usize = 64;

/// How much of a hollow point shows behind its solid one.
const SHOWS: f64 = 2.5;

/// A kernel's points, each where its intensity and rate put it.
struct Dot {
    kernel: usize,
    /// Kernels that share this point, beside it.
    others: usize,
    /// The fused kernel.
    place: Point,
    /// Its ops before fusion, when there are several.
    before: Option<Point>,
    /// The way from before to after, when it is long enough to see.
    way: Option<Arc>,
    /// The centre of its number's plate.
    number: Option<Point>,
}

impl Dot {
    fn words(&self) -> String {
        if self.others > 0 {
            format!("{} +{}", self.kernel + 1, self.others)
        } else {
            (self.kernel + 1).to_string()
        }
    }

    /// Width and height of its number's plate.
    fn plate(&self) -> (f64, f64) {
        (text_width(&self.words()) + 3.0, 12.0)
    }

    fn length(&self) -> f64 {
        self.before
            .map_or(0.0, |(x, y)| (self.place.0 - x).hypot(self.place.1 - y))
    }
}

/// Radii of the marks.
struct Sizes {
    solid: f64,
    hollow: f64,
    op: f64,
}

/// Draws all points at the end of `marks` and gives the order of the arrow keys: kernel by kernel, the
/// solid point, the hollow one, its ops.
pub(in crate::picture) fn kernel_points(
    analysis: &Analysis,
    plot: &Plot,
    is_compact: bool,
    space: &mut Space,
    marks: &mut Vec<Mark>,
) -> Vec<usize> {
    let sizes = if is_compact {
        Sizes {
            solid: 4.5,
            hollow: 3.5,
            op: 2.0,
        }
    } else {
        Sizes {
            solid: 6.0,
            hollow: 5.0,
            op: 2.5,
        }
    };
    let mut dots = dots(analysis, plot);
    let leaders = settle(&mut dots, &sizes, space);
    // Kernel, rank within it, and mark; sorted at the end.
    let mut order: Vec<(usize, u8, usize)> = Vec::new();
    if analysis.graph.ops.len() <= OPS_SHOWN {
        op_points(analysis, plot, &sizes, marks, &mut order);
    }
    marks.extend(leaders);
    hollow_points(analysis, &dots, &sizes, marks, &mut order);
    for dot in &dots {
        if let Some(way) = &dot.way {
            let parts = way.marks(sizes.hollow, sizes.solid);
            marks.extend(parts.map(|mark| mark.of_kernel(dot.kernel)));
        }
    }
    for dot in &dots {
        if let Some(label) = dot_label(analysis, dot) {
            order.push((dot.kernel, 0, marks.len()));
            marks.push(
                circle(Role::SolidPoint, dot.place, sizes.solid)
                    .of_kernel(dot.kernel)
                    .named(label),
            );
        }
    }
    for dot in &dots {
        marks.extend(number_marks(analysis, dot));
    }
    sort_by_rank(&mut order, |&(kernel, is_point, mark)| {
        (rank_of(kernel), rank_of(is_point), rank_of(mark))
    });
    order.into_iter().map(|(_, _, mark)| mark).collect()
}

/// The label of a fused kernel's point, and of those that share it.
fn dot_label(analysis: &Analysis, dot: &Dot) -> Option<Label> {
    let kernel = analysis.fused.kernels.get(dot.kernel)?;
    let mut label = kernel_label(analysis, dot.kernel, kernel);
    add_others(&mut label, dot.others);
    Some(label)
}

fn hollow_points(
    analysis: &Analysis,
    dots: &[Dot],
    sizes: &Sizes,
    marks: &mut Vec<Mark>,
    order: &mut Vec<(usize, u8, usize)>,
) {
    for dot in dots {
        let (Some(before), Some(comparison)) = (dot.before, analysis.comparisons.get(dot.kernel))
        else {
            continue;
        };
        // It shows by a few pixels however near the solid point stands in front of it.
        let radius = (sizes.solid + SHOWS - dot.length()).max(sizes.hollow);
        let heading = format!("{}, before fusion", kernel_heading(analysis, dot.kernel));
        let placement = &comparison.unfused_placement;
        let label = point_label(heading, placement, comparison.unfused_bytes);
        order.push((dot.kernel, 1, marks.len()));
        marks.push(
            circle(Role::HollowPoint, before, radius)
                .of_kernel(dot.kernel)
                .named(label),
        );
    }
}

/// A kernel's number on its plate, which tells as much as the point: others may stand on that.
fn number_marks(analysis: &Analysis, dot: &Dot) -> Vec<Mark> {
    let (Some(center), Some(label)) = (dot.number, dot_label(analysis, dot)) else {
        return Vec::new();
    };
    let [left, top, right, bottom] = centered(center, dot.plate());
    let words = text(
        Role::Number,
        (center.0, center.1 + 4.2),
        Anchor::Middle,
        dot.words(),
    );
    vec![
        rect(Role::NumberPlate, (left, top), (right, bottom))
            .of_kernel(dot.kernel)
            .named(label),
        words.of_kernel(dot.kernel),
    ]
}

/// Kernels that have no point, in a sentence; `None` when each has one.
pub(in crate::picture) fn without_point(analysis: &Analysis) -> Option<String> {
    const NAMED: usize = 8;
    let missing: Vec<usize> = analysis
        .fused
        .kernels
        .iter()
        .enumerate()
        .filter(|(_, kernel)| point_of(&kernel.placement).is_none())
        .map(|(index, _)| index)
        .collect();
    if missing.is_empty() {
        return None;
    }
    let names = missing.iter().map(|&kernel| {
        let is_unknown = analysis
            .fused
            .kernels
            .get(kernel)
            .is_some_and(|k| k.work.is_unknown);
        let why = if is_unknown {
            "K is unknown"
        } else {
            "no FLOPs"
        };
        format!("{} ({why})", kernel_heading(analysis, kernel))
    });
    Some(format!(
        "Without a point: {}.",
        joined(names, ["; "; 2], NAMED)
    ))
}

fn dots(analysis: &Analysis, plot: &Plot) -> Vec<Dot> {
    let mut dots: Vec<Dot> = Vec::new();
    let mut at_cell: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    let is_shared = analysis.fused.kernels.len() > KERNELS_APART;
    for (index, kernel) in analysis.fused.kernels.iter().enumerate() {
        let Some((intensity, rate)) = point_of(&kernel.placement) else {
            continue;
        };
        let place = plot.place(intensity, rate);
        if is_shared {
            let known = at_cell.entry(cell(place)).or_insert(dots.len());
            if let Some(dot) = dots.get_mut(*known) {
                dot.others += 1;
                continue;
            }
        }
        let before = (kernel.ops.len() > 1)
            .then(|| analysis.comparisons.get(index))
            .flatten()
            .and_then(|comparison| point_of(&comparison.unfused_placement))
            .map(|(intensity, rate)| plot.place(intensity, rate));
        dots.push(Dot {
            kernel: index,
            others: 0,
            place,
            before,
            way: None,
            number: None,
        });
    }
    dots
}

#[allow(clippy::cast_possible_truncation, reason = "places are on the frame")]
fn cell((x, y): Point) -> (i64, i64) {
    ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64)
}

/// Hangs the ways of kernels that move off the roof and puts all numbers beside their points. Gives the lines
/// from numbers to points that stand apart.
fn settle(dots: &mut [Dot], sizes: &Sizes, space: &mut Space) -> Vec<Mark> {
    for dot in dots.iter() {
        space.lines.take(&around(dot.place, sizes.solid));
        if let Some(before) = dot.before {
            space.lines.take(&around(before, sizes.hollow));
        }
    }
    let moves = dots
        .iter()
        .enumerate()
        .filter_map(|(dot, points)| {
            let (from, to) = (points.before?, points.place);
            Some(Move { dot, from, to })
        })
        .filter(|way| way.length() >= sizes.hollow + sizes.solid)
        .collect();
    for (index, arc) in hang(moves, sizes.solid, &space.words) {
        arc.take(&mut space.lines);
        if let Some(dot) = dots.get_mut(index) {
            dot.way = Some(arc);
        }
    }
    let beside = dots
        .iter()
        .enumerate()
        .take(NUMBERS)
        .map(|(index, dot)| Number {
            dot: index,
            place: dot.place,
            plate: dot.plate(),
        })
        .collect();
    let (placed, leaders) = beside_points(beside, sizes.solid, space);
    for (index, center) in placed {
        if let Some(dot) = dots.get_mut(index) {
            dot.number = Some(center);
        }
    }
    leaders
}

fn op_points(
    analysis: &Analysis,
    plot: &Plot,
    sizes: &Sizes,
    marks: &mut Vec<Mark>,
    order: &mut Vec<(usize, u8, usize)>,
) {
    for (op, kernel) in analysis.unfused.kernels.iter().enumerate() {
        let (Some((intensity, rate)), Some(&group)) = (
            point_of(&kernel.placement),
            analysis.partition.group_of.get(op),
        ) else {
            continue;
        };
        let mut mark =
            circle(Role::OpPoint, plot.place(intensity, rate), sizes.op).of_kernel(group);
        // An op that is a kernel of its own stands under its solid point and needs no second name.
        let is_alone = analysis
            .fused
            .kernels
            .get(group)
            .is_some_and(|k| k.ops.len() == 1);
        if !is_alone {
            let heading = format!("{} alone", short_op_names(analysis, &[op]));
            mark = mark.named(point_label(heading, &kernel.placement, kernel.bytes()));
            order.push((group, 2, marks.len()));
        }
        marks.push(mark);
    }
}

fn circle(role: Role, center: Point, radius: f64) -> Mark {
    Mark::new(
        role,
        Shape::Circle {
            center: tenths(center),
            radius,
        },
    )
}
