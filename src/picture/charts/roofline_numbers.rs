//! Numbers beside the points of the roofline: points that share a place share a row of numbers.

use crate::core::sorting::{rank_of, sort_by_rank};
use crate::picture::charts::label_space::Box4;
use crate::picture::charts::roofline::Space;
use crate::picture::charts::roofline_arcs::toward;
use crate::picture::charts::scene::{Mark, Point, Role, line};

/// Numbers in a row, at most.
const IN_ROW: usize = 5;
/// Between the plates of a row.
const GAP: f64 = 3.0;

/// A number that stands beside its point.
pub(in crate::picture) struct Number {
    /// Which of the caller's points.
    pub(in crate::picture) dot: usize,
    /// The point.
    pub(in crate::picture) place: Point,
    /// Width and height of its plate.
    pub(in crate::picture) plate: (f64, f64),
}

/// Places `numbers`: for each that has room its point's index and the centre of its plate; and the lines
/// that lead from rows which stand apart to their points.
pub(in crate::picture) fn beside_points(
    numbers: Vec<Number>,
    radius: f64,
    space: &mut Space,
) -> (Vec<(usize, Point)>, Vec<Mark>) {
    let mut placed = Vec::new();
    let mut leaders = Vec::new();
    let groups = groups(numbers, radius);
    let spots: Vec<Point> = groups.iter().map(|group| middle_of(group)).collect();
    for group in &groups {
        for row in group.chunks(IN_ROW) {
            let Some(first) = row.first() else {
                continue;
            };
            let spot = middle_of(row);
            let width: f64 = row.iter().map(|number| number.plate.0 + GAP).sum::<f64>() - GAP;
            let size = (width, first.plate.1);
            let Some(found) = free_box(spot, size, radius, &spots, space) else {
                continue;
            };
            // Numbers of other points keep a distance, so that two are not read as one row.
            space
                .words
                .take(&[found[0] - 9.0, found[1], found[2] + 9.0, found[3]]);
            if let Some(leader) = leader(spot, found, radius) {
                leaders.push(leader);
            }
            let middle = f64::midpoint(found[1], found[3]);
            let mut left = found[0];
            for number in row {
                placed.push((number.dot, (left + number.plate.0 / 2.0, middle)));
                left += number.plate.0 + GAP;
            }
        }
    }
    (placed, leaders)
}

/// Between all points of a row.
fn middle_of(row: &[Number]) -> Point {
    let ends = |part: fn(Point) -> f64| {
        let parts = row.iter().map(|number| part(number.place));
        let (least, most) = parts.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), at| {
            (least.min(at), most.max(at))
        });
        f64::midpoint(least, most)
    };
    (ends(|place| place.0), ends(|place| place.1))
}

/// A box of this size around a point.
pub(in crate::picture) fn centered((x, y): Point, (width, height): (f64, f64)) -> Box4 {
    [
        x - width / 2.0,
        y - height / 2.0,
        x + width / 2.0,
        y + height / 2.0,
    ]
}

/// Numbers whose points nearly coincide, together.
fn groups(numbers: Vec<Number>, radius: f64) -> Vec<Vec<Number>> {
    let mut groups: Vec<Vec<Number>> = Vec::new();
    for number in numbers {
        let near = groups.iter_mut().find(|group| {
            group.first().is_some_and(|first| {
                let (dx, dy) = (
                    first.place.0 - number.place.0,
                    first.place.1 - number.place.1,
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
    sort_by_rank(&mut groups, |group| (-rank_of(group.len()), 0, 0));
    groups
}

/// The nearest free box around a point, above it rather than below, and no nearer to another of `spots`.
/// Where there is none lines may cross it, and at last another point may be nearer.
fn free_box(
    (x, y): Point,
    size: (f64, f64),
    radius: f64,
    spots: &[Point],
    space: &Space,
) -> Option<Box4> {
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
        spots.iter().all(|spot| distance(spot) >= own - 0.1)
    };
    let is_clear = |wanted: &Box4| space.words.is_free(wanted) && space.lines.is_free(wanted);
    let boxed = |center| centered(center, size);
    let has_no_words = |wanted: &Box4| space.words.is_free(wanted);
    let near = || candidates().filter(is_nearest).map(boxed);
    near()
        .find(is_clear)
        .or_else(|| near().find(has_no_words))
        .or_else(|| candidates().map(boxed).find(has_no_words))
}

/// From a point to its row, where the row does not stand right beside it.
fn leader(place: Point, row: Box4, radius: f64) -> Option<Mark> {
    let nearest = (
        place.0.clamp(row[0] + 3.0, row[2] - 3.0),
        place.1.clamp(row[1], row[3]),
    );
    let distance = (nearest.0 - place.0).hypot(nearest.1 - place.1);
    (distance > radius + 7.0)
        .then(|| line(Role::Leader, &[toward(place, nearest, radius), nearest]))
}
