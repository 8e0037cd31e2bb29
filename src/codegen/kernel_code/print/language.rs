//! What a language of kernels writes in its own way.

use crate::calculator::{Binary, Unary};
use fuseline_core::model::dtype::DType;

/// How a language writes what languages write differently.
pub(super) trait Language {
    fn number(&self, value: f64) -> String;
    /// A function of one number that is not written with an operator.
    fn unary(&self, function: Unary, a: &str) -> String;
    /// A function of two that is not written with an operator.
    fn binary(&self, function: Binary, a: &str, b: &str) -> String;
    /// One of two values.
    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String;
    /// A whole number or a truth value as a number.
    fn to_number(&self, text: &str, is_truth: bool) -> String;
    /// A number as a whole one.
    fn to_index(&self, text: &str) -> String;
    /// A quotient of two indices, rounded down, and what remains.
    fn divided(&self, a: &str, divisor: u64, wants_rest: bool) -> String {
        format!("{a} {} {divisor}", if wants_rest { '%' } else { '/' })
    }
    /// Words for *and*, *or* and *not*.
    fn logic(&self) -> [&'static str; 3];
    /// These words hold tighter than comparisons.
    fn has_tight_logic(&self) -> bool {
        false
    }
    /// An element of a tensor that is read; any value where a condition does not hold.
    fn read(&self, tensor: &str, dtype: DType, place: &str, only_if: Option<&str>) -> String;
    /// An element of what the threads of a row share.
    fn shared(&self, name: &str, place: &str) -> String;
    /// A random number.
    fn uniform(&self, key: u32, place: &str) -> String;
}
