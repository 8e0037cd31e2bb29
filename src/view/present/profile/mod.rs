//! The visitor's own measurement beside the prediction: rows, sums and sentences.

mod explain;
mod notes;

pub use explain::{ProfileFigure, profile_explanation};
pub use notes::{Note, Offer, notes, run_title};

use crate::present::format::{format_bytes, format_error, format_ratio, format_seconds};
use crate::present::names::{counted, op_names, short_name};
use crate::present::number::Number;
use crate::present::reasons::reason_text;
use crate::present::saved::Saved;
use fuseline_core::{Analysis, KernelId, OpId};
use fuseline_import::matching::{Counted, How, Matching, Neighbours};
use fuseline_import::profile::{MeasuredKernel, base_name};
use fuseline_import::surprises::differs;
use fuseline_import::workload::PatternInProgram;

/// Most characters of the name of a measured kernel.
const NAME_CHARS: usize = 44;
/// The text of a cell where nothing was measured.
const NOTHING: &str = "–";

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOf {
    /// A predicted kernel, with what ran for it, if anything did.
    Kernel(KernelId),
    /// A kernel that ran and has no prediction, by its index in the run.
    Unmatched(usize),
    /// The sum of the predicted kernels that were matched, and of what ran for them.
    Found,
    /// The sum of all kernels.
    Total,
}

impl RowOf {
    /// The title of a sum.
    pub const fn sum_title(self) -> &'static str {
        match self {
            Self::Found => "matched kernels",
            Self::Total => "total",
            Self::Kernel(_) | Self::Unmatched(_) => "",
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    pub of: RowOf,
    /// The first op of a predicted kernel.
    pub first_op: Option<OpId>,
    /// The names of its ops.
    pub ops: String,
    /// The names of what ran, shortened.
    pub name: String,
    /// The whole names of what ran, one a line.
    pub full_names: String,
    /// How the kernel was matched, if not by its position; or that it was not matched.
    pub remark: &'static str,
    /// Predicted time, measured time and the relative error of the prediction.
    pub times: [String; 3],
    /// Whether both times are with a cold cache.
    pub is_cold: bool,
    /// Which bytes are compared.
    pub counted: Counted,
    /// Predicted and measured bytes and the error.
    pub bytes: [String; 3],
    /// How long the GPU waited before it.
    pub gap: String,
}

impl ProfileRow {
    /// The predicted kernel that it is about.
    pub const fn kernel(&self) -> Option<KernelId> {
        match self.of {
            RowOf::Kernel(kernel) => Some(kernel),
            RowOf::Unmatched(_) | RowOf::Found | RowOf::Total => None,
        }
    }

    /// The kernels that ran for the row; none for a sum.
    pub fn launches<'a>(&self, matching: &'a Matching) -> impl Iterator<Item = &'a MeasuredKernel> {
        launches_of(matching, self.of)
    }
}

fn launches_of(matching: &Matching, of: RowOf) -> impl Iterator<Item = &MeasuredKernel> {
    let kernel = match of {
        RowOf::Kernel(kernel) => Some(matching.launches(kernel)),
        RowOf::Unmatched(_) | RowOf::Found | RowOf::Total => None,
    };
    let unmatched = match of {
        RowOf::Unmatched(at) => matching.run.kernels.get(at),
        RowOf::Kernel(_) | RowOf::Found | RowOf::Total => None,
    };
    kernel.into_iter().flatten().chain(unmatched)
}

/// A predicted and a measured number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sides {
    pub(super) predicted: Option<f64>,
    pub(super) measured: Option<f64>,
    /// Whether both are of different kernels, so that there is no error.
    pub(super) is_apart: bool,
}

impl Sides {
    /// Relative error of the prediction: 0.1 is a tenth too much.
    pub(super) fn error(self) -> Option<f64> {
        if self.is_apart {
            return None;
        }
        let error = self.predicted? / self.measured.filter(|measured| *measured > 0.0)? - 1.0;
        error.is_finite().then_some(error)
    }

    fn texts(self, text: impl Fn(f64) -> String) -> [String; 3] {
        let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
        [
            or_nothing(self.predicted.map(&text)),
            or_nothing(self.measured.map(&text)),
            or_nothing(self.error().map(format_error)),
        ]
    }
}

