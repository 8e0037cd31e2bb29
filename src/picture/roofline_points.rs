//! The points of the roofline: each kernel before and after fusion, spread where they meet, and numbered.

use super::axes::Plot;
use super::labels::{kernel_heading, kernel_label, op_names, point_label};
use super::roofline::point_of;
use super::room::{Box4, Room, around, text_boxes};
use super::scene::{Anchor, Mark, Point, Role, Shape, line, tenths, text};
use crate::core::Analysis;
use std::collections::BTreeMap;

/// Above this many ops the ops' own points are left out.
const OPS_SHOWN: usize = 400;
/// Above this many kernels those that share a place share a point.
const KERNELS_APART: usize = 64;
/// Numbers that are placed, at most.
const NUMBERS: usize = 64;

/// A kernel's points.
struct Dot {
    kernel: usize,
    /// Kernels that share this point, beside it.
    others: usize,
    /// Where its intensity and rate put it.
    place: Point,
    /// Where its ops stand before fusion, when there are several.
    before: Option<Point>,
    /// How far below the roof both are drawn, because others stand there already.
    drop: f64,
    /// Its number.
    number: Option<Mark>,
}

impl Dot {
    fn drawn(&self) -> Point {
        tenths((self.place.0, self.place.1 + self.drop))
    }

    fn drawn_before(&self) -> Option<Point> {
        self.before.map(|(x, y)| tenths((x, y + self.drop)))
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
pub(super) fn kernel_points(
    analysis: &Analysis,
    plot: &Plot,
    is_compact: bool,
    room: &mut Room,
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
    for dot in dots.iter_mut().take(NUMBERS) {
        settle(dot, &sizes, room);
    }
    // Kernel, rank within it, and mark; sorted at the end.
    let mut order: Vec<(usize, u8, usize)> = Vec::new();
    for dot in dots.iter().filter(|dot| dot.drop > 0.0) {
        let leader = line(Role::Leader, &[dot.place, dot.drawn()]);
        marks.push(leader.of_kernel(dot.kernel));
    }
    if analysis.graph.ops.len() <= OPS_SHOWN {
        op_points(analysis, plot, &sizes, marks, &mut order);
    }
    for dot in &dots {
        let of_kernel = |mark: Mark| mark.of_kernel(dot.kernel);
        let (Some(kernel), Some(comparison)) = (
            analysis.fused.kernels.get(dot.kernel),
            analysis.comparisons.get(dot.kernel),
        ) else {
            continue;
        };
        if let Some(before) = dot.drawn_before() {
            marks.extend(link(before, dot.drawn(), &sizes).into_iter().map(of_kernel));
            let heading = format!("{}, before fusion", kernel_heading(analysis, dot.kernel));
            let placement = &comparison.unfused_placement;
            let label = point_label(heading, placement, comparison.unfused_bytes);
            order.push((dot.kernel, 1, marks.len()));
            marks.push(of_kernel(circle(Role::HollowPoint, before, sizes.hollow)).named(label));
        }
        let mut label = kernel_label(analysis, dot.kernel, kernel);
        if dot.others > 0 {
            let also = format!("{} more kernels here", dot.others);
            label.name.push_str(", ");
            label.name.push_str(&also);
            label.facts.push(("and", also));
        }
        order.push((dot.kernel, 0, marks.len()));
        marks.push(of_kernel(circle(Role::SolidPoint, dot.drawn(), sizes.solid)).named(label));
    }
    marks.extend(dots.into_iter().filter_map(|dot| dot.number));
    order.sort_unstable();
    order.into_iter().map(|(_, _, mark)| mark).collect()
}

/// Kernels that have no point, in a sentence; `None` when each has one.
pub(super) fn without_point(analysis: &Analysis) -> Option<String> {
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
    let mut names: Vec<String> = missing
        .iter()
        .take(NAMED)
        .map(|&kernel| {
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
        })
        .collect();
    if missing.len() > NAMED {
        names.push(format!("{} more", missing.len() - NAMED));
    }
    Some(format!("Without a point: {}.", names.join("; ")))
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
            drop: 0.0,
            number: None,
        });
    }
    dots
}

#[allow(clippy::cast_possible_truncation, reason = "places are on the frame")]
fn cell((x, y): Point) -> (i64, i64) {
    ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64)
}

