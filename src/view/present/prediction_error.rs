//! How far predicted times are from measured ones.

use super::figure::Explanation;
use super::format::format_seconds;
use super::times::{outside_text, program_outside};
use fuseline_core::Analysis;
use fuseline_core::analysis::device_model::Outside;

/// How far predictions are from what ran, as *Measured* shows row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionError {
    device: &'static str,
    /// Of predicted times below [`SHORT_S`].
    is_short: bool,
    /// Half of the predicted times are within this.
    pub half_percent: f64,
    /// Nine of ten are within this.
    pub most_percent: f64,
    /// Nine of ten predicted speedups over eager PyTorch are within this, short and long.
    pub speedup_percent: f64,
}

/// Below this a launch and what the cache still holds are most of a time, and predictions are far less exact.
pub const SHORT_S: f64 = 20e-6;

/// From the measured runs of `public/measured`. A test computes them anew.
const PREDICTION_ERRORS: [PredictionError; 4] = [
    of("h200", false, [4.3, 15.6, 20.0]),
    of("h200", true, [15.2, 34.0, 20.0]),
    of("h100", false, [5.4, 15.2, 20.3]),
    of("h100", true, [34.0, 47.7, 20.3]),
];

const fn of(
    device: &'static str,
    is_short: bool,
    [half_percent, most_percent, speedup_percent]: [f64; 3],
) -> PredictionError {
    PredictionError {
        device,
        is_short,
        half_percent,
        most_percent,
        speedup_percent,
    }
}

/// Why no error is known for the predictions of these sizes.
pub fn unverified(analysis: &Analysis, outside: Outside) -> Explanation {
    Explanation {
        value: "unverified".to_owned(),
        notes: vec![outside_text(outside)],
        ..Explanation::of(
            "error of predicted times",
            format!("predictions for {}", analysis.options.device.name),
            "not known outside the measured sizes",
            None,
        )
    }
}

impl PredictionError {
    /// That of the chosen device, for the shorter of both times; `None` without predictions, and where nothing was measured on such
    /// a device or at such sizes.
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

    /// `±21 %`: what nine of ten predictions keep.
    pub fn text(self) -> String {
        format!("±{:.0} %", self.most_percent)
    }

    /// What the range means, and which runs it comes from.
    pub fn explanation(self, analysis: &Analysis) -> Explanation {
        Explanation {
            value: self.text(),
            notes: vec![self.sentence()],
            sources: vec![
                "PyTorch ran the programs that the tab Measured lists, eager and compiled. Each run has a predicted and a measured time there.".to_owned(),
            ],
            ..Explanation::of(
                "error of predicted times",
                format!("predictions for {}", analysis.options.device.name),
                "ninth decile of |predicted / measured − 1|",
                None,
            )
        }
    }

    /// The same in a sentence.
    pub fn sentence(self) -> String {
        let Self {
            half_percent,
            most_percent,
            ..
        } = self;
        let which = if self.is_short {
            "below"
        } else {
            "of at least"
        };
        format!(
            "Of the predicted times {which} {}, half are within {half_percent:.1} % of the measured ones and nine of ten within {most_percent:.1} %. A smaller difference between two predictions has to be measured.",
            format_seconds(SHORT_S)
        )
    }

    /// How exact a predicted speedup is.
    pub fn speedup_sentence(self) -> String {
        format!(
            "Of the predicted speedups of compiled code over eager PyTorch, nine of ten are within {:.1} % of the measured ones.",
            self.speedup_percent
        )
    }
}
