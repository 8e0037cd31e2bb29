//! Times in words: predicted where the device has measured rates, otherwise lower bounds.

use crate::present::format::{at_least, format_exact, format_seconds};
use crate::present::names::counted;
use crate::present::predicted::breakdown_lines;
use crate::present::quantity::{Quantity, Run, Scope, Values};
use crate::present::time_derivations::{Limit, limits_of};
use fuseline_core::Policy;
use fuseline_core::analysis::device_model::{
    FEWEST_COLUMNS, FEWEST_KEYS, HEAD_SIZES, LONGEST_OF_FEW_ROWS, MOST_SHARING_HEADS, Outside,
    Predicted, breakdown, cold_time,
};
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::cost::roofline::{MissingFigure, missing_figure};
use fuseline_core::model::device::RatesFrom;
use fuseline_core::model::ids::KernelId;
use fuseline_core::model::options::Options;

/// The kind of the times of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// The device model, with rates that are measured on the device or scaled from those of
    /// another.
    Predicted,
    /// The roofline.
    LowerBound,
}

impl TimeKind {
    /// The kind of all times of an analysis.
    pub const fn of(analysis: &Analysis) -> Self {
        match analysis.predicted {
            Some(_) => Self::Predicted,
            None => Self::LowerBound,
        }
    }

    /// The name of the kind, in one or two words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Predicted => "predicted",
            Self::LowerBound => "lower bound",
        }
    }

    /// The title of a figure or a column.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Predicted => Quantity::PredictedTime.title(),
            Self::LowerBound => Quantity::LowerBound.title(),
        }
    }
}

/// Where the times of an analysis come from, in a sentence or two.
pub fn time_note(analysis: &Analysis) -> String {
    const BOUND: &str = "the longer of bytes / bandwidth and FLOPs / peak, plus a launch";
    let device = &analysis.options.device.name;
    let rates_from = match &analysis.predicted {
        None => {
            let is_complete = analysis.fused.first_incomplete().is_none();
            let unmeasured = match analysis.options.device.calibration() {
                Some(_) if is_complete => {
                    " This program has no predicted times: the measured rates cover matmuls in 16-bit floats and no f64."
                }
                _ => "",
            };
            return format!(
                "Times are lower bounds, the fastest possible times at full peak rates: {BOUND}. Kernels take longer on {device}, unless their data is still in its cache.{unmeasured}"
            );
        }
        Some(predicted) => &predicted.rates_from,
    };
    let rates = match rates_from {
        RatesFrom::Device => {
            format!(
                "Predicted times come from the device model, with rates measured on an {device}"
            )
        }
        RatesFrom::Scaled(from) => format!(
            "Predicted times come from the device model, with rates scaled from an {from} to the bandwidth, cache and multiprocessors of the {device}"
        ),
        RatesFrom::Probe {
            measured_on,
            others_from,
        } => format!(
            "Predicted times come from the device model. A probe measured some of its rates on this {device} on {measured_on}; the others are scaled from an {others_from}"
        ),
    };
    let outside = program_outside(analysis)
        .map_or_else(String::new, |outside| format!(" {}", outside_text(outside)));
    format!(
        "{rates}. The times are warm: the program repeats, so inputs and weights that fit in the L2 cache stay there. Without fusion they are those of eager PyTorch, whose copies take longer than compiled ones.{outside} Lower bound: {BOUND}, with all bytes from memory. A warm time can be below it where the cache still holds data."
    )
}

/// What `?` behind a predicted time means here: `? marks an unverified prediction: …`.
pub fn outside_text(outside: Outside) -> String {
    let why = match outside {
        Outside::Opaque => "it leaves out the arithmetic of an opaque op".to_owned(),
        Outside::LeftOut => "it leaves out arithmetic whose rate or amount is unknown".to_owned(),
        Outside::AtPeak(dtype) => format!(
            "its arithmetic in {} counts at the peak rate, because none was measured",
            dtype.name()
        ),
        Outside::F8 => "of kernels with f8 tensors, only matmuls were measured".to_owned(),
        Outside::FourBits => "no kernel with tensors of 4 bits was measured".to_owned(),
        Outside::SortOrScan => {
            "no sort and no running sum was measured, and only their bytes count".to_owned()
        }
        Outside::GroupedHeads(group) => format!(
            "{group} query heads share each head of K and V, and the measurements have at most {MOST_SHARING_HEADS}"
        ),
        Outside::HeadSize(size) => format!(
            "attention has heads of size {}, and the model holds for {} to {}, with one query to 128",
            format_exact(size.into()),
            HEAD_SIZES.start(),
            HEAD_SIZES.end()
        ),
        Outside::FewKeys(count) => few("attention", count, "key", FEWEST_KEYS),
        Outside::FewRows(count) => format!(
            "a kernel reduces {} of more than {} elements, and no such kernel was measured",
            counted_exactly(count, "row"),
            format_exact(LONGEST_OF_FEW_ROWS.into())
        ),
        Outside::FewColumns(count) => few("a matmul", count, "column", FEWEST_COLUMNS),
    };
    format!("? marks an unverified prediction: {why}.")
}

