//! Writes a program from the nodes of an exported program.

use crate::params::Chosen;
use crate::pt2::blocks::folded;
use crate::pt2::in_place::{VIEWS, View};
use crate::pt2::mutations::written_slices;
use crate::pt2::naming::{Origin, give_names};
use crate::pt2::output::Operator;
use crate::pt2::overwritten::write_in_place;
use crate::pt2::schema::{Argument, Exported, Graph, Node, TensorMeta, read};
use crate::pt2::symbols::Symbols;
use crate::shapes::Sizes;
use crate::size::Size;
use crate::writer::{Known, Writer};
use crate::{Imported, Problem};
use fuseline_core::model::op::TensorRole;
use std::collections::{HashMap, HashSet};

/// In the place of the index of a tensor that the program lacks, such as a view of no elements.
pub(super) const NO_TENSOR: usize = usize::MAX;

/// Deepest nesting of graphs.
pub(super) const MAX_DEPTH: usize = 16;

/// The program of an exported program, whose JSON [`super::Archive`] gives. Ops that no output
/// needs are left out. Params have these values, the others their defaults. Near linear in nodes
/// and reads.
///
/// # Errors
/// What is wrong with the model, as the end of a sentence.
pub fn import(json: &str, values: &[(String, i64)]) -> Result<Imported, Problem> {
    import_exported(&read(json)?, values)
}

/// The same of an exported program that has been read.
///
/// # Errors
/// As [`import`].
pub(super) fn import_exported(
    exported: &Exported,
    values: &[(String, i64)],
) -> Result<Imported, Problem> {
    let mut written = Writer::new(Chosen::of(values));
    let symbols = Symbols::declared(exported, &mut written)?;
    let mut import = Import {
        written,
        symbols: &symbols,
        origins: HashMap::new(),
        notes: Vec::new(),
        written_slices: written_slices(exported),
    };
    let graph = &exported.graph_module.graph;
    let given = import.externals(exported)?;
    let tensors = import.graph(graph, given.clone(), 0)?;
    let (overwritten, outputs) = import.overwritten(exported, &given, &tensors)?;
    let Import {
        written,
        origins,
        notes,
        ..
    } = import;
    let mut imported = written.finish(&outputs)?;
    imported.notes.extend(notes);
    write_in_place(&mut imported.program, &overwritten);
    imported.program = folded(imported.program, &origins);
    imported.sources = give_names(&mut imported.program, &origins);
    Ok(imported)
}

pub(super) struct Import<'a> {
    pub(super) written: Writer,
    pub(super) symbols: &'a Symbols<'a>,
    /// Where each op comes from, by the name of its output.
    pub(super) origins: HashMap<String, Origin>,
    /// What counts otherwise than it runs, a sentence each.
    pub(super) notes: Vec<String>,
    /// Tensors of the graph that are inputs with a new value of a slice.
    pub(super) written_slices: HashSet<&'a str>,
}

/// A graph during its import.
pub(super) struct Frame<'a> {
    pub(super) graph: &'a Graph,
    /// Indices of tensors by their name.
    pub(super) tensors: HashMap<&'a str, usize>,
    /// The inputs of the graph.
    pub(super) given: HashSet<&'a str>,
    /// Tensors that a result needs, or a write in place.
    pub(super) needed: HashSet<&'a str>,
    /// What each view shows.
    pub(super) viewed: HashMap<&'a str, View<'a>>,
    /// The tensor that each result of an operator in place is.
    pub(super) same: HashMap<&'a str, &'a str>,
    pub(super) depth: usize,
}

