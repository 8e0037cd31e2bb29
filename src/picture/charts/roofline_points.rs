//! The points of the roofline: each kernel before and after fusion, exactly where it stands,
//! and numbered.

use crate::core::Analysis;
use crate::picture::charts::axes::Plot;
use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::labels::{
    add_others, kernel_heading, kernel_label, point_label, short_op_names,
};
use crate::picture::charts::roofline::{LabelSpace, RooflineFrame, point_of};
use crate::picture::charts::roofline_arcs::{Move, MoveArc, arcs_below_roof};
use crate::picture::charts::roofline_numbers::{Number, place_numbers};
use crate::picture::charts::scene::{
    Anchor, Label, Mark, Point, Role, Shape, rect, tenths, text, text_width,
};
use crate::present::names::joined;
use std::collections::BTreeMap;

/// Above this many ops the ops' own points are left out.
const MAX_OPS_SHOWN: usize = 400;
/// Above this many kernels those that share a place share a point.
const MAX_SEPARATE_KERNELS: usize = 64;
/// Numbers that are placed, at most.
const MAX_NUMBERS: usize = 64;

/// Width of the ring by which a hollow point shows behind its solid one.
const RING: f64 = 2.5;

/// A kernel's points, each where its intensity and rate put it.
struct KernelPoint {
    kernel: usize,
    /// Further kernels that share this point.
    other_count: usize,
    /// The fused kernel.
    fused_at: Point,
    /// Its ops before fusion, when there are several.
    unfused_at: Option<Point>,
    /// The way from before to after, when it is long enough to see.
    arc: Option<MoveArc>,
    /// The centre of its number's plate.
    number_at: Option<Point>,
}

impl KernelPoint {
    fn number_text(&self) -> String {
        if self.other_count > 0 {
            format!("{} +{}", self.kernel + 1, self.other_count)
        } else {
            (self.kernel + 1).to_string()
        }
    }

    /// Width and height of its number's plate.
    fn plate_size(&self) -> (f64, f64) {
        (text_width(&self.number_text()) + 3.0, 12.0)
    }

    /// How far fusion moves it.
    fn distance(&self) -> f64 {
        self.unfused_at.map_or(0.0, |(x, y)| {
            (self.fused_at.0 - x).hypot(self.fused_at.1 - y)
        })
    }
}

/// Radii of the marks.
struct Sizes {
    solid: f64,
    hollow: f64,
    op: f64,
}

