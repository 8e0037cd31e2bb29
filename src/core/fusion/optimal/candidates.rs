//! Lists the sets of a region that may be a kernel.

use crate::fusion::legality::{check_set, neighbours};
use crate::fusion::region::{Bits, Clock, Cost, Region, Set};
use crate::model::ids::{IdVec, define_ids};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

define_ids! {
    pub(super) struct CandidateId;
}

/// A kernel that the search may run.
pub(super) struct Candidate {
    pub(super) set: Set,
    /// Ops of the region that must run before it.
    pub(super) needs: Set,
    pub(super) cost: Cost,
}

/// The candidates of a region.
pub(super) struct Candidates {
    /// Single ops first, in the order of the region.
    pub(super) list: IdVec<CandidateId, Candidate>,
    /// All sets that were grown further, legal or not.
    pub(super) grown: Vec<Set>,
    /// All were found within the budget.
    pub(super) is_complete: bool,
    /// How many candidates were known at the first state and each time that the number of states
    /// had grown by a factor. These states do not depend on the budget.
    pub(super) milestones: Vec<usize>,
}

/// Each time that the number of states has grown by this factor, the best node is completed
/// greedily if the search ends without a proof. These states do not depend on the budget.
pub(super) const MILESTONE_FACTOR: usize = 4;
/// The first milestone after the start.
const FIRST_MILESTONE: usize = 16;

impl Candidates {
    /// Grows sets from each of the first `seeds` ops, one neighbour at a time, closed to convex
    /// sets. This reaches every connected convex set that contains one of these ops. A set is not
    /// grown further if all larger sets are illegal for the same reason.
    ///
    /// Each set that is checked costs one of `budget` states, and more in a region of many values.
    pub(super) fn of(region: &Region<'_>, seeds: usize, clock: Clock, budget: &mut usize) -> Self {
        let mut found = Self {
            list: IdVec::new(),
            grown: Vec::new(),
            is_complete: true,
            milestones: Vec::new(),
        };
        let (mut states, mut milestone) = (0, FIRST_MILESTONE);
        let mut seen = HashSet::<_, FxBuildHasher>::default();
        for place in region.ops.ids().take(seeds) {
            seen.insert(place.bit());
            found.grown.push(place.bit());
            found.add(region, place.bit(), clock);
        }
        found.milestones.push(found.list.len());
        let mut at = 0;
        while let Some(&set) = found.grown.get(at) {
            at += 1;
            let (before, after) = region.around(set);
            for neighbour in Bits(neighbours(region, set)) {
                let (before, after) = (
                    before | region.before[neighbour],
                    after | region.after[neighbour],
                );
                // Closed, because an op outside that lies on a path between two ops inside would
                // have to run in the middle of the kernel.
                let grown = set | neighbour.bit() | before & after;
                if seen.contains(&grown) {
                    continue;
                }
                let Some(left) = budget.checked_sub(region.states_of_set()) else {
                    *budget = 0;
                    found.is_complete = false;
                    return found;
                };
                *budget = left;
                states += 1;
                seen.insert(grown);
                match check_set(region, grown) {
                    Ok(()) => {
                        found.grown.push(grown);
                        found.add(region, grown, clock);
                    }
                    // Illegal now, but a further op may connect it, or spare operands or kept rows.
                    Err(reason) if !reason.is_lasting() => found.grown.push(grown),
                    Err(_) => {}
                }
                if states == milestone {
                    milestone *= MILESTONE_FACTOR;
                    found.milestones.push(found.list.len());
                }
            }
        }
        found
    }

    fn add(&mut self, region: &Region<'_>, set: Set, clock: Clock) {
        self.list.push(Candidate {
            set,
            needs: region.needs(set),
            cost: region.cost(set, clock),
        });
    }
}
