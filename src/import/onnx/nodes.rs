//! Topological order of a graph's nodes: each reads only what earlier nodes write.

use crate::Problem;
use crate::onnx::proto::{Graph, Node};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// A topological order, by index; the file's own where it is one. `O(nodes + reads)`, times a
/// logarithm.
///
/// # Errors
/// When two nodes write the same tensor, or nodes form a cycle.
pub(super) fn ordered(nodes: &[Node]) -> Result<Vec<usize>, Problem> {
    let mut writers: HashMap<&str, usize> = HashMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for output in node.outputs.iter().filter(|output| !output.is_empty()) {
            if writers.insert(output, index).is_some() {
                return Err(Problem::new(format!(
                    "two nodes write the tensor `{output}`, and each tensor has one"
                )));
            }
        }
    }
    let mut waits = vec![0_usize; nodes.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for input in reads(node) {
            if let Some(&writer) = writers.get(input) {
                readers[writer].push(index);
                waits[index] += 1;
            }
        }
    }
    let is_free = |&index: &usize| waits[index] == 0;
    let mut free: BinaryHeap<Reverse<usize>> =
        (0..nodes.len()).filter(is_free).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(index)) = free.pop() {
        order.push(index);
        for &reader in &readers[index] {
            waits[reader] -= 1;
            if waits[reader] == 0 {
                free.push(Reverse(reader));
            }
        }
    }
    let stuck = waits.iter().zip(nodes).find(|(waits, _)| **waits > 0);
    match stuck {
        None => Ok(order),
        Some((_, node)) => Err(Problem::new(format!(
            "its graph has a cycle through the node `{}` of type {}",
            node.name, node.operator
        ))),
    }
}

/// The tensors that a node reads: its inputs, and what the graphs inside it read from outside.
pub(super) fn reads(node: &Node) -> Vec<&str> {
    let mut reads: Vec<&str> = node.inputs.iter().map(String::as_str).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut inner: Vec<&Graph> = graphs(node).collect();
    let mut own: HashSet<&str> = HashSet::new();
    let mut captured: Vec<&str> = Vec::new();
    while let Some(graph) = inner.pop() {
        own.extend(graph.inputs.iter().map(|input| input.name.as_str()));
        own.extend(graph.initializers.iter().map(|tensor| tensor.name.as_str()));
        for node in &graph.nodes {
            own.extend(node.outputs.iter().map(String::as_str));
            captured.extend(node.inputs.iter().map(String::as_str));
            inner.extend(graphs(node));
        }
        captured.extend(graph.outputs.iter().map(|output| output.name.as_str()));
    }
    captured.retain(|name| !own.contains(name) && seen.insert(name));
    reads.extend(captured);
    reads
}

fn graphs(node: &Node) -> impl Iterator<Item = &Graph> {
    let attributes = node.attributes.iter();
    attributes.flat_map(|attribute| attribute.graph.iter().chain(&attribute.graphs))
}
