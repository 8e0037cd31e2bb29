//! The edges between kernels: why each is not fused, and what fusing it alone would save.

use super::figure::{Explanation, merge_explanation};
use super::format::format_count;
use super::names::{op_name, op_names};
use super::reasons::reason_between;
use super::saved::{Saved, saved_text};
use super::slower::{ops_of_both, slower_cause};
use super::verdict::{VerdictText, verdict_text};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::iterations::Iterations;
use fuseline_core::analysis::why::{PricedEdge, RepeatedPrice, Why};
use fuseline_core::fusion::attention::{Attention, find};
use fuseline_core::fusion::decision_trace::DecisionTrace;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::{Analysis, Graph, IdVec, KernelId, Objective, OpId};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// The op that writes a tensor, and an op that reads it.
pub type EdgeOps = (OpId, OpId);

/// Two ops that the visitor has asked about, by their names, which stay when other lines are
/// edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    names: [String; 2],
    /// Whether they ran in two kernels when the visitor asked.
    were_apart: bool,
}

impl Asked {
    /// The question as the visitor asks it.
    pub fn about(analysis: &Analysis, (first, second): EdgeOps) -> Self {
        Self {
            names: [first, second].map(|op| op_name(&analysis.graph, op).to_owned()),
            were_apart: are_apart(analysis, first, second),
        }
    }

    /// Its ops; `None` where the question has lost its sense: an op is gone, or they now run in one
    /// kernel and did not before.
    pub fn ops(&self, analysis: &Analysis) -> Option<EdgeOps> {
        let [first, second] = &self.names;
        let (first, second) = (
            analysis.graph.op_named(first)?,
            analysis.graph.op_named(second)?,
        );
        (!self.were_apart || are_apart(analysis, first, second)).then_some((first, second))
    }
}

fn are_apart(analysis: &Analysis, first: OpId, second: OpId) -> bool {
    let (partition, later) = (&analysis.partition, first.max(second));
    (partition.kernel_of.get(later))
        .is_some_and(|&kernel| !partition.computes(kernel, first.min(second)))
}

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

    /// Compares two edges. Edges that no order of the kernels allows fusing come last.
    fn compare(self, graph: &Graph, a: Possible<'_>, b: Possible<'_>) -> Ordering {
        let is_possible = || b.is_possible.cmp(&a.is_possible);
        let (a, b) = (a.edge, b.edge);
        let bytes = || b.price.saved_bytes().cmp(&a.price.saved_bytes());
        // Edges without a time come last.
        let saved_s = |edge: &PricedEdge| edge.price.time_s().unwrap_or(f64::NEG_INFINITY);
        let time = || saved_s(b).total_cmp(&saved_s(a));
        let names = |edge: &PricedEdge| {
            let [from, to] = [edge.producer, edge.consumer];
            (op_name(graph, from), op_name(graph, to))
        };
        match self {
            Self::Bytes => is_possible().then_with(bytes).then_with(time),
            Self::Time => is_possible().then_with(time).then_with(bytes),
            Self::Name => names(a).cmp(&names(b)),
        }
    }
}

/// An edge, and whether an order of the kernels allows fusing its two kernels.
#[derive(Clone, Copy)]
struct Possible<'a> {
    edge: &'a PricedEdge,
    is_possible: bool,
}

/// Why the kernels of an analysis are separate, in words.
pub struct WhyNot {
    analysis: Arc<Analysis>,
    trace: Option<Arc<DecisionTrace>>,
    edges: Vec<PricedEdge>,
    /// For each of them as [`Why::are_possible`].
    are_possible: Vec<bool>,
    /// The edges that share a row.
    folds: Vec<Fold>,
}

/// An edge and those like it in the other iterations of its block.
struct Fold {
    /// The first of them, with the price of all.
    first: PricedEdge,
    is_possible: bool,
    /// All of them, by their indices among the edges.
    edges: Vec<usize>,
}

/// The first edges between kernels in an [`EdgeOrder`].
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct EdgeRows {
    /// One row for each of these edges, and for the selected one. Equal edges in the iterations of
    /// a block share a row.
    pub rows: Vec<EdgeRow>,
    /// Number of rows for all edges between kernels.
    pub total: usize,
}

