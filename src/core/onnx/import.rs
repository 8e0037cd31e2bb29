//! Writes a program from the nodes of a graph.

use crate::core::model::diagnostic::Span;
use crate::core::model::dtype::DType;
use crate::core::model::functions::{self, Function};
use crate::core::model::op::TensorRole;
use crate::core::model::program::{
    Argument, AttributeValue, Declaration, Literal, Name, OpStatement, Program, TypeAnnotation,
};
use crate::core::notation::{parse, written_name};
use crate::core::onnx::call::{Call, Known, float_text};
use crate::core::onnx::fold::{Scalar, folded};
use crate::core::onnx::nodes::{ordered, reads};
use crate::core::onnx::operators::{self, Rule};
use crate::core::onnx::params::{Names, Params};
use crate::core::onnx::problem::Problem;
use crate::core::onnx::proto::{Graph, Model, Node, TensorType, ValueInfo, element_type};
use crate::core::onnx::shapes::{Sizes, infer};
use crate::core::onnx::size::Size;
use crate::core::onnx::template::filled;
use crate::core::onnx::words::{element, typed};
use indexmap::IndexMap;
use prost::Message;
use std::collections::{HashMap, HashSet};

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
            import.node(node);
        }
    }
    import.finish()
}

/// A size for each dimension; `None` where a file does not say it.
type Dims = Vec<Option<Size>>;

/// The import of a graph.
struct Import<'a> {
    graph: &'a Graph,
    version: i64,
    names: Names,
    params: Params,
    tensors: Vec<Known>,
    /// Tensors by their name in the file.
    by_file_name: HashMap<&'a str, usize>,
    /// Tensors by their name in the program.
    by_name: HashMap<String, usize>,
    /// External tensors, in the order of their declarations.
    external: Vec<(usize, TensorRole)>,
    /// Types that the file states.
    stated: HashMap<&'a str, &'a TensorType>,
    /// Tensors of the file that something reads.
    is_read: HashSet<&'a str>,
    /// Ops, each with its output and the name of its operator where it is opaque.
    ops: Vec<(OpStatement, usize, Option<String>)>,
}

