//! The space between two layers: which net runs horizontally at which height.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Touching runs up to which every pair is compared.
const PAIRWISE_LIMIT: usize = 64;
/// Horizontal distance that two runs on one track keep.
const CLEARANCE: f64 = 6.0;

/// What one net does in the space between two layers.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where it comes from above.
    pub(super) from: f64,
    /// Where it goes below.
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

/// For each run its track, counted from the top, or `None` when it goes straight down; and how many tracks
/// there are. Runs share a track where they do not touch. `O(runs log runs)`.
pub(super) fn tracks(runs: &[Run]) -> (Vec<Option<usize>>, usize) {
    let mut bent: Vec<(usize, &Run)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| !run.is_straight())
        .collect();
    bent.sort_by(|a, b| a.1.left().total_cmp(&b.1.left()));
    let mut track_of = vec![None; runs.len()];
    let mut count = 0;
    let mut rest = bent.as_slice();
    while let Some((first, _)) = rest.split_first() {
        // Runs that touch each other, directly or through others, are settled together.
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

/// Tracks that cross least: each run below all that should be above it.
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

/// As few tracks as possible, for a crowd of runs, which come sorted by their left ends.
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

/// Crossings when `upper` runs above `lower`, doubled, with a line that would lie on another counted as more.
fn cost(upper: &Run, lower: &Run) -> u32 {
    let mut cost = 0;
    // The lower one comes down through the upper one's run.
    if lower.from > upper.left() - 0.5 && lower.from < upper.right() + 0.5 {
        cost += 2;
        if upper.to.iter().any(|&to| (to - lower.from).abs() < 0.5) {
            cost += 3;
        }
    }
    // The upper one goes on down through the lower one's run.
    for &to in &upper.to {
        if to > lower.left() - 0.5 && to < lower.right() + 0.5 {
            cost += 2;
        }
    }
    cost
}

/// Which of two runs is better off above the other.
fn above_first(a: &Run, b: &Run) -> Ordering {
    if a.right() < b.left() || b.right() < a.left() {
        return Ordering::Equal;
    }
    cost(a, b).cmp(&cost(b, a))
}

/// An order that follows the pairwise wishes, each time taking the run with the fewest wishes against it.
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
