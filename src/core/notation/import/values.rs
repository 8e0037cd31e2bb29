//! Unchecked values of a list of ops. Reading accepts almost any value, so that a wrong one costs only its own
//! op and not the whole list.

use crate::core::json::Json;

/// A JSON list of ops, plain or as an object `{"ops": [..], "tensors": ..}`; other fields are ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpList {
    /// The ops, in list order.
    pub ops: Vec<OpEntry>,
    /// Declared external tensors, from a map by name or a list.
    pub tensors: Vec<TensorEntry>,
}

/// One op of the list: the fields of [`crate::core::Op`], unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpEntry {
    /// The op's name; its output when missing.
    pub name: Value,
    /// `elementwise`, `reduction`, `matmul` or `reshape`.
    pub op_type: Value,
    /// Names of the tensors read.
    pub inputs: Value,
    /// Name of the tensor written.
    pub output: Value,
    /// Sizes of the output, outermost first.
    pub shape: Value,
    /// Bytes of one output element.
    pub bytes_per_element: Value,
    /// Function of the table; optional.
    pub function: Value,
    /// Element type; optional beside `bytes_per_element`.
    pub dtype: Value,
    /// Contraction length K of a matmul; optional.
    pub contraction: Value,
    /// Number of the kernel that the op is meant to run in; optional.
    pub kernel: Value,
}

/// One tensor of the list: the fields of [`crate::core::TensorDecl`], unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorEntry {
    /// Its name.
    pub name: Value,
    /// Sizes, outermost first.
    pub shape: Value,
    /// Bytes of one element.
    pub bytes_per_element: Value,
    /// `input` or `weight`; optional.
    pub role: Value,
    /// Element type; optional beside `bytes_per_element`.
    pub dtype: Value,
}

/// The value of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Missing, or `null`.
    #[default]
    Missing,
    /// A single value.
    One(Scalar),
    /// A list of single values.
    Many(Vec<Scalar>),
}

/// A value that is not a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A string.
    Text(String),
    /// A Boolean, an object, or a nested list.
    Other,
}

impl OpList {
    /// The list in `json`. `O(json)`.
    ///
    /// # Errors
    /// A message for the user if `json` is not a list of ops.
    pub fn new(json: Json) -> Result<Self, &'static str> {
        let (ops, tensors) = match json {
            Json::List(ops) => (Some(ops), Json::Null),
            Json::Object(fields) => {
                let (mut ops, mut tensors) = (None, Json::Null);
                for (name, value) in fields {
                    match (name.as_str(), value) {
                        ("ops", Json::List(list)) => ops = Some(list),
                        ("tensors", value) => tensors = value,
                        _ => {}
                    }
                }
                (ops, tensors)
            }
            _ => (None, Json::Null),
        };
        Ok(Self {
            ops: (ops.ok_or("it is neither a list of ops nor an object with a list `ops`")?)
                .into_iter()
                .map(OpEntry::new)
                .collect(),
            tensors: tensor_entries(tensors)?,
        })
    }
}

impl OpEntry {
    /// An element that is not an object becomes an entry without fields.
    fn new(json: Json) -> Self {
        let mut entry = Self::default();
        for (name, value) in fields(json) {
            if let Some(field) = entry.field(&name) {
                *field = Value::new(value);
            }
        }
        entry
    }

    /// The field of this name; other fields are ignored.
    pub(super) fn field(&mut self, name: &str) -> Option<&mut Value> {
        Some(match name {
            "name" => &mut self.name,
            "op_type" => &mut self.op_type,
            "inputs" => &mut self.inputs,
            "output" => &mut self.output,
            "shape" => &mut self.shape,
            "bytes_per_element" => &mut self.bytes_per_element,
            "function" => &mut self.function,
            "dtype" => &mut self.dtype,
            "contraction" => &mut self.contraction,
            "kernel" => &mut self.kernel,
            _ => return None,
        })
    }
}

impl TensorEntry {
    fn new(json: Json) -> Self {
        let mut entry = Self::default();
        for (name, value) in fields(json) {
            let field = match name.as_str() {
                "name" => &mut entry.name,
                "shape" => &mut entry.shape,
                "bytes_per_element" => &mut entry.bytes_per_element,
                "role" => &mut entry.role,
                "dtype" => &mut entry.dtype,
                _ => continue,
            };
            *field = Value::new(value);
        }
        entry
    }
}

impl Value {
    fn new(json: Json) -> Self {
        match json {
            Json::Null => Self::Missing,
            Json::List(list) => Self::Many(list.into_iter().map(Scalar::new).collect()),
            json => Self::One(Scalar::new(json)),
        }
    }
}

impl Scalar {
    fn new(json: Json) -> Self {
        match json {
            Json::Integer(number) => Self::Integer(number),
            Json::Number(number) => Self::Number(number),
            Json::Text(text) => Self::Text(text),
            Json::Null | Json::List(_) | Json::Object(_) | Json::Other => Self::Other,
        }
    }
}

/// Tensors from a list, or from an object that maps names to tensors.
///
/// # Errors
/// A message for the user if `json` is neither.
pub fn tensor_entries(json: Json) -> Result<Vec<TensorEntry>, &'static str> {
    match json {
        Json::Null => Ok(Vec::new()),
        Json::List(list) => Ok(list.into_iter().map(TensorEntry::new).collect()),
        Json::Object(named) => Ok(named
            .into_iter()
            .map(|(name, tensor)| TensorEntry {
                name: Value::One(Scalar::Text(name)),
                ..TensorEntry::new(tensor)
            })
            .collect()),
        _ => Err("its `tensors` are neither a list nor an object of tensors by name"),
    }
}

fn fields(json: Json) -> Vec<(String, Json)> {
    match json {
        Json::Object(fields) => fields,
        _ => Vec::new(),
    }
}