/// Predicted and measured time of a row, in seconds.
pub(super) fn times_of(analysis: &Analysis, matching: &Matching, of: RowOf) -> Sides {
    let predicted = |kernel| matching.predicted_s.get(kernel).copied();
    let (predicted, measured) = match of {
        RowOf::Kernel(kernel) => (predicted(kernel), matching.time_s(kernel)),
        RowOf::Unmatched(at) => (None, matching.run.kernels.get(at).map(|ran| ran.time_s)),
        RowOf::Found => (
            matching.found().map(predicted).sum(),
            Some(matching.launches_found().map(|ran| ran.time_s).sum()),
        ),
        RowOf::Total => (
            Some(matching.predicted_s.iter().sum()),
            Some(matching.run.kernels_s()),
        ),
    };
    Sides {
        predicted,
        measured,
        is_apart: is_apart(analysis, matching, of),
    }
}

/// Predicted and measured bytes of a row, as [`Matching::counted`] says.
pub(super) fn bytes_of(analysis: &Analysis, matching: &Matching, of: RowOf) -> Sides {
    let counted = matching.counted;
    let kernels = &analysis.fused.kernels;
    let predicted = |kernel| kernels.get(kernel).map(|kernel| counted.predicted(kernel));
    let (predicted, measured) = match of {
        RowOf::Kernel(kernel) => (predicted(kernel), matching.bytes(kernel, counted)),
        RowOf::Unmatched(at) => (None, counted.sum(matching.run.kernels.get(at).into_iter())),
        RowOf::Found => (
            matching.found().map(predicted).sum(),
            counted.sum(matching.launches_found()),
        ),
        RowOf::Total => (
            Some(kernels.iter().map(|kernel| counted.predicted(kernel)).sum()),
            counted.sum(matching.run.kernels.iter()),
        ),
    };
    let as_number = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    Sides {
        predicted: as_number(predicted),
        measured: as_number(measured),
        is_apart: is_apart(analysis, matching, of),
    }
}

/// Whether what is predicted and what ran are of different kernels.
fn is_apart(analysis: &Analysis, matching: &Matching, of: RowOf) -> bool {
    of == RowOf::Total && !matching.is_complete(analysis)
}

/// How long the GPU waited before a row; for the total, the sum of all waits.
pub(super) fn gap_of(matching: &Matching, of: RowOf) -> Option<f64> {
    let gaps = matching.run.gaps_s();
    let gap = |at: usize| gaps.get(at).copied().flatten();
    match of {
        RowOf::Kernel(kernel) => gap(*matching.of_kernel.get(kernel)?.first()?),
        RowOf::Unmatched(at) => gap(at),
        RowOf::Found => None,
        RowOf::Total => {
            let known: Vec<f64> = gaps.iter().copied().flatten().collect();
            (!known.is_empty()).then(|| known.iter().sum())
        }
    }
}

/// A row for each matched kernel and each kernel without a prediction, in the order in which they
/// ran, and then one for each predicted kernel that was not matched. `O(kernels)`.
pub fn profile_rows(analysis: &Analysis, matching: &Matching) -> Vec<ProfileRow> {
    let gaps = matching.run.gaps_s();
    let mut all = Vec::new();
    for (at, found) in matching.of_measured.iter().enumerate() {
        let of = match found {
            None => RowOf::Unmatched(at),
            // Its first launch has the row.
            Some(found) if matching.of_kernel[found.kernel].first() == Some(&at) => {
                RowOf::Kernel(found.kernel)
            }
            Some(_) => continue,
        };
        all.push((of, gaps.get(at).copied().flatten()));
    }
    all.extend(
        matching
            .missing(analysis)
            .map(|kernel| (RowOf::Kernel(kernel), None)),
    );
    all.into_iter()
        .map(|(of, gap_s)| row(analysis, matching, of, gap_s))
        .collect()
}

/// The row of all kernels, and before it, if some were not matched, a row of those that were: only
/// there are the predicted and the measured kernels the same.
pub fn profile_totals(analysis: &Analysis, matching: &Matching) -> Vec<ProfileRow> {
    let has_found = matching.found().next().is_some() && !matching.is_complete(analysis);
    let sums = has_found.then_some(RowOf::Found).into_iter();
    sums.chain([RowOf::Total])
        .map(|of| row(analysis, matching, of, gap_of(matching, of)))
        .collect()
}

