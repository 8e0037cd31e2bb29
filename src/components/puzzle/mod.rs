//! Puzzles: their list, the open one with its par, hints and the way to the optimum, and how one is
//! made of a program.

pub mod list;
pub mod make;
pub mod pane;
pub mod standing;
pub mod walk;
