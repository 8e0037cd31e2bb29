//! How far measured times are from predicted ones.

use super::figure::Explanation;
use super::format::format_seconds;
use super::times::{outside_text, program_outside};
use fuseline_core::Analysis;
use fuseline_core::analysis::device_model::Outside;

/// How far measured times are from predictions, as a share of the prediction.
///
/// The page shows it as the range around a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    device: &'static str,
    /// Whether this is for predicted times below [`SHORT_S`].
    is_short: bool,
    /// Half of the measured times are within this.
    pub half_percent: f64,
    /// Nine of ten are within this.
    pub most_percent: f64,
    /// Nine of ten measured speedups over eager PyTorch are within this.
    pub speedup_percent: f64,
    /// By how much runs predicted to take at least [`LONG_S`] took longer, at the median.
    pub long_runs_longer_percent: f64,
}

/// The time below which a launch and cached data dominate, so that predictions are far less exact.
pub const SHORT_S: f64 = 20e-6;

/// The time from which an H100 mostly takes longer than predicted.
pub const LONG_S: f64 = 500e-6;

/// The smallest bias that a sentence mentions.
const LEAST_BIAS_PERCENT: f64 = 2.0;

/// The errors from the measured runs of `public/measured`. A test recomputes them.
const PREDICTION_ERRORS: [PredictionError; 4] = [
    of("h200", false, [5.0, 17.1, 20.7], -1.0),
    of("h200", true, [8.9, 24.6, 34.2], -1.0),
    of("h100", false, [5.3, 15.6, 14.7], 6.4),
    of("h100", true, [24.3, 105.9, 57.1], 6.4),
];

const fn of(
    device: &'static str,
    is_short: bool,
    [half_percent, most_percent, speedup_percent]: [f64; 3],
    long_runs_longer_percent: f64,
) -> PredictionError {
    PredictionError {
        device,
        is_short,
        half_percent,
        most_percent,
        speedup_percent,
        long_runs_longer_percent,
    }
}

/// Why no error is known for the predictions of these sizes.
pub fn unverified(analysis: &Analysis, outside: Outside) -> Explanation {
    let formula = "not known outside the measured sizes";
    card(
        analysis,
        "unverified".to_owned(),
        outside_text(outside),
        formula,
    )
}

fn card(analysis: &Analysis, value: String, note: String, formula: &'static str) -> Explanation {
    Explanation {
        value,
        notes: vec![note],
        sources: vec!["PyTorch ran the programs that the tab Measured lists, eager and compiled. Each run has a predicted and a measured time there.".to_owned()],
        ..Explanation::of(
            "error of predictions",
            format!("predictions for {}", analysis.options.device.name),
            formula,
            None,
        )
    }
}

impl PredictionError {
    /// The error on the chosen device, for the shorter of both times; `None` without predictions,
    /// and where nothing was measured on such a device or at such sizes.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        let predicted = analysis.predicted.as_ref()?;
        if program_outside(analysis).is_some() {
            return None;
        }
        let id = &analysis.options.device.id;
        let is_short = predicted.fused_s.min(predicted.unfused_s) < SHORT_S;
        let is_it = |of: &Self| *id == of.device && of.is_short == is_short;
        PREDICTION_ERRORS.into_iter().find(is_it)
    }

    /// The range of nine of ten measured times, and of nine of ten measured speedups: `±21 %`.
    ///
    /// One figure serves both, so that a reader cannot confuse the two.
    pub fn text(self) -> String {
        format!("±{:.0} %", self.most_percent.max(self.speedup_percent))
    }

    /// Whether a predicted ratio is only a rough one.
    pub const fn is_rough(self) -> bool {
        self.is_short
    }

    /// What the range means, and which runs it comes from.
    pub fn explanation(self, analysis: &Analysis) -> Explanation {
        let formula = "ninth decile of |measured / predicted − 1|, of times or of speedups, whichever is larger";
        let note = format!("{} {}", self.sentence(), self.speedup_sentence());
        card(analysis, self.text(), note, formula)
    }

    /// The range in a sentence.
    pub fn sentence(self) -> String {
        let Self {
            half_percent,
            most_percent,
            long_runs_longer_percent: longer,
            ..
        } = self;
        let which = if self.is_short {
            "below"
        } else {
            "of at least"
        };
        let bias = if self.is_short || longer < LEAST_BIAS_PERCENT {
            String::new()
        } else {
            format!(
                " Those of at least {} took longer than predicted, by {longer:.1} % at the median.",
                format_seconds(LONG_S)
            )
        };
        format!(
            "Of the programs that ran with a predicted time {which} {}, half took that time within {half_percent:.1} %, nine of ten within {most_percent:.1} %.{bias} To tell apart two predictions that are closer, measure.",
            format_seconds(SHORT_S)
        )
    }

    /// How exact a predicted speedup is.
    pub fn speedup_sentence(self) -> String {
        format!(
            "Of the measured speedups of such programs over eager PyTorch, nine of ten are within {:.1} % of the predicted ones.",
            self.speedup_percent
        )
    }
}
