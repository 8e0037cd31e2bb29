//! How far a visitor has come, as the browser keeps it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The best that was reached in each puzzle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// For each id by how many percent the best kernels were above par; 0 at par.
    above_pct: BTreeMap<String, f64>,
}

impl Progress {
    /// What was stored; nothing where that cannot be read.
    pub fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    /// As it is stored.
    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// By how many percent the best kernels of this puzzle were above par; `None` if nobody has tried it.
    pub fn above_pct(&self, id: &str) -> Option<f64> {
        self.above_pct.get(id).copied()
    }

    /// Whether par was reached.
    pub fn is_solved(&self, id: &str) -> bool {
        self.above_pct(id) == Some(0.0)
    }

    /// The number of puzzles at par.
    pub fn solved(&self) -> usize {
        self.above_pct
            .values()
            .filter(|&&above| above == 0.0)
            .count()
    }

    /// Kernels that are this much above par; keeps the best.
    pub fn note(&mut self, id: &str, above_pct: f64) {
        let best = self.above_pct.entry(id.to_owned()).or_insert(above_pct);
        *best = best.min(above_pct);
    }
}
