//! What a kernel computes for one element, as a graph of hash-consed expressions: equal expressions
//! have the same id.

use super::index::{Atom, Index, IndexId, Variable, VariableId};
use crate::calculator::{Binary, Calculator, Fold, Unary};
use fuseline_core::model::ids::{IdVec, TensorId, define_ids};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

define_ids! {
    /// An expression among [`Expressions`]. Operands have smaller ids.
    pub struct ExprId;
    /// A row of values in the shared memory of the threads of a row.
    pub struct SharedId;
}

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A number, by its bits, which can be compared and hashed.
    Number(u64),
    /// An element of a tensor. Where the condition does not hold, nothing is read and the value is
    /// arbitrary.
    Read {
        tensor: TensorId,
        /// The position of the element in row-major order.
        place: IndexId,
        /// The condition under which the element is read; `None` for always.
        only_if: Option<ExprId>,
    },
    /// An element of a row in shared memory.
    Shared(SharedId, IndexId),
    /// An index as a number.
    Place(IndexId),
    /// Whether the first index is less than the second: 1 or 0.
    Below(IndexId, IndexId),
    /// A pseudorandom number from 0 to below 1, for a position under a key, as
    /// [`uniform`](crate::interpret::uniform) gives it.
    Uniform(u32, IndexId),
    /// A function of a number.
    Unary(Unary, ExprId),
    /// A function of two numbers.
    Binary(Binary, ExprId, ExprId),
    /// The second where the first is not 0, else the third.
    Select(ExprId, ExprId, ExprId),
    /// The fold of an expression over all values of a variable.
    Fold(Fold, VariableId, ExprId),
}

/// The set of variables that an expression depends on, with a bit for each.
pub(super) type Dependence = u128;

/// The expressions, indices and variables of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    /// The expressions; operands come before the expressions that read them.
    pub exprs: IdVec<ExprId, Expr>,
    /// The indices that expressions refer to.
    pub indices: IdVec<IndexId, Index>,
    /// The variables of loops and threads.
    pub variables: IdVec<VariableId, Variable>,
    expr_ids: HashMap<Expr, ExprId, FxBuildHasher>,
    index_ids: HashMap<Index, IndexId, FxBuildHasher>,
    depends: IdVec<ExprId, Dependence>,
    /// Tensors that the kernel computes, by their values.
    pub names: HashMap<ExprId, TensorId, FxBuildHasher>,
    /// The tensors of which a value is an element, each once, with the position of the element.
    pub(super) places: HashMap<ExprId, Vec<(TensorId, IndexId)>, FxBuildHasher>,
}

/// Most variables of a kernel: [`Dependence`] has a bit for each.
pub(super) const MAX_VARIABLES: usize = Dependence::BITS as usize;

impl Expressions {
    pub(super) fn variable(&mut self, name: &str, extent: u64) -> VariableId {
        let id = VariableId::new(self.variables.len());
        self.variables.push(Variable {
            name: name.to_owned(),
            extent,
        });
        id
    }

    pub(super) fn index(&mut self, index: Index) -> IndexId {
        if let Some(&known) = self.index_ids.get(&index) {
            return known;
        }
        let id = IndexId::new(self.indices.len());
        self.index_ids.insert(index.clone(), id);
        self.indices.push(index);
        id
    }

    /// The id of the expression, or of a simpler one that is equal for all values of its indices.
    pub(super) fn expr(&mut self, expr: Expr) -> ExprId {
        match expr {
            Expr::Below(a, b) => {
                let [a, b] = [a, b].map(|index| self.bounds(&self.indices[index]));
                if a.1 < b.0 || a.0 >= b.1 {
                    return self.number(f64::from(u8::from(a.1 < b.0)));
                }
            }
            Expr::Select(condition, then, otherwise) => {
                if let Expr::Number(bits) = self.exprs[condition] {
                    let holds = f64::from_bits(bits) != 0.0;
                    return if holds { then } else { otherwise };
                }
            }
            _ => {}
        }
        if let Some(&known) = self.expr_ids.get(&expr) {
            return known;
        }
        let id = ExprId::new(self.exprs.len());
        let depends = self.dependence(expr);
        self.expr_ids.insert(expr, id);
        self.exprs.push(expr);
        self.depends.push(depends);
        id
    }

    /// Records that a value is an element of a tensor.
    pub(super) fn is_element(&mut self, value: ExprId, tensor: TensorId, place: IndexId) {
        self.names.entry(value).or_insert(tensor);
        let places = self.places.entry(value).or_default();
        if places.iter().all(|known| known.0 != tensor) {
            places.push((tensor, place));
        }
    }

    pub(super) fn fold(&mut self, fold: Fold, over: VariableId, value: ExprId) -> ExprId {
        self.expr(Expr::Fold(fold, over, value))
    }

