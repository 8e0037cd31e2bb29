//! What would save time: options of compiler and framework, and kernels merged by hand.

use crate::core::analysis::why::{Price, Why};
use crate::core::analysis::{Analysis, analyze_plan};
use crate::core::fusion::plan;
use crate::core::model::ids::KernelId;
use crate::core::model::options::{F32Matmul, Options, Policy};
use borsh::{BorshDeserialize, BorshSerialize};

/// Share of the program's time below which a change is not worth a line.
const LEAST_SHARE: f64 = 1e-3;
/// Merges by hand that are told.
const MERGES: usize = 5;
/// Edges that are looked at for them, the largest saving first. Most of the dearest are not allowed to fuse.
const EDGES: usize = 200;

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
    /// Write two kernels as one.
    Merge(KernelId, KernelId),
}

/// A change, and what it alone would save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advised {
    /// The change.
    pub advice: Advice,
    /// What it saves.
    pub price: Price,
}

/// The changes that would save time, the largest saving first. Each is priced alone, and savings of several do not add up.
///
/// A few analyses, and the time of [`Why::priced_edges`].
pub fn advise(analysis: &Analysis) -> Vec<Advised> {
    let least_s = analysis.time_s() * LEAST_SHARE;
    let pays = |price: &Price| price.time_s() > least_s;
    let mut advised: Vec<Advised> = [
        Advice::Compile,
        Advice::Attention,
        Advice::MaxAutotune,
        Advice::Tf32,
    ]
    .into_iter()
    .filter_map(|advice| {
        let options = with(&analysis.options, advice)?;
        let plan = plan(&analysis.graph, &options);
        let after = analyze_plan(analysis.graph.clone(), &options, plan);
        let price = price(analysis, &after);
        Some(Advised { advice, price })
    })
    .filter(|advised| pays(&advised.price))
    .collect();
    let why = Why::new(analysis);
    let mut edges = why.priced_edges();
    edges.retain(|edge| pays(&edge.price));
    edges.sort_by(|a, b| b.price.time_s().total_cmp(&a.price.time_s()));
    let kernel_of = &analysis.partition.kernel_of;
    let mut merges: Vec<Advised> = Vec::new();
    for edge in edges.iter().take(EDGES) {
        let [a, b] = [edge.producer, edge.consumer].map(|op| kernel_of[op]);
        let advice = Advice::Merge(a.min(b), a.max(b));
        let is_told = merges.iter().any(|advised| advised.advice == advice);
        if !is_told && why.merge(a, b).is_ok() {
            let price = edge.price;
            merges.push(Advised { advice, price });
        }
        if merges.len() == MERGES {
            break;
        }
    }
    advised.extend(merges);
    advised.sort_by(|a, b| b.price.time_s().total_cmp(&a.price.time_s()));
    advised
}

/// The options under which the advice is followed; `None` where they are so already, or the advice is none of options.
fn with(options: &Options, advice: Advice) -> Option<Options> {
    let mut options = options.clone();
    match advice {
        Advice::Compile if matches!(options.policy, Policy::None | Policy::Rules) => {
            options.policy = Policy::Inductor;
        }
        Advice::Attention if !options.fusion.attention => options.fusion.attention = true,
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

fn price(before: &Analysis, after: &Analysis) -> Price {
    let expected = before.expected.as_ref().zip(after.expected.as_ref());
    Price {
        saved_bytes: before.fused.traffic.total.cast_signed()
            - after.fused.traffic.total.cast_signed(),
        saved_s: before.fused.time_s - after.fused.time_s,
        expected_saved_s: expected.map(|(before, after)| before.fused_s - after.fused_s),
    }
}
