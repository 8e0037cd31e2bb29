//! Writes a program from the nodes of a graph.

use crate::onnx::choose::{Fit, fitted};
use crate::onnx::fold::value_of;
use crate::onnx::loops::Iteration;
use crate::onnx::nodes::reads;
use crate::onnx::operators;
use crate::onnx::proto::{
    Attribute, Dim, Graph, Model, Node, OperatorSet, TensorType, ValueInfo, element_type,
};
use crate::onnx::scopes::{Functions, by_name};
use crate::params::Chosen;
use crate::pt2::{Origin, Stack, folded};
use crate::shapes::Sizes;
use crate::size::Size;
use crate::writer::{Known, Writer};
use crate::{Imported, Problem};
use fuseline_core::model::op::TensorRole;
use prost::Message;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The program of a model as [`super::Skim`] gives it. Ops that no output needs are left out.
/// Params have these values, the others values that the graph allows. Near linear in nodes and
/// reads.
///
/// # Errors
/// What is wrong with the model, as the end of a sentence.
pub fn import(model: &[u8], values: &[(String, i64)]) -> Result<Imported, Problem> {
    let model = Model::decode(model).map_err(|problem| Problem::new(problem.to_string()))?;
    let Some(graph) = &model.graph else {
        return Err(Problem::new("it contains no graph"));
    };
    let mut import = fitted(&model, values)?;
    let by_file_name = &import.scope.by_file_name;
    let outputs = graph.outputs.iter();
    let named = outputs.filter_map(|output| {
        let name = output.name.as_str();
        Some((name, *by_file_name.get(name)?))
    });
    let named: Vec<(&str, usize)> = named.collect();
    let outputs = import.written.name_outputs(&named);
    let is_needed = import.written.needed(&outputs);
    let needs = |indices: &&Vec<usize>| indices.iter().any(|&index| is_needed[index]);
    let assumed = import.assumed.iter().filter(needs).count();
    let origins = import.origins();
    let mut imported = import.written.finish(&outputs)?;
    imported.program = folded(imported.program, &origins);
    imported.notes.extend(match assumed {
        0 => None,
        1 => Some(
            "1 If condition is known only at run time. Fuseline counts its then branch.".to_owned(),
        ),
        count => Some(format!(
            "{count} If conditions are known only at run time. Fuseline counts their then branches."
        )),
    });
    Ok(imported)
}

/// The version of ONNX's own operators.
pub(super) fn version_of(sets: &[OperatorSet]) -> i64 {
    let own = sets.iter();
    let own = own.filter(|set| matches!(set.domain.as_str(), "" | "ai.onnx"));
    own.map(|set| set.version).max().unwrap_or(1)
}

pub(super) struct Import<'a> {
    /// The functions that the file defines.
    pub(super) functions: Functions<'a>,
    pub(super) written: Writer,
    /// What names mean where the import is: in the graph, or in a function.
    pub(super) scope: Scope<'a>,
    /// How many functions are open.
    pub(super) depth: usize,
    /// The indices of the outputs of each `If` whose condition is known only at run time.
    pub(super) assumed: Vec<Vec<usize>>,
    /// The iterations of loops that are written out, in the order of their ops.
    pub(super) iterations: Vec<Iteration>,
    /// Nodes of all iterations that are written out.
    pub(super) written_nodes: usize,
    /// How the open sizes fit together.
    pub(super) fit: Fit,
}

/// Names of the file and what they mean. A function has names of its own.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) version: i64,
    /// Tensors by their name in the file.
    pub(super) by_file_name: HashMap<&'a str, usize>,
    /// Element types as the file numbers them, by the name of the tensor: the notation has fewer.
    pub(super) element_types: HashMap<&'a str, i32>,
    /// Types that the file states.
    pub(super) stated: HashMap<&'a str, &'a TensorType>,
    /// Tensors of the file that something reads.
    pub(super) is_read: HashSet<&'a str>,
    /// What a call gives the attributes of the function.
    pub(super) arguments: HashMap<&'a str, &'a Attribute>,
}

impl<'a> Import<'a> {
    /// All nodes of a model, with what is known about its params.
    pub(super) fn of(model: &'a Model, chosen: Chosen) -> Result<Self, Problem> {
        let mut import = Self {
            functions: by_name(&model.functions),
            written: Writer::new(chosen),
            scope: Scope {
                version: version_of(&model.operator_sets),
                ..Scope::default()
            },
            depth: 0,
            assumed: Vec::new(),
            iterations: Vec::new(),
            written_nodes: 0,
            fit: Fit::default(),
        };
        if let Some(graph) = &model.graph {
            import.inputs(graph)?;
            import.enter(graph)?;
        }
        Ok(import)
    }

    /// Which iteration of a loop each op stands in, by the name of its output.
    fn origins(&self) -> HashMap<String, Origin> {
        let iterations = self.iterations.iter().flat_map(|iteration| {
            let stack = Rc::new(Stack::of_calls(vec![(
                iteration.path.clone(),
                iteration.path.clone(),
            )]));
            let tensors = self.written.tensors.get(iteration.tensors.clone());
            let tensors = tensors.unwrap_or_default().iter();
            tensors.map(move |known| (known.name.clone(), Origin::of(Rc::clone(&stack))))
        });
        iterations.collect()
    }