/// An edge between two kernels.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct EdgeRow {
    pub ops: EdgeOps,
    pub names: String,
    /// What fusing it would save.
    pub price: RepeatedPrice,
    /// Why it is not fused; quoted parts are code.
    pub reason: String,
    /// Whether an order of the kernels allows fusing the two.
    pub is_possible: bool,
    /// Further notes on the fused kernel, in sentences; quoted parts are code.
    pub notes: Vec<String>,
}

impl EdgeRow {
    /// The row of an edge that is not fused for this reason.
    pub fn new(graph: &Graph, edge: &PricedEdge, reason: &Reason) -> Self {
        let (producer, consumer) = (edge.producer, edge.consumer);
        let [from, to] = [producer, consumer].map(|op| op_name(graph, op));
        Self {
            ops: (producer, consumer),
            names: format!("{from} → {to}"),
            price: RepeatedPrice::once(edge.price),
            reason: reason_between(graph, reason, [producer, consumer]),
            is_possible: !matches!(reason, Reason::Cycle { .. }),
            notes: Vec::new(),
        }
    }

    /// What fusing it would save, as the page shows it. A dash where no order of the kernels allows
    /// it.
    pub fn saved(&self, saved: Saved) -> String {
        if self.is_possible {
            saved_text(self.price.total(), saved)
        } else {
            "–".to_owned()
        }
    }

    /// The explanation of that saving by the edge's analysis; `None` where fusing is not possible.
    pub fn explanation(&self, analysis: &Analysis, saved: Saved) -> Option<Explanation> {
        let explanation = || edge_explanation(analysis, self.ops, self.price, saved);
        self.is_possible.then(explanation).flatten()
    }
}

impl WhyNot {
    /// Prices all edges: takes as long as [`Why::priced_edges`]. `trace` spares a policy that
    /// [needs](Why::needs_trace) its decisions to decide again for each answer.
    pub fn new(
        analysis: Arc<Analysis>,
        statement_of_op: &IdVec<OpId, usize>,
        trace: Option<Arc<DecisionTrace>>,
    ) -> Self {
        let why = Why::new(&analysis);
        let edges = why.priced_edges();
        let are_possible = why.are_possible(&edges);
        Self {
            folds: folds(&analysis, &edges, &are_possible, statement_of_op),
            edges,
            are_possible,
            analysis,
            trace,
        }
    }

    /// All edges between kernels, in this order. `O(edges log edges)`.
    pub fn edges(&self, order: EdgeOrder) -> Vec<PricedEdge> {
        let graph = &self.analysis.graph;
        let edges = self.edges.iter().zip(&self.are_possible);
        let mut edges: Vec<Possible<'_>> = edges
            .map(|(edge, &is_possible)| Possible { edge, is_possible })
            .collect();
        edges.sort_by(|a, b| order.compare(graph, *a, *b));
        edges.into_iter().map(|possible| *possible.edge).collect()
    }

