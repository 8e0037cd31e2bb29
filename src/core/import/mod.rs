//! What the readers of models have in common: names, sizes over params, shapes, lines of notation and their statements, and the
//! program that is put together from them.

mod assemble;
pub(crate) mod params;
mod problem;
pub(crate) mod shapes;
pub(crate) mod size;
pub(crate) mod statement;
pub(crate) mod template;
pub(crate) mod value;
pub(crate) mod writer;

pub use problem::Problem;

use crate::core::model::program::Program;
use indexmap::IndexMap;

/// A program from a file, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// Operators that are not understood, in the order of their first op, and the number of their ops.
    pub opaque: IndexMap<String, usize>,
    /// Ops whose shape cannot be told.
    pub shapeless: usize,
    /// What else there is to say, a sentence each.
    pub notes: Vec<String>,
}
