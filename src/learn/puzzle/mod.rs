//! Puzzles: programs to fuse by hand, graded against the optimum that the search has proven.
//!
//! A puzzle is a program in the notation whose first comment says what is asked. [`read()`] reads
//! it, [`Posed`] is the puzzle with its par, a [`Standing`](standing::Standing) grades the kernels
//! of a text, and [`Posed::way`] leads from them to par.

mod file;
pub mod library;
mod make;
mod nudge;
pub mod progress;
pub mod rank;
pub mod source;
pub mod standing;
mod way;

pub use crate::lesson::Problem;
pub use file::{Puzzle, read};
pub use make::{MakeError, make, proposed_goal};
pub use nudge::Region;
pub use standing::{Posed, is_small};
pub use way::PuzzleStep;
