//! Arrays of numbers in row-major order, and the ways to walk them.

use std::borrow::Cow;

/// An input of an op.
#[derive(Clone, Debug)]
pub(super) struct Array<'a> {
    /// Outermost dimension first.
    pub(super) shape: Cow<'a, [usize]>,
    pub(super) values: Cow<'a, [f64]>,
}

impl Array<'_> {
    /// The values broadcast to a shape; `None` if the array does not broadcast to it.
    pub(super) fn broadcast(&self, shape: &[usize]) -> Option<Cow<'_, [f64]>> {
        if *self.shape == *shape {
            return Some(Cow::Borrowed(&self.values));
        }
        let added = shape.len().checked_sub(self.shape.len())?;
        let mut steps = vec![0; shape.len()];
        let mut step = 1;
        for (place, &own) in self.shape.iter().enumerate().rev() {
            let size = *shape.get(added + place)?;
            if own == size {
                steps[added + place] = step;
            } else if own != 1 {
                return None;
            }
            step *= own;
        }
        let values = walk(shape, |index| {
            let offset = index
                .iter()
                .zip(&steps)
                .map(|(i, step)| i * step)
                .sum::<usize>();
            self.values.get(offset).copied().unwrap_or(f64::NAN)
        });
        Some(Cow::Owned(values))
    }

    /// The values of blocks at each element of a shape, each size of which is a multiple of the
    /// array's own; `None` if one is not.
    pub(super) fn by_blocks(&self, shape: &[usize]) -> Option<Vec<f64>> {
        let added = shape.len().checked_sub(self.shape.len())?;
        let pairs = self.shape.iter().zip(shape.get(added..)?);
        let blocks = pairs.map(|(&own, &size)| {
            (own > 0 && size.is_multiple_of(own)).then(|| (size / own).max(1))
        });
        let blocks: Vec<usize> = blocks.collect::<Option<_>>()?;
        Some(walk(shape, |index| {
            let own = index.iter().skip(added).zip(&blocks);
            let at: Vec<usize> = own.map(|(place, block)| place / block).collect();
            self.at(&at)
        }))
    }

    /// The element at an index, which must lie inside the array.
    pub(super) fn at(&self, index: &[usize]) -> f64 {
        let offset = offset(&self.shape, index);
        self.values.get(offset).copied().unwrap_or(f64::NAN)
    }

    /// Shape of the leading dimensions, rows and columns of the last two.
    pub(super) fn matrices(&self) -> Option<(&[usize], usize, usize)> {
        match *self.shape {
            [ref batch @ .., rows, columns] => Some((batch, rows, columns)),
            _ => None,
        }
    }
}

/// Number of elements of a shape, for shapes that the budget admits.
pub(super) fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

pub(super) fn offset(shape: &[usize], index: &[usize]) -> usize {
    let pairs = shape.iter().zip(index);
    pairs.fold(0, |offset, (size, i)| offset * size + i)
}

/// The value of `each` at every index of a shape, in row-major order.
pub(super) fn walk(shape: &[usize], mut each: impl FnMut(&[usize]) -> f64) -> Vec<f64> {
    let total = count(shape);
    let mut index = vec![0; shape.len()];
    let mut values = Vec::with_capacity(total);
    for _ in 0..total {
        values.push(each(&index));
        for (place, size) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < *size {
                break;
            }
            *place = 0;
        }
    }
    values
}
