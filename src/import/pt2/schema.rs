//! The JSON of an exported program, of the fields that are needed. `torch/_export/serde/schema.py`
//! of PyTorch describes them.

use crate::Problem;
use fuseline_core::json::{JsonError, read_json};
use fuseline_core::model::dtype::DType;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Versions of the schema whose fields are these: PyTorch 2.5 wrote 7, later ones write 8.
const VERSIONS: std::ops::RangeInclusive<u32> = 7..=8;

/// An exported program.
#[derive(Debug, Deserialize)]
pub(super) struct Exported {
    pub(super) graph_module: GraphModule,
    /// Bounds of symbols.
    #[serde(default)]
    pub(super) range_constraints: HashMap<String, Bounds>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GraphModule {
    pub(super) graph: Graph,
    pub(super) signature: Signature,
}

/// Smallest and largest value of a symbol.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Bounds {
    pub(super) min_val: Option<i64>,
    pub(super) max_val: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Graph {
    pub(super) inputs: Vec<Argument>,
    pub(super) outputs: Vec<Argument>,
    pub(super) nodes: Vec<Node>,
    pub(super) tensor_values: HashMap<String, TensorMeta>,
    #[serde(default)]
    pub(super) sym_int_values: HashMap<String, SymInt>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    /// `torch.ops.aten.add.Tensor`.
    pub(super) target: String,
    pub(super) inputs: Vec<NamedArgument>,
    pub(super) outputs: Vec<Argument>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

/// Where a node comes from.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Metadata {
    /// Frames of Python, the outermost first.
    #[serde(default)]
    pub(super) stack_trace: String,
    /// `key,path,class` of each module, the outermost first, separated by semicolons.
    #[serde(default)]
    pub(super) nn_module_stack: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedArgument {
    /// The name in the operator's schema; empty for operators that take graphs.
    pub(super) name: String,
    pub(super) arg: Argument,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct TensorMeta {
    /// A number of `c10::ScalarType`, plus one.
    pub(super) dtype: u32,
    pub(super) sizes: Vec<SymInt>,
    #[serde(default)]
    pub(super) strides: Vec<SymInt>,
}

/// A size.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SymInt {
    AsInt(i64),
    AsExpr(SymExpr),
}

/// An expression over symbols, and its value at the example inputs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct SymExpr {
    pub(super) expr_str: String,
    #[serde(default)]
    pub(super) hint: Option<Hint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Hint {
    pub(super) as_int: Option<i64>,
}

impl Node {
    /// The operator: `aten.add.Tensor`.
    pub(super) fn operator(&self) -> &str {
        let target = &self.target;
        let target = target.strip_prefix("torch.ops.").unwrap_or(target);
        target.strip_suffix(".default").unwrap_or(target)
    }

    /// Whether its operator writes into its first tensor, as `aten.add_.Tensor` does.
    pub(super) fn writes_in_place(&self) -> bool {
        let packet = self.operator().split('.').nth(1).unwrap_or_default();
        packet.ends_with('_') && !packet.ends_with("__")
    }

    /// The names of the tensors that it reads.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &str> {
        let inputs = self.inputs.iter();
        inputs.flat_map(|argument| argument.arg.tensors())
    }
}

impl TensorMeta {
    /// The element type, that of a part of complex numbers. A type that the notation lacks becomes
    /// one of the same width.
    pub(super) fn dtype(&self) -> DType {
        match self.dtype {
            1 | 2 => DType::I8,
            3 | 6 | 9 | 28 => DType::F16,
            4 | 34 => DType::I32,
            5 | 35 => DType::I64,
            8 | 11 => DType::F64,
            12 => DType::Bool,
            13 => DType::Bf16,
            29 | 31 => DType::F8e4m3,
            30 | 32 => DType::F8e5m2,
            33 => DType::F8e8m0,
            _ => DType::F32,
        }
    }

    /// Whether it has real elements. Complex ones are two numbers in the notation.
    pub(super) fn is_real(&self) -> bool {
        !matches!(self.dtype, 9..=11)
    }

