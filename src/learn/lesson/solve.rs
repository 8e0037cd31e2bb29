//! How the engine does a task itself: by trying values, merges and choices.

use super::condition::Condition;
use super::error::ValueError;
use super::state::{AnalyzedProgram, PageState};
use super::task::{SolveBy, Task, TaskKind};
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::why::Why;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::options::Switch;
use fuseline_core::notation::edit::{set_dtype, set_param};
use fuseline_core::notation::parse;
use fuseline_core::resolve::{ParamValues, param_values};
use fuseline_core::{DEVICES, DType, F32Matmul, Objective, Policy};
use fuseline_view::present::manual::{Change, propose};
use strum::VariantArray;

/// Most values of a param that are tried.
const MAX_VALUES: usize = 512;
/// Most merges that are made one after the other.
const MAX_MERGES: usize = 64;

/// The state of the page with another value of a param; `None` if the program has no such param.
pub fn with_param(state: &PageState, param: &str, value: i64) -> Option<PageState> {
    let mut changed = state.clone();
    changed.shared.text = text_with_param(&state.shared.text, param, value)?;
    Some(changed)
}

/// The text with another value of a param; `None` if it has no such param.
pub fn text_with_param(text: &str, param: &str, value: i64) -> Option<String> {
    let program = parse(text).program;
    let at = (program.params.iter()).position(|known| known.name.text == param)?;
    Some(set_param(text, &program, at, value))
}

/// The values of a param, ascending: those of its slider, of a very long one evenly spread ones.
fn values(state: &PageState, param: &str) -> Option<Vec<i64>> {
    let program = parse(&state.shared.text).program;
    let at = (program.params.iter()).position(|known| known.name.text == param)?;
    let values = param_values(&program, at + 1).pop().flatten()?;
    Some(match values {
        ParamValues::Listed(values) => {
            let stride = values.len().div_ceil(MAX_VALUES).max(1);
            values.into_iter().step_by(stride).collect()
        }
        // A range may hold more values than the memory: only those that are tried are made.
        ParamValues::Steps { min, max, step } => {
            let step = step.max(1).unsigned_abs();
            let count = max.abs_diff(min) / step + 1;
            let stride = step.saturating_mul(count.div_ceil(MAX_VALUES as u64));
            let stride = i64::try_from(stride).unwrap_or(i64::MAX);
            std::iter::successors(Some(min), |value| value.checked_add(stride))
                .take_while(|value| *value <= max)
                .collect()
        }
    })
}

/// The value of a param's slider below another.
pub(super) fn value_before(state: &PageState, param: &str, value: i64) -> Option<i64> {
    let values = values(state, param)?;
    values.into_iter().rev().find(|&known| known < value)
}

/// The least value of a param's slider from which on a condition holds at all values.
///
/// # Errors
/// There is no such value, or no such param.
pub fn first_value(state: &PageState, param: &str, when: &Condition) -> Result<i64, ValueError> {
    let values = values(state, param).ok_or_else(|| ValueError::NoSlider(param.to_owned()))?;
    let mut first = None;
    for &value in values.iter().rev() {
        let analyzed = with_param(state, param, value).and_then(|state| state.analyzed());
        let analyzed = analyzed.ok_or_else(|| ValueError::NoGraph {
            param: param.to_owned(),
            value,
        })?;
        if !when.holds(&analyzed)? {
            break;
        }
        first = Some(value);
    }
    first.ok_or_else(|| ValueError::NeverHolds {
        condition: when.to_string(),
        param: param.to_owned(),
    })
}

/// The values of a param at which a task is done, where these follow each other.
pub(super) struct Border {
    /// The lowest.
    pub first: i64,
    /// The highest.
    pub last: i64,
    /// The value after it, if there is one.
    pub beyond: Option<i64>,
}

impl Task {
    /// Where the values of a param end at which a task to do is done; `None` if there are none, or
    /// others between them. An analysis for each value.
    pub(super) fn border_of(&self, state: &PageState, param: &str) -> Option<Border> {
        let values = values(state, param)?;
        let is_done = |&value: &i64| {
            let analyzed = with_param(state, param, value).and_then(|state| state.analyzed());
            analyzed.is_some_and(|analyzed| self.is_done(&analyzed))
        };
        let done: Vec<bool> = values.iter().map(is_done).collect();
        let first = done.iter().position(|&is_done| is_done)?;
        let last = done.iter().rposition(|&is_done| is_done)?;
        let has_no_gap = done.get(first..=last)?.iter().all(|&is_done| is_done);
        has_no_gap.then(|| Border {
            first: values[first],
            last: values[last],
            beyond: values.get(last + 1).copied(),
        })
    }

