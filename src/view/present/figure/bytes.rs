//! Bytes of kernels, ops and tensors, access by access.

use super::derived::Derived;
use crate::present::derivation::{Derivation, Operation, Term};
use crate::present::explain::{chosen_reason, has_assumed_size, size_factors, whole_reason};
use crate::present::format::format_count;
use crate::present::names::{listed, op_name};
use crate::present::number::Number;
use crate::present::options::policy_phrase;
use crate::present::quantity::{Quantity, Run};
use fuseline_core::analysis::{Analysis, Kernel};
use fuseline_core::cost::traffic::Access;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::model::ids::{KernelId, OpId, TensorId};
use fuseline_core::model::op::byte_count;
use fuseline_core::notation::spelling::printable;
use std::collections::BTreeSet;

/// Most ops that a sentence names.
const NAMED_OPS: usize = 6;

/// The bytes that a kernel reads, writes, or both. Written bytes rest on no assumed size.
pub(super) fn of_kernel(analysis: &Analysis, kernel: &Kernel, quantity: Quantity) -> Derived {
    let (reads, writes) = (&kernel.traffic.reads[..], &kernel.traffic.writes[..]);
    let (reads, writes) = match quantity {
        Quantity::BytesRead => (reads, &[][..]),
        Quantity::BytesWritten => (&[][..], writes),
        _ => (reads, writes),
    };
    let term = |verb: &str, access: &Access| {
        let name = analysis.graph.tensor_name(access.tensor);
        access_term(analysis, &kernel.ops, format!("{verb} {name}"), *access)
    };
    let terms = reads.iter().map(|access| term("reads", access));
    let terms = terms.chain(writes.iter().map(|access| term("writes", access)));
    let notes = reads.iter().filter_map(|access| {
        let whole = whole_reason(&analysis.graph, &kernel.ops, access.tensor)?;
        Some(format!(
            "{}: {whole}.",
            analysis.graph.tensor_name(access.tensor)
        ))
    });
    Derived::by(Derivation::sum(terms.collect())).noted(notes)
}

/// Memory traffic of the ops of a fused kernel as separate kernels.
pub(super) fn of_ops(analysis: &Analysis, id: KernelId) -> Derived {
    let kernel = &analysis.fused.kernels[id];
    let terms = kernel.ops.iter().map(|&op| {
        let alone = analysis.unfused.of_lone_op(op);
        Term::given(op_name(&analysis.graph, op), Number::Bytes(alone.bytes()))
            .assumed(has_assumed_size(alone))
    });
    Derived::by(Derivation::sum(terms.collect()))
}

/// The share of its ops' separate traffic that a fused kernel saves; `None` without such traffic.
pub(super) fn saving_of_kernel(analysis: &Analysis, id: KernelId) -> Option<Derived> {
    let (before, kernel) = (&analysis.comparisons[id], &analysis.fused.kernels[id]);
    (before.unfused_bytes > 0).then(|| {
        saving([before.unfused_bytes, kernel.bytes()]).noted(added_traffic(analysis, [id]))
    })
}

/// Why these kernels have more memory traffic than their ops as separate kernels; `None` if they do
/// not.
pub(super) fn added_traffic(
    analysis: &Analysis,
    kernels: impl IntoIterator<Item = KernelId>,
) -> Option<String> {
    let partition = &analysis.partition;
    let (mut saved, mut again) = (0, BTreeSet::new());
    for id in kernels {
        let (before, after) = (&analysis.comparisons[id], &analysis.fused.kernels[id]);
        saved += before.unfused_bytes.cast_signed() - after.bytes().cast_signed();
        again.extend(partition.recomputed[id].iter().copied());
    }
    if saved >= 0 {
        return None;
    }
    let shown = again.iter().take(NAMED_OPS);
    let mut names: Vec<String> = shown
        .map(|&op| printable(op_name(&analysis.graph, op)).into())
        .collect();
    if let more @ 1.. = again.len().saturating_sub(NAMED_OPS) {
        names.push(format!("{} more", format_count(more)));
    }
    (!names.is_empty()).then(|| {
        let who = policy_phrase(analysis.options.policy, analysis.options.fusion.objective);
        let names = listed(names);
        format!(
            "Fusion adds memory traffic here: {who} computes {names} in several kernels, and each of them reads the inputs again."
        )
    })
}

/// The saved share of the bytes; `bytes` are unfused and fused.
pub(super) fn saving(bytes: [u64; 2]) -> Derived {
    Derived::by(saved_part(["unfused", "fused"], bytes.map(Number::Bytes)).derivation)
}

/// The share by which the second number is smaller than the first.
pub(super) fn saved_part([first, second]: [&str; 2], [before, after]: [Number; 2]) -> Term {
    let saved = match (before, after) {
        (Number::Bytes(before), Number::Bytes(after)) => {
            Number::SavedBytes(before.cast_signed() - after.cast_signed())
        }
        _ => Number::SavedSeconds(before.value() - after.value()),
    };
    // Nothing over nothing has no quotient.
    let percent = if saved.value() == 0.0 {
        0.0
    } else {
        saved.value() / before.value() * 100.0
    };
    let difference = vec![Term::given(first, before), Term::given(second, after)];
    let saved = Term::derived(
        "saved",
        saved,
        Derivation::new(Operation::Difference, difference),
    );
    let derivation = Derivation::new(Operation::Percent, vec![saved, Term::given(first, before)]);
    Term {
        derivation: (before.value() > 0.0).then_some(derivation),
        ..Term::given("", Number::SavedPercent(percent))
    }
}

