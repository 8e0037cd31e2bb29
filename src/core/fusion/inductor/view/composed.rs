//! Views of views: of what another view shows, and of a tensor that lies in a larger one.

use super::{Digit, View};
use crate::fusion::inductor::value::Placed;

/// Most digits of a view; others count as unknown.
const DIGITS: usize = 24;

impl View {
    /// This view of what another view shows: `inner` gives the element of the buffer for each of
    /// its positions, this one the position in `inner`.
    pub(in crate::fusion::inductor) fn through(&self, inner: &Self) -> Option<Self> {
        if !self.closed.is_empty() {
            return None;
        }
        // In a flat view a position is the element itself.
        if let [
            Digit {
                stride: 1, term: 0, ..
            },
        ] = inner.digits[..]
        {
            let offset = self.offset.checked_add(inner.offset)?;
            return Some(Self {
                offset,
                digits: self.digits.clone(),
                closed: inner.closed.clone(),
            });
        }
        let mut digits = Vec::with_capacity(self.digits.len() + 2);
        for digit in &self.digits {
            inner.cut(*digit, &mut digits)?;
        }
        // A border around a view that is not flat is none of its positions.
        let start = u64::try_from(self.offset).ok()?;
        let moved = |term: usize, offset: i64| {
            let element = i64::try_from(inner.at(start, term)?).ok()?;
            offset.checked_add(element)
        };
        let closed = inner.closed.iter().zip(1..);
        let closed: Option<_> = closed.map(|(&offset, term)| moved(term, offset)).collect();
        let (offset, closed) = (moved(0, inner.offset)?, closed?);
        (digits.len() <= DIGITS).then(|| Self {
            offset,
            closed,
            ..Self::of(digits)
        })
    }

    /// This view of a tensor as one of a larger tensor in which that one lies. `None` if the
    /// index is divided along a dimension that is larger there.
    pub(in crate::fusion::inductor) fn placed(&self, part: &Placed<'_>) -> Option<Self> {
        let mut dimensions = self.by_dimension(&part.shape)?;
        let (mut offset, mut closed) = (self.offset, self.closed.clone());
        for &(axis, start, size) in &part.along {
            let own = dimensions.get_mut(axis)?;
            // A dimension of one element has no index.
            let (first, rest) = own
                .split_first()
                .map_or_else(Default::default, |(first, rest)| (*first, rest.to_vec()));
            // Of several digits, only the outermost one goes on in the larger dimension.
            let inner = rest
                .iter()
                .try_fold(1_u64, |n, digit| n.checked_mul(digit.size))?;
            let is_whole = inner > 0 && start.is_multiple_of(inner) && size.is_multiple_of(inner);
            is_whole.then_some(())?;
            let before = (start / inner).checked_mul(first.stride)?;
            let before = i64::try_from(before).ok()?;
            let size = size / inner;
            let digits = std::iter::once(Digit { size, ..first }).chain(rest);
            let mut digits: Vec<Digit> = digits.collect();
            let mut terms = digits
                .iter()
                .filter(|digit| digit.stride != 0)
                .map(|digit| digit.term);
            let term = match terms.next() {
                // It does not move.
                None => 0,
                Some(term) => {
                    terms.all(|other| other == term).then_some(())?;
                    if let Some(at) = term.checked_sub(1) {
                        let own = closed.get_mut(at)?;
                        *own = own.checked_sub(before)?;
                        term
                    } else if part.is_closed {
                        closed.push(before.checked_neg()?);
                        closed.len()
                    } else {
                        offset = offset.checked_sub(before)?;
                        0
                    }
                }
            };
            for digit in &mut digits {
                digit.term = if digit.stride == 0 { 0 } else { term };
            }
            *own = digits;
        }
        Some(Self {
            offset,
            closed,
            ..Self::of(dimensions.concat())
        })
    }

    /// Adds the digits of the buffer over which a digit of positions advances.
    fn cut(&self, digit: Digit, digits: &mut Vec<Digit>) -> Option<()> {
        if digit.stride == 0 {
            digits.push(digit);
            return Some(());
        }
        let (mut reach, mut left, mut own) = (1_u64, digit, Vec::new());
        for inner in self.digits.iter().rev() {
            let end = reach.checked_mul(inner.size)?;
            if left.stride < end && left.size > 1 {
                // A step that is no multiple of the digits further in would carry: its index is a
                // division.
                (left.stride % reach == 0).then_some(())?;
                let steps = left.stride / reach;
                let room = inner.size.div_ceil(steps);
                let stride = inner.stride.checked_mul(steps)?;
                let size = left.size.min(room);
                let term = inner.term;
                own.insert(0, Digit { size, stride, term });
                (left.size % size == 0).then_some(())?;
                left.size /= size;
                if left.size > 1 {
                    (inner.size % steps == 0).then_some(())?;
                }
                left.stride = left.stride.checked_mul(size)?;
            }
            reach = end;
        }
        digits.extend(own);
        (left.size <= 1).then_some(())
    }

    /// What one position adds to a term of the index.
    pub(super) fn at(&self, mut position: u64, term: usize) -> Option<u64> {
        let mut element = 0_u64;
        for digit in self.digits.iter().rev() {
            let value = position % digit.size.max(1);
            if digit.term == term {
                element = element.checked_add(value.checked_mul(digit.stride)?)?;
            }
            position /= digit.size.max(1);
        }
        Some(element)
    }
}
