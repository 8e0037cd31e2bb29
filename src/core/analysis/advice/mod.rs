//! Advice: what would save time. Options of compiler and framework, merges by hand, and other
//! programs for the same task.

mod merges;
mod program;

pub use self::merges::is_prologue;
use self::merges::merges;
use self::program::program_changes;
use crate::analysis::by_hand::KernelsInText;
use crate::analysis::launches::{Launcher, launch_timeline};
use crate::analysis::why::{Cost, Price};
use crate::analysis::{Analysis, analyze_plan};
use crate::fusion::attention::find;
use crate::fusion::plan;
use crate::model::device::F32Matmul;
use crate::model::dtype::DType;
use crate::model::graph::Graph;
use crate::model::ids::KernelId;
use crate::model::options::{Options, Policy};
use crate::model::program::Program;
use crate::notation::edit::{join_products, multiply_in_f8, set_param, store_weights_in_int8};
use borsh::{BorshDeserialize, BorshSerialize};
use std::cmp::Ordering;

/// Share of the program's time below which a change is not worth a line.
const LEAST_SHARE: f64 = 1e-3;
/// Share below which a change of the program itself is not worth a line: it costs more work than
/// an option, or changes what is computed.
const LEAST_SHARE_OF_PROGRAM: f64 = 1e-2;

/// Something that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub enum Advice {
    /// Compile the program: policy [`Policy::Inductor`].
    Compile,
    /// Run each attention as one kernel.
    Attention,
    /// Let the compiler generate its matmuls, which then take an epilogue.
    MaxAutotune,
    /// Compute matmuls on f32 operands in TF32.
    Tf32,
    /// Write two kernels as one, in a block those of every iteration.
    Merge(KernelId, KernelId),
    /// Compute products of one tensor as one product: the kind of [`joinable_products`] whose first
    /// statement this is.
    ///
    /// [`joinable_products`]: crate::notation::edit::joinable_products
    JoinProducts(usize),
    /// Multiply in f8: weights and their operands.
    F8Products,
    /// Store weights as integers of 8 bits, which a product widens as it loads them.
    Int8Weights,
    /// Compute more rows at once.
    LargerBatch {
        /// The position of the param that is the number of rows.
        param: usize,
        /// Its new value.
        value: i64,
        /// The new value over the old one.
        factor: u32,
    },
    /// Launch all kernels by one call.
    CudaGraph,
}

impl Advice {
    /// Whether it runs the ops of the program as other kernels, and changes neither the program nor
    /// who launches them.
    pub const fn is_of_kernels(self) -> bool {
        match self {
            Self::Compile | Self::Attention | Self::MaxAutotune | Self::Tf32 | Self::Merge(..) => {
                true
            }
            Self::JoinProducts(_)
            | Self::F8Products
            | Self::Int8Weights
            | Self::LargerBatch { .. }
            | Self::CudaGraph => false,
        }
    }

    /// The text that follows the advice; `None` where it is not about the text, and where the text
    /// no longer has what it names.
    pub fn text(self, text: &str, program: &Program) -> Option<String> {
        match self {
            Self::JoinProducts(first) => join_products(text, program, first),
            Self::F8Products => multiply_in_f8(text, program),
            Self::Int8Weights => store_weights_in_int8(text, program),
            Self::LargerBatch { param, value, .. } => Some(set_param(text, program, param, value)),
            Self::Compile
            | Self::Attention
            | Self::MaxAutotune
            | Self::Tf32
            | Self::Merge(..)
            | Self::CudaGraph => None,
        }
    }
}

/// A change, and what it alone would save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advised {
    /// The change.
    pub advice: Advice,
    /// The cost of the whole program before and after. Of [`Advice::LargerBatch`] that of as many
    /// runs as give the rows of one run after it; of [`Advice::CudaGraph`] the time from the first
    /// kernel's start to the last one's end.
    pub price: Price,
    /// The saving of the merge alone, in all iterations; `None` for options.
    pub merge: Option<Price>,
    /// Iterations of a block in which two kernels are merged; 1 elsewhere.
    pub iterations: usize,
}

