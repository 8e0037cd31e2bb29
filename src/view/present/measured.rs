//! The model's predictions beside what was measured on a real GPU.

use crate::present::format::{
    format_count, format_error, format_exact, format_percent, format_seconds,
};
use crate::present::number::Number;
use crate::present::prediction_error::SHORT_S;
use fuseline_core::analysis::measured::{
    MeasuredRow, Measurements, Predicted, Variant, errors, predict,
};
use fuseline_core::{Device, Program};
use strum::EnumIter;

/// The names of all patterns, each once, in the order of the rows.
pub fn patterns<'r>(rows: impl IntoIterator<Item = &'r MeasuredRow>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.contains(&row.pattern) {
            names.push(row.pattern.clone());
        }
    }
    names
}

/// A row beside its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedRow {
    pub row: MeasuredRow,
    pub predicted: Predicted,
    /// Predicted and measured time of the eager run; `None` for that run itself, and where there is
    /// none.
    pub eager_s: Option<(f64, f64)>,
}

impl PredictedRow {
    /// Predicted and measured time.
    pub fn times_s(&self) -> (f64, f64) {
        (self.predicted.time_us * 1e-6, self.row.time_us * 1e-6)
    }

    /// Predicted and measured time of the eager run over this one's; `None` without such a run.
    pub fn speedup(&self) -> Option<(f64, f64)> {
        let (eager, own) = (self.eager_s?, self.times_s());
        Some((eager.0 / own.0, eager.1 / own.1))
    }
}

/// Each row with its prediction; `programs` are op lists by the name of their pattern. A row is
/// left out if it has no list or the list cannot be analysed. `O(rows * (rows + ops))`.
pub fn predicted_rows(
    rows: Vec<MeasuredRow>,
    programs: &[(String, Program)],
    device: &Device,
) -> Vec<PredictedRow> {
    let with_prediction = rows.into_iter().filter_map(|row| {
        let (_, program) = programs.iter().find(|(name, _)| *name == row.pattern)?;
        let predicted = predict(&row, program, device)?;
        Some(PredictedRow {
            row,
            predicted,
            eager_s: None,
        })
    });
    let mut all: Vec<PredictedRow> = with_prediction.collect();
    let eager: Vec<_> = all.iter().map(|row| eager_s(&all, row)).collect();
    for (row, eager_s) in all.iter_mut().zip(eager) {
        row.eager_s = eager_s;
    }
    all
}

fn eager_s(all: &[PredictedRow], of: &PredictedRow) -> Option<(f64, f64)> {
    if of.row.variant == Variant::Eager {
        return None;
    }
    let eager = all.iter().find(|other| {
        let (other, row) = (&other.row, &of.row);
        other.variant == Variant::Eager && other.pattern == row.pattern && other.size == row.size
    })?;
    Some(eager.times_s())
}

/// The quantity that is compared.
///
/// It belongs to a row of a file, so no analysis has its value. Predicted and measured values have
/// separate formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumIter)]
pub enum MeasuredQuantity {
    /// The time of one run.
    #[default]
    Time,
    /// Bytes read from device memory.
    Reads,
    /// Speedup of compiled code over library kernels.
    Speedup,
}

impl MeasuredQuantity {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Reads => "memory reads",
            Self::Speedup => "speedup over eager",
        }
    }

    /// A value with its unit.
    pub const fn number(self, value: f64) -> Number {
        match self {
            Self::Time => Number::Seconds(value),
            Self::Reads => Number::Amount(value, "B"),
            Self::Speedup => Number::Ratio(value),
        }
    }

    /// The text of a value, with its unit.
    pub fn text(self, value: f64) -> String {
        self.number(value).text()
    }

    /// Predicted and measured; `None` where there is nothing to compare.
    fn of(self, row: &PredictedRow) -> Option<(f64, f64)> {
        match self {
            Self::Time => Some(row.times_s()),
            Self::Reads => Some((
                row.predicted.dram_read_bytes,
                row.row.dram_read_bytes? as f64,
            )),
            Self::Speedup => row.speedup(),
        }
    }
}

/// A quantity of a row, predicted and measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The pattern and its sizes.
    pub name: String,
    /// The origin of its kernels.
    pub variant: Variant,
    pub predicted: f64,
    pub measured: f64,
}

impl Comparison {
    pub(super) fn of(row: &PredictedRow, quantity: MeasuredQuantity) -> Option<Self> {
        let (predicted, measured) = quantity.of(row)?;
        Some(Self {
            name: format!("{} {}", row.row.pattern, size_text(&row.row)),
            variant: row.row.variant,
            predicted,
            measured,
        })
    }

