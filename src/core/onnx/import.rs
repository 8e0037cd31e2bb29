//! Writes a program from the nodes of a graph.

use crate::core::model::dtype::DType;
use crate::core::model::functions;
use crate::core::model::op::TensorRole;
use crate::core::model::program::{OpStatement, Program};
use crate::core::notation::written_name;
use crate::core::onnx::call::{Call, Known};
use crate::core::onnx::fold::{Scalar, Value, folded};
use crate::core::onnx::nodes::{ordered, reads};
use crate::core::onnx::operators;
use crate::core::onnx::params::{Names, Params, identifier};
use crate::core::onnx::problem::Problem;
use crate::core::onnx::proto::{Dim, Graph, Model, Node, TensorType, ValueInfo, element_type};
use crate::core::onnx::shapes::{Sizes, infer};
use crate::core::onnx::size::Size;
use crate::core::onnx::statement::{
    Dims, dtype_of, literals, nameless, statements, text_of, together,
};
use crate::core::onnx::words::{element, typed};
use indexmap::IndexMap;
use prost::Message;
use std::collections::{HashMap, HashSet};

/// Most tensors that ops read and elements of folded values, so that a small file cannot fill the memory.
const MAX_READS: usize = 1 << 22;

/// A program from a file, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// Operators that are not understood, in the order of their first op, and the number of their ops.
    pub opaque: IndexMap<String, usize>,
    /// Ops whose shape cannot be told.
    pub shapeless: usize,
}

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
    let mut import = Import::new(&graph, version);
    for index in order {
        if let Some(node) = graph.nodes.get(index) {
            import.node(node)?;
        }
    }
    import.finish()
}

/// The import of a graph.
pub(super) struct Import<'a> {
    pub(super) graph: &'a Graph,
    version: i64,
    names: Names,
    pub(super) params: Params,
    pub(super) tensors: Vec<Known>,
    /// Tensors by their name in the file.
    pub(super) by_file_name: HashMap<&'a str, usize>,
    /// Tensors by their name in the program.
    pub(super) by_name: HashMap<String, usize>,
    /// External tensors, in the order of their declarations.
    pub(super) external: Vec<(usize, TensorRole)>,
    /// Types that the file states.
    stated: HashMap<&'a str, &'a TensorType>,
    /// Tensors of the file that something reads.
    is_read: HashSet<&'a str>,
    /// Ops, each with its output and the name of its operator where it is opaque.
    pub(super) ops: Vec<(OpStatement, usize, Option<String>)>,
    /// What is left of [`MAX_READS`].
    reads_left: usize,
}

impl<'a> Import<'a> {
    fn new(graph: &'a Graph, version: i64) -> Self {
        let infos = graph.values.iter().chain(&graph.outputs);
        let stated = infos.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        let outputs = graph.outputs.iter().map(|output| output.name.as_str());
        // An empty name stands for an input or an output that is left out.
        let read = graph.nodes.iter().flat_map(reads).chain(outputs);
        let mut import = Self {
            graph,
            version,
            names: Names::default(),
            params: Params::default(),
            tensors: Vec::new(),
            by_file_name: HashMap::new(),
            by_name: HashMap::new(),
            external: Vec::new(),
            stated: stated.collect(),
            is_read: read.filter(|name| !name.is_empty()).collect(),
            ops: Vec::new(),
            reads_left: MAX_READS,
        };
        import.externals();
        import
    }

