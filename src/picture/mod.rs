//! Pictures as data: pure functions from an analysis to marks and positions.
