//! The flags about fusion.

use crate::choices::by_name;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use fuseline_core::model::options::MIN_SPEEDUP_PERCENT;
use fuseline_core::{FusionOptions, Objective};

/// Options of the policies.
#[derive(Args)]
#[command(next_help_heading = "Fusion policy")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct FusionFlags {
    /// What the optimum minimizes.
    #[arg(long, default_value = "bytes", value_parser = by_name::<Objective>())]
    objective: Objective,
    /// With --objective measured, the speedup above which the ops of a measured pattern fuse into
    /// one kernel.
    #[arg(long, default_value = "1.2", value_name = "RATIO", value_parser = speedup_percent)]
    min_speedup: u32,
    /// Ops that read the same tensor may share a kernel, even if neither reads the other's output.
    #[arg(long)]
    horizontal: bool,
    /// Elementwise ops and reshapes may run in the kernel of the matmul that reads them.
    #[arg(long)]
    prologue: bool,
    /// Whether ops may follow a reduction in its kernel.
    #[arg(long, default_value = "on", value_name = "on|off", value_parser = PossibleValuesParser::new(["on", "off"]).map(|word| word == "on"), action = ArgAction::Set)]
    after_reductions: bool,
    /// The compiler generates its matmuls, which take an epilogue (policy inductor).
    #[arg(long)]
    max_autotune: bool,
    /// The version of torch whose compiler is predicted (policy inductor).
    #[arg(long, default_value = "2.11", value_name = "2.11|2.15", value_parser = PossibleValuesParser::new(["2.11", "2.15"]).map(|version| version == "2.15"), action = ArgAction::Set)]
    torch_compile: bool,
    /// Run matmul, softmax and matmul in a row as one fused attention kernel.
    #[arg(long)]
    attention: bool,
    /// Whether the search for the optimum may run an attention block as one kernel where that costs
    /// less.
    #[arg(long, default_value = "on", value_name = "on|off", value_parser = PossibleValuesParser::new(["on", "off"]).map(|word| word == "on"), action = ArgAction::Set)]
    attention_search: bool,
    /// Kernels of the policy that contain ops with one @kernel mark are one kernel (policies rules,
    /// inductor and optimal).
    #[arg(long)]
    kernel_marks: bool,
    /// Maximum number of states that the search for the optimum visits.
    #[arg(long, default_value_t = FusionOptions::default().budget_states, value_name = "STATES")]
    budget: usize,
}

impl FusionFlags {
    pub(super) fn options(&self) -> FusionOptions {
        FusionOptions {
            objective: self.objective,
            min_speedup_percent: self.min_speedup,
            horizontal: self.horizontal,
            prologue: self.prologue,
            after_reductions: self.after_reductions,
            max_autotune: self.max_autotune,
            torch_2_15: self.torch_compile,
            attention: self.attention,
            // With `--attention`, the policy `none` models an eager run that calls attention as one
            // operation.
            eager_attention: self.attention,
            attention_search: self.attention_search,
            keeps_marks: self.kernel_marks,
            budget_states: self.budget,
            ..FusionOptions::default()
        }
    }
}

/// Reads a ratio such as 1.2, in percent.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and the range is checked"
)]
fn speedup_percent(text: &str) -> Result<u32, String> {
    let percent = text
        .parse()
        .ok()
        .map(|ratio: f64| (ratio * 100.0).round() as u32);
    percent
        .filter(|percent| MIN_SPEEDUP_PERCENT.contains(percent))
        .ok_or_else(|| "write a ratio from 1 to 5, such as 1.2".to_owned())
}
