//! The most memory that tensors need at once.

use super::derived::Derived;
use crate::present::derivation::{Derivation, Term};
use crate::present::names::op_names;
use crate::present::number::Number;
use crate::present::quantity::Run;
use fuseline_core::Analysis;
use fuseline_core::analysis::memory::{Lifetime, live_at_peak};

/// The tensors that are live while the kernel of the peak runs.
pub(super) fn peak(analysis: &Analysis, run: Run) -> Derived {
    let execution = run.execution(analysis);
    let graph = &analysis.graph;
    let live = live_at_peak(analysis, execution);
    let of_tensor = |lifetime: &Lifetime| {
        let name = graph.tensor_name(lifetime.tensor);
        let name = if lifetime.is_copy {
            format!("the copy of {name}")
        } else {
            name.to_owned()
        };
        Term::given(name, Number::Bytes(lifetime.bytes))
    };
    let mut terms: Vec<Term> = live.written.iter().map(of_tensor).collect();
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
    Derived::by(Derivation::sum(terms)).noted(notes)
}
