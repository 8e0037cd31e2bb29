//! Advice to write two kernels as one.

use crate::analysis::Analysis;
use crate::analysis::advice::{Advice, Advised, cost};
use crate::analysis::by_hand::{self, Change, KernelsInText};
use crate::analysis::iterations::Iterations;
use crate::analysis::why::{Price, PricedEdge, RepeatedPrice, Why};
use crate::model::ids::{KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::Policy;
use std::collections::HashMap;

/// Most merges by hand that are reported.
const MERGES: usize = 5;
/// Most merges that are estimated for these, the largest saving first. Most of the largest are not
/// legal.
const CANDIDATES: usize = 200;
/// Most merges that are analysed, because each takes an analysis of the whole program.
const TRIED: usize = 12;

/// The merges by hand that save most. An estimate for each edge chooses which ones are analysed,
/// because only the analysis of the marked text shows the price: marks keep the other kernels as
/// shown only where these are legal by hand.
pub(super) fn merges(shown: KernelsInText<'_>, pays: &dyn Fn(Price) -> bool) -> Vec<Advised> {
    let analysis = shown.analysis;
    let why = Why::new(analysis);
    let mut estimates = estimates(shown, &why.priced_edges());
    estimates.retain(|(_, price)| pays(price.total()));
    let saved_s = |price: &RepeatedPrice| price.total().time_s().unwrap_or_default();
    estimates.sort_by(|(_, a), (_, b)| saved_s(b).total_cmp(&saved_s(a)));
    // The compiler's templates take prologues by themselves, which its policy does not model.
    let options = &analysis.options;
    let has_templates = options.policy == Policy::Inductor && options.fusion.max_autotune;
    let mut tried: Vec<[KernelId; 2]> = Vec::new();
    let mut merges: Vec<Advised> = Vec::new();
    for (kernels, estimate) in estimates.into_iter().take(CANDIDATES) {
        let [a, b] = kernels;
        let is_taken = has_templates && is_prologue(analysis, kernels);
        if is_taken || tried.contains(&kernels) || why.merge(a, b).is_err() {
            continue;
        }
        tried.push(kernels);
        if let Ok(changed) = by_hand::change(Change::MergeOnTop(a, b), shown) {
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

/// Whether two kernels as one would be a matmul with a prologue: ops of its own that compute an
/// operand.
pub fn is_prologue(analysis: &Analysis, kernels: [KernelId; 2]) -> bool {
    let graph = &analysis.graph;
    let partition = &analysis.partition;
    let is_merged = |op: &OpId| {
        let kernel = partition.kernel_of.get(*op);
        kernel.is_some_and(|kernel| kernels.contains(kernel))
    };
    let ops = kernels.map(|kernel| partition.kernels.get(kernel));
    let mut ops = ops.into_iter().flatten().flatten();
    ops.any(|&op| {
        graph.ops[op].op_type == OpType::Matmul && graph.predecessors[op].iter().any(is_merged)
    })
}
