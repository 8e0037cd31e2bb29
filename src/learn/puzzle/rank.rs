//! How good kernels of a puzzle are, in three ranks.

use super::standing::{Posed, amount_text};
use fuseline_core::fusion::certificate::{Amount, ROUNDING};
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// How good legal kernels are; a later one is better.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, VariantArray, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// They cost less than a kernel for each op.
    Legal,
    /// They cost less than the predicted kernels of torch.compile.
    Compiler,
    /// They cost no more than par.
    Optimum,
}

/// A rank of a puzzle as its bar shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankRow {
    pub rank: Rank,
    pub name: &'static str,
    /// The cost of kernels of this rank: `below 155 MB`.
    pub costs: String,
}

impl Posed {
    /// The ranks of this puzzle, the lowest first. Where torch.compile reaches par, nothing is
    /// between it and the optimum.
    pub fn ranks(&self) -> Vec<RankRow> {
        let language = self.puzzle.language();
        let compiler_is_best = self.reaches_par(self.compiled);
        let row = |&rank: &Rank| {
            let below = |amount: Amount| language.below(&amount_text(amount));
            let (name, costs) = match rank {
                Rank::Legal => (language.legal(), below(self.start)),
                Rank::Compiler => (language.better_than_compiler(), below(self.compiled)),
                Rank::Optimum if compiler_is_best => {
                    (language.proven_optimum_of_compiler(), amount_text(self.par))
                }
                Rank::Optimum => (language.proven_optimum(), amount_text(self.par)),
            };
            RankRow { rank, name, costs }
        };
        let mut ranks: Vec<RankRow> = Rank::VARIANTS.iter().map(row).collect();
        ranks.retain(|row| row.rank != Rank::Compiler || !compiler_is_best);
        ranks
    }

    /// The puzzle in a line for teachers:
    /// `Par is 122 MB, proven by the search. The start is 407 MB, torch.compile 155 MB.`
    pub fn summary(&self) -> String {
        let [par, start, compiled] = [self.par, self.start, self.compiled].map(amount_text);
        format!(
            "Par is {par}, proven by the search. The start is {start}, torch.compile {compiled}."
        )
    }

    /// The highest rank that kernels of this cost reach.
    pub(super) fn rank_of(&self, cost: Amount) -> Option<Rank> {
        // Times are sums of floats: a smaller difference is rounding.
        let is_below = |limit: Amount| cost.value() < limit.value() * (1.0 - ROUNDING);
        if self.reaches_par(cost) {
            Some(Rank::Optimum)
        } else if is_below(self.compiled) {
            Some(Rank::Compiler)
        } else {
            is_below(self.start).then_some(Rank::Legal)
        }
    }
}