/// Memory traffic of a tensor in all kernels.
pub(super) fn of_tensor(analysis: &Analysis, tensor: TensorId, run: Run) -> Derived {
    Derived::by(Derivation::sum(accesses_to(analysis, tensor, run)))
}

/// The bytes of a tensor that a fused kernel reads, writes, or saves; `None` if there are none.
pub(super) fn of_tensor_at(
    analysis: &Analysis,
    id: KernelId,
    tensor: TensorId,
    quantity: Quantity,
) -> Option<Derived> {
    let kernel = &analysis.fused.kernels[id];
    let terms = |kernel: &Kernel, by: &str| {
        let access = |verb: &str, access: &Access| {
            access_term(analysis, &kernel.ops, format!("{verb}{by}"), *access)
        };
        let reads = kernel.traffic.reads.iter();
        let writes = kernel.traffic.writes.iter();
        let is_it = |access: &&Access| access.tensor == tensor;
        let reads = reads.filter(is_it).map(|read| access("read", read));
        let writes = writes.filter(is_it).map(|write| access("written", write));
        [reads.collect::<Vec<_>>(), writes.collect()]
    };
    let [reads, writes] = terms(kernel, "");
    let found = |terms: Vec<Term>| {
        let bytes = total(&terms);
        let is_assumed = terms.iter().any(|term| term.is_assumed);
        let term = Term::derived("", Number::Bytes(bytes), Derivation::sum(terms));
        (bytes > 0).then(|| Derived::of(term.assumed(is_assumed)))
    };
    match quantity {
        Quantity::BytesRead => found(reads),
        Quantity::BytesWritten => found(writes),
        Quantity::BytesVanished => {
            let alone = kernel.ops.iter().flat_map(|&op| {
                let name = op_name(&analysis.graph, op);
                let alone = analysis.unfused.of_lone_op(op);
                terms(alone, &format!(" by {name}")).into_iter().flatten()
            });
            let alone: Vec<Term> = alone.collect();
            let moved = [reads, writes].concat();
            let [before, after] = [total(&alone), total(&moved)];
            let sum = |name: &str, bytes: u64, terms: Vec<Term>| {
                Term::derived(name, Number::Bytes(bytes), Derivation::sum(terms))
            };
            let difference = Derivation::new(
                Operation::Difference,
                vec![
                    sum("as separate kernels", before, alone),
                    sum("fused", after, moved),
                ],
            );
            let vanished = before.checked_sub(after).filter(|&bytes| bytes > 0)?;
            Some(Derived::of(Term::derived(
                "",
                Number::Bytes(vanished),
                difference,
            )))
        }
        _ => None,
    }
}

fn total(terms: &[Term]) -> u64 {
    let bytes = terms.iter().map(|term| match term.number {
        Number::Bytes(bytes) => bytes,
        _ => 0,
    });
    bytes.sum()
}

fn accesses_to(analysis: &Analysis, tensor: TensorId, run: Run) -> Vec<Term> {
    let mut terms = Vec::new();
    for (id, kernel) in run.execution(analysis).kernels.iter_enumerated() {
        let who = |verb: &str| match (run, kernel.ops.first()) {
            (Run::Unfused, Some(&op)) => format!("{verb} by {}", op_name(&analysis.graph, op)),
            _ => format!("{verb} by kernel {}", id.number()),
        };
        let reads = kernel.traffic.reads.iter().map(|access| ("read", access));
        let writes = kernel
            .traffic
            .writes
            .iter()
            .map(|access| ("written", access));
        for (verb, access) in reads
            .chain(writes)
            .filter(|(_, access)| access.tensor == tensor)
        {
            terms.push(access_term(analysis, &kernel.ops, who(verb), *access));
        }
    }
    terms
}

/// An access with the factors of its bytes: those of the first op whose shapes give them.
fn access_term(analysis: &Analysis, ops: &[OpId], name: String, access: Access) -> Term {
    let is_part = analysis.graph.tensors[access.tensor].bytes() > Some(access.bytes);
    let chosen = chosen_reason(&analysis.graph, ops, access.tensor).filter(|_| is_part);
    let name = match chosen {
        _ if access.source == SizeSource::Copied => format!("{name}, a copy for the library"),
        Some(chosen) => format!("{name}, {chosen}"),
        None => name,
    };
    let readers = ops.iter().filter_map(|&op| {
        let (shape, size) = size_factors(analysis, op, access)?;
        (byte_count(&shape, size) == Some(access.bytes)).then_some((shape, size))
    });
    let derivation = readers.into_iter().next().and_then(|(shape, size)| {
        let sides = shape
            .into_iter()
            .map(|side| Term::given("", Number::Count(side)));
        size.bytes_of_product("", sides).derivation
    });
    Term {
        derivation,
        ..Term::given(name, Number::Bytes(access.bytes))
            .assumed(access.source == SizeSource::Assumed)
    }
}
