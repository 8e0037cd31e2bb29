//! What a visitor chooses about fusion beside the policy.

use super::Policy;
use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The choices that the policies look at; a policy ignores what does not concern it.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a flag of the command line"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusionOptions {
    /// What the cheapest partition is cheapest in.
    pub objective: Objective,
    /// Ops that only read a common tensor may share a kernel.
    pub horizontal: bool,
    /// Elementwise and reshape ops may run in the kernel of a matmul that reads them.
    pub prologue: bool,
    /// Ops may follow a reduction in its kernel while the row that they need again fits on chip.
    pub after_reductions: bool,
    /// The compiler generates its matmuls and fuses what follows into them.
    pub max_autotune: bool,
    /// Attention runs as one kernel, which never writes the scores; see [`crate::core::attention`].
    pub attention: bool,
    /// Most ops in one kernel; above [`MAX_OPS`] it counts as that.
    pub max_ops: usize,
    /// Most states that an exact search looks at, over the whole program.
    pub budget_states: usize,
}

/// A kernel of the legality holds at most so many ops: sets of ops are the bits of a word.
pub const MAX_OPS: usize = 64;

/// The budget of a search on the page: sixty ops that are made to be hard take some 50 ms there. Half of it proves
/// every example. The command line looks at ten times as many.
pub const PAGE_BUDGET_STATES: usize = 20_000;

impl Default for FusionOptions {
    fn default() -> Self {
        Self {
            objective: Objective::Bytes,
            horizontal: false,
            prologue: false,
            after_reductions: true,
            max_autotune: false,
            attention: false,
            max_ops: MAX_OPS,
            budget_states: 200_000,
        }
    }
}

/// One of the switches among the options.
pub struct Switch {
    /// Its name in links.
    pub name: &'static str,
    /// What it is called.
    pub words: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
    /// The flag.
    pub part: fn(&mut FusionOptions) -> &mut bool,
    /// The policies that look at it.
    pub concerns: &'static [Policy],
}

/// All switches, in the order in which they are shown.
pub const SWITCHES: [Switch; 5] = [
    Switch {
        name: "horizontal",
        words: "horizontal fusion",
        sentence: "Ops that only read a common tensor may share a kernel.",
        part: |options| &mut options.horizontal,
        concerns: &[Policy::Optimal, Policy::Manual],
    },
    Switch {
        name: "prologue",
        words: "matmul prologue",
        sentence: "Element-wise ops and reshapes may run in the kernel of a matmul that reads them.",
        part: |options| &mut options.prologue,
        concerns: &[Policy::Optimal, Policy::Manual],
    },
    Switch {
        name: "after-reductions",
        words: "after reductions",
        sentence: "Ops may follow a reduction in its kernel while the row that they need again fits on chip.",
        part: |options| &mut options.after_reductions,
        concerns: &[Policy::Optimal, Policy::Manual],
    },
    Switch {
        name: "max-autotune",
        words: "max-autotune",
        sentence: "The compiler generates its matmuls, which take an element-wise epilogue.",
        part: |options| &mut options.max_autotune,
        concerns: &[Policy::Inductor],
    },
    Switch {
        name: "attention",
        words: "attention as one kernel",
        sentence: "Matmul, softmax and matmul in a row run in tiles, and the scores never reach memory.",
        part: |options| &mut options.attention,
        concerns: Policy::VARIANTS,
    },
];

/// What a partition costs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, VariantArray, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Objective {
    /// Bytes through memory; among equals the fewest kernels.
    #[default]
    Bytes,
    /// Predicted time; among equals the fewest kernels.
    Time,
}

impl Objective {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
