//! Notes on a measurement: where it comes from, and how it differs from the open program.

use super::explain::{READS_TELL_MORE, WRITES_LEAVE_LATER};
use crate::present::format::{format_count, format_faster, format_ratio, format_seconds};
use crate::present::names::counted;
use crate::present::options::{policy_phrase, policy_title};
use fuseline_core::model::op::Op;
use fuseline_core::{Analysis, Device, Kernel, Objective, Policy, ReshapeCost};
use fuseline_import::matching::{Counted, Matching, policy_of_variant};
use fuseline_import::profile::{MAX_KERNELS, MeasuredRun, Profile};
use fuseline_import::surprises::differs;
use std::fmt::Write as _;

/// A choice that would make the open program match a measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// The device that was measured.
    Device(Box<Device>),
    /// The policy that predicts the kernels of this run, and whether matmuls are tuned.
    Policy(Policy, bool),
    /// Reshapes that cost nothing, as PyTorch's views.
    Views,
}

impl Offer {
    /// The label of a button.
    pub fn words(&self) -> String {
        match self {
            Self::Device(device) => format!("Choose {}", device.name),
            Self::Policy(policy, tuned) => format!(
                "Choose the policy {}{}",
                policy_title(*policy, Objective::default()),
                if *tuned { " with max-autotune" } else { "" }
            ),
            Self::Views => "Count reshapes as views".to_owned(),
        }
    }
}

/// A note, and the choice that would resolve it.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    pub text: String,
    /// Whether predicted and measured kernels cannot be compared.
    pub is_warning: bool,
    /// The choice that would help.
    pub offer: Option<Offer>,
}

impl Note {
    fn plain(text: String) -> Self {
        Self {
            text,
            is_warning: false,
            offer: None,
        }
    }

    fn warning(text: String, offer: Option<Offer>) -> Self {
        Self {
            text,
            is_warning: true,
            offer,
        }
    }
}

/// The name of a run in a list: `compiled`, or that the file does not name it.
pub fn run_title(run: &MeasuredRun) -> String {
    run.variant.clone().unwrap_or_else(|| "a run".to_owned())
}

/// The notes on a run beside its table.
///
/// `digest` is that of the measured program: the one in the file, else that of the program that was
/// open when the file was loaded.
pub fn notes(
    analysis: &Analysis,
    profile: &Profile,
    digest: &str,
    matching: &Matching,
) -> Vec<Note> {
    let run = &matching.run;
    let mut notes = vec![Note::plain(source(profile, run, matching.calls))];
    if profile.passed_over > 0 {
        notes.push(Note::plain(format!(
            "Fuseline skips the first {} of the trace, with any run that begins there, and reads the last {}.",
            counted(profile.passed_over, "kernel"),
            format_count(MAX_KERNELS)
        )));
    }
    if digest != analysis.graph.digest() {
        notes.push(Note::warning(
            "The program has changed since this measurement, so some kernels may be matched wrongly.".to_owned(),
            None,
        ));
    }
    let chosen = &analysis.options.device;
    if let Some(name) = profile.device.as_deref() {
        let measured = profile.measured_device();
        let is_chosen = |measured: &Device| {
            let listed = measured.listed();
            measured.id == chosen.id || listed.is_some() && listed == chosen.listed()
        };
        if !measured.as_ref().is_some_and(is_chosen) {
            let end = if measured.is_some() {
                ""
            } else {
                ", and the measured GPU is not in the list"
            };
            let text = format!(
                "Measured on {name}, but predicted for {}{end}.",
                chosen.name
            );
            notes.push(Note::warning(
                text,
                measured.map(Box::new).map(Offer::Device),
            ));
        }
    }
    let options = &analysis.options;
    if let Some((policy, tuned)) = run.variant.as_deref().and_then(policy_of_variant) {
        let is_tuned = options.fusion.max_autotune;
        if options.policy != policy || policy == Policy::Inductor && is_tuned != tuned {
            let own = policy_phrase(options.policy, options.fusion.objective);
            let text = format!(
                "This run is {}, but the page predicts the kernels of {own}.",
                run_title(run)
            );
            notes.push(Note::warning(text, Some(Offer::Policy(policy, tuned))));
        }
    }
    notes.extend(written_later(matching));
    notes.extend(copies(analysis));
    notes.extend(speedup(analysis, profile, run));
    notes
}

