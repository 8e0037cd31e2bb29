//! How far a visitor has come, as the browser keeps it.

use super::library::PUZZLES;
use super::rank::Rank;
use super::standing::Graded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The best that was reached in each puzzle, by its id, and where the visitor stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PuzzleProgress {
    /// By how many percent the best kernels were above par; 0 at par.
    above_pct: BTreeMap<String, f64>,
    /// The highest rank.
    rank: BTreeMap<String, Rank>,
    /// The fewest moves to par.
    moves: BTreeMap<String, usize>,
    /// Kernels that the visitor has made and not taken back, as links carry them.
    kernels: BTreeMap<String, String>,
    /// The document that was open before the puzzle.
    pub before: Option<String>,
}

impl PuzzleProgress {
    /// Reads the stored progress; empty where it cannot be read.
    pub fn read(stored: &str) -> Self {
        serde_json::from_str(stored).unwrap_or_default()
    }

    pub fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The kernels that the visitor has made in this puzzle.
    pub fn kernels(&self, id: &str) -> Option<&str> {
        self.kernels.get(id).map(String::as_str)
    }

    /// Keeps kernels that the visitor has made in this puzzle; `None` forgets them.
    pub fn keep_kernels(&mut self, id: &str, kernels: Option<String>) {
        match kernels {
            Some(kernels) => self.kernels.insert(id.to_owned(), kernels),
            None => self.kernels.remove(id),
        };
    }

    /// By how many percent the best kernels of this puzzle were above par; `None` if nobody has
    /// tried it.
    pub fn above_pct(&self, id: &str) -> Option<f64> {
        self.above_pct.get(id).copied()
    }

    /// The highest rank that was reached.
    pub fn rank(&self, id: &str) -> Option<Rank> {
        // Stored before there were ranks.
        let solved = self.is_solved(id).then_some(Rank::Optimum);
        solved.or_else(|| self.rank.get(id).copied())
    }

    /// The fewest moves with which par was reached.
    pub fn fewest_moves(&self, id: &str) -> Option<usize> {
        self.moves.get(id).copied()
    }

    /// Whether par was reached.
    pub fn is_solved(&self, id: &str) -> bool {
        self.above_pct(id) == Some(0.0)
    }

    /// The number of puzzles of the page at par.
    pub fn solved(&self) -> usize {
        let solved = PUZZLES.iter().filter(|puzzle| self.is_solved(puzzle.id));
        solved.count()
    }

    /// Whether kernels that somebody reached with so many moves are better than all before.
    pub fn is_best(&self, id: &str, graded: &Graded, moves: usize) -> bool {
        match self.above_pct(id) {
            None => true,
            Some(best) if graded.is_solved() && best == 0.0 => {
                self.fewest_moves(id).is_none_or(|fewest| moves < fewest)
            }
            Some(best) => graded.above_pct < best,
        }
    }

    /// Notes kernels that somebody reached with so many moves; keeps the best.
    pub fn note(&mut self, id: &str, graded: &Graded, moves: usize) {
        let above_pct = graded.above_pct;
        let best = self.above_pct.entry(id.to_owned()).or_insert(above_pct);
        *best = best.min(above_pct);
        if let Some(rank) = graded.rank {
            let best = self.rank.entry(id.to_owned()).or_insert(rank);
            *best = rank.max(*best);
        }
        if graded.is_solved() {
            let fewest = self.moves.entry(id.to_owned()).or_insert(moves);
            *fewest = moves.min(*fewest);
        }
    }
}
