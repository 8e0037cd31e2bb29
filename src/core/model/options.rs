//! The user's choices beside the text: fusion policy, byte-counting conventions, device.

use crate::model::calibration::Calibrations;
use crate::model::device::{Device, F32Matmul, default_device};
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::work::Work;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The user's choices beside the text.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Options {
    /// The fusion policy.
    pub policy: Policy,
    /// Options of the policies.
    pub fusion: FusionOptions,
    /// How bytes are counted.
    pub conventions: Conventions,
    /// The device that the kernels run on.
    pub device: Device,
    /// The visitor's own measured patterns, which replace the shipped ones of the device.
    pub own_calibrations: Option<Arc<Calibrations>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            fusion: FusionOptions::default(),
            conventions: Conventions::default(),
            device: default_device().clone(),
            own_calibrations: None,
        }
    }
}

impl Options {
    /// The default options with another policy.
    pub fn of_policy(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// These options under another policy.
    #[must_use]
    pub fn under(&self, policy: Policy) -> Self {
        let mut options = self.clone();
        options.policy = policy;
        options.fusion.eager_attention = false;
        options
    }

    /// The records by which [`Objective::Measured`] decides: the visitor's own, else those of
    /// the device.
    pub fn calibrations(&self) -> Option<&Calibrations> {
        let own = self.own_calibrations.as_deref();
        own.or_else(|| self.device.calibrations())
    }

    /// Whether each attention block runs as one kernel. Without fusion it runs as many kernels as
    /// it has ops, whatever [`FusionOptions::attention`] says, unless
    /// [`FusionOptions::eager_attention`] is set.
    pub fn fuses_attention(&self) -> bool {
        let fusion = &self.fusion;
        fusion.attention && (self.policy != Policy::None || fusion.eager_attention)
    }
}

/// A fusion policy: decides which ops run as one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Policy {
    /// Every op is its own kernel.
    None,
    /// The textbook rules, in one forward scan.
    #[default]
    Rules,
    /// A prediction of the kernels of torch.compile.
    Inductor,
    /// The cheapest legal partition.
    Optimal,
    /// The kernel marks of the text.
    Manual,
}

impl Policy {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Options of the policies; each policy ignores those that do not concern it.
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a flag of the command line"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FusionOptions {
    /// The cost that [`Policy::Optimal`] minimizes.
    pub objective: Objective,
    /// Under [`Objective::Measured`], ops of a measured pattern are fused if the fused run was
    /// faster by more than this, in percent: 120 for 1.2 times.
    pub min_speedup_percent: u32,
    /// Ops without a dependency that read a common tensor may share a kernel.
    pub horizontal: bool,
    /// Elementwise and reshape ops may run inside the kernel of a matmul that reads their output.
    pub prologue: bool,
    /// Ops may follow a reduction in its kernel if the rows that they read again fit on chip.
    pub after_reductions: bool,
    /// The compiler generates its matmuls and fuses epilogues into them.
    pub max_autotune: bool,
    /// The compiler is that of torch 2.15, not of 2.11.
    pub torch_2_15: bool,
    /// Attention runs as one kernel that never writes the scores; see [`crate::fusion::attention`].
    pub attention: bool,
    /// Under [`Policy::None`] the program calls attention as one operation, so that `attention`
    /// also holds there.
    pub eager_attention: bool,
    /// The search for the optimum may run each attention block as one kernel where that costs less.
    pub attention_search: bool,
    /// Kernels of the policy that contain ops with one kernel mark are one kernel, where it is
    /// legal; see [`crate::fusion::manual`].
    pub keeps_marks: bool,
    /// Maximum ops in one kernel; at most [`MAX_OPS`].
    pub max_ops: usize,
    /// Maximum states that an exact search visits, over the whole program.
    pub budget_states: usize,
}

/// Upper limit of [`FusionOptions::max_ops`]: a set of ops is a 64-bit word.
pub const MAX_OPS: usize = 64;

/// Valid values of [`FusionOptions::min_speedup_percent`]: 1 to 5 times.
pub const MIN_SPEEDUP_PERCENT: std::ops::RangeInclusive<u32> = 100..=500;

/// The search budget of the page. A worst-case graph of sixty ops takes about 50 ms with it, and
/// half of it is enough to prove every example, for each graph that is searched. The command line
/// uses ten times as many states.
pub const PAGE_BUDGET_STATES: usize = 20_000;

impl Default for FusionOptions {
    fn default() -> Self {
        Self {
            objective: Objective::Bytes,
            min_speedup_percent: 120,
            horizontal: false,
            prologue: false,
            after_reductions: true,
            max_autotune: false,
            torch_2_15: false,
            attention: false,
            eager_attention: false,
            attention_search: true,
            keeps_marks: false,
            max_ops: MAX_OPS,
            budget_states: 200_000,
        }
    }
}