    /// Declares the inputs. Sizes that the file leaves open become params.
    fn inputs(&mut self, graph: &'a Graph) -> Result<(), Problem> {
        let weights = graph.initializers.iter();
        let weights: HashSet<&str> = weights.map(|tensor| tensor.name.as_str()).collect();
        for input in &graph.inputs {
            if weights.contains(input.name.as_str()) {
                continue;
            }
            let stated = tensor_type(input);
            self.written.spend(rank_of(stated))?;
            let shape = stated
                .and_then(|stated| stated.shape.as_ref())
                .map(|shape| {
                    let rank = shape.dims.len();
                    let sizes = shape.dims.iter().enumerate();
                    let size = |(index, dim): (usize, &Dim)| match (dim.value, &dim.param) {
                        (Some(value), _) if value > 0 => Size::from(value),
                        (_, param) => {
                            let unnamed = format!("{}_{index}", input.name);
                            let text = param.as_deref().filter(|text| !text.is_empty());
                            let text = text.unwrap_or(&unnamed);
                            let known = self.written.params.read(
                                text,
                                Some((index, rank)),
                                &mut self.written.names,
                            );
                            known.unwrap_or(Size::from(1))
                        }
                    };
                    sizes.map(size).collect()
                });
            let number = stated.map(|stated| stated.element_type);
            self.external(&input.name, shape, number, TensorRole::Input);
        }
        Ok(())
    }

    /// Adds the weights that a graph holds.
    pub(super) fn weights(&mut self, graph: &'a Graph) -> Result<(), Problem> {
        for tensor in &graph.initializers {
            self.written.spend(tensor.dims.len())?;
            let shape = tensor.dims.iter().map(|&dim| Size::from(dim)).collect();
            let number = Some(tensor.data_type);
            let index = self.external(&tensor.name, Some(shape), number, TensorRole::Weight);
            if let Some(known) = self.written.tensors.get_mut(index) {
                known.value = value_of(tensor);
            }
        }
        for sparse in &graph.sparse_initializers {
            if let Some(values) = &sparse.values {
                self.written.spend(sparse.dims.len())?;
                let shape = sparse.dims.iter().map(|&dim| Size::from(dim)).collect();
                let number = Some(values.data_type);
                self.external(&values.name, Some(shape), number, TensorRole::Weight);
            }
        }
        Ok(())
    }

    fn external(
        &mut self,
        name: &'a str,
        shape: Option<Sizes>,
        number: Option<i32>,
        role: TensorRole,
    ) -> usize {
        let known = Known {
            name: self.written.names.claim(name),
            dtype: number.and_then(element_type),
            shape,
            ..Known::default()
        };
        self.scope
            .element_types
            .extend(number.map(|number| (name, number)));
        let index = self.written.tensor(known);
        self.scope.by_file_name.insert(name, index);
        self.written.external.push((index, role));
        index
    }

    /// Writes the ops of a node for each of its outputs that is read.
    pub(super) fn node(&mut self, node: &'a Node) -> Result<(), Problem> {
        if self.called(node)? || self.inlined(node)? || self.looped(node)? {
            return Ok(());
        }
        let outputs = node.outputs.iter().enumerate();
        let used = outputs.filter(|(_, output)| self.scope.is_read.contains(output.as_str()));
        let mut used: Vec<(usize, &'a str)> =
            used.map(|(at, output)| (at, output.as_str())).collect();
        let operator = operators::find(&node.domain, &node.operator);
        if operator.is_none_or(|operator| !operator.is_list) {
            // Indices come before the values at them, and a sum before its norm.
            used.reverse();
        }
        // One kernel gives all outputs, so an output without a rule makes it opaque for all.
        let is_opaque = operator.is_some_and(|operator| {
            used.len() > 1 && used.iter().any(|&(at, _)| operator.rule(at).is_none())
        });
        let reads = reads(node);
        let tensors = reads
            .iter()
            .filter_map(|&input| self.scope.by_file_name.get(input));
        let sizes: usize = tensors.map(|&tensor| self.written.rank(tensor)).sum();
        self.written
            .spend(used.len().saturating_mul(reads.len() + sizes))?;
        let mut unknown = Vec::new();
        for (at, (index, output)) in used.into_iter().enumerate() {
            unknown.extend(self.output(node, index, output, [is_opaque, at == 0])?);
        }
        unknown.reverse();
        self.opaque(node, &reads, unknown);
        Ok(())
    }
}

pub(super) fn tensor_type(info: &ValueInfo) -> Option<&TensorType> {
    info.value_type.as_ref()?.tensor.as_ref()
}

/// The rank of a type; 0 where the file states none.
pub(super) fn rank_of(stated: Option<&TensorType>) -> usize {
    let shape = stated.and_then(|stated| stated.shape.as_ref());
    shape.map_or(0, |shape| shape.dims.len())
}
