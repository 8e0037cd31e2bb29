//! How much of a stored tensor a chain of views names.
//!
//! An expand names elements several times, and a slice names a part. Of `[64, 1, 1024]`, expanded
//! to `[64, 32, 1024]` and cut to `[64, 32, 512]`, readers see 64 × 512 elements.

use crate::model::functions::ShapeRule;
use crate::model::op::{Op, element_count};

/// The part of a stored tensor that a view of it names.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// For each dimension of the view the number of indices, at most, that lead to different
    /// elements.
    distinct: Vec<u64>,
    /// The bytes that it names, at most.
    pub(super) bytes: u64,
}

impl Named {
    /// All of a tensor.
    pub(super) fn whole(shape: &[u64], bytes: u64) -> Self {
        Self {
            distinct: shape.to_vec(),
            bytes,
        }
    }

    /// What a view of this tensor, which has the shape `from`, names of it.
    pub(super) fn through(&self, view: &Op, from: &[u64]) -> Self {
        let to = &view.shape;
        let distinct = match view.function.map(|function| function.row().shape_rule) {
            Some(ShapeRule::Slice | ShapeRule::Split) => {
                let sizes = self.distinct.iter().zip(to);
                sizes.map(|(&distinct, &size)| distinct.min(size)).collect()
            }
            Some(ShapeRule::Transpose) => {
                let perm = view.indexing.as_ref().map_or(&[][..], |own| &own.perm);
                let own = perm.iter().map(|&from| self.distinct.get(from).copied());
                own.collect::<Option<_>>().unwrap_or_else(|| to.clone())
            }
            Some(ShapeRule::Expand) => {
                let new = to.len().saturating_sub(from.len());
                [&vec![1; new][..], &self.distinct].concat()
            }
            Some(ShapeRule::Reshape) => self.reshaped(from, to),
            _ => to.clone(),
        };
        let elements = element_count(&distinct);
        let bytes = elements.and_then(|elements| view.bytes_per_element.bytes_of(elements));
        Self {
            distinct,
            bytes: self.bytes.min(bytes.unwrap_or(u64::MAX)),
        }
    }

    /// The distinct indices behind a reshape, which joins and splits runs of dimensions.
    fn reshaped(&self, from: &[u64], to: &[u64]) -> Vec<u64> {
        let mut distinct = to.to_vec();
        let mut before = from.iter().zip(&self.distinct).filter(|own| *own.0 > 1);
        let mut after = distinct.iter_mut().filter(|size| **size > 1);
        while let Some(first) = after.next() {
            // The shortest run of new dimensions that has as many indices as a run of old ones.
            let (mut new, mut old) = (*first, 1_u64);
            let (mut run, mut distinct_before) = (vec![first], Vec::new());
            while old != new {
                if old < new {
                    let Some((&size, &own)) = before.next() else {
                        return to.to_vec();
                    };
                    old = old.saturating_mul(size);
                    distinct_before.push(own);
                } else {
                    let Some(next) = after.next() else {
                        return to.to_vec();
                    };
                    new = new.saturating_mul(*next);
                    run.push(next);
                }
            }
            // A dimension that is split keeps its count only where it is 1. Otherwise all indices
            // count, and the bytes of the tensor before are the bound.
            let joined: u64 = distinct_before.iter().product();
            match &mut run[..] {
                [only] => **only = joined,
                all if joined == 1 => all.iter_mut().for_each(|size| **size = 1),
                _ => {}
            }
        }
        distinct
    }
}