    /// Relative error of the prediction: 0.1 is a tenth too much.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// The rows that have both figures.
pub fn comparisons(rows: &[PredictedRow], quantity: MeasuredQuantity) -> Vec<Comparison> {
    let comparison = |row| Comparison::of(row, quantity);
    rows.iter().filter_map(comparison).collect()
}

/// The errors of the predictions, in a sentence.
pub fn error_summary(comparisons: &[Comparison]) -> String {
    let figures: Vec<(f64, f64)> = comparisons
        .iter()
        .map(|comparison| (comparison.predicted, comparison.measured))
        .collect();
    let Some(errors) = errors(&figures) else {
        return "No run of this kind was measured here.".to_owned();
    };
    let percent = |error: f64| format_percent(error * 100.0);
    let worst = comparisons.get(errors.worst_at);
    let worst = worst.map(|worst| format!("{}, {}", worst.name, variant_text(worst.variant)));
    format!(
        "{} rows: half are within {}, nine of ten within {}; the largest error is {} of what was measured ({}).",
        errors.count,
        percent(errors.median),
        percent(errors.ninth_decile),
        percent(errors.worst),
        worst.unwrap_or_default(),
    )
}

/// The range around predicted times, separately for short ones. The page shows it beside its own
/// predictions.
pub fn errors_by_length(comparisons: &[Comparison]) -> String {
    let within = |is_short: bool| {
        let of_kind = |run: &&Comparison| (run.predicted < SHORT_S) == is_short;
        let runs: Vec<(f64, f64)> = (comparisons.iter().filter(of_kind))
            .map(|run| (run.measured, run.predicted))
            .collect();
        match errors(&runs) {
            Some(errors) => format!(
                "nine of ten runs took up to {} more or less than predicted ({} rows)",
                format_percent(errors.ninth_decile * 100.0),
                errors.count
            ),
            None => "there are no rows".to_owned(),
        }
    };
    format!(
        "With a predicted time of at least {}, {}. Below, {}.",
        format_seconds(SHORT_S),
        within(false),
        within(true)
    )
}

/// Where the figures come from, in sentences.
pub fn source_notes(file: &Measurements) -> [String; 2] {
    let listed = file.listed_device();
    let name = listed.map_or(file.device.as_str(), |device| &*device.name);
    let calibration = listed.and_then(Device::calibration);
    let scaled_from = calibration
        .as_ref()
        .and_then(|c| c.rates_from.scaled_from());
    let rates = match scaled_from {
        None => format!("rates measured on this {name}"),
        Some(from) => format!(
            "rates measured on an {from} and scaled to the {name}; no rate comes from these measurements"
        ),
    };
    [
        format!(
            "Predicted times come from the device model with {rates}, as everywhere on the page for the device {name}."
        ),
        format!("{}, PyTorch {}. {}", file.device, file.torch, file.note),
    ]
}

/// How a pattern differs from the examples of nearly the same name, and the largest hidden size
/// that was measured; `None` if the file lacks the pattern.
pub fn pattern_note(file: &Measurements) -> Option<String> {
    /// Index of H among the params S, H and heads.
    const HIDDEN_SIZE: usize = 1;
    let blocks = (file.rows.iter()).filter(|row| row.pattern == "transformer_block");
    let widest = blocks.filter_map(|row| row.size.get(HIDDEN_SIZE)).max()?;
    Some(format!(
        "The pattern transformer_block differs from both examples of that name: it runs in bf16, and its layer norms have weights and biases. Unlike “Transformer block”, it computes Q, K and V in one matmul and does not scale the scores. Unlike “Transformer block, 14 ops”, its attention reads Q, K and V separately instead of counting all three in each matmul. No block wider than H = {} was measured here.",
        format_exact(widest.unsigned_abs().into())
    ))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredTableRow {
    /// Its index among the predicted rows.
    pub place: usize,
    /// The name of its op list.
    pub pattern: String,
    /// Relative error of the prediction.
    pub error: String,
    /// Who made the kernels.
    pub variant: &'static str,
    pub predicted: String,
    pub measured: String,
    /// The params of the op list.
    pub size: String,
    /// Number of kernels, predicted and measured.
    pub kernels: [String; 2],
}

/// A row for each predicted row that has both figures.
pub fn table_rows(rows: &[PredictedRow], quantity: MeasuredQuantity) -> Vec<MeasuredTableRow> {
    let table_row = |(place, row): (usize, &PredictedRow)| {
        let comparison = Comparison::of(row, quantity)?;
        Some(MeasuredTableRow {
            place,
            pattern: row.row.pattern.clone(),
            error: format_error(comparison.error()),
            variant: variant_text(row.row.variant),
            predicted: quantity.text(comparison.predicted),
            measured: quantity.text(comparison.measured),
            size: size_text(&row.row),
            kernels: [row.predicted.launches, row.row.kernels.len()].map(format_count),
        })
    };
    rows.iter().enumerate().filter_map(table_row).collect()
}

pub(super) fn size_text(row: &MeasuredRow) -> String {
    let sizes: Vec<String> = row.size.iter().map(i64::to_string).collect();
    sizes.join("×")
}

/// The origin of the kernels, in a few words.
pub const fn variant_text(variant: Variant) -> &'static str {
    match variant {
        Variant::Eager => "eager",
        Variant::Inductor => "compiled",
        Variant::InductorTritonGemm => "compiled, generated matmuls",
    }
}
