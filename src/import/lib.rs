//! What comes from elsewhere: models as programs, and measurements beside what is predicted.
//!
//! [`onnx`] and [`pt2`] read models. The private modules are what both share: names, sizes over
//! params, shapes, lines of notation and their statements, and the program that is put together
//! from them. [`profile`] reads measurements, [`matching`] finds the predicted kernel of each that
//! ran, and [`calibrate`] makes records of fused patterns.

mod assemble;
pub mod calibrate;
pub(crate) mod constant;
pub mod matching;
pub mod onnx;
mod opaque;
pub(crate) mod params;
mod problem;
pub mod profile;
pub mod pt2;
pub(crate) mod shapes;
pub(crate) mod size;
pub(crate) mod statement;
pub mod surprises;
pub(crate) mod template;
pub mod workload;
pub(crate) mod writer;

pub use problem::Problem;

use fuseline_core::model::program::Program;
use indexmap::IndexMap;

/// A program from a file, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub program: Program,
    /// Operators that are not understood, in the order of their first op, and the number of their
    /// ops.
    pub opaque: IndexMap<String, usize>,
    /// Ops of unknown shape.
    pub shapeless: usize,
    /// What else there is to say, a sentence each.
    pub notes: Vec<String>,
}
