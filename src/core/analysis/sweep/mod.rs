//! A program at many values of one param: what each policy costs there, and where something
//! changes.
//!
//! The values are those of the param's slider, all of them where they are few, otherwise a choice
//! that is even on a logarithmic axis. What changes between two of them is searched by bisection,
//! so a crossing stands at the first value of the slider from which it holds. What changes and
//! changes back between two neighbours of the choice is not seen.

mod crossing;
mod feature;
mod figures;
mod grid;
mod state;

pub use crossing::{Crossing, CrossingChange, Relation};
pub use figures::{Measure, SweepFigures};

use crate::model::options::{Objective, Options, Policy};
use crate::model::program::Program;
use crate::resolve::{ops_and_reads, param_values};
use borsh::{BorshDeserialize, BorshSerialize};
use feature::find_crossings;
use grid::Grid;
use state::States;
use strum::VariantArray;

/// A value of the param with what each policy costs there.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct SweepPoint {
    /// The value of the param.
    pub value: i64,
    /// In the order of [`Sweep::policies`].
    pub figures: Vec<SweepFigures>,
}

/// A param along an axis.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Sweep {
    /// Its name.
    pub param: String,
    /// All but *manual* where the text states no kernel. The first is *none*.
    pub policies: Vec<Policy>,
    /// What the search for the optimum minimizes.
    pub objective: Objective,
    /// Ascending by value: a choice of the slider's values, and those at which something changes.
    /// Values at which the program has an error are left out.
    pub points: Vec<SweepPoint>,
    /// The most important ones, ascending by value.
    pub crossings: Vec<Crossing>,
    /// Whether times are those of the device model; otherwise lower bounds.
    pub is_predicted: bool,
    /// Whether every change that was seen was also searched; a large program has too many.
    pub is_complete: bool,
}

/// Values that are chosen of a slider.
const MAX_SAMPLES: usize = 33;
/// The fewest of a large program.
const MIN_SAMPLES: usize = 5;
/// Further values that may be tried to find crossings.
const MAX_TRIES: usize = 400;
/// Ops and reads that a sweep analyses, roughly, and of those the part for the chosen values.
const BUDGET: usize = 1_600_000;
const SAMPLES_BUDGET: usize = 200_000;
/// States that the searches of a sweep visit, roughly, and of those the part for the chosen values:
/// half a second.
const STATES_BUDGET: usize = 200_000;
const SAMPLES_STATES: usize = 150_000;

/// The program at values of its param at this index, under the options and every policy.
/// Bottlenecks and shares of the bytes are those of the policy in the options. `None` if there is
/// no such param, or it has no two values at which the program can be analysed.
pub fn sweep(program: &Program, param: usize, options: &Options) -> Option<Sweep> {
    let values = param_values(program, param.checked_add(1)?).pop()??;
    let name = program.params.get(param)?.name.text.clone();
    let grid = Grid::new(values);
    let policies = policies_of(program);
    let mut states = States::new(program, param, options, &policies, grid);
    let cost = states.largest(ops_and_reads).max(1);
    // The ends are analysed before it is known how many values fit the budget, and are sampled
    // anyway.
    let visited = states.visited_at_ends().max(1);
    let count = (SAMPLES_BUDGET / cost).min(SAMPLES_STATES / visited);
    let samples = states.sample(count.clamp(MIN_SAMPLES, MAX_SAMPLES));
    if samples.len() < 2 {
        return None;
    }
    // Only now: the chosen values are analysed whatever they cost, because `count` is limited.
    states.tries_left = (BUDGET / cost).min(MAX_TRIES);
    states.most_visited = STATES_BUDGET;
    let crossings = find_crossings(&mut states, &samples);
    let shown = samples
        .into_iter()
        .chain(crossings.iter().flat_map(|found| found.places));
    let mut shown: Vec<usize> = shown.collect();
    shown.sort_unstable();
    shown.dedup();
    let points = shown.into_iter().filter_map(|place| {
        Some(SweepPoint {
            value: states.grid.value(place),
            figures: states.known(place)?.figures().collect(),
        })
    });
    Some(Sweep {
        points: points.collect(),
        param: name,
        objective: options.fusion.objective,
        is_predicted: states.is_predicted(),
        is_complete: states.is_complete,
        crossings: crossings.into_iter().map(|found| found.crossing).collect(),
        policies,
    })
}

/// The policies that are worth a curve: *manual* only where the text states a kernel.
fn policies_of(program: &Program) -> Vec<Policy> {
    let is_stated = program.ops.iter().any(|op| op.kernel.is_some());
    let policies = Policy::VARIANTS.iter().copied();
    policies
        .filter(|&policy| policy != Policy::Manual || is_stated)
        .collect()
}
