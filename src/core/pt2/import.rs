//! Writes a program from the nodes of an exported program.

use crate::core::import::params::identifier;
use crate::core::import::shapes::Sizes;
use crate::core::import::statement::statements;
use crate::core::import::writer::{Known, Writer};
use crate::core::import::{Imported, Problem};
use crate::core::model::dtype::DType;
use crate::core::model::op::TensorRole;
use crate::core::model::program::{AttributeValue, OpStatement};
use crate::core::notation::written_name;
use crate::core::pt2::call::Call;
use crate::core::pt2::lines::{Becomes, becomes, text};
use crate::core::pt2::naming::{Origin, Stack, give_names};
use crate::core::pt2::products::flops;
use crate::core::pt2::schema::{Argument, Exported, Graph, NamedArgument, Node, TensorMeta, read};
use crate::core::pt2::symbols::Symbols;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Most graphs inside each other.
const MAX_DEPTH: usize = 16;

/// Functions whose result has the size that is annotated.
const STATED: &[&str] = &[
    "reshape",
    "contiguous",
    "rearrange",
    "expand",
    "full",
    "arange",
    "opaque",
];

/// Operators whose output shows the memory of their first tensor.
const VIEWS: &[&str] = &[
    "view",
    "reshape",
    "unsqueeze",
    "squeeze",
    "flatten",
    "unflatten",
    "view_as",
    "reshape_as",
    "permute",
    "transpose",
    "t",
    "numpy_T",
    "mT",
    "swapaxes",
    "expand",
    "expand_as",
    "slice",
    "narrow",
    "select",
    "split",
    "split_with_sizes",
    "chunk",
    "unbind",
    "alias",
    "detach",
];

/// The program of an exported program, whose JSON [`super::Archive`] gives. Ops that no output needs are left out. Near linear in
/// nodes and reads.
///
/// # Errors
/// What is wrong with the model, as the end of a sentence.
pub fn import(json: &str) -> Result<Imported, Problem> {
    let exported = read(json)?;
    let mut written = Writer::default();
    let symbols = Symbols::declared(&exported, &mut written)?;
    let mut import = Import {
        written,
        symbols: &symbols,
        origins: HashMap::new(),
        fixed: 0,
    };
    let graph = &exported.graph_module.graph;
    let given = import.externals(&exported)?;
    let tensors = import.graph(graph, given, 0)?;
    let outputs = graph.outputs.iter().flat_map(Argument::tensors);
    let outputs = outputs.filter_map(|name| tensors.get(name).copied());
    let outputs: Vec<usize> = outputs.collect();
    let Import {
        written,
        origins,
        fixed,
        ..
    } = import;
    let mut imported = written.finish(&outputs)?;
    give_names(&mut imported.program, &origins);
    if fixed > 0 {
        let sizes = if fixed == 1 {
            "tensor has a size"
        } else {
            "tensors have sizes"
        };
        imported.notes.push(format!(
            "{fixed} {sizes} that no expression of the notation tells; those of the example inputs stand for them."
        ));
    }
    Ok(imported)
}

/// The import of an exported program.
struct Import<'a> {
    written: Writer,
    symbols: &'a Symbols<'a>,
    /// Where each op comes from, by the name of its output.
    origins: HashMap<String, Origin>,
    /// How many tensors have a size that is no expression of the notation.
    fixed: usize,
}

/// A graph that is gone through.
struct Frame<'a> {
    graph: &'a Graph,
    /// Places of tensors by their name.
    tensors: HashMap<&'a str, usize>,
    is_read: HashSet<&'a str>,
    /// The tensor whose memory each view shows.
    viewed: HashMap<&'a str, &'a str>,
    /// The tensor that each result of an operator in place is.
    same: HashMap<&'a str, &'a str>,
    depth: usize,
}

/// The operator of a node.
struct Operator<'a> {
    /// `add` of `torch.ops.aten.add_.Tensor`; empty where it is none of `ATen`.
    name: &'a str,
    overload: &'a str,
    /// The outputs of the node, `None` for one that is no tensor.
    outputs: Vec<Option<&'a str>>,
}

