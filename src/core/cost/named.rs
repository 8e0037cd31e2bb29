//! Which elements of a stored tensor a chain of views names.
//!
//! An expand names elements several times, and a slice names a part. Of `[64, 1, 1024]`, expanded
//! to `[64, 32, 1024]` and cut to `[64, 32, 512]`, readers see 64 × 512 elements.

use crate::cost::pieces::Strided;
use crate::cost::runs::runs;
use crate::model::functions::ShapeRule;
use crate::model::ids::TensorId;
use crate::model::op::Op;
use smallvec::{SmallVec, smallvec};

/// Indices of a view, or of a part of one of its dimensions.
#[derive(Clone, Copy, Debug)]
struct Factor {
    size: u64,
    /// The distance in memory from one index to the next, in elements; 0 for copies. `None` where
    /// there is no single distance.
    stride: Option<u64>,
    /// The number of indices, at most, that lead to different elements.
    distinct: u64,
}

/// The factors of a dimension, the last one fastest; none for a dimension of size 1.
type Dimension = SmallVec<[Factor; 1]>;

/// What a view names of a stored tensor.
#[derive(Clone, Debug)]
pub(super) struct Named {
    dimensions: Vec<Dimension>,
    /// Its first element in memory.
    offset: u64,
    /// Whether offset and strides say which elements it names.
    is_strided: bool,
    /// The elements that it names, at most.
    pub(super) elements: u64,
    /// The tensor itself, or the nearest view before it of which the elements are known: the stored
    /// tensor, or one behind a slice.
    pub(super) known: TensorId,
    /// Whether it names all elements of `known`, and not some of them.
    pub(super) is_known: bool,
}

impl Named {
    /// All of a stored tensor.
    pub(super) fn whole(stored: TensorId, shape: &[u64]) -> Self {
        let mut elements = 1_u64;
        let mut dimensions: Vec<Dimension> = Vec::with_capacity(shape.len());
        for &size in shape.iter().rev() {
            dimensions.push(of_size(size, Some(elements), size));
            elements = elements.saturating_mul(size);
        }
        dimensions.reverse();
        Self {
            dimensions,
            offset: 0,
            is_strided: true,
            elements,
            known: stored,
            is_known: true,
        }
    }

    /// A view of a stored tensor that nothing is known of but its shape.
    pub(super) fn unknown(stored: TensorId, shape: &[u64]) -> Self {
        let mut named = Self::whole(stored, shape);
        named.is_known = false;
        named.scatter(shape);
        named
    }

    /// What a view of this tensor names, or another op that takes a part of it.
    pub(super) fn through(&self, output: TensorId, view: &Op) -> Self {
        let to = &view.shape[..];
        let mut next = self.clone();
        match view.function.map(|function| function.row().shape_rule) {
            Some(ShapeRule::Slice | ShapeRule::Split) => next.slice(output, view),
            Some(ShapeRule::Transpose) => {
                let perm = view.indexing.as_ref().map_or(&[][..], |own| &own.perm);
                let own = perm.iter().map(|&from| self.dimensions.get(from).cloned());
                match own.collect::<Option<_>>() {
                    Some(dimensions) => next.dimensions = dimensions,
                    None => next.scatter(to),
                }
            }
            Some(ShapeRule::Expand) => {
                let new = to.len().saturating_sub(self.dimensions.len());
                let own = self.dimensions.iter().map(Some);
                let own = std::iter::repeat_n(None, new).chain(own).zip(to);
                let own = own.map(|(before, &size)| {
                    let before = before.filter(|before| !before.is_empty()).cloned();
                    before.unwrap_or_else(|| of_size(size, Some(0), 1))
                });
                next.dimensions = own.collect();
            }
            Some(ShapeRule::Reshape) => next.reshape(to),
            Some(ShapeRule::SameAsFirst) => {}
            _ => {
                next.scatter(to);
                next.is_known = false;
            }
        }
        let distinct = next.dimensions.iter().flatten().map(|own| own.distinct);
        let distinct = distinct.fold(1, u64::saturating_mul);
        next.elements = next.elements.min(distinct);
        next
    }

    /// Where its elements are, if that is known.
    pub(super) fn strided(&self) -> Option<Strided> {
        let factors = self.dimensions.iter().flatten();
        let factors = factors.map(|own| own.stride.map(|stride| (stride, own.size)));
        let factors = factors.filter(|own| own.is_none_or(|(stride, _)| stride > 0));
        Some(Strided {
            offset: self.offset,
            factors: factors.collect::<Option<_>>().filter(|_| self.is_strided)?,
        })
    }

    /// Forgets where the elements of a view of this shape are.
    fn scatter(&mut self, shape: &[u64]) {
        self.is_strided = false;
        let sizes = shape.iter();
        self.dimensions = sizes.map(|&size| of_size(size, None, size)).collect();
    }

