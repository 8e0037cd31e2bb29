//! Quantities and conditions as English: `the intensity of kernel 1 is at least the ridge`.

use super::condition::{Condition, Operand, Relation};
use super::quantity::{Kernels, Metric, Quantity, Subject, op_named};
use super::state::Seen;
use super::value::{Unit, Value};
use fuseline_core::{KernelId, Policy};
use fuseline_view::present::names::{listed, op_names};
use fuseline_view::present::options::policy_title;

/// How a kernel is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the number that the page shows.
    Number,
    /// By its ops.
    Ops,
}

/// A quantity as a noun: `the intensity of kernel 1`.
pub(super) fn noun(quantity: &Quantity, seen: &Seen, naming: Naming) -> String {
    let of = subject(quantity, seen, naming);
    let under = match (quantity.kernels, &quantity.subject) {
        (Kernels::Shown, _) | (Kernels::Unfused, Subject::Kernel(_) | Subject::Op(_)) => "",
        (Kernels::Unfused | Kernels::Under(Policy::None), _) => " unfused",
        (Kernels::Under(Policy::Rules), _) => " under the textbook rules",
        (Kernels::Under(Policy::Inductor), _) => " under torch.compile",
        (Kernels::Under(Policy::Optimal), _) => " with the optimal kernels",
        (Kernels::Under(Policy::Manual), _) => " by hand",
    };
    match (quantity.metric, of) {
        // What a kernel is bound by is said of the kernel itself: `kernel 1 is memory-bound`.
        (Metric::Value | Metric::Bound, Some(of)) => of,
        (Metric::Place, Some(of)) => format!("the place of {of}{under}"),
        (Metric::Reads, Some(of)) => format!("what {of} has to read{under}"),
        (Metric::Writes, Some(of)) => format!("what {of} writes{under}"),
        (Metric::Dram, Some(of)) => format!("what {of} reads from DRAM{under}"),
        (Metric::WaveEfficiency, Some(of)) => {
            format!("the wave efficiency of {of}{under}")
        }
        (Metric::TileEfficiency, Some(of)) => {
            format!("the tile efficiency of {of}{under}")
        }
        (Metric::Share, Some(of)) => format!("the share of {of} in the memory traffic{under}"),
        (Metric::Readers, Some(of)) => format!("the number of kernels that read {of}{under}"),
        (metric, Some(of)) => format!("{} of {of}{under}", metric_noun(metric)),
        (metric, None) => format!("{}{under}", metric_noun(metric)),
    }
}

/// What a quantity is of; `None` for the program and the device.
fn subject(quantity: &Quantity, seen: &Seen, naming: Naming) -> Option<String> {
    Some(match &quantity.subject {
        Subject::Program => return None,
        Subject::Kernel(name) => kernel(quantity, name, seen, naming),
        Subject::Op(name) => format!("`{name}` as a separate kernel"),
        Subject::Tensor(name) | Subject::Param(name) => format!("`{name}`"),
    })
}

fn kernel(quantity: &Quantity, name: &str, seen: &Seen, naming: Naming) -> String {
    let analysis = quantity.analysis(seen);
    let op = op_named(&analysis, name).ok();
    let id = op.and_then(|op| analysis.partition.kernel_of.get(op).copied());
    let Some((id, kernel)) = id.and_then(|id| Some((id, analysis.fused.kernels.get(id)?))) else {
        return format!("the kernel of `{name}`");
    };
    // The numbers of another policy's kernels are not on the page.
    let is_shown = quantity.kernels != Kernels::Unfused
        && analysis.options.policy == seen.analysis.options.policy;
    let named = if naming == Naming::Number && (is_shown || kernel.ops.len() > 1) {
        kernel_number(id)
    } else {
        format!("`{}`", op_names(&analysis.graph, &kernel.ops))
    };
    match quantity.kernels {
        Kernels::Unfused if kernel.ops.len() > 1 => format!("the unfused ops of {named}"),
        _ => named,
    }
}

/// `kernel 1`.
pub(super) fn kernel_number(id: KernelId) -> String {
    format!("kernel {}", id.number())
}

