//! The most memory that tensors need at once.

use super::found::Found;
use crate::present::derivation::{Derivation, Term};
use crate::present::explain::has_assumed_size;
use crate::present::memory::capacity_text;
use crate::present::names::op_names;
use crate::present::number::Number;
use crate::present::quantity::{Quantity, Run, Values};
use fuseline_core::Analysis;
use fuseline_core::analysis::memory::live_at_peak;

/// The tensors that are live while the kernel of the peak runs.
pub(super) fn peak(analysis: &Analysis, run: Run) -> Found {
    let execution = run.execution(analysis);
    let graph = &analysis.graph;
    let live = live_at_peak(analysis, execution);
    let of_tensor = |&tensor| {
        let bytes = graph.tensors[tensor].bytes().unwrap_or(0);
        Term::given(graph.tensor_name(tensor), Number::Bytes(bytes))
    };
    let mut terms: Vec<Term> = live.tensors.iter().map(of_tensor).collect();
    terms.push(Term::given(
        "inputs and weights, which stay in memory throughout",
        Number::Bytes(live.external_bytes),
    ));
    let peak = execution.peak_memory;
    let kernel = peak
        .kernel
        .and_then(|id| Some((id, execution.kernels.get(id)?)));
    let notes = kernel.map(|(id, kernel)| {
        let ops = op_names(graph, &kernel.ops);
        format!("While kernel {} runs: {ops}.", id.number())
    });
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    let number = Number::Bytes(peak.bytes);
    Found {
        value: Values::new(analysis).total(Quantity::PeakMemory, run),
        notes: notes.into_iter().collect(),
        term: Some(Term::derived("", number, Derivation::sum(terms)).assumed(is_assumed)),
    }
}

/// What the device has; `None` where that is unknown.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of a memory, whole and far below 2^64"
)]
pub(super) fn of_device(analysis: &Analysis) -> Option<Found> {
    let device = &analysis.options.device;
    let bytes = device.hardware.memory_bytes?.value as u64;
    Some(Found {
        value: capacity_text(device)?,
        ..Found::new(Term::given("", Number::Bytes(bytes)))
    })
}
