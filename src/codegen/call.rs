//! The attributes and literals of an op's statement, as numbers.

use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::{AttributeDefault, AttributeName, Function};
use fuseline_core::model::ids::{IdVec, OpId};
use fuseline_core::model::op::Op;
use fuseline_core::model::program::{Attribute, AttributeValue, BinaryOp, Expr, ExprKind, Program};
use fuseline_core::resolve::{attributes_in_numbers, dimension_of, values_by_name};
use std::collections::HashMap;

/// The attributes and literals of one op.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The function that determines the defaults of the attributes.
    function: Option<Function>,
    /// The stated attributes, with their size expressions evaluated.
    attributes: Vec<Attribute>,
    /// The attributes whose value is a number, integer or not.
    numbers: Vec<(AttributeName, f64)>,
    /// Numbers among the inputs, each with its position, in ascending order of position.
    pub literals: Vec<(usize, f64)>,
}

/// The attributes and literals of each op, from its statement in `program`. `O(program + ops)`.
pub fn calls(program: &Program, statement_of_op: &IdVec<OpId, usize>) -> IdVec<OpId, Call> {
    let params = values_by_name(program);
    let attributes = attributes_in_numbers(program, statement_of_op.iter().copied());
    let calls = statement_of_op.iter().zip(attributes);
    calls
        .map(|(&statement, attributes)| {
            let Some(statement) = program.ops.get(statement) else {
                return Call::default();
            };
            let numbers = (statement.attributes.iter()).filter_map(|attribute| {
                let value = number_of(&attribute.value, &params)?;
                Some((AttributeName::from_name(&attribute.name.text)?, value))
            });
            let literals = statement.literals.iter();
            Call {
                function: statement.function(),
                numbers: numbers.collect(),
                literals: literals
                    .map(|literal| (literal.place, literal.text.parse().unwrap_or(f64::NAN)))
                    .collect(),
                attributes,
            }
        })
        .collect()
}

impl Call {
    /// The call of an op whose attributes all have their defaults.
    pub(crate) fn without_attributes(op: &Op) -> Self {
        Self {
            function: op.function,
            ..Self::default()
        }
    }

    fn value(&self, name: AttributeName) -> Option<&AttributeValue> {
        let mut attributes = self.attributes.iter();
        let found = attributes.find(|attribute| attribute.is(name));
        Some(&found?.value)
    }

    fn default_of(&self, name: AttributeName) -> Option<AttributeDefault> {
        name.default(self.function)
    }

    /// Whether the call states an attribute.
    pub fn has(&self, name: AttributeName) -> bool {
        self.value(name).is_some()
    }

    /// The integer value of an attribute, stated or by default.
    pub fn size(&self, name: AttributeName) -> Option<i64> {
        match (self.value(name), self.default_of(name)) {
            (Some(AttributeValue::Size(size)), _) => int_of(size),
            (None, Some(AttributeDefault::Size(size))) => Some(size),
            _ => None,
        }
    }

    /// The value of a size that the op requires.
    ///
    /// # Errors
    /// If the attribute is missing and has no default.
    pub fn required_size(&self, name: AttributeName) -> Result<i64, EvaluationError> {
        self.size(name).ok_or(EvaluationError::NoNumber(name))
    }

    /// The whole numbers of an attribute that takes one or a list, stated or by default.
    pub fn sizes(&self, name: AttributeName) -> Option<Vec<i64>> {
        match self.value(name) {
            Some(AttributeValue::Sizes(sizes)) => sizes.iter().map(int_of).collect(),
            _ => self.size(name).map(|size| vec![size]),
        }
    }

    /// The dimension that `axis` names in a tensor of this rank, stated or by default.
    pub(crate) fn axis(&self, rank: usize) -> Option<usize> {
        dimension_of(self.size(AttributeName::Axis)?, rank)
    }

    /// The same where `axis` may be a list.
    pub(crate) fn axes(&self, rank: usize) -> Option<Vec<usize>> {
        let axes = self.sizes(AttributeName::Axis)?.into_iter();
        axes.map(|axis| dimension_of(axis, rank)).collect()
    }

    /// Height and width, stated or by default.
    pub fn pair(&self, name: AttributeName) -> Option<[usize; 2]> {
        let pair = match self.sizes(name)?[..] {
            [both] => [both; 2],
            [height, width] => [height, width],
            _ => return None,
        };
        Some([
            usize::try_from(pair[0]).ok()?,
            usize::try_from(pair[1]).ok()?,
        ])
    }

    /// Whether an attribute is `true`.
    pub fn is_set(&self, name: AttributeName) -> bool {
        matches!(self.value(name), Some(AttributeValue::Word(word)) if word == "true")
    }

    /// The numeric value of an attribute, stated or by default.
    pub fn number(&self, name: AttributeName) -> Option<f64> {
        let mut numbers = self.numbers.iter();
        let stated = numbers.find(|number| number.0 == name);
        match (stated, self.default_of(name)) {
            (Some(&(_, number)), _) | (None, Some(AttributeDefault::Number(number))) => {
                Some(number)
            }
            _ => None,
        }
    }

    /// The value of a number that the op requires.
    ///
    /// # Errors
    /// If the attribute is missing and has no default.
    pub fn required(&self, name: AttributeName) -> Result<f64, EvaluationError> {
        self.number(name).ok_or(EvaluationError::NoNumber(name))
    }
}

fn int_of(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    }
}

fn number_of(value: &AttributeValue, params: &HashMap<&str, i64>) -> Option<f64> {
    match value {
        AttributeValue::Number(text) => text.parse().ok(),
        AttributeValue::Size(expr) => real(expr, params),
        AttributeValue::Word(word) => params.get(&**word).map(|&value| value as f64),
        AttributeValue::Sizes(_) => None,
    }
}

/// The value of an expression as a real number: `1/8` is a number, though not a size. The recursion
/// is safe because the parser bounds the nesting depth.
fn real(expr: &Expr, params: &HashMap<&str, i64>) -> Option<f64> {
    Some(match &expr.kind {
        ExprKind::Int(value) => *value as f64,
        ExprKind::Param(name) => *params.get(&**name)? as f64,
        ExprKind::Negate(operand) => -real(operand, params)?,
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (real(left, params)?, real(right, params)?);
            match operator {
                BinaryOp::Add => left + right,
                BinaryOp::Sub => left - right,
                BinaryOp::Mul => left * right,
                BinaryOp::Div => left / right,
            }
        }
    })
}
