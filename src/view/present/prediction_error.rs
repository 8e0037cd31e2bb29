//! How far predicted times are from measured ones.

use super::figure::Explanation;
use super::times::program_outside;
use fuseline_core::Analysis;

/// How far predictions are from what ran, as *Measured* shows row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionError {
    device: &'static str,
    /// Half of the predicted times are within this.
    pub half_percent: u8,
    /// Nine of ten are within this.
    pub most_percent: u8,
}

/// From the measured runs of `public/measured`, rounded up. A test computes them anew.
const PREDICTION_ERRORS: [PredictionError; 2] = [
    PredictionError {
        device: "h200",
        half_percent: 5,
        most_percent: 16,
    },
    PredictionError {
        device: "h100",
        half_percent: 6,
        most_percent: 21,
    },
];

impl PredictionError {
    /// That of the chosen device; `None` without predictions, and where nothing was measured on such a device or at such sizes.
    pub fn of(analysis: &Analysis) -> Option<Self> {
        analysis.predicted.as_ref()?;
        if program_outside(analysis).is_some() {
            return None;
        }
        let id = &analysis.options.device.id;
        PREDICTION_ERRORS.into_iter().find(|of| *id == of.device)
    }

    /// `±21 %`: what nine of ten predictions keep.
    pub fn text(self) -> String {
        format!("±{} %", self.most_percent)
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
        format!(
            "Half of the predicted times are within {half_percent} % of the measured ones, nine of ten within {most_percent} %. A difference of two predictions that is smaller has to be measured."
        )
    }
}
