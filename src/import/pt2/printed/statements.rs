//! Reads the statements of a printed graph.

use crate::pt2::operators;
use crate::pt2::printed::schemas::arguments_of;
use crate::pt2::printed::signature::States;
use crate::pt2::printed::strides::strides_of;
use crate::pt2::printed::values::{Named, is_name, keyed, parts, value};
use crate::pt2::schema::{
    Argument, Graph, Metadata, NamedArgument, Node, SymExpr, SymInt, TensorMeta,
};
use std::collections::HashMap;

/// A graph of which some statements have been read.
#[derive(Debug, Default)]
pub(super) struct Building<'a> {
    pub(super) graph: Graph,
    /// Parameters that the graph reads from its module: their names and paths.
    pub(super) read: Vec<(String, String)>,
    /// The node of each list of results, by its name.
    lists: HashMap<&'a str, usize>,
    /// The class of each inner graph, by the name that the graph gives it.
    modules: HashMap<&'a str, &'a str>,
    /// The first name of a tensor that has several.
    same: HashMap<&'a str, String>,
}

/// The line of Python that statements come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    place: &'a str,
    line: &'a str,
    function: &'a str,
    code: &'a str,
}

impl<'a> Source<'a> {
    /// Of `File: model.py:12 in forward, code: return self.up(x)`.
    pub(super) fn of(comment: &'a str) -> Option<Self> {
        let (place, code) = comment.strip_prefix("File: ")?.split_once(", code: ")?;
        let (place, function) = place.rsplit_once(" in ")?;
        let (place, line) = place.rsplit_once(':')?;
        Some(Self {
            place,
            line,
            function,
            code,
        })
    }

    fn stack_trace(self) -> String {
        let Self {
            place,
            line,
            function,
            code,
        } = self;
        format!("File \"{place}\", line {line}, in {function}\n    {code}")
    }
}

/// What PyTorch prints behind a name.
enum Type {
    Tensor(TensorMeta),
    Size(SymInt),
}

impl<'a> Building<'a> {
    /// Takes `self, x: "f32[8, 512]", s77: "Sym(s77)"`.
    pub(super) fn inputs(&mut self, parameters: &str) {
        for part in parts(parameters) {
            let (name, annotation) = part.split_once(':').unwrap_or((part, ""));
            let name = name.trim();
            if name == "self" {
                continue;
            }
            // The type of an input may stand in a line of its own below.
            self.graph.inputs.push(Argument::Tensor(name.to_owned()));
            if let Some(of_name) = type_of(annotation) {
                self.remember(name, of_name);
            }
        }
    }

    /// Takes `(mean, getitem_2)`, or one name, or a list that is put into the form of a result.
    pub(super) fn outputs(&mut self, result: &str) {
        let is_name = |c: char| c == '_' || c.is_alphanumeric();
        for name in result.split(|c| !is_name(c)) {
            if let Some((Named::Tensor, name)) = self.named(name) {
                self.graph.outputs.push(Argument::Tensor(name));
            }
        }
    }

    /// Takes a line of the graph. One that computes no tensor and no size has no effect.
    pub(super) fn statement(
        &mut self,
        line: &'a str,
        source: Option<Source<'_>>,
        states: &States<'_>,
        inner: &mut HashMap<&'a str, Graph>,
    ) {
        // `relu: "f32[8, 512]" = torch.ops.aten.relu.default(x);  x = None`
        let line = line
            .split(";  ")
            .next()
            .unwrap_or(line)
            .trim_end_matches([';', ' ']);
        let (target, value) = match line.split_once(" = ") {
            Some((target, value)) => (target, Some(value)),
            None => (line, None),
        };
        let (name, annotation) = target.split_once(": ").unwrap_or((target, ""));
        if !is_name(name) {
            return;
        }
        let of_name = type_of(annotation);
        let Some(value) = value else {
            if let Some(of_name) = of_name {
                self.remember(name, of_name);
            }
            return;
        };
        if let Some((target, arguments)) = call(value) {
            if let Some(Type::Size(_)) = &of_name {
                self.typed(name, of_name);
            } else {
                self.call(name, of_name, (target, arguments), source, states, inner);
            }
        } else if let Some(path) = value.strip_prefix("self.") {
            match of_name {
                Some(Type::Tensor(_)) => {
                    self.graph.inputs.push(Argument::Tensor(name.to_owned()));
                    self.read.push((name.to_owned(), path.to_owned()));
                    self.typed(name, of_name);
                }
                _ => {
                    self.modules.insert(name, path);
                }
            }
        } else if let Some((list, index)) = item(value) {
            self.item(name, of_name, list, index);
        } else {
            self.typed(name, of_name);
        }
    }

