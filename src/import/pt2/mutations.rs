//! Inputs and buffers that an exported program overwrites. Its graph writes new tensors, and its
//! signature says which of them become the value of an input.

use crate::pt2::schema::{Argument, Exported};
use fuseline_core::model::functions::Function;
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::program::OpStatement;
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

/// The names in the graph of tensors that become the new value of an input by writes of slices, one
/// after another or one into another. Linear in nodes and reads.
pub(super) fn written_slices(exported: &Exported) -> HashSet<&str> {
    let mut found: HashSet<&str> = mutations(exported).map(|(_, result)| result).collect();
    for node in exported.graph_module.graph.nodes.iter().rev() {
        let is_write = matches!(
            node.operator(),
            "aten.slice_scatter" | "aten.select_scatter" | "aten.select_scatter.int"
        );
        let mut outputs = node.outputs.iter().flat_map(Argument::tensors);
        if is_write && outputs.any(|output| found.contains(output)) {
            found.extend(node.tensors());
        }
    }
    found
}

/// Lets ops write in place that replace a part of a tensor and whose result becomes its value, as a
/// compiled program does. `mutations` are names of tensors of the program. An op stays as it is
/// where a later one reads the old value. Linear in ops and reads.
pub(super) fn write_in_place(ops: &mut [OpStatement], mutations: &[(String, String)]) {
    let producers: HashMap<&str, usize> = (ops.iter().enumerate())
        .map(|(at, op)| (op.output.text.as_str(), at))
        .collect();
    // The mutation that each op is a write of.
    let mut write_of: HashMap<usize, usize> = HashMap::new();
    let mut refused: HashSet<usize> = HashSet::new();
    for (mutation, (input, result)) in mutations.iter().enumerate() {
        let mut name = result;
        while name != input {
            let write = producers.get(name.as_str()).copied().filter(|&at| {
                let op = ops.get(at);
                op.is_some_and(replaces_part) && !write_of.contains_key(&at)
            });
            let (Some(at), Some(target)) =
                (write, write.and_then(|at| ops.get(at)?.inputs.first()))
            else {
                refused.insert(mutation);
                break;
            };
            write_of.insert(at, mutation);
            name = &target.text;
        }
    }
    // For each name that shows the memory of a mutated tensor which tensor it is, and how many
    // writes had run.
    let mut shown: HashMap<&str, (usize, usize)> = HashMap::new();
    shown.extend(
        mutations
            .iter()
            .enumerate()
            .map(|(at, (input, _))| (input.as_str(), (at, 0))),
    );
    let mut writes = vec![0; mutations.len()];
    for (at, op) in ops.iter().enumerate() {
        let own = write_of.get(&at).copied();
        for (place, input) in op.inputs.iter().enumerate() {
            let Some(&(mutation, version)) = shown.get(input.text.as_str()) else {
                continue;
            };
            // Neither the old value nor another part of the tensor may be read by its own write.
            if Some(&version) != writes.get(mutation) || place > 0 && own == Some(mutation) {
                refused.insert(mutation);
            }
        }
        let state = match own {
            Some(mutation) => writes.get_mut(mutation).map(|writes| {
                *writes += 1;
                (mutation, *writes)
            }),
            None if is_reshape(op) => op
                .inputs
                .first()
                .and_then(|input| shown.get(input.text.as_str()).copied()),
            None => None,
        };
        if let Some(state) = state {
            shown.insert(op.output.text.as_str(), state);
        }
    }
    drop(shown);
    for (at, mutation) in write_of {
        if !refused.contains(&mutation)
            && let Some(op) = ops.get_mut(at)
            && let Some(function) = op.function()
        {
            op.callee.text = function.in_place_name();
        }
    }
}

/// Whether it is a call that makes a new tensor of one with some elements replaced.
pub(super) fn replaces_part(op: &OpStatement) -> bool {
    let is_number = op.literals.iter().any(|literal| literal.place == 0);
    !op.is_in_place() && !is_number && op.function().is_some_and(Function::writes_part)
}

/// Whether its result may be a view.
fn is_reshape(op: &OpStatement) -> bool {
    op.function()
        .is_some_and(|function| function.row().op_type == OpType::Reshape)
}
