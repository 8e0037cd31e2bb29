//! Lessons, puzzles, worksheets, results and presenting, as data.

pub mod language;
pub mod lesson;
pub mod own;
pub mod presenter;
pub mod puzzle;
pub mod results;
pub mod stage;
pub mod teaching;
pub mod worksheet;
