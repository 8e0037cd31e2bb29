//! Words about kernels that charts share.

use crate::core::{Analysis, Kernel, OpId, Placement};
use crate::picture::charts::scene::Label;
use crate::present::format::{format_bytes, format_intensity, format_rate};
use crate::present::names::{counted, joined, op_name, short_name};
use crate::present::times::{bound_name, time_text};

/// Characters of a name.
const NAME_CHARS: usize = 28;
/// Ops that a kernel is named after, at most.
const OPS_NAMED: usize = 3;

/// A name that fits a tooltip.
pub(super) fn short(name: &str) -> String {
    short_name(name, NAME_CHARS)
}

/// `ffn_up + gelu`, or the first ops and how many more there are.
pub(super) fn short_op_names(analysis: &Analysis, ops: &[OpId]) -> String {
    let names = ops.iter().map(|&op| short(op_name(&analysis.graph, op)));
    joined(names, [" + "; 2], OPS_NAMED)
}

/// `kernel 7: ffn_up + gelu`, as people count.
pub(super) fn kernel_heading(analysis: &Analysis, kernel: usize) -> String {
    let ops = analysis
        .fused
        .kernels
        .get(kernel)
        .map_or(&[][..], |k| &k.ops);
    format!("kernel {}: {}", kernel + 1, short_op_names(analysis, ops))
}

/// Says of a point that so many other kernels share it.
pub(super) fn add_others(label: &mut Label, other_count: usize) {
    if other_count > 0 {
        let also = format!("{} here", counted(other_count, "more kernel"));
        label.name = format!("{}, {also}", label.name);
        label.facts.push(("and", also));
    }
}

/// A point of the roofline: intensity, rate, bytes and what holds it back.
pub(super) fn point_label(heading: String, placement: &Placement, bytes: u64) -> Label {
    let mut facts = Vec::new();
    if let Some(intensity) = placement.intensity {
        facts.push(("intensity", format_intensity(intensity)));
    }
    if let Some(rate) = placement.attainable_flops_per_s {
        let what = if placement.is_lower_bound() {
            "attainable at most"
        } else {
            "attainable"
        };
        facts.push((what, format_rate(rate)));
    }
    facts.push(("moves", format_bytes(bytes)));
    facts.push(("bound by", bound_name(placement.bound).to_owned()));
    facts.push(("predicted", time_text(placement)));
    Label::new(heading, facts)
}

/// The point of a fused kernel.
pub(super) fn kernel_label(analysis: &Analysis, index: usize, kernel: &Kernel) -> Label {
    point_label(
        kernel_heading(analysis, index),
        &kernel.placement,
        kernel.bytes(),
    )
}