/// Finds a free place for a kernel's points, their arrow and their number.
///
/// Where others stand already they hang below the roof, lane by lane: intensity, which is what the chart
/// is about, stays exact. Without any free lane they stay on the roof, without a number.
fn settle(dot: &mut Dot, sizes: &Sizes, room: &mut Room) {
    const LANES: u32 = 12;
    let lane = 2.0 * sizes.solid + 2.0;
    for index in 0..LANES {
        dot.drop = f64::from(index) * lane;
        let body = body(dot, sizes);
        if !body.iter().all(|part| room.is_free(part)) {
            continue;
        }
        let numbers = number_places(dot, sizes, index == 0);
        let free = numbers
            .into_iter()
            .find(|mark| text_boxes(mark).iter().all(|part| room.is_free(part)));
        if let Some(number) = free {
            for part in body.iter().chain(&text_boxes(&number)) {
                room.take(part);
            }
            dot.number = Some(number.of_kernel(dot.kernel));
            return;
        }
    }
    dot.drop = 0.0;
}

/// The room that a kernel's points and arrow take.
fn body(dot: &Dot, sizes: &Sizes) -> Vec<Box4> {
    let to = dot.drawn();
    let mut parts = vec![around(to, sizes.solid - 0.5)];
    if let Some(from) = dot.drawn_before() {
        parts.push(around(from, sizes.hollow - 0.5));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut along = 0.0;
        while along < length {
            parts.push(around(toward(from, to, along), 3.0));
            along += 6.0;
        }
    }
    parts
}

/// Places for a kernel's number, the best first: over a point on the roof, beside one below it.
fn number_places(dot: &Dot, sizes: &Sizes, is_on_roof: bool) -> Vec<Mark> {
    let words = if dot.others > 0 {
        format!("{} +{}", dot.kernel + 1, dot.others)
    } else {
        (dot.kernel + 1).to_string()
    };
    let (x, y) = dot.drawn();
    let place =
        |dx: f64, dy: f64, anchor: Anchor| text(Role::Number, (x + dx, y + dy), anchor, &*words);
    let (radius, level) = (sizes.solid, 4.2);
    let above = [
        place(0.0, -radius - 4.0, Anchor::Middle),
        place(-radius, -radius - 2.0, Anchor::End),
    ];
    let beside = [
        place(radius + 3.0, level, Anchor::Start),
        place(radius, radius + 9.0, Anchor::Start),
    ];
    let behind = dot.drawn_before().map_or_else(
        || place(-radius - 3.0, level, Anchor::End),
        |before| {
            text(
                Role::Number,
                (before.0 - sizes.hollow - 3.0, before.1 + level),
                Anchor::End,
                &*words,
            )
        },
    );
    if is_on_roof {
        above.into_iter().chain(beside).chain([behind]).collect()
    } else {
        beside.into_iter().chain([behind]).chain(above).collect()
    }
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
            let heading = format!("{} alone", op_names(analysis, &[op]));
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

/// The arrow from the hollow to the solid point; nothing where they are too close to tell apart.
fn link(from: Point, to: Point, sizes: &Sizes) -> Vec<Mark> {
    let head = sizes.solid + 1.0;
    let start = toward(from, to, sizes.hollow);
    let tip = toward(to, from, sizes.solid);
    let room = (tip.0 - start.0).hypot(tip.1 - start.1);
    let gap = (to.0 - from.0).hypot(to.1 - from.1) - sizes.hollow - sizes.solid;
    if gap < 2.0 {
        return Vec::new();
    }
    let neck = toward(tip, from, head.min(room));
    let (ux, uy) = unit(neck, tip);
    let half = head * 0.5;
    vec![
        line(Role::Link, &[start, neck]),
        Mark::new(
            Role::LinkHead,
            Shape::Path {
                points: vec![
                    tenths(tip),
                    tenths((neck.0 - uy * half, neck.1 + ux * half)),
                    tenths((neck.0 + uy * half, neck.1 - ux * half)),
                ],
                is_closed: true,
            },
        ),
    ]
}

/// Direction from one point to another; rightwards when they are one.
fn unit(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length > 1e-9 {
        (dx / length, dy / length)
    } else {
        (1.0, 0.0)
    }
}

fn toward(from: Point, to: Point, distance: f64) -> Point {
    let (ux, uy) = unit(from, to);
    (from.0 + ux * distance, from.1 + uy * distance)
}
