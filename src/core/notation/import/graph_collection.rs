//! Reads graphs of Model Explorer: `{"graphs": [{"nodes": [..]}]}`.
//!
//! A graph that Fuseline wrote holds each op as an entry of a list, so nothing is lost. From other
//! graphs the reader takes labels, edges and shapes, if they have any.

use crate::model::dtype::DType;
use crate::model::functions::{Function, pytorch};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The key of the attribute of a node that holds its op as JSON.
pub const OP_KEY: &str = "op";

/// Keys under which graphs store a shape.
const SHAPE_KEYS: &[&str] = &["shape", "tensor_shape", "Shape"];

/// A graph of a collection; unused fields are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Node {
    id: String,
    label: String,
    attrs: Vec<KeyValue>,
    incoming_edges: Vec<Edge>,
    outputs_metadata: Vec<Output>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Edge {
    source_node_id: String,
    target_node_input_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    attrs: Vec<KeyValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KeyValue {
    key: String,
    value: Value,
}

/// Entries of ops and of tensors, from the graph with the most nodes. `O(nodes + edges)`, times a
/// logarithm.
pub(super) fn entries(graphs: Vec<Graph>) -> (Vec<Value>, Vec<Value>) {
    let graph = graphs.into_iter().max_by_key(|graph| graph.nodes.len());
    let nodes = graph.unwrap_or_default().nodes;
    let by_id: HashMap<&str, &Node> = nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let (mut ops, mut tensors) = (Vec::new(), Vec::new());
    for node in &nodes {
        let role = value(&node.attrs, "role");
        let own = value(&node.attrs, OP_KEY).and_then(|text| serde_json::from_str(text).ok());
        match (own, role) {
            (Some(own), _) => ops.push(own),
            (None, Some("result")) => {}
            (None, role) if node.incoming_edges.is_empty() => tensors.push(external(node, role)),
            (None, _) => ops.push(op(node, &by_id)),
        }
    }
    (ops, tensors)
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let attribute = attributes.iter().find(|attribute| attribute.key == key)?;
    attribute.value.as_str()
}

/// A node without incoming edges: an input or a weight.
fn external(node: &Node, role: Option<&str>) -> Value {
    const WEIGHTS: &[&str] = &["weight", "const", "param"];
    let label = node.label.to_lowercase();
    let is_weight = WEIGHTS.iter().any(|word| label.contains(word));
    let role = role.unwrap_or(if is_weight { "weight" } else { "input" });
    let mut entry = Map::new();
    entry.insert("name".to_owned(), name(node).into());
    entry.insert("role".to_owned(), role.into());
    entry.extend(typed(node));
    Value::Object(entry)
}

/// An op of another program's graph.
fn op(node: &Node, by_id: &HashMap<&str, &Node>) -> Value {
    let mut edges: Vec<&Edge> = node.incoming_edges.iter().collect();
    edges.sort_by_key(|edge| edge.target_node_input_id.parse().unwrap_or(usize::MAX));
    let inputs = edges
        .iter()
        .map(|edge| match by_id.get(edge.source_node_id.as_str()) {
            // An op has one output, so it does not matter which of the node's outputs is read.
            Some(source) => name(source),
            None => edge.source_node_id.clone(),
        });
    let mut entry = Map::new();
    entry.insert("name".to_owned(), name(node).into());
    entry.insert("output".to_owned(), name(node).into());
    entry.insert("inputs".to_owned(), inputs.collect());
    if let Some((function, in_place)) = function(&node.label) {
        entry.insert("op_type".to_owned(), function.row().op_type.name().into());
        entry.insert("function".to_owned(), function.name().into());
        if in_place {
            entry.insert("in_place".to_owned(), true.into());
        }
    } else {
        entry.insert("op_type".to_owned(), "opaque".into());
        entry.insert("attributes".to_owned(), json!({ "name": node.label }));
    }
    entry.extend(typed(node));
    Value::Object(entry)
}

/// The function that a label means, and whether in place: `aten.relu.default`, `stablehlo.add`,
/// `RELU`, `aten::add_`.
fn function(label: &str) -> Option<(Function, bool)> {
    let lower = label.to_lowercase();
    let bare = ["aten.", "aten::", "stablehlo.", "tfl."]
        .iter()
        .find_map(|prefix| lower.strip_prefix(prefix));
    let bare = bare.unwrap_or(&lower);
    let bare = bare.split('.').next().unwrap_or(bare);
    Function::called(bare).or_else(|| Some((pytorch::alias(bare)?.function, false)))
}

/// The name of a node's tensor: the one in the file, otherwise label and id.
fn name(node: &Node) -> String {
    let tag = node
        .outputs_metadata
        .iter()
        .find_map(|output| value(&output.attrs, "__tensor_tag"));
    match tag {
        Some(tag) if !tag.is_empty() => tag.to_owned(),
        _ => format!("{}_{}", node.label, node.id),
    }
}

/// `shape` and `dtype` of the first output, if the node has them.
fn typed(node: &Node) -> Map<String, Value> {
    let attributes = node
        .outputs_metadata
        .first()
        .map_or(&[][..], |output| output.attrs.as_slice());
    let stated = SHAPE_KEYS.iter().find_map(|key| value(attributes, key));
    let mut fields = Map::new();
    if let Some((dtype, shape)) = stated.and_then(parsed_type) {
        fields.insert("shape".to_owned(), shape.into());
        fields.insert("dtype".to_owned(), dtype.name().into());
    }
    fields
}

/// `f16[2, 3]`, `float32[2,3]`, `tensor<2x3xf32>`.
fn parsed_type(text: &str) -> Option<(DType, Vec<u64>)> {
    let text = text.trim();
    if let Some(inside) = text
        .strip_prefix("tensor<")
        .and_then(|text| text.strip_suffix('>'))
    {
        let mut parts: Vec<&str> = inside.split('x').collect();
        let dtype = DType::named(parts.pop()?)?;
        let sizes = parts.iter().map(|size| size.parse().ok());
        return Some((dtype, sizes.collect::<Option<_>>()?));
    }
    let (name, sizes) = text.strip_suffix(']')?.split_once('[')?;
    let sizes = sizes
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty());
    let sizes = sizes.map(|size| size.parse().ok());
    Some((DType::named(name.trim())?, sizes.collect::<Option<_>>()?))
}
