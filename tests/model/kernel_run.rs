//! Runs the form of a kernel, thread by thread, in f64: what a printer is to write, and nothing
//! that it does not say.

use fuseline_codegen::interpret::{rounded, uniform};
use fuseline_codegen::kernel_code::{
    Atom, Binary, Expr, ExprId, Fold, Grid, IndexId, Kernel, SharedId, Statement, Unary, VariableId,
};
use fuseline_core::{DType, TensorId};
use std::collections::HashMap;

/// The elements of tensors, by the numbers of the tensors: a table of hashes is slow without
/// optimization.
#[derive(Clone, Default)]
pub(crate) struct Memory(Vec<Option<Vec<f64>>>);

impl Memory {
    pub(crate) fn insert(&mut self, tensor: TensorId, elements: Vec<f64>) {
        if self.0.len() <= tensor.index() {
            self.0.resize(tensor.index() + 1, None);
        }
        self.0[tensor.index()] = Some(elements);
    }

    pub(crate) fn of(&self, tensor: TensorId) -> &[f64] {
        self.0[tensor.index()].as_deref().unwrap()
    }
}

/// What a thread, or a group of them, knows.
struct Machine<'a> {
    kernel: &'a Kernel,
    memory: &'a mut Memory,
    variables: Vec<Option<u64>>,
    /// What was computed, each in the scope that knows it.
    values: Vec<Option<f64>>,
    /// The expressions of all scopes, the inner ones last.
    known: Vec<ExprId>,
    /// For each expression what its columns keep.
    kept: Vec<Vec<Option<f64>>>,
    shared: HashMap<(SharedId, i64), f64>,
    /// The column of the loop over columns.
    column: u64,
}

/// Runs a kernel on the tensors that it reads, and adds those that it writes.
pub(crate) fn run(kernel: &Kernel, memory: &mut Memory) {
    for argument in kernel.arguments.iter().filter(|own| own.is_written) {
        let elements = usize::try_from(argument.elements).unwrap();
        memory.insert(argument.tensor, vec![f64::NAN; elements]);
    }
    let mut machine = Machine {
        kernel,
        memory,
        variables: vec![None; kernel.expressions.variables.len()],
        values: vec![None; kernel.expressions.exprs.len()],
        known: Vec::new(),
        kept: vec![Vec::new(); kernel.expressions.exprs.len()],
        shared: HashMap::new(),
        column: 0,
    };
    match kernel.grid {
        Grid::Elements(variable) | Grid::Rows(variable) => {
            for place in 0..machine.extent(variable) {
                machine.forget();
                machine.variables[variable.index()] = Some(place);
                machine.all(&kernel.body);
            }
        }
        Grid::Tiles { batch, row, column } => {
            for of_batch in 0..machine.extent(batch) {
                for of_row in 0..machine.extent(row) {
                    for of_column in 0..machine.extent(column) {
                        machine.forget();
                        let places = [(batch, of_batch), (row, of_row), (column, of_column)];
                        for (variable, place) in places {
                            machine.variables[variable.index()] = Some(place);
                        }
                        machine.all(&kernel.body);
                    }
                }
            }
        }
    }
}

