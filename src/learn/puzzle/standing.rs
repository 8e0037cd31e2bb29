//! Par of a puzzle, and how far kernels are from it.

use super::file::Puzzle;
use super::rank::Rank;
use crate::language::Language;
use crate::lesson::state::AnalyzedProgram;
use fuseline_core::fusion::certificate::{Amount, ROUNDING};
use fuseline_core::notation::parse;
use fuseline_core::resolve::ops_and_reads;
use fuseline_core::{Analysis, Graph, IdVec, KernelId, Objective, Op, OpId, Policy};
use fuseline_view::present::derivation::Term;
use fuseline_view::present::figure::Explanation;
use fuseline_view::present::format::{format_bytes, format_percent, format_ratio, format_seconds};
use fuseline_view::present::number::Number;

/// Largest program of a puzzle: some 200 ops, more than anybody merges by hand.
const MAX_OPS_AND_READS: usize = 600;

/// A puzzle with what the engine has proven about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    pub puzzle: Puzzle,
    /// The cost with each op as a kernel.
    pub start: Amount,
    /// The cost without fusion, with the copies of operands that only a library needs.
    pub unfused: Amount,
    /// The least cost of legal kernels.
    pub par: Amount,
    /// The cost of the predicted kernels of torch.compile.
    pub(super) compiled: Amount,
    /// The kernels of the optimum that the search has found; there may be others.
    pub(super) optimum: IdVec<OpId, KernelId>,
    graph: Graph,
}

/// How far kernels are from par.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    Graded(Graded),
    /// They are not, for this reason, a sentence.
    Ungraded(String),
}

/// Legal kernels of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Graded {
    pub cost: Amount,
    /// Their distance to par in its unit; 0 at par.
    pub above: Amount,
    /// That distance in percent of par.
    pub above_pct: f64,
    /// How much of the way from the start to par is gone, in percent; none for kernels that cost
    /// more than the start.
    pub gone_pct: f64,
    /// The highest rank that they reach; `None` for kernels that save nothing.
    pub rank: Option<Rank>,
}

impl Graded {
    /// Whether they reach par.
    pub fn is_solved(&self) -> bool {
        self.above_pct == 0.0
    }

    /// The distance to par, and at par whether it counts.
    pub fn words(&self, start: Amount, maker: Maker) -> String {
        self.words_in(Language::English, start, maker)
    }

    /// [`Self::words`] in a language.
    pub fn words_in(&self, language: Language, start: Amount, maker: Maker) -> String {
        if !self.is_solved() {
            let above = amount_text(self.above);
            return language.above_par(&above, &format_percent(self.above_pct));
        }
        match maker {
            Maker::Visitor(moves) => language.solved(
                &language.move_count(moves),
                &saved_words(language, start, self.cost),
            ),
            Maker::Sender => language.solved_by_sender().to_owned(),
            Maker::Search => language.found_by_search().to_owned(),
            Maker::Other => language.not_by_own_moves().to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The visitor, with so many moves from the start.
    Visitor(usize),
    /// The sender of the link.
    Sender,
    /// The search, which shows the way to the optimum.
    Search,
    /// Something else: another policy, or a text that was pasted.
    Other,
}

/// `122 MB instead of 407 MB, 3.3× less`.
fn saved_words(language: Language, start: Amount, now: Amount) -> String {
    let ratio = format_ratio(start.value() / now.value());
    let [start_text, now_text] = [start, now].map(amount_text);
    match now {
        Amount::Bytes(_) => language.less_traffic(&now_text, &start_text, &ratio),
        Amount::Seconds(_) => language.less_time(&now_text, &start_text, &ratio),
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
    /// Searches the optimum.
    ///
    /// # Errors
    /// Why the program is no puzzle, a sentence.
    pub fn of(puzzle: Puzzle) -> Result<Self, &'static str> {
        let language = puzzle.language();
        // Before the analysis: a link may carry a program of 10,000 ops.
        if !is_small(&puzzle.page.shared.text) {
            return Err(language.puzzle_too_large());
        }
        let analyzed = (puzzle.page.analyzed())
            .filter(|analyzed| !analyzed.has_error && !analyzed.analysis.graph.ops.is_empty());
        let analyzed = analyzed.ok_or(language.puzzle_with_error())?;
        let best = analyzed.under(Policy::Optimal);
        if !(best.certificate).is_some_and(|certificate| certificate.is_optimal) {
            return Err(language.puzzle_not_proven());
        }
        let posed = Self {
            start: cost(&analyzed.analysis),
            unfused: cost(&analyzed.under(Policy::None)),
            par: cost(&best),
            compiled: cost(&analyzed.under(Policy::Inductor)),
            optimum: best.partition.kernel_of.clone(),
            graph: analyzed.analysis.graph.clone(),
            puzzle,
        };
        if posed.is_par(&analyzed.analysis) {
            return Err(language.puzzle_saves_nothing());
        }
        Ok(posed)
    }

    /// The explanation of par. It does not tell the kernels, which are the answer.
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
            notes: vec![format!(
                "The button “{}” shows kernels that reach par.",
                self.puzzle.language().show_optimum()
            )],
            conventions: Vec::new(),
            sources: vec!["Proven by a search over all legal kernels of this program.".to_owned()],
        }
    }

    /// Grades the kernels of a text, which is `has_error` if a kernel in it is not legal.
    pub fn standing(&self, analysis: &Analysis, has_error: bool) -> Standing {
        let language = self.puzzle.language();
        let ungraded = |words: &str| Standing::Ungraded(words.to_owned());
        if has_error {
            return ungraded(language.illegal_kernels());
        }
        if !is_same_program(&analysis.graph, &self.graph) {
            return ungraded(language.other_program());
        }
        let mut options = self.puzzle.page.options();
        options.fusion.budget_states = analysis.options.fusion.budget_states;
        if analysis.options.policy != options.policy {
            return ungraded(language.other_policy());
        }
        if analysis.options.device != options.device {
            let device = &options.device.name;
            return Standing::Ungraded(language.other_device(device));
        }
        if analysis.options != options {
            return ungraded(language.other_choices());
        }
        Standing::Graded(self.graded(analysis))
    }

    fn graded(&self, analysis: &Analysis) -> Graded {
        let cost = cost(analysis);
        let is_par = self.reaches_par(cost);
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
            rank: self.rank_of(cost),
        }
    }

    /// Whether kernels cost no more than par.
    pub(super) fn is_par(&self, analysis: &Analysis) -> bool {
        self.reaches_par(cost(analysis))
    }

    /// Whether this is no more than par.
    pub(super) fn reaches_par(&self, cost: Amount) -> bool {
        cost.value() <= self.par.value() * (1.0 + ROUNDING)
    }

    /// The text of the puzzle with the kernels of its start.
    pub fn analyzed(&self) -> Option<AnalyzedProgram> {
        self.puzzle.page.analyzed()
    }
}

/// Whether a program is as small as that of a puzzle.
pub fn is_small(text: &str) -> bool {
    ops_and_reads(&parse(text).program) <= MAX_OPS_AND_READS
}

/// The cost of kernels by the objective of their analysis.
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
