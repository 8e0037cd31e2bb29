//! Indices: integers that depend on the variables of a kernel, in a normal form in which equal
//! indices have the same id.
//!
//! An index is a sum of variables, quotients and remainders, each times a factor. Unraveling a
//! position into the indices of a shape and raveling it again gives the same index, so a value that
//! two views of a tensor read is computed once.

use super::expression::{ExprId, Expressions};
use fuseline_core::model::ids::define_ids;

define_ids! {
    /// An index among [`Expressions`].
    pub struct IndexId;
    /// A variable of a kernel, among [`Expressions`].
    pub struct VariableId;
}

/// A loop or thread index from 0 to below an extent: over the elements of a grid, rows, the columns
/// of a row, or the steps of a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name in the code.
    pub name: String,
    /// The number of its values.
    pub extent: u64,
}

/// A term of an index, without its factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    Variable(VariableId),
    /// An index divided, rounded down.
    Quotient(IndexId, u64),
    /// The remainder of an index after the division.
    Remainder(IndexId, u64),
    /// A value that the kernel reads or computes, from 0 to below this number, such as the row of
    /// an embedding.
    Value(ExprId, u64),
}

/// A sum of atoms, each with its factor, and a constant. Atoms are ascending, factors are not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Index {
    /// Each atom with its factor.
    pub terms: Vec<(Atom, i64)>,
    pub constant: i64,
}

impl Index {
    fn add(&mut self, other: &Self, factor: i64) {
        self.constant = self
            .constant
            .saturating_add(other.constant.saturating_mul(factor));
        for &(atom, own) in &other.terms {
            let added = own.saturating_mul(factor);
            match self.terms.binary_search_by_key(&atom, |term| term.0) {
                Ok(place) => {
                    let sum = self.terms[place].1.saturating_add(added);
                    if sum == 0 {
                        self.terms.remove(place);
                    } else {
                        self.terms[place].1 = sum;
                    }
                }
                Err(place) => self.terms.insert(place, (atom, added)),
            }
        }
    }

