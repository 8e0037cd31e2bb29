//! What every script does with its program.

/// The script, with names in capitals where the program stands.
pub(super) const BENCH: &str = include_str!("bench.py");