    fn typed(&mut self, name: &str, of_name: Option<Type>) {
        if let Some(of_name) = of_name {
            self.remember(name, of_name);
        }
    }

    fn remember(&mut self, name: &str, of_name: Type) {
        let name = name.to_owned();
        match of_name {
            Type::Tensor(meta) => {
                self.graph.tensor_values.insert(name, meta);
            }
            Type::Size(size) => {
                self.graph.sym_int_values.insert(name, size);
            }
        }
    }

    /// What a name stands for, and the name that the graph knows it by.
    fn named(&self, name: &str) -> Option<(Named, String)> {
        if self.graph.sym_int_values.contains_key(name) {
            return Some((Named::Size, name.to_owned()));
        }
        let name = self.same.get(name).map_or(name, String::as_str);
        // A result without a type is refused where something reads it.
        let is_tensor =
            self.graph.tensor_values.contains_key(name) || self.lists.contains_key(name);
        is_tensor.then(|| (Named::Tensor, name.to_owned()))
    }

    fn call(
        &mut self,
        name: &'a str,
        of_name: Option<Type>,
        (target, arguments): (&'a str, &'a str),
        source: Option<Source<'_>>,
        states: &States<'_>,
        inner: &mut HashMap<&'a str, Graph>,
    ) {
        let mut names = arguments_of(target);
        let mut inputs = Vec::new();
        for part in parts(arguments) {
            let (key, text) = keyed(part);
            let argument = match self.modules.get(text).and_then(|class| inner.remove(class)) {
                Some(graph) => Argument::Graph(Box::new(graph)),
                None => value(text, &|name| self.named(name)),
            };
            let position = names.next().unwrap_or_default();
            inputs.push(NamedArgument {
                name: key.unwrap_or(position).to_owned(),
                arg: argument,
            });
        }
        let mut node = Node {
            target: format!("torch.ops.{target}"),
            inputs,
            outputs: Vec::new(),
            metadata: Metadata {
                stack_trace: source.map(Source::stack_trace).unwrap_or_default(),
                nn_module_stack: String::new(),
            },
        };
        node.metadata.nn_module_stack = module_of(&node, states).unwrap_or_default();
        match of_name {
            Some(Type::Tensor(mut meta)) => {
                if meta.strides.is_empty() {
                    meta.strides = strides_of(&node, &meta.sizes, &self.graph.tensor_values);
                }
                node.outputs.push(Argument::Tensor(name.to_owned()));
                self.remember(name, Type::Tensor(meta));
            }
            _ => {
                self.lists.insert(name, self.graph.nodes.len());
            }
        }
        self.graph.nodes.push(node);
    }

    /// Takes `getitem: "f32[8, 256]" = chunk[0]`.
    fn item(&mut self, name: &'a str, of_name: Option<Type>, list: &str, index: usize) {
        let node = self.lists.get(list);
        let node = node.and_then(|&node| self.graph.nodes.get_mut(node));
        let (Some(node), Some(Type::Tensor(mut meta))) = (node, of_name) else {
            return;
        };
        let operator = node.operator().strip_prefix("aten.").unwrap_or_default();
        let (packet, overload) = operator.split_once('.').unwrap_or((operator, ""));
        let is_list = operators::find(packet, overload).is_some_and(|row| row.is_list);
        let place = if is_list {
            if node.outputs.is_empty() {
                node.outputs.push(Argument::Tensors(Vec::new()));
            }
            match node.outputs.first_mut() {
                Some(Argument::Tensors(names)) => {
                    while names.len() <= index {
                        names.push(Some(format!("{list}#{}", names.len())));
                    }
                    names.get_mut(index).and_then(Option::as_mut)
                }
                _ => None,
            }
        } else {
            while node.outputs.len() <= index {
                // No reader has a name with this mark: what nothing reads is not imported.
                let unread = format!("{list}#{}", node.outputs.len());
                node.outputs.push(Argument::Tensor(unread));
            }
            match node.outputs.get_mut(index) {
                Some(Argument::Tensor(name)) => Some(name),
                _ => None,
            }
        };
        let Some(place) = place else { return };
        if place.contains('#') {
            name.clone_into(place);
            if meta.strides.is_empty() {
                meta.strides = strides_of(node, &meta.sizes, &self.graph.tensor_values);
            }
            self.remember(name, Type::Tensor(meta));
        } else {
            let first = place.clone();
            self.same.insert(name, first);
        }
    }
}

