//! The options that decide how a figure is counted, and where it comes from.

use crate::present::format::format_seconds;
use crate::present::options::{
    ChoiceWords, externals_words, f32_conv_words, f32_matmul_words, policy_summary, policy_title,
    reshape_words,
};
use crate::present::quantity::{Figure, Kind, Quantity, Run, Subject};
use crate::present::words::capitalized;
use fuseline_core::model::device::{MEASURED_WITH, RatesFrom, Source};
use fuseline_core::model::functions::Function;
use fuseline_core::{
    Analysis, DType, Device, Kernel, Objective, Op, OpId, OpType, Options, Policy, ReshapeCost,
};
use std::collections::BTreeSet;

/// Most functions whose FLOPs a card lists.
const MAX_FUNCTIONS: usize = 4;

/// The papers of the kernel that never writes the scores.
const ATTENTION_SOURCE: &str =
    "Fused attention: Dao et al., FlashAttention, 2022; Dao, FlashAttention-2, 2023.";

/// An option with its current choice, and what that means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convention {
    /// The option and its value: `A reshape is a copy`.
    pub choice: String,
    /// What that means, in a sentence.
    pub sentence: String,
}

impl Convention {
    /// An option with what is chosen.
    pub fn of_words(option: &str, words: ChoiceWords) -> Self {
        Self {
            choice: format!("{option} {}", words.name),
            sentence: words.sentence.to_owned(),
        }
    }

    /// How a reshape counts.
    pub(super) fn reshape(cost: ReshapeCost) -> Self {
        Self::of_words("A reshape is", reshape_words(cost))
    }

    /// Who chose the kernels.
    pub(super) fn policy(policy: Policy, objective: Objective) -> Self {
        Self {
            choice: format!("Fusion policy: {}", policy_title(policy, objective)),
            sentence: format!("{}.", capitalized(policy_summary(policy))),
        }
    }
}

/// The type of convolutions on f32.
fn f32_conv(options: &Options) -> Convention {
    Convention::of_words(
        "f32 convolutions run in",
        f32_conv_words(options.conventions.f32_conv),
    )
}

/// The type of matmuls on f32.
pub fn f32_matmul(options: &Options) -> Convention {
    Convention::of_words(
        "f32 matmuls run in",
        f32_matmul_words(options.conventions.f32_matmul),
    )
}

/// The kernels that a figure counts.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    analysis: &'a Analysis,
    kernels: &'a [Kernel],
}

impl<'a> Counted<'a> {
    /// The kernels that a figure of this counts; `None` where the analysis has none.
    pub(super) fn of(of: Subject, analysis: &'a Analysis) -> Option<Self> {
        let kernel = |kernel| Self::kernel(analysis, kernel);
        match of {
            Subject::Program | Subject::Policy(_) => Some(Self::program(analysis)),
            Subject::Kernel(_) | Subject::Again(_) | Subject::TensorAt(..) => {
                Some(kernel(&analysis.fused.kernels[of.kernel_id(analysis)?]))
            }
            Subject::Op(op) => {
                analysis.graph.ops.get(op)?;
                Some(kernel(analysis.unfused.of_lone_op(op)))
            }
            Subject::Tensor(tensor) => {
                analysis.tensors.get(tensor)?;
                Some(Self::program(analysis))
            }
        }
    }

    pub(super) fn program(analysis: &'a Analysis) -> Self {
        let kernels = analysis.fused.kernels.as_slice();
        Self { analysis, kernels }
    }

    pub(super) fn kernel(analysis: &'a Analysis, kernel: &'a Kernel) -> Self {
        let kernels = std::slice::from_ref(kernel);
        Self { analysis, kernels }
    }

    fn ops(self) -> impl Iterator<Item = &'a Op> {
        let ops = self.kernels.iter().flat_map(|kernel| &kernel.ops);
        ops.map(move |&op| &self.analysis.graph.ops[op])
    }

    fn reads_externals(self) -> bool {
        let tensors = &self.analysis.graph.tensors;
        let mut reads = self.kernels.iter().flat_map(|kernel| &kernel.traffic.reads);
        reads.any(|access| tensors[access.tensor].is_external())
    }

    fn has_f32_product(self, is_convolution: bool) -> bool {
        let mut works = self.kernels.iter().map(|kernel| kernel.work);
        works.any(|work| {
            work.matrix_dtype == Some(DType::F32) && work.is_convolution == is_convolution
        })
    }

    fn has_attention(self) -> bool {
        let is_matmul = |op: &&OpId| self.analysis.graph.ops[**op].op_type == OpType::Matmul;
        let mut kernels = self.kernels.iter();
        kernels.any(|kernel| kernel.ops.iter().filter(is_matmul).count() > 1)
    }
}

