//! A tensor as an edge between two ops, as an input, or as a result.

use super::{Fact, Inspected, MAX_LINES, are_parts_of_attention, number, words};
use crate::present::explain::{access_text, source_reason, source_text, whole_reason};
use crate::present::format::format_bytes;
use crate::present::manual::Change;
use crate::present::names::{joined, op_name};
use crate::present::quantity::{Figure, Quantity, Subject, Values};
use fuseline_core::{Analysis, Graph, OpId, TensorId};

/// The tensor on an edge between two ops: its bytes, and whether they go through memory. `None` if
/// there are no such ops.
pub fn inspect_edge(analysis: &Analysis, producer: OpId, consumer: OpId) -> Option<Inspected> {
    let graph = &analysis.graph;
    let tensor = *graph.output.get(producer)?;
    let (from, to) = (
        op_name(graph, producer),
        op_name(graph, graph.ops.get(consumer).map(|_| consumer)?),
    );
    let (a, b) = (
        analysis.partition.kernel_of[producer],
        analysis.partition.kernel_of[consumer],
    );
    let traffic = &analysis.tensors[tensor];
    let mut facts = vec![words("tensor", tensor_text(graph, tensor))];
    let is_fused = analysis.partition.computes(b, producer);
    facts.push(words(
        "runs",
        if is_fused {
            format!("inside kernel {}", b.number())
        } else {
            format!("from kernel {} to kernel {}", a.number(), b.number())
        },
    ));
    facts.extend(moved(analysis, tensor));
    let mut notes = Vec::new();
    if let Some(first) = analysis.first_result(consumer) {
        let first = op_name(graph, first);
        notes.push(format!(
            "{to} is the second result of an operator. The kernel reads {from} once, for {first} and {to}."
        ));
    } else if analysis.is_free_view(consumer) {
        notes.push(format!(
            "{to} is a view: it indexes the bytes of {from} and reads none."
        ));
    } else if is_fused {
        notes.push(if traffic.is_on_chip {
            "The tensor stays on chip: no kernel writes it to memory or reads it from there.".to_owned()
        } else {
            "This reader takes the tensor on chip. The kernel still writes it to memory, because it is a result or another kernel reads it.".to_owned()
        });
    }
    if let Some(base) = viewed(analysis, tensor) {
        notes.push(format!(
            "{from} is a view of {base}: a kernel writes these bytes as {base}, and that write counts there."
        ));
    }
    let whole = whole_reason(graph, &[consumer], tensor);
    notes.extend(whole.map(|whole| format!("{}: {whole}.", graph.tensor_name(tensor))));
    let change = match is_fused {
        false => Some(Change::Merge(a, b)),
        true if a == b => Some(Change::Cut { producer, consumer }),
        true => None,
    };
    Some(Inspected {
        heading: format!("{from} → {to}"),
        kernel: is_fused.then_some(b),
        facts,
        derivation: size_lines(analysis, consumer, tensor),
        notes,
        asked: (!is_fused).then_some((producer, consumer)),
        asked_names: String::new(),
        change,
        is_attention: !is_fused && are_parts_of_attention(analysis, producer, consumer),
    })
}

/// The name of the tensor that this one is a free view of; `None` for one with bytes of its own.
fn viewed(analysis: &Analysis, tensor: TensorId) -> Option<String> {
    let graph = &analysis.graph;
    let base = analysis.fused.views.base[tensor];
    (base != tensor).then(|| format!("`{}`", graph.tensor_name(base)))
}

/// An input or a result: its size, where that comes from, and which ops write and read it. `None`
/// if there is no such tensor.
pub fn inspect_tensor(analysis: &Analysis, tensor: TensorId) -> Option<Inspected> {
    let graph = &analysis.graph;
    let traffic = analysis.tensors.get(tensor)?;
    let readers = &graph.consumers[tensor];
    let producer = graph.tensors[tensor].producer;
    let mut facts = vec![words("tensor", tensor_text(graph, tensor))];
    facts.push(words("size", source_text(traffic.source)));
    facts.extend(producer.map(|op| words("written by", op_name(graph, op))));
    if !readers.is_empty() {
        let names = readers.iter().map(|&op| op_name(graph, op));
        facts.push(words("read by", joined(names, [", ", " and "], MAX_LINES)));
    }
    facts.extend(moved(analysis, tensor));
    let accesses = readers.first().copied().or(producer);
    let derivation = accesses.map(|op| size_lines(analysis, op, tensor));
    let reason = source_reason(analysis, readers, tensor, traffic.source);
    Some(Inspected {
        heading: graph.tensor_name(tensor).to_owned(),
        facts,
        derivation: derivation.unwrap_or_default(),
        notes: [
            Some(format!("Size: {reason}.")),
            (producer.is_some() && graph.is_final(tensor))
                .then(|| "The program returns this tensor.".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect(),
        ..Inspected::default()
    })
}

/// Memory traffic of a tensor in all kernels, before and after fusion.
fn moved(analysis: &Analysis, tensor: TensorId) -> [Fact; 2] {
    let values = Values::new(analysis);
    let of = Subject::Tensor(tensor);
    let [unfused, fused] = [Figure::unfused, Figure::fused].map(|run| run(of, Quantity::Bytes));
    [
        number("traffic unfused", &values, unfused),
        number("traffic fused", &values, fused),
    ]
}

/// Name, type and shape of a tensor: `scores : f16[32, 2048, 2048]`; without an unknown type.
pub(super) fn tensor_text(graph: &Graph, tensor: TensorId) -> String {
    let name = graph.tensor_name(tensor);
    let Some(shape) = graph.tensor_shape(tensor) else {
        return name.to_owned();
    };
    let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
    let dtype = graph.tensors[tensor].dtype.map_or("", |dtype| dtype.name());
    format!("{name} : {dtype}[{}]", dims.join(", "))
}

/// Lines that show how the bytes of a tensor that an op reads are computed.
fn size_lines(analysis: &Analysis, op: OpId, tensor: TensorId) -> Vec<String> {
    let bytes = format_bytes(analysis.tensors[tensor].bytes);
    let size = access_text(analysis, op, tensor);
    let line = size.map(|size| format!("{size} = {bytes} per access"));
    line.into_iter().collect()
}
