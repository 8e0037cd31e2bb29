//! The program at single values.

use super::figures::SweepFigures;
use super::grid::Grid;
use crate::analysis::{Analysis, analyze_plan, read};
use crate::fusion;
use crate::model::bound::Bound;
use crate::model::diagnostic::has_errors;
use crate::model::graph::{Graph, Tensor};
use crate::model::ids::{OpId, TensorId};
use crate::model::op::TensorRole;
use crate::model::options::{Options, Policy};
use crate::model::program::Program;
use crate::model::work::Work;
use crate::resolve::params_following;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Neighbouring values that are searched, at most, for one at which the program has no error.
const NEAR: usize = 64;

/// A kernel, by the statements of its ops: it is the same at another value, and one of all
/// iterations of a block.
pub(super) type KernelKey = Vec<usize>;

/// The result of a search for a value without an error.
pub(super) enum Near {
    /// The nearest place at which the program has no error.
    Place(usize),
    /// It has one everywhere.
    Nowhere,
    /// It has one at all places that were looked at, and there are others.
    Unknown,
}

/// The program at one value.
pub(super) struct SweepState {
    /// For each statement the bytes of the tensor that it writes, in all iterations.
    pub(super) written_bytes: Vec<u64>,
    /// Bytes of all weights.
    pub(super) weight_bytes: u64,
    /// In the order of the policies.
    pub(super) policies: Vec<PolicyState>,
    /// States that the search for the optimum visited.
    visited: usize,
}

impl SweepState {
    pub(super) fn figures(&self) -> impl Iterator<Item = SweepFigures> + '_ {
        self.policies.iter().map(|policy| policy.figures)
    }
}

/// A policy at one value.
pub(super) struct PolicyState {
    pub(super) figures: SweepFigures,
    /// For each statement the bytes that are moved for the tensor that it writes.
    pub(super) moved_bytes: Vec<u64>,
    /// Whether the tensors that are live at once fit the device; `None` where its memory is
    /// unknown.
    pub(super) fits: Option<bool>,
    pub(super) kernels: HashMap<KernelKey, KernelState>,
    is_predicted: bool,
}

/// A kernel at one value, in all iterations.
#[derive(Clone, Copy)]
pub(super) struct KernelState {
    pub(super) bound: Bound,
    /// Its part of the lower bounds of all kernels.
    pub(super) share: f64,
}

/// The program at all values that were tried.
pub(super) struct States<'a> {
    pub(super) program: &'a Program,
    pub(super) policies: &'a [Policy],
    /// The index of the chosen one, if it is among them.
    pub(super) chosen: Option<usize>,
    pub(super) grid: Grid,
    /// How many further values may be tried.
    pub(super) tries_left: usize,
    /// How many states the searches at all values may visit before no further value is tried.
    pub(super) most_visited: usize,
    /// Whether no value was left out for that.
    pub(super) is_complete: bool,
    param: usize,
    /// States that the searches at all values have visited.
    visited: usize,
    options: Vec<Options>,
    /// `None` where the program has an error.
    tried: BTreeMap<usize, Option<SweepState>>,
}

impl<'a> States<'a> {
    pub(super) fn new(
        program: &'a Program,
        param: usize,
        options: &Options,
        policies: &'a [Policy],
        grid: Grid,
    ) -> Self {
        Self {
            program,
            chosen: (policies.iter()).position(|&policy| policy == options.policy),
            policies,
            grid,
            tries_left: usize::MAX,
            most_visited: usize::MAX,
            visited: 0,
            is_complete: true,
            param,
            options: policies
                .iter()
                .map(|&policy| options.under(policy))
                .collect(),
            tried: BTreeMap::new(),
        }
    }

    /// The larger of what `count` counts in the program at both ends.
    pub(super) fn largest(&self, count: fn(&Program) -> usize) -> usize {
        let ends = [0, self.grid.len() - 1];
        let counts = ends.map(|place| count(&self.program_at(place)));
        counts.into_iter().max().unwrap_or(0)
    }

    /// The larger number of states that the search visits at both ends, or beside an end at which
    /// the program has an error.
    pub(super) fn visited_at_ends(&mut self) -> usize {
        let count = self.grid.len();
        let visited = [0, count - 1].map(|end| match self.valid_near(end, 0..count) {
            Near::Place(place) => self.known(place).map_or(0, |state| state.visited),
            Near::Nowhere | Near::Unknown => 0,
        });
        visited.into_iter().max().unwrap_or(0)
    }

    /// Tries `count` values, where one has an error another beside it. Their places, ascending.
    pub(super) fn sample(&mut self, count: usize) -> Vec<usize> {
        let spread = self.grid.spread(count);
        let mut places: Vec<usize> = Vec::with_capacity(spread.len());
        for (at, &place) in spread.iter().enumerate() {
            let after = places.last().map_or(0, |last| last + 1);
            let end = spread.get(at + 1).copied().unwrap_or(place + 1);
            if let Near::Place(valid) = self.valid_near(place, after..end) {
                places.push(valid);
            }
        }
        places
    }