/// The options that decide how a figure is counted.
pub(super) fn conventions(figure: Figure, counted: Counted<'_>) -> Vec<Convention> {
    let options = &counted.analysis.options;
    let counting = options.conventions;
    let externals = || {
        Convention::of_words(
            "Inputs and weights count",
            externals_words(counting.externals),
        )
    };
    let reshape = || Convention::reshape(counting.reshape);
    let launch = || Convention {
        choice: format!(
            "A launch takes {}",
            format_seconds(options.device.launch_s.value)
        ),
        sentence: "Set in the options beside the policy.".to_owned(),
    };
    let policy = || Convention::policy(options.policy, options.fusion.objective);
    let kind = figure.quantity.kind();
    let is_time = kind == Kind::Time;
    let is_bytes = is_time || matches!(kind, Kind::Traffic | Kind::Intensity);
    let is_of_views = is_bytes || figure.quantity == Quantity::Launches;
    let is_read = is_bytes && figure.quantity != Quantity::BytesWritten;
    let is_of_policy = matches!(figure.of, Subject::Program | Subject::Policy(_))
        && figure.run == Run::Fused
        && !matches!(figure.quantity, Quantity::Ridge | Quantity::Flops);
    [
        (is_read && counted.reads_externals()).then(externals),
        (is_of_views && counted.ops().any(Op::is_view)).then(reshape),
        (is_time && counted.has_f32_product(false)).then(|| f32_matmul(options)),
        (is_time && counted.has_f32_product(true)).then(|| f32_conv(options)),
        is_time.then(launch),
        is_of_policy.then(policy),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Where a figure comes from.
pub(super) fn sources(figure: Figure, counted: Counted<'_>) -> Vec<String> {
    let analysis = counted.analysis;
    match figure.quantity.kind() {
        Kind::Traffic => bytes_sources(counted),
        Kind::Kernels if figure.quantity == Quantity::Launches && figure.run == Run::Unfused => {
            vec!["Unfused, each op is a kernel of its own.".to_owned()]
        }
        Kind::Kernels => policy_sources(analysis.options.policy),
        Kind::Work => flops_sources(figure.of, counted),
        Kind::Intensity => {
            let mut sources = flops_sources(figure.of, counted);
            sources.extend(bytes_sources(counted));
            sources
        }
        Kind::Time => {
            let predicted = analysis.predicted.as_ref();
            let is_predicted = matches!(
                figure.quantity,
                Quantity::Time | Quantity::PredictedTime | Quantity::Speedup
            );
            match predicted.filter(|_| is_predicted) {
                Some(predicted) => {
                    let device = &analysis.options.device.name;
                    vec![measured_source(device, &predicted.rates_from)]
                }
                None => device_sources(analysis),
            }
        }
        Kind::Launch if figure.quantity == Quantity::OnChipAvailable => hardware_sources(analysis),
        Kind::Launch => launch_sources(figure.quantity, counted),
        Kind::Device if figure.quantity == Quantity::DeviceMemory => hardware_sources(analysis),
        Kind::Device => device_sources(analysis),
        Kind::Memory => vec![
            "Fuseline's rule: kernels run in order. A tensor is live from the kernel that writes it to the last kernel that reads it, and a result to the end. Library workspaces do not count.".to_owned(),
        ],
        Kind::Text => Vec::new(),
    }
}

/// Compulsory traffic, and the papers of the kernel that never writes the scores.
fn bytes_sources(counted: Counted<'_>) -> Vec<String> {
    let rule = "Fuseline's rule, compulsory traffic: a kernel reads each external tensor once, and writes each output once if another kernel reads it or no op does. Shapes and types come from the text, so bytes are exact.";
    [
        Some(rule),
        counted.has_attention().then_some(ATTENTION_SOURCE),
    ]
    .into_iter()
    .flatten()
    .map(str::to_owned)
    .collect()
}

/// The sources of the rules by which a policy chooses kernels.
pub(super) fn policy_sources(policy: Policy) -> Vec<String> {
    let source = match policy {
        Policy::Inductor => {
            "A model of TorchInductor 2.11, the compiler behind torch.compile: docs/inductor.md."
        }
        Policy::Optimal => {
            "A search over all legal kernels that compute each op once and that the options allow. The headline says what it has proven."
        }
        Policy::Manual => "The kernel marks (@kernel 1) of the text.",
        Policy::Rules => "The textbook rules, which the tab Steps replays.",
        Policy::None => "Each op is a kernel of its own.",
    };
    vec![source.to_owned()]
}

/// What the functions of a kernel count as FLOPs. A program has too many functions to list.
fn flops_sources(of: Subject, counted: Counted<'_>) -> Vec<String> {
    let rule =
        "A multiply-add counts as 2 FLOPs. The tab Functions lists the FLOPs of each function.";
    let names: BTreeSet<(&str, Function)> = match of {
        Subject::Kernel(_) | Subject::Again(_) | Subject::Op(_) => {
            let functions = counted.ops().filter_map(|op| op.function);
            functions
                .map(|function| (function.name(), function))
                .collect()
        }
        Subject::Program | Subject::Policy(_) | Subject::Tensor(_) | Subject::TensorAt(..) => {
            BTreeSet::new()
        }
    };
    let counts = names.into_iter().filter_map(|(name, function)| {
        let flops = function.row().flops_per_element;
        let source = function.row().flops_source;
        (flops > 1).then(|| format!("{name}, {flops} per element: {source}."))
    });
    let counts = counts.take(MAX_FUNCTIONS);
    [rule.to_owned()].into_iter().chain(counts).collect()
}

/// Estimates of what a compiler chooses, and the device that they are for.
fn launch_sources(quantity: Quantity, counted: Counted<'_>) -> Vec<String> {
    let estimate = match quantity {
        Quantity::WaveEfficiency | Quantity::TileEfficiency => {
            "Fuseline's estimate of the tiles that a library chooses: docs/tiling.md."
        }
        _ => {
            "Fuseline's estimate. docs/measurement.md compares it with a compiler's kernels; another compiler may choose otherwise."
        }
    };
    let attention = counted.has_attention().then_some(ATTENTION_SOURCE);
    let own = [Some(estimate), attention].into_iter().flatten();
    let device = hardware_sources(counted.analysis);
    own.map(str::to_owned).chain(device).collect()
}

/// The figures of a multiprocessor and of the memory.
fn hardware_sources(analysis: &Analysis) -> Vec<String> {
    let device = &analysis.options.device;
    let is_confirmed = device
        .hardware
        .multiprocessor()
        .is_some_and(|m| m.is_confirmed);
    vec![hardware_source(device, "Figures", is_confirmed)]
}

/// Where a figure of the hardware comes from.
pub fn hardware_source(device: &Device, what: &str, is_confirmed: bool) -> String {
    let unchecked = if is_confirmed { "" } else { "; unverified" };
    let (name, citation) = (&device.name, device.citation());
    format!("{what} of {name}: {citation}{unchecked}.")
}

/// The rates that the roofline uses.
fn device_sources(analysis: &Analysis) -> Vec<String> {
    let device = &analysis.options.device;
    let rates = format!(
        "Dense peak rates of {}: {}.",
        device.name,
        device.citation()
    );
    let figures = [
        Some(device.memory_bytes_per_s),
        device.vector_flops_per_s,
        device.matrix_f16_flops_per_s,
    ];
    let is_recalled = figures
        .into_iter()
        .flatten()
        .any(|figure| !figure.is_confirmed);
    let recalled = "Some of them are unverified; GPU figures marks them with ?.";
    let launch = "The launch time is an order-of-magnitude estimate, not a measurement.";
    let is_listed = device.source != Source::Custom && !device.launch_s.is_confirmed;
    let mut sources = vec![rates];
    sources.extend(is_recalled.then(|| recalled.to_owned()));
    sources.extend(is_listed.then(|| launch.to_owned()));
    sources
}

/// The rates that the device model uses on this device.
pub(super) fn measured_source(device: &str, rates_from: &RatesFrom) -> String {
    match rates_from {
        RatesFrom::Device => format!(
            "Rates measured on an {device} ({MEASURED_WITH}); docs/measurement.md lists the errors."
        ),
        RatesFrom::Scaled(from) => format!(
            "Rates measured on an {from} ({MEASURED_WITH}) and scaled to the bandwidth, cache and multiprocessors of the {device}; docs/measurement.md lists the errors of the scaled times."
        ),
        RatesFrom::Probe {
            measured_on,
            others_from,
        } => format!(
            "Rates of memory, multiprocessors and launches measured on this {device} on {measured_on}. Rates that the probe does not measure are scaled from an {others_from} ({MEASURED_WITH}), and the result is not checked by measurement."
        ),
    }
}