/// That a count is below the measured range:
/// `attention has 64 keys, and the measurements start at 512`.
fn few(what: &str, count: u64, noun: &str, least: u64) -> String {
    let count = counted_exactly(count, noun);
    let least = format_exact(least.into());
    format!("{what} has {count}, and the measurements start at {least}")
}

fn counted_exactly(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", format_exact(count.into()))
}

/// A time, and the lower bound beside it where that is another figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeText {
    /// The time: predicted where it is known, otherwise the lower bound. `?` marks a prediction
    /// outside the measured sizes.
    pub time: String,
    /// The lower bound, beside a predicted time.
    pub bound: Option<String>,
    /// The predicted time lies below the bound, because the cache still holds data that the bound
    /// reads from memory.
    pub is_below: bool,
    /// How the predicted time is outside the measured sizes, if it is; [`outside_text`] says it.
    pub outside: Option<Outside>,
}

/// A ratio of predicted times, with a note if one of them is outside the measured sizes:
/// `1.34× faster (unverified)`.
pub(super) fn unverified_ratio(outside: Option<Outside>, faster: &str) -> String {
    match outside {
        Some(_) => format!("{faster} (unverified)"),
        None => faster.to_owned(),
    }
}

/// How a predicted time of the program, unfused or fused, is outside the measured sizes, if one is.
pub(super) fn program_outside(analysis: &Analysis) -> Option<Outside> {
    let predicted = analysis.predicted.as_ref()?;
    predicted.fused_outside.or(predicted.unfused_outside)
}

/// The text after a lower bound that is above the predicted time.
pub const COLD: &str = " with a cold cache";

impl TimeText {
    /// The time of a run; `None` where there is no such kernel.
    pub(crate) fn of(values: &Values<'_>, scope: Scope, run: Run) -> Option<Self> {
        let time = values.marked_at(scope, Quantity::Time, run)?;
        let bound = values.marked_at(scope, Quantity::LowerBound, run)?;
        let is_predicted = values.at(scope, Quantity::PredictedTime, run).is_some();
        Some(Self {
            time: time.text(),
            bound: is_predicted.then(|| bound.text()),
            is_below: values.is_below_bound(scope, run),
            outside: time.outside,
        })
    }

    /// The time without the mark of a prediction outside the measured sizes, where something beside
    /// it says that.
    pub fn unmarked(&self) -> &str {
        self.time.trim_end_matches('?')
    }

    /// The bound beside the time: `208 µs`, `208 µs with a cold cache` where the time lies below
    /// it.
    pub fn bound_beside(&self) -> Option<String> {
        let cold = if self.is_below { COLD } else { "" };
        Some(format!("{}{cold}", self.bound.as_ref()?))
    }

    /// Both in one text: `454 µs (lower bound 208 µs)`.
    pub fn joined(&self) -> String {
        match self.bound_beside() {
            None => self.time.clone(),
            Some(bound) => format!("{} (lower bound {bound})", self.time),
        }
    }
}

/// The time of a fused kernel.
pub fn kernel_time(analysis: &Analysis, kernel: KernelId) -> Option<TimeText> {
    TimeText::of(&Values::new(analysis), Scope::Kernel(kernel), Run::Fused)
}

/// How many times faster the whole program is fused, by the times that it has; `None` where not all
/// FLOPs are known.
pub fn total_speedup(analysis: &Analysis) -> Option<(TimeKind, f64)> {
    let bound = analysis.speedup?;
    let predicted = analysis.predicted.as_ref();
    let speedup = predicted.map_or(bound, Predicted::speedup);
    Some((TimeKind::of(analysis), speedup))
}

