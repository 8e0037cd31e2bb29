//! The current figures compared with those of a pinned state: other sizes, device, policy or text.

use super::format::{assumed, format_bytes, format_change, format_count};
use super::names::{joined, op_names};
use super::options::policy_title;
use super::quantity::{Quantity, Run, Values};
use super::times::{TimeKind, total_times};
use crate::present::sweep::param_text;
use fuseline_core::model::functions::Function;
use fuseline_core::notation::spelling::printable;
use fuseline_core::{Analysis, IdVec, KernelId, OpId, Options, Program};
use std::collections::{HashMap, HashSet};

/// A pinned figure, and its change since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    /// The figure of the pinned state.
    pub pinned: String,
    /// The change since then: `−14.6 %`, `+2`, `the same`; empty where the two cannot be compared.
    pub change: String,
    /// Whether the figure has changed.
    pub is_changed: bool,
}

/// The figures of the headline compared with those of the pinned state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlineAgainst {
    /// Bytes through memory, fused.
    pub bytes: Against,
    /// Launched kernels.
    pub kernels: Against,
    /// Time, fused.
    pub time: Against,
}

impl HeadlineAgainst {
    /// The comparison as one text, for screen readers.
    pub fn sentence(&self) -> String {
        let one = |what: &str, against: &Against| {
            let Against { pinned, change, .. } = against;
            let change = if change.is_empty() {
                "not comparable"
            } else {
                change
            };
            format!("{what} {pinned} pinned, {change}")
        };
        format!(
            "Compared with the pinned state: {}; {}; {}.",
            one("memory traffic", &self.bytes),
            one("kernels", &self.kernels),
            one("time", &self.time)
        )
    }
}

impl HeadlineAgainst {
    /// The pinned figures without changes, for a program that now has other ops.
    #[must_use]
    pub fn without_changes(self) -> Self {
        let alone = |against: Against| Against {
            change: String::new(),
            is_changed: false,
            ..against
        };
        Self {
            bytes: alone(self.bytes),
            kernels: alone(self.kernels),
            time: alone(self.time),
        }
    }
}

/// Whether both programs have the same ops, in any order and of any sizes. The figures of other ops
/// say nothing about these.
pub fn has_same_ops(pinned: &Program, now: &Program) -> bool {
    let [pinned, now] = [pinned, now].map(|program| {
        let ops = program.ops.iter();
        let ops = ops.map(|op| (op.name().text.as_str(), op.callee.text.as_str()));
        ops.collect::<HashSet<_>>()
    });
    pinned == now
}

const SAME: &str = "unchanged";

/// The figures of `now` against those of `pinned`, both fused.
pub fn headline_against(pinned: &Analysis, now: &Analysis) -> HeadlineAgainst {
    let bytes = [pinned, now].map(|analysis| analysis.fused.traffic.total);
    let kernels = [pinned, now].map(|analysis| analysis.fused.launches);
    let kinds = [pinned, now].map(TimeKind::of);
    let [_, time] = total_times(pinned);
    let [pinned_values, now_values] = [pinned, now].map(Values::new);
    let is_assumed = pinned_values.program_has_assumed_size(Run::Unfused)
        || now_values.program_has_assumed_size(Run::Unfused);
    let against = |pinned: String, change: Option<String>| Against {
        pinned,
        is_changed: change.is_some(),
        change: change.unwrap_or_else(|| SAME.to_owned()),
    };
    let percent =
        |figures: [f64; 2]| change_text(figures).map(|change| assumed(is_assumed, &change));
    HeadlineAgainst {
        bytes: against(
            pinned_values.total(Quantity::Bytes, Run::Fused),
            percent(bytes.map(|bytes| bytes as f64)),
        ),
        kernels: against(
            pinned_values.total(Quantity::Launches, Run::Fused),
            (kernels[0] != kernels[1]).then(|| {
                let sign = if kernels[1] > kernels[0] { "+" } else { "−" };
                format!("{sign}{}", format_count(kernels[0].abs_diff(kernels[1])))
            }),
        ),
        time: if kinds[0] == kinds[1] {
            against(time.time, percent([pinned, now].map(Analysis::time_s)))
        } else {
            // A predicted time and a lower bound cannot be compared, but two lower bounds can.
            let bounds = [pinned, now].map(|analysis| analysis.fused.time_s);
            let pinned = match kinds[0] {
                TimeKind::Predicted => time.joined(),
                TimeKind::LowerBound => format!("{} ({})", time.time, kinds[0].name()),
            };
            let change = percent(bounds).map(|change| format!("{change} by lower bounds"));
            against(pinned, change)
        },
    }
}

/// The change from the first figure to the second; `None` where it rounds to nothing.
fn change_text([before, now]: [f64; 2]) -> Option<String> {
    /// Half of the last digit that is written, in percent.
    const ROUNDS_TO_NOTHING: f64 = 0.05;
    if before == 0.0 {
        return (now != 0.0).then(|| "new".to_owned());
    }
    let saved_pct = (1.0 - now / before) * 100.0;
    (saved_pct.abs() >= ROUNDS_TO_NOTHING).then(|| format_change(saved_pct))
}

