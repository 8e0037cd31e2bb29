//! Inputs and buffers that an exported program overwrites. Its graph writes new tensors, and its
//! signature says which of them become the value of an input.

use crate::Problem;
use crate::pt2::import::{Import, NO_TENSOR};
use crate::pt2::in_place::VIEWS;
use crate::pt2::naming::{Origin, Stack};
use crate::pt2::overwritten::{Mutation, Overwritten, writes_elements};
use crate::pt2::schema::{Argument, Exported};
use crate::statement::statements;
use crate::writer::Known;
use fuseline_core::model::program::OpStatement;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The names in the graph of inputs and buffers, each with that of its new value.
fn mutations(exported: &Exported) -> impl Iterator<Item = (&str, &str)> {
    let signature = &exported.graph_module.signature;
    let buffers = signature
        .input_specs
        .iter()
        .filter_map(|spec| spec.buffer.as_ref().or(spec.parameter.as_ref()));
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

impl<'a> Import<'a> {
    /// The inputs and buffers that the program overwrites, each with a copy of its value into it,
    /// and the indices of all results. `given` and `tensors` are the tensors of the graph by their
    /// names, before it runs and after. Linear in nodes, outputs and ops.
    pub(super) fn overwritten(
        &mut self,
        exported: &'a Exported,
        given: &HashMap<&'a str, usize>,
        tensors: &HashMap<&'a str, usize>,
    ) -> Result<(Overwritten, Vec<usize>), Problem> {
        let graph = &exported.graph_module.graph;
        // A graph that keeps writes in place gives an input another value under its own name.
        let inputs = graph.inputs.iter().flat_map(Argument::tensors);
        let mutated: Vec<(&str, &str)> = mutations(exported)
            .chain(inputs.map(|name| (name, name)))
            .collect();
        let in_place = graph.nodes.iter().filter(|node| node.writes_in_place());
        // Names of values that are in the memory of an input, if an input has them.
        let in_place = in_place.flat_map(|node| node.outputs.iter().flat_map(Argument::tensors));
        let mut own: HashSet<&str> = mutated.iter().map(|(_, result)| *result).collect();
        own.extend(in_place);
        let returned = graph.outputs.iter().flat_map(Argument::tensors);
        let (own, others): (Vec<&str>, Vec<&str>) = returned.partition(|name| own.contains(name));
        let index_of = |name: &&str| {
            let index = tensors.get(name).copied();
            index.filter(|&index| index != NO_TENSOR)
        };
        let mut outputs: Vec<usize> = others.iter().filter_map(index_of).collect();
        let apart: HashSet<usize> = outputs.iter().copied().collect();
        let mut own: Vec<usize> = own.iter().filter_map(index_of).collect();
        let mut mutations = Vec::new();
        let mut seen = HashSet::new();
        for (input, result) in mutated {
            let (Some(&target), Some(value)) = (given.get(input), index_of(&result)) else {
                continue;
            };
            if target == value || !seen.insert(target) {
                continue;
            }
            self.written.spend(self.written.rank(value))?;
            let Some((copy, kept)) = self.copied(target, value) else {
                own.push(value);
                continue;
            };
            own.retain(|&index| index != value);
            outputs.push(copy);
            let name = |index: usize| {
                let known = self.written.tensors.get(index);
                known.map_or_else(String::new, |known| known.name.clone())
            };
            mutations.push(Mutation {
                input: name(target),
                value: name(value),
                copy: name(copy),
                kept,
                is_apart: apart.contains(&value),
            });
        }
        outputs.extend(own);
        let fits = |(op, output): &(OpStatement, usize)| {
            let first = *self.written.by_name.get(&op.inputs.first()?.text)?;
            let known = |index: usize| self.written.tensors.get(index);
            let (first, output) = (known(first)?, known(*output)?);
            let fits = writes_elements(op) && is_of_one_type(first, output);
            fits.then(|| output.name.clone())
        };
        let ops = self.written.ops.iter().filter(|_| !mutations.is_empty());
        let fitting = ops.filter_map(fits).collect();
        Ok((Overwritten { mutations, fitting }, outputs))
    }

    /// Writes a copy of a value into a tensor of its type; gives its index, and a name for a tensor
    /// that keeps the value.
    fn copied(&mut self, target: usize, value: usize) -> Option<(usize, String)> {
        let known = |index: usize| self.written.tensors.get(index);
        let (into, from) = (known(target)?, known(value)?);
        if !is_of_one_type(into, from) {
            return None;
        }
        let ops = statements(&format!("y = copy({}, {})", into.name, from.name))?;
        let [new, old] = [(into, "new"), (from, "old")].map(|(known, end)| {
            let word = known.name.rsplit('.').next().unwrap_or_default();
            format!("{word}_{end}")
        });
        let stack = self.origins.get(&from.name);
        let stack = stack.map_or_else(
            || Rc::new(Stack::of_calls(Vec::new())),
            |origin| Rc::clone(&origin.stack),
        );
        let [new, old] = [new, old].map(|word| {
            let name = self.written.names.claim(&word);
            let origin = Origin {
                word,
                ..Origin::of(Rc::clone(&stack))
            };
            self.origins.insert(name.clone(), origin);
            name
        });
        let index = self.written.write(ops, &new, "", None)?;
        Some((index, old))
    }
}

fn is_of_one_type(first: &Known, second: &Known) -> bool {
    first.shape.is_some() && (first.dtype, &first.shape) == (second.dtype, &second.shape)
}
