//! The graph as Model Explorer reads it: a collection with one graph, in which a kernel is a
//! namespace.

use super::{ends, flows};
use crate::present::bottleneck_names::bottleneck_name;
use crate::present::export::OpList;
use crate::present::format::{format_bytes, format_exact};
use crate::present::times::kernel_time;
use fuseline_core::model::op::shape_text;
use fuseline_core::notation::import::OP_KEY;
use fuseline_core::{Analysis, OpId, TensorId};
use indexmap::IndexMap;
use serde::Serialize;

/// What Model Explorer opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphCollection {
    label: String,
    graphs: Vec<Graph>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Graph {
    id: String,
    nodes: Vec<Node>,
    /// The explanation of a namespace.
    group_node_attributes: IndexMap<String, IndexMap<&'static str, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: String,
    label: String,
    namespace: String,
    attrs: Vec<KeyValue>,
    incoming_edges: Vec<IncomingEdge>,
    outputs_metadata: Vec<Output>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names, reason = "the names of the format")]
struct IncomingEdge {
    source_node_id: String,
    source_node_output_id: &'static str,
    target_node_input_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Output {
    id: &'static str,
    attrs: Vec<KeyValue>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct KeyValue {
    key: &'static str,
    value: String,
}

/// Each op, input, weight and result has one output.
const ONLY_OUTPUT: &str = "0";

/// The graph of an analysis with its kernels. Each op holds its entry of `list`, so that the file
/// opens again as the same program. `O(ops + reads)`.
pub fn model_explorer(name: &str, analysis: &Analysis, list: &OpList) -> GraphCollection {
    let graph = &analysis.graph;
    let (external, results) = ends(analysis);
    let mut incoming: Vec<Vec<IncomingEdge>> = vec![Vec::new(); graph.ops.len()];
    for flow in flows(analysis) {
        incoming[flow.to.index()].push(IncomingEdge {
            source_node_id: flow.from.map_or_else(|| input_id(flow.tensor), op_id),
            source_node_output_id: ONLY_OUTPUT,
            target_node_input_id: flow.input.to_string(),
        });
    }
    let inputs = external.into_iter().map(|tensor| Node {
        id: input_id(tensor),
        label: graph.tensor_name(tensor).to_owned(),
        namespace: String::new(),
        attrs: vec![pair("role", graph.tensors[tensor].role.name())],
        incoming_edges: Vec::new(),
        outputs_metadata: vec![output(analysis, tensor)],
    });
    let ops = graph.ops.iter_enumerated().zip(incoming);
    let ops = ops.zip(list.op_texts());
    let ops = ops.map(|(((id, op), incoming_edges), text)| {
        let function = op.operator();
        let kernel = analysis.partition.kernel_of[id];
        Node {
            id: op_id(id),
            label: function.to_owned(),
            namespace: format!("kernel {}", kernel.number()),
            attrs: vec![
                pair("name", &op.name),
                pair("op type", op.op_type.name()),
                pair(
                    "FLOPs",
                    &analysis.unfused.of_lone_op(id).work.flops().to_string(),
                ),
                pair(OP_KEY, &text),
            ],
            incoming_edges,
            outputs_metadata: vec![output(analysis, graph.output[id])],
        }
    });
    let results = results.into_iter().map(|tensor| {
        let producer = graph.tensors[tensor].producer;
        let edge = |op| IncomingEdge {
            source_node_id: op_id(op),
            source_node_output_id: ONLY_OUTPUT,
            target_node_input_id: "0".to_owned(),
        };
        Node {
            id: format!("result {}", tensor.index()),
            label: graph.tensor_name(tensor).to_owned(),
            namespace: String::new(),
            attrs: vec![pair("role", "result")],
            incoming_edges: producer.map(edge).into_iter().collect(),
            outputs_metadata: Vec::new(),
        }
    });
    GraphCollection {
        label: name.to_owned(),
        graphs: vec![Graph {
            id: name.to_owned(),
            nodes: inputs.chain(ops).chain(results).collect(),
            group_node_attributes: groups(analysis),
        }],
    }
}

fn groups(analysis: &Analysis) -> IndexMap<String, IndexMap<&'static str, String>> {
    let kernels = analysis.fused.kernels.iter_enumerated();
    let group = kernels.map(|(id, kernel)| {
        let time = kernel_time(analysis, id).unwrap_or_default();
        let attributes = [
            ("read", format_bytes(kernel.bytes_read)),
            ("written", format_bytes(kernel.bytes_written)),
            ("bytes", format_exact(kernel.bytes().into())),
            ("FLOPs", format_exact(kernel.work.flops())),
            ("bottleneck", bottleneck_name(analysis, id).to_owned()),
            ("time", time.joined()),
        ];
        (format!("kernel {}", id.number()), attributes.into())
    });
    group.collect()
}

fn op_id(op: OpId) -> String {
    format!("op {}", op.index())
}

fn input_id(tensor: TensorId) -> String {
    format!("input {}", tensor.index())
}

fn pair(key: &'static str, value: &str) -> KeyValue {
    KeyValue {
        key,
        value: value.to_owned(),
    }
}

fn output(analysis: &Analysis, tensor: TensorId) -> Output {
    let graph = &analysis.graph;
    let shape = graph
        .tensor_shape(tensor)
        .map(shape_text)
        .unwrap_or_default();
    let dtype = graph.tensors[tensor].dtype.map_or("", |dtype| dtype.name());
    let bytes = analysis.tensors[tensor];
    let place = if bytes.is_on_chip {
        "on chip"
    } else {
        "memory"
    };
    Output {
        id: ONLY_OUTPUT,
        attrs: vec![
            pair("__tensor_tag", graph.tensor_name(tensor)),
            pair("shape", &format!("{dtype}{shape}")),
            pair("bytes", &bytes.bytes.to_string()),
            pair("kept in", place),
        ],
    }
}