/// The note that measured bytes may lack some of the writes.
fn written_later(matching: &Matching) -> Option<Note> {
    let mut kernels = matching.run.kernels.iter();
    let is_measured = kernels.any(|kernel| kernel.moved_bytes.is_some());
    (matching.counted == Counted::Moved && is_measured).then(|| {
        Note::plain(format!(
            "{WRITES_LEAVE_LATER}, so the bytes here can be too few. {READS_TELL_MORE}"
        ))
    })
}

/// The note that kernels of reshapes are predicted where PyTorch has views.
fn copies(analysis: &Analysis) -> Option<Note> {
    if analysis.options.conventions.reshape == ReshapeCost::View {
        return None;
    }
    let is_view = |kernel: &&Kernel| {
        let mut ops = kernel.ops.iter().map(|&op| &analysis.graph.ops[op]);
        !kernel.is_free && ops.all(Op::is_view)
    };
    let views = analysis.fused.kernels.iter().filter(is_view).count();
    (views > 0).then(|| {
        let text = format!(
            "Views alone account for {}, because reshapes count as copies here. PyTorch launches nothing for a view.",
            counted(views, "predicted kernel"),
        );
        Note::warning(text, Some(Offer::Views))
    })
}

/// The measured speedup over eager beside the predicted one. A warning where fusing made the run
/// slower or the device model is far off.
fn speedup(analysis: &Analysis, profile: &Profile, run: &MeasuredRun) -> Option<Note> {
    let is_eager = |run: &&MeasuredRun| run.variant.as_deref() == Some("eager");
    let eager = profile.runs.iter().find(is_eager)?;
    if run.variant == eager.variant {
        return None;
    }
    let measured = eager.time_s? / run.time_s.filter(|time_s| *time_s > 0.0)?;
    let predicted = analysis.predicted.as_ref();
    let predicted = predicted.map(|times| times.unfused_s / times.fused_s);
    let mut text = format!(
        "One eager call takes {}, so this run is {}",
        format_seconds(eager.time_s?),
        format_faster(measured)
    );
    let is_off = predicted.is_some_and(|predicted| differs(predicted, measured));
    if let Some(predicted) = predicted {
        let _ = write!(
            text,
            "; the device model predicts {}",
            format_ratio(predicted)
        );
    }
    text.push('.');
    Some(if measured < 1.0 || is_off {
        Note::warning(text, None)
    } else {
        Note::plain(text)
    })
}

fn source(profile: &Profile, run: &MeasuredRun, calls: usize) -> String {
    let mut parts: Vec<String> = profile.device.iter().cloned().collect();
    parts.extend(
        profile
            .torch
            .as_ref()
            .map(|torch| format!("PyTorch {torch}")),
    );
    let timed = [
        (run.time_s, "in a CUDA graph"),
        (run.time_cold_s, "with a cold cache"),
    ];
    let timed = timed
        .into_iter()
        .filter_map(|(time_s, how)| Some(format!("{} {how}", format_seconds(time_s?))));
    let timed: Vec<String> = timed.collect();
    if !timed.is_empty() {
        parts.push(format!("one call takes {}", timed.join(", ")));
    }
    if calls > 1 {
        parts.push(format!("the last of {calls} consecutive calls"));
    }
    if run.is_cold {
        parts.push("times are cold, because Nsight Compute flushes the caches before each kernel; with --cache-control none they are warm, and the predicted times are too long".to_owned());
    }
    if run.is_summed {
        parts.push("the table sums all calls, so times are averages, and the order of the kernels is not known".to_owned());
    }
    let source = profile.kind.name();
    if parts.is_empty() {
        format!("From {source}.")
    } else {
        format!("From {source}: {}.", parts.join("; "))
    }
}
