//! Wrong numbers that are expected, each with the nudge that leads away from it.

use super::condition::ConditionOperand;
use super::entries::{Item, Problem};
use super::error::ValueError;
use super::state::AnalyzedProgram;
use super::value::{FigureValue, Unit};
use std::fmt;

/// A common wrong answer to a number that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    pub line: usize,
    /// The wrong number.
    number: Mistaken,
    /// The nudge away from it, with quoted parts as code.
    pub nudge: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Mistaken {
    /// This many times the right number.
    Times(f64),
    /// A number, or another quantity.
    Is(ConditionOperand),
}

/// An answer is that mistake if it differs by no more than this part.
const NEAR: f64 = 0.03;

impl Mistake {
    /// Reads a line `- half :: nudge`, `- 3 :: nudge` or `- unfused bytes :: nudge` of a question
    /// for a number of this unit.
    pub(super) fn read(item: Item, unit: Unit, problems: &mut Vec<Problem>) -> Option<Self> {
        let number = match item.label.as_str() {
            "half" => Mistaken::Times(0.5),
            "twice" => Mistaken::Times(2.0),
            label => match ConditionOperand::parse(label, Some(unit)) {
                Ok(operand) => Mistaken::Is(operand),
                Err(mend) => {
                    problems.push(Problem::new(
                        item.line,
                        format!("`{label}` is not a wrong answer"),
                        format!("write `half`, `twice`, a number or a quantity: {mend}"),
                    ));
                    return None;
                }
            },
        };
        Some(Self {
            line: item.line,
            number,
            nudge: item.condition,
        })
    }

    /// The wrong number where `right` is the right one.
    ///
    /// # Errors
    /// Why it has no value here.
    pub(super) fn value(&self, right: f64, analyzed: &AnalyzedProgram) -> Result<f64, ValueError> {
        match &self.number {
            Mistaken::Times(factor) => Ok(factor * right),
            Mistaken::Is(operand) => match operand.value(analyzed)? {
                FigureValue::Number(number, _) => Ok(number),
                FigureValue::Word(word) => Err(ValueError::NoNumber(word)),
            },
        }
    }

    /// Whether an answer is this mistake.
    pub(super) fn is_made_by(&self, given: f64, right: f64, analyzed: &AnalyzedProgram) -> bool {
        self.value(right, analyzed)
            .is_ok_and(|wrong| (given - wrong).abs() <= NEAR * wrong.abs())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.number {
            Mistaken::Times(factor) => write!(f, "{factor} times the answer"),
            Mistaken::Is(operand) => operand.fmt(f),
        }
    }
}
