//! Words about kernels that charts share.

use crate::core::{Analysis, Kernel, KernelId, OpId, Placement};
use crate::picture::charts::scene::Label;
use crate::present::format::{format_bytes, format_intensity, format_rate, more_kernels};

/// Names longer than this are cut; a visitor may call an op whatever they like.
const NAME_CHARS: usize = 28;
/// Ops that a kernel is named after, at most.
const OPS_NAMED: usize = 3;

/// A name that fits a tooltip.
pub(in crate::picture) fn short(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or("")),
        None => name.to_owned(),
    }
}

/// `ffn_up + gelu`, or the first ops and how many more there are.
pub(in crate::picture) fn op_names(analysis: &Analysis, ops: &[OpId]) -> String {
    let mut names: Vec<String> = ops
        .iter()
        .take(OPS_NAMED)
        .filter_map(|&op| analysis.graph.ops.get(op))
        .map(|op| short(&op.name))
        .collect();
    if ops.len() > OPS_NAMED {
        names.push(format!("{} more", ops.len() - OPS_NAMED));
    }
    names.join(" + ")
}

/// `kernel 7: ffn_up + gelu`, as people count.
pub(in crate::picture) fn kernel_heading(analysis: &Analysis, kernel: KernelId) -> String {
    let ops = analysis
        .fused
        .kernels
        .get(kernel)
        .map_or(&[][..], |k| &k.ops);
    format!("kernel {}: {}", kernel.number(), op_names(analysis, ops))
}

/// Says of a point that so many other kernels share it.
pub(in crate::picture) fn add_others(label: &mut Label, others: usize) {
    if others > 0 {
        let also = [&more_kernels(others), " here"].concat();
        label.name.push_str(", ");
        label.name.push_str(&also);
        label.facts.push(("and", also));
    }
}

/// A point of the roofline: intensity, rate, bytes and what holds it back.
pub(in crate::picture) fn point_label(heading: String, placement: &Placement, bytes: u64) -> Label {
    let mut facts = Vec::new();
    if let Some(intensity) = placement.intensity {
        facts.push(("intensity", format_intensity(intensity)));
    }
    if let Some(rate) = placement.attainable_flops_per_s {
        let what = if placement.is_open() {
            "attainable at most"
        } else {
            "attainable"
        };
        facts.push((what, format_rate(rate)));
    }
    facts.push(("moves", format_bytes(bytes)));
    facts.push(("bound by", placement.bound.name().to_owned()));
    facts.push(("predicted", placement.time_text()));
    Label::new(heading, facts)
}

/// The point of a fused kernel.
pub(in crate::picture) fn kernel_label(
    analysis: &Analysis,
    id: KernelId,
    kernel: &Kernel,
) -> Label {
    point_label(
        kernel_heading(analysis, id),
        &kernel.placement,
        kernel.bytes(),
    )
}
