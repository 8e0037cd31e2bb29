//! Ops that write in place: what must have run before a write, because it reads what is
//! overwritten.
//!
//! A tensor is a value. An op in place gives a new value in the memory of an old one, which is lost
//! by that: all other ops that read the old value, directly or through views, must run before.

use crate::disjoint_sets::DisjointSets;
use crate::model::adjacency::Adjacency;
use crate::model::ids::{Id, IdVec};
use crate::model::op::Op;
use crate::model::put_back::PutBacks;

/// Most views between a tensor and the tensor whose bytes it shows, that are looked at to find out
/// whether two views show the same bytes. Views with more show them.
pub(crate) const MOST_VIEWS: usize = 32;
/// Most pairs of a write and a view of its memory, in a whole program, that are compared. More
/// views than that count as views of other bytes.
const MOST_PAIRS: usize = 1 << 20;

/// The producers and readers of the tensors in a list of ops.
pub(crate) struct OpsInPlace<'a, O, T> {
    /// The op with an id, if it is known.
    pub(crate) op_of: &'a dyn Fn(O) -> Option<&'a Op>,
    /// For each op the tensors that it reads.
    pub(crate) inputs: &'a Adjacency<O, T>,
    /// The tensor that an op writes.
    pub(crate) output_of: &'a dyn Fn(O) -> Option<T>,
    /// Number of tensors.
    pub(crate) tensors: usize,
}

impl<O: Id, T: Id> OpsInPlace<'_, O, T> {
    /// For each op in place the other ops that read the memory which it overwrites, ascending. An
    /// op that puts back what another has written reads nothing of it. `O(ops + reads)` without an
    /// op in place, else near linear.
    pub(crate) fn waits_for(&self) -> Adjacency<O, O> {
        let is_in_place = |&op: &O| (self.op_of)(op).is_some_and(|op| op.in_place);
        let writes: Vec<O> = self.inputs.ids().filter(is_in_place).collect();
        if writes.is_empty() {
            return Adjacency::default();
        }
        let put_backs = PutBacks::of(self);
        // For each view the op that makes it and what it shows.
        let mut views: IdVec<T, Option<(O, T)>> = IdVec::from_elem(None, self.tensors);
        let mut sets: DisjointSets<T> = DisjointSets::new(self.tensors);
        for op in self.inputs.ids() {
            if let Some((input, output)) = self.view(op) {
                views[output] = Some((op, input));
                sets.unite(input, output);
            }
        }
        let bases = sets.roots();
        let same =
            Adjacency::from_pairs(self.tensors, bases.iter_enumerated().map(|(t, &b)| (b, t)));
        let readers = self.inputs.inverted(self.tensors);
        let mut pairs = Vec::new();
        let mut left = MOST_PAIRS;
        for write in writes {
            let Some(&target) = self.inputs[write].first() else {
                continue;
            };
            let path = path_of(&views, target);
            for &tensor in &same[bases[target]] {
                for &reader in &readers[tensor] {
                    // A view loads nothing itself, so only what it shows matters.
                    let seen = self.view(reader).map_or(tensor, |(_, output)| output);
                    let Some(fewer) = left.checked_sub(1) else {
                        break;
                    };
                    left = fewer;
                    let reads = reader != write && !put_backs.puts_back(reader, write);
                    if reads && self.overlap(&views, &path, seen) {
                        pairs.push((write, reader));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Adjacency::from_pairs(self.inputs.len(), pairs.into_iter())
    }

    /// Input and output of an op that only views its input.
    fn view(&self, op: O) -> Option<(T, T)> {
        (self.op_of)(op)?.is_view().then_some(())?;
        Some((*self.inputs[op].first()?, (self.output_of)(op)?))
    }

    /// Whether a tensor shares an element with the one at the start of `path`, both of one memory.
    ///
    /// Pieces of one tensor along one axis are compared; all else counts as shared.
    fn overlap(&self, views: &IdVec<T, Option<(O, T)>>, path: &[T], tensor: T) -> bool {
        let own = path_of(views, tensor);
        // The view of each path that shows the nearest tensor which both paths have.
        let meeting = own.iter().enumerate().find_map(|(at, shown)| {
            let place = path.iter().position(|other| other == shown)?;
            let piece = |of: &[T], at: usize| Some(views[*of.get(at.checked_sub(1)?)?]?.0);
            Some((piece(path, place), piece(&own, at)))
        });
        let Some((Some(first), Some(second))) = meeting else {
            return true;
        };
        let range = |view: O| {
            let op = (self.op_of)(view)?;
            let indexing = op.indexing.as_ref()?;
            let length = op.shape.get(indexing.axis)?;
            let is_piece = indexing.step > 0 && indexing.perm.is_empty();
            let end = length
                .checked_mul(indexing.step)
                .and_then(|reach| reach.checked_add(indexing.start))?;
            is_piece.then_some((indexing.axis, indexing.start, end))
        };
        match (range(first), range(second)) {
            (Some((axis, start, end)), Some((other, from, to))) => {
                axis != other || start < to && from < end
            }
            _ => true,
        }
    }
}

/// A tensor, and what it shows through views, the nearest first.
fn path_of<O: Copy, T: Id>(views: &IdVec<T, Option<(O, T)>>, tensor: T) -> Vec<T> {
    let next = |&tensor: &T| views[tensor].map(|(_, input)| input);
    std::iter::successors(Some(tensor), next)
        .take(MOST_VIEWS)
        .collect()
}
