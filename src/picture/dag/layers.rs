//! Layer assignment of kernels.
#![allow(
    clippy::indexing_slicing,
    reason = "op, kernel, tensor and node ids are dense indices of one graph"
)]

use crate::core::{Graph, Partition};

/// Layers of the kernels, from 1. Each is below its producers, and lowered towards its readers unless that
/// lengthens the net of one of its inputs.
pub(super) fn kernel_layers(graph: &Graph, partition: &Partition) -> Vec<usize> {
    let mut layers = vec![1_usize; partition.groups.len()];
    for (group, members) in partition.groups.iter().enumerate() {
        for &op in members {
            for &producer in &graph.predecessors[op] {
                let from = partition.group_of[producer];
                if from < group {
                    layers[group] = layers[group].max(layers[from] + 1);
                }
            }
        }
    }
    // For each tensor the deepest layer in which it is read.
    let mut deepest = vec![0_usize; graph.tensors.len()];
    for (tensor, consumers) in graph.consumers.iter().enumerate() {
        let readers = consumers.iter().map(|&c| layers[partition.group_of[c]]);
        deepest[tensor] = readers.max().unwrap_or(0);
    }
    for (group, members) in partition.groups.iter().enumerate().rev() {
        let readers = members
            .iter()
            .flat_map(|&op| graph.successors[op].iter())
            .map(|&reader| partition.group_of[reader])
            .filter(|&reader| reader > group);
        let Some(lowest) = readers.map(|reader| layers[reader] - 1).min() else {
            continue;
        };
        let lengthens = members.iter().any(|&op| {
            graph.inputs[op].iter().any(|&t| {
                let producer = graph.tensors[t].producer;
                producer.is_some_and(|p| partition.group_of[p] != group) && deepest[t] < lowest
            })
        });
        if lowest > layers[group] && !lengthens {
            layers[group] = lowest;
        }
    }
    layers
}
