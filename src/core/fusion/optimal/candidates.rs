//! Lists the sets of a region that may be a kernel.

use crate::core::fusion::legality::{check_set, neighbours};
use crate::core::fusion::region::{Bits, Cost, Region, Set};
use crate::core::model::ids::{IdVec, define_ids};
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

define_ids! {
    /// A kernel that the search may run.
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
}

impl Candidates {
    /// Grows sets from each of the first `seeds` ops, one neighbour at a time, closed to convex sets. This
    /// reaches every connected convex set that contains one of these ops. A set is not grown further if all
    /// larger sets are illegal for the same reason.
    ///
    /// Each set that is checked costs one of `budget` states.
    pub(super) fn of(
        region: &Region<'_>,
        seeds: usize,
        ticks_per_s: f64,
        budget: &mut usize,
    ) -> Self {
        let mut found = Self {
            list: IdVec::new(),
            grown: Vec::new(),
            is_complete: true,
        };
        let mut seen = HashSet::<_, FxBuildHasher>::default();
        for place in region.ops.ids().take(seeds) {
            seen.insert(place.bit());
            found.grown.push(place.bit());
            found.add(region, place.bit(), ticks_per_s);
        }
        let mut at = 0;
        while let Some(&set) = found.grown.get(at) {
            at += 1;
            let (before, after) = region.around(set);
            for neighbour in Bits(neighbours(region, set)) {
                let (before, after) = (
                    before | region.before[neighbour],
                    after | region.after[neighbour],
                );
                let grown = set | neighbour.bit() | before & after;
                if seen.contains(&grown) {
                    continue;
                }
                if *budget == 0 {
                    found.is_complete = false;
                    return found;
                }
                *budget -= 1;
                seen.insert(grown);
                match check_set(region, grown) {
                    Ok(()) => {
                        found.grown.push(grown);
                        found.add(region, grown, ticks_per_s);
                    }
                    Err(reason) if !reason.is_lasting() => found.grown.push(grown),
                    Err(_) => {}
                }
            }
        }
        found
    }

    fn add(&mut self, region: &Region<'_>, set: Set, ticks_per_s: f64) {
        self.list.push(Candidate {
            set,
            needs: region.needs(set),
            cost: region.cost(set, ticks_per_s),
        });
    }
}