impl<'a> Import<'a> {
    /// Declares inputs, parameters and buffers; gives their places.
    fn externals(&mut self, exported: &'a Exported) -> Result<HashMap<&'a str, usize>, Problem> {
        let graph = &exported.graph_module.graph;
        let specs = exported.graph_module.signature.input_specs.iter();
        let states = specs.filter_map(|spec| spec.parameter.as_ref().or(spec.buffer.as_ref()));
        let paths: HashMap<&str, &str> = states
            .map(|state| (state.arg.name.as_str(), state.path.as_str()))
            .collect();
        let mut given = HashMap::new();
        // Inputs stand before weights.
        for role in [TensorRole::Input, TensorRole::Weight] {
            for name in graph.inputs.iter().flat_map(Argument::tensors) {
                let path = paths.get(name).copied();
                let (true, Some(meta)) = (
                    path.is_some() == (role == TensorRole::Weight),
                    graph.tensor_values.get(name),
                ) else {
                    continue;
                };
                self.written.spend(meta.sizes.len())?;
                let constant = name.starts_with("c_lifted_tensor").then_some("constant");
                let known = Known {
                    name: self.written.names.claim(path.or(constant).unwrap_or(name)),
                    dtype: Some(dtype_of(meta)),
                    shape: Some(self.shape(meta).0),
                    value: None,
                };
                let place = self.written.tensor(known);
                self.written.external.push((place, role));
                given.insert(name, place);
            }
        }
        Ok(given)
    }

    fn shape(&self, meta: &TensorMeta) -> (Sizes, bool) {
        let sizes = meta.sizes.iter().map(|size| self.symbols.size(size));
        let (sizes, exact): (Vec<_>, Vec<bool>) = sizes.unzip();
        (sizes, exact.into_iter().all(|is_exact| is_exact))
    }

    /// Goes through a graph whose inputs stand at `given`; gives the places of all its tensors.
    fn graph(
        &mut self,
        graph: &'a Graph,
        given: HashMap<&'a str, usize>,
        depth: usize,
    ) -> Result<HashMap<&'a str, usize>, Problem> {
        let inputs = graph.nodes.iter().flat_map(|node| &node.inputs);
        let read = inputs.flat_map(|argument| argument.arg.tensors());
        let outputs = graph.outputs.iter().flat_map(Argument::tensors);
        let mut frame = Frame {
            graph,
            tensors: given,
            is_read: read.chain(outputs).collect(),
            viewed: HashMap::new(),
            same: HashMap::new(),
            depth,
        };
        for node in &graph.nodes {
            self.node(node, &mut frame)?;
        }
        Ok(frame.tensors)
    }

    fn node(&mut self, node: &'a Node, frame: &mut Frame<'a>) -> Result<(), Problem> {
        let outputs: Vec<Option<&str>> = node.outputs.iter().flat_map(output_names).collect();
        if outputs.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut weight = outputs.len();
        for name in node
            .inputs
            .iter()
            .flat_map(|argument| argument.arg.tensors())
        {
            let Some(&place) = frame.tensors.get(name) else {
                return Err(Problem::new(format!(
                    "its node {} reads `{name}`, which nothing before it writes",
                    node.target
                )));
            };
            weight += 1 + self.written.rank(place);
        }
        self.written.spend(weight.saturating_mul(outputs.len()))?;
        if self.inlined(node, &outputs, frame)? {
            return Ok(());
        }
        let target = named(node);
        let (namespace, rest) = target.split_once('.').unwrap_or(("", target));
        let (packet, overload) = rest.split_once('.').unwrap_or((rest, ""));
        let in_place = packet.strip_suffix('_').filter(|name| !name.ends_with('_'));
        let name = if namespace == "aten" {
            in_place.unwrap_or(packet)
        } else {
            ""
        };
        let used = outputs.iter().enumerate();
        let used = used.filter_map(|(place, output)| {
            let output = output.filter(|output| frame.is_read.contains(output))?;
            Some((place, output, frame.graph.tensor_values.get(output)?))
        });
        let mut used: Vec<(usize, &'a str, &'a TensorMeta)> = used.collect();
        let is_list = node
            .outputs
            .iter()
            .any(|output| matches!(output, Argument::Tensors(_)));
        if !is_list {
            // Places that are found come before the values at them.
            used.reverse();
        }
        // What is written in place is read where the tensor is.
        if used.is_empty()
            && in_place.is_some()
            && let Some(&output) = outputs.first()
            && let Some(output) = output
            && let Some(meta) = frame.graph.tensor_values.get(output)
        {
            used.push((0, output, meta));
        }
        let operator = Operator {
            name,
            overload,
            outputs,
        };
        for (number, &used) in used.iter().enumerate() {
            // FLOPs are counted once.
            self.output(node, &operator, used, number == 0, frame)?;
        }
        let first = node
            .inputs
            .iter()
            .find_map(|argument| argument.arg.tensors().first().copied());
        let Some(first) = first.filter(|_| namespace == "aten") else {
            return Ok(());
        };
        if in_place.is_some()
            && let Some(Some(output)) = operator.outputs.first()
        {
            self.written_in_place(node, output, first, frame)?;
        } else if VIEWS.contains(&name) {
            frame.viewed.extend(
                operator
                    .outputs
                    .iter()
                    .flatten()
                    .map(|&output| (output, first)),
            );
        }
        Ok(())
    }

