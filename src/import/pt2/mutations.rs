//! Inputs and buffers that an exported program overwrites. Its graph writes new tensors, and its
//! signature says which of them become the value of an input.

use crate::pt2::in_place::VIEWS;
use crate::pt2::schema::{Argument, Exported};
use std::collections::{HashMap, HashSet};

/// The names in the graph of inputs and buffers, each with that of its new value.
pub(super) fn mutations(exported: &Exported) -> impl Iterator<Item = (&str, &str)> {
    let signature = &exported.graph_module.signature;
    let buffers = signature
        .input_specs
        .iter()
        .filter_map(|spec| spec.buffer.as_ref());
    let buffers: HashMap<&str, &str> = buffers
        .map(|state| (state.path.as_str(), state.arg.name.as_str()))
        .collect();
    signature.output_specs.iter().filter_map(move |spec| {
        if let Some(buffer) = &spec.buffer_mutation {
            let own = buffers.get(buffer.path.as_str())?;
            return Some((*own, buffer.arg.name.as_str()));
        }
        let input = spec.user_input_mutation.as_ref()?;
        Some((input.path.as_str(), input.arg.name.as_str()))
    })
}

/// The names in the graph of tensors that become the new value of an input by writes of parts and
/// by views, one after another or one into another. Linear in nodes and reads.
pub(super) fn written_slices(exported: &Exported) -> HashSet<&str> {
    let mut found: HashSet<&str> = mutations(exported).map(|(_, result)| result).collect();
    for node in exported.graph_module.graph.nodes.iter().rev() {
        let operator = node.operator().strip_prefix("aten.").unwrap_or_default();
        let packet = operator.split('.').next().unwrap_or_default();
        let takes = match packet {
            "slice_scatter" | "select_scatter" => 2,
            "index_put" | "index_copy" | "index_add" | "scatter" | "scatter_add" => 1,
            _ => usize::from(VIEWS.contains(&packet)),
        };
        let mut outputs = node.outputs.iter().flat_map(Argument::tensors);
        if outputs.any(|output| found.contains(output)) {
            found.extend(node.tensors().take(takes));
        }
    }
    found
}
