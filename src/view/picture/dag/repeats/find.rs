//! Where kernels may repeat: candidates by hashes, the best of which is compared in full.

use super::check::{Budget, checked};
use super::sequence::Sequence;
use super::{MIN_ITERATIONS, Repeat};
use fuseline_core::{Graph, KernelId, Partition};
use std::cmp::Reverse;

/// Ops of an iteration, at least. A chain of one op again and again is read at a glance.
const MIN_ITERATION_OPS: usize = 2;
/// Distances to later kernels of the same hash that are tried: a block of a model may hold so many
/// equal kernels.
const MAX_PERIODS: usize = 64;

/// Kernels that may repeat.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    first: usize,
    /// Kernels of an iteration.
    period: usize,
    /// Kernels from `first` on that have the hashes of those a period later.
    common: usize,
}

impl Candidate {
    const fn iterations(&self) -> usize {
        self.common / self.period + 1
    }

    /// Where the iterations begin: of the places that cost no iteration, the first one that the
    /// fewest tensors lead across. So an iteration is a block of a model and not the end of one
    /// with the start of the next.
    fn aligned(&self, sequence: &Sequence<'_>) -> usize {
        let places = self.first..=self.first + self.common % self.period;
        let place = places.min_by_key(|&place| sequence.live(place));
        place.unwrap_or(self.first)
    }

    fn checked(
        &self,
        sequence: &Sequence<'_>,
        first: usize,
        budget: &mut Budget,
    ) -> Option<Repeat> {
        checked(sequence, first, self.period, self.iterations(), budget)
    }
}

/// All repeats, in the order in which they run; none of them overlap. `O(n log n)` in ops and
/// reads: comparing has a budget.
pub(super) fn find(graph: &Graph, partition: &Partition) -> Vec<Repeat> {
    let sequence = Sequence::new(graph, partition);
    let mut budget = Budget::of(graph);
    let mut found = Vec::new();
    let mut at = 0;
    while at < sequence.len() && !budget.is_spent() {
        match best_at(&sequence, at, &mut budget) {
            Some(repeat) => {
                // Also past iterations too short to be hidden, or each of their kernels would be
                // tried again.
                at = repeat.all().end;
                if hidden_ops(&sequence, &repeat) > 0 {
                    found.push(repeat);
                }
            }
            None => at += 1,
        }
    }
    found
}

/// The repeat that starts at a kernel, or a little later, and hides the most ops. Iterations of too
/// few ops hide none.
fn best_at(sequence: &Sequence<'_>, at: usize, budget: &mut Budget) -> Option<Repeat> {
    let mut candidates = candidates_at(sequence, at);
    // What hides the most comes first, and short iterations before those that are several of them.
    candidates.sort_by_key(|candidate| (Reverse(candidate.common), candidate.period));
    let mut best: Option<Repeat> = None;
    let mut short: Vec<Repeat> = Vec::new();
    for candidate in candidates {
        let is_multiple = |repeat: &Repeat| {
            candidate.period.is_multiple_of(repeat.kernels)
                && repeat.all().end >= at + 2 * candidate.period
        };
        // Such iterations are several of the short ones, which hide more.
        if short.iter().any(is_multiple) {
            continue;
        }
        let mut from = |first| candidate.checked(sequence, first, budget);
        let first = candidate.aligned(sequence);
        // Hashes do not see what is read from elsewhere, so the aligned iterations may be unequal.
        let repeat = from(first).or_else(|| if first == at { None } else { from(at) });
        if let Some(repeat) = repeat {
            let hides = |repeat: &Repeat| hidden_ops(sequence, repeat);
            if best
                .as_ref()
                .is_none_or(|best| hides(best) < hides(&repeat))
            {
                best = Some(repeat.clone());
            }
            short.push(repeat);
        }
    }
    best
}

/// Ops that a repeat hides. None where its iterations have too few.
fn hidden_ops(sequence: &Sequence<'_>, repeat: &Repeat) -> usize {
    let [first, second, end] =
        [repeat.shown().start, repeat.shown().end, repeat.all().end].map(|at| sequence.start(at));
    if second - first < MIN_ITERATION_OPS {
        0
    } else {
        end - second
    }
}

/// Periods for which the hashes agree for long enough.
fn candidates_at(sequence: &Sequence<'_>, at: usize) -> Vec<Candidate> {
    let laters = std::iter::successors(sequence.next(at), |&later| sequence.next(later));
    let mut candidates = Vec::new();
    for later in laters.take(MAX_PERIODS) {
        let period = later - at;
        // All further ones are farther away.
        if later + period * (MIN_ITERATIONS - 1) > sequence.len() {
            break;
        }
        let candidate = Candidate {
            first: at,
            period,
            common: sequence.common(at, later),
        };
        if candidate.iterations() >= MIN_ITERATIONS {
            candidates.push(candidate);
        }
    }
    candidates
}

impl Repeat {
    pub(super) fn new(first: usize, kernels: usize, iterations: usize) -> Self {
        Self {
            first: KernelId::new(first),
            kernels,
            iterations,
            carried: Vec::new(),
        }
    }
}
