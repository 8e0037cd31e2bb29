//! Imports models as programs, and measurements to compare with predictions.
//!
//! [`onnx`] and [`pt2`] read models. The private modules hold what both share: names, sizes over
//! params, shapes, lines of notation and their statements, and the assembly of the program.
//! [`profile`] reads measurements, [`matching`] finds the predicted kernel of each measured kernel,
//! and [`calibrate`] makes records of fused patterns.

mod assemble;
pub mod calibrate;
pub(crate) mod constant;
mod einsum;
pub mod matching;
pub mod onnx;
mod opaque;
pub(crate) mod params;
mod problem;
pub mod profile;
pub mod pt2;
mod rows;
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

/// A program from a file, and notes on its import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub program: Program,
    /// The line of source that each op comes from, empty where the file does not say it; none for
    /// a file without source lines.
    pub sources: Vec<String>,
    /// Number of ops of each operator that the notation lacks, in the order of their first op.
    pub opaque: IndexMap<String, usize>,
    /// Ops of unknown shape.
    pub shapeless: usize,
    /// Loops that count one iteration. An op of unknown shape stands for the other iterations.
    pub loops: usize,
    /// Other remarks on the import, one sentence each.
    pub notes: Vec<String>,
}
