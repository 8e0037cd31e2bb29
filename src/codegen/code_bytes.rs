//! The memory traffic of each load and store in the code of a kernel.

use crate::kernel_code::{Access, Code, Kernel};
use fuseline_core::analysis::Analysis;
use fuseline_core::cost::traffic::Access as Moved;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::model::ids::{KernelId, TensorId};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// The bytes that each line of a kernel's code reads or writes; `None` for a line without traffic.
///
/// The bytes are those of the analysis: each tensor counts once, at its first load, so the lines
/// that run add up to the bytes of the kernel. A line that fusion removed has the bytes that its op
/// would read or write as a separate kernel. `O(lines * reads)`.
pub fn code_bytes(
    analysis: &Analysis,
    id: KernelId,
    kernel: &Kernel,
    code: &Code,
) -> Vec<Option<u64>> {
    let graph = &analysis.graph;
    let views = &analysis.fused.views;
    let has_base = |own: TensorId, tensor: TensorId| views.base[own] == views.base[tensor];
    // A view counts as its base tensor, because both are the same bytes.
    let moved = |accesses: &[Moved], tensor: TensorId| -> u64 {
        // Code reads an operand by its strides, and no copy of it.
        let operands = accesses
            .iter()
            .filter(|own| own.source != SizeSource::Copied);
        let own = operands.filter(|own| has_base(own.tensor, tensor));
        own.map(|own| own.bytes).sum()
    };
    let mut known = HashSet::<(TensorId, bool), FxBuildHasher>::default();
    let mut removed_loads = HashMap::<TensorId, usize, FxBuildHasher>::default();
    let mut bytes_of = |access: Access| {
        let Access {
            tensor,
            is_store,
            is_removed,
        } = access;
        if graph.tensors.get(tensor).is_none() {
            // The analysis counts no bytes of row values.
            return Some(0);
        }
        if !is_removed {
            let traffic = &analysis.fused.kernels.get(id)?.traffic;
            let accesses = if is_store {
                &traffic.writes[..]
            } else {
                &traffic.reads[..]
            };
            let is_first = known.insert((views.base[tensor], is_store));
            return is_first.then(|| moved(accesses, tensor));
        }
        let alone = |op| &analysis.unfused.of_lone_op(op).traffic;
        if is_store {
            let op = graph.tensors[tensor].producer?;
            return Some(moved(&alone(op).writes, tensor));
        }
        // The removed loads of a tensor are in the order of `readers`: the n-th line is that of the
        // n-th reader.
        let mut removed = kernel.removed.iter();
        let removed = removed.find(|removed| removed.tensor == tensor)?;
        let place = removed_loads.entry(tensor).or_default();
        let &(reader, name) = removed.readers.get(*place)?;
        *place += 1;
        let mut reads = alone(reader).reads.iter();
        let read = reads.find(|read| read.tensor == name)?;
        Some(read.bytes)
    };
    let lines = code.lines.iter();
    lines
        .map(|line| line.access.and_then(&mut bytes_of))
        .collect()
}