/// Largest index of a result: a larger one is none of a graph.
const MAX_RESULTS: usize = 10_000;

/// The operator and the arguments of `torch.ops.aten.relu.default(x)`.
fn call(value: &str) -> Option<(&str, &str)> {
    let (target, arguments) = value.strip_prefix("torch.ops.")?.split_once('(')?;
    let target = match target {
        // torch.compile's name for the same.
        "prims.convert_element_type.default" => "aten._to_copy.default",
        target => target,
    };
    Some((target, arguments.strip_suffix(')')?))
}

/// The name and the index of `chunk[0]`.
fn item(value: &str) -> Option<(&str, usize)> {
    let (list, index) = value.strip_suffix(']')?.split_once('[')?;
    let index = index.parse().ok().filter(|&index| index < MAX_RESULTS)?;
    is_name(list).then_some((list, index))
}

/// The module whose own parameters a node reads, as a `.pt2` file names it. A printed graph does
/// not name modules otherwise.
fn module_of(node: &Node, states: &States<'_>) -> Option<String> {
    let paths = node.inputs.iter().filter_map(|input| match &input.arg {
        Argument::Tensor(name) => states.path(name),
        _ => None,
    });
    let mut modules = paths.filter_map(|path| {
        let (module, parameter) = path.rsplit_once('.')?;
        ["weight", "bias"].contains(&parameter).then_some(module)
    });
    let module = modules.next()?;
    (!module.contains([',', ';'])).then(|| format!("{module},{module},"))
}

/// The type in `"f32[8, 512][512, 1]cuda:0"` or `"Sym(2*s77)"`.
fn type_of(annotation: &str) -> Option<Type> {
    let text = annotation.trim().trim_matches(['"', '\'']);
    if let Some(size) = text.strip_prefix("Sym(") {
        return Some(Type::Size(size_of(size.strip_suffix(')')?)));
    }
    let (element, rest) = text.split_once('[')?;
    let (sizes, rest) = rest.split_once(']')?;
    let strides = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let list = |text| parts(text).into_iter().map(size_of).collect();
    Some(Type::Tensor(TensorMeta {
        dtype: element_type(element)?,
        sizes: list(sizes),
        strides: strides
            .map(|(strides, _)| list(strides))
            .unwrap_or_default(),
    }))
}

fn size_of(text: &str) -> SymInt {
    match text.parse() {
        Ok(value) => SymInt::AsInt(value),
        Err(_) => SymInt::AsExpr(SymExpr {
            expr_str: text.to_owned(),
            hint: None,
        }),
    }
}

/// The number of an element type in a `.pt2` file, by PyTorch's short name
/// (`torch/utils/_dtype_abbrs.py`).
fn element_type(name: &str) -> Option<u32> {
    let names = [
        ("u8", 1),
        ("i8", 2),
        ("i16", 3),
        ("i32", 4),
        ("i64", 5),
        ("f16", 6),
        ("f32", 7),
        ("f64", 8),
        ("c32", 9),
        ("c64", 10),
        ("c128", 11),
        ("b8", 12),
        ("bf16", 13),
        ("u16", 28),
        ("f8e4m3fn", 29),
        ("f8e5m2", 30),
        ("f8e4m3fnuz", 31),
        ("f8e5m2fnuz", 32),
        ("f8e8m0fnu", 33),
        ("u32", 34),
        ("u64", 35),
    ];
    let number = names.iter().find(|(own, _)| *own == name);
    number.map(|(_, number)| *number)
}
