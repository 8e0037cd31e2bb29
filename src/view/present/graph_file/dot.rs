//! The graph in the language of Graphviz.

use super::{Flow, ends, flows};
use crate::present::format::format_bytes;
use fuseline_core::model::op::shape_text;
use fuseline_core::{Analysis, OpId, TensorId, TensorRole};
use std::fmt::Write as _;

/// The graph with a cluster for each kernel and the bytes of each tensor on its edges. Tensors that
/// stay on chip are dotted. `O(ops + reads)`.
pub fn dot(name: &str, analysis: &Analysis) -> String {
    let graph = &analysis.graph;
    let mut out = format!("digraph {} {{\n", quoted(name));
    // Writing to a string cannot fail.
    let mut line = |text: std::fmt::Arguments<'_>| {
        let _ = writeln!(out, "  {text}");
    };
    line(format_args!("node [shape=box, fontname=\"sans-serif\"];"));
    line(format_args!("edge [fontname=\"sans-serif\", fontsize=10];"));
    for (id, kernel) in analysis.fused.kernels.iter_enumerated() {
        let number = id.number();
        let title = format!("kernel {number}: {}", format_bytes(kernel.bytes()));
        line(format_args!("subgraph cluster_kernel_{number} {{"));
        line(format_args!("  label={};", quoted(&title)));
        for &op in &kernel.ops {
            line(format_args!(
                "  {} [label={}];",
                node(op),
                quoted(&label(analysis, op))
            ));
        }
        line(format_args!("}}"));
    }
    let (external, results) = ends(analysis);
    let size = |tensor: TensorId| format_bytes(analysis.tensors[tensor].bytes);
    for tensor in external {
        let is_weight = graph.tensors[tensor].role == TensorRole::Weight;
        let style = if is_weight { "style=dashed, " } else { "" };
        let words = format!("{}\n{}", graph.tensor_name(tensor), size(tensor));
        line(format_args!(
            "tensor_{} [shape=ellipse, {style}label={}];",
            tensor.index(),
            quoted(&words)
        ));
    }
    for &tensor in &results {
        let words = format!("{}\n{}", graph.tensor_name(tensor), size(tensor));
        line(format_args!(
            "result_{} [shape=ellipse, label={}];",
            tensor.index(),
            quoted(&words)
        ));
    }
    for Flow {
        tensor,
        from,
        to,
        memory_bytes,
        ..
    } in flows(analysis)
    {
        let from = from.map_or_else(|| format!("tensor_{}", tensor.index()), node);
        let to = node(to);
        match memory_bytes {
            Some(bytes) => line(format_args!(
                "{from} -> {to} [label={}, bytes={bytes}];",
                quoted(&format_bytes(bytes))
            )),
            None => line(format_args!("{from} -> {to} [style=dotted];")),
        }
    }
    for tensor in results {
        if let Some(op) = graph.tensors[tensor].producer {
            let bytes = analysis.tensors[tensor].bytes;
            line(format_args!(
                "{} -> result_{} [label={}, bytes={bytes}];",
                node(op),
                tensor.index(),
                quoted(&format_bytes(bytes))
            ));
        }
    }
    out.push_str("}\n");
    out
}

fn node(op: OpId) -> String {
    format!("op_{}", op.index())
}

/// The function of an op, its name and the shape of its output.
fn label(analysis: &Analysis, op: OpId) -> String {
    let op = &analysis.graph.ops[op];
    let function = op.operator();
    format!("{function} {}\n{}", op.name, shape_text(&op.shape))
}

/// A string of DOT, with quotes, backslashes and line breaks escaped.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "\"{}\"",
        text.replace('\n', "\\n").replace(['\r', '\0'], " ")
    )
}
