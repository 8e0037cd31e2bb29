//! The edges between kernels: why each is not fused, and what fusing it alone would save.

use super::figure::{Explanation, Saved, merge_explanation};
use super::format::format_count;
use super::names::op_name;
use super::reasons::{SaidVerdict, reason_between, said_verdict};
use super::times::TimeKind;
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::rounds::Rounds;
use fuseline_core::analysis::why::{Price, PricedEdge, RoundsPrice, Why};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::fusion::record::Record;
use fuseline_core::{Analysis, Graph, IdVec, Objective, OpId};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// The op that writes a tensor, and an op that reads it.
pub type EdgeOps = (OpId, OpId);

/// The order in which edges between kernels are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum EdgeOrder {
    /// The largest saving of bytes first.
    Bytes,
    /// The largest saving of time first.
    Time,
    /// By the names of the ops.
    Name,
}

impl EdgeOrder {
    /// The order that puts first what counts most under an objective.
    pub const fn of(objective: Objective) -> Self {
        match objective {
            Objective::Bytes => Self::Bytes,
            Objective::Time | Objective::Measured => Self::Time,
        }
    }

    fn compare(self, graph: &Graph, a: &PricedEdge, b: &PricedEdge) -> Ordering {
        let bytes = || b.price.saved_bytes().cmp(&a.price.saved_bytes());
        // Edges without a time come last.
        let saved_s = |edge: &PricedEdge| edge.price.time_s().unwrap_or(f64::NEG_INFINITY);
        let time = || saved_s(b).total_cmp(&saved_s(a));
        let names = |edge: &PricedEdge| {
            let [from, to] = [edge.producer, edge.consumer];
            (op_name(graph, from), op_name(graph, to))
        };
        match self {
            Self::Bytes => bytes().then_with(time),
            Self::Time => time().then_with(bytes),
            Self::Name => names(a).cmp(&names(b)),
        }
    }
}

/// What keeps the kernels of an analysis apart, in words.
pub struct WhyNot {
    analysis: Arc<Analysis>,
    record: Option<Arc<Record>>,
    edges: Vec<PricedEdge>,
    /// The edges that are told in one row.
    folds: Vec<Fold>,
}

/// An edge and those like it in the other rounds of its block.
struct Fold {
    /// The first of them, with the price of all.
    first: PricedEdge,
    /// All of them, by their places among the edges.
    edges: Vec<usize>,
}

/// The first edges between kernels in an [`EdgeOrder`].
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct EdgeRows {
    /// One for each of them, and for the selected edge. Equal ones in the rounds of a block are one.
    pub rows: Vec<EdgeRow>,
    /// Number of rows that all edges between kernels have.
    pub total: usize,
}

/// An edge between two kernels.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct EdgeRow {
    /// Its ops.
    pub ops: EdgeOps,
    /// Their names.
    pub names: String,
    /// What fusing it would save.
    pub price: RoundsPrice,
    /// Why it is not fused; quoted parts are code.
    pub reason: String,
}

impl EdgeRow {
    /// The row of an edge that is not fused for this reason.
    pub fn new(graph: &Graph, edge: &PricedEdge, reason: &Reason) -> Self {
        let (producer, consumer) = (edge.producer, edge.consumer);
        let [from, to] = [producer, consumer].map(|op| op_name(graph, op));
        Self {
            ops: (producer, consumer),
            names: format!("{from} → {to}"),
            price: RoundsPrice::once(edge.price),
            reason: reason_between(graph, reason, [producer, consumer]),
        }
    }

    /// What fusing it would save, as it is shown. A dash where no kernel could run both.
    pub fn saved(&self, saved: Saved) -> String {
        saved_text(self.price.total(), saved)
    }

    /// The same explained by the analysis that the edge is of.
    pub fn explanation(&self, analysis: &Analysis, saved: Saved) -> Option<Explanation> {
        edge_explanation(analysis, self.ops, self.price, saved)
    }
}

impl WhyNot {
    /// Prices all edges: takes as long as [`Why::priced_edges`]. `record` spares a policy that
    /// [needs](Why::needs_record) its decisions to decide again for each answer.
    pub fn new(
        analysis: Arc<Analysis>,
        statement_of_op: &IdVec<OpId, usize>,
        record: Option<Arc<Record>>,
    ) -> Self {
        let edges = Why::new(&analysis).priced_edges();
        Self {
            folds: folds(&analysis, &edges, statement_of_op),
            edges,
            analysis,
            record,
        }
    }

    /// All edges between kernels, in this order. `O(edges log edges)`.
    pub fn edges(&self, order: EdgeOrder) -> Vec<PricedEdge> {
        let graph = &self.analysis.graph;
        let mut edges = self.edges.clone();
        edges.sort_by(|a, b| order.compare(graph, a, b));
        edges
    }