fn row(analysis: &Analysis, matching: &Matching, of: RowOf, gap_s: Option<f64>) -> ProfileRow {
    let launches: Vec<&MeasuredKernel> = launches_of(matching, of).collect();
    let predicted = match of {
        RowOf::Kernel(kernel) => analysis.fused.kernels.get(kernel),
        RowOf::Unmatched(_) | RowOf::Found | RowOf::Total => None,
    };
    let remark = match of {
        RowOf::Unmatched(_) => "not predicted",
        RowOf::Kernel(_) if launches.is_empty() => "not found",
        RowOf::Kernel(kernel) => {
            let first = matching.of_kernel[kernel]
                .first()
                .and_then(|&at| matching.of_measured.get(at)?.as_ref());
            match first.map(|found| found.how) {
                Some(How::ByName) => "in another order",
                _ => "",
            }
        }
        RowOf::Found | RowOf::Total => "",
    };
    ProfileRow {
        of,
        first_op: predicted.and_then(|kernel| kernel.ops.first().copied()),
        ops: predicted.map_or_else(String::new, |kernel| op_names(&analysis.graph, &kernel.ops)),
        name: shortened(&launches),
        full_names: launches
            .iter()
            .map(|launch| &*launch.name)
            .collect::<Vec<_>>()
            .join("\n"),
        remark,
        times: times_of(analysis, matching, of).texts(format_seconds),
        is_cold: matching.run.is_cold,
        counted: matching.counted,
        bytes: bytes_of(analysis, matching, of).texts(|bytes| format_bytes(whole(bytes))),
        gap: gap_s.map_or_else(|| NOTHING.to_owned(), format_seconds),
    }
}

fn shortened(launches: &[&MeasuredKernel]) -> String {
    let [first, more @ ..] = launches else {
        return String::new();
    };
    let name = short_name(base_name(&first.name), NAME_CHARS);
    if more.is_empty() {
        return name;
    }
    format!("{name} and {} more", more.len())
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of bytes that was an integer before"
)]
const fn whole(bytes: f64) -> u64 {
    bytes as u64
}

/// The title of the column of bytes.
pub fn bytes_title(matching: &Matching) -> &'static str {
    match matching.counted {
        Counted::Read => "bytes read",
        Counted::Moved => "bytes read and written",
    }
}

/// Two neighbouring kernels in words.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourRow {
    /// Both kernels.
    pub kernels: [KernelId; 2],
    /// `1 (scale) and 2 (mask)`.
    pub names: String,
    /// Sum of the measured times of both.
    pub time: String,
    /// How long the GPU waited between them.
    pub gap: String,
    /// What one kernel for both would save, or why there is none.
    pub merge: Result<[String; 2], String>,
}

/// Neighbours in words, in their order.
pub fn neighbour_rows(analysis: &Analysis, neighbours: &[Neighbours]) -> Vec<NeighbourRow> {
    let name = |kernel: KernelId| {
        let ops = analysis.partition.kernels.get(kernel).unwrap_or_default();
        format!("{} ({})", kernel.number(), op_names(&analysis.graph, ops))
    };
    let row = |of: &Neighbours| NeighbourRow {
        kernels: [of.first, of.second],
        names: format!("{} and {}", name(of.first), name(of.second)),
        time: format_seconds(of.times_s.iter().sum()),
        gap: of.gap_s.map_or_else(|| NOTHING.to_owned(), format_seconds),
        merge: match &of.merge {
            Ok(price) => {
                let text = |saved: Saved| {
                    saved
                        .number(*price)
                        .map_or_else(|| NOTHING.to_owned(), Number::text)
                };
                Ok([text(Saved::Bytes), text(Saved::Time)])
            }
            Err(reason) => Err(reason_text(&analysis.graph, reason)),
        },
    };
    neighbours.iter().map(row).collect()
}

/// What fusing a pattern brought in a program beside its records, in a sentence; a warning where
/// both differ.
pub fn pattern_sentence(pattern: &PatternInProgram) -> String {
    let [here, alone] = [pattern.speedup(), pattern.speedup_of_records()];
    format!(
        "{}{} in {}: speedup by fusion {} (records: {}), total time {} (records: {}).",
        if differs(here, alone) {
            "warning: "
        } else {
            ""
        },
        pattern.fusion_pattern,
        counted(pattern.occurrences, "occurrence"),
        format_ratio(here),
        format_ratio(alone),
        format_seconds(pattern.fused_s),
        format_seconds(pattern.fused_by_records_s),
    )
}

/// How many of the kernels that ran were found among the predicted ones, and how many predicted
/// ones were not, in a sentence.
pub fn found_sentence(analysis: &Analysis, matching: &Matching) -> String {
    let found = matching.launches_found().count();
    let missing = matching.missing(analysis).count();
    let ran = counted(matching.run.kernels.len(), "kernel");
    let rest = match missing {
        0 => String::new(),
        1 => " 1 predicted kernel matches no measured kernel.".to_owned(),
        more => format!(" {more} predicted kernels match no measured kernel."),
    };
    format!("{ran} ran, and {found} of them match a predicted kernel.{rest}")
}
