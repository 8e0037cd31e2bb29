//! The edges between kernels: why each is not fused, and what fusing it alone would save.

use super::format::{format_bytes, format_seconds};
use super::names::op_name;
use super::reasons::{reason_text, verdict_sentence};
use crate::core::analysis::why::{Price, Verdict, Why};
use crate::core::fusion::reason::Reason;
use crate::core::{Analysis, Graph, Objective, OpId};

/// An edge between two kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The op that writes the tensor.
    pub producer: OpId,
    /// The op that reads it.
    pub consumer: OpId,
    /// Why it is not fused.
    pub reason: Reason,
    /// What fusing it alone would save.
    pub price: Price,
}

/// The edges between kernels, the largest saving by the objective first. Takes as long as [`Why::edges`].
pub fn crossings(analysis: &Analysis) -> Vec<Crossing> {
    let edges = Why::new(analysis).edges().into_iter();
    let mut crossings: Vec<Crossing> = edges
        .filter_map(|edge| match edge.verdict {
            Verdict::Fused => None,
            Verdict::Apart { reason, price } => Some(Crossing {
                producer: edge.producer,
                consumer: edge.consumer,
                reason,
                price,
            }),
        })
        .collect();
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
pub fn crossing_rows(graph: &Graph, crossings: &[Crossing]) -> Vec<CrossingRow> {
    let row = |crossing: &Crossing| {
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
            reason: reason_text(graph, &crossing.reason),
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
pub fn answer(analysis: &Analysis, first: OpId, second: OpId) -> String {
    if first == second {
        return "It is one op. Choose another.".to_owned();
    }
    verdict_sentence(&analysis.graph, &Why::new(analysis).ask(first, second))
}
