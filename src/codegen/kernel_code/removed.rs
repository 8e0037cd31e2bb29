//! The loads and stores that fusion removes from a kernel.

use super::expression::{Expr, ExprId};
use super::kernel::{Kernel, Removed, Statement, visit};
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{OpId, TensorId};
use fuseline_core::model::options::Externals;
use fuseline_core::model::sizes::read_size;
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

/// The loads and stores that fusion removes from a kernel of these ops, which are ascending and
/// include the views that they read through. Each belongs to the first value that is an element of
/// its tensor. A constant needs no statement, so it is left out.
pub(super) fn removed(
    graph: &Graph,
    kernel: &Kernel,
    ops: &[OpId],
    is_view: impl Fn(OpId) -> bool,
) -> Vec<Removed> {
    let expressions = &kernel.expressions;
    // A free view has no bytes of its own: a kernel loads its base tensor.
    let base = |mut tensor: TensorId| {
        while let Some(op) = graph.tensors.get(tensor).and_then(|own| own.producer)
            && is_view(op)
            && let Some(&input) = graph.inputs[op].first()
        {
            tensor = input;
        }
        tensor
    };
    let readers = |tensor: TensorId| {
        let mut readers = Vec::new();
        for &op in ops.iter().filter(|&&op| !is_view(op)) {
            for &input in &graph.inputs[op] {
                if base(input) == tensor && !readers.contains(&(op, input)) {
                    readers.push((op, input));
                }
            }
        }
        readers
    };
    let is_part = |(op, name): (OpId, TensorId)| {
        let read = read_size(graph, op, name, Externals::Declared);
        read.part_of.is_some()
    };
    let is_all = |tensor: TensorId, (op, name): (OpId, TensorId)| {
        let bytes = |tensor: TensorId| graph.tensors[tensor].bytes();
        let is_whole = name == tensor || bytes(name).is_some() && bytes(name) == bytes(tensor);
        is_whole && !is_part((op, name))
    };
    // Only further readers save a load. Where one reads all of the tensor, they are all others.
    // Else the kernel loads it once under each name, and readers of parts save a load only where
    // another reads the whole of that name.
    let further_readers = |tensor: TensorId| {
        let mut all = readers(tensor);
        if let Some(first) = all.iter().position(|&reader| is_all(tensor, reader)) {
            all.remove(first);
            return all;
        }
        let (parts, wholes): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|&reader| is_part(reader));
        let mut loaded = Vec::new();
        let mut further: Vec<(OpId, TensorId)> = Vec::new();
        for (op, name) in wholes {
            if loaded.contains(&name) {
                further.push((op, name));
            } else {
                loaded.push(name);
            }
        }
        further.extend(parts.into_iter().filter(|(_, name)| loaded.contains(name)));
        further.sort_unstable();
        further
    };
    let is_stored = |tensor: TensorId| {
        let mut written = kernel.arguments.iter().filter(|own| own.is_written);
        written.any(|own| base(own.tensor) == tensor)
    };
    let mut known = HashSet::<TensorId, FxBuildHasher>::default();
    let mut all = Vec::new();
    let mut add = |value: ExprId| {
        if let Expr::Read { tensor, place, .. } = expressions.exprs[value]
            && known.insert(base(tensor))
            && let Some(argument) = kernel.arguments.iter().find(|own| own.tensor == tensor)
        {
            all.push(Removed {
                value,
                tensor,
                dtype: argument.dtype,
                place,
                is_store_removed: false,
                readers: further_readers(base(tensor)),
            });
        }
        for &(tensor, place) in expressions.places.get(&value).into_iter().flatten() {
            let producer = graph.tensors[tensor].producer;
            let Some(op) = producer.filter(|&op| !is_view(op)) else {
                continue;
            };
            if let Some(dtype) = graph.ops[op].element_type()
                && known.insert(tensor)
            {
                all.push(Removed {
                    value,
                    tensor,
                    dtype,
                    place,
                    is_store_removed: !is_stored(tensor),
                    readers: readers(tensor),
                });
            }
        }
    };
    visit(&kernel.body, &mut |statement| match statement {
        Statement::Let(value)
        | Statement::Loop { result: value, .. }
        | Statement::Reduce { result: value, .. } => add(*value),
        Statement::Products { rights, .. } => rights.iter().for_each(|right| add(right.result)),
        _ => {}
    });
    all.retain(|removed| removed.is_store_removed || !removed.readers.is_empty());
    all
}
