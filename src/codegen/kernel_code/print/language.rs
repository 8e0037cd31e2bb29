//! The syntax in which the languages of kernels differ.

use crate::calculator::{Binary, Unary};
use fuseline_core::model::dtype::DType;

/// Writes the expressions whose syntax differs between languages.
pub(super) trait Language {
    fn number(&self, value: f64) -> String;
    /// A function of one number that is not written with an operator.
    fn unary(&self, function: Unary, a: &str) -> String;
    /// A function of two numbers that is not written with an operator.
    fn binary(&self, function: Binary, a: &str, b: &str) -> String;
    /// `then` where the condition holds, else `otherwise`.
    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String;
    /// A whole number or a truth value as a number.
    fn to_number(&self, text: &str, is_truth: bool) -> String;
    /// A number as a whole one.
    fn to_index(&self, text: &str) -> String;
    /// An index divided by a number and rounded down, or the remainder of that division.
    fn divided(&self, a: &str, divisor: u64, wants_rest: bool) -> String {
        format!("{a} {} {divisor}", if wants_rest { '%' } else { '/' })
    }
    /// Words for *and*, *or* and *not*.
    fn logic(&self) -> [&'static str; 3];
    /// Whether these operators bind tighter than comparisons.
    fn has_tight_logic(&self) -> bool {
        false
    }
    /// An element of a tensor that is read; any value where a condition does not hold.
    fn read(&self, tensor: &str, dtype: DType, place: &str, only_if: Option<&str>) -> String;
    /// An element of a row in shared memory.
    fn shared(&self, name: &str, place: &str) -> String;
    /// The pseudorandom number of a position under a key.
    fn uniform(&self, key: u32, place: &str) -> String;
}
