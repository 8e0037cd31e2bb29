//! Pictures as data: pure functions from an analysis to marks and positions.

pub mod charts;
pub mod code;
pub mod dag;
pub mod export;
mod path_data;
