//! Where a tensor is, and why.

use super::value::FigureValue;
use fuseline_core::{Analysis, OpId, TensorId};
use fuseline_view::present::format::{format_bytes, format_exact};
use fuseline_view::present::names::{listed, quoted_op};

/// Which tensors leave their kernel, and why. One sentence names those that stay on chip.
pub(super) fn of_tensors(analysis: &Analysis, tensors: &[TensorId]) -> String {
    let (kept, moved): (Vec<TensorId>, Vec<TensorId>) =
        (tensors.iter()).partition(|&&tensor| is_kept(analysis, tensor));
    let mut words: Vec<String> = moved
        .iter()
        .map(|&tensor| of_tensor(analysis, tensor, &name_and_size(analysis, tensor)))
        .collect();
    if !kept.is_empty() {
        let names = kept.iter().map(|&tensor| name_and_size(analysis, tensor));
        let rest = match kept.len() {
            1 => "has readers only in the kernel that computes it",
            _ => "have readers only in the kernels that compute them",
        };
        words.push(format!("{} {rest}.", listed(names.collect())));
    }
    words.join(" ")
}

/// `` `y1` (8.39 MB) ``.
pub(super) fn name_and_size(analysis: &Analysis, tensor: TensorId) -> String {
    let bytes = analysis.tensors.get(tensor).map_or(0, |t| t.bytes);
    format!(
        "`{}` ({})",
        analysis.graph.tensor_name(tensor),
        FigureValue::bytes(bytes).text()
    )
}

/// The op that writes a tensor, and the ops of other kernels that read it.
fn readers_elsewhere(analysis: &Analysis, tensor: TensorId) -> Option<(OpId, Vec<OpId>)> {
    let graph = &analysis.graph;
    let producer = graph.tensors.get(tensor)?.producer?;
    let kernel = |op: OpId| analysis.partition.kernel_of.get(op);
    let readers = graph.consumers.get(tensor)?.iter().copied();
    let elsewhere = readers.filter(|&reader| kernel(reader) != kernel(producer));
    Some((producer, elsewhere.collect()))
}

/// Whether a tensor that an op writes never leaves its kernel.
fn is_kept(analysis: &Analysis, tensor: TensorId) -> bool {
    let producer = analysis
        .graph
        .tensors
        .get(tensor)
        .and_then(|tensor| tensor.producer);
    let traffic = analysis.tensors.get(tensor);
    producer.is_some() && traffic.is_some_and(|traffic| traffic.fused_bytes == 0)
}

/// Which ops write and read a tensor, and whether it leaves their kernel. `named` is its name in
/// the sentence.
pub(super) fn of_tensor(analysis: &Analysis, tensor: TensorId, named: &str) -> String {
    let graph = &analysis.graph;
    if graph
        .tensors
        .get(tensor)
        .is_none_or(|tensor| tensor.producer.is_none())
    {
        return format!(
            "{named} is an input or a weight, so each kernel that needs it reads it from memory."
        );
    }
    if is_kept(analysis, tensor) {
        return format!(
            "{named} has readers only in the kernel that computes it, so it stays on chip."
        );
    }
    match readers_elsewhere(analysis, tensor) {
        Some((producer, readers)) if !readers.is_empty() => {
            let (reads, place) = match readers.len() {
                1 => ("reads", "in another kernel"),
                _ => ("read", "outside its kernel"),
            };
            let readers = readers.iter().map(|&reader| quoted_op(graph, reader));
            format!(
                "{} writes {named}, and {} {reads} it {place}.",
                quoted_op(graph, producer),
                listed(readers.collect())
            )
        }
        _ => format!("{named} is a result, so the kernel writes it to memory."),
    }
}

/// A tensor's size as a product: `16 × 2,048 × 2,048 elements of 2 bytes are 134 MB.`
pub(super) fn product(analysis: &Analysis, tensor: TensorId) -> String {
    let graph = &analysis.graph;
    let bytes_per_element = (graph.tensors.get(tensor)).and_then(|tensor| tensor.bytes_per_element);
    let (Some(shape), Some(bytes_per_element), Some(traffic)) = (
        graph.tensor_shape(tensor),
        bytes_per_element,
        analysis.tensors.get(tensor),
    ) else {
        return String::new();
    };
    let sides: Vec<_> = shape
        .iter()
        .map(|&side| format_exact(side.into()))
        .collect();
    format!(
        "{} elements of {} are {}.",
        sides.join(" × "),
        bytes_per_element,
        format_bytes(traffic.bytes)
    )
}
