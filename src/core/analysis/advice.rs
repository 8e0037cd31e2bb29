//! What would save time: options of compiler and framework, and kernels merged by hand.

use crate::analysis::rounds::Rounds;
use crate::analysis::why::{Cost, Price, PricedEdge, RoundsPrice, Why};
use crate::analysis::{Analysis, analyze_plan};
use crate::fusion::plan;
use crate::model::ids::{IdVec, KernelId, OpId};
use crate::model::options::{F32Matmul, Options, Policy};
use borsh::{BorshDeserialize, BorshSerialize};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Share of the program's time below which a change is not worth a line.
const LEAST_SHARE: f64 = 1e-3;
/// Merges by hand that are told.
const MERGES: usize = 5;
/// Merges that are looked at for them, the largest saving first. Most of the dearest are not allowed.
const CANDIDATES: usize = 200;

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
    /// Write two kernels as one, in a block those of every round.
    Merge(KernelId, KernelId),
}

/// A change, and what it alone would save.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advised {
    /// The change.
    pub advice: Advice,
    /// What it saves; two kernels of a block are merged in every round.
    pub price: RoundsPrice,
}

/// The changes that would save time, the largest saving first. Each is priced alone, and savings of several do not add up.
/// `statement_of_op` gives for each op its statement: those of a block have several, and are merged in every round.
///
/// A few analyses, and the time of [`Why::priced_edges`].
pub fn advise(analysis: &Analysis, statement_of_op: &IdVec<OpId, usize>) -> Vec<Advised> {
    let least_s = analysis.time_s() * LEAST_SHARE;
    let pays = |price: &RoundsPrice| {
        let saved_s = price.total().time_s();
        saved_s.is_some_and(|saved_s| saved_s > least_s)
    };
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
        Some(Advised {
            advice,
            price: RoundsPrice::once(Price {
                before: cost(analysis),
                after: cost(&after),
            }),
        })
    })
    .filter(|advised| pays(&advised.price))
    .collect();
    let why = Why::new(analysis);
    let mut candidates = merges(analysis, &why.priced_edges(), statement_of_op);
    candidates.retain(|merge| pays(&merge.price));
    candidates.sort_by(by_saving);
    let mut told: Vec<Advised> = Vec::new();
    for merge in candidates.into_iter().take(CANDIDATES) {
        let is_told = told.iter().any(|advised| advised.advice == merge.advice);
        if let Advice::Merge(a, b) = merge.advice
            && !is_told
            && why.merge(a, b).is_ok()
        {
            told.push(merge);
        }
        if told.len() == MERGES {
            break;
        }
    }
    advised.extend(told);
    advised.sort_by(by_saving);
    advised
}

fn by_saving(a: &Advised, b: &Advised) -> Ordering {
    let saved_s = |advised: &Advised| advised.price.total().time_s().unwrap_or_default();
    saved_s(b).total_cmp(&saved_s(a))
}

/// For each edge between kernels the merge of these; of the same edge in the rounds of a block that of the first one, with the
/// price of all.
fn merges(
    analysis: &Analysis,
    edges: &[PricedEdge],
    statement_of_op: &IdVec<OpId, usize>,
) -> Vec<Advised> {
    let kernel_of = &analysis.partition.kernel_of;
    let rounds = Rounds::new(analysis, statement_of_op);
    let mut merges: Vec<Advised> = Vec::new();
    let mut place_of = HashMap::new();
    for edge in edges {
        let same = rounds.statement_edge(edge);
        let place = *place_of.entry(same).or_insert(merges.len());
        if let Some(merge) = merges.get_mut(place) {
            merge.price.add_round(edge.price);
            continue;
        }
        let [a, b] = [edge.producer, edge.consumer].map(|op| kernel_of[op]);
        merges.push(Advised {
            advice: Advice::Merge(a.min(b), a.max(b)),
            price: RoundsPrice::once(edge.price),
        });
    }
    merges
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

/// What the whole program takes.
fn cost(analysis: &Analysis) -> Cost {
    Cost {
        bytes: analysis.fused.traffic.total,
        bound_s: Some(analysis.fused.time_s),
        expected_s: (analysis.expected.as_ref()).map(|expected| expected.fused_s),
    }
}
