//! Advice: options of compiler and framework, and merges by hand, that would save time.

use crate::analysis::by_hand::{self, Change, KernelsInText};
use crate::analysis::iterations::Iterations;
use crate::analysis::why::{Cost, Price, PricedEdge, RepeatedPrice, Why};
use crate::analysis::{Analysis, analyze_plan};
use crate::fusion::attention::find;
use crate::fusion::plan;
use crate::model::device::F32Matmul;
use crate::model::dtype::DType;
use crate::model::graph::Graph;
use crate::model::ids::KernelId;
use crate::model::options::{Options, Policy};
use borsh::{BorshDeserialize, BorshSerialize};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Share of the program's time below which a change is not worth a line.
const LEAST_SHARE: f64 = 1e-3;
/// Most merges by hand that are reported.
const MERGES: usize = 5;
/// Most merges that are estimated for these, the largest saving first. Most of the largest are not
/// legal.
const CANDIDATES: usize = 200;
/// Most merges that are analysed, because each takes an analysis of the whole program.
const TRIED: usize = 12;

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
}

/// A change, and what it alone would save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advised {
    /// The change.
    pub advice: Advice,
    /// The cost of the whole program before and after.
    pub price: Price,
    /// The saving of the merge alone, in all iterations; `None` for options.
    pub merge: Option<Price>,
    /// Iterations of a block in which two kernels are merged; 1 elsewhere.
    pub iterations: usize,
}

/// The changes that would save time, the largest saving first. Each is priced alone by the state
/// that it leads to, and savings of several do not add up. Ops of a block are merged in every
/// iteration.
///
/// Some `TRIED` analyses, and the time of [`Why::priced_edges`].
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
    advised.sort_by(by_saving);
    advised
}

/// The merges by hand that save most. An estimate for each edge chooses which ones are analysed,
/// because only the analysis of the marked text shows the price: marks keep the other kernels as
/// shown only where these are legal by hand.
fn merges(shown: KernelsInText<'_>, pays: &dyn Fn(Price) -> bool) -> Vec<Advised> {
    let analysis = shown.analysis;
    let why = Why::new(analysis);
    let mut estimates = estimates(shown, &why.priced_edges());
    estimates.retain(|(_, price)| pays(price.total()));
    let saved_s = |price: &RepeatedPrice| price.total().time_s().unwrap_or_default();
    estimates.sort_by(|(_, a), (_, b)| saved_s(b).total_cmp(&saved_s(a)));
    let mut tried: Vec<[KernelId; 2]> = Vec::new();
    let mut merges: Vec<Advised> = Vec::new();
    for (kernels, estimate) in estimates.into_iter().take(CANDIDATES) {
        let [a, b] = kernels;
        if tried.contains(&kernels) || why.merge(a, b).is_err() {
            continue;
        }
        tried.push(kernels);
        if let Ok(changed) = by_hand::change(Change::Merge(a, b), shown) {
            let price = Price {
                before: cost(analysis),
                after: cost(&changed.analysis),
            };
            merges.extend(pays(price).then_some(Advised {
                advice: Advice::Merge(a, b),
                price,
                merge: Some(estimate.total()),
                iterations: estimate.iterations,
            }));
        }
        if merges.len() == MERGES || tried.len() == TRIED {
            break;
        }
    }
    merges
}

fn by_saving(a: &Advised, b: &Advised) -> Ordering {
    let saved_s = |advised: &Advised| advised.price.time_s().unwrap_or_default();
    saved_s(b).total_cmp(&saved_s(a))
}

/// For each edge between two kernels, the kernels and what their merge alone saves. Equal edges in
/// the iterations of a block are one entry: the kernels of the first iteration, and the price of
/// all.
fn estimates(
    shown: KernelsInText<'_>,
    edges: &[PricedEdge],
) -> Vec<([KernelId; 2], RepeatedPrice)> {
    let kernel_of = &shown.analysis.partition.kernel_of;
    let iterations = Iterations::new(shown.analysis, shown.statement_of_op);
    let mut merges: Vec<([KernelId; 2], RepeatedPrice)> = Vec::new();
    let mut place_of = HashMap::new();
    for edge in edges {
        let same = iterations.statement_edge(edge);
        let place = *place_of.entry(same).or_insert(merges.len());
        if let Some((_, price)) = merges.get_mut(place) {
            price.add_iteration(edge.price);
            continue;
        }
        let [a, b] = [edge.producer, edge.consumer].map(|op| kernel_of[op]);
        merges.push(([a.min(b), a.max(b)], RepeatedPrice::once(edge.price)));
    }
    merges
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
