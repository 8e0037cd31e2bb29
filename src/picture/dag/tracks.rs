//! Channel routing between two layers: assigns the horizontal segments of nets to tracks.

use crate::core::sorting::{rank_of_float, sort_by_rank};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Largest number of overlapping runs for which every pair is compared.
const PAIRWISE_LIMIT: usize = 64;
/// Smallest horizontal distance between two runs on one track.
const CLEARANCE: f64 = 6.0;

/// The horizontal segment of one net between two layers.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where the net comes from above.
    pub(super) from: f64,
    /// Where it continues below.
    pub(super) to: Vec<f64>,
}

impl Run {
    fn left(&self) -> f64 {
        self.to.iter().copied().fold(self.from, f64::min)
    }

    fn right(&self) -> f64 {
        self.to.iter().copied().fold(self.from, f64::max)
    }

    fn is_straight(&self) -> bool {
        self.right() - self.left() < 0.5
    }
}

/// For each run its track, counted from the top, or `None` if it is a vertical line; and the number of tracks.
/// Runs that do not overlap share tracks. `O(runs log runs)`.
pub(super) fn tracks(runs: &[Run]) -> (Vec<Option<usize>>, usize) {
    let mut bent: Vec<(usize, &Run)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| !run.is_straight())
        .collect();
    sort_by_rank(&mut bent, |run| (rank_of_float(run.1.left()), 0, 0));
    let mut track_of = vec![None; runs.len()];
    let mut count = 0;
    let mut rest = bent.as_slice();
    while let Some((first, _)) = rest.split_first() {
        // Runs that overlap, directly or through others, are assigned together.
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
        let levels = if cluster.len() <= PAIRWISE_LIMIT {
            levels_by_pairs(cluster)
        } else {
            levels_by_space(cluster)
        };
        for (&(run, _), level) in cluster.iter().zip(levels) {
            if let Some(track) = track_of.get_mut(run) {
                *track = Some(level);
            }
            count = count.max(level + 1);
        }
        rest = others;
    }
    (track_of, count)
}

/// Tracks with few crossings: each run is below all runs that should be above it.
fn levels_by_pairs(cluster: &[(usize, &Run)]) -> Vec<usize> {
    let order = sort_by_pairs(cluster);
    let mut levels = vec![0; cluster.len()];
    for (rank, &item) in order.iter().enumerate() {
        let Some(&(_, run)) = cluster.get(item) else {
            continue;
        };
        let above = order.iter().take(rank).filter_map(|&other| {
            let (_, other_run) = cluster.get(other)?;
            let touches = run.left() <= other_run.right() + CLEARANCE
                && other_run.left() <= run.right() + CLEARANCE;
            touches.then(|| levels.get(other).map_or(0, |level| level + 1))
        });
        let level = above.max().unwrap_or(0);
        if let Some(slot) = levels.get_mut(item) {
            *slot = level;
        }
    }
    levels
}

/// As few tracks as possible, for many runs; they are sorted by their left ends.
fn levels_by_space(cluster: &[(usize, &Run)]) -> Vec<usize> {
    let mut free: BTreeSet<usize> = BTreeSet::new();
    let mut busy: BTreeSet<(i64, usize)> = BTreeSet::new();
    let mut count = 0;
    cluster
        .iter()
        .map(|(_, run)| {
            let left = run.left().floor();
            while let Some(&(end, level)) = busy.first() {
                if (end as f64) + CLEARANCE >= left {
                    break;
                }
                busy.pop_first();
                free.insert(level);
            }
            let level = free.pop_first().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            #[allow(clippy::cast_possible_truncation, reason = "pixels of a picture")]
            busy.insert((run.right().ceil() as i64, level));
            level
        })
        .collect()
}

/// Twice the number of crossings with `upper` above `lower`; collinear lines count more.
fn cost(upper: &Run, lower: &Run) -> u32 {
    let mut cost = 0;
    // The line to `lower` crosses the run of `upper`.
    if lower.from > upper.left() - 0.5 && lower.from < upper.right() + 0.5 {
        cost += 2;
        if upper.to.iter().any(|&to| (to - lower.from).abs() < 0.5) {
            cost += 3;
        }
    }
    // A line from `upper` crosses the run of `lower`.
    for &to in &upper.to {
        if to > lower.left() - 0.5 && to < lower.right() + 0.5 {
            cost += 2;
        }
    }
    cost
}

/// Which of two runs should be above the other.
fn above_first(a: &Run, b: &Run) -> Ordering {
    if a.right() < b.left() || b.right() < a.left() {
        return Ordering::Equal;
    }
    cost(a, b).cmp(&cost(b, a))
}

/// An order by the pairwise preferences: takes the run with the fewest preferences against it, again and again.
fn sort_by_pairs(cluster: &[(usize, &Run)]) -> Vec<usize> {
    let wishes = |above: &(usize, &Run), below: &(usize, &Run)| {
        above_first(above.1, below.1) == Ordering::Less
    };
    let mut rest: Vec<(usize, usize)> = cluster
        .iter()
        .enumerate()
        .map(|(item, run)| {
            (
                cluster.iter().filter(|other| wishes(other, run)).count(),
                item,
            )
        })
        .collect();
    let mut sorted = Vec::with_capacity(rest.len());
    while let Some((place, &(_, item))) = rest.iter().enumerate().min_by_key(|&(_, key)| key) {
        rest.remove(place);
        sorted.push(item);
        if let Some(taken) = cluster.get(item) {
            for (against, other) in &mut rest {
                if cluster
                    .get(*other)
                    .is_some_and(|other| wishes(taken, other))
                {
                    *against = against.saturating_sub(1);
                }
            }
        }
    }
    sorted
}
