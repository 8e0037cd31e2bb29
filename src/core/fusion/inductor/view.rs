//! How the elements of a tensor lie in a buffer: which one is read at each position of a loop.
//!
//! The compiler compares two accesses of a buffer by their index expressions (`MemoryDep` of
//! `torch/_inductor/dependencies.py`). Here an index is a number in mixed radix: the position in a
//! loop, in row-major order, is cut into digits, and each digit advances by its stride.

mod access;
mod composed;
mod dependency;
mod of_op;

use crate::model::op::element_count;
use rustc_hash::FxHasher;
use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

pub(super) use access::{AccessedElements, Loops};
pub(super) use dependency::{Dependency, loop_order};
pub(super) use of_op::{broadcast, broadcast_to, view_of_op};

/// A digit of a position: how many values it has, and how far apart in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Digit {
    size: u64,
    stride: u64,
    /// The term of the index in which the digit stands: 0 for the sum itself, else the one of
    /// [`View::closed`] before this number.
    term: usize,
}

impl Digit {
    /// How far a step moves as the compiler sees it, which sees no stride in a closed term.
    const fn step(self) -> u64 {
        if self.term == 0 { self.stride } else { 0 }
    }
}

/// Whether the position in the buffer depends on the loop that these digits describe.
fn moves(digits: &[Digit]) -> bool {
    digits.iter().any(|digit| digit.stride != 0)
}

/// The element of a buffer at each position of a loop. Outermost digit first; no digit has size 1,
/// and neighbours that count on are one digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct View {
    digits: Vec<Digit>,
    /// Below 0 where the first positions are a border, whose elements are masked.
    offset: i64,
    /// The offsets of terms that the compiler does not expand: the positions in a piece of a
    /// concatenation (`Identity` in `pointwise_cat` of `torch/_inductor/lowering.py`).
    closed: Vec<i64>,
}

impl View {
    /// The position in a buffer in loops of these sizes, each of which moves by a stride.
    pub(super) fn of_loops(loops: impl Iterator<Item = (u64, u64)>) -> Self {
        let digit = |(size, stride)| Digit {
            size,
            stride,
            ..Digit::default()
        };
        Self::of(loops.map(digit).collect())
    }

    /// A buffer in the order in which it lies.
    pub(super) fn whole(elements: u64) -> Self {
        Self::of_loops(std::iter::once((elements, 1)))
    }

    fn of(digits: Vec<Digit>) -> Self {
        let mut view = Self {
            digits: Vec::with_capacity(digits.len()),
            ..Self::default()
        };
        // A canonical form, so that equal accesses have equal digits however their shapes were cut.
        for digit in digits.into_iter().filter(|digit| digit.size != 1) {
            match view.digits.last_mut() {
                Some(outer)
                    if outer.term == digit.term
                        && outer.stride == digit.size.saturating_mul(digit.stride) =>
                {
                    outer.size = outer.size.saturating_mul(digit.size);
                    outer.stride = digit.stride;
                }
                _ => view.digits.push(digit),
            }
        }
        view
    }

    /// A new buffer of this shape whose dimensions lie in memory as those of `like` do, a view of
    /// as many dimensions: what an elementwise op gives.
    pub(super) fn laid_out_as(shape: &[u64], like: &Self, like_shape: &[u64]) -> Self {
        let elements = element_count(shape).unwrap_or(0);
        let strides = like.strides(like_shape);
        // A dimension of size 1 has no stride that matters.
        let repeats = |strides: &[u64]| {
            let mut dimensions = strides.iter().zip(like_shape);
            dimensions.any(|(&stride, &size)| stride == 0 && size > 1)
        };
        let Some(strides) = strides.filter(|strides| !repeats(strides)) else {
            return Self::whole(elements);
        };
        // A new buffer keeps the order of the dimensions, but not the gaps of a slice.
        let mut order: Vec<usize> = (0..shape.len()).collect();
        order.sort_by_key(|&dimension| Reverse(strides.get(dimension)));
        Self::in_order(shape, &order)
    }