    /// `a` and `b`, or `b` alone if there is no `a`.
    pub(super) fn both(&mut self, a: Option<ExprId>, b: ExprId) -> ExprId {
        a.map_or(b, |a| self.binary(Binary::And, a, b))
    }

    /// The condition that an index lies from 0 to below `size`; `None` if it always does.
    pub(super) fn inside(&mut self, at: IndexId, size: u64) -> Option<ExprId> {
        #[allow(clippy::cast_possible_wrap, reason = "sizes of tensors are below 2^63")]
        let size = size as i64;
        let (smallest, largest) = self.bounds(&self.indices[at]);
        let mut condition = None;
        if smallest < 0 {
            let below = self.constant(-1);
            condition = Some(self.expr(Expr::Below(below, at)));
        }
        if largest >= size {
            let end = self.constant(size);
            let is_below = self.expr(Expr::Below(at, end));
            condition = Some(self.both(condition, is_below));
        }
        condition
    }

    /// Whether an index always lies inside of a shape.
    pub(super) fn are_inside(&self, at: &[IndexId], shape: &[u64]) -> bool {
        let mut pairs = at.iter().zip(shape);
        pairs.all(|(&at, &size)| {
            let (smallest, largest) = self.bounds(&self.indices[at]);
            smallest >= 0 && u64::try_from(largest).is_ok_and(|largest| largest < size)
        })
    }

    /// The operands of an expression, including the values in its indices.
    pub fn operands(&self, expr: ExprId) -> Vec<ExprId> {
        let mut operands = Vec::new();
        match self.exprs[expr] {
            Expr::Number(_) => {}
            Expr::Read { place, only_if, .. } => {
                self.values_in(place, &mut operands);
                operands.extend(only_if);
            }
            Expr::Shared(_, place) | Expr::Place(place) | Expr::Uniform(_, place) => {
                self.values_in(place, &mut operands);
            }
            Expr::Below(a, b) => {
                self.values_in(a, &mut operands);
                self.values_in(b, &mut operands);
            }
            Expr::Unary(_, a) | Expr::Fold(_, _, a) => operands.push(a),
            Expr::Binary(_, a, b) => operands.extend([a, b]),
            Expr::Select(a, b, c) => operands.extend([a, b, c]),
        }
        operands
    }

    /// The values that an index depends on.
    fn values_in(&self, index: IndexId, values: &mut Vec<ExprId>) {
        for &(atom, _) in &self.indices[index].terms {
            match atom {
                Atom::Variable(_) => {}
                Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => {
                    self.values_in(inner, values);
                }
                Atom::Value(value, _) => values.push(value),
            }
        }
    }

    /// The variables that an expression depends on, without those that it folds over.
    pub(super) fn depends_on(&self, expr: ExprId) -> Dependence {
        self.depends[expr]
    }

    /// Whether an expression depends on a variable.
    pub(super) fn depends_on_variable(&self, expr: ExprId, variable: VariableId) -> bool {
        self.depends[expr] & bit(variable) != 0
    }

    pub(super) fn index_depends_on(&self, index: IndexId) -> Dependence {
        let terms = self.indices[index].terms.iter();
        terms.fold(0, |bits, &(atom, _)| {
            bits | match atom {
                Atom::Variable(variable) => bit(variable),
                Atom::Quotient(inner, _) | Atom::Remainder(inner, _) => {
                    self.index_depends_on(inner)
                }
                Atom::Value(value, _) => self.depends[value],
            }
        })
    }

    fn dependence(&self, expr: Expr) -> Dependence {
        match expr {
            Expr::Number(_) => 0,
            Expr::Read { place, only_if, .. } => {
                self.index_depends_on(place) | only_if.map_or(0, |only_if| self.depends[only_if])
            }
            Expr::Shared(_, place) | Expr::Place(place) | Expr::Uniform(_, place) => {
                self.index_depends_on(place)
            }
            Expr::Below(a, b) => self.index_depends_on(a) | self.index_depends_on(b),
            Expr::Unary(_, a) => self.depends[a],
            Expr::Binary(_, a, b) => self.depends[a] | self.depends[b],
            Expr::Select(a, b, c) => self.depends[a] | self.depends[b] | self.depends[c],
            Expr::Fold(_, over, value) => self.depends[value] & !bit(over),
        }
    }