/// Draws all points and gives the order of the arrow keys: kernel by kernel, the solid point, the hollow one, its ops.
pub(super) fn draw_points(analysis: &Analysis, frame: &mut RooflineFrame) -> Vec<usize> {
    let RooflineFrame {
        plot,
        is_compact,
        space,
        marks,
        ..
    } = frame;
    let sizes = if *is_compact {
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
    let mut points = points_of_kernels(analysis, plot);
    let leaders = place_arcs_and_numbers(&mut points, &sizes, space);
    // Kernel, rank within it, and mark; sorted at the end.
    let mut order: Vec<(usize, u8, usize)> = Vec::new();
    if analysis.graph.ops.len() <= MAX_OPS_SHOWN {
        op_points(analysis, plot, &sizes, marks, &mut order);
    }
    marks.extend(leaders);
    hollow_points(analysis, &points, &sizes, marks, &mut order);
    for point in &points {
        if let Some(arc) = &point.arc {
            let parts = arc.marks(sizes.hollow, sizes.solid);
            marks.extend(parts.map(|mark| mark.of_kernel(point.kernel)));
        }
    }
    for point in &points {
        if let Some(label) = label_of(analysis, point) {
            order.push((point.kernel, 0, marks.len()));
            marks.push(
                circle(Role::SolidPoint, point.fused_at, sizes.solid)
                    .of_kernel(point.kernel)
                    .named(label),
            );
        }
    }
    for point in &points {
        marks.extend(number_marks(analysis, point));
    }
    order.sort_unstable();
    order.into_iter().map(|(_, _, mark)| mark).collect()
}

/// The label of a fused kernel's point, and of those that share it.
fn label_of(analysis: &Analysis, point: &KernelPoint) -> Option<Label> {
    let kernel = analysis.fused.kernels.get(point.kernel)?;
    let mut label = kernel_label(analysis, point.kernel, kernel);
    add_others(&mut label, point.other_count);
    Some(label)
}

fn hollow_points(
    analysis: &Analysis,
    points: &[KernelPoint],
    sizes: &Sizes,
    marks: &mut Vec<Mark>,
    order: &mut Vec<(usize, u8, usize)>,
) {
    for point in points {
        let (Some(unfused_at), Some(comparison)) =
            (point.unfused_at, analysis.comparisons.get(point.kernel))
        else {
            continue;
        };
        // A ring of it shows however near the solid point stands in front of it.
        let radius = (sizes.solid + RING - point.distance()).max(sizes.hollow);
        let heading = format!("{}, before fusion", kernel_heading(analysis, point.kernel));
        let placement = &comparison.unfused_placement;
        let label = point_label(heading, placement, comparison.unfused_bytes);
        order.push((point.kernel, 1, marks.len()));
        marks.push(
            circle(Role::HollowPoint, unfused_at, radius)
                .of_kernel(point.kernel)
                .named(label),
        );
    }
}

/// A kernel's number on its plate, which has the label of the point because other points may cover that.
fn number_marks(analysis: &Analysis, point: &KernelPoint) -> Vec<Mark> {
    let (Some(center), Some(label)) = (point.number_at, label_of(analysis, point)) else {
        return Vec::new();
    };
    let plate = Bounds::centered(center, point.plate_size());
    let number = text(
        Role::Number,
        (center.0, center.1 + 4.2),
        Anchor::Middle,
        point.number_text(),
    );
    vec![
        rect(
            Role::NumberPlate,
            (plate.left, plate.top),
            (plate.right, plate.bottom),
        )
        .of_kernel(point.kernel)
        .named(label),
        number.of_kernel(point.kernel),
    ]
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

fn points_of_kernels(analysis: &Analysis, plot: &Plot) -> Vec<KernelPoint> {
    let mut points: Vec<KernelPoint> = Vec::new();
    let mut point_in_cell: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    let is_shared = analysis.fused.kernels.len() > MAX_SEPARATE_KERNELS;
    for (index, kernel) in analysis.fused.kernels.iter().enumerate() {
        let Some((intensity, rate)) = point_of(&kernel.placement) else {
            continue;
        };
        let fused_at = plot.place(intensity, rate);
        if is_shared {
            let known = point_in_cell.entry(cell(fused_at)).or_insert(points.len());
            if let Some(point) = points.get_mut(*known) {
                point.other_count += 1;
                continue;
            }
        }
        let unfused_at = (kernel.ops.len() > 1)
            .then(|| analysis.comparisons.get(index))
            .flatten()
            .and_then(|comparison| point_of(&comparison.unfused_placement))
            .map(|(intensity, rate)| plot.place(intensity, rate));
        points.push(KernelPoint {
            kernel: index,
            other_count: 0,
            fused_at,
            unfused_at,
            arc: None,
            number_at: None,
        });
    }
    points
}

#[allow(clippy::cast_possible_truncation, reason = "places are on the frame")]
fn cell((x, y): Point) -> (i64, i64) {
    ((x / 4.0).floor() as i64, (y / 4.0).floor() as i64)
}

/// Places the arcs of kernels that move, and all numbers. Gives the lines from numbers to points that they stand at a
/// distance from.
fn place_arcs_and_numbers(
    points: &mut [KernelPoint],
    sizes: &Sizes,
    space: &mut LabelSpace,
) -> Vec<Mark> {
    for point in points.iter() {
        space
            .lines
            .occupy(&Bounds::around(point.fused_at, sizes.solid));
        if let Some(unfused_at) = point.unfused_at {
            space
                .lines
                .occupy(&Bounds::around(unfused_at, sizes.hollow));
        }
    }
    let moves = points
        .iter()
        .enumerate()
        .filter_map(|(index, point)| {
            Some(Move {
                point: index,
                from: point.unfused_at?,
                to: point.fused_at,
            })
        })
        .filter(|way| way.length() >= sizes.hollow + sizes.solid)
        .collect();
    for (index, arc) in arcs_below_roof(moves, sizes.solid, &space.words) {
        arc.occupy(&mut space.lines);
        if let Some(point) = points.get_mut(index) {
            point.arc = Some(arc);
        }
    }
    let numbers = points
        .iter()
        .enumerate()
        .take(MAX_NUMBERS)
        .map(|(index, point)| Number {
            point: index,
            point_at: point.fused_at,
            plate_size: point.plate_size(),
        })
        .collect();
    let (placed, leaders) = place_numbers(numbers, sizes.solid, space);
    for (index, center) in placed {
        if let Some(point) = points.get_mut(index) {
            point.number_at = Some(center);
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
