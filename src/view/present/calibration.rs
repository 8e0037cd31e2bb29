//! Measured fused patterns, in sentences.

use crate::present::format::{format_amount, format_percent, format_ratio};
use crate::present::names::counted;
use fuseline_core::Options;
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use fuseline_core::notation::spelling::printable;
use fuseline_import::calibrate::{Calibrated, MAX_PATTERN_OPS, NoRecord};
use fuseline_import::surprises::{Surprise, USUAL_SPEEDUP, WORTHWHILE, surprises};
use std::fmt::Write as _;

/// A threshold in percent as a ratio.
pub fn speedup_text(percent: u32) -> String {
    format_ratio(f64::from(percent) / 100.0)
}

/// Which measurements the objective *measured* uses, in a sentence or two.
pub fn measured_patterns(options: &Options) -> String {
    let Some(calibrations) = options.calibrations() else {
        return format!(
            "No patterns were measured on {}, so the device model decides. You can drop records of your own (fuseline calibrate --json) on the page.",
            options.device.name
        );
    };
    format!(
        "Fuseline has {} of fused patterns, measured on {}. The run of the nearest size decides. The device model decides where a pattern was not measured, or where the faster run had more than one kernel. The tab Steps shows which.",
        counted(calibrations.patterns.len(), "run"),
        printable(&calibrations.device)
    )
}

/// The message that the visitor's own records now decide.
pub fn taken(calibrations: &Calibrations) -> String {
    let runs = counted(calibrations.patterns.len(), "run");
    format!(
        "{runs} of fused patterns on {} decide in the search for the least measured time (Options), until you leave the page.",
        printable(&calibrations.device)
    )
}

/// The heading of a record: its ops and its sizes.
pub fn heading(record: &FusionCalibration) -> String {
    let sizes: Vec<String> = (record.extra_params.iter())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let ops = record.operators.join(" + ");
    format!("{}: {ops} ({})", record.fusion_pattern, sizes.join(", "))
}

pub fn surprise_sentence(surprise: &Surprise, record: &FusionCalibration) -> String {
    let speedup = format_ratio(record.speedup_factor);
    match surprise {
        Surprise::Slower => format!("the fused run is slower: {speedup}"),
        Surprise::Unusual => {
            let [least, most] =
                [USUAL_SPEEDUP.start(), USUAL_SPEEDUP.end()].map(|&x| format_ratio(x));
            format!("it is memory-bound, and {speedup} is outside the usual {least} to {most}")
        }
        Surprise::Unexpected(predicted) => format!(
            "the device model predicts {}, and {speedup} was measured",
            format_ratio(*predicted)
        ),
        Surprise::Elsewhere {
            device,
            speedup: elsewhere,
            flops,
        } => format!(
            "on {} the speedup was {} at {}, so fusing pays on only one of the two GPUs (more than {})",
            printable(device),
            format_ratio(*elsewhere),
            format_amount(*flops, "FLOP"),
            format_ratio(WORTHWHILE)
        ),
        Surprise::SeveralKernels => format!(
            "{} ran, so this run does not show what one kernel would save",
            counted(record.fused_kernels, "kernel")
        ),
    }
}

/// Why there is no record of a pattern, in a sentence.
pub fn skipped_sentence(pattern: &str, reason: NoRecord) -> String {
    let reason = match reason {
        NoRecord::Unreadable => {
            "its program cannot be analyzed; `fuseline analyze` says why".to_owned()
        }
        NoRecord::Unpaired => {
            "it needs an eager run and another run, both with a time: run its script where PyTorch finds a GPU".to_owned()
        }
        NoRecord::TooLarge(ops) => format!(
            "it has {ops} ops, and the search tries kernels of at most {MAX_PATTERN_OPS}. `fuseline measured PROGRAM FILE` finds measured patterns in it"
        ),
        NoRecord::Empty => "its kernels have no memory traffic".to_owned(),
    };
    format!("no record of {}: {reason}", printable(pattern))
}

/// All records as lines of text, compared with those of other GPUs.
pub fn report(calibrated: &Calibrated, others: &[Calibrations]) -> String {
    // Writing to a `String` cannot fail.
    let mut text = String::new();
    let Calibrations {
        device,
        torch,
        patterns,
    } = &calibrated.records;
    let _ = writeln!(text, "Fused patterns on {device}, PyTorch {torch}");
    for (record, &predicted) in patterns.iter().zip(&calibrated.predicted_speedups) {
        let _ = writeln!(text, "\n{}", heading(record));
        let run = |text: &mut String, name: &str, latency_ms: f64, gflops: f64, kernels: usize| {
            let _ = writeln!(
                text,
                "  {name:<8} {latency_ms:.4} ms ({gflops:.1} GFLOP/s, {})",
                counted(kernels, "kernel")
            );
        };
        run(
            &mut text,
            "unfused",
            record.unfused_latency_ms,
            record.unfused_gflops,
            record.unfused_kernels,
        );
        run(
            &mut text,
            "fused",
            record.fused_latency_ms,
            record.fused_gflops,
            record.fused_kernels,
        );
        let _ = writeln!(
            text,
            "  speedup  {:.2}×, {} less memory traffic",
            record.speedup_factor,
            format_percent(record.memory_reduction * 100.0)
        );
        for surprise in surprises(record, predicted, others) {
            let _ = writeln!(text, "  note: {}", surprise_sentence(&surprise, record));
        }
    }
    text
}
