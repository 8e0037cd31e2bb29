//! `diff`: two programs, or one on two devices or in two types, side by side.

use crate::analysed::{Analysed, analysed};
use crate::choices::Choices;
use crate::devices::{DeviceReport, devices_table};
use crate::failure::Failed;
use crate::input::{Source, read_source_at};
use crate::output::{json, print};
use fuseline_core::{Analysis, DType, KernelId, Options};
use fuseline_view::present::names::op_name;
use fuseline_view::present::pinned::{headline_against, matched_kernels, pinned_title};
use fuseline_view::present::quantity::{Figure, Quantity, Run, Subject, Values};
use fuseline_view::present::times::TimeKind;
use serde::Serialize;
use std::fmt::Write as _;

/// Both sides and their kernels.
#[derive(Serialize)]
struct DiffReport {
    a: Side,
    b: Side,
    /// The kernels of B in order, then those that only A has.
    kernels: Vec<KernelPair>,
}

/// One side.
#[derive(Serialize)]
struct Side {
    file: String,
    #[serde(flatten)]
    report: DeviceReport,
}

/// A kernel, matched by its ops.
#[derive(Serialize)]
struct KernelPair {
    /// Names of its ops.
    ops: Vec<String>,
    /// `null` where A has no kernel of exactly these ops.
    a: Option<KernelSide>,
    /// `null` where B has none.
    b: Option<KernelSide>,
}

/// A kernel on one side.
#[derive(Serialize)]
struct KernelSide {
    bytes: u64,
    lower_bound_s: f64,
    predicted_s: Option<f64>,
}

impl KernelSide {
    fn new(analysis: &Analysis, id: KernelId) -> Option<Self> {
        let kernel = analysis.fused.kernels.get(id)?;
        let predicted = analysis.predicted.as_ref();
        Some(Self {
            bytes: kernel.bytes(),
            lower_bound_s: kernel.placement.time_s,
            predicted_s: predicted.and_then(|all| Some(all.kernels.get(id)?.time_s)),
        })
    }
}

/// Reads and compares two files, or one on two devices or in two types.
pub(super) fn diff_files(
    a: &str,
    b: Option<&str>,
    types: &[DType],
    assignments: &[(String, i64)],
    choices: &Choices,
    is_json: bool,
) -> Result<(), Failed> {
    let options = choices.options();
    let others = choices.other_devices();
    let device = match &others[..] {
        [] if b.is_none() && types.is_empty() => {
            return Err(Failed::usage(
                "nothing to compare with",
                "name a second file, two devices (`--device h200,b200`) or two types (`--type \
                 bf16,f8e4m3`)",
            ));
        }
        [] => options.device.clone(),
        [second] => second.clone(),
        _ => {
            return Err(Failed::usage(
                "two sides have two devices at most",
                "`analyze` takes more: `fuseline analyze FILE --device h200,b200,mi300x`",
            ));
        }
    };
    let (of_a, of_b) = match types {
        [] => (None, None),
        &[of_b] => (None, Some(of_b)),
        &[of_a, of_b] => (Some(of_a), Some(of_b)),
        _ => {
            return Err(Failed::usage(
                "two sides have two types at most",
                "write one type for B, or one for each: `--type bf16,f8e4m3`",
            ));
        }
    };
    let first = read_source_at(a, assignments)?;
    let second = match b {
        Some(b) => read_source_at(b, assignments)?,
        // Standard input can be read once only.
        None => first.clone(),
    };
    let side = |source: Source, dtype: Option<DType>, options: &Options| {
        let source = match dtype {
            Some(dtype) => source.with_main_dtype(dtype),
            None => source,
        };
        analysed(source, assignments, options)
    };
    let a = side(first, of_a, &options)?;
    let b = side(second, of_b, &Options { device, ..options })?;
    print(&diff([&a, &b], is_json)?)
}

/// The comparison as text or as JSON.
fn diff([a, b]: [&Analysed; 2], is_json: bool) -> Result<String, Failed> {
    let pairs = matched_kernels(&a.analysis, &b.analysis);
    if is_json {
        let side = |of: &Analysed| Side {
            file: of.file.clone(),
            report: DeviceReport::new(&of.analysis),
        };
        let pair = |&[in_a, in_b]: &[Option<KernelId>; 2]| KernelPair {
            ops: ops_of([a, b], [in_a, in_b]),
            a: in_a.and_then(|id| KernelSide::new(&a.analysis, id)),
            b: in_b.and_then(|id| KernelSide::new(&b.analysis, id)),
        };
        return json(&DiffReport {
            a: side(a),
            b: side(b),
            kernels: pairs.iter().map(pair).collect(),
        });
    }
    let mut text = String::new();
    for (letter, of) in [("A", a), ("B", b)] {
        let title = pinned_title(&of.file, &of.parsed.program, &of.analysis.options);
        let _ = writeln!(text, "{letter}: {title}");
    }
    let against = headline_against(&a.analysis, &b.analysis);
    let values = Values::new(&b.analysis);
    let now = |quantity| values.total(quantity, Run::Fused);
    for (what, against, now) in [
        ("memory traffic", &against.bytes, now(Quantity::Bytes)),
        ("kernels", &against.kernels, now(Quantity::Launches)),
        ("time", &against.time, now(Quantity::Time)),
    ] {
        let _ = writeln!(
            text,
            "{what}: {} -> {now}, {}",
            against.pinned, against.change
        );
    }
    text.push_str(&devices_table(&[&a.analysis, &b.analysis]));
    // A predicted time beside a lower bound would say that one side is slower where it may not be.
    let kinds = [a, b].map(|of| TimeKind::of(&of.analysis));
    let (quantity, name) = match kinds {
        [TimeKind::Predicted, TimeKind::Predicted] => (Quantity::PredictedTime, "predicted time"),
        _ => (Quantity::LowerBound, "lower bound"),
    };
    let _ = writeln!(text, "\n{name} of each kernel");
    for [in_a, in_b] in pairs {
        let time = |analysis: &Analysis, id: Option<KernelId>| {
            let subject = id.and_then(|id| Subject::kernel(analysis, id));
            subject.map_or_else(
                || "-".to_owned(),
                |subject| Values::new(analysis).text(Figure::fused(subject, quantity)),
            )
        };
        let [before, after] = [time(&a.analysis, in_a), time(&b.analysis, in_b)];
        let ops = ops_of([a, b], [in_a, in_b]).join(" + ");
        let _ = writeln!(text, "{before:>10} -> {after:>10}  {ops}");
    }
    Ok(text)
}

/// The names of the ops of a kernel that one of the sides has.
fn ops_of([a, b]: [&Analysed; 2], [in_a, in_b]: [Option<KernelId>; 2]) -> Vec<String> {
    let of = |of: &Analysed, id: Option<KernelId>| {
        let ops = of.analysis.partition.kernels.get(id?)?;
        let names = ops
            .iter()
            .map(|&op| op_name(&of.analysis.graph, op).to_owned());
        Some(names.collect())
    };
    of(b, in_b).or_else(|| of(a, in_a)).unwrap_or_default()
}
