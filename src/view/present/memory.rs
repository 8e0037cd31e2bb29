//! Whether a program fits the memory of its device, in words.

use crate::present::figure::Part;
use crate::present::names::op_names;
use crate::present::quantity::{Figure, Quantity, Run, Subject, Values};
use fuseline_core::Analysis;

/// The most memory that tensors of the fused program need at once: `4.71 GB of 85.1 GB`, with what
/// the device has if that is known.
pub fn memory_text(analysis: &Analysis) -> String {
    peak_text(analysis, Run::Fused)
}

/// The most memory that the tensors of a run need at once.
pub fn peak_text(analysis: &Analysis, run: Run) -> String {
    let values = Values::new(analysis);
    let needed = values.total(Quantity::PeakMemory, run);
    match capacity(&values) {
        Some(Part { text, .. }) => format!("{needed} of {text}"),
        None => needed,
    }
}

/// What the tab of limits says about memory, in a sentence.
pub fn memory_sentence(analysis: &Analysis) -> Vec<Part> {
    memory_warning(analysis).unwrap_or_else(|| {
        let values = Values::new(analysis);
        let needed = number(&values, Quantity::PeakMemory);
        let mut parts = vec![Part::words("Memory: "), needed];
        if let Some(capacity) = capacity(&values) {
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
    let values = Values::new(analysis);
    Some(vec![
        Part::words(format!(
            "Does not fit in memory: while kernel {} ({ops}) runs, ",
            kernel.number()
        )),
        number(&values, Quantity::PeakMemory),
        Part::words(format!(" of tensors are live, and {} has ", device.name)),
        capacity(&values)?,
        Part::words("."),
    ])
}

fn number(values: &Values<'_>, quantity: Quantity) -> Part {
    Part::of(values, Figure::fused(Subject::Program, quantity))
}

/// The memory of the device; `None` where it is unknown.
fn capacity(values: &Values<'_>) -> Option<Part> {
    let is_known = (values.analysis().options.device.hardware.memory_bytes).is_some();
    is_known.then(|| number(values, Quantity::DeviceMemory))
}