    /// Whether it has no elements at any value of the symbols. The notation has no such tensor.
    pub(super) fn has_no_elements(&self) -> bool {
        self.sizes.contains(&SymInt::AsInt(0))
    }
}

impl SymInt {
    /// The value at the example inputs.
    pub(super) fn hint(&self) -> Option<i64> {
        match self {
            Self::AsInt(value) => Some(*value),
            Self::AsExpr(expr) => expr.hint.and_then(|hint| hint.as_int),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

/// A whole number that is given, or the name of one that is computed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Whole {
    AsInt(i64),
    AsName(String),
}

/// An input or an output of a node.
#[derive(Debug)]
pub(super) enum Argument {
    None,
    Tensor(String),
    /// Tensors, some of which may be left out.
    Tensors(Vec<Option<String>>),
    Int(Whole),
    Ints(Vec<Whole>),
    Float(f64),
    Bool(bool),
    Text(String),
    Graph(Box<Graph>),
    Other,
}

impl Argument {
    /// The names of the tensors in an output, `None` for what is no tensor.
    pub(super) fn tensor_names(&self) -> Vec<Option<&str>> {
        match self {
            Self::Tensor(name) => vec![Some(name)],
            Self::Tensors(names) => names.iter().map(Option::as_deref).collect(),
            _ => vec![None],
        }
    }

    /// The tensors that it names.
    pub(super) fn tensors(&self) -> Vec<&str> {
        match self {
            Self::Tensor(name) => vec![name],
            Self::Tensors(names) => names.iter().flatten().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Optional {
    AsTensor(Named),
    AsNone(IgnoredAny),
}

impl Optional {
    fn name(self) -> Option<String> {
        match self {
            Self::AsTensor(named) => Some(named.name),
            Self::AsNone(_) => None,
        }
    }
}

#[derive(Deserialize)]
struct GraphArgument {
    graph: Graph,
}

/// A float, which is a word where it is not finite.
#[derive(Deserialize)]
#[serde(untagged)]
enum Float {
    Number(f64),
    Word(String),
}

impl Float {
    fn value(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Word(word) => word.parse().unwrap_or(f64::NAN),
        }
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ArgumentVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = Argument;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an argument such as {\"as_tensor\": {\"name\": \"x\"}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Argument, A::Error> {
        let mut argument = Argument::None;
        while let Some(kind) = map.next_key::<Cow<'de, str>>()? {
            argument = match &*kind {
                "as_tensor" => Argument::Tensor(map.next_value::<Named>()?.name),
                "as_tensors" => {
                    let tensors = map.next_value::<Vec<Named>>()?.into_iter();
                    Argument::Tensors(tensors.map(|tensor| Some(tensor.name)).collect())
                }
                "as_optional_tensor" => match map.next_value::<Optional>()?.name() {
                    Some(name) => Argument::Tensor(name),
                    None => Argument::None,
                },
                "as_optional_tensors" => {
                    let tensors = map.next_value::<Vec<Optional>>()?.into_iter();
                    Argument::Tensors(tensors.map(Optional::name).collect())
                }
                "as_int" => Argument::Int(Whole::AsInt(map.next_value()?)),
                "as_ints" => {
                    let ints = map.next_value::<Vec<i64>>()?.into_iter();
                    Argument::Ints(ints.map(Whole::AsInt).collect())
                }
                "as_sym_int" => Argument::Int(map.next_value()?),
                "as_sym_ints" => Argument::Ints(map.next_value()?),
                "as_float" => Argument::Float(map.next_value::<Float>()?.value()),
                "as_bool" => Argument::Bool(map.next_value()?),
                "as_string" => Argument::Text(map.next_value()?),
                "as_graph" => Argument::Graph(Box::new(map.next_value::<GraphArgument>()?.graph)),
                kind => {
                    map.next_value::<IgnoredAny>()?;
                    match kind {
                        "as_none" => Argument::None,
                        _ => Argument::Other,
                    }
                }
            };
        }
        Ok(argument)
    }
}

/// The inputs and outputs of a graph.
#[derive(Debug, Deserialize)]
pub(super) struct Signature {
    pub(super) input_specs: Vec<InputSpec>,
    #[serde(default)]
    pub(super) output_specs: Vec<OutputSpec>,
}

/// What the module holds for an input of the graph; the caller passes all other inputs.
#[derive(Debug, Deserialize)]
pub(super) struct InputSpec {
    pub(super) parameter: Option<State>,
    pub(super) buffer: Option<State>,
}

/// What becomes of an output of the graph, if it is the new value of a buffer or an input.
#[derive(Debug, Deserialize)]
pub(super) struct OutputSpec {
    pub(super) buffer_mutation: Option<State>,
    pub(super) user_input_mutation: Option<State>,
}

/// A parameter, a buffer or an input of the module.
#[derive(Debug, Deserialize)]
pub(super) struct State {
    pub(super) arg: Argued,
    #[serde(
        alias = "parameter_name",
        alias = "buffer_name",
        alias = "user_input_name"
    )]
    pub(super) path: String,
}

/// The name of an input or an output in the graph.
#[derive(Debug, Deserialize)]
pub(super) struct Argued {
    pub(super) name: String,
}

#[derive(Deserialize)]
struct Head {
    schema_version: Option<Version>,
}

#[derive(Deserialize)]
struct Version {
    major: u32,
    minor: u32,
}

/// The program that a JSON text holds.
///
/// # Errors
/// When the text is no exported program, or has a version that is not read.
pub(super) fn read(json: &str) -> Result<Exported, Problem> {
    let unreadable =
        |problem: JsonError| Problem::new(format!("its graph cannot be read: {problem}"));
    let head: Head = read_json(json).map_err(unreadable)?;
    match head.schema_version {
        Some(version) if VERSIONS.contains(&version.major) => {}
        Some(Version { major, minor }) => {
            return Err(Problem::new(format!(
                "its graph has schema version {major}.{minor}, and Fuseline reads versions {} to {}, which PyTorch 2.5 and newer write",
                VERSIONS.start(),
                VERSIONS.end()
            )));
        }
        None => {
            return Err(Problem::new(
                "its graph lacks the `schema_version` of an exported program",
            ));
        }
    }
    read_json(json).map_err(unreadable)
}