    /// A state of the page in which a task to do is done, found by the engine; `None` if it finds
    /// none.
    pub fn way(&self, state: &PageState) -> Option<PageState> {
        let TaskKind::Do { by, .. } = &self.kind else {
            return None;
        };
        let is_done = |state: &PageState| {
            state
                .analyzed()
                .is_some_and(|analyzed| self.is_done(&analyzed))
        };
        match by {
            SolveBy::Param(param) => values(state, param)?
                .into_iter()
                .filter_map(|value| with_param(state, param, value))
                .find(is_done),
            SolveBy::Merge => merged(state, &is_done),
            SolveBy::Choices => {
                let one = choices(state);
                let found = one.iter().find(|state| is_done(state)).cloned();
                found.or_else(|| one.iter().flat_map(choices).find(is_done))
            }
        }
    }
}

/// Merges by hand: the first single one that does it, else the best ones one after the other, else
/// the cheapest kernels.
fn merged(state: &PageState, is_done: &dyn Fn(&PageState) -> bool) -> Option<PageState> {
    let mut now = state.clone();
    for _ in 0..MAX_MERGES {
        let next = merges(&now);
        if let Some(done) = next.iter().find(|state| is_done(state)) {
            return Some(done.clone());
        }
        let Some(best) = next.into_iter().next() else {
            break;
        };
        now = best;
    }
    let mut optimal = state.clone();
    optimal.shared.policy = Policy::Optimal;
    is_done(&optimal).then_some(optimal)
}

/// All states with one more merge, the one that saves the most bytes first.
fn merges(state: &PageState) -> Vec<PageState> {
    let Some(analyzed) = state.analyzed() else {
        return Vec::new();
    };
    let mut edges = Why::new(&analyzed.analysis).priced_edges();
    edges.sort_by_key(|edge| std::cmp::Reverse(edge.price.saved_bytes()));
    let kernel = |op| analyzed.analysis.partition.kernel_of.get(op).copied();
    let merges = edges.iter().filter_map(|edge| {
        let change = Change::Merge(kernel(edge.producer)?, kernel(edge.consumer)?);
        changed(state, &analyzed, change)
    });
    merges.collect()
}

/// The state after a change by hand; `None` where it is not possible.
pub fn changed(state: &PageState, analyzed: &AnalyzedProgram, change: Change) -> Option<PageState> {
    let proposal = propose(
        change,
        KernelsInText {
            text: &analyzed.text,
            program: analyzed.program(),
            analysis: &analyzed.analysis,
            statement_of_op: &analyzed.statement_of_op,
        },
    );
    let mut next = state.clone();
    next.shared.text = proposal.text?;
    next.shared.policy = Policy::Manual;
    Some(next)
}

/// All states that differ by one choice: policy, switch, objective, element type, device, TF32.
fn choices(state: &PageState) -> Vec<PageState> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut PageState)| {
        let mut changed = state.clone();
        change(&mut changed);
        all.push(changed);
    };
    for &policy in Policy::VARIANTS {
        add(&|state| state.shared.policy = policy);
    }
    for &switch in Switch::VARIANTS {
        add(&|state| {
            let flag = switch.flag(&mut state.shared.fusion);
            *flag = !*flag;
        });
    }
    for &objective in Objective::VARIANTS {
        add(&|state| state.shared.fusion.objective = objective);
    }
    add(&|state| state.shared.conventions.f32_matmul = F32Matmul::Tf32);
    // No unit computes a whole program in 4 bits or in powers of two: such types hold operands of
    // products, and their scales.
    let computed =
        |dtype: &&DType| dtype.size() != ElementSize::HALF_BYTE && **dtype != DType::F8e8m0;
    for &dtype in DType::VARIANTS.iter().filter(computed) {
        add(&|state| {
            let program = parse(&state.shared.text).program;
            state.shared.text = set_dtype(&state.shared.text, &program, dtype);
        });
    }
    for device in DEVICES {
        add(&|state| state.shared.device = device.clone());
    }
    all
}
