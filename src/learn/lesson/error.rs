//! Errors in texts of an author or a visitor, and reasons why something has no value.

use super::named_figure::is_nameable;
use super::value::{AnswerUnit as _, Unit};
use crate::language::Language;
use fuseline_view::present::quantity::Quantity;
use strum::VariantArray as _;

/// Why an answer cannot be judged, as a clause.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// The quantity has no value in the state of the step.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The answer is no number.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// No option is chosen.
    #[error("{}", .0.choose_first())]
    NothingChosen(Language),
    /// A number where an option is asked for, or the other way round.
    #[error("{}", .0.other_kind())]
    OtherKind(Language),
    /// An option that the question does not have.
    #[error("the question has no such option")]
    NoSuchOption,
}

/// Why a quantity or a condition has no value in a state of the page, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The program has no op of this name.
    #[error("there is no op `{0}`")]
    NoOp(String),
    /// The program has no tensor of this name.
    #[error("there is no tensor `{0}`")]
    NoTensor(String),
    /// The program has no param of this name.
    #[error("there is no param `{0}`")]
    NoParam(String),
    /// The param of this name has no slider.
    #[error("there is no param `{0}` with a range")]
    NoSlider(String),
    /// A quantity that its subject does not have.
    #[error("`{0}` has no value here")]
    NoValue(String),
    /// A word or a quantity that is one, where a number is needed.
    #[error("`{0}` is not a number")]
    NoNumber(String),
    /// A word that is less or more than another.
    #[error("`{0}` is a word, so it cannot be compared by size")]
    NoOrder(String),
    /// A word beside a number.
    #[error("a word and a number cannot be compared")]
    WordAndNumber,
    /// Numbers of two units.
    #[error("{} and {} cannot be compared", .0.sample(), .1.sample())]
    Units(Unit, Unit),
    /// A value of a param at which the program has errors.
    #[error("the program has no graph at {param} = {value}")]
    NoGraph { param: String, value: i64 },
    /// A condition that does not hold where a slider ends.
    #[error("`{condition}` does not hold at the largest {param}")]
    NeverHolds { condition: String, param: String },
}

/// An error in a quantity or a condition of an author, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// `one kernel:` with fewer than two ops.
    #[error("name two ops or more: `one kernel: matmul1, relu`")]
    OneOp,
    /// A condition that compares nothing.
    #[error(
        "a condition compares with <, <=, =, !=, >= or >, with spaces around it: `bytes < 1.2 GB`"
    )]
    NoRelation,
    /// Something else than a word.
    #[error("write one word instead of `{0}`: memory, compute, chip")]
    NoWord(String),
    /// A word that names no quantity.
    #[error("`{0}` is not a quantity: write one of {known}", known = known_ids())]
    NoQuantity(String),
    /// An unknown subject of a quantity.
    #[error(
        "write `of kernel NAME`, `of op NAME`, `of tensor NAME` or `of param NAME` instead of `{0}`"
    )]
    NoSubject(String),
    /// A number with its unit.
    #[error(transparent)]
    Number(#[from] NumberError),
}

/// An error in a number that somebody writes, and what to write instead, in the language of the
/// lesson.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NumberError {
    /// The text is no number and no calculation.
    #[error("{}", language.write_number(unit.sample()))]
    NoNumber { unit: Unit, language: Language },
    /// A number whose unit is not clear.
    #[error("{}", language.write_unit(unit.sample()))]
    NoUnit { unit: Unit, language: Language },
    /// A unit of something else.
    #[error("{}", language.other_unit(written, unit.sample()))]
    OtherUnit {
        /// The unit that the visitor wrote.
        written: String,
        unit: Unit,
        language: Language,
    },
}

fn known_ids() -> String {
    let known = Quantity::VARIANTS.iter().copied();
    let known = known.filter(|&known| is_nameable(known));
    let ids: Vec<&str> = known.map(Quantity::id).collect();
    ids.join(", ")
}