const fn metric_noun(metric: Metric) -> &'static str {
    match metric {
        Metric::Kernels => "the number of kernels",
        Metric::Ops => "the number of ops",
        Metric::Bytes => "the memory traffic",
        Metric::Reads => "the bytes read",
        Metric::Writes => "the bytes written",
        Metric::Saved => "the memory traffic saved",
        Metric::Saving => "the share of the memory traffic saved",
        Metric::Share => "the share of the memory traffic",
        Metric::Size => "the size",
        Metric::Place => "the place",
        Metric::Time => "the time",
        Metric::Speedup => "the speedup",
        Metric::Flops => "the FLOPs",
        Metric::Intensity => "the arithmetic intensity",
        Metric::Bound => "the bottleneck",
        Metric::Reached => "the share of the roof that is reached",
        Metric::Idle => "the share of the time in which the GPU waits",
        Metric::Peak => "the peak memory",
        Metric::Value => "the value",
        Metric::Ridge => "the ridge point",
        Metric::VectorRidge => "the ridge point of the vector units",
        Metric::Bandwidth => "the memory bandwidth",
        Metric::Matrix => "the peak rate of the matrix units",
        Metric::Vector => "the peak rate of the vector units",
        Metric::Launch => "the launch time",
        Metric::Policy => "the fusion policy",
        Metric::Registers => "the number of registers per thread",
        Metric::Occupancy => "the occupancy",
        Metric::Blocks => "the number of blocks",
        Metric::Waves => "the number of waves",
        Metric::WaveEfficiency => "the wave efficiency",
        Metric::TileEfficiency => "the tile efficiency",
        Metric::TileRows => "the number of rows in a tile",
        Metric::TileColumns => "the number of columns in a tile",
        Metric::Onchip => "the on-chip memory per block",
        Metric::Warnings => "the number of warnings",
        Metric::Dram => "the bytes read from DRAM",
        Metric::Recomputed => "the number of recomputed ops",
        Metric::Readers => "the number of reader kernels",
        Metric::Multiprocessors => "the number of multiprocessors",
    }
}

/// A value in a sentence: `memory-bound` as the page calls it.
pub(super) fn value_words(metric: Metric, value: &Value, seen: &Seen) -> String {
    match (metric, value) {
        (Metric::Bound, Value::Word(word)) => format!("{word}-bound"),
        (Metric::Policy, Value::Word(word)) => word.parse::<Policy>().map_or_else(
            |_| word.clone(),
            |policy| policy_title(policy, seen.analysis.options.fusion.objective).to_owned(),
        ),
        _ => value.text(),
    }
}

/// A condition as a clause: `kernel 1 is memory-bound`.
pub(super) fn clause_of(condition: &Condition, seen: &Seen) -> String {
    match condition {
        Condition::OneKernel(names) => {
            let names = names.iter().map(|name| format!("`{name}`"));
            format!("{} run in one kernel", listed(names.collect()))
        }
        Condition::Compare {
            left,
            relation,
            right,
        } => {
            let left_noun = noun(left, seen, Naming::Number);
            let right = operand_words(left.metric, right, seen);
            format!("{left_noun} {} {right}", relation_words(*relation))
        }
    }
}

/// The right side of a condition.
pub(super) fn operand_words(metric: Metric, operand: &Operand, seen: &Seen) -> String {
    match operand {
        Operand::Value(value) => value_words(metric, value, seen),
        Operand::Quantity { factor, quantity } => {
            let noun = noun(quantity, seen, Naming::Number);
            let value = quantity
                .value(seen)
                .map(|value| value_words(metric, &value, seen));
            let value = value.map_or_else(|_| String::new(), |value| format!(", {value}"));
            if operand.is_whole() {
                format!("{noun}{value}")
            } else {
                let part = Value::Number(100.0 * factor, Unit::Percent).text();
                format!("{part} of {noun}{value}")
            }
        }
    }
}

/// How two values compare, as a verb.
pub(super) const fn relation_words(relation: Relation) -> &'static str {
    match relation {
        Relation::Less => "is less than",
        Relation::AtMost => "is at most",
        Relation::Equal => "is",
        Relation::Different => "is not",
        Relation::AtLeast => "is at least",
        Relation::More => "is more than",
    }
}

/// One after the other, either of which may be empty.
pub(super) fn join_sentences(first: &str, second: &str) -> String {
    format!("{first} {second}").trim().to_owned()
}