    /// A place of `within` at which the program has no error, the nearest to `place`.
    pub(super) fn valid_near(&mut self, place: usize, within: Range<usize>) -> Near {
        // Where a size must be divisible, many values of a slider give an error, and a crossing
        // between two of them must be found all the same.
        for distance in 0..NEAR {
            let near = [place.checked_sub(distance), place.checked_add(distance)];
            let near = near
                .into_iter()
                .flatten()
                .filter(|near| within.contains(near));
            let mut near = near.peekable();
            if near.peek().is_none() {
                return Near::Nowhere;
            }
            if let Some(place) = near.find(|&near| self.at(near).is_some()) {
                return Near::Place(place);
            }
        }
        Near::Unknown
    }

    /// The program at a place; `None` if it has an error there, or no further value may be tried.
    pub(super) fn at(&mut self, place: usize) -> Option<&SweepState> {
        if !self.tried.contains_key(&place) {
            if self.tries_left == 0 || self.visited >= self.most_visited {
                self.is_complete = false;
                return None;
            }
            // A value with an error counts as well, because it is read and resolved like any other.
            self.tries_left -= 1;
            let state = self.evaluate(place);
            self.visited += state.as_ref().map_or(0, |state| state.visited);
            self.tried.insert(place, state);
        }
        self.known(place)
    }

    /// The program at a place that was tried.
    pub(super) fn known(&self, place: usize) -> Option<&SweepState> {
        self.tried.get(&place)?.as_ref()
    }

    /// Whether times are those of the device model.
    pub(super) fn is_predicted(&self) -> bool {
        let mut states = self.tried.values().flatten();
        let of_all = |state: &SweepState| state.policies.iter().all(|policy| policy.is_predicted);
        states.all(of_all)
    }

    fn program_at(&self, place: usize) -> Program {
        let mut program = self.program.clone();
        let moved = params_following(&program, self.param, self.grid.value(place));
        for (param, value) in program.params.iter_mut().zip(moved) {
            param.value = value.unwrap_or(param.value);
        }
        program
    }

    fn evaluate(&self, place: usize) -> Option<SweepState> {
        let read = read(&self.program_at(place));
        let graph = read.graph.filter(|_| !has_errors(&read.diagnostics))?;
        // The graph may sort ops anew, so the way to their statements leads through the list.
        let statements: Vec<usize> = (graph.listed_at.iter())
            .filter_map(|&listed| read.statement_of_op.get(listed).copied())
            .collect();
        let tensors = graph.tensors.iter();
        let weights =
            tensors.filter(|tensor| tensor.is_external() && tensor.role == TensorRole::Weight);
        let weight_bytes = weights.filter_map(Tensor::bytes).sum();
        let written_bytes = self.by_statement(&graph, &statements, |tensor| {
            graph.tensors[tensor].bytes().unwrap_or(0)
        });
        let mut visited = 0;
        let policies = self.options.iter().map(|options| {
            let plan = fusion::plan(&graph, options);
            visited += plan.certificate.map_or(0, |certificate| certificate.states);
            let analysis = analyze_plan(graph.clone(), options, plan);
            self.policy_state(&analysis, &statements)
        });
        Some(SweepState {
            policies: policies.collect(),
            written_bytes,
            weight_bytes,
            visited,
        })
    }

    fn policy_state(&self, analysis: &Analysis, statements: &[usize]) -> PolicyState {
        let fused = &analysis.fused;
        let work = (fused.kernels.iter()).fold(Work::default(), |sum, kernel| sum.and(kernel.work));
        let mut kernels: HashMap<KernelKey, KernelState> = HashMap::new();
        for kernel in &fused.kernels {
            // By statement, because ids of ops and kernels may differ from value to value.
            let statement = |op: &OpId| statements.get(op.index()).copied();
            let key: KernelKey = kernel.ops.iter().filter_map(statement).collect();
            // A program of free views takes no time.
            let share = kernel.placement.time_s / fused.time_s.max(f64::MIN_POSITIVE);
            let state = kernels.entry(key).or_insert(KernelState {
                bound: kernel.placement.bound,
                share: 0.0,
            });
            state.share += share;
        }
        PolicyState {
            figures: SweepFigures {
                bytes: fused.traffic.total,
                time_s: analysis.time_s(),
                lower_bound_s: analysis.fused.time_s,
                kernels: fused.launches,
                flops: (!work.is_unknown && !analysis.is_partial()).then(|| work.flops()),
                is_partial: analysis.is_partial(),
                is_time_least: analysis.speedup.is_none(),
                outside: (analysis.predicted.as_ref())
                    .and_then(|predicted| predicted.fused_outside),
            },
            moved_bytes: self.by_statement(&analysis.graph, statements, |tensor| {
                analysis.tensors[tensor].fused_bytes
            }),
            fits: analysis.fits_memory(),
            kernels,
            is_predicted: analysis.predicted.is_some(),
        }
    }

    /// Sums over the iterations of each statement, of the tensor that it writes.
    fn by_statement(
        &self,
        graph: &Graph,
        statements: &[usize],
        bytes: impl Fn(TensorId) -> u64,
    ) -> Vec<u64> {
        let mut sums = vec![0; self.program.ops.len()];
        for (&output, &statement) in graph.output.iter().zip(statements) {
            if let Some(sum) = sums.get_mut(statement) {
                *sum += bytes(output);
            }
        }
        sums
    }
}
