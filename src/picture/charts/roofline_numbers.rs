//! Numbers beside the points of the roofline: points that share a place share a row of numbers.

use crate::picture::charts::bounds::Bounds;
use crate::picture::charts::roofline::LabelSpace;
use crate::picture::charts::roofline_arcs::toward;
use crate::picture::charts::scene::{Mark, Point, Role, line};
use std::cmp::Reverse;

/// Numbers in a row, at most.
const MAX_IN_ROW: usize = 5;
/// Distance between the plates of a row.
const PLATE_GAP: f64 = 3.0;

/// A number that stands beside its point.
pub(super) struct Number {
    /// The point, by the caller's index.
    pub(super) point: usize,
    /// Where the point stands.
    pub(super) point_at: Point,
    /// Width and height of its plate.
    pub(super) plate_size: (f64, f64),
}

/// Places `numbers`: for each that finds a free place its point's index and the centre of its plate; and the lines that
/// lead from rows which stand at a distance to their points.
pub(super) fn place_numbers(
    numbers: Vec<Number>,
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
            // Numbers of other points keep a distance, so that the two do not read as one row.
            space.words.occupy(&Bounds {
                left: found.left - 9.0,
                right: found.right + 9.0,
                ..found
            });
            if let Some(leader) = leader(point, found, radius) {
                leaders.push(leader);
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

/// Between all points of a row.
fn middle_of(row: &[Number]) -> Point {
    let ends = |part: fn(Point) -> f64| {
        let parts = row.iter().map(|number| part(number.point_at));
        let (least, most) = parts.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), at| {
            (least.min(at), most.max(at))
        });
        f64::midpoint(least, most)
    };
    (ends(|place| place.0), ends(|place| place.1))
}

/// Numbers whose points nearly coincide, together.
fn groups(numbers: Vec<Number>, radius: f64) -> Vec<Vec<Number>> {
    let mut groups: Vec<Vec<Number>> = Vec::new();
    for number in numbers {
        let near = groups.iter_mut().find(|group| {
            group.first().is_some_and(|first| {
                let (dx, dy) = (
                    first.point_at.0 - number.point_at.0,
                    first.point_at.1 - number.point_at.1,
                );
                dx.hypot(dy) < radius * 1.6
            })
        });
        match near {
            Some(group) => group.push(number),
            None => groups.push(vec![number]),
        }
    }
    // The widest rows choose first.
    groups.sort_by_key(|group| Reverse(group.len()));
    groups
}

/// The nearest free place around a point, above it rather than below, and no nearer to another of `places`. Where there
/// is none, one that lines cross; where there is none of those either, one that another point is nearer to.
fn free_place(
    (x, y): Point,
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
    let candidates = || {
        (0..STEPS).flat_map(|step| {
            let reach = radius + 2.5 + f64::from(step) * 4.0;
            DIRECTIONS.iter().map(move |(dx, dy)| {
                (
                    x + dx * (reach + size.0 / 2.0),
                    y + dy * (reach + size.1 / 2.0),
                )
            })
        })
    };
    let is_nearest = |center: &Point| {
        let distance = |to: &Point| (center.0 - to.0).hypot(center.1 - to.1);
        let own = distance(&(x, y));
        places.iter().all(|place| distance(place) >= own - 0.1)
    };
    let is_clear = |wanted: &Bounds| space.words.is_free(wanted) && space.lines.is_free(wanted);
    let bounds = |center| Bounds::centered(center, size);
    let has_no_words = |wanted: &Bounds| space.words.is_free(wanted);
    let near = || candidates().filter(is_nearest).map(bounds);
    near()
        .find(is_clear)
        .or_else(|| near().find(has_no_words))
        .or_else(|| candidates().map(bounds).find(has_no_words))
}

/// From a point to its row, where the row does not stand right beside it.
fn leader(place: Point, row: Bounds, radius: f64) -> Option<Mark> {
    let nearest = (
        place.0.clamp(row.left + 3.0, row.right - 3.0),
        place.1.clamp(row.top, row.bottom),
    );
    let distance = (nearest.0 - place.0).hypot(nearest.1 - place.1);
    (distance > radius + 7.0)
        .then(|| line(Role::Leader, &[toward(place, nearest, radius), nearest]))
}
