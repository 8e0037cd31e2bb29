//! Program to ops: params into sizes, shapes and element types inferred, every name looked up.

use super::diagnostic::Diagnostic;
use super::op::{Op, TensorDecl};
use super::program::Program;

/// The contract's data model of a program, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The ops whose shapes are known, in text order.
    pub ops: Vec<Op>,
    /// For each of them its statement in [`Program::ops`].
    pub statement_of_op: Vec<usize>,
    /// Declared external tensors whose sizes are known.
    pub externals: Vec<TensorDecl>,
    /// What is wrong or assumed, in text order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves a program. Total: an op that cannot be resolved is left out with one diagnostic, and ops that
/// hang on it are left out without another.
pub fn resolve(program: &Program) -> Resolved {
    let _ = program;
    Resolved::default()
}