    fn strided(shape: &[u64], strides: &[u64]) -> Self {
        Self::of_loops(shape.iter().copied().zip(strides.iter().copied()))
    }

    /// The digits of each dimension; `None` if a digit spans dimensions in a way that no division
    /// resolves.
    fn by_dimension(&self, shape: &[u64]) -> Option<Vec<Vec<Digit>>> {
        let mut left = self.digits.clone();
        let mut dimensions = Vec::with_capacity(shape.len());
        for &size in shape.iter().rev() {
            let (mut own, mut open) = (Vec::new(), size);
            while open > 1 {
                let digit = left.last_mut().filter(|digit| digit.size > 0)?;
                if digit.size <= open {
                    (open % digit.size == 0).then_some(())?;
                    open /= digit.size;
                    own.insert(0, *digit);
                    left.pop();
                } else {
                    // The inner part is of this dimension, the rest of the next one out.
                    (digit.size % open == 0).then_some(())?;
                    own.insert(
                        0,
                        Digit {
                            size: open,
                            ..*digit
                        },
                    );
                    digit.size /= open;
                    digit.stride = digit.stride.checked_mul(open)?;
                    open = 1;
                }
            }
            dimensions.push(own);
        }
        dimensions.reverse();
        Some(dimensions)
    }

    /// The same elements in loops over the dimensions of a shape in this order. `None` if no
    /// division resolves them.
    pub(super) fn nested(&self, shape: &[u64], order: &[usize]) -> Option<Self> {
        let dimensions = self.by_dimension(shape)?;
        let digits = order.iter().filter_map(|&at| dimensions.get(at));
        Some(Self {
            offset: self.offset,
            closed: self.closed.clone(),
            ..Self::of(digits.flatten().copied().collect())
        })
    }

    /// The stride of each dimension, 0 for one of size 1; `None` if this is no strided tensor of
    /// the shape.
    pub(super) fn strides(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let dimensions = self.by_dimension(shape)?.into_iter();
        dimensions
            .map(|digits| match Self::of(digits).digits[..] {
                [] => Some(0),
                [Digit { stride, .. }] => Some(stride),
                _ => None,
            })
            .collect()
    }

    /// Whether all dimensions before the last two, broadcast to those of `batch`, can be seen as
    /// one without a copy.
    pub(super) fn merges(&self, shape: &[u64], batch: &[u64]) -> bool {
        let Some(all) = self.by_dimension(shape) else {
            return false;
        };
        let own = shape.len().saturating_sub(2);
        let mut own: Vec<Vec<Digit>> = all.into_iter().take(own).collect();
        let mut digits = Vec::with_capacity(batch.len());
        for &size in batch.iter().rev() {
            // A dimension of size 1, or none at all, is the same matrix again at each step.
            let again = vec![Digit {
                size,
                ..Digit::default()
            }];
            let dimension = own.pop().filter(|digits| !digits.is_empty());
            digits.push(dimension.unwrap_or(again));
        }
        digits.reverse();
        Self::of(digits.concat()).digits.len() <= 1
    }

    /// The elements that are accessed in a loop over this shape. A digit that ends inside a
    /// dimension is a division there.
    pub(super) fn access(&self, shape: &[u64]) -> AccessedElements {
        let mut ends = Vec::with_capacity(shape.len());
        let mut end = 1_u64;
        for &size in shape.iter().rev() {
            end = end.saturating_mul(size);
            ends.push(end);
        }
        let mut reach = 1_u64;
        for digit in self.digits.iter().rev() {
            reach = reach.saturating_mul(digit.size);
            if !ends.contains(&reach) {
                return AccessedElements::Unknown;
            }
        }
        let mut moved: Vec<Digit> = self.digits.clone();
        moved.retain(|digit| digit.stride != 0);
        // The compiler reorders loops, so their order tells no accesses apart.
        moved.sort_by_key(|digit| Reverse(digit.stride));
        let mut hasher = FxHasher::default();
        Self::of(moved).digits.hash(&mut hasher);
        (self.offset, &self.closed).hash(&mut hasher);
        AccessedElements::Of(hasher.finish())
    }

