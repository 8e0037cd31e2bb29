//! Writes a program from the nodes of a graph.

use crate::constant::Scalar;
use crate::onnx::fold::value_of;
use crate::onnx::nodes::{ordered, reads};
use crate::onnx::operators;
use crate::onnx::proto::{Dim, Graph, Model, Node, TensorType, ValueInfo, element_type};
use crate::shapes::Sizes;
use crate::size::Size;
use crate::writer::{Known, Writer};
use crate::{Imported, Problem};
use fuseline_core::model::op::TensorRole;
use prost::Message;
use std::collections::{HashMap, HashSet};

/// The program of a model as [`super::Skim`] gives it. Ops that no output needs are left out. Near
/// linear in nodes and reads.
///
/// # Errors
/// What is wrong with the model, as the end of a sentence.
pub fn import(model: &[u8]) -> Result<Imported, Problem> {
    let model = Model::decode(model).map_err(|problem| Problem::new(problem.to_string()))?;
    let is_own = |domain: &str| matches!(domain, "" | "ai.onnx");
    let versions = model.operator_sets.iter().filter(|set| is_own(&set.domain));
    let version = versions.map(|set| set.version).max().unwrap_or(1);
    let Some(graph) = model.graph else {
        return Err(Problem::new("it contains no graph"));
    };
    let mut import = Import {
        version,
        written: Writer::default(),
        by_file_name: HashMap::new(),
        element_types: HashMap::new(),
        stated: HashMap::new(),
        assumed: Vec::new(),
        is_read: HashSet::new(),
    };
    import.inputs(&graph)?;
    import.enter(&graph)?;
    let outputs = graph.outputs.iter();
    let outputs = outputs.filter_map(|output| import.by_file_name.get(output.name.as_str()));
    let outputs: Vec<usize> = outputs.copied().collect();
    let is_needed = import.written.needed(&outputs);
    let needs = |indices: &&Vec<usize>| indices.iter().any(|&index| is_needed[index]);
    let assumed = import.assumed.iter().filter(needs).count();
    let mut imported = import.written.finish(&outputs)?;
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

pub(super) struct Import<'a> {
    pub(super) version: i64,
    pub(super) written: Writer,
    /// Tensors by their name in the file.
    pub(super) by_file_name: HashMap<&'a str, usize>,
    /// Element types as the file numbers them, by the name of the tensor: the notation has fewer.
    pub(super) element_types: HashMap<&'a str, i32>,
    /// Types that the file states.
    pub(super) stated: HashMap<&'a str, &'a TensorType>,
    /// The indices of the outputs of each `If` whose condition is known only at run time.
    assumed: Vec<Vec<usize>>,
    /// Tensors of the file that something reads.
    is_read: HashSet<&'a str>,
}

impl<'a> Import<'a> {
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
    fn weights(&mut self, graph: &'a Graph) -> Result<(), Problem> {
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
        self.element_types
            .extend(number.map(|number| (name, number)));
        let index = self.written.tensor(known);
        self.by_file_name.insert(name, index);
        self.written.external.push((index, role));
        index
    }

    /// Writes the ops of a node for each of its outputs that is read.
    fn node(&mut self, node: &'a Node) -> Result<(), Problem> {
        if self.inlined(node)? {
            return Ok(());
        }
        let outputs = node.outputs.iter().enumerate();
        let used = outputs.filter(|(_, output)| self.is_read.contains(output.as_str()));
        let mut used: Vec<(usize, &'a str)> =
            used.map(|(at, output)| (at, output.as_str())).collect();
        if operators::find(&node.operator).is_none_or(|operator| !operator.is_list) {
            // Indices come before the values at them, and a sum before its norm.
            used.reverse();
        }
        let reads = reads(node);
        let tensors = reads
            .iter()
            .filter_map(|&input| self.by_file_name.get(input));
        let sizes: usize = tensors.map(|&tensor| self.written.rank(tensor)).sum();
        self.written
            .spend(used.len().saturating_mul(reads.len() + sizes))?;
        let mut unknown = Vec::new();
        for (index, output) in used {
            unknown.extend(self.output(node, index, output)?);
        }
        unknown.reverse();
        self.opaque(node, &reads, unknown);
        Ok(())
    }

    /// Inlines the branch of a condition; `false` where the node has none.
    fn inlined(&mut self, node: &'a Node) -> Result<bool, Problem> {
        let is_own = operators::DOMAINS.contains(&node.domain.as_str());
        let condition = node
            .inputs
            .first()
            .filter(|_| is_own && node.operator == "If");
        let Some(condition) = condition else {
            return Ok(false);
        };
        let index = self.by_file_name.get(condition.as_str());
        let known = index.and_then(|&index| self.written.tensors.get(index));
        let value = known.and_then(|known| known.value.as_ref()?.only());
        let holds = match value {
            Some(Scalar::Int(size)) => size
                .value(&self.written.params.values)
                .map(|value| value != 0),
            Some(Scalar::Float(number)) => Some(*number != 0.0),
            None => None,
        };
        let name = if holds.unwrap_or(true) {
            "then_branch"
        } else {
            "else_branch"
        };
        let branch = node
            .attributes
            .iter()
            .find(|attribute| attribute.name == name);
        let Some(graph) = branch.and_then(|branch| branch.graph.as_ref()) else {
            return Ok(false);
        };
        self.enter(graph)?;
        let mut indices = Vec::new();
        for (output, inner) in node.outputs.iter().zip(&graph.outputs) {
            if let Some(&index) = self.by_file_name.get(inner.name.as_str()) {
                self.by_file_name.insert(output, index);
                indices.push(index);
            }
        }
        if holds.is_none() {
            self.assumed.push(indices);
        }
        Ok(true)
    }

    /// Imports the nodes of a graph. The parser of the file limits how deeply graphs nest.
    fn enter(&mut self, graph: &'a Graph) -> Result<(), Problem> {
        let infos = graph.values.iter().chain(&graph.outputs);
        let stated = infos.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        // Other graphs may use the same names inside for other tensors.
        let outside: Vec<_> = stated
            .map(|(name, stated)| (name, self.stated.insert(name, stated)))
            .collect();
        let outputs = graph.outputs.iter().map(|output| output.name.as_str());
        // An empty name stands for an input or an output that is left out.
        let read = graph.nodes.iter().flat_map(reads).chain(outputs);
        self.is_read.extend(read.filter(|name| !name.is_empty()));
        self.weights(graph)?;
        for index in ordered(&graph.nodes)? {
            if let Some(node) = graph.nodes.get(index) {
                self.node(node)?;
            }
        }
        for (name, stated) in outside.into_iter().rev() {
            match stated {
                Some(stated) => self.stated.insert(name, stated),
                None => self.stated.remove(name),
            };
        }
        Ok(())
    }
}

fn tensor_type(info: &ValueInfo) -> Option<&TensorType> {
    info.value_type.as_ref()?.tensor.as_ref()
}

/// The rank of a type; 0 where the file states none.
pub(super) fn rank_of(stated: Option<&TensorType>) -> usize {
    let shape = stated.and_then(|stated| stated.shape.as_ref());
    shape.map_or(0, |shape| shape.dims.len())
}