    /// The roots and the expressions that they depend on, ascending. Operands of an expression at
    /// which `stop` holds are not followed.
    pub(super) fn needed(
        &self,
        roots: impl IntoIterator<Item = ExprId>,
        stop: impl Fn(ExprId) -> bool,
    ) -> Vec<ExprId> {
        let mut is_needed = vec![false; self.exprs.len()];
        let mut open: Vec<ExprId> = roots.into_iter().collect();
        while let Some(expr) = open.pop() {
            if !std::mem::replace(&mut is_needed[expr.index()], true) && !stop(expr) {
                open.extend(self.operands(expr));
            }
        }
        self.exprs
            .ids()
            .filter(|expr| is_needed[expr.index()])
            .collect()
    }

    /// Rewrites the roots: replaces some expressions by others, and optionally a variable by an
    /// index. Linear in what the roots need.
    pub(super) fn rewritten(
        &mut self,
        roots: &[ExprId],
        replaced: &HashMap<ExprId, ExprId, FxBuildHasher>,
        variable: Option<(VariableId, IndexId)>,
    ) -> Vec<ExprId> {
        let needed = self.needed(roots.iter().copied(), |expr| replaced.contains_key(&expr));
        let mut new: HashMap<ExprId, ExprId, FxBuildHasher> = HashMap::default();
        for expr in needed {
            let own = match replaced.get(&expr) {
                Some(&other) => other,
                None => self.renewed(expr, &new, variable),
            };
            for (tensor, place) in self.places.get(&expr).cloned().unwrap_or_default() {
                let place = self.renewed_index(place, &new, variable);
                self.is_element(own, tensor, place);
            }
            new.insert(expr, own);
        }
        roots
            .iter()
            .map(|root| new.get(root).copied().unwrap_or(*root))
            .collect()
    }

    fn renewed(
        &mut self,
        expr: ExprId,
        new: &HashMap<ExprId, ExprId, FxBuildHasher>,
        variable: Option<(VariableId, IndexId)>,
    ) -> ExprId {
        let of = |operand: ExprId| new.get(&operand).copied().unwrap_or(operand);
        let renewed = match self.exprs[expr] {
            number @ Expr::Number(_) => number,
            Expr::Read {
                tensor,
                place,
                only_if,
            } => Expr::Read {
                tensor,
                place: self.renewed_index(place, new, variable),
                only_if: only_if.map(of),
            },
            Expr::Shared(shared, place) => {
                Expr::Shared(shared, self.renewed_index(place, new, variable))
            }
            Expr::Place(place) => Expr::Place(self.renewed_index(place, new, variable)),
            Expr::Uniform(key, place) => {
                Expr::Uniform(key, self.renewed_index(place, new, variable))
            }
            Expr::Below(a, b) => {
                let a = self.renewed_index(a, new, variable);
                Expr::Below(a, self.renewed_index(b, new, variable))
            }
            Expr::Unary(function, a) => Expr::Unary(function, of(a)),
            Expr::Binary(function, a, b) => Expr::Binary(function, of(a), of(b)),
            Expr::Select(a, b, c) => Expr::Select(of(a), of(b), of(c)),
            Expr::Fold(fold, over, value) => Expr::Fold(fold, over, of(value)),
        };
        self.expr(renewed)
    }

    fn renewed_index(
        &mut self,
        index: IndexId,
        new: &HashMap<ExprId, ExprId, FxBuildHasher>,
        variable: Option<(VariableId, IndexId)>,
    ) -> IndexId {
        let old = self.indices[index].clone();
        let mut sum = self.constant(old.constant);
        for (atom, factor) in old.terms {
            let own = match atom {
                Atom::Variable(own) => match variable {
                    Some((replaced, by)) if replaced == own => by,
                    _ => self.place(own),
                },
                Atom::Quotient(inner, divisor) => {
                    let inner = self.renewed_index(inner, new, variable);
                    self.quotient(inner, divisor)
                }
                Atom::Remainder(inner, divisor) => {
                    let inner = self.renewed_index(inner, new, variable);
                    self.remainder(inner, divisor)
                }
                Atom::Value(value, extent) => {
                    let value = new.get(&value).copied().unwrap_or(value);
                    self.index_of(value, extent)
                }
            };
            sum = self.plus(sum, own, factor);
        }
        sum
    }
}

pub(super) fn bit(variable: VariableId) -> Dependence {
    let place = u32::try_from(variable.index()).unwrap_or(u32::MAX);
    1_u128.checked_shl(place).unwrap_or(0)
}

impl Calculator for Expressions {
    type Value = ExprId;

    fn number(&mut self, value: f64) -> ExprId {
        self.expr(Expr::Number(value.to_bits()))
    }

    fn unary(&mut self, function: Unary, a: ExprId) -> ExprId {
        self.expr(Expr::Unary(function, a))
    }

    fn binary(&mut self, function: Binary, a: ExprId, b: ExprId) -> ExprId {
        self.expr(Expr::Binary(function, a, b))
    }

    fn select(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.expr(Expr::Select(condition, then, otherwise))
    }
}