/// The time of the whole program, unfused and fused.
pub fn total_times(analysis: &Analysis) -> [TimeText; 2] {
    let values = Values::new(analysis);
    let time = |run| TimeText::of(&values, Scope::Program, run).unwrap_or_default();
    [time(Run::Unfused), time(Run::Fused)]
}

/// How the time of a fused kernel is computed, one line for each part.
pub fn time_lines(analysis: &Analysis, id: KernelId) -> Vec<String> {
    let options = &analysis.options;
    let Some(kernel) = analysis.fused.kernels.get(id) else {
        return Vec::new();
    };
    if kernel.is_free {
        return vec!["a view, which is not launched: 0 s".to_owned()];
    }
    let mut lines: Vec<String> = limits_of(options, kernel).iter().map(Limit::line).collect();
    let placement = &kernel.placement;
    let launches = match analysis.partition.further_launches_of(id) {
        0 => "launch".to_owned(),
        further => format!("for each of {} launches", further + 1),
    };
    lines.push(format!(
        "lower bound: the longest of these + {} {launches} = {}",
        format_seconds(options.device.launch_s.value),
        at_least(placement.is_incomplete(), &format_seconds(placement.time_s))
    ));
    lines.extend(missing_text(kernel, options));
    if let Some(breakdown) = breakdown(analysis, id) {
        lines.extend(breakdown_lines(&breakdown, TimeKind::of(analysis).name()));
        if breakdown.time_s() < placement.time_s {
            lines.push("The predicted time is below the lower bound, which reads all bytes from memory: the cache still holds some of them.".to_owned());
        }
        if let Some(cold_s) = cold_time(analysis, id).filter(|cold_s| *cold_s > breakdown.time_s())
        {
            lines.push(format!(
                "{} with a cold cache: {}",
                TimeKind::of(analysis).name(),
                format_seconds(cold_s)
            ));
        }
        let kernels = analysis
            .predicted
            .as_ref()
            .map(|predicted| &predicted.kernels);
        let outside = kernels.and_then(|kernels| kernels.get(id)?.outside);
        lines.extend(outside.map(outside_text));
    }
    lines
}

/// What the totals leave out.
pub fn missing_total(analysis: &Analysis) -> Option<String> {
    let (unknown, its) = match analysis.graph.unknown_ops.len() {
        0 => (None, ""),
        1 => (
            Some("1 op of unknown shape is not counted".to_owned()),
            "its",
        ),
        count => {
            let ops = counted(count, "op");
            (
                Some(format!("{ops} of unknown shape are not counted")),
                "their",
            )
        }
    };
    // The rules join an op to the kernel before it whatever comes after it; these two look at the
    // whole program, so that a program with all shapes may have other kernels, and less traffic.
    let whole_program = match analysis.options.policy {
        Policy::Inductor => Some("torch.compile"),
        Policy::Optimal => Some("the search for the optimum"),
        Policy::None | Policy::Rules | Policy::Manual => None,
    };
    let unknown = unknown.map(|sentence| match whole_program {
        None => sentence,
        Some(who) => {
            format!("{sentence}, and {who} may choose other kernels once {its} shapes are known")
        }
    });
    let kernel = analysis.unfused.first_incomplete();
    let missing = kernel.and_then(|kernel| missing_text(kernel, &analysis.options));
    let parts: Vec<String> = [unknown, missing].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What the time of a kernel leaves out: `no peak is known for f64 on this device, so the time
/// leaves its arithmetic out`.
pub fn missing_text(kernel: &Kernel, options: &Options) -> Option<String> {
    let unknown_peak = |of: &str| format!("no peak is known for {of} on this device");
    let missing = match missing_figure(options, kernel.work)? {
        MissingFigure::K => "the contraction length K of a matmul is unknown".to_owned(),
        MissingFigure::PeakOf(dtype) => unknown_peak(dtype.name()),
        MissingFigure::MatrixPeak => unknown_peak("matrix units"),
        MissingFigure::VectorPeak => unknown_peak("vector units"),
        MissingFigure::Units => "the units that an opaque op uses are unknown".to_owned(),
    };
    Some(format!("{missing}, so the time leaves its arithmetic out"))
}
