//! What a visitor chooses beside the text: who decides what fuses, how bytes are counted, and the device.

use crate::core::model::device::{Device, default_device};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What a visitor chooses beside the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Who decides what fuses.
    pub policy: Policy,
    /// What it may do.
    pub fusion: FusionOptions,
    /// How bytes are counted.
    pub conventions: Conventions,
    /// What the kernels run on.
    pub device: Device,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            fusion: FusionOptions::default(),
            conventions: Conventions::default(),
            device: default_device().clone(),
        }
    }
}

impl Options {
    /// The default choices under this policy.
    pub fn of_policy(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }
}

/// Who decides what fuses.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Policy {
    /// Every op is its own kernel.
    None,
    /// The baseline rules: one forward scan.
    #[default]
    Rules,
    /// What torch.compile would launch.
    Inductor,
    /// The cheapest legal partition.
    Optimal,
    /// The visitor's own kernels.
    Manual,
}

impl Policy {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

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
    /// Attention runs as one kernel, which never writes the scores; see [`crate::core::fusion::attention`].
    pub attention: bool,
    /// Most ops in one kernel; above [`MAX_OPS`] it counts as that.
    pub max_ops: usize,
    /// Most states that an exact search looks at, over the whole program.
    pub budget_states: usize,
}

/// A kernel of the legality holds at most so many ops: sets of ops are the bits of a word.
pub const MAX_OPS: usize = 64;

/// The budget of a search on the page: a worst-case graph of sixty ops takes some 50 ms there. Half of it proves
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Switch {
    /// [`FusionOptions::horizontal`].
    Horizontal,
    /// [`FusionOptions::prologue`].
    Prologue,
    /// [`FusionOptions::after_reductions`].
    AfterReductions,
    /// [`FusionOptions::max_autotune`].
    MaxAutotune,
    /// [`FusionOptions::attention`].
    Attention,
}

impl Switch {
    /// The name in links.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The flag that it sets.
    pub const fn flag(self, options: &mut FusionOptions) -> &mut bool {
        match self {
            Self::Horizontal => &mut options.horizontal,
            Self::Prologue => &mut options.prologue,
            Self::AfterReductions => &mut options.after_reductions,
            Self::MaxAutotune => &mut options.max_autotune,
            Self::Attention => &mut options.attention,
        }
    }

    /// Whether this policy looks at it.
    pub const fn concerns(self, policy: Policy) -> bool {
        match self {
            Self::Horizontal | Self::Prologue | Self::AfterReductions => {
                matches!(policy, Policy::Optimal | Policy::Manual)
            }
            Self::MaxAutotune => matches!(policy, Policy::Inductor),
            Self::Attention => true,
        }
    }
}

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

/// The counting conventions of one analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
pub struct Conventions {
    /// Sizes of external tensors.
    pub externals: Externals,
    /// Price of a lone reshape.
    pub reshape: ReshapeCost,
}

/// How large an external tensor counts.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Externals {
    /// As declared; else as the other shapes of the op force it to be; else as its reader's output.
    #[default]
    Declared,
    /// 0 bytes: only tensors that the program produces count.
    KnownOnly,
    /// As the output of the op that reads it, whatever is declared.
    OutputShape,
}

impl Externals {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a reshape costs that stands alone.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    VariantArray,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ReshapeCost {
    /// It reads its input and writes its output like any op.
    #[default]
    Copy,
    /// It is another way to index the same bytes: free, and its readers read the bytes that it names.
    View,
}

impl ReshapeCost {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
