//! Numbers beside the points of the roofline. Those of points at nearly the same place form a row.

use crate::picture::charts::bounds::{Bounds, distance, toward};
use crate::picture::charts::marks::line;
use crate::picture::charts::occupancy::LabelSpace;
use crate::picture::charts::scene::{Mark, Point, Role};
use std::cmp::Reverse;

/// Numbers in a row, at most.
const MAX_IN_ROW: usize = 5;
/// Distance between the plates of a row.
const PLATE_GAP: f64 = 3.0;

/// A number that needs a place beside its point.
pub(super) struct PointNumber {
    /// The point, by the caller's index.
    pub(super) point: usize,
    /// The place of the point.
    pub(super) point_at: Point,
    /// Width and height of its plate.
    pub(super) plate_size: (f64, f64),
}

/// Finds free places for `numbers`: the index of the point and the centre of the plate of each
/// number that has one; and lines from rows to points that are not close.
pub(super) fn place_numbers(
    numbers: Vec<PointNumber>,
    radius: f64,
    space: &mut LabelSpace,
) -> (Vec<(usize, Point)>, Vec<Mark>) {
    let mut placed = Vec::new();
    let mut leaders = Vec::new();
    let groups = groups(numbers, radius);
    let group_places: Vec<Point> = groups.iter().map(|group| middle_of(group)).collect();
    for group in &groups {
        for row in group.chunks(MAX_IN_ROW) {
            let Some(first) = row.first() else {
                continue;
            };
            let point = middle_of(row);
            let widths = row.iter().map(|number| number.plate_size.0 + PLATE_GAP);
            let size = (widths.sum::<f64>() - PLATE_GAP, first.plate_size.1);
            let Some(found) = free_place(point, size, radius, &group_places, space) else {
                continue;
            };
            // With space to the numbers of other points, so that the two do not read as one row.
            space.words.occupy(&Bounds {
                left: found.left - 9.0,
                right: found.right + 9.0,
                ..found
            });
            if let Some(ends) = leader(point, found, radius) {
                // No other number, and no other line to one, crosses it.
                space.words.occupy_line(ends, 1.0);
                leaders.push(line(Role::Leader, &ends));
            }
            let middle = f64::midpoint(found.top, found.bottom);
            let mut left = found.left;
            for number in row {
                placed.push((number.point, (left + number.plate_size.0 / 2.0, middle)));
                left += number.plate_size.0 + PLATE_GAP;
            }
        }
    }
    (placed, leaders)
}

/// The centre of the points of a row.
fn middle_of(row: &[PointNumber]) -> Point {
    let middle = |coordinate: fn(Point) -> f64| {
        let all = || row.iter().map(|number| coordinate(number.point_at));
        let (least, most) = (all().reduce(f64::min), all().reduce(f64::max));
        f64::midpoint(least.unwrap_or_default(), most.unwrap_or_default())
    };
    (middle(|place| place.0), middle(|place| place.1))
}

/// Groups of numbers whose points nearly coincide, the largest first.
fn groups(numbers: Vec<PointNumber>, radius: f64) -> Vec<Vec<PointNumber>> {
    let mut groups: Vec<Vec<PointNumber>> = Vec::new();
    for number in numbers {
        let near = groups.iter_mut().find(|group| {
            let first = group.first();
            first.is_some_and(|first| distance(first.point_at, number.point_at) < radius * 1.6)
        });
        match near {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
    }
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

/// The nearest free place around a point, above it rather than below, that is not closer to another
/// of `places`; else, in a crowd, the nearest that a line can lead to without crossing words, and
/// that is not much closer to another of `places`. Where there is none, the number would make a
/// knot or name a wrong point: the label of the point has it.
fn free_place(
    point: Point,
    size: (f64, f64),
    radius: f64,
    places: &[Point],
    space: &LabelSpace,
) -> Option<Bounds> {
    const DIRECTIONS: [Point; 13] = [
        (0.0, -1.0),
        (-0.4, -1.0),
        (0.4, -1.0),
        (-0.8, -0.8),
        (-1.0, -0.4),
        (0.8, -0.8),
        (0.8, 0.8),
        (0.0, 1.0),
        (0.4, 1.0),
        (-0.4, 1.0),
        (1.0, 0.4),
        (-0.8, 0.8),
        (-1.0, 0.4),
    ];
    const STEPS: u8 = 10;
    const FAR_STEPS: u8 = 28;
    /// With a line to its own point a number may be so much closer to another one.
    const FAR_SHARE: f64 = 0.6;
    let candidates = |steps: u8| {
        (0..steps).flat_map(move |step| {
            let reach = radius + 2.5 + f64::from(step) * 4.0;
            DIRECTIONS.iter().map(move |(dx, dy)| {
                (
                    point.0 + dx * (reach + size.0 / 2.0),
                    point.1 + dy * (reach + size.1 / 2.0),
                )
            })
        })
    };
    let is_far_from_others = |center: &Point, share: f64| {
        let least = distance(*center, point) * share - 0.1;
        (places.iter()).all(|&place| distance(*center, place) >= least)
    };
    let is_clear = |wanted: &Bounds| space.words.is_free(wanted) && space.lines.is_free(wanted);
    let bounds = |center| Bounds::centered(center, size);
    let is_reached = |wanted: &Bounds| {
        let [from, to] = leader_ends(point, *wanted, radius);
        let beyond = toward(to, from, 2.0);
        space.words.is_line_free([toward(from, to, 1.0), beyond])
    };
    let near = candidates(STEPS)
        .filter(|center| is_far_from_others(center, 1.0))
        .map(bounds)
        .find(is_clear);
    near.or_else(|| {
        let far = candidates(FAR_STEPS)
            .filter(|center| is_far_from_others(center, FAR_SHARE))
            .map(bounds);
        far.filter(is_clear).find(is_reached)
    })
}

/// The line from a point to its row, if they are not close.
fn leader(place: Point, row: Bounds, radius: f64) -> Option<[Point; 2]> {
    let [from, to] = leader_ends(place, row, radius);
    (distance(place, to) > radius + 7.0).then_some([from, to])
}

fn leader_ends(place: Point, row: Bounds, radius: f64) -> [Point; 2] {
    let nearest = (
        place.0.clamp(row.left + 3.0, row.right - 3.0),
        place.1.clamp(row.top, row.bottom),
    );
    [toward(place, nearest, radius), nearest]
}
