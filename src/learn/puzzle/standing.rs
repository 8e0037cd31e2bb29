//! Par of a puzzle, and how far kernels are from it.

use super::Puzzle;
use crate::lesson::state::Seen;
use fuseline_core::fusion::certificate::{Amount, ROUNDING};
use fuseline_core::{Analysis, Graph, IdVec, KernelId, Objective, Op, OpId, Policy};
use fuseline_view::present::figure::{Explanation, Number, Term};
use fuseline_view::present::format::{format_bytes, format_percent, format_seconds};

/// A puzzle with what the engine has proven about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    /// The puzzle.
    pub puzzle: Puzzle,
    /// What it costs with each op as a kernel.
    pub start: Amount,
    /// What it costs at best. Nothing legal costs less.
    pub par: Amount,
    /// The kernels of the optimum that the search has found; there may be others.
    pub(super) optimum: IdVec<OpId, KernelId>,
    /// The program.
    graph: Graph,
}

/// How far kernels are from par.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// They are graded.
    Graded(Graded),
    /// They are not, for this reason, a sentence.
    Ungraded(String),
}

/// Legal kernels of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Graded {
    /// What they cost.
    pub cost: Amount,
    /// Their distance to par in its unit; 0 at par.
    pub above: Amount,
    /// The same in percent of par.
    pub above_pct: f64,
    /// How much of the way from the start to par is gone, in percent; none for kernels that cost more than the start.
    pub gone_pct: f64,
}

impl Graded {
    /// Whether they reach par.
    pub fn is_solved(&self) -> bool {
        self.above_pct == 0.0
    }

    /// The distance to par.
    pub fn words(&self) -> String {
        if self.is_solved() {
            return "Solved at par: no legal kernels cost less.".to_owned();
        }
        format!(
            "{} above par, {}",
            amount_text(self.above),
            format_percent(self.above_pct)
        )
    }
}

/// An amount in its unit.
pub fn amount_text(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => format_bytes(bytes),
        Amount::Seconds(seconds) => format_seconds(seconds),
    }
}

impl Posed {
    /// Searches the optimum; `None` if the puzzle has no graph, or the search has not proven it.
    pub fn of(puzzle: Puzzle) -> Option<Self> {
        let seen = puzzle.page.seen().filter(|seen| !seen.has_error)?;
        let best = seen.under(Policy::Optimal);
        let is_proven = (best.certificate).is_some_and(|certificate| certificate.is_optimal);
        is_proven.then(|| Self {
            start: cost(&seen.analysis),
            par: cost(&best),
            optimum: best.partition.kernel_of.clone(),
            graph: seen.analysis.graph.clone(),
            puzzle,
        })
    }

    /// What is told about par. It does not tell the kernels, which are the answer.
    pub fn par_explanation(&self) -> Explanation {
        let (number, formula) = match self.par {
            Amount::Bytes(bytes) => (
                Number::Bytes(bytes),
                "min over all legal kernels Σ (bytes read + bytes written)",
            ),
            Amount::Seconds(seconds) => (
                Number::Seconds(seconds),
                "min over all legal kernels Σ (lower bound of the time)",
            ),
        };
        Explanation {
            title: "par".to_owned(),
            subject: self.puzzle.title.clone(),
            value: amount_text(self.par),
            formula,
            term: Some(Term::given("", number)),
            notes: vec!["The button “Show the optimum” shows kernels that reach par.".to_owned()],
            conventions: Vec::new(),
            sources: vec!["Proven by a search over all legal kernels of this program.".to_owned()],
        }
    }

    /// Grades the kernels of a text, which is `has_error` if a kernel in it is not legal.
    pub fn standing(&self, analysis: &Analysis, has_error: bool) -> Standing {
        let ungraded = |words: &str| Standing::Ungraded(words.to_owned());
        if has_error {
            return ungraded("The text has an error or a kernel that is not legal.");
        }
        if !is_same_program(&analysis.graph, &self.graph) {
            return ungraded("The program or its sizes differ from the puzzle's.");
        }
        let mut options = self.puzzle.page.options();
        options.fusion.budget_states = analysis.options.fusion.budget_states;
        if analysis.options.policy != options.policy {
            return ungraded("These are not your kernels. Set the fusion policy to “by hand”.");
        }
        if analysis.options.device != options.device {
            let device = &options.device.name;
            return Standing::Ungraded(format!("The puzzle uses another device: {device}."));
        }
        if analysis.options != options {
            return ungraded(
                "The fusion options or the counting conventions differ from the puzzle's.",
            );
        }
        Standing::Graded(self.graded(analysis))
    }

    fn graded(&self, analysis: &Analysis) -> Graded {
        let cost = cost(analysis);
        let is_par = self.is_par(analysis);
        let zero = |is_zero: bool, value: f64| if is_zero { 0.0 } else { value };
        let above = match (cost, self.par) {
            (Amount::Bytes(cost), Amount::Bytes(par)) => Amount::Bytes(cost.saturating_sub(par)),
            (cost, par) => Amount::Seconds(zero(is_par, cost.value() - par.value())),
        };
        let (start, par) = (self.start.value(), self.par.value());
        let gone = 100.0 * (start - cost.value()) / (start - par);
        Graded {
            cost,
            above,
            above_pct: zero(is_par, 100.0 * (cost.value() / par - 1.0)),
            gone_pct: if is_par {
                100.0
            } else {
                gone.clamp(0.0, 100.0)
            },
        }
    }

    /// Whether kernels cost no more than par.
    pub(super) fn is_par(&self, analysis: &Analysis) -> bool {
        cost(analysis).value() <= self.par.value() * (1.0 + ROUNDING)
    }

    /// The text of the puzzle with the kernels of its start.
    pub fn seen(&self) -> Option<Seen> {
        self.puzzle.page.seen()
    }
}

/// What kernels cost by the objective of their analysis.
pub(super) fn cost(analysis: &Analysis) -> Amount {
    match analysis.options.fusion.objective {
        Objective::Bytes => Amount::Bytes(analysis.fused.traffic.total),
        Objective::Time | Objective::Measured => Amount::Seconds(analysis.fused.time_s),
    }
}

/// Whether two programs have the same ops and tensors, whatever kernels they state.
fn is_same_program(a: &Graph, b: &Graph) -> bool {
    let unmarked = |op: &Op| Op {
        kernel: None,
        ..op.clone()
    };
    a.tensors == b.tensors
        && a.ops.len() == b.ops.len()
        && (a.ops.iter().zip(b.ops.iter())).all(|(a, b)| unmarked(a) == unmarked(b))
}