impl<'a> Import<'a> {
    fn new(graph: &'a Graph, version: i64) -> Self {
        let infos = graph.values.iter().chain(&graph.outputs);
        let stated = infos.filter_map(|info| Some((info.name.as_str(), tensor_type(info)?)));
        let outputs = graph.outputs.iter().map(|output| output.name.as_str());
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
            is_read: graph.nodes.iter().flat_map(reads).chain(outputs).collect(),
            ops: Vec::new(),
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
                    let size =
                        |(place, dim): (usize, &super::proto::Dim)| match (dim.value, &dim.param) {
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
                known.value = super::fold::Value::of_tensor(tensor);
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

    /// The ops of a node, for each of its outputs that is read.
    fn node(&mut self, node: &'a Node) {
        let outputs = node.outputs.iter().enumerate();
        let used = outputs.filter(|(_, output)| self.is_read.contains(output.as_str()));
        let used: Vec<(usize, &'a String)> = used.collect();
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
                let typed = element(&call).and_then(|name| name.parse().ok());
                let known = Known {
                    name,
                    dtype: typed.or(Some(if is_float { DType::F32 } else { DType::I64 })),
                    shape: Some(sizes.map(Size::from).collect()),
                    value: Some(value),
                };
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
            let ops = text.and_then(|text| self.parsed(&text));
            let (ops, opaque) = match ops {
                Some(ops) => (ops, None),
                None => {
                    let (text, operator) = self.opaque(node, &call);
                    (self.parsed(&text).unwrap_or_default(), Some(operator))
                }
            };
            self.write(node, output, &name, ops, opaque, dims);
        }
    }

    /// The statements of a text, if all of them can be read and are calls of known functions.
    fn parsed(&self, text: &str) -> Option<Vec<OpStatement>> {
        let parsed = parse(text);
        let is_known = |op: &OpStatement| functions::find(&op.callee.text).is_some();
        let ops = parsed.program.ops;
        let is_fine = parsed.diagnostics.is_empty() && ops.iter().all(is_known);
        (is_fine && !ops.is_empty()).then_some(ops)
    }

    /// An op that reads all that the node reads, and the name of its operator.
    fn opaque(&self, node: &Node, call: &Call<'_>) -> (String, String) {
        let mut seen = HashSet::new();
        let places = reads(node)
            .into_iter()
            .filter_map(|input| self.by_file_name.get(input));
        let places = places.filter(|place| seen.insert(**place));
        let known = places.filter_map(|&place| self.tensors.get(place));
        let large = known.filter(|known| known.value.is_none());
        let mut arguments: Vec<String> = large.map(|known| known.name.clone()).collect();
        let operator = match operators::DOMAINS.contains(&node.domain.as_str()) {
            true => node.operator.clone(),
            false => format!("{}.{}", node.domain, node.operator),
        };
        let name = super::params::identifier(&operator);
        arguments.push(format!("name={}", written_name(&name)));
        let stated = call.output.shape.as_deref();
        let annotation = stated.and_then(|shape| Some(format!(" : {}", typed(call, shape)?)));
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
        opaque: Option<String>,
        dims: Option<Dims>,
    ) {
        let mut renamed: HashMap<String, String> = HashMap::new();
        for mut op in ops {
            for input in &mut op.inputs {
                if let Some(now) = renamed.get(&input.text) {
                    input.text.clone_from(now);
                }
            }
            let is_last = op.output.text == name;
            if is_last {
                let title = node.name.strip_prefix("node_").unwrap_or(&node.name);
                op.label = self.names.label(title).map(nameless);
            } else {
                let own = self.names.claim(&op.output.text);
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
            let dims = if is_last { dims.as_ref() } else { None };
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
            self.ops.push((op, place, opaque.clone()));
        }
    }

    /// The program of all ops that the outputs need.
    fn finish(self) -> Result<Imported, Problem> {
        let outputs = self.graph.outputs.iter();
        let outputs = outputs.filter_map(|output| self.by_file_name.get(output.name.as_str()));
        let outputs: Vec<usize> = outputs.copied().collect();
        let mut is_needed = vec![outputs.is_empty(); self.tensors.len()];
        let mut is_read = vec![false; self.tensors.len()];
        outputs.iter().for_each(|&place| is_needed[place] = true);
        for (op, output, _) in self.ops.iter().rev() {
            if is_needed[*output] {
                for place in op
                    .inputs
                    .iter()
                    .filter_map(|input| self.by_name.get(&input.text))
                {
                    (is_needed[*place], is_read[*place]) = (true, true);
                }
            }
        }
        let mut program = Program {
            params: self.params.statements(),
            ..Program::default()
        };
        for (place, role) in self.external {
            if let Some(known) = self.tensors.get(place).filter(|_| is_read[place])
                && let Some(shape) = &known.shape
            {
                let dims = shape.iter().map(|size| size.expr(&self.params.names));
                program.declarations.push(Declaration {
                    role,
                    name: nameless(known.name.clone()),
                    annotation: TypeAnnotation {
                        dtype: known.dtype.unwrap_or(DType::F32),
                        dtype_span: Span::default(),
                        dims: dims.collect(),
                        span: Span::default(),
                    },
                    span: Span::default(),
                });
            }
        }
        let (mut opaque, mut shapeless) = (IndexMap::new(), 0);
        let mut written = HashSet::new();
        for (op, output, operator) in self.ops {
            if !is_needed[output] {
                continue;
            }
            if let Some(operator) = operator {
                *opaque.entry(operator).or_insert(0) += 1;
            }
            let known = self.tensors.get(output);
            shapeless += usize::from(known.is_none_or(|known| known.shape.is_none()));
            written.insert(output);
            program.ops.push(op);
        }
        if program.ops.is_empty() {
            return Err(Problem::new("its outputs need no op"));
        }
        let mut seen = HashSet::new();
        let returned = outputs
            .iter()
            .filter(|&&place| is_read[place] && written.contains(&place));
        let returned = returned.filter(|place| seen.insert(**place));
        let known = returned.filter_map(|&place| self.tensors.get(place));
        program.outputs = known.map(|known| nameless(known.name.clone())).collect();
        Ok(Imported {
            program,
            opaque,
            shapeless,
        })
    }
}

/// The text of a node by the table; empty where it is its first input, `None` where the table has no answer.
fn text_of(call: &Call<'_>, output: &str) -> Option<String> {
    if !operators::DOMAINS.contains(&call.node.domain.as_str()) {
        return None;
    }
    let operator = operators::find(call.operator())?;
    let rule = match (operator.outputs.get(call.output_index), operator.is_list) {
        (None, true) => operator.outputs.last()?,
        (rule, _) => rule?,
    };
    match (rule, call.operator()) {
        (Rule::Input, _) => Some(String::new()),
        (_, "Cast" | "CastLike") if is_same_type(call) => Some(String::new()),
        (Rule::Chain(_), _) | (_, "Concat") if call.input_count() == 1 => Some(String::new()),
        (Rule::Lines(lines), _) => filled(lines, call, output),
        (Rule::Chain(function), _) => {
            let inputs: Option<Vec<&Known>> = call.inputs.iter().copied().collect();
            let mut inputs = inputs?.into_iter().map(|input| input.name.clone());
            let mut last = inputs.next()?;
            let count = inputs.len();
            let mut text = String::new();
            for (place, input) in inputs.enumerate() {
                let now = if place + 1 == count {
                    output.to_owned()
                } else {
                    format!("{output}_{place}")
                };
                text += &format!("{now} = {function}({last}, {input})\n");
                last = now;
            }
            Some(text)
        }
    }
}

fn is_same_type(call: &Call<'_>) -> bool {
    let own = call.input(0).and_then(|input| input.dtype);
    own.is_some_and(|own| element(call) == Some(own.name()))
}

fn tensor_type(info: &ValueInfo) -> Option<&TensorType> {
    info.value_type.as_ref()?.tensor.as_ref()
}

/// The inferred shape; a size that is a number there and a param in the file, with the same value, is the param. Without an
/// inferred shape that of the file, if it states each size.
fn together(inferred: Option<Sizes>, stated: Option<&Dims>, params: &Params) -> Option<Sizes> {
    let Some(mut shape) = inferred else {
        return stated?.iter().cloned().collect();
    };
    if let Some(stated) = stated.filter(|stated| stated.len() == shape.len()) {
        for (size, stated) in shape.iter_mut().zip(stated) {
            if let Some(stated) = stated
                && size.as_int().is_some()
                && size.as_int() == stated.value(&params.values)
            {
                *size = stated.clone();
            }
        }
    }
    Some(shape)
}

/// The element type that the notation gives the output of a statement.
fn dtype_of(function: &Function, op: &OpStatement, inputs: &[Option<&Known>]) -> Option<DType> {
    if let Some(annotation) = &op.annotation {
        return Some(annotation.dtype);
    }
    let mut attributes = op.attributes.iter();
    if let Some(AttributeValue::Word(name)) = attributes
        .find(|a| a.name.text == "dtype")
        .map(|a| &a.value)
    {
        return name.parse().ok();
    }
    if function.gives_bool() {
        return Some(DType::Bool);
    }
    let is_index = matches!(
        function.name,
        "argmax" | "argmin" | "topk_indices" | "argsort"
    );
    if is_index {
        return Some(DType::I64);
    }
    inputs
        .get(function.leading_input())
        .copied()
        .flatten()?
        .dtype
}

/// Inputs and literals of a statement in which single known numbers stand as such, where the function takes them.
fn literals(
    function: &Function,
    op: &OpStatement,
    inputs: &[Option<&Known>],
    params: &Params,
) -> Option<(Vec<Name>, Vec<Literal>)> {
    let rank = |known: &Option<&Known>| known.and_then(|known| known.shape.as_ref().map(Vec::len));
    let is_variable = |known: &&Option<&Known>| known.is_none_or(|known| known.value.is_none());
    let widest = inputs.iter().filter(is_variable).filter_map(rank).max();
    let (mut names, mut written) = (Vec::new(), Vec::new());
    let mut known = inputs.iter();
    for (place, (argument, _)) in op.arguments().into_iter().enumerate() {
        let text = match argument {
            Argument::Literal(text) => Some(text.to_owned()),
            Argument::Tensor(_) => known.next().copied().flatten().and_then(|input| {
                let fits = input.shape.as_ref().map(Vec::len) <= widest;
                match input.value.as_ref()?.only().filter(|_| fits)? {
                    Scalar::Int(size) => {
                        size.value(&params.values).map(|number| number.to_string())
                    }
                    Scalar::Float(number) => float_text(*number),
                }
            }),
        };
        match (text, argument) {
            (Some(text), _) => written.push(Literal {
                place,
                text,
                span: Span::default(),
            }),
            (None, Argument::Tensor(name)) => names.push(nameless(name.to_owned())),
            (None, Argument::Literal(_)) => {}
        }
    }
    let is_allowed = function.takes_literals() && names.len() > function.leading_input();
    is_allowed.then_some((names, written))
}

fn nameless(text: String) -> Name {
    Name {
        text,
        span: Span::default(),
    }
}