impl Advised {
    /// The saved time as a share of the time before.
    pub fn share(&self) -> Option<f64> {
        let before = self.price.before;
        let before_s = before.predicted_s.or(before.bound_s)?;
        (before_s > 0.0).then_some(self.price.time_s()? / before_s)
    }
}

/// The changes that would save time, the largest share first. Each is priced alone by the state
/// that it leads to, and savings of several do not add up. Ops of a block are merged in every
/// iteration.
///
/// Some thirty analyses, and the time of [`Why::priced_edges`].
///
/// [`Why::priced_edges`]: crate::analysis::why::Why::priced_edges
pub fn advise(shown: KernelsInText<'_>) -> Vec<Advised> {
    let analysis = shown.analysis;
    let least_s = analysis.time_s() * LEAST_SHARE;
    let pays = |price: Price| price.time_s().is_some_and(|saved_s| saved_s > least_s);
    let mut advised: Vec<Advised> = [
        Advice::Compile,
        Advice::Attention,
        Advice::MaxAutotune,
        Advice::Tf32,
    ]
    .into_iter()
    .filter_map(|advice| {
        let options = with(&analysis.graph, &analysis.options, advice)?;
        let plan = plan(&analysis.graph, &options);
        let after = analyze_plan(analysis.graph.clone(), &options, plan);
        Some(Advised {
            advice,
            price: Price {
                before: cost(analysis),
                after: cost(&after),
            },
            merge: None,
            iterations: 1,
        })
    })
    .filter(|advised| pays(advised.price))
    .collect();
    advised.extend(merges(shown, &pays));
    let larger = program_changes(shown)
        .into_iter()
        .chain(cuda_graph(analysis));
    let is_large = |advised: &Advised| advised.share() > Some(LEAST_SHARE_OF_PROGRAM);
    advised.extend(larger.filter(is_large));
    advised.sort_by(by_share);
    advised
}

/// Python launches kernels one by one, and the GPU may wait for it. Only on devices with measured
/// rates, because the time of a launch is measured beside one.
fn cuda_graph(analysis: &Analysis) -> Option<Advised> {
    analysis.predicted.as_ref()?;
    let launched = |by| Cost {
        predicted_s: Some(launch_timeline(analysis, by).span_s),
        ..cost(analysis)
    };
    Some(Advised {
        advice: Advice::CudaGraph,
        price: Price {
            before: launched(Launcher::Python),
            after: launched(Launcher::CudaGraph),
        },
        merge: None,
        iterations: 1,
    })
}

fn by_share(a: &Advised, b: &Advised) -> Ordering {
    let share = |advised: &Advised| advised.share().unwrap_or_default();
    share(b).total_cmp(&share(a))
}

/// The options that follow the advice; `None` where they do already, or if the advice is not about
/// options.
fn with(graph: &Graph, options: &Options, advice: Advice) -> Option<Options> {
    let mut options = options.clone();
    match advice {
        Advice::Compile if options.policy != Policy::Inductor => {
            options.policy = Policy::Inductor;
        }
        // Without fusion it takes a policy first.
        Advice::Attention
            if !options.fusion.attention
                && options.policy != Policy::None
                && has_library_attention(graph) =>
        {
            options.fusion.attention = true;
        }
        Advice::MaxAutotune
            if options.policy == Policy::Inductor && !options.fusion.max_autotune =>
        {
            options.fusion.max_autotune = true;
        }
        Advice::Tf32 if options.conventions.f32_matmul == F32Matmul::F32 => {
            options.conventions.f32_matmul = F32Matmul::Tf32;
        }
        _ => return None,
    }
    Some(options)
}

/// Whether PyTorch has a flash kernel for one of the attentions: there is none for f64 and f8.
fn has_library_attention(graph: &Graph) -> bool {
    find(graph).iter().any(|attention| {
        matches!(
            attention.dtype(graph),
            Some(DType::F16 | DType::Bf16 | DType::F32)
        )
    })
}

/// The cost of the whole program.
fn cost(analysis: &Analysis) -> Cost {
    Cost {
        bytes: analysis.fused.traffic.total,
        bound_s: Some(analysis.fused.time_s),
        predicted_s: (analysis.predicted.as_ref()).map(|predicted| predicted.fused_s),
    }
}