    /// Writes one output of a node, or finds the tensor that it is.
    fn output(
        &mut self,
        node: &'a Node,
        operator: &Operator<'a>,
        (place, output, meta): (usize, &'a str, &'a TensorMeta),
        counts: bool,
        frame: &mut Frame<'a>,
    ) -> Result<(), Problem> {
        self.written.spend(meta.sizes.len())?;
        let (shape, is_exact) = self.shape(meta);
        self.fixed += usize::from(!is_exact);
        let mut call = Call {
            node,
            operator: operator.name,
            overload: operator.overload,
            graph: frame.graph,
            tensors: &frame.tensors,
            written: &self.written,
            symbols: self.symbols,
            outputs: &operator.outputs,
            is_read: &frame.is_read,
            place,
            dtype: dtype_of(meta),
            shape,
            cast: HashMap::new(),
        };
        let stated = format!("{}{}", call.dtype.name(), call.list(&call.shape));
        let is_real = is_real(meta) && reads_real(node, frame.graph);
        let ops = match becomes(&call).filter(|_| is_real) {
            Some(Becomes::Same(place)) if known_as(&call, place, false) => {
                frame.tensors.insert(output, place);
                return Ok(());
            }
            Some(Becomes::Reshape(place)) => {
                let source = self.unshaped(place);
                if known_as(&call, source, true) {
                    frame.tensors.insert(output, source);
                    return Ok(());
                }
                let source = call.known(source).map_or("", |known| &known.name);
                statements(&format!("y = reshape({source}) : {stated}"))
            }
            Some(Becomes::Same(place)) => {
                let (name, dtype) = (
                    call.known(place).map_or("", |known| &known.name),
                    call.dtype,
                );
                let dtype = dtype.name();
                statements(&format!("y = cast({name}, dtype={dtype}) : {stated}"))
            }
            Some(Becomes::Lines(cast, lines)) => {
                let text = text(cast, &lines, &mut call);
                text.and_then(|text| statements(&format!("{text} : {stated}")))
            }
            None => None,
        };
        let (ops, opaque) = if let Some(ops) = ops {
            (ops, None)
        } else {
            let operator = named(node);
            let ops = statements(&opaque(operator, &call, counts, &stated));
            (ops.unwrap_or_default(), Some(operator.to_owned()))
        };
        let place = self.write(node, ops, output, is_exact, opaque.as_ref());
        frame.tensors.insert(output, place);
        Ok(())
    }

