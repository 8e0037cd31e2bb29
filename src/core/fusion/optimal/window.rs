//! Solves a region of more than 64 ops exactly, if each kernel lies within 64 consecutive ops of
//! the region.
//!
//! The same shortest path over downsets as in [`super::search`]. All kernels that start at an op
//! must lie in the word of 64 ops from there on; otherwise nothing is proven. A downset is stored
//! as the first op that has not run and a bit for each of the next ones; a chain of blocks has few
//! downsets.
//!
//! `O(ops + nodes * kernels at an op)` words and steps, within the budget.

use super::candidates::{Candidate, CandidateId, Candidates};
use super::regions::Between;
use super::solver::{Solved, Solver};
use crate::fusion::legality::most_ops;
use crate::fusion::region::{Bits, Cost, LocalOp, Region, Set};
use crate::model::ids::{IdVec, OpId, define_ids};
use crate::model::options::MAX_OPS;
use crate::sorted::common;

/// States that each word of ops counts as, in addition to its kernels.
const STATES_OF_WORD: usize = 4;

/// Most downsets with the same number of ops; they are compared one by one.
const MOST_ALIKE: usize = 256;

define_ids! {
    /// A position in the list of the region's ops.
    struct Position;
    struct WindowNodeId;
}

impl Position {
    const fn plus(self, ahead: usize) -> Self {
        Self::new(self.index() + ahead)
    }

    /// Distance from an earlier position; `None` if this one is before it.
    const fn ahead_of(self, other: Self) -> Option<usize> {
        self.index().checked_sub(other.index())
    }
}

/// A kernel that may run: bit `i` of its set is the op at position `first + i`.
struct WindowKernel {
    first: Position,
    set: Set,
    /// The ops that must run before: bit `64 + i` is the op at position `first + i`. Ops more than
    /// 64 positions before `first` have run whenever the kernel is looked at.
    needs: u128,
    cost: Cost,
}

/// A downset: all ops below `first` have run, and the ops above it whose bits are set.
struct WindowNode {
    first: Position,
    ran: u128,
    cost: Cost,
    /// The previous node, and the kernel that leads here from it; `None` for the start.
    step: Option<(WindowNodeId, CandidateId)>,
}

struct Windows {
    kernels: IdVec<CandidateId, WindowKernel>,
    /// For each position the kernels that hold its op.
    holding: IdVec<Position, Vec<CandidateId>>,
}

/// The best kernels of these ops, each an ascending list, and what they cost. `None` if a kernel
/// may reach beyond its word, or if the budget ends before the optimum is proven.
pub(super) fn solve(
    solver: &Solver<'_>,
    ops: &[OpId],
    budget: &mut usize,
) -> Option<(Vec<Vec<OpId>>, Solved)> {
    let windows = Windows::of(solver, ops, budget)?;
    let mut nodes: IdVec<WindowNodeId, WindowNode> = IdVec::new();
    let start = nodes.push(WindowNode {
        first: Position::new(0),
        ran: 0,
        cost: Cost::default(),
        step: None,
    });
    // Nodes by the number of ops that have run; a step always leads to more.
    let mut reached: Vec<Vec<WindowNodeId>> = vec![Vec::new(); ops.len() + 1];
    reached.first_mut()?.push(start);
    for ran in 0..ops.len() {
        for node in std::mem::take(reached.get_mut(ran)?) {
            spend(1, budget)?;
            for by in windows.steps(&nodes[node])? {
                let next = windows.after(&nodes, node, by);
                let runs = windows.kernels[by].set.count_ones() as usize;
                let same = reached.get_mut(ran + runs)?;
                let is_same = |&&old: &&WindowNodeId| {
                    (nodes[old].first, nodes[old].ran) == (next.first, next.ran)
                };
                match same.iter().find(is_same) {
                    Some(&old) if nodes[old].cost <= next.cost => {}
                    // `old` has not been expanded: its turn comes with its number of ops.
                    Some(&old) => nodes[old] = next,
                    None if same.len() == MOST_ALIKE => return None,
                    None => same.push(nodes.push(next)),
                }
            }
        }
    }
    // All ops have run in only one downset.
    let mut node = *reached.last()?.first()?;
    let cost = nodes[node].cost;
    let mut kernels = Vec::new();
    while let Some((before, by)) = nodes[node].step {
        let kernel = &windows.kernels[by];
        let op = |place: LocalOp| ops.get(kernel.first.index() + place.index()).copied();
        kernels.push(Bits(kernel.set).filter_map(op).collect());
        node = before;
    }
    let proven = Solved {
        cost,
        lower_bound: cost,
        candidates: windows.kernels.len(),
    };
    Some((kernels, proven))
}

/// Takes states from the budget; `None`, and no budget, if there are not that many.
fn spend(states: usize, budget: &mut usize) -> Option<()> {
    let left = budget.checked_sub(states);
    *budget = left.unwrap_or(0);
    left.map(|_| ())
}

