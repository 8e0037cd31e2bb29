//! A region of more ops than a word has bits, exactly, where its kernels reach no farther than a word.
//!
//! The same shortest path over downsets as in [`super::search`]. In execution order the kernels that begin at an op lie
//! in the word of ops from there on, or nothing is proven. A downset is the first op that has not run and which of the
//! next ones have; in a row of blocks there are few.
//!
//! `O(ops + nodes * kernels at an op)` words and steps, within the budget.
#![allow(
    clippy::indexing_slicing,
    reason = "places are below the number of ops of the region, nodes and kernels are dense indices of this search"
)]

use super::candidates::{Candidate, Candidates};
use super::regions::Between;
use super::solver::{Solved, Solver};
use crate::core::fusion::legality::most_ops;
use crate::core::fusion::region::{Bits, Cost, Region, RegionContext, Set};
use crate::core::model::graph::OpId;
use crate::core::model::options::MAX_OPS;

/// States that the word of ops from one op on counts as, beside its kernels.
pub(super) const STATES_OF_WORD: usize = 4;

/// Most downsets of as many ops, which are compared one by one.
const MOST_ALIKE: usize = 256;

/// A kernel that may run: bit `i` of its set is the op at place `first + i`.
struct Kernel {
    first: usize,
    set: Set,
    /// Places outside of it that must have run.
    needs: Vec<usize>,
    cost: Cost,
}

/// A downset: all places below `first` have run, and those above it whose bits are set.
struct Node {
    first: usize,
    ran: u128,
    cost: Cost,
    /// The node before, and the kernel that leads here from it.
    from: usize,
    by: usize,
}

struct Windows {
    kernels: Vec<Kernel>,
    /// For each place the kernels that hold it.
    holding: Vec<Vec<usize>>,
}

/// The best kernels of these ops, each an ascending list, and what they cost; `None` where a kernel may reach too far
/// or the budget ends before that is proven.
pub(super) fn solve(
    solver: &Solver<'_>,
    ops: &[OpId],
    budget: &mut usize,
) -> Option<(Vec<Vec<OpId>>, Solved)> {
    let windows = Windows::of(solver, ops, budget)?;
    let count = ops.len();
    let mut nodes = vec![Node {
        first: 0,
        ran: 0,
        cost: Cost::default(),
        from: 0,
        by: 0,
    }];
    // Nodes by how many ops have run: a step leads to more of them.
    let mut reached: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    reached[0].push(0);
    for ran in 0..count {
        for number in std::mem::take(&mut reached[ran]) {
            *budget = budget.checked_sub(1)?;
            for by in windows.steps(&nodes[number])? {
                let next = windows.after(&nodes, number, by);
                let same = &mut reached[ran + windows.kernels[by].set.count_ones() as usize];
                let is_same =
                    |&&old: &&usize| (nodes[old].first, nodes[old].ran) == (next.first, next.ran);
                match same.iter().find(is_same) {
                    Some(&old) if nodes[old].cost <= next.cost => {}
                    Some(&old) => nodes[old] = next,
                    None if same.len() == MOST_ALIKE => return None,
                    None => {
                        same.push(nodes.len());
                        nodes.push(next);
                    }
                }
            }
        }
    }
    let mut number = *reached[count].first()?;
    let cost = nodes[number].cost;
    let mut kernels = Vec::new();
    while number != 0 {
        let kernel = &windows.kernels[nodes[number].by];
        kernels.push(
            Bits(kernel.set)
                .map(|place| ops[kernel.first + place])
                .collect(),
        );
        number = nodes[number].from;
    }
    let proven = Solved {
        cost,
        lower_bound: cost,
        candidates: windows.kernels.len(),
    };
    Some((kernels, proven))
}

impl Windows {
    /// All legal kernels, if each lies in the word of ops from its first one on.
    fn of(solver: &Solver<'_>, ops: &[OpId], budget: &mut usize) -> Option<Self> {
        let context = solver.context;
        let limit = most_ops(&context.options.fusion);
        let mut between = Between::new(context);
        let mut found = Self {
            kernels: Vec::new(),
            holding: vec![Vec::new(); ops.len()],
        };
        for first in 0..ops.len() {
            *budget = budget.checked_sub(STATES_OF_WORD)?;
            let end = ops.len().min(first + MAX_OPS);
            let region = Region::of(context, &ops[first..end]);
            let candidates = Candidates::of(&region, 1, solver.ticks_per_s, budget);
            if !candidates.is_complete {
                return None;
            }
            // Ops that may share a kernel with one behind the word.
            let reaching = Bits(region.all()).fold(0, |set, place| {
                let reaches = between.reaches(ops[first + place], &ops[end..]);
                set | Set::from(reaches) << place
            });
            let grows_on = |set: &Set| set & reaching != 0 && (set.count_ones() as usize) < limit;
            if candidates.grown.iter().any(grows_on) {
                return None;
            }
            for candidate in &candidates.list {
                found.add(context, ops, first, candidate);
            }
        }
        Some(found)
    }

    fn add(
        &mut self,
        context: &RegionContext<'_>,
        ops: &[OpId],
        first: usize,
        candidate: &Candidate,
    ) {
        let mut needs: Vec<usize> = Vec::new();
        for place in Bits(candidate.set) {
            self.holding[first + place].push(self.kernels.len());
            let before = context.graph.predecessors[ops[first + place]].iter();
            needs.extend(before.filter_map(|op| ops.binary_search(op).ok()));
        }
        needs.retain(|&place| place < first || candidate.set >> (place - first) & 1 == 0);
        self.kernels.push(Kernel {
            first,
            set: candidate.set,
            needs,
            cost: candidate.cost,
        });
    }

    /// Kernels that can run next, as in [`super::search`]; `None` where one lies too far ahead.
    fn steps(&self, node: &Node) -> Option<Vec<usize>> {
        let (mut goals, mut looked_at) = (1_u128, 0_u128);
        let mut steps = Vec::new();
        while goals & !looked_at != 0 {
            let goal = (goals & !looked_at).trailing_zeros() as usize;
            looked_at |= 1 << goal;
            for &by in &self.holding[node.first + goal] {
                let kernel = &self.kernels[by];
                // One that begins before has run in part.
                let Some(ahead) = kernel.first.checked_sub(node.first) else {
                    continue;
                };
                if ahead > MAX_OPS {
                    return None;
                }
                let set = u128::from(kernel.set) << ahead;
                if set & node.ran != 0 {
                    continue;
                }
                let lacks = |&&place: &&usize| {
                    let ahead = place.checked_sub(node.first);
                    ahead.is_some_and(|ahead| ahead > 127 || node.ran >> ahead & 1 == 0)
                };
                match kernel.needs.iter().find(lacks) {
                    Some(place) if place - node.first > 127 => return None,
                    Some(place) => goals |= 1 << (place - node.first),
                    None if set & looked_at == 1 << goal => steps.push(by),
                    None => {}
                }
            }
        }
        Some(steps)
    }

    /// Where a kernel leads.
    fn after(&self, nodes: &[Node], from: usize, by: usize) -> Node {
        let (node, kernel) = (&nodes[from], &self.kernels[by]);
        let ran = node.ran | u128::from(kernel.set) << (kernel.first - node.first);
        let done = ran.trailing_ones();
        Node {
            first: node.first + done as usize,
            ran: ran.checked_shr(done).unwrap_or(0),
            cost: node.cost.plus(kernel.cost),
            from,
            by,
        }
    }
}
