//! Whether a program fits the memory of its device, in words.

use crate::present::figure::Part;
use crate::present::format::format_bytes;
use crate::present::names::op_names;
use crate::present::quantity::{Figure, Quantity, Run, Subject, Values};
use fuseline_core::Analysis;
use fuseline_core::model::device::Device;

/// The most memory that tensors of the fused program need at once: `4.71 GB of 85.1 GB`, with what
/// the device has if that is known.
pub fn memory_text(analysis: &Analysis) -> String {
    peak_text(analysis, Run::Fused)
}

/// The same of either program.
pub fn peak_text(analysis: &Analysis, run: Run) -> String {
    let needed = Values::new(analysis).total(Quantity::PeakMemory, run);
    match capacity_text(&analysis.options.device) {
        Some(capacity) => format!("{needed} of {capacity}"),
        None => needed,
    }
}

/// What the tab of limits says about memory, in a sentence.
pub fn memory_sentence(analysis: &Analysis) -> Vec<Part> {
    memory_warning(analysis).unwrap_or_else(|| {
        let mut parts = vec![Part::words("Memory: "), needed_part(analysis)];
        if let Some(capacity) = capacity_part(&analysis.options.device) {
            parts.extend([Part::words(" of "), capacity]);
        }
        parts.push(Part::words(
            " where live memory peaks. Inputs and weights stay in memory throughout.",
        ));
        parts
    })
}

/// Where the fused program does not fit the device: how much it needs, and in which kernel. `None`
/// if it fits or the memory of the device is unknown.
pub fn memory_warning(analysis: &Analysis) -> Option<Vec<Part>> {
    let device = &analysis.options.device;
    if analysis.fits_memory()? {
        return None;
    }
    let kernel = analysis.fused.peak_memory.kernel?;
    let ops = op_names(&analysis.graph, &analysis.fused.kernels.get(kernel)?.ops);
    let number = kernel.number();
    Some(vec![
        Part::words(format!(
            "Does not fit in memory: while kernel {number} ({ops}) runs, "
        )),
        needed_part(analysis),
        Part::words(format!(" of tensors are live, and {} has ", device.name)),
        capacity_part(device)?,
        Part::words("."),
    ])
}

fn needed_part(analysis: &Analysis) -> Part {
    let figure = Figure::fused(Subject::Program, Quantity::PeakMemory);
    Part::of(&Values::new(analysis), figure)
}

fn capacity_part(device: &Device) -> Option<Part> {
    let figure = Figure::fused(Subject::Program, Quantity::DeviceMemory);
    Some(Part::number(capacity_text(device)?, figure))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and no device has so much memory"
)]
pub(super) fn capacity_text(device: &Device) -> Option<String> {
    let memory = device.hardware.memory_bytes?;
    let mark = if memory.is_confirmed { "" } else { " ?" };
    Some(format!("{}{mark}", format_bytes(memory.value as u64)))
}
