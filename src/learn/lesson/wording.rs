//! Quantities and conditions as English: `the intensity of kernel 1 is at least the ridge`.

use super::condition::{Condition, ConditionOperand, Relation};
use super::named_figure::{Kernels, NamedFigure, NamedSubject, op_named};
use super::state::AnalyzedProgram;
use super::value::{FigureValue, Unit};
use fuseline_core::{KernelId, Policy};
use fuseline_view::present::names::{listed, op_names};
use fuseline_view::present::options::policy_title;
use fuseline_view::present::quantity::Quantity;

/// How a kernel is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the number that the page shows.
    Number,
    Ops,
}

/// A quantity as a noun: `the intensity of kernel 1`.
pub(super) fn noun(figure: &NamedFigure, analyzed: &AnalyzedProgram, naming: Naming) -> String {
    let of = subject(figure, analyzed, naming);
    let under = match (figure.kernels, &figure.subject) {
        (Kernels::Shown, _) | (Kernels::Unfused, NamedSubject::Kernel(_) | NamedSubject::Op(_)) => {
            ""
        }
        (Kernels::Unfused | Kernels::Under(Policy::None), _) => " unfused",
        (Kernels::Under(Policy::Rules), _) => " under the textbook rules",
        (Kernels::Under(Policy::Inductor), _) => " under torch.compile",
        (Kernels::Under(Policy::Optimal), _) => " with the optimal kernels",
        (Kernels::Under(Policy::Manual), _) => " by hand",
    };
    match (figure.quantity, of) {
        // What a kernel is bound by is said of the kernel itself: `kernel 1 is memory-bound`.
        (Quantity::Param | Quantity::RooflineBound, Some(of)) => of,
        (Quantity::Place, Some(of)) => format!("the place of {of}{under}"),
        (Quantity::BytesRead, Some(of)) => format!("what {of} has to read{under}"),
        (Quantity::BytesWritten, Some(of)) => format!("what {of} writes{under}"),
        (Quantity::DramReads, Some(of)) => format!("what {of} reads from DRAM{under}"),
        (Quantity::WaveEfficiency, Some(of)) => {
            format!("the wave efficiency of {of}{under}")
        }
        (Quantity::TileEfficiency, Some(of)) => {
            format!("the tile efficiency of {of}{under}")
        }
        (Quantity::Share, Some(of)) => format!("the share of {of} in the memory traffic{under}"),
        (Quantity::Readers, Some(of)) => format!("the number of kernels that read {of}{under}"),
        (quantity, Some(of)) => format!("{} of {of}{under}", quantity_noun(quantity)),
        (quantity, None) => format!("{}{under}", quantity_noun(quantity)),
    }
}

/// The subject of a quantity in words; `None` for the program and the device.
fn subject(figure: &NamedFigure, analyzed: &AnalyzedProgram, naming: Naming) -> Option<String> {
    Some(match &figure.subject {
        NamedSubject::Program => return None,
        NamedSubject::Kernel(name) => kernel(figure, name, analyzed, naming),
        NamedSubject::Op(name) => format!("`{name}` as a separate kernel"),
        NamedSubject::Tensor(name) | NamedSubject::Param(name) => format!("`{name}`"),
    })
}

fn kernel(figure: &NamedFigure, name: &str, analyzed: &AnalyzedProgram, naming: Naming) -> String {
    let analysis = figure.analysis(analyzed);
    let op = op_named(&analysis, name).ok();
    let id = op.and_then(|op| analysis.partition.kernel_of.get(op).copied());
    let Some((id, kernel)) = id.and_then(|id| Some((id, analysis.fused.kernels.get(id)?))) else {
        return format!("the kernel of `{name}`");
    };
    // The numbers of another policy's kernels are not on the page.
    let is_shown = figure.kernels != Kernels::Unfused
        && analysis.options.policy == analyzed.analysis.options.policy;
    let named = if naming == Naming::Number && (is_shown || kernel.ops.len() > 1) {
        kernel_number(id)
    } else {
        format!("`{}`", op_names(&analysis.graph, &kernel.ops))
    };
    match figure.kernels {
        Kernels::Unfused if kernel.ops.len() > 1 => format!("the unfused ops of {named}"),
        _ => named,
    }
}

/// `kernel 1`.
pub(super) fn kernel_number(id: KernelId) -> String {
    format!("kernel {}", id.number())
}

/// `the number of blocks`, `the occupancy`.
fn quantity_noun(quantity: Quantity) -> String {
    match quantity {
        Quantity::Saving => "the share of the memory traffic saved".to_owned(),
        Quantity::RooflineBound => "the bottleneck".to_owned(),
        // The value of a param is no number of values.
        Quantity::Param => "the value".to_owned(),
        _ if quantity.unit() == Some(Unit::Count) => format!("the number of {}", quantity.title()),
        _ => format!("the {}", quantity.title()),
    }
}

/// A value in a sentence: `memory-bound` as the page calls it.
pub(super) fn value_words(
    quantity: Quantity,
    value: &FigureValue,
    analyzed: &AnalyzedProgram,
) -> String {
    match (quantity, value) {
        (Quantity::RooflineBound, FigureValue::Word(word)) => format!("{word}-bound"),
        (Quantity::Policy, FigureValue::Word(word)) => word.parse::<Policy>().map_or_else(
            |_| word.clone(),
            |policy| policy_title(policy, analyzed.analysis.options.fusion.objective).to_owned(),
        ),
        _ => value.text(),
    }
}

/// A condition as a clause: `kernel 1 is memory-bound`.
pub(super) fn clause_of(condition: &Condition, analyzed: &AnalyzedProgram) -> String {
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
            let left_noun = noun(left, analyzed, Naming::Number);
            let right = operand_words(left.quantity, right, analyzed);
            format!("{left_noun} {} {right}", relation_words(*relation))
        }
    }
}

/// The right side of a condition.
pub(super) fn operand_words(
    quantity: Quantity,
    operand: &ConditionOperand,
    analyzed: &AnalyzedProgram,
) -> String {
    match operand {
        ConditionOperand::Value(value) => value_words(quantity, value, analyzed),
        ConditionOperand::Figure { factor, figure } => {
            let noun = noun(figure, analyzed, Naming::Number);
            let value = figure.value(analyzed);
            let value = value.map(|value| value_words(quantity, &value, analyzed));
            let value = value.map_or_else(|_| String::new(), |value| format!(", {value}"));
            if operand.is_whole() {
                format!("{noun}{value}")
            } else {
                let part = FigureValue::Number(100.0 * factor, Unit::Percent).text();
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
