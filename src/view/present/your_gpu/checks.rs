//! What a run on your GPU (WebGPU) computed, beside the interpreter's results.

use crate::present::format::{format_exact, format_scientific};
use crate::present::names::counted;
use fuseline_codegen::interpret::NotRun;
use fuseline_codegen::your_gpu::check::{TOLERANCE, TOLERATED_F32_ERRORS};
use fuseline_codegen::your_gpu::{Check, Checks, Outcome, Output};
use fuseline_core::TensorId;
use std::collections::HashMap;

/// A result beside the interpreter's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    pub name: String,
    /// How many elements were compared.
    pub elements: String,
    /// The largest error of an element, unfused and fused.
    pub errors: [String; 2],
    /// The largest error that is tolerated.
    pub tolerance: String,
    /// Whether both are right.
    pub is_right: bool,
}

/// Whether all results are right, in sentences.
pub fn verdict(checks: &Result<Checks, NotRun>) -> Vec<String> {
    let Checks { unfused, fused, .. } = match checks {
        Ok(checks) => checks,
        Err(NotRun { message, .. }) => {
            return vec![format!(
                "The results could not be checked, because the interpreter cannot run the program: {message}."
            )];
        }
    };
    let wrong = [("unfused", unfused), ("fused", fused)]
        .into_iter()
        .filter_map(|(how, check)| Some((how, check.first_wrong()?)));
    let mut explanation: Vec<String> = wrong
        .map(|(how, output)| {
            let name = output.name.replace('`', "");
            format!(
                "The {how} run gives wrong values, first in `{name}`, so its times mean nothing."
            )
        })
        .collect();
    if explanation.is_empty() {
        let results = results(fused).count();
        let agrees = if results == 1 { "agrees" } else { "agree" };
        explanation.push(format!(
            "{} {agrees} with the interpreter, unfused and fused.",
            counted(results, "result")
        ));
    }
    explanation
}

/// A row for each result of the program. Linear in the tensors.
pub fn check_rows(outcome: &Outcome) -> Vec<CheckRow> {
    let Ok(checks) = &outcome.checks else {
        return Vec::new();
    };
    let fused: HashMap<TensorId, &Output> = results(&checks.fused)
        .map(|output| (output.tensor, output))
        .collect();
    let pairs = results(&checks.unfused)
        .filter_map(|unfused| Some((unfused, *fused.get(&unfused.tensor)?)));
    pairs
        .map(|(unfused, fused)| CheckRow {
            name: unfused.name.clone(),
            elements: format_exact(unfused.elements as u128),
            errors: [unfused, fused].map(|output| error_text(output.max_error)),
            tolerance: error_text(unfused.tolerance),
            is_right: unfused.is_right() && fused.is_right(),
        })
        .collect()
}

fn error_text(error: f64) -> String {
    if error.is_infinite() {
        "not finite".to_owned()
    } else if error > 0.0 {
        format_scientific(error)
    } else {
        "0".to_owned()
    }
}

/// Why the tolerance of errors is as large as it is.
pub fn tolerance_note() -> String {
    format!(
        "The tolerance is {} of the largest value of a tensor, or {TOLERATED_F32_ERRORS} times the interpreter's own f32 error: a GPU adds in another order, and WGSL lets exp, tanh and similar functions differ in their last digits.",
        format_scientific(TOLERANCE)
    )
}

fn results(check: &Check) -> impl Iterator<Item = &Output> {
    check.outputs.iter().filter(|output| output.is_result)
}
