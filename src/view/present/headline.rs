//! The effect of fusion on the whole program, in a few figures.

use super::bottleneck::Bottleneck;
use super::certificates::{certificate_text, objective_proof};
use super::format::{assumed, format_exact, format_faster};
use super::prediction_error::PredictionError;
use super::quantity::{Quantity, Run, Values};
use super::times::{
    COLD, TimeKind, missing_total, program_outside, time_note, total_speedup, total_times,
    unverified_ratio,
};
use fuseline_core::Analysis;
use fuseline_core::analysis::device_model::Outside;

/// Bytes, kernels and time, before and after fusion.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Bytes through memory, unfused.
    pub unfused_bytes: String,
    /// Bytes through memory, fused.
    pub fused_bytes: String,
    /// Change by fusion, in percent.
    pub change: String,
    /// Both and the difference, exactly.
    pub exact_bytes: String,
    /// Launched kernels, unfused.
    pub unfused_kernels: String,
    /// Launched kernels, fused.
    pub fused_kernels: String,
    /// What the times are: `predicted`. The sentence above names the device.
    pub time_kind: &'static str,
    /// The kind of the times with the device: `predicted on H200`.
    pub time_label: String,
    pub unfused_time: String,
    pub fused_time: String,
    /// The share of the time that waits for memory, before and after fusion:
    /// `memory-bound time 42.1 % → 6.4 %`. `None` where the times leave out work.
    pub memory_time: Option<String>,
    /// The ratio of both times: a speedup, or one by the lower bounds. `None` where nothing runs.
    pub ratio: Option<String>,
    /// Both lower bounds, beside predicted times.
    pub bounds: Option<String>,
    /// How far such predictions are from measured times; `None` for lower bounds, and where nothing
    /// was measured.
    pub error: Option<PredictionError>,
    /// How the predictions are outside the measured sizes, if they are.
    pub outside: Option<Outside>,
    /// Where the times come from, and what they leave out.
    pub time_note: String,
    /// The result of a search; `None` if the policy does not search.
    pub search: Option<SearchResult>,
}

/// Whether the result of a search is proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The proof in a few words.
    pub proof: String,
    /// The proof with its scope, or the largest possible distance from the optimum.
    pub certificate: String,
}

/// The figures of a program.
pub fn headline(analysis: &Analysis) -> Headline {
    let (unfused, fused) = (&analysis.unfused, &analysis.fused);
    let device = &analysis.options.device;
    let saved_bytes = fused.traffic.saved_by_fusion;
    let exact = |bytes: u64| format_exact(bytes.into());
    let kind = TimeKind::of(analysis);
    let missing = missing_total(analysis);
    let [unfused_time, fused_time] = total_times(analysis);
    let is_below = unfused_time.is_below || fused_time.is_below;
    let runs = fused.launches > 0;
    let bottleneck = Bottleneck::of(analysis);
    let values = Values::new(analysis);
    let is_assumed = values.program_has_assumed_size(Run::Unfused);
    let outside = program_outside(analysis);
    let error = PredictionError::of(analysis);
    let faster = |speedup: f64| {
        let faster = unverified_ratio(outside, &format_faster(speedup));
        assumed(is_assumed, &faster)
    };
    Headline {
        unfused_bytes: values.total(Quantity::Bytes, Run::Unfused),
        fused_bytes: values.total(Quantity::Bytes, Run::Fused),
        change: values.total(Quantity::Saving, Run::Fused),
        exact_bytes: format!(
            "{} B read and written unfused, {} B fused, {} B {}",
            exact(unfused.traffic.total),
            exact(fused.traffic.total),
            exact(saved_bytes.unsigned_abs()),
            if saved_bytes < 0 { "more" } else { "saved" },
        ),
        unfused_kernels: values.total(Quantity::Launches, Run::Unfused),
        fused_kernels: values.total(Quantity::Launches, Run::Fused),
        time_kind: match kind {
            TimeKind::LowerBound => "time at best",
            TimeKind::Predicted => kind.name(),
        },
        time_label: format!("{} on {}", kind.name(), device.name),
        ratio: total_speedup(analysis)
            .filter(|_| runs)
            .map(|(kind, speedup)| match kind {
                TimeKind::Predicted => match error {
                    Some(error) => format!("{} ({})", faster(speedup), error.text()),
                    None => faster(speedup),
                },
                TimeKind::LowerBound => format!("at best {}", faster(speedup)),
            }),
        bounds: (unfused_time.bound.as_ref().zip(fused_time.bound.as_ref())).map(
            |(unfused, fused)| {
                let cold = if is_below { COLD } else { "" };
                // The ratio of lower bounds is no best case for a prediction: the unfused kernels
                // may be further from their bounds.
                let quotient = analysis.speedup.map_or_else(String::new, |_| {
                    format!(" ({})", values.total(Quantity::BoundSpeedup, Run::Fused))
                });
                format!("lower bound {unfused} → {fused}{cold}{quotient}")
            },
        ),
        error,
        outside,
        unfused_time: unfused_time.unmarked().to_owned(),
        fused_time: fused_time.unmarked().to_owned(),
        time_note: match (missing, &bottleneck) {
            (Some(missing), _) => format!("{} {missing}.", time_note(analysis)),
            (None, Some(bottleneck)) => {
                format!("{} {}", bottleneck.sentence(), time_note(analysis))
            }
            (None, None) => time_note(analysis),
        },
        memory_time: Bottleneck::memory_time(analysis),
        search: analysis
            .certificate
            .as_ref()
            .map(|certificate| SearchResult {
                proof: objective_proof(certificate),
                certificate: certificate_text(certificate, analysis.is_partial()),
            }),
    }
}

impl Headline {
    /// The figures that a slider changes, on one line: before and after fusion, or only unfused.
    pub fn in_short(&self, is_fused: bool) -> String {
        let Self {
            unfused_bytes,
            fused_bytes,
            change,
            unfused_time,
            ..
        } = self;
        if !is_fused {
            return format!("{unfused_bytes}, {unfused_time}");
        }
        let ratio = self.ratio.iter().map(|ratio| format!(", {ratio}"));
        let ratio: String = ratio.collect();
        format!("{unfused_bytes} → {fused_bytes}, {change}{ratio}")
    }

    /// The headline as one text, for screen readers.
    pub fn sentence(&self) -> String {
        let Self {
            unfused_bytes,
            fused_bytes,
            change,
            unfused_kernels,
            fused_kernels,
            time_label,
            unfused_time,
            fused_time,
            ..
        } = self;
        let error = match &self.error {
            Some(error) => format!(", each {}", error.text()),
            None => String::new(),
        };
        // Predicted times compare with eager PyTorch. Lower bounds know no framework.
        let eager = match self.bounds {
            Some(_) => " in eager PyTorch",
            None => "",
        };
        let ratio = match &self.ratio {
            Some(ratio) => format!(", {ratio}"),
            None => String::new(),
        };
        let kernels_become = if unfused_kernels == "1" {
            "kernel becomes"
        } else {
            "kernels become"
        };
        let search = match &self.search {
            Some(search) => format!(" The kernels are {}.", search.certificate),
            None => String::new(),
        };
        format!(
            "Memory traffic {unfused_bytes} unfused, {fused_bytes} fused, {change}. \
             {unfused_kernels} {kernels_become} {fused_kernels}. \
             Time, {time_label}: {unfused_time} unfused{eager}, {fused_time} fused{error}{ratio}.{search}"
        )
    }
}
