//! Channel routing: each net that bends in the space between two layers gets a horizontal run at a
//! height of its own, a *track*.

use super::intervals::assign_lines;
use fuseline_core::model::ids::{IdVec, define_ids};
use std::cmp::Ordering;

/// Touching runs up to which every pair is compared.
const PAIRWISE_LIMIT: usize = 64;
/// Horizontal distance that two runs on one track keep.
const CLEARANCE: f64 = 6.0;

define_ids! {
    /// A [`TrackRun`] between two layers.
    pub(super) struct RunId;
}

/// One net between two layers: a vertical line from above, a horizontal run, and vertical lines
/// downwards.
#[derive(Clone, Debug)]
pub(super) struct TrackRun {
    /// Where it comes from above.
    pub(super) from: f64,
    /// Where it leaves downwards; ascending in this file, because a net may have thousands of
    /// readers.
    pub(super) to: Vec<f64>,
}

impl TrackRun {
    fn left(&self) -> f64 {
        self.to.first().map_or(self.from, |to| to.min(self.from))
    }

    fn right(&self) -> f64 {
        self.to.last().map_or(self.from, |to| to.max(self.from))
    }

    /// How many lines leave it downwards between these places, ends excluded.
    fn leaving(&self, left: f64, right: f64) -> usize {
        let end = self.to.partition_point(|&to| to < right);
        end - self.to.partition_point(|&to| to <= left).min(end)
    }

    fn is_straight(&self) -> bool {
        self.right() - self.left() < 0.5
    }
}

/// The track of each run, counted from the top, or `None` when it goes straight down; and how many
/// tracks there are. Runs share a track where they do not touch. `O(n log n)` in runs and the
/// places where they leave.
pub(super) fn tracks(mut runs: IdVec<RunId, TrackRun>) -> (IdVec<RunId, Option<usize>>, usize) {
    for run in &mut runs {
        run.to.sort_by(f64::total_cmp);
    }
    let mut bent: Vec<(RunId, &TrackRun)> = runs
        .iter_enumerated()
        .filter(|(_, run)| !run.is_straight())
        .collect();
    bent.sort_by(|a, b| a.1.left().total_cmp(&b.1.left()));
    let mut track_of = IdVec::from_elem(None, runs.len());
    let mut count = 0;
    let mut rest = bent.as_slice();
    while let Some((first, _)) = rest.split_first() {
        // Runs that touch each other, directly or through others, get their tracks together.
        let mut reach = first.1.right();
        let touching = 1 + rest
            .iter()
            .skip(1)
            .take_while(|(_, run)| {
                let touches = run.left() <= reach + CLEARANCE;
                reach = reach.max(run.right());
                touches
            })
            .count();
        let (cluster, others) = rest.split_at(touching);
        // Comparing all pairs is quadratic.
        let levels = if cluster.len() <= PAIRWISE_LIMIT {
            levels_by_pairs(cluster)
        } else {
            levels_by_space(cluster)
        };
        for (&(run, _), level) in cluster.iter().zip(levels) {
            track_of[run] = Some(level);
            count = count.max(level + 1);
        }
        rest = others;
    }
    (track_of, count)
}

/// Tracks that cross least: each run below all that should be above it.
fn levels_by_pairs(cluster: &[(RunId, &TrackRun)]) -> Vec<usize> {
    let order = sort_by_pairs(cluster);
    let mut levels = vec![0; cluster.len()];
    for (rank, &item) in order.iter().enumerate() {
        let run = cluster[item].1;
        let touches = |&&other: &&usize| {
            let other = cluster[other].1;
            run.left() <= other.right() + CLEARANCE && other.left() <= run.right() + CLEARANCE
        };
        let above = order.iter().take(rank).filter(touches);
        levels[item] = above.map(|&other| levels[other] + 1).max().unwrap_or(0);
    }
    levels
}

/// As few tracks as possible, whatever crosses; runs come sorted by their left ends.
#[allow(clippy::cast_possible_truncation, reason = "pixels of a picture")]
fn levels_by_space(cluster: &[(RunId, &TrackRun)]) -> Vec<usize> {
    assign_lines(cluster.iter().map(|(_, run)| {
        let end = run.right().ceil() + CLEARANCE;
        (run.left().floor() as i64, end as i64)
    }))
}

/// How bad it is when `upper` runs above `lower`: 2 for each crossing, and 3 more for lines on top
/// of each other.
fn cost(upper: &TrackRun, lower: &TrackRun) -> usize {
    // The upper one goes on down through the lower one's run.
    let mut cost = 2 * upper.leaving(lower.left() - 0.5, lower.right() + 0.5);
    // The lower one comes down through the upper one's run.
    if lower.from > upper.left() - 0.5 && lower.from < upper.right() + 0.5 {
        cost += 2;
        if upper.leaving(lower.from - 0.5, lower.from + 0.5) > 0 {
            cost += 3;
        }
    }
    cost
}

/// `Less` when `a` is better above `b`, `Greater` when it is better below.
fn above_first(a: &TrackRun, b: &TrackRun) -> Ordering {
    if a.right() < b.left() || b.right() < a.left() {
        return Ordering::Equal;
    }
    cost(a, b).cmp(&cost(b, a))
}

/// An order from top to bottom: next comes the run that the fewest of the others are better above.
fn sort_by_pairs(cluster: &[(RunId, &TrackRun)]) -> Vec<usize> {
    let is_better_above = |upper: &(RunId, &TrackRun), lower: &(RunId, &TrackRun)| {
        above_first(upper.1, lower.1) == Ordering::Less
    };
    // No sort would do: *better above* is not transitive, because runs far from each other are
    // equal. For each run that is left: how many others are better above it, and its index in the
    // cluster.
    let mut rest: Vec<(usize, usize)> = (cluster.iter().enumerate())
        .map(|(item, run)| {
            let above = cluster.iter().filter(|other| is_better_above(other, run));
            (above.count(), item)
        })
        .collect();
    let mut sorted = Vec::with_capacity(rest.len());
    while let Some((place, &(_, item))) = rest.iter().enumerate().min_by_key(|&(_, key)| key) {
        rest.remove(place);
        sorted.push(item);
        for (above, other) in &mut rest {
            if is_better_above(&cluster[item], &cluster[*other]) {
                *above -= 1;
            }
        }
    }
    sorted
}