impl Windows {
    /// All legal kernels, if each lies in the word of ops from its first op on.
    fn of(solver: &Solver<'_>, ops: &[OpId], budget: &mut usize) -> Option<Self> {
        let context = solver.context;
        let limit = most_ops(&context.options.fusion);
        let mut between = Between::new(context);
        let mut found = Self {
            kernels: IdVec::new(),
            holding: IdVec::from_elem(Vec::new(), ops.len()),
        };
        for first in found.holding.ids() {
            spend(STATES_OF_WORD, budget)?;
            let (_, left) = ops.split_at_checked(first.index())?;
            let (word, behind) = left.split_at_checked(MAX_OPS).unwrap_or((left, &[]));
            let region = Region::of(context, word);
            spend(region.states(), budget)?;
            let candidates = Candidates::of(&region, 1, solver.clock, budget);
            if !candidates.is_complete {
                return None;
            }
            // Ops that may share a kernel with an op after the word.
            let reaching = Bits(region.all()).fold(0, |set, place| {
                let op = region.ops[place];
                let reaches = behind
                    .first()
                    .is_some_and(|&first| between.reaches(op, first));
                if reaches { set | place.bit() } else { set }
            });
            // Below the limit of ops such a set could grow beyond the word, to kernels that are not
            // listed.
            let grows_on = |set: &Set| set & reaching != 0 && (set.count_ones() as usize) < limit;
            if candidates.grown.iter().any(grows_on) {
                return None;
            }
            let earliest = first.index().saturating_sub(MAX_OPS);
            let near = ops.get(earliest..first.index() + word.len());
            let needs = needs(&region, near.unwrap_or_default(), first.index() - earliest);
            for candidate in &candidates.list {
                found.add(&needs, first, candidate);
            }
        }
        Some(found)
    }

    fn add(&mut self, needs: &IdVec<LocalOp, u128>, first: Position, candidate: &Candidate) {
        for place in Bits(candidate.set) {
            self.holding[first.plus(place.index())].push(self.kernels.next_id());
        }
        let needs = Bits(candidate.set).fold(0, |all, place| all | needs[place]);
        self.kernels.push(WindowKernel {
            first,
            set: candidate.set,
            needs: needs & !(u128::from(candidate.set) << MAX_OPS),
            cost: candidate.cost,
        });
    }

    /// Kernels that can run next, as in [`super::search`]; `None` if one is too far ahead.
    fn steps(&self, node: &WindowNode) -> Option<Vec<CandidateId>> {
        // Bit 0 is `node.first`, the first op that has not run.
        let (mut goals, mut looked_at) = (1_u128, 0_u128);
        let mut steps = Vec::new();
        while goals & !looked_at != 0 {
            let goal = (goals & !looked_at).trailing_zeros() as usize;
            looked_at |= 1 << goal;
            for &by in &self.holding[node.first.plus(goal)] {
                let kernel = &self.kernels[by];
                // A part of such a kernel has run already.
                let Some(ahead) = kernel.first.ahead_of(node.first) else {
                    continue;
                };
                // Further ahead the shift below would lose ops of the kernel.
                if ahead > MAX_OPS {
                    return None;
                }
                let set = u128::from(kernel.set) << ahead;
                if set & node.ran != 0 {
                    continue;
                }
                // Shifts bit `64 + i`, an op relative to the kernel's first, to its position
                // relative to the node's. What falls off lies before the node and has run.
                let missing = (kernel.needs >> (MAX_OPS - ahead)) & !node.ran;
                match missing.trailing_zeros() {
                    missing @ ..128 => goals |= 1 << missing,
                    // Only for the first of its ops that is looked at: another goal has listed the
                    // kernel.
                    _ if set & looked_at == 1 << goal => steps.push(by),
                    _ => {}
                }
            }
        }
        Some(steps)
    }

    /// The node that a kernel leads to.
    fn after(
        &self,
        nodes: &IdVec<WindowNodeId, WindowNode>,
        from: WindowNodeId,
        by: CandidateId,
    ) -> WindowNode {
        let (node, kernel) = (&nodes[from], &self.kernels[by]);
        let ahead = kernel.first.ahead_of(node.first).unwrap_or(0);
        let ran = node.ran | u128::from(kernel.set) << ahead;
        let done = ran.trailing_ones();
        WindowNode {
            first: node.first.plus(done as usize),
            ran: ran.checked_shr(done).unwrap_or(0),
            cost: node.cost.plus(kernel.cost),
            step: Some((from, by)),
        }
    }
}

/// For each op of a word the ops that must run before it, among the ops `near` it, of which the
/// first `before` are in front of the word, as in [`WindowKernel::needs`].
fn needs(region: &Region<'_>, near: &[OpId], before: usize) -> IdVec<LocalOp, u128> {
    let graph = region.context.graph;
    let all = region.ops.iter().map(|&op| {
        let mut needs: u128 = 0;
        for earlier in [&graph.predecessors[op], &graph.waits_for[op]] {
            common(earlier, near, OpId::cmp, |_, other| {
                let place = near.binary_search(other).unwrap_or_default();
                needs |= 1 << (MAX_OPS - before + place);
            });
        }
        needs
    });
    all.collect()
}
