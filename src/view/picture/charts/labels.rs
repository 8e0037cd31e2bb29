//! Names and labels of kernels that several charts use.

use crate::picture::charts::scene::Label;
use crate::present::bottleneck_names::bound_name;
use crate::present::names::{counted, joined, kernel_ops, op_name, short_name};
use crate::present::quantity::{Quantity, Run, Scope, Values};
use crate::present::times::{TimeKind, TimeText};
use fuseline_core::{Analysis, KernelId, OpId, Placement};

/// Characters of a name, at most.
const NAME_CHARS: usize = 28;
/// Ops that a kernel is named after, at most.
const OPS_NAMED: usize = 3;

/// `ffn_up + gelu`, or the first ops and how many more there are.
pub(super) fn short_op_names(analysis: &Analysis, ops: &[OpId]) -> String {
    let names = ops
        .iter()
        .map(|&op| short_name(op_name(&analysis.graph, op), NAME_CHARS));
    joined(names, [" + "; 2], OPS_NAMED)
}

/// `kernel 7: ffn_up + gelu`.
pub(super) fn kernel_heading(analysis: &Analysis, kernel: KernelId) -> String {
    let ops = analysis.fused.kernels.get(kernel);
    let names = match ops.map_or(&[][..], |kernel| &kernel.ops) {
        [] => kernel_ops(analysis, kernel),
        ops => short_op_names(analysis, ops),
    };
    format!("kernel {}: {names}", kernel.number())
}

/// Adds to the label of a point how many other kernels are there.
pub(super) fn add_others(label: &mut Label, other_count: usize) {
    if other_count > 0 {
        let also = format!("{} here", counted(other_count, "more kernel"));
        label.name = format!("{}, {also}", label.name);
        label.facts.push(("and", also));
    }
}

/// The label of a point of the roofline: where it is and why, and the time with its kind.
pub(super) fn point_label(heading: String, values: &Values<'_>, scope: Scope) -> Label {
    let run = Run::Fused;
    let placement = values.kernel(scope).map(|kernel| &kernel.placement);
    let is_incomplete = placement.is_some_and(Placement::is_incomplete);
    let quantities = [Quantity::Intensity, Quantity::Attainable, Quantity::Bytes];
    let numbers = quantities.into_iter().filter_map(|quantity| {
        let what = match quantity {
            Quantity::Attainable if is_incomplete => "attainable at most",
            Quantity::Attainable => "attainable",
            _ => quantity.title(),
        };
        Some((what, values.at(scope, quantity, run)?.text()))
    });
    let mut facts: Vec<_> = numbers.collect();
    facts.extend(placement.map(|placement| {
        let bound = bound_name(placement.bound).to_owned();
        (Quantity::RooflineBound.title(), bound)
    }));
    facts.extend(time_facts(values, scope, run));
    Label::new(heading, facts)
}

/// A time, and the lower bound beside a predicted one.
pub(super) fn time_facts(
    values: &Values<'_>,
    scope: Scope,
    run: Run,
) -> Vec<(&'static str, String)> {
    let time = TimeText::of(values, scope, run).unwrap_or_default();
    match time.bound_beside() {
        None => vec![(TimeKind::LowerBound.name(), time.time)],
        Some(bound) => vec![
            (TimeKind::Predicted.name(), time.time),
            (TimeKind::LowerBound.name(), bound),
        ],
    }
}