    /// Inputs and weights. Sizes of inputs that the file leaves open become params.
    fn externals(&mut self) {
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
                            let known =
                                self.params.read(text, Some((place, rank)), &mut self.names);
                            known.unwrap_or(Size::from(1))
                        }
                    };
                    sizes.map(size).collect()
                });
            let dtype = stated.and_then(|stated| element_type(stated.element_type));
            self.external(&input.name, shape, dtype, TensorRole::Input);
        }
        for tensor in &self.graph.initializers {
            let shape = tensor.dims.iter().map(|&dim| Size::from(dim)).collect();
            let dtype = element_type(tensor.data_type);
            let place = self.external(&tensor.name, Some(shape), dtype, TensorRole::Weight);
            if let Some(known) = self.tensors.get_mut(place) {
                known.value = Value::of_tensor(tensor);
            }
        }
        for sparse in &self.graph.sparse_initializers {
            if let Some(values) = &sparse.values {
                let shape = sparse.dims.iter().map(|&dim| Size::from(dim)).collect();
                let dtype = element_type(values.data_type);
                self.external(&values.name, Some(shape), dtype, TensorRole::Weight);
            }
        }
    }

    fn external(
        &mut self,
        name: &'a str,
        shape: Option<Sizes>,
        dtype: Option<DType>,
        role: TensorRole,
    ) -> usize {
        let known = Known {
            name: self.names.claim(name),
            dtype,
            shape,
            value: None,
        };
        let place = self.tensor(known);
        self.by_file_name.insert(name, place);
        self.external.push((place, role));
        place
    }

    fn tensor(&mut self, known: Known) -> usize {
        let place = self.tensors.len();
        self.by_name.insert(known.name.clone(), place);
        self.tensors.push(known);
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
                    (None, Some(text)) => self.params.read(text, None, &mut self.names),
                    (None, None) => None,
                })
                .collect()
        });
        (dims, element_type(stated.element_type))
    }

    fn spend(&mut self, reads: usize) -> Result<(), Problem> {
        let left = self.reads_left.checked_sub(reads);
        self.reads_left = left.ok_or_else(|| {
            Problem::new(format!(
                "its ops read more than the {} million tensors and sizes that are opened at once",
                MAX_READS >> 20
            ))
        })?;
        Ok(())
    }

    /// The ops of a node, for each of its outputs that is read.
    fn node(&mut self, node: &'a Node) -> Result<(), Problem> {
        let outputs = node.outputs.iter().enumerate();
        let used = outputs.filter(|(_, output)| self.is_read.contains(output.as_str()));
        let used: Vec<(usize, &'a String)> = used.collect();
        let reads = reads(node);
        self.spend(used.len().saturating_mul(reads.len()))?;
        for (output_index, output) in used {
            let (dims, dtype) = self.stated(output);
            let name = self.names.claim(output);
            let shape = dims.clone().and_then(|dims| dims.into_iter().collect());
            let inputs = node.inputs.iter().map(|input| {
                let place = *self.by_file_name.get(input.as_str())?;
                self.tensors.get(place)
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
                params: &self.params,
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
                self.spend(known.value.as_ref().map_or(0, Value::weight))?;
                let place = self.tensor(known);
                self.by_file_name.insert(output, place);
                self.external.push((place, TensorRole::Weight));
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
            self.write(node, output, &name, ops, opaque.as_ref(), dims.as_ref());
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
        let known = places.filter_map(|&place| self.tensors.get(place));
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

    /// Adds the statements of a node, the last of which writes its output.
    fn write(
        &mut self,
        node: &Node,
        output: &'a str,
        name: &str,
        ops: Vec<OpStatement>,
        opaque: Option<&String>,
        dims: Option<&Dims>,
    ) {
        let mut renamed: HashMap<String, String> = HashMap::new();
        let last = ops.last().map(|op| op.output.text.clone());
        let last = last.unwrap_or_default();
        for mut op in ops {
            for input in &mut op.inputs {
                if let Some(now) = renamed.get(&input.text) {
                    input.text.clone_from(now);
                }
            }
            let is_last = op.output.text == last;
            if is_last {
                name.clone_into(&mut op.output.text);
                let title = node.name.strip_prefix("node_").unwrap_or(&node.name);
                op.label = self.names.label(title).map(nameless);
            } else {
                let rest = op.output.text.strip_prefix(&last).unwrap_or_default();
                let own = self.names.claim(&format!("{name}{rest}"));
                renamed.insert(std::mem::replace(&mut op.output.text, own.clone()), own);
            }
            let Some(function) = functions::find(&op.callee.text) else {
                continue;
            };
            let inputs = op.inputs.iter().map(|input| self.by_name.get(&input.text));
            let inputs = inputs.map(|place| place.and_then(|&place| self.tensors.get(place)));
            let inputs: Vec<Option<&Known>> = inputs.collect();
            let dtype = dtype_of(function, &op, &inputs);
            let shapes = inputs
                .iter()
                .map(|known| known.and_then(|known| known.shape.as_deref()));
            let shapes: Option<Vec<&[Size]>> = shapes.collect();
            let inferred = shapes.and_then(|shapes| infer(function, &op, &shapes, &self.params));
            let dims = dims.filter(|_| is_last);
            let shape = together(inferred, dims, &self.params);
            let literals = literals(function, &op, &inputs, &self.params);
            if let Some((inputs, literals)) = literals {
                (op.inputs, op.literals) = (inputs, literals);
            }
            let place = self.tensor(Known {
                name: op.output.text.clone(),
                dtype,
                shape,
                value: None,
            });
            if is_last {
                self.by_file_name.insert(output, place);
            }
            self.ops.push((op, place, opaque.cloned()));
        }
    }
}

fn tensor_type(info: &ValueInfo) -> Option<&TensorType> {
    info.value_type.as_ref()?.tensor.as_ref()
}