impl<'a> Import<'a> {
    /// Declares inputs, parameters and buffers; gives their indices.
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
                    dtype: Some(meta.dtype()),
                    shape: Some(self.shape(meta).0),
                    ..Known::default()
                };
                let index = self.written.tensor(known);
                self.written.external.push((index, role));
                given.insert(name, index);
            }
        }
        Ok(given)
    }

    /// The sizes of a tensor, with 2 behind them for complex elements, and whether the notation can
    /// express them.
    pub(super) fn shape(&self, meta: &TensorMeta) -> (Sizes, bool) {
        let sizes = meta.sizes.iter().map(|size| self.symbols.size(size));
        let (mut sizes, exact): (Vec<_>, Vec<bool>) = sizes.unzip();
        if !meta.is_real() {
            sizes.push(Size::from(2));
        }
        (sizes, exact.into_iter().all(|is_exact| is_exact))
    }

    /// Imports a graph whose inputs are `given`; gives the indices of all its tensors.
    pub(super) fn graph(
        &mut self,
        graph: &'a Graph,
        given: HashMap<&'a str, usize>,
        depth: usize,
    ) -> Result<HashMap<&'a str, usize>, Problem> {
        let mut frame = Frame {
            graph,
            given: given.keys().copied().collect(),
            tensors: given,
            needed: needed(graph),
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
        let outputs: Vec<Option<&str>> = node
            .outputs
            .iter()
            .flat_map(Argument::tensor_names)
            .collect();
        let is_needed = |output: &&str| frame.needed.contains(*output);
        if !node.writes_in_place() && !outputs.iter().flatten().any(is_needed) {
            return Ok(());
        }
        let mut weight = outputs.len();
        for name in node.tensors() {
            let Some(&index) = frame.tensors.get(name) else {
                return Err(Problem::new(format!(
                    "its node {} reads `{name}`, which no earlier node writes",
                    node.target
                )));
            };
            weight += 1 + self.written.rank(index);
        }
        self.written.spend(weight.saturating_mul(outputs.len()))?;
        self.refresh(node, frame)?;
        if self.inlined(node, &outputs, frame)? {
            return Ok(());
        }
        let target = node.operator();
        let (namespace, rest) = target.split_once('.').unwrap_or(("", target));
        let (packet, overload) = rest.split_once('.').unwrap_or((rest, ""));
        let in_place = packet.strip_suffix('_').filter(|_| node.writes_in_place());
        let name = match namespace {
            "aten" => in_place.unwrap_or(packet),
            // The table has operators of libraries with their namespace.
            _ => target,
        };
        let used = outputs.iter().enumerate();
        let used = used.filter_map(|(index, output)| {
            let output = output.filter(|output| frame.needed.contains(output))?;
            Some((index, output, frame.graph.tensor_values.get(output)?))
        });
        let mut used: Vec<(usize, &'a str, &'a TensorMeta)> = used.collect();
        let is_list = node
            .outputs
            .iter()
            .any(|output| matches!(output, Argument::Tensors(_)));
        if !is_list {
            // Indices come before the values at them.
            used.reverse();
        }
        // The result of a write in place may be unread, but readers of its tensor see the write.
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
        let has_no_elements = |&(.., meta): &(usize, &str, &TensorMeta)| meta.has_no_elements();
        let shows_or_writes = in_place.is_some() || namespace == "aten" && VIEWS.contains(&name);
        if shows_or_writes && used.iter().all(has_no_elements) {
            // A view of nothing, and a write of nothing, are no ops.
            let empty = used.iter().map(|&(_, output, _)| (output, NO_TENSOR));
            frame.tensors.extend(empty);
            return Ok(());
        }
        let mut parts = Vec::new();
        for &used in &used {
            parts.extend(self.output(node, &operator, used, frame)?);
        }
        self.opaque(node, parts, frame);
        let first = node.tensors().next();
        let Some(first) = first.filter(|_| namespace == "aten") else {
            return Ok(());
        };
        if in_place.is_some()
            && let Some(Some(output)) = operator.outputs.first()
        {
            self.written_in_place(node, output, first, frame)?;
        } else if VIEWS.contains(&name) {
            let Some(&of) = frame.tensors.get(first) else {
                return Ok(());
            };
            let outputs = operator.outputs.iter().flatten();
            let views = outputs.map(|&output| (output, View { base: first, of }));
            frame.viewed.extend(views);
        }
        Ok(())
    }
}

/// The tensors of a graph that a result needs, or a write in place. Linear in nodes and reads.
fn needed(graph: &Graph) -> HashSet<&str> {
    let outputs = graph.outputs.iter().flat_map(Argument::tensors);
    let mut needed: HashSet<&str> = outputs.collect();
    for node in graph.nodes.iter().rev() {
        let mut outputs = node.outputs.iter().flat_map(Argument::tensors);
        if node.writes_in_place() || outputs.any(|output| needed.contains(output)) {
            needed.extend(node.tensors());
        }
    }
    needed
}
