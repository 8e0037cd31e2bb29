//! The merges by hand that the card of a kernel, or of an op in it, offers.

use super::manual::{Change, propose};
use super::names::{op_names, short_name};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::Why;
use fuseline_core::{Analysis, KernelId};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Offers of one card: more would hide the rest of the card.
const MAX_OFFERS: usize = 3;
/// Most neighbours that are tried: a tensor can have thousands of readers, and the effect of a
/// merge takes an analysis.
const MAX_LOOKED_AT: usize = 8;
/// Characters of the names of a neighbour's ops.
const NAME_CHARS: usize = 28;

/// A legal merge with a neighbour.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Offer {
    pub change: Change,
    /// The neighbour: `kernel 2 (relu)`.
    pub partner: String,
    /// What the merge saves or costs.
    pub effect: String,
}

/// The legal merges of a kernel with kernels that write what it reads or read what it writes.
///
/// At most three, those that save the most bytes first. Takes as long as [`propose`] a few times.
pub fn merge_offers(kernel: KernelId, shown: KernelsInText<'_>) -> Vec<Offer> {
    let analysis = shown.analysis;
    let why = Why::new(analysis);
    let partners = neighbours(analysis, kernel);
    let mut partners: Vec<(Reverse<i64>, KernelId)> = (partners.into_iter())
        .filter_map(|partner| {
            let price = why.merge(kernel, partner).ok()?;
            Some((Reverse(price.saved_bytes()), partner))
        })
        .collect();
    partners.sort_unstable();
    let offers = partners.into_iter().filter_map(|(_, partner)| {
        let change = Change::Merge(kernel, partner);
        let proposal = propose(change, shown);
        proposal.text?;
        let names = op_names(&analysis.graph, analysis.partition.kernels.get(partner)?);
        let names = short_name(&names, NAME_CHARS);
        Some(Offer {
            change,
            partner: format!("kernel {} ({names})", partner.number()),
            effect: proposal.effect,
        })
    });
    offers.take(MAX_OFFERS).collect()
}

/// The first kernels with an edge from or to this one.
fn neighbours(analysis: &Analysis, kernel: KernelId) -> BTreeSet<KernelId> {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let ops = partition.kernels.get(kernel).unwrap_or_default();
    let producers = ops.iter().flat_map(|&op| {
        let producers = graph.predecessors[op].iter();
        producers.filter(move |&&producer| !partition.computes(kernel, producer))
    });
    let consumers = ops.iter().flat_map(|&op| {
        let consumers = graph.successors[op].iter();
        consumers.filter(move |&&consumer| !partition.computes(partition.kernel_of[consumer], op))
    });
    let mut neighbours = BTreeSet::new();
    for &op in producers.chain(consumers) {
        neighbours.insert(partition.kernel_of[op]);
        if neighbours.len() == MAX_LOOKED_AT {
            break;
        }
    }
    neighbours
}