    fn slice(&mut self, output: TensorId, view: &Op) {
        let axis = view.indexing.as_ref().map(|own| own.axis);
        let own =
            axis.and_then(|axis| Some((self.dimensions.get_mut(axis)?, view.shape.get(axis)?)));
        let (Some(indexing), Some((dimension, &size))) = (&view.indexing, own) else {
            self.scatter(&view.shape);
            self.is_known = false;
            return;
        };
        if product(dimension.iter().map(|own| own.size)) == size {
            return;
        }
        let step = indexing.step.max(1);
        if let Some((offset, taken)) = range_of(dimension, indexing.start, size, step) {
            *dimension = taken;
            self.offset = self.offset.saturating_add(offset);
        } else {
            let distinct = product(dimension.iter().map(|own| own.distinct));
            *dimension = of_size(size, None, distinct.min(size));
            self.is_strided = false;
        }
        if self.is_strided {
            self.known = output;
        }
        self.is_known &= self.is_strided;
    }

    /// The same elements in other dimensions: a reshape joins and splits runs of them.
    fn reshape(&mut self, to: &[u64]) {
        let before = joined(self.dimensions.iter().flatten().copied());
        let sizes: SmallVec<[u64; 4]> = before.iter().map(|own| own.size).collect();
        let Some(runs) = runs(&sizes, to) else {
            self.scatter(to);
            return;
        };
        self.dimensions = Vec::with_capacity(to.len());
        for [old, new] in runs {
            let old = before.get(old).unwrap_or_default();
            let new = to.get(new).unwrap_or_default();
            let parts = distributed(old, new).unwrap_or_else(|| {
                // A run that is split keeps its count only where it is 1. Otherwise all indices
                // count, and the elements of the tensor before are the bound.
                let is_one = product(old.iter().map(|factor| factor.distinct)) == 1;
                self.is_strided = false;
                let sizes = new.iter();
                sizes
                    .map(|&size| of_size(size, None, if is_one { 1 } else { size }))
                    .collect()
            });
            self.dimensions.extend(parts);
        }
    }
}

fn product(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(1, u64::saturating_mul)
}

fn of_size(size: u64, stride: Option<u64>, distinct: u64) -> Dimension {
    let factor = Factor {
        size,
        stride,
        distinct,
    };
    if size > 1 {
        smallvec![factor]
    } else {
        Dimension::new()
    }
}

/// The factors with those joined that follow each other at one distance.
fn joined(factors: impl Iterator<Item = Factor>) -> Dimension {
    let mut joined = Dimension::new();
    for own in factors {
        if let Some(last) = joined.last_mut()
            && let (Some(outer), Some(inner)) = (last.stride, own.stride)
            && inner.checked_mul(own.size) == Some(outer)
        {
            *last = Factor {
                size: last.size.saturating_mul(own.size),
                distinct: last.distinct.saturating_mul(own.distinct),
                ..own
            };
        } else {
            joined.push(own);
        }
    }
    joined
}

/// The range of a dimension that begins at this index, and where it begins in memory; `None` where
/// no strides describe it.
fn range_of(dimension: &[Factor], start: u64, size: u64, step: u64) -> Option<(u64, Dimension)> {
    let joined = joined(dimension.iter().copied());
    let (mut factors, mut start, mut offset) = (&joined[..], start, 0_u64);
    let length = size.checked_sub(1)?.checked_mul(step)?;
    while let Some((&outer, inner)) = factors.split_first() {
        let stride = outer.stride?;
        let width = product(inner.iter().map(|own| own.size));
        let (index, rest) = (start / width, start % width);
        offset = offset.checked_add(index.checked_mul(stride)?)?;
        if size > 1 && rest.checked_add(length)? >= width {
            // More than one index of the outer factor: all of the inner ones, if any.
            let is_whole = rest == 0 && step == 1 && size.is_multiple_of(width);
            if !is_whole && !inner.is_empty() {
                return None;
            }
            let size = size / width;
            let first = of_size(
                size,
                Some(stride.checked_mul(step)?),
                size.min(outer.distinct),
            );
            return Some((
                offset,
                first.into_iter().chain(inner.iter().copied()).collect(),
            ));
        }
        (factors, start) = (inner, rest);
    }
    Some((offset, Dimension::new()))
}

/// The factors in dimensions of these sizes, if each of them is a run of factors, or of parts.
fn distributed(factors: &[Factor], sizes: &[u64]) -> Option<Vec<Dimension>> {
    let mut rest: Dimension = factors.iter().rev().copied().collect();
    let dimensions = sizes.iter().map(|&size| {
        let (mut left, mut dimension) = (size, Dimension::new());
        while left > 1 {
            let factor = rest.pop()?;
            if left.is_multiple_of(factor.size) {
                left /= factor.size;
                dimension.push(factor);
                continue;
            }
            // Only what has one distance, or is one element, is split.
            let inner = factor.size / left;
            let stride = match factor.stride {
                Some(stride) => Some(stride.checked_mul(inner)?),
                None if factor.distinct == 1 => None,
                None => return None,
            };
            if !factor.size.is_multiple_of(left) {
                return None;
            }
            let distinct = |size: u64| size.min(factor.distinct);
            dimension.extend(of_size(left, stride, distinct(left)));
            rest.extend(of_size(inner, factor.stride, distinct(inner)));
            left = 1;
        }
        Some(dimension)
    });
    dimensions.collect()
}