    fn factor_of(&self, atom: Atom) -> i64 {
        let found = self.terms.binary_search_by_key(&atom, |term| term.0);
        found.map_or(0, |place| self.terms[place].1)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
impl Expressions {
    pub(super) fn place(&mut self, variable: VariableId) -> IndexId {
        if self.variables[variable].extent <= 1 {
            return self.constant(0);
        }
        self.sum_of(Atom::Variable(variable))
    }

    /// A number as an index.
    pub(super) fn constant(&mut self, constant: i64) -> IndexId {
        self.index(Index {
            terms: Vec::new(),
            constant,
        })
    }

    /// A value as an index from 0 to below `extent`.
    pub(super) fn index_of(&mut self, value: ExprId, extent: u64) -> IndexId {
        self.sum_of(Atom::Value(value, extent))
    }

    fn sum_of(&mut self, atom: Atom) -> IndexId {
        self.index(Index {
            terms: vec![(atom, 1)],
            constant: 0,
        })
    }

    /// `a + factor * b`
    pub(super) fn plus(&mut self, a: IndexId, b: IndexId, factor: i64) -> IndexId {
        if factor == 0 {
            return a;
        }
        let mut sum = self.indices[a].clone();
        sum.add(&self.indices[b].clone(), factor);
        self.join(&mut sum);
        self.index(sum)
    }

    /// `a + number`
    pub(super) fn shifted(&mut self, a: IndexId, number: i64) -> IndexId {
        let mut sum = self.indices[a].clone();
        sum.constant = sum.constant.saturating_add(number);
        self.index(sum)
    }

    /// `factor * a`
    pub(super) fn times(&mut self, a: IndexId, factor: u64) -> IndexId {
        let zero = self.constant(0);
        self.plus(zero, a, factor as i64)
    }

    /// `a / divisor`, rounded down
    pub(super) fn quotient(&mut self, a: IndexId, divisor: u64) -> IndexId {
        if divisor <= 1 {
            return a;
        }
        let (mut whole, rest) = self.divided(a, divisor);
        let (smallest, largest) = self.bounds(&rest);
        if smallest < 0 || largest >= divisor as i64 {
            let (rest, divisor) = reduced(rest, divisor);
            let atom = match rest.terms[..] {
                // `a / m / n` is `a / (m * n)`.
                [(Atom::Quotient(inner, by), 1)] if rest.constant == 0 => {
                    Atom::Quotient(inner, by.saturating_mul(divisor))
                }
                _ => Atom::Quotient(self.index(rest), divisor),
            };
            let own = Index {
                terms: vec![(atom, 1)],
                constant: 0,
            };
            whole.add(&own, 1);
        }
        self.index(whole)
    }

    /// `a % divisor`
    pub(super) fn remainder(&mut self, a: IndexId, divisor: u64) -> IndexId {
        if divisor <= 1 {
            return self.constant(0);
        }
        let (_, rest) = self.divided(a, divisor);
        let (smallest, largest) = self.bounds(&rest);
        if smallest >= 0 && largest < divisor as i64 {
            return self.index(rest);
        }
        let common = common_factor(&rest, divisor);
        let constant = rest.constant.rem_euclid(common as i64);
        let (rest, divisor) = reduced(rest, divisor);
        let rest = self.index(rest);
        let own = self.sum_of(Atom::Remainder(rest, divisor));
        let scaled = self.times(own, common);
        self.shifted(scaled, constant)
    }

    /// Splits an index into the terms that are multiples of the divisor, divided by it, and the
    /// rest.
    fn divided(&self, a: IndexId, divisor: u64) -> (Index, Index) {
        let (mut whole, mut rest) = (Index::default(), Index::default());
        let divisor = divisor as i64;
        for &(atom, factor) in &self.indices[a].terms {
            if factor % divisor == 0 {
                whole.terms.push((atom, factor / divisor));
            } else {
                rest.terms.push((atom, factor));
            }
        }
        whole.constant = self.indices[a].constant.div_euclid(divisor);
        rest.constant = self.indices[a].constant.rem_euclid(divisor);
        (whole, rest)
    }

    /// `n * (a / n) + a % n` is `a`.
    fn join(&mut self, sum: &mut Index) {
        let mut place = 0;
        while let Some(&(atom, factor)) = sum.terms.get(place) {
            place += 1;
            let Atom::Remainder(inner, divisor) = atom else {
                continue;
            };
            let quotient = self.quotient(inner, divisor);
            let quotient = self.indices[quotient].clone();
            let scale = factor.saturating_mul(divisor as i64);
            let holds = quotient.constant == 0
                && !quotient.terms.is_empty()
                && (quotient.terms.iter())
                    .all(|&(atom, own)| sum.factor_of(atom) == own.saturating_mul(scale));
            if holds {
                sum.add(&quotient, -scale);
                let own = Index {
                    terms: vec![(atom, 1)],
                    constant: 0,
                };
                sum.add(&own, -factor);
                sum.add(&self.indices[inner].clone(), factor);
                place = 0;
            }
        }
    }

    /// The smallest and the largest value.
    pub(super) fn bounds(&self, index: &Index) -> (i64, i64) {
        let (mut smallest, mut largest) = (index.constant, index.constant);
        for &(atom, factor) in &index.terms {
            let last = match atom {
                Atom::Variable(variable) => self.variables[variable].extent.saturating_sub(1),
                Atom::Value(_, extent) | Atom::Remainder(_, extent) => extent.saturating_sub(1),
                Atom::Quotient(inner, divisor) => {
                    let (low, high) = self.bounds(&self.indices[inner]);
                    let ends = [low, high].map(|end| end.div_euclid(divisor as i64));
                    smallest = smallest.saturating_add((ends[0] * factor).min(ends[1] * factor));
                    largest = largest.saturating_add((ends[0] * factor).max(ends[1] * factor));
                    continue;
                }
            };
            let end = factor.saturating_mul(last as i64);
            smallest = smallest.saturating_add(end.min(0));
            largest = largest.saturating_add(end.max(0));
        }
        (smallest, largest)
    }

    /// The position in row-major order of the element at an index.
    pub(super) fn ravel(&mut self, shape: &[u64], at: &[IndexId]) -> IndexId {
        let mut place = self.constant(0);
        for (&size, &at) in shape.iter().zip(at) {
            let outer = self.times(place, size);
            place = self.plus(outer, at, 1);
        }
        place
    }

    /// The index in `[.., S, heads*d]` of an element of `[.., heads, S, d]`.
    pub(super) fn joined_heads(
        &mut self,
        at: &[IndexId],
        heads: &[u64],
        d: u64,
    ) -> Option<Vec<IndexId>> {
        let (outer, &[row, column]) = at.split_last_chunk()?;
        let (batch, own) = outer.split_at_checked(outer.len().checked_sub(heads.len())?)?;
        let head = self.ravel(heads, own);
        let first = self.times(head, d);
        let column = self.plus(first, column, 1);
        Some([batch, &[row, column]].concat())
    }

    /// The index in `[.., heads, S, d]` of an element of `[.., S, heads*d]`.
    pub(super) fn split_heads(
        &mut self,
        at: &[IndexId],
        heads: &[u64],
        d: u64,
    ) -> Option<Vec<IndexId>> {
        let (batch, &[row, column]) = at.split_last_chunk()?;
        let head = self.quotient(column, d);
        let own = self.unravel(heads, head);
        let column = self.remainder(column, d);
        Some([batch, &own, &[row, column]].concat())
    }

    /// The index of the element at a position in row-major order.
    pub(super) fn unravel(&mut self, shape: &[u64], place: IndexId) -> Vec<IndexId> {
        let mut rest = place;
        let mut at = Vec::with_capacity(shape.len());
        for (dimension, &size) in shape.iter().enumerate().rev() {
            // The outermost dimension takes the whole quotient and needs no remainder.
            at.push(if dimension == 0 {
                rest
            } else {
                self.remainder(rest, size)
            });
            rest = self.quotient(rest, size);
        }
        at.reverse();
        at
    }
}

fn common_factor(rest: &Index, divisor: u64) -> u64 {
    let factors = rest.terms.iter().map(|term| term.1.unsigned_abs());
    factors.fold(divisor, gcd).max(1)
}

/// Cancels the factor that all terms and the divisor share. The constant is rounded down to a
/// multiple of that factor, which does not change the quotient, because it loses less than the
/// factor.
#[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
fn reduced(mut rest: Index, divisor: u64) -> (Index, u64) {
    let common = common_factor(&rest, divisor);
    for term in &mut rest.terms {
        term.1 /= common as i64;
    }
    rest.constant = rest.constant.div_euclid(common as i64);
    (rest, divisor / common)
}