    /// The loops over a shape with the digits by which each moves, the largest step first, where
    /// neighbours that count on are one loop. `None` if no division resolves them. Source:
    /// `MemoryDep.normalize_with_stride_order` in `torch/_inductor/dependencies.py`.
    fn merged_loops(&self, shape: &[u64]) -> Option<Vec<(u64, Vec<Digit>)>> {
        let dimensions = self.by_dimension(shape)?.into_iter();
        let loops = shape.iter().copied().zip(dimensions);
        let mut loops: Vec<(u64, Vec<Digit>)> = loops
            .filter(|&(size, _)| size != 1)
            .map(|(size, digits)| (size, Self::of(digits).digits))
            .collect();
        loops.sort_by_key(|(_, digits)| Reverse(digits.last().map(|digit| digit.step())));
        let mut merged: Vec<(u64, Vec<Digit>)> = Vec::with_capacity(loops.len());
        for (size, inner) in loops {
            if let Some((outer_size, outer)) = merged.last_mut()
                && outer.len() <= 1
                && inner.len() <= 1
                && let joined = Self::of([&outer[..], &inner].concat()).digits
                && joined.len() <= 1
            {
                *outer_size = outer_size.saturating_mul(size);
                *outer = joined;
            } else {
                merged.push((size, inner));
            }
        }
        Some(merged)
    }

    /// The dimensions of a loop over this shape on which the position in the buffer depends.
    pub(super) fn loops(&self, shape: &[u64]) -> Loops {
        let Some(dimensions) = self.by_dimension(shape) else {
            return Loops::default();
        };
        let moving = dimensions.into_iter().filter(|digits| moves(digits));
        Loops::of(moving.collect())
    }

    /// The position of the first element, below 0 in a border; `None` where the compiler does not
    /// see it.
    pub(super) fn start(&self) -> Option<i64> {
        self.closed.is_empty().then_some(self.offset)
    }

    /// Whether elements are accessed in the order in which they lie.
    pub(super) fn is_straight(&self) -> bool {
        let moved = self.digits.iter().filter(|digit| digit.stride != 0);
        moved.is_sorted_by(|outer, inner| outer.stride >= inner.stride)
    }

    /// Whether neighbours of the loop are neighbours in the buffer.
    pub(super) fn is_flat(&self) -> bool {
        match self.digits[..] {
            [] => true,
            [digit] => digit.step() == 1,
            _ => false,
        }
    }

    /// If another loop than the innermost one moves to the next element of the buffer, the size of
    /// the loops down to that one. What is read too seldom does not count. Source:
    /// `SIMDScheduling.candidate_tilings` in `torch/_inductor/codegen/simd.py`.
    pub(super) fn tile(&self) -> Option<u64> {
        let size = |digits: &[Digit]| digits.iter().fold(1, |n: u64, d| n.saturating_mul(d.size));
        let at = self.digits.iter().position(|digit| digit.step() == 1)?;
        let (outer, inner) = self.digits.split_at_checked(at + 1)?;
        let is_moved = inner.iter().any(|digit| digit.step() != 0);
        // Multiples of a warp's 32 threads; each doubles the score, as in the source.
        let is_good = |size: u64| size >= 32 && size.is_multiple_of(32);
        let (outer, inner) = (size(outer), size(inner));
        let worth = 1 + u64::from(is_good(outer));
        let worth = worth * (1 + u64::from(is_good(inner)));
        let score = self.elements().saturating_mul(worth);
        (is_moved && score >= outer.saturating_mul(inner)).then_some(outer)
    }

    /// Number of elements that are accessed.
    pub(super) fn elements(&self) -> u64 {
        let moved = self.digits.iter().filter(|digit| digit.stride != 0);
        moved.fold(1, |n, digit| n.saturating_mul(digit.size))
    }