impl Machine<'_> {
    fn extent(&self, variable: VariableId) -> u64 {
        self.kernel.expressions.variables[variable].extent
    }

    fn forget(&mut self) {
        self.variables.fill(None);
        self.leave(0);
        self.kept.iter_mut().for_each(Vec::clear);
        self.shared.clear();
    }

    fn know(&mut self, expr: ExprId, value: f64) {
        if self.values[expr.index()].replace(value).is_none() {
            self.known.push(expr);
        }
    }

    /// Forgets what a scope computed.
    fn leave(&mut self, outside: usize) {
        for expr in self.known.drain(outside..) {
            self.values[expr.index()] = None;
        }
    }

    fn all(&mut self, body: &[Statement]) {
        for statement in body {
            self.one(statement);
        }
    }

    fn fold_of(&self, result: ExprId) -> (Fold, VariableId, ExprId) {
        match self.kernel.expressions.exprs[result] {
            Expr::Fold(fold, over, value) => (fold, over, value),
            other => panic!("{other:?} is no fold"),
        }
    }

    /// Goes over a variable; what is computed inside is forgotten, as its scope ends there.
    fn each(&mut self, over: VariableId, mut inside: impl FnMut(&mut Self)) {
        for place in 0..self.extent(over) {
            let outside = self.known.len();
            self.variables[over.index()] = Some(place);
            inside(self);
            self.leave(outside);
        }
        self.variables[over.index()] = None;
    }

    fn folded(&mut self, result: ExprId, body: &[Statement], is_columns: bool) {
        let (fold, over, value) = self.fold_of(result);
        let mut folded = fold.start();
        self.each(over, |machine| {
            if is_columns {
                machine.column = machine.variables[over.index()].unwrap();
            }
            machine.all(body);
            let next = machine.value(value);
            folded = match fold {
                Fold::Sum => folded + next,
                Fold::Product => folded * next,
                Fold::Maximum => larger(folded, next),
                Fold::Minimum => -larger(-folded, -next),
            };
        });
        self.know(result, folded);
    }

    fn one(&mut self, statement: &Statement) {
        match statement {
            Statement::Let(expr) => {
                let value = self.computed(*expr);
                self.know(*expr, value);
            }
            Statement::Loop { result, body } => self.folded(*result, body, false),
            Statement::Reduce { result, body } => self.folded(*result, body, true),
            Statement::Columns { column, body } => self.each(*column, |machine| {
                machine.column = machine.variables[column.index()].unwrap();
                machine.all(body);
            }),
            Statement::Keep(expr) => {
                let value = self.value(*expr);
                let (kept, column) = (
                    &mut self.kept[expr.index()],
                    usize::try_from(self.column).unwrap(),
                );
                kept.resize(kept.len().max(column + 1), None);
                kept[column] = Some(value);
            }
            Statement::Recall(expr) => {
                let column = usize::try_from(self.column).unwrap();
                let value = self.kept[expr.index()][column].unwrap();
                self.know(*expr, value);
            }
            Statement::Share {
                shared,
                place,
                value,
            } => {
                let (place, value) = (self.index(*place), self.value(*value));
                self.shared.insert((*shared, place), value);
            }
            Statement::Store {
                tensor,
                place,
                value,
                only_if,
            } => {
                if only_if.is_none_or(|only_if| self.value(only_if) != 0.0) {
                    let place = usize::try_from(self.index(*place)).unwrap();
                    let value = self.value(*value);
                    let mut arguments = self.kernel.arguments.iter();
                    let argument = arguments.find(|own| own.tensor == *tensor).unwrap();
                    let is_float = !matches!(
                        argument.dtype,
                        DType::I64 | DType::I32 | DType::I8 | DType::Bool
                    );
                    let stored = if is_float {
                        value
                    } else {
                        rounded(value, argument.dtype)
                    };
                    self.memory.0[tensor.index()].as_mut().unwrap()[place] = stored;
                }
            }
            Statement::Products {
                left,
                left_body,
                rights,
            } => {
                let (_, over, _) = self.fold_of(rights[0].result);
                let mut sums = vec![0.0; rights.len()];
                self.each(over, |machine| {
                    let outside = machine.known.len();
                    machine.all(left_body);
                    let left = machine.value(*left);
                    for (sum, right) in sums.iter_mut().zip(rights) {
                        machine.leave(outside);
                        machine.all(&right.body);
                        *sum += left * machine.value(right.value);
                    }
                });
                for (sum, right) in sums.into_iter().zip(rights) {
                    self.know(right.result, sum);
                }
            }
        }
    }

    /// A value that was computed; a number needs no statement.
    fn value(&self, expr: ExprId) -> f64 {
        match (
            self.values[expr.index()],
            self.kernel.expressions.exprs[expr],
        ) {
            (Some(value), _) => value,
            (None, Expr::Number(bits)) => f64::from_bits(bits),
            (None, other) => panic!("{other:?} is read before it is computed"),
        }
    }

    fn index(&self, index: IndexId) -> i64 {
        let index = &self.kernel.expressions.indices[index];
        let terms = index.terms.iter().map(|&(atom, factor)| {
            factor
                * match atom {
                    Atom::Variable(variable) => {
                        let known = self.variables[variable.index()];
                        i64::try_from(known.unwrap()).unwrap()
                    }
                    Atom::Quotient(inner, divisor) => self
                        .index(inner)
                        .div_euclid(i64::try_from(divisor).unwrap()),
                    Atom::Remainder(inner, divisor) => self
                        .index(inner)
                        .rem_euclid(i64::try_from(divisor).unwrap()),
                    #[allow(clippy::cast_possible_truncation, reason = "it is whole")]
                    Atom::Value(value, _) => self.value(value) as i64,
                }
        });
        index.constant + terms.sum::<i64>()
    }

    fn computed(&self, expr: ExprId) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self.kernel.expressions.exprs[expr] {
            Expr::Number(bits) => f64::from_bits(bits),
            Expr::Read {
                tensor,
                place,
                only_if,
            } => match only_if {
                Some(only_if) if self.value(only_if) == 0.0 => f64::NAN,
                _ => self.memory.of(tensor)[usize::try_from(self.index(place)).unwrap()],
            },
            Expr::Shared(shared, place) => self.shared[&(shared, self.index(place))],
            Expr::Place(place) => self.index(place) as f64,
            Expr::Below(a, b) => truth(self.index(a) < self.index(b)),
            Expr::Uniform(key, place) => uniform(key, u32::try_from(self.index(place)).unwrap()),
            Expr::Unary(function, a) => unary(function, self.value(a)),
            Expr::Binary(function, a, b) => binary(function, self.value(a), self.value(b)),
            Expr::Select(condition, a, b) => {
                self.value(if self.value(condition) == 0.0 { b } else { a })
            }
            Expr::Fold(..) => panic!("a fold is a statement of its own"),
        }
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

fn unary(function: Unary, a: f64) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    match function {
        Unary::Negate => -a,
        Unary::Abs => a.abs(),
        Unary::Exp => a.exp(),
        Unary::Exp2 => a.exp2(),
        Unary::Expm1 => a.exp_m1(),
        Unary::Log => a.ln(),
        Unary::Log2 => a.log2(),
        Unary::Log1p => a.ln_1p(),
        Unary::Sqrt => a.sqrt(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Tanh => a.tanh(),
        Unary::Erf => libm::erf(a),
        Unary::Floor => a.floor(),
        Unary::Ceil => a.ceil(),
        Unary::Trunc => a.trunc(),
        Unary::Round => a.round_ties_even(),
        Unary::IsNan => truth(a.is_nan()),
        Unary::IsInfinite => truth(a.is_infinite()),
        Unary::Not => truth(a == 0.0),
    }
}

#[allow(clippy::float_cmp, reason = "`Equal` compares exactly")]
fn binary(function: Binary, a: f64, b: f64) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    match function {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.powf(b),
        Binary::Remainder => a % b,
        Binary::Maximum => larger(a, b),
        Binary::Minimum => -larger(-a, -b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Equal => truth(a == b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
    }
}
