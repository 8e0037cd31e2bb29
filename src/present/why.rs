//! The edges between kernels: why each is not fused, and what fusing it alone would save.

use super::format::{format_bytes, format_seconds};
use super::names::op_name;
use super::reasons::{reason_text, verdict_sentence};
use crate::core::analysis::why::{Price, PricedEdge, Why};
use crate::core::{Analysis, Graph, Objective, OpId};

/// The edges between kernels, the largest saving by the objective first. Takes as long as [`Why::priced_edges`].
pub fn crossings(analysis: &Analysis) -> Vec<PricedEdge> {
    let mut crossings = Why::new(analysis).priced_edges();
    crossings.sort_by(|a, b| {
        let bytes = b.price.saved_bytes.cmp(&a.price.saved_bytes);
        let time = b.price.saved_s.total_cmp(&a.price.saved_s);
        match analysis.options.fusion.objective {
            Objective::Bytes => bytes.then(time),
            Objective::Time => time.then(bytes),
        }
    });
    crossings
}

/// A row of the table of edges between kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingRow {
    /// The op that writes the tensor.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// The names of both.
    pub edge: String,
    /// Bytes that fusing it would save.
    pub saved_bytes: String,
    /// Time that fusing it would save.
    pub saved_time: String,
    /// Why it is not fused; quoted parts are code.
    pub reason: String,
}

/// A row for each of these edges.
pub fn crossing_rows(graph: &Graph, why: &Why<'_>, crossings: &[PricedEdge]) -> Vec<CrossingRow> {
    let row = |crossing: &PricedEdge| {
        let (producer, consumer) = (crossing.producer, crossing.consumer);
        CrossingRow {
            producer,
            consumer,
            edge: format!(
                "{} → {}",
                op_name(graph, producer),
                op_name(graph, consumer)
            ),
            saved_bytes: saved_bytes(crossing.price),
            saved_time: saved_time(crossing.price),
            reason: reason_text(graph, &why.reason(crossing)),
        }
    };
    crossings.iter().map(row).collect()
}

fn saved_bytes(price: Price) -> String {
    let sign = if price.saved_bytes < 0 { "−" } else { "" };
    format!("{sign}{}", format_bytes(price.saved_bytes.unsigned_abs()))
}

fn saved_time(price: Price) -> String {
    let sign = if price.saved_s < 0.0 { "−" } else { "" };
    format!("{sign}{}", format_seconds(price.saved_s.abs()))
}

/// Whether two ops of the analysed graph run in one kernel, in a sentence; quoted parts are code.
pub fn answer(graph: &Graph, why: &Why<'_>, first: OpId, second: OpId) -> String {
    if first == second {
        return "It is one op. Choose another.".to_owned();
    }
    verdict_sentence(graph, &why.ask(first, second))
}
