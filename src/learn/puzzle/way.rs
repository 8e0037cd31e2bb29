//! Ways to par: merges and cuts with their prices.

use super::nudge::{Nudge, nudge};
use super::standing::{Posed, Standing, cost};
use crate::lesson::state::AnalyzedProgram;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::{Price, Why};
use fuseline_core::{Analysis, KernelId, Objective, OpId};
use fuseline_view::present::manual::{Change, Proposal, propose};
use fuseline_view::present::names::op_name;
use std::collections::BTreeSet;

/// A change on the way to par.
#[derive(Clone, Debug, PartialEq)]
pub struct PuzzleStep {
    /// The change of the kernels before it.
    pub change: Change,
    /// The ops of the edge that is merged or cut: producer and consumer, or two readers of one
    /// tensor.
    pub edge: [OpId; 2],
    /// Where to look, and why.
    pub nudge: Nudge,
    /// The move, and its price.
    pub hint: String,
    /// The move in the past tense, and its price.
    pub done: String,
    /// The text after it.
    pub text: String,
}

impl Posed {
    /// The steps from these kernels to par, of which the first one is the hint. Merges alone, if
    /// always taking the one that saves most leads there; otherwise kernels that no kernel of the
    /// optimum contains are cut first.
    ///
    /// `None` for another program, and where the engine finds no way. Takes an analysis a step, and
    /// one for each edge of a kernel that is cut.
    pub fn way(&self, analyzed: &AnalyzedProgram) -> Option<Vec<PuzzleStep>> {
        if !matches!(
            self.standing(&analyzed.analysis, analyzed.has_error),
            Standing::Graded(_)
        ) {
            return None;
        }
        let mut now = analyzed.clone();
        let mut steps = Vec::new();
        // Each cut makes one more kernel, each merge one less.
        let most = 2 * now.analysis.graph.ops.len();
        while !self.is_par(&now.analysis) && steps.len() <= most {
            let is_cut = self.spanning(&now.analysis).is_some();
            if (is_cut || steps.is_empty())
                && let Some(merges) = self.best_merges(&now)
            {
                steps.extend(merges);
                return Some(steps);
            }
            let (step, next) = if is_cut {
                self.cut(&now)?
            } else {
                merge(&now, &|a, b| self.is_together(&now.analysis, a, b), false)?
            };
            steps.push(step);
            now = next;
        }
        self.is_par(&now.analysis).then_some(steps)
    }

    /// Always the merge that saves most; `None` if that does not lead to par.
    fn best_merges(&self, analyzed: &AnalyzedProgram) -> Option<Vec<PuzzleStep>> {
        let mut now = analyzed.clone();
        let mut steps = Vec::new();
        while !self.is_par(&now.analysis) {
            let (step, next) = merge(&now, &|_, _| true, true)?;
            steps.push(step);
            now = next;
        }
        Some(steps)
    }

    /// The cheapest cut of a kernel that no kernel of the optimum holds.
    fn cut(&self, now: &AnalyzedProgram) -> Option<(PuzzleStep, AnalyzedProgram)> {
        let kernel = self.spanning(&now.analysis)?;
        let graph = &now.analysis.graph;
        let ops = &now.analysis.partition.kernels[kernel];
        let cuts = |reads: bool| {
            let edges = ops.iter().flat_map(|&b| ops.iter().map(move |&a| [a, b]));
            let to_cut = edges.filter(move |&[a, b]| {
                a < b
                    && self.optimum[a] != self.optimum[b]
                    && reads == graph.predecessors[b].contains(&a)
            });
            let steps = to_cut.filter_map(|edge| {
                let [producer, consumer] = edge;
                step(now, Change::Cut { producer, consumer }, edge)
            });
            steps.min_by(|(_, a), (_, b)| {
                let of = |analyzed: &AnalyzedProgram| cost(&analyzed.analysis).value();
                of(a).total_cmp(&of(b))
            })
        };
        // Two readers of one tensor may share a kernel without an edge between them.
        cuts(true).or_else(|| cuts(false))
    }

    /// A kernel with ops that are in different kernels of the optimum.
    fn spanning(&self, analysis: &Analysis) -> Option<KernelId> {
        let mut kernels = analysis.partition.kernels.iter_enumerated();
        let spans = kernels.find(|(_, ops)| {
            let of = |op: &OpId| self.optimum[*op];
            ops.windows(2).any(|two| of(&two[0]) != of(&two[1]))
        });
        spans.map(|(kernel, _)| kernel)
    }