/// A kernel against the one of the same ops in the pinned state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelAgainst {
    /// No kernel of the pinned state has exactly its ops.
    New,
    /// A kernel of the pinned state has the same ops.
    Known {
        /// The first op of that kernel, in the pinned state.
        first_op: OpId,
        /// The change of its bytes; `None` for none.
        bytes: Option<String>,
        /// The change of its time.
        time: Option<String>,
    },
}

impl KernelAgainst {
    /// What the table shows instead of numbers.
    pub const fn words(&self) -> Option<&'static str> {
        match self {
            Self::New => Some("new"),
            Self::Known {
                bytes: None,
                time: None,
                ..
            } => Some(SAME),
            Self::Known { .. } => None,
        }
    }
}

/// A kernel by the names and the functions of its ops.
type Names<'a> = Vec<(&'a str, Option<Function>)>;

fn names_of(analysis: &Analysis, kernel: KernelId) -> Names<'_> {
    let ops = &analysis.partition.kernels[kernel];
    let op = |&op: &OpId| &analysis.graph.ops[op];
    (ops.iter().map(op))
        .map(|op| (op.name.as_str(), op.function))
        .collect()
}

fn by_names(analysis: &Analysis) -> HashMap<Names<'_>, KernelId> {
    let kernels = analysis.partition.kernels.ids();
    kernels
        .map(|kernel| (names_of(analysis, kernel), kernel))
        .collect()
}

/// Each kernel of `now` against that of the same ops in `pinned`. `O(ops)`.
pub fn kernels_against(pinned: &Analysis, now: &Analysis) -> IdVec<KernelId, KernelAgainst> {
    let known = by_names(pinned);
    let is_one_kind = TimeKind::of(pinned) == TimeKind::of(now);
    let against = |kernel: KernelId| {
        let other = known.get(&names_of(now, kernel)).copied();
        let first_op = other.and_then(|other| pinned.partition.kernels[other].first().copied());
        let (Some(other), Some(first_op)) = (other, first_op) else {
            return KernelAgainst::New;
        };
        let bytes = [
            pinned.fused.kernels[other].bytes(),
            now.fused.kernels[kernel].bytes(),
        ];
        // Of a predicted time and a lower bound, both lower bounds are compared.
        let seconds_of = |(analysis, kernel): (&Analysis, KernelId)| {
            if is_one_kind {
                analysis.kernel_time_s(kernel).unwrap_or_default()
            } else {
                analysis.fused.kernels[kernel].placement.time_s
            }
        };
        let times = [(pinned, other), (now, kernel)].map(seconds_of);
        KernelAgainst::Known {
            first_op,
            bytes: change_text(bytes.map(|bytes| bytes as f64)),
            time: change_text(times),
        }
    };
    now.partition.kernels.ids().map(against).collect()
}

/// Each kernel of `now` with that of the same ops in `pinned`, then those that only `pinned` has:
/// `[pinned, now]`. `O(ops)`.
pub fn matched_kernels(pinned: &Analysis, now: &Analysis) -> Vec<[Option<KernelId>; 2]> {
    let [in_pinned, in_now] = [pinned, now].map(by_names);
    let of_now = now.partition.kernels.ids();
    let of_now = of_now.map(|id| [in_pinned.get(&names_of(now, id)).copied(), Some(id)]);
    let gone = pinned.partition.kernels.ids();
    let gone = gone.filter(|&id| !in_now.contains_key(&names_of(pinned, id)));
    of_now.chain(gone.map(|id| [Some(id), None])).collect()
}

/// The kernels of the pinned state whose exact ops no current kernel has; `None` if there are none.
pub fn gone_kernels(pinned: &Analysis, now: &Analysis) -> Option<String> {
    const NAMED: usize = 6;
    let known = by_names(now);
    let kernels = pinned.partition.kernels.iter_enumerated();
    let gone = kernels.filter(|(kernel, _)| !known.contains_key(&names_of(pinned, *kernel)));
    let gone: Vec<String> = gone
        .map(|(kernel, ops)| {
            let bytes = format_bytes(pinned.fused.kernels[kernel].bytes());
            format!("{} ({bytes})", op_names(&pinned.graph, ops))
        })
        .collect();
    let names = joined(gone.iter(), ["; ", " and "], NAMED);
    (!gone.is_empty()).then(|| format!("Only in the pinned state: {names}."))
}

/// What a pinned state is: the name of its program, its sizes, its device and its policy.
pub fn pinned_title(name: &str, program: &Program, options: &Options) -> String {
    const SIZES: usize = 4;
    let sizes = program.params.iter().take(SIZES);
    let sizes = sizes.map(|param| param_text(&param.name.text, param.value));
    let policy = policy_title(options.policy, options.fusion.objective);
    let choices = [options.device.name.to_string(), policy.to_owned()];
    let name = std::iter::once(name.to_owned());
    let all: Vec<String> = name.chain(sizes).chain(choices).collect();
    printable(&all.join(", ")).into_owned()
}
