//! Writes a program from the nodes of a graph.

use crate::onnx::call::Call;
use crate::onnx::fold::{folded, value_of};
use crate::onnx::lines::text_of;
use crate::onnx::nodes::{ordered, reads};
use crate::onnx::operators;
use crate::onnx::proto::{Dim, Graph, Model, Node, TensorType, ValueInfo, element_type};
use crate::onnx::words::{element, typed};
use crate::params::identifier;
use crate::shapes::Sizes;
use crate::size::Size;
use crate::statement::{Dims, statements};
use crate::value::{Scalar, Value};
use crate::writer::{Known, Writer};
use crate::{Imported, Problem};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::op::TensorRole;
use fuseline_core::notation::written_name;
use prost::Message;
use std::collections::{HashMap, HashSet};

/// The program of a model as [`super::Skim`] gives it. Ops that no output needs are left out. Near linear in nodes and reads.
///
/// # Errors
/// What is wrong with the model, as the end of a sentence.
pub fn import(model: &[u8]) -> Result<Imported, Problem> {
    let model = Model::decode(model).map_err(|problem| Problem::new(problem.to_string()))?;
    let is_own = |domain: &str| matches!(domain, "" | "ai.onnx");
    let versions = model.operator_sets.iter().filter(|set| is_own(&set.domain));
    let version = versions.map(|set| set.version).max().unwrap_or(1);
    let Some(graph) = model.graph else {
        return Err(Problem::new("it holds no graph"));
    };
    let order = ordered(&graph.nodes)?;
    let mut import = Import::new(&graph, version)?;
    for index in order {
        if let Some(node) = graph.nodes.get(index) {
            import.node(node)?;
        }
    }
    let outputs = graph.outputs.iter();
    let outputs = outputs.filter_map(|output| import.by_file_name.get(output.name.as_str()));
    let outputs: Vec<usize> = outputs.copied().collect();
    import.written.finish(&outputs)
}

/// The import of a graph.
struct Import<'a> {
    graph: &'a Graph,
    version: i64,
    written: Writer,
    /// Tensors by their name in the file.
    by_file_name: HashMap<&'a str, usize>,
    /// Types that the file states.
    stated: HashMap<&'a str, &'a TensorType>,
    /// Tensors of the file that something reads.
    is_read: HashSet<&'a str>,
}

impl<'a> Import<'a> {
    fn new(graph: &'a Graph, version: i64) -> Result<Self, Problem> {
        let infos = graph.values.iter().chain(&graph.outputs);
        let stated = infos.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        let outputs = graph.outputs.iter().map(|output| output.name.as_str());
        // An empty name stands for an input or an output that is left out.
        let read = graph.nodes.iter().flat_map(reads).chain(outputs);
        let mut import = Self {
            graph,
            version,
            written: Writer::default(),
            by_file_name: HashMap::new(),
            stated: stated.collect(),
            is_read: read.filter(|name| !name.is_empty()).collect(),
        };
        import.externals()?;
        Ok(import)
    }