    /// Whether the ops of two kernels are in one kernel of the optimum.
    fn is_together(&self, analysis: &Analysis, a: KernelId, b: KernelId) -> bool {
        let of = |kernel: KernelId| {
            let first = analysis.partition.kernels.get(kernel)?.first()?;
            self.optimum.get(*first)
        };
        of(a) == of(b)
    }
}

/// The best legal merge of two kernels that may be merged.
fn merge(
    now: &AnalyzedProgram,
    may: &dyn Fn(KernelId, KernelId) -> bool,
    is_gain_only: bool,
) -> Option<(PuzzleStep, AnalyzedProgram)> {
    let analysis = &now.analysis;
    let why = Why::new(analysis);
    let mut merges: Vec<([OpId; 2], Price)> = (pairs(analysis).into_iter())
        .filter_map(|(a, b, edge)| {
            let price = may(a, b).then(|| why.merge(a, b).ok()).flatten()?;
            (!is_gain_only || price.is_gain(analysis)).then_some((edge, price))
        })
        .collect();
    let saved = |price: &Price| match analysis.options.fusion.objective {
        Objective::Bytes => price.saved_bytes() as f64,
        Objective::Time | Objective::Measured => price.bound_saved_s().unwrap_or(0.0),
    };
    merges.sort_by(|(_, a), (_, b)| saved(b).total_cmp(&saved(a)));
    merges.into_iter().find_map(|(edge, _)| {
        let [a, b] = edge.map(|op| analysis.partition.kernel_of[op]);
        step(now, Change::Merge(a, b), edge)
    })
}

/// A change with its effect; `None` if it is not possible.
fn step(
    now: &AnalyzedProgram,
    change: Change,
    edge: [OpId; 2],
) -> Option<(PuzzleStep, AnalyzedProgram)> {
    let Proposal {
        words, done, text, ..
    } = propose(
        change,
        KernelsInText {
            text: &now.text,
            program: now.program(),
            analysis: &now.analysis,
            statement_of_op: &now.statement_of_op,
        },
    );
    let text = text?;
    let next = AnalyzedProgram::of(&text, &now.analysis.options).filter(|next| !next.has_error)?;
    let graph = &now.analysis.graph;
    let [first, second] = edge.map(|op| op_name(graph, op));
    let hint = match change {
        Change::Merge(..) | Change::MergeOnTop(..)
            if graph.predecessors[edge[1]].contains(&edge[0]) =>
        {
            format!("Look at the edge from {first} to {second}. {words}")
        }
        Change::Merge(..) | Change::MergeOnTop(..) => {
            format!("{first} and {second} read the same tensor. {words}")
        }
        Change::Cut { .. } => format!(
            "The best merges from here do not reach par: {first} and {second} share a kernel that is in the way. {words}"
        ),
    };
    let step = PuzzleStep {
        change,
        edge,
        nudge: nudge(now, &next, change, edge),
        hint,
        done,
        text,
    };
    Some((step, next))
}

/// All two kernels that share a tensor, each once, with two ops that do: those with an edge first.
fn pairs(analysis: &Analysis) -> Vec<(KernelId, KernelId, [OpId; 2])> {
    let graph = &analysis.graph;
    let kernel_of = &analysis.partition.kernel_of;
    let edges = graph.predecessors.iter_enumerated();
    let mut shared: Vec<[OpId; 2]> = edges
        .flat_map(|(consumer, producers)| producers.iter().map(move |&p| [p, consumer]))
        .collect();
    if analysis.options.fusion.horizontal {
        for readers in graph.consumers.iter() {
            let two = readers.iter().enumerate();
            shared
                .extend(two.flat_map(|(at, &a)| readers.iter().skip(at + 1).map(move |&b| [a, b])));
        }
    }
    let mut known = BTreeSet::new();
    shared.retain(|edge| {
        let [a, b] = edge.map(|op| kernel_of[op]);
        a != b && known.insert((a.min(b), a.max(b)))
    });
    let pairs = shared.into_iter();
    pairs
        .map(|edge| (kernel_of[edge[0]], kernel_of[edge[1]], edge))
        .collect()
}