/// A Boolean option of the policies.
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
    /// [`FusionOptions::torch_2_15`].
    #[strum(serialize = "torch-2.15")]
    Torch215,
    /// [`FusionOptions::attention`].
    Attention,
    /// [`FusionOptions::attention_search`].
    AttentionSearch,
    /// [`FusionOptions::keeps_marks`].
    KernelMarks,
}

impl Switch {
    /// The name in links.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The option that the switch sets.
    pub const fn flag(self, options: &mut FusionOptions) -> &mut bool {
        match self {
            Self::Horizontal => &mut options.horizontal,
            Self::Prologue => &mut options.prologue,
            Self::AfterReductions => &mut options.after_reductions,
            Self::MaxAutotune => &mut options.max_autotune,
            Self::Torch215 => &mut options.torch_2_15,
            Self::Attention => &mut options.attention,
            Self::AttentionSearch => &mut options.attention_search,
            Self::KernelMarks => &mut options.keeps_marks,
        }
    }

    /// Whether the policy uses the option.
    pub const fn concerns(self, policy: Policy) -> bool {
        match self {
            Self::Horizontal | Self::Prologue | Self::AfterReductions => {
                matches!(policy, Policy::Optimal | Policy::Manual)
            }
            Self::MaxAutotune | Self::Torch215 => matches!(policy, Policy::Inductor),
            Self::Attention => true,
            Self::AttentionSearch => matches!(policy, Policy::Optimal),
            // Under `manual` marks are all that there is, and without fusion a marked kernel would
            // be a library's.
            Self::KernelMarks => {
                matches!(policy, Policy::Rules | Policy::Inductor | Policy::Optimal)
            }
        }
    }
}

/// The cost of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "lowercase")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Objective {
    /// Bytes through memory; on a tie the fewest kernels.
    #[default]
    Bytes,
    /// The lower bound of the time; on a tie the fewest kernels. Predicted times depend on what
    /// earlier kernels left in the cache, so they are not a sum over kernels, and a search could
    /// not prove a minimum.
    Time,
    /// As [`Objective::Time`], but a measured pattern counts with its speed-up; see
    /// [`crate::fusion::measured`].
    Measured,
}

impl Objective {
    /// The minimized quantity, as a noun.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Time => "time (lower bound)",
            Self::Measured => "measured time",
        }
    }

    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The counting conventions of one analysis: which bytes count, and the types in which f32 matmuls
/// and convolutions are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Conventions {
    /// How external tensors are counted.
    pub externals: Externals,
    /// How reshapes are counted.
    pub reshape: ReshapeCost,
    /// The type in which matmuls on f32 operands are computed.
    pub f32_matmul: F32Matmul,
    /// The type in which convolutions of f32 operands are computed.
    pub f32_conv: F32Matmul,
}

/// As PyTorch does by default, with TF32 in convolutions alone.
impl Default for Conventions {
    fn default() -> Self {
        Self {
            externals: Externals::default(),
            reshape: ReshapeCost::default(),
            f32_matmul: F32Matmul::F32,
            f32_conv: F32Matmul::Tf32,
        }
    }
}

impl Conventions {
    /// The type in which the products of this work are computed if their operands are f32.
    pub fn f32_product(&self, work: &Work) -> F32Matmul {
        if work.is_convolution {
            self.f32_conv
        } else {
            self.f32_matmul
        }
    }
}

/// The counted size of an external tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "kebab-case")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum Externals {
    /// The declared size; otherwise the only one that the op's other shapes allow; otherwise that
    /// of its reader's output.
    #[default]
    Declared,
    /// 0 bytes: only produced tensors count.
    KnownOnly,
    /// The size of its reader's output, even if it is declared.
    OutputShape,
}

impl Externals {
    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether a reshape that is a separate kernel copies its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "kebab-case")]
#[derive(BorshSerialize, BorshDeserialize)]
pub enum ReshapeCost {
    /// A copy: it reads its input and writes its output like any op.
    #[default]
    Copy,
    /// A view, which is another indexing of the same bytes: free, and its readers read the
    /// underlying bytes.
    View,
}

impl ReshapeCost {
    /// Whether an op is a view that costs nothing: it indexes bytes that are there, and alone it
    /// launches nothing.
    pub fn is_free_view(self, graph: &Graph, op: OpId) -> bool {
        let definition = &graph.ops[op];
        definition.is_part()
            || self == Self::View && definition.is_view()
            || graph.tensors[graph.output[op]].shows_written
    }

    /// The name on the command line and in links.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