    /// Writes the statements of an output; gives its place.
    fn write(
        &mut self,
        node: &'a Node,
        mut ops: Vec<OpStatement>,
        output: &str,
        is_exact: bool,
        opaque: Option<&String>,
    ) -> usize {
        if let Some(last) = ops.last_mut()
            && !is_exact
            && !STATED.contains(&last.callee.text.as_str())
        {
            last.annotation = None;
        }
        let name = self.written.names.claim(output);
        let before = self.written.ops.len();
        let place = self.written.write(ops, &name, "", None, opaque);
        let stack = Rc::new(Stack::of(&node.metadata));
        for (op, ..) in self.written.ops.get(before..).unwrap_or_default() {
            let origin = Origin {
                stack: Rc::clone(&stack),
                word: word_of(op),
            };
            self.origins.insert(op.output.text.clone(), origin);
        }
        place.unwrap_or(usize::MAX)
    }

    /// The tensor whose elements this one has in another shape only.
    fn unshaped(&self, place: usize) -> usize {
        let ops = &self.written.ops;
        let written = ops.binary_search_by_key(&place, |(_, output, _)| *output);
        let op = written.ok().and_then(|at| ops.get(at)).map(|(op, ..)| op);
        let source = op
            .filter(|op| op.callee.text == "reshape")
            .and_then(|op| self.written.by_name.get(&op.inputs.first()?.text));
        // A reshape reads none itself but where an op of several lines ends with one, whose source is no reshape.
        source.copied().unwrap_or(place)
    }