    /// The first `max_rows` edges between kernels, and the selected one wherever it is.
    pub fn rows(&self, order: EdgeOrder, max_rows: usize, selected: Option<EdgeOps>) -> EdgeRows {
        let graph = &self.analysis.graph;
        let mut folds: Vec<&Fold> = self.folds.iter().collect();
        folds.sort_by(|a, b| order.compare(graph, a.possible(), b.possible()));
        let of_selected = |fold: &&Fold| {
            let is_selected = |&place: &usize| {
                let edge = self.edges[place];
                Some((edge.producer, edge.consumer)) == selected
            };
            fold.edges.iter().any(is_selected)
        };
        let place = selected.and_then(|_| folds.iter().position(of_selected));
        let why = self.why();
        let attentions = attentions_in_pieces(&self.analysis);
        let row = |at: usize| {
            let fold = folds[at];
            // The selected edge represents the equal edges of other iterations.
            let explanation = selected.filter(|_| place == Some(at));
            let (producer, consumer) =
                explanation.unwrap_or((fold.first.producer, fold.first.consumer));
            let (own, others): (Vec<_>, Vec<_>) = (fold.edges.iter())
                .map(|&place| self.edges[place])
                .partition(|edge| (edge.producer, edge.consumer) == (producer, consumer));
            let edge = own.first().copied().unwrap_or(fold.first);
            let mut row = EdgeRow::new(graph, &edge, &why.reason(&edge));
            for other in others {
                row.price.add_iteration(other.price);
            }
            row.notes = self.notes(&why, &row, &attentions);
            if fold.edges.len() > 1 {
                let iterations = format_count(fold.edges.len());
                row.reason = format!(
                    "{}; the figures are sums over all {iterations} iterations",
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

    /// Notes on fusing the two kernels of a row, beside its figures.
    fn notes(&self, why: &Why<'_>, row: &EdgeRow, attentions: &[Attention]) -> Vec<String> {
        if !row.is_possible {
            return Vec::new();
        }
        let (producer, consumer) = row.ops;
        let kernels = [producer, consumer].map(|op| self.analysis.partition.kernel_of[op]);
        let ops = ops_of_both(&self.analysis, kernels).filter(|ops| ops.len() > 2);
        let whole = ops.map(|ops| {
            let names = op_names(&self.analysis.graph, &ops);
            format!("With the rest of their kernels: {names}.")
        });
        let merged = |[a, b]: [KernelId; 2]| why.merged_breakdown(a, b);
        let cause = slower_cause(&self.analysis, kernels, row.price.total(), merged);
        let cause = cause.map(|cause| format!("As one kernel: {cause}."));
        let attention = attention_note(attentions, [producer, consumer]);
        let notes = [attention.map(str::to_owned), whole, cause];
        notes.into_iter().flatten().collect()
    }

    /// Whether two ops run in one kernel, and if not, why; or that the program no longer has these
    /// ops.
    pub fn answer(&self, first: OpId, second: OpId) -> VerdictText {
        let graph = &self.analysis.graph;
        if first.max(second).index() >= graph.ops.len() {
            return VerdictText::words("The program no longer has both ops. Choose others.");
        }
        if first == second {
            return VerdictText::words("It is one op. Choose another.");
        }
        let (ops, verdict) = ([first, second], self.why().ask(first, second));
        let mut text = verdict_text(&self.analysis, ops, &verdict);
        if verdict.saved().is_some()
            && let Some(note) = attention_note(&attentions_in_pieces(&self.analysis), ops)
        {
            text.add(format!(" {note}"));
        }
        text
    }

    fn why(&self) -> Why<'_> {
        match &self.trace {
            Some(trace) => Why::with_trace(&self.analysis, trace),
            None => Why::new(&self.analysis),
        }
    }
}

impl Fold {
    const fn possible(&self) -> Possible<'_> {
        Possible {
            edge: &self.first,
            is_possible: self.is_possible,
        }
    }
}

/// The attention blocks that the options do not fuse. `O(ops + reads)`.
pub(super) fn attentions_in_pieces(analysis: &Analysis) -> Vec<Attention> {
    if analysis.options.fuses_attention() {
        Vec::new()
    } else {
        find(&analysis.graph)
    }
}

/// The note that both ops are in one attention block, which another algorithm computes in one
/// kernel.
fn attention_note(attentions: &[Attention], ops: [OpId; 2]) -> Option<&'static str> {
    let has_both = |attention: &Attention| ops.iter().all(|op| attention.ops.contains(op));
    attentions.iter().any(has_both).then_some(
        "FlashAttention runs both in one kernel, with a running softmax, tile by tile: choose “fused attention” under Options.",
    )
}

/// Groups of edges that share a row: edges in the iterations of a block that save as many bytes
/// between the same statements. `O(edges)`.
fn folds(
    analysis: &Analysis,
    edges: &[PricedEdge],
    are_possible: &[bool],
    statement_of_op: &IdVec<OpId, usize>,
) -> Vec<Fold> {
    let iterations = Iterations::new(analysis, statement_of_op);
    let mut folds: Vec<Fold> = Vec::new();
    let mut place_of = HashMap::new();
    for (at, (edge, &is_possible)) in edges.iter().zip(are_possible).enumerate() {
        let same = (
            iterations.statement_edge(edge),
            edge.price.saved_bytes(),
            is_possible,
        );
        let place = *place_of.entry(same).or_insert(folds.len());
        match folds.get_mut(place) {
            Some(fold) => {
                fold.first.price = fold.first.price.and(edge.price);
                fold.edges.push(at);
            }
            None => folds.push(Fold {
                first: *edge,
                is_possible,
                edges: vec![at],
            }),
        }
    }
    folds
}

/// The explanation of what fusing the kernels of two ops would save.
pub fn edge_explanation(
    analysis: &Analysis,
    (producer, consumer): EdgeOps,
    price: RepeatedPrice,
    saved: Saved,
) -> Option<Explanation> {
    let kernel_of = &analysis.partition.kernel_of;
    let kernels = [*kernel_of.get(producer)?, *kernel_of.get(consumer)?];
    merge_explanation(analysis, kernels, price, saved)
}