    /// Inputs and weights. Sizes of inputs that the file leaves open become params.
    fn externals(&mut self) -> Result<(), Problem> {
        let weights = self
            .graph
            .initializers
            .iter()
            .map(|tensor| tensor.name.as_str());
        let weights: HashSet<&str> = weights.collect();
        for input in &self.graph.inputs {
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
                    let size = |(place, dim): (usize, &Dim)| match (dim.value, &dim.param) {
                        (Some(value), _) if value > 0 => Size::from(value),
                        (_, param) => {
                            let unnamed = format!("{}_{place}", input.name);
                            let text = param.as_deref().filter(|text| !text.is_empty());
                            let text = text.unwrap_or(&unnamed);
                            let known = self.written.params.read(
                                text,
                                Some((place, rank)),
                                &mut self.written.names,
                            );
                            known.unwrap_or(Size::from(1))
                        }
                    };
                    sizes.map(size).collect()
                });
            let dtype = stated.and_then(|stated| element_type(stated.element_type));
            self.external(&input.name, shape, dtype, TensorRole::Input);
        }
        for tensor in &self.graph.initializers {
            self.written.spend(tensor.dims.len())?;
            let shape = tensor.dims.iter().map(|&dim| Size::from(dim)).collect();
            let dtype = element_type(tensor.data_type);
            let place = self.external(&tensor.name, Some(shape), dtype, TensorRole::Weight);
            if let Some(known) = self.written.tensors.get_mut(place) {
                known.value = value_of(tensor);
            }
        }
        for sparse in &self.graph.sparse_initializers {
            if let Some(values) = &sparse.values {
                self.written.spend(sparse.dims.len())?;
                let shape = sparse.dims.iter().map(|&dim| Size::from(dim)).collect();
                let dtype = element_type(values.data_type);
                self.external(&values.name, Some(shape), dtype, TensorRole::Weight);
            }
        }
        Ok(())
    }

    fn external(
        &mut self,
        name: &'a str,
        shape: Option<Sizes>,
        dtype: Option<DType>,
        role: TensorRole,
    ) -> usize {
        let known = Known {
            name: self.written.names.claim(name),
            dtype,
            shape,
            value: None,
        };
        let place = self.written.tensor(known);
        self.by_file_name.insert(name, place);
        self.written.external.push((place, role));
        place
    }

    /// The sizes that the file states for a tensor, and its element type.
    fn stated(&mut self, name: &str) -> (Option<Dims>, Option<DType>) {
        let Some(stated) = self.stated.get(name).copied() else {
            return (None, None);
        };
        let dims = stated.shape.as_ref().map(|shape| {
            let sizes = shape.dims.iter();
            sizes
                .map(|dim| match (dim.value, &dim.param) {
                    (Some(value), _) => Some(Size::from(value)),
                    (None, Some(text)) => {
                        self.written
                            .params
                            .read(text, None, &mut self.written.names)
                    }
                    (None, None) => None,
                })
                .collect()
        });
        (dims, element_type(stated.element_type))
    }

    /// The ops of a node, for each of its outputs that is read.
    fn node(&mut self, node: &'a Node) -> Result<(), Problem> {
        let outputs = node.outputs.iter().enumerate();
        let used = outputs.filter(|(_, output)| self.is_read.contains(output.as_str()));
        let used: Vec<(usize, &'a String)> = used.collect();
        let reads = reads(node);
        let places = reads
            .iter()
            .filter_map(|&input| self.by_file_name.get(input));
        let sizes: usize = places.map(|&place| self.written.rank(place)).sum();
        self.written
            .spend(used.len().saturating_mul(reads.len() + sizes))?;
        for (output_index, output) in used {
            self.written
                .spend(rank_of(self.stated.get(output.as_str()).copied()))?;
            let (dims, dtype) = self.stated(output);
            let name = self.written.names.claim(output);
            let shape = dims.clone().and_then(|dims| dims.into_iter().collect());
            let inputs = node.inputs.iter().map(|input| {
                let place = *self.by_file_name.get(input.as_str())?;
                self.written.tensors.get(place)
            });
            let call = Call {
                node,
                inputs: inputs.collect(),
                output: Known {
                    name: name.clone(),
                    dtype,
                    shape,
                    value: None,
                },
                output_index,
                params: &self.written.params,
                version: self.version,
            };
            if output_index == 0
                && let Some(value) = folded(&call)
            {
                let sizes = value
                    .shape
                    .iter()
                    .map(|&size| i64::try_from(size).unwrap_or(i64::MAX));
                let is_float = matches!(value.elements.first(), Some(Scalar::Float(_)));
                let constant = call
                    .tensor("value")
                    .and_then(|value| element_type(value.data_type));
                let typed = element(&call)
                    .and_then(|name| name.parse().ok())
                    .or(constant);
                let known = Known {
                    name,
                    dtype: typed.or(Some(if is_float { DType::F32 } else { DType::I64 })),
                    shape: Some(sizes.map(Size::from).collect()),
                    value: Some(value),
                };
                self.written
                    .spend(known.value.as_ref().map_or(0, Value::weight))?;
                let place = self.written.tensor(known);
                self.by_file_name.insert(output, place);
                self.written.external.push((place, TensorRole::Weight));
                continue;
            }
            let text = text_of(&call, &name);
            let is_input = text.as_deref() == Some("");
            if is_input
                && let Some(&same) = node
                    .inputs
                    .first()
                    .and_then(|i| self.by_file_name.get(i.as_str()))
            {
                self.by_file_name.insert(output, same);
                continue;
            }
            let mut opaque = None;
            let ops = text.and_then(|text| statements(&text)).unwrap_or_else(|| {
                let (text, operator) = self.opaque(node, &reads, &call);
                opaque = Some(operator);
                statements(&text).unwrap_or_default()
            });
            let title = node.name.strip_prefix("node_").unwrap_or(&node.name);
            let place = self
                .written
                .write(ops, &name, title, dims.as_ref(), opaque.as_ref());
            if let Some(place) = place {
                self.by_file_name.insert(output, place);
            }
        }
        Ok(())
    }

    /// An op that reads all that the node reads, and the name of its operator.
    fn opaque(&self, node: &Node, reads: &[&str], call: &Call<'_>) -> (String, String) {
        let mut seen = HashSet::new();
        let places = reads
            .iter()
            .filter_map(|&input| self.by_file_name.get(input));
        let places = places.filter(|place| seen.insert(**place));
        let known = places.filter_map(|&place| self.written.tensors.get(place));
        let large = known.filter(|known| known.value.is_none());
        let mut arguments: Vec<String> = large.map(|known| known.name.clone()).collect();
        let is_known = operators::DOMAINS.contains(&node.domain.as_str());
        let operator = if is_known {
            node.operator.clone()
        } else {
            format!("{}.{}", node.domain, node.operator)
        };
        let name = identifier(&operator);
        arguments.push(format!("name={}", written_name(&name)));
        let stated = call.output.shape.as_deref();
        let annotation = stated.map(|shape| format!(" : {}", typed(call, shape)));
        let call = format!("{} = opaque({})", call.output.name, arguments.join(", "));
        (call + &annotation.unwrap_or_default(), operator)
    }
}

fn tensor_type(info: &ValueInfo) -> Option<&TensorType> {
    info.value_type.as_ref()?.tensor.as_ref()
}

/// The rank of a type that may be stated.
fn rank_of(stated: Option<&TensorType>) -> usize {
    let shape = stated.and_then(|stated| stated.shape.as_ref());
    shape.map_or(0, |shape| shape.dims.len())
}
