//! Expressions as text. A value that is read once, and has no name of its own in the program, is
//! inlined where it is read.

use super::code::Access;
use super::language::Language;
use super::names::{Names, shared_name, uses};
use crate::calculator::{Binary, Fold, Unary};
use crate::kernel_code::expression::{Expr, ExprId};
use crate::kernel_code::index::{Atom, IndexId};
use crate::kernel_code::kernel::{Kernel, Removed, Statement};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, TensorId};

/// A text and the precedence of its outermost operator; a name has the highest.
struct Text {
    text: String,
    level: u8,
}

const SELECT: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARED: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const SIGN: u8 = 6;
const NAME: u8 = 7;

impl Text {
    fn new(text: impl Into<String>, level: u8) -> Self {
        Self {
            text: text.into(),
            level,
        }
    }

    /// The text, in parentheses if its precedence is lower than `level`.
    fn at(self, level: u8) -> String {
        if self.level < level {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

/// An element of a tensor that unfused ops would store and load.
#[derive(Clone)]
pub(super) struct Element {
    /// The name of the tensor.
    pub(super) array: String,
    pub(super) dtype: DType,
    pub(super) place: String,
    /// The name of its value.
    pub(super) value: String,
}

/// Writes the expressions of a kernel.
pub(super) struct Texts<'a, L> {
    pub(super) graph: &'a Graph,
    pub(super) kernel: &'a Kernel,
    pub(super) language: L,
    pub(super) names: Names,
    uses: IdVec<ExprId, usize>,
    /// The removed loads and stores that are not written as lines yet.
    removed: Vec<Removed>,
}

impl<'a, L: Language> Texts<'a, L> {
    pub(super) fn new(graph: &'a Graph, kernel: &'a Kernel, language: L, names: Names) -> Self {
        Self {
            graph,
            kernel,
            language,
            names,
            uses: uses(kernel),
            removed: kernel.removed.clone(),
        }
    }

    pub(super) fn expr(&self, expr: ExprId) -> Expr {
        self.kernel.expressions.exprs[expr]
    }

    pub(super) fn dtype(&self, tensor: TensorId) -> DType {
        let mut arguments = self.kernel.arguments.iter();
        let argument = arguments.find(|argument| argument.tensor == tensor);
        argument.map_or(DType::F32, |argument| argument.dtype)
    }

    /// Whether a value of this list of statements needs no statement of its own.
    pub(super) fn is_inlined(&self, expr: ExprId, body: &[Statement]) -> bool {
        let is_simple = !matches!(self.expr(expr), Expr::Read { .. } | Expr::Fold(..));
        let is_read_here = |statement: &Statement| match statement {
            Statement::Let(reader) => self.kernel.expressions.operands(*reader).contains(&expr),
            Statement::Store { value, only_if, .. } => *value == expr || *only_if == Some(expr),
            Statement::Share { value, .. } => *value == expr,
            _ => false,
        };
        is_simple
            && self.uses[expr] <= 1
            && !self.kernel.expressions.names.contains_key(&expr)
            && body.iter().any(is_read_here)
    }

    /// Takes the removed loads and stores of this value. A value that several loops compute has its
    /// lines in the first of them.
    pub(super) fn take_removed(&mut self, value: ExprId) -> Vec<(Element, Access)> {
        let all = std::mem::take(&mut self.removed).into_iter();
        let (here, later): (Vec<_>, Vec<_>) = all.partition(|removed| removed.value == value);
        self.removed = later;
        let mut accesses = Vec::new();
        for removed in here {
            let element = Element {
                array: self.names.tensor(removed.tensor).to_owned(),
                dtype: removed.dtype,
                place: self.index(removed.place),
                value: self.value(value),
            };
            let store = removed.is_store_removed.then_some(true);
            let loads = removed.readers.iter().map(|_| false);
            accesses.extend(store.into_iter().chain(loads).map(|is_store| {
                let access = Access {
                    tensor: removed.tensor,
                    is_store,
                    is_removed: true,
                };
                (element.clone(), access)
            }));
        }
        accesses
    }

    /// The name for a value that gets a statement.
    pub(super) fn named(&mut self, expr: ExprId) -> String {
        let wanted = match (self.kernel.expressions.names.get(&expr), self.expr(expr)) {
            (Some(&tensor), _) | (None, Expr::Read { tensor, .. }) => {
                let wanted = self.names.wanted(self.graph, self.kernel, tensor);
                wanted.to_owned()
            }
            (None, Expr::Fold(fold, ..)) => match fold {
                Fold::Sum => "total".to_owned(),
                Fold::Product => "product".to_owned(),
                Fold::Maximum => "largest".to_owned(),
                Fold::Minimum => "smallest".to_owned(),
            },
            _ => "value".to_owned(),
        };
        self.names.name(expr, &wanted)
    }

    /// The expression that computes a value, for the statement of the value.
    pub(super) fn definition(&self, expr: ExprId) -> String {
        if is_truth(self.expr(expr)) {
            self.language.to_number(&self.condition(expr).text, true)
        } else {
            self.computed(expr).text
        }
    }

    /// A value as a number.
    pub(super) fn value(&self, expr: ExprId) -> String {
        self.value_text(expr).text
    }

    /// A value as the right operand of the operator that folds it with another one.
    pub(super) fn folded_value(&self, fold: Fold, expr: ExprId) -> String {
        let level = match fold {
            Fold::Sum => PRODUCT,
            Fold::Product => SIGN,
            Fold::Maximum | Fold::Minimum => SELECT,
        };
        self.value_text(expr).at(level)
    }

    fn value_text(&self, expr: ExprId) -> Text {
        match self.names.value(expr) {
            Some(name) => Text::new(name, NAME),
            None if is_truth(self.expr(expr)) => Text::new(
                self.language.to_number(&self.condition(expr).text, true),
                NAME,
            ),
            None => self.computed(expr),
        }
    }

    /// A value as a condition.
    pub(super) fn truth(&self, expr: ExprId) -> String {
        self.truth_text(expr).text
    }

    fn truth_text(&self, expr: ExprId) -> Text {
        if self.names.value(expr).is_none() && is_truth(self.expr(expr)) {
            return self.condition(expr);
        }
        let value = self.value_text(expr).at(COMPARED + 1);
        Text::new(
            format!("{value} != {}", self.language.number(0.0)),
            COMPARED,
        )
    }

    fn condition(&self, expr: ExprId) -> Text {
        let [and, or, not] = self.language.logic();
        let is_tight = self.language.has_tight_logic();
        let compared = |operator: &str, a: String, b: String| {
            Text::new(format!("{a} {operator} {b}"), COMPARED)
        };
        let of = |expr| self.value_text(expr).at(COMPARED + 1);
        match self.expr(expr) {
            Expr::Below(a, b) => compared(
                "<",
                self.index_text(a).at(COMPARED + 1),
                self.index_text(b).at(COMPARED + 1),
            ),
            Expr::Binary(Binary::Less, a, b) => compared("<", of(a), of(b)),
            Expr::Binary(Binary::LessEqual, a, b) => compared("<=", of(a), of(b)),
            Expr::Binary(Binary::Equal, a, b) => compared("==", of(a), of(b)),
            Expr::Binary(Binary::And, a, b) => {
                let level = if is_tight { NAME } else { AND + 1 };
                let [a, b] = [a, b].map(|expr| self.truth_text(expr).at(level));
                Text::new(format!("{a} {and} {b}"), AND)
            }
            Expr::Binary(Binary::Or, a, b) => {
                let level = if is_tight { NAME } else { OR + 2 };
                let [a, b] = [a, b].map(|expr| self.truth_text(expr).at(level));
                Text::new(format!("{a} {or} {b}"), OR)
            }
            Expr::Unary(Unary::Not, a) => Text::new(format!("{not}({})", self.truth(a)), SIGN),
            Expr::Unary(function, a) => {
                Text::new(self.language.unary(function, &self.value(a)), NAME)
            }
            _ => self.truth_text(expr),
        }
    }

    fn computed(&self, expr: ExprId) -> Text {
        let operator = |sign: char, a: ExprId, b: ExprId, level: u8| {
            // A right operand of the same precedence needs parentheses, as in `a - (b - c)`.
            let right = if matches!(sign, '-' | '/') {
                level + 1
            } else {
                level
            };
            let (a, b) = (self.value_text(a).at(level), self.value_text(b).at(right));
            Text::new(format!("{a} {sign} {b}"), level)
        };
        match self.expr(expr) {
            Expr::Number(bits) => Text::new(self.language.number(f64::from_bits(bits)), SIGN),
            Expr::Read {
                tensor,
                place,
                only_if,
            } => {
                let condition = only_if.map(|only_if| self.truth(only_if));
                let place = self.index(place);
                let name = self.names.tensor(tensor);
                let dtype = self.dtype(tensor);
                let read = self
                    .language
                    .read(name, dtype, &place, condition.as_deref());
                Text::new(read, NAME)
            }
            Expr::Shared(shared, place) => {
                let name = shared_name(shared.index());
                Text::new(self.language.shared(&name, &self.index(place)), NAME)
            }
            Expr::Place(place) => {
                Text::new(self.language.to_number(&self.index(place), false), NAME)
            }
            Expr::Uniform(key, place) => {
                Text::new(self.language.uniform(key, &self.index(place)), NAME)
            }
            Expr::Unary(Unary::Negate, a) => {
                Text::new(format!("-{}", self.value_text(a).at(NAME)), SIGN)
            }
            Expr::Unary(function, a) => {
                Text::new(self.language.unary(function, &self.value(a)), NAME)
            }
            Expr::Binary(Binary::Add, a, b) => operator('+', a, b, SUM),
            Expr::Binary(Binary::Subtract, a, b) => operator('-', a, b, SUM),
            Expr::Binary(Binary::Multiply, a, b) => operator('*', a, b, PRODUCT),
            Expr::Binary(Binary::Divide, a, b) => operator('/', a, b, PRODUCT),
            Expr::Binary(function, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                Text::new(self.language.binary(function, &a, &b), NAME)
            }
            Expr::Select(condition, a, b) => {
                let condition = self.truth(condition);
                let [a, b] = [a, b].map(|expr| self.value_text(expr).at(SELECT + 1));
                Text::new(self.language.select(&condition, &a, &b), SELECT)
            }
            Expr::Below(..) => Text::new(
                self.language.to_number(&self.condition(expr).text, true),
                NAME,
            ),
            // A fold always has a statement.
            Expr::Fold(..) => Text::new(String::new(), NAME),
        }
    }

    pub(super) fn index(&self, index: IndexId) -> String {
        self.index_text(index).text
    }

    fn index_text(&self, index: IndexId) -> Text {
        let index = &self.kernel.expressions.indices[index];
        let mut terms = index.terms.clone();
        // The outermost dimension has the largest factor and stands first.
        terms.sort_by_key(|term| std::cmp::Reverse(term.1));
        let mut text = String::new();
        let mut level = if terms.len() + usize::from(index.constant != 0) > 1 {
            SUM
        } else {
            NAME
        };
        for (atom, factor) in terms {
            let own = self.atom_text(atom);
            let size = factor.unsigned_abs();
            let part = if size == 1 {
                own
            } else {
                Text::new(format!("{} * {size}", own.at(PRODUCT)), PRODUCT)
            };
            level = level.min(part.level);
            let part = part.at(PRODUCT);
            match (text.is_empty(), factor < 0) {
                (true, false) => text = part,
                (true, true) => {
                    text = format!("-({part})");
                    level = level.min(SIGN);
                }
                (false, false) => text = format!("{text} + {part}"),
                (false, true) => text = format!("{text} - {part}"),
            }
        }
        match (text.is_empty(), index.constant) {
            (true, constant) => {
                Text::new(constant.to_string(), if constant < 0 { SIGN } else { NAME })
            }
            (false, 0) => Text::new(text, level),
            (false, constant @ 1..) => Text::new(format!("{text} + {constant}"), SUM),
            (false, constant) => Text::new(format!("{text} - {}", constant.unsigned_abs()), SUM),
        }
    }

    fn atom_text(&self, atom: Atom) -> Text {
        match atom {
            Atom::Variable(variable) => {
                Text::new(&*self.kernel.expressions.variables[variable].name, NAME)
            }
            Atom::Quotient(inner, divisor) | Atom::Remainder(inner, divisor) => {
                let wants_rest = matches!(atom, Atom::Remainder(..));
                let inner = self.index_text(inner).at(NAME);
                Text::new(self.language.divided(&inner, divisor, wants_rest), PRODUCT)
            }
            Atom::Value(value, _) => Text::new(self.language.to_index(&self.value(value)), NAME),
        }
    }
}

/// Whether an expression is a truth value by itself.
fn is_truth(expr: Expr) -> bool {
    matches!(
        expr,
        Expr::Below(..)
            | Expr::Unary(Unary::Not | Unary::IsNan | Unary::IsInfinite, _)
            | Expr::Binary(
                Binary::Less | Binary::LessEqual | Binary::Equal | Binary::And | Binary::Or,
                ..
            )
    )
}