    /// The first `max_rows` edges between kernels, and the selected one wherever it is.
    pub fn rows(&self, order: EdgeOrder, max_rows: usize, selected: Option<EdgeOps>) -> EdgeRows {
        let graph = &self.analysis.graph;
        let mut folds: Vec<&Fold> = self.folds.iter().collect();
        folds.sort_by(|a, b| order.compare(graph, &a.first, &b.first));
        let of_selected = |fold: &&Fold| {
            let is_selected = |&place: &usize| {
                let edge = self.edges[place];
                Some((edge.producer, edge.consumer)) == selected
            };
            fold.edges.iter().any(is_selected)
        };
        let place = selected.and_then(|_| folds.iter().position(of_selected));
        let why = self.why();
        let row = |at: usize| {
            let fold = folds[at];
            // The selected edge stands for those like it.
            let told = selected.filter(|_| place == Some(at));
            let (producer, consumer) = told.unwrap_or((fold.first.producer, fold.first.consumer));
            let (own, others): (Vec<_>, Vec<_>) = (fold.edges.iter())
                .map(|&place| self.edges[place])
                .partition(|edge| (edge.producer, edge.consumer) == (producer, consumer));
            let edge = own.first().copied().unwrap_or(fold.first);
            let mut row = EdgeRow::new(graph, &edge, &why.reason(&edge));
            for other in others {
                row.price.add_round(other.price);
            }
            if fold.edges.len() > 1 {
                let rounds = format_count(fold.edges.len());
                row.reason = format!(
                    "{}; the figures are sums over all {rounds} iterations",
                    row.reason
                );
            }
            row
        };
        let further = place.filter(|&at| at >= max_rows);
        let listed = (0..folds.len().min(max_rows)).chain(further);
        EdgeRows {
            rows: listed.map(row).collect(),
            total: folds.len(),
        }
    }

    /// Whether two ops run in one kernel, and if not, why; or that the program has no such ops any
    /// more.
    pub fn answer(&self, first: OpId, second: OpId) -> SaidVerdict {
        let graph = &self.analysis.graph;
        if first.max(second).index() >= graph.ops.len() {
            return SaidVerdict::words("The program no longer has both ops. Choose others.");
        }
        if first == second {
            return SaidVerdict::words("It is one op. Choose another.");
        }
        said_verdict(
            &self.analysis,
            [first, second],
            &self.why().ask(first, second),
        )
    }

    fn why(&self) -> Why<'_> {
        match &self.record {
            Some(record) => Why::with_record(&self.analysis, record),
            None => Why::new(&self.analysis),
        }
    }
}

/// The edges, those of the rounds of a block together that save as many bytes between the same statements. `O(edges)`.
fn folds(
    analysis: &Analysis,
    edges: &[PricedEdge],
    statement_of_op: &IdVec<OpId, usize>,
) -> Vec<Fold> {
    let rounds = Rounds::new(analysis, statement_of_op);
    let mut folds: Vec<Fold> = Vec::new();
    let mut place_of = HashMap::new();
    for (at, edge) in edges.iter().enumerate() {
        let same = (rounds.statement_edge(edge), edge.price.saved_bytes());
        let place = *place_of.entry(same).or_insert(folds.len());
        match folds.get_mut(place) {
            Some(fold) => {
                fold.first.price = fold.first.price.and(edge.price);
                fold.edges.push(at);
            }
            None => folds.push(Fold {
                first: *edge,
                edges: vec![at],
            }),
        }
    }
    folds
}

/// The title of the column of saved times, and what it says at length.
pub fn saved_time_title(analysis: &Analysis) -> (&'static str, &'static str) {
    match TimeKind::of(analysis) {
        TimeKind::Predicted => (
            "predicted time saved",
            "how much time one kernel in place of the two would save, by the device model",
        ),
        TimeKind::LowerBound => (
            "lower bound saved",
            "how far one kernel in place of the two would reduce the lower bound of the time",
        ),
    }
}

/// What a change saves: `33.6 MB`, `costs 33.6 MB`. A dash where there is no such number.
pub(super) fn saved_text(price: Price, saved: Saved) -> String {
    let Some(number) = saved.number(price) else {
        return "–".to_owned();
    };
    match number.text().strip_prefix('−') {
        Some(cost) => format!("costs {cost}"),
        None => number.text(),
    }
}

/// What is told about what running the kernels of two ops as one would save.
pub fn edge_explanation(
    analysis: &Analysis,
    (producer, consumer): EdgeOps,
    price: RoundsPrice,
    saved: Saved,
) -> Option<Explanation> {
    let kernel_of = &analysis.partition.kernel_of;
    let kernels = [*kernel_of.get(producer)?, *kernel_of.get(consumer)?];
    merge_explanation(analysis, kernels, price, saved)
}