    /// Goes through the one graph that an operator runs, such as a part without gradients; `false` where it has none or several.
    fn inlined(
        &mut self,
        node: &'a Node,
        outputs: &[Option<&'a str>],
        frame: &mut Frame<'a>,
    ) -> Result<bool, Problem> {
        let is_graph = |argument: &&NamedArgument| matches!(argument.arg, Argument::Graph(_));
        let mut graphs = node.inputs.iter().filter(is_graph);
        let (Some(argument), None) = (graphs.next(), graphs.next()) else {
            return Ok(false);
        };
        let Argument::Graph(graph) = &argument.arg else {
            return Ok(false);
        };
        let given = node
            .inputs
            .iter()
            .flat_map(|argument| argument.arg.tensors());
        let given = given.filter_map(|name| frame.tensors.get(name).copied());
        let given: Vec<usize> = given.collect();
        let inputs: Vec<&str> = graph.inputs.iter().flat_map(Argument::tensors).collect();
        let results: Vec<&str> = graph.outputs.iter().flat_map(Argument::tensors).collect();
        if given.len() != inputs.len()
            || results.len() != outputs.len()
            || !node.target.contains("higher_order.wrap")
        {
            return Ok(false);
        }
        if frame.depth >= MAX_DEPTH {
            return Err(Problem::new(format!(
                "more than {MAX_DEPTH} of its graphs are inside each other"
            )));
        }
        let given = inputs.into_iter().zip(given).collect();
        let inner = self.graph(graph, given, frame.depth + 1)?;
        for (output, result) in outputs.iter().zip(results) {
            if let (Some(output), Some(&place)) = (output, inner.get(result)) {
                frame.tensors.insert(output, place);
            }
        }
        Ok(true)
    }

    /// Makes what was written into a tensor the tensor, and what was written into a view an op on what the view shows.
    fn written_in_place(
        &mut self,
        node: &'a Node,
        output: &'a str,
        target: &'a str,
        frame: &mut Frame<'a>,
    ) -> Result<(), Problem> {
        let Some(&place) = frame.tensors.get(output) else {
            return Ok(());
        };
        let mut root = frame.same.get(target).copied().unwrap_or(target);
        frame.same.insert(output, root);
        frame.tensors.insert(target, place);
        frame.tensors.insert(root, place);
        let mut place = place;
        let mut steps = 0;
        while let Some(&base) = frame.viewed.get(root) {
            let (Some(meta), Some(&whole)) =
                (frame.graph.tensor_values.get(base), frame.tensors.get(base))
            else {
                break;
            };
            self.written.spend(meta.sizes.len() + 2)?;
            let (shape, is_exact) = self.shape(meta);
            let stated = format!(
                "{}{}",
                dtype_of(meta).name(),
                self.written.params.list(&shape)
            );
            let name = |place: usize| {
                self.written
                    .tensors
                    .get(place)
                    .map_or("", |known| &known.name)
            };
            let operator = named(node);
            let line = format!(
                "y = opaque({}, {}, name={}) : {stated}",
                name(whole),
                name(place),
                written_name(&identifier(operator))
            );
            let ops = statements(&line).unwrap_or_default();
            place = self.write(node, ops, base, is_exact, Some(&operator.to_owned()));
            frame.tensors.insert(base, place);
            root = frame.same.get(base).copied().unwrap_or(base);
            frame.tensors.insert(root, place);
            steps += 1;
            if steps > MAX_DEPTH {
                break;
            }
        }
        Ok(())
    }
}

/// The operator of a node: `aten.add.Tensor`.
fn named(node: &Node) -> &str {
    let target = &node.target;
    let target = target.strip_prefix("torch.ops.").unwrap_or(target);
    target.strip_suffix(".default").unwrap_or(target)
}

/// The names of the tensors in an output, `None` for what is no tensor.
fn output_names(argument: &Argument) -> Vec<Option<&str>> {
    match argument {
        Argument::Tensor(name) => vec![Some(name)],
        Argument::Tensors(names) => names.iter().map(Option::as_deref).collect(),
        _ => vec![None],
    }
}

/// Whether a tensor has the element type of the output, and its shape where that is asked.
fn known_as(call: &Call<'_>, place: usize, has_shape: bool) -> bool {
    call.known(place).is_some_and(|known| {
        known.dtype == Some(call.dtype)
            && (!has_shape || known.shape.as_deref() == Some(call.shape.as_slice()))
    })
}

/// An op that reads all that the node reads.
fn opaque(operator: &str, call: &Call<'_>, counts: bool, stated: &str) -> String {
    let mut seen = HashSet::new();
    let names = call
        .node
        .inputs
        .iter()
        .flat_map(|argument| argument.arg.tensors());
    let places = names.filter_map(|name| call.tensors.get(name).copied());
    let known = places
        .filter(|place| seen.insert(*place))
        .filter_map(|place| call.known(place));
    let mut arguments: Vec<String> = known.map(|known| known.name.clone()).collect();
    arguments.push(format!("name={}", written_name(&identifier(operator))));
    if let Some(flops) = flops(call).filter(|_| counts) {
        arguments.push(format!("flops={}", call.one(&flops)));
    }
    format!("y = opaque({}) : {stated}", arguments.join(", "))
}

/// What an op is called that nothing else gives a name.
fn word_of(op: &OpStatement) -> String {
    let function = op.callee.text.as_str();
    let named = op
        .attributes
        .iter()
        .find(|attribute| attribute.name.text == "name");
    match (function, named.map(|attribute| &attribute.value)) {
        ("opaque", Some(AttributeValue::Word(name))) => {
            let parts = name
                .split('.')
                .filter(|part| !matches!(*part, "aten" | "default"));
            let word = parts.map(|part| part.trim_matches('_')).next();
            word.filter(|word| !word.is_empty())
                .unwrap_or("opaque")
                .to_owned()
        }
        ("sdpa", _) => "attention".to_owned(),
        ("concat", _) => "cat".to_owned(),
        _ => function.to_owned(),
    }
}

/// The element type; types that the notation has not are written as one of as many bytes.
fn dtype_of(meta: &TensorMeta) -> DType {
    match meta.dtype {
        1 | 2 => DType::I8,
        3 | 6 | 28 => DType::F16,
        4 | 34 => DType::I32,
        5 | 35 => DType::I64,
        8 | 10 | 11 => DType::F64,
        12 => DType::Bool,
        13 => DType::Bf16,
        29..=33 => DType::F8,
        _ => DType::F32,
    }
}

/// Whether a tensor is not of complex numbers, with which no function of the notation computes.
fn is_real(meta: &TensorMeta) -> bool {
    !matches!(meta.dtype, 9..=11)
}

fn reads_real(node: &Node, graph: &Graph) -> bool {
    let names = node
        .inputs
        .iter()
        .flat_map(|argument| argument.arg.tensors());
    let mut metas = names.filter_map(|name| graph.tensor_values.get(name));
    metas.all(is_real)
}
