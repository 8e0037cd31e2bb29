//! Unchecked values of a list of ops. Reading accepts almost any value, so that a wrong one costs
//! only its own op and not the whole list.

use super::graph_collection::{Graph, entries};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The fields of an op, in the order of Python's call.
pub(super) const FIELDS: [&str; 10] = [
    "name",
    "op_type",
    "inputs",
    "output",
    "shape",
    "bytes_per_element",
    "function",
    "dtype",
    "contraction",
    "kernel",
];

/// A JSON list of ops, plain or as an object `{"ops": [..], "tensors": ..}`, or a graph of Model
/// Explorer; other fields are ignored.
///
/// An entry of `ops` is an object with the fields of [`crate::Op`]: `op_type`, `inputs`, `output`,
/// `shape`, and `bytes_per_element` or `dtype`. Optional are `name`, `function`, `contraction`,
/// `kernel`, `is_output`, `in_place`, `attributes` (an object with the attributes of the function
/// in the notation) and `literals` (the numbers among the inputs, by position).
///
/// An entry of `tensors` has the fields of [`crate::TensorDecl`]: `name`, `shape`, and
/// `bytes_per_element` or `dtype`; `role` is optional. `null` means a missing field.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Form")]
pub struct OpList {
    /// The ops, in list order.
    pub ops: Vec<Value>,
    /// Declared external tensors, each with its name.
    pub tensors: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of ops, an object with a list `ops` and optionally `tensors`, or a graph of Model Explorer with a list `graphs`"
)]
enum Form {
    /// A collection of Model Explorer. It comes before a list of ops, which would accept any
    /// values.
    Collections([Collection; 1]),
    Ops(Vec<Value>),
    Program {
        ops: Vec<Value>,
        tensors: Option<Tensors>,
    },
    Graphs {
        graphs: Vec<Graph>,
    },
}

#[derive(Deserialize)]
struct Collection {
    graphs: Vec<Graph>,
}

impl From<Form> for OpList {
    fn from(form: Form) -> Self {
        let (ops, tensors) = match form {
            Form::Ops(ops) => (ops, None),
            Form::Program { ops, tensors } => (ops, tensors),
            Form::Graphs { graphs } | Form::Collections([Collection { graphs }]) => {
                let (ops, tensors) = entries(graphs);
                (ops, Some(Tensors::List(tensors)))
            }
        };
        Self {
            ops,
            tensors: tensors.map(Vec::from).unwrap_or_default(),
        }
    }
}

/// Declarations of external tensors.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of tensors, or an object of tensors by name"
)]
pub enum Tensors {
    /// Each with its name.
    List(Vec<Value>),
    /// Each under its name as the key.
    ByName(Map<String, Value>),
}

impl From<Tensors> for Vec<Value> {
    fn from(tensors: Tensors) -> Self {
        match tensors {
            Tensors::List(list) => list,
            Tensors::ByName(named) => named.into_iter().map(with_name).collect(),
        }
    }
}

fn with_name((name, tensor): (String, Value)) -> Value {
    let mut fields = match tensor {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    fields.insert("name".to_owned(), Value::String(name));
    Value::Object(fields)
}