    /// How often an element is accessed in a loop over this shape, without the dimensions on which
    /// the position in the buffer does not depend: as often as the compiler counts, which is more
    /// than there are [`elements`](Self::elements) where a row repeats them. Source:
    /// `MemoryDep.get_numel` in `torch/_inductor/dependencies.py`.
    pub(super) fn accesses(&self, shape: &[u64]) -> u64 {
        let Some(dimensions) = self.by_dimension(shape) else {
            return self.elements();
        };
        let moving = shape.iter().zip(&dimensions);
        let moving = moving.filter(|(_, digits)| moves(digits));
        moving.fold(1, |n, (&size, _)| n.saturating_mul(size))
    }

    /// How far a step is along the dimensions of a shape whose bits are set.
    pub(super) fn strides_along(&self, shape: &[u64], axes: u32) -> Option<Vec<u64>> {
        let dimensions = self.by_dimension(shape)?.into_iter().enumerate();
        let along = dimensions.filter(|&(place, _)| place < 32 && axes >> place & 1 == 1);
        let steps = along.filter_map(|(_, digits)| digits.last().map(|digit| digit.stride));
        Some(steps.collect())
    }

    /// How far apart neighbours along each axis of these bits are that a shape has, beginning at
    /// the first element: as the compiler sees an index, divisions included.
    pub(super) fn steps_along(&self, shape: &[u64], axes: u32) -> Vec<u64> {
        let mut steps = Vec::with_capacity(shape.len());
        let mut reach = 1_u64;
        for (place, &size) in shape.iter().enumerate().rev() {
            if size > 1 && place < 32 && axes >> place & 1 == 1 {
                steps.extend(self.at(reach, 0));
            }
            reach = reach.saturating_mul(size);
        }
        steps
    }

    /// A number for the way along the axes of these bits; 0 if it stays at one element. `None` if
    /// it is divided, or without axes.
    pub(super) fn step(&self, shape: &[u64], axes: u32) -> Option<u64> {
        if axes == 0 {
            return None;
        }
        let dimensions = self.by_dimension(shape)?.into_iter().enumerate();
        let along = dimensions.filter(|&(place, _)| place < 32 && axes >> place & 1 == 1);
        let mut moved: Vec<Digit> = along.flat_map(|(_, digits)| digits).collect();
        moved.retain(|digit| digit.stride != 0);
        Some(match Self::of(moved).digits[..] {
            [] => 0,
            [Digit { stride, .. }] => stride,
            ref digits => {
                let mut hasher = FxHasher::default();
                digits.hash(&mut hasher);
                hasher.finish().max(1)
            }
        })
    }

    /// Whether the position in the buffer depends on each dimension of a shape, if only by a
    /// division. If the last dimension is cut into pieces of so many elements, it has to depend on
    /// the piece and on the place in it: the compiler drops what a remainder of the place in the
    /// row does not depend on, but not what a quotient does not.
    pub(super) fn covers(&self, shape: &[u64], piece: Option<u64>) -> bool {
        let ends = |sizes: &mut dyn Iterator<Item = u64>| {
            let mut reach = 1_u64;
            let ends = sizes.map(|size| {
                let start = reach;
                reach = reach.saturating_mul(size);
                (start, reach)
            });
            ends.collect::<Vec<(u64, u64)>>()
        };
        let digits = ends(&mut self.digits.iter().rev().map(|digit| digit.size));
        let moving: Vec<(u64, u64)> = (digits.into_iter())
            .zip(self.digits.iter().rev())
            .filter_map(|(ends, digit)| (digit.stride != 0).then_some(ends))
            .collect();
        let row = shape.last().copied().unwrap_or(1);
        let finds_piece = |piece: u64| moving.iter().any(|&(from, to)| from < row && piece < to);
        let mut dimensions = ends(&mut shape.iter().rev().copied()).into_iter();
        dimensions.all(|(start, end)| {
            let meets = |&(from, to): &(u64, u64)| start < to && from < end;
            end == start || moving.iter().any(meets)
        }) && piece.is_none_or(finds_piece)
    }
}
