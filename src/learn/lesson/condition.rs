//! Conditions on a page's state: `bytes < 1.2 GB`, `share of tensor scores > 50 %`,
//! `one kernel: softmax, scale`.

use super::arithmetic::number_in;
use super::error::{ReadError, ValueError};
use super::named_figure::{NamedFigure, NamedSubject, op_named};
use super::state::AnalyzedProgram;
use super::value::{FigureValue, Unit, is_number};
use fuseline_view::present::quantity::Quantity;
use std::fmt;

/// Something that a state of the page fulfils or not.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A quantity compares with another, or with a value.
    Compare {
        left: NamedFigure,
        relation: Relation,
        right: ConditionOperand,
    },
    /// The ops of these names run in one kernel.
    OneKernel(Vec<String>),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    Different,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionOperand {
    /// A number or a word.
    Value(FigureValue),
    /// Another quantity, times a factor.
    Figure {
        /// The factor: `50 % of bytes` is a half.
        factor: f64,
        /// The other quantity.
        figure: NamedFigure,
    },
}

const RELATIONS: [(&str, Relation); 6] = [
    ("<", Relation::Less),
    ("<=", Relation::AtMost),
    ("=", Relation::Equal),
    ("!=", Relation::Different),
    (">=", Relation::AtLeast),
    (">", Relation::More),
];

/// Numbers that differ by less, relative to the right one, are equal: both come out of the same
/// arithmetic.
const EQUAL: f64 = 1e-9;

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, ReadError> {
        if let Some(names) = text.trim().strip_prefix("one kernel:") {
            let names: Vec<String> = names
                .split(',')
                .map(|name| name.trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect();
            return if names.len() < 2 {
                Err(ReadError::OneOp)
            } else {
                Ok(Self::OneKernel(names))
            };
        }
        let (at, len, relation) = relation_in(text).ok_or(ReadError::NoRelation)?;
        let left = NamedFigure::parse(&text[..at])?;
        let right = ConditionOperand::parse(text[at + len..].trim(), left.unit())?;
        Ok(Self::Compare {
            left,
            relation,
            right,
        })
    }

    /// This condition with `subject` wherever it names none.
    #[must_use]
    pub fn about(&self, subject: &NamedSubject) -> Self {
        let mut about = self.clone();
        if let Self::Compare { left, right, .. } = &mut about {
            if left.subject == NamedSubject::Program {
                left.subject = subject.clone();
            }
            if let ConditionOperand::Figure { figure, factor } = right
                && figure.subject == NamedSubject::Program
                && (*factor - 1.0).abs() < EQUAL
            {
                figure.subject = subject.clone();
            }
        }
        about
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// A name that the program does not have, or a number that it does not have.
    pub fn holds(&self, analyzed: &AnalyzedProgram) -> Result<bool, ValueError> {
        match self {
            Self::OneKernel(names) => {
                let mut kernels = Vec::with_capacity(names.len());
                for name in names {
                    let op = op_named(&analyzed.analysis, name)?;
                    kernels.push(analyzed.analysis.partition.kernel_of.get(op).copied());
                }
                Ok(kernels.windows(2).all(|two| two[0] == two[1]))
            }
            Self::Compare {
                left,
                relation,
                right,
            } => relation.holds(&left.value(analyzed)?, &right.value(analyzed)?),
        }
    }

    /// Whether it names a choice of the visitor: a policy, or the value of a param.
    pub(super) fn is_choice(&self) -> bool {
        matches!(self, Self::Compare { left, .. } if matches!(left.quantity, Quantity::Policy | Quantity::Param))
    }

    /// Both sides with their values: `bytes 1.31 GB, 1.20 GB`.
    ///
    /// # Errors
    /// As [`Self::holds`].
    pub fn values(
        &self,
        analyzed: &AnalyzedProgram,
    ) -> Result<Option<[FigureValue; 2]>, ValueError> {
        match self {
            Self::OneKernel(_) => Ok(None),
            Self::Compare { left, right, .. } => {
                Ok(Some([left.value(analyzed)?, right.value(analyzed)?]))
            }
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneKernel(names) => write!(f, "one kernel: {}", names.join(", ")),
            Self::Compare {
                left,
                relation,
                right,
            } => write!(f, "{left} {} {right}", relation.sign()),
        }
    }
}

impl fmt::Display for ConditionOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(&value.text()),
            Self::Figure { figure, .. } if self.is_whole() => write!(f, "{figure}"),
            Self::Figure { factor, figure } => write!(
                f,
                "{} of {figure}",
                FigureValue::Number(100.0 * factor, Unit::Percent).text()
            ),
        }
    }
}

/// Where a relation stands between blanks, its length, and which it is.
fn relation_in(text: &str) -> Option<(usize, usize, Relation)> {
    let found = RELATIONS.iter().filter_map(|&(sign, relation)| {
        let at = text.find(&format!(" {sign} "))?;
        Some((at + 1, sign.len(), relation))
    });
    found.min_by_key(|&(at, ..)| at)
}

impl ConditionOperand {
    /// Whether it is a quantity itself and no part of one.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Figure { factor, .. } if (factor - 1.0).abs() < EQUAL)
    }

    pub(super) fn parse(text: &str, unit: Option<Unit>) -> Result<Self, ReadError> {
        let Some(unit) = unit else {
            return Self::word(text);
        };
        if let Some((percent, quantity)) = text.split_once("% of ") {
            return Ok(Self::Figure {
                factor: number_in(percent, Unit::Percent)? / 100.0,
                figure: NamedFigure::parse(quantity)?,
            });
        }
        if is_number(text) {
            return Ok(Self::Value(FigureValue::Number(
                number_in(text, unit)?,
                unit,
            )));
        }
        Ok(Self::Figure {
            factor: 1.0,
            figure: NamedFigure::parse(text)?,
        })
    }

    fn word(text: &str) -> Result<Self, ReadError> {
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(ReadError::NoWord(text.to_owned()));
        }
        Ok(Self::Value(FigureValue::Word(text.to_owned())))
    }

    pub(super) fn value(&self, analyzed: &AnalyzedProgram) -> Result<FigureValue, ValueError> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Figure { factor, figure } => match figure.value(analyzed)? {
                FigureValue::Number(number, unit) => Ok(FigureValue::Number(number * factor, unit)),
                FigureValue::Word(word) => Ok(FigureValue::Word(word)),
            },
        }
    }
}

impl Relation {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::Different => "!=",
            Self::AtLeast => ">=",
            Self::More => ">",
        }
    }

    fn holds(self, left: &FigureValue, right: &FigureValue) -> Result<bool, ValueError> {
        match (left, right) {
            (FigureValue::Word(left), FigureValue::Word(right)) => match self {
                Self::Equal => Ok(left == right),
                Self::Different => Ok(left != right),
                _ => Err(ValueError::NoOrder(left.clone())),
            },
            (&FigureValue::Number(left, of_left), &FigureValue::Number(right, of_right)) => {
                if of_left != of_right {
                    return Err(ValueError::Units(of_left, of_right));
                }
                let is_equal = (left - right).abs() <= EQUAL * right.abs();
                Ok(match self {
                    Self::Less => left < right && !is_equal,
                    Self::AtMost => left < right || is_equal,
                    Self::Equal => is_equal,
                    Self::Different => !is_equal,
                    Self::AtLeast => left > right || is_equal,
                    Self::More => left > right && !is_equal,
                })
            }
            _ => Err(ValueError::WordAndNumber),
        }
    }
}
