//! `sweep`: every policy at many values of a param, and where something changes.

use crate::analysed::{Analysed, read_file};
use crate::choices::{Choices, one_of};
use crate::commands::ProgramFile;
use crate::failure::Failed;
use crate::output::{json, print};
use fuseline_core::analysis::device_model::Outside;
use fuseline_core::analysis::sweep::{Measure, Sweep, SweepFigures, sweep};
use fuseline_core::{Device, Options, Policy, Program};
use fuseline_view::present::sweep::{crossing_rows, figure_text, measure_title, swept_params};
use serde::Serialize;
use std::fmt::Write as _;
use strum::VariantArray;

/// A sweep as JSON.
#[derive(Serialize)]
struct SweepReport {
    param: String,
    points: Vec<PointReport>,
    crossings: Vec<CrossingReport>,
}

#[derive(Serialize)]
struct PointReport {
    value: i64,
    policies: Vec<PolicyReport>,
}

#[derive(Serialize)]
struct PolicyReport {
    policy: Policy,
    bytes: u64,
    lower_bound_s: f64,
    /// By the device model; `null` without measured rates.
    predicted_s: Option<f64>,
    predicted_outside: Option<Outside>,
    launches: usize,
    /// Ops of unknown shape are missing, so that the figures are lower bounds.
    is_partial: bool,
    /// FLOPs for each byte.
    intensity: Option<f64>,
}

#[derive(Serialize)]
struct CrossingReport {
    /// The first value of the slider after the crossing.
    value: i64,
    sentence: String,
}

/// Sweeps the param of a file and prints the result.
pub(super) fn sweep_file(
    program: &ProgramFile,
    param: &str,
    choices: &Choices,
    is_json: bool,
) -> Result<(), Failed> {
    let options = choices.options_of_one()?;
    let Analysed { parsed, .. } = read_file(program, &options)?;
    let sweep = sweep_named(&parsed.program, param, &options)?;
    print(&if is_json {
        json(&sweep_report(&sweep, &options.device))?
    } else {
        sweep_table(&sweep, &options.device)
    })
}

/// The sweep of the param with this name.
fn sweep_named(program: &Program, name: &str, options: &Options) -> Result<Sweep, Failed> {
    let params = swept_params(program);
    let param = params.iter().find(|param| param.name == name);
    let is_declared = program.params.iter().any(|param| param.name.text == name);
    let (problem, help) = match param {
        Some(param) => match sweep(program, param.index, options) {
            Some(sweep) => return Ok(sweep),
            None => (
                format!("`{name}` has no two values at which the program can be analyzed"),
                "widen its range".to_owned(),
            ),
        },
        None if params.is_empty() && !is_declared => (
            format!("no param is called `{name}`"),
            "declare one with a range: `param S = 1024 in 128..8192 step 128`".to_owned(),
        ),
        None if params.is_empty() => (
            format!("`{name}` has no values to try"),
            "give it a range: `param S = 1024 in 128..8192 step 128`".to_owned(),
        ),
        None => (
            format!("no param with a range is called `{name}`"),
            one_of(params.iter().map(|param| param.name.as_str())),
        ),
    };
    Err(Failed::usage(problem, help))
}

/// The sweep as data for JSON.
fn sweep_report(sweep: &Sweep, device: &Device) -> SweepReport {
    let of_policy = |(&policy, figures): (&Policy, &SweepFigures)| PolicyReport {
        policy,
        bytes: figures.bytes,
        lower_bound_s: figures.lower_bound_s,
        predicted_s: sweep.is_predicted.then_some(figures.time_s),
        predicted_outside: figures.outside,
        launches: figures.kernels,
        is_partial: figures.is_partial,
        intensity: figures.intensity(),
    };
    let points = sweep.points.iter().map(|point| PointReport {
        value: point.value,
        policies: sweep
            .policies
            .iter()
            .zip(&point.figures)
            .map(of_policy)
            .collect(),
    });
    let crossings = crossing_rows(sweep, device).into_iter();
    SweepReport {
        param: sweep.param.clone(),
        points: points.collect(),
        crossings: crossings
            .map(|row| CrossingReport {
                value: row.value,
                sentence: row.sentence,
            })
            .collect(),
    }
}

/// A table for each measure, and the crossings.
fn sweep_table(sweep: &Sweep, device: &Device) -> String {
    let mut text = String::new();
    for &measure in Measure::VARIANTS {
        let _ = writeln!(text, "{}", measure_title(measure, sweep, device));
        let _ = write!(text, "{:>12}", sweep.param);
        for policy in &sweep.policies {
            let _ = write!(text, "  {:>12}", policy.name());
        }
        text.push('\n');
        for point in &sweep.points {
            let _ = write!(text, "{:>12}", point.value);
            for figures in &point.figures {
                let _ = write!(text, "  {:>12}", figure_text(measure, figures));
            }
            text.push('\n');
        }
        text.push('\n');
    }
    for row in crossing_rows(sweep, device) {
        let _ = writeln!(text, "{}", row.sentence);
    }
    text
}
