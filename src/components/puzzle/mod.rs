//! Puzzles: their list, and the open one with its par, hints and the way to the optimum.

pub mod list;
pub mod pane;
pub mod walk;
