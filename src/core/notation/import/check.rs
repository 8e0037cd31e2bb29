//! Checks the entries of a list and converts them to ops; each invalid entry gets one diagnostic.

use super::entry::{Entry, whole};
use super::statements;
use crate::model::diagnostic::{Code, Diagnostic, Severity, Span};
use crate::model::dtype::DType;
use crate::model::element_size::ElementSize;
use crate::model::functions::Function;
use crate::model::op::{Op, TensorDecl, TensorRole};
use crate::model::op_type::OpType;
use crate::model::program::{Attribute, AttributeValue, Literal};
use crate::notation::infinity::is_infinity;
use crate::notation::is_literal;
use crate::notation::parser::unknown_dtype;
use crate::notation::spelling::{quoted, shortened};
use serde_json::{Map, Number, Value};
use std::fmt::Display;
use strsim::osa_distance;
use strum::VariantArray;

impl Entry<'_> {
    /// A warning about an attribute that the function of the op does not take.
    pub(super) fn left_out(&self, attribute: &Attribute) -> Diagnostic {
        let what = format!(
            "its function takes no attribute {} with this value, so the import drops the attribute",
            quoted(&attribute.name.text)
        );
        let mut doubt = self.error(Code::UnknownAttribute, "attributes", what);
        doubt.severity = Severity::Warning;
        doubt.hint("use the attributes of the notation")
    }

    /// The attributes of the call of [`Op::function`].
    pub(super) fn attributes(&self) -> Result<Vec<Attribute>, Diagnostic> {
        let fields = match self.value("attributes") {
            None => return Ok(Vec::new()),
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                return Err(self
                    .malformed("attributes", "`attributes` is not an object")
                    .hint("write `{\"axis\": 0, \"keepdim\": false}`"));
            }
        };
        let attribute = |(name, value): (&String, &Value)| {
            let value = attribute_value(value).ok_or_else(|| {
                let what = format!(
                    "the notation has no such value for the attribute {}",
                    quoted(name)
                );
                self.malformed("attributes", what)
                    .hint("use a number, a list of whole numbers, true, false or a word")
            })?;
            Ok(statements::attribute(name, value))
        };
        fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(attribute)
            .collect()
    }

    fn op_type(&self) -> Result<OpType, Diagnostic> {
        let name = self
            .text("op_type")?
            .ok_or_else(|| self.missing("op_type"))?;
        name.parse().map_err(|_| {
            let nearest = OpType::VARIANTS
                .iter()
                .copied()
                .min_by_key(|known| osa_distance(&shortened(name), known.name()))
                .unwrap_or(OpType::Elementwise);
            let hint = match Function::from_name(name) {
                Some(function) => format!(
                    "`{name}` is a function: use `{}` and give it as `function`",
                    function.row().op_type.name()
                ),
                None => format!(
                    "use elementwise, reduction, matmul, reshape or opaque; did you mean `{}`?",
                    nearest.name()
                ),
            };
            let what = format!("there is no op type {}", quoted(name));
            self.error(Code::UnknownOpType, "op_type", what).hint(hint)
        })
    }

    fn inputs(&self) -> Result<Vec<String>, Diagnostic> {
        const HINT: &str = "name the tensors: `[\"x\", \"w\"]`";
        match self.value("inputs") {
            Some(Value::Array(names)) => {
                let names = names.iter().map(|name| name.as_str().map(str::to_owned));
                names.collect::<Option<_>>().ok_or_else(|| {
                    self.malformed("inputs", "`inputs` contains something other than names")
                        .hint(HINT)
                })
            }
            Some(Value::String(name)) => Ok(vec![name.clone()]),
            Some(_) => Err(self
                .malformed("inputs", "`inputs` is not a list")
                .hint(HINT)),
            None => Err(self.missing("inputs")),
        }
    }

    fn shape(&self) -> Result<Vec<u64>, Diagnostic> {
        match self.value("shape") {
            Some(Value::Array(sizes)) => {
                sizes.iter().map(|size| self.size(size, "shape")).collect()
            }
            // Python's `(1024)` is a number.
            Some(size) => Ok(vec![self.size(size, "shape")?]),
            None => Err(self.missing("shape")),
        }
    }

    fn kernel(&self) -> Result<Option<u32>, Diagnostic> {
        let Some(value) = self.value("kernel") else {
            return Ok(None);
        };
        let number = value.as_number().and_then(whole);
        match number.and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(self
                .malformed("kernel", "`kernel` is not a kernel number")
                .hint("give ops of one kernel the same whole number, such as 3")),
        }
    }

    /// The size of an element and its type, from either or both fields.
    fn element(&self) -> Result<(ElementSize, Option<DType>), Diagnostic> {
        const BYTES: &str = "bytes_per_element";
        let named = match self.text("dtype")? {
            Some(name) => Some(name.parse::<DType>().map_err(|_| {
                let unknown = unknown_dtype(name);
                let mut error = self.error(unknown.code, "dtype", &unknown.message);
                error.hint = unknown.hint;
                error
            })?),
            None => None,
        };
        let half = ElementSize::HALF_BYTE;
        let is_half = self.value(BYTES).and_then(Value::as_f64) == Some(half.bytes());
        let size = if is_half {
            half
        } else {
            match (self.one_size(BYTES)?, named) {
                (Some(bytes), _) => {
                    let known = u32::try_from(bytes).map(ElementSize::of_bytes);
                    known.map_err(|_| self.unknown_size(format_args!("{bytes} bytes")))?
                }
                (None, Some(dtype)) => return Ok((dtype.size(), named)),
                (None, None) => return Err(self.missing(BYTES)),
            }
        };
        match named {
            Some(dtype) if dtype.size() != size => Err(self
                .error(
                    Code::UnknownDtype,
                    "dtype",
                    format!(
                        "{} has {}, not {}",
                        dtype.name(),
                        dtype.size(),
                        size.bytes()
                    ),
                )
                .hint("remove or correct one of `dtype` and `bytes_per_element`")),
            _ => Ok((size, named)),
        }
    }

    /// Checks that an element type has this size, because the notation names a type.
    pub(super) fn check_size(&self, size: ElementSize) -> Result<(), Diagnostic> {
        match DType::float_of_size(size) {
            Some(_) => Ok(()),
            None => Err(self.unknown_size(size)),
        }
    }

    fn unknown_size(&self, size: impl Display) -> Diagnostic {
        let what = format!("no element type has {size}");
        self.error(Code::UnknownDtype, "bytes_per_element", what)
            .hint("use 0.5, 1, 2, 4 or 8")
    }

    /// The function if the table has it with this op type; otherwise a warning.
    fn known_function(
        &self,
        name: &str,
        op_type: OpType,
    ) -> (Option<Function>, Option<Diagnostic>) {
        let why = match Function::called(name).map(|(function, _)| function) {
            Some(function) if function.row().op_type == op_type => {
                return (Some(function), None);
            }
            Some(function) => format!(
                "{} is of type {}",
                quoted(name),
                function.row().op_type.name()
            ),
            None => format!("there is no function {}", quoted(name)),
        };
        let what = format!("{why}, so the op counts as any {}", op_type.name());
        let mut doubt = self.error(Code::UnknownFunction, "function", what);
        doubt.severity = Severity::Warning;
        (None, Some(doubt.hint("use a function of the list")))
    }
}

fn attribute_value(value: &Value) -> Option<AttributeValue> {
    let size = |number: &Number| Some(statements::int(whole(number)?));
    Some(match value {
        Value::Number(number) => match size(number) {
            Some(size) => AttributeValue::Size(size),
            None => AttributeValue::Number(number.to_string()),
        },
        Value::Array(sizes) => {
            let sizes = sizes.iter().map(|value| match value {
                Value::Number(number) => size(number),
                _ => None,
            });
            AttributeValue::Sizes(sizes.collect::<Option<_>>()?)
        }
        Value::Bool(flag) => AttributeValue::Word(flag.to_string()),
        Value::String(word) if is_infinity(word) => AttributeValue::Number(word.clone()),
        Value::String(word) => AttributeValue::Word(word.clone()),
        Value::Object(_) | Value::Null => return None,
    })
}

impl Entry<'_> {
    /// Whether a flag is given and true.
    fn is_set(&self, field: &str) -> bool {
        self.value(field) == Some(&Value::Bool(true))
    }

    /// Numbers among the inputs: `{"1": "8"}` for `div(x, 8)`.
    pub(super) fn literals(&self, inputs: usize) -> Result<Vec<Literal>, Diagnostic> {
        let Some(value) = self.value("literals") else {
            return Ok(Vec::new());
        };
        let read = |(place, text): (&String, &Value)| {
            let text = text.as_str().filter(|text| is_literal(text))?;
            Some(Literal {
                place: place.parse().ok()?,
                text: text.to_owned(),
                span: Span::default(),
            })
        };
        let count = value.as_object().map_or(0, Map::len) + inputs;
        let literals = value.as_object().map(|fields| fields.iter().map(read));
        let literals = literals.and_then(|literals| literals.collect::<Option<Vec<_>>>());
        let literals = literals.filter(|literals| literals.iter().all(|l| l.place < count));
        let mut literals = literals.ok_or_else(|| {
            self.malformed(
                "literals",
                "`literals` contains something other than numbers",
            )
            .hint("give a number for each argument that is not a tensor: `{\"1\": \"8\"}`")
        })?;
        literals.sort_by_key(|literal| literal.place);
        Ok(literals)
    }
}

/// The op of an entry, and a warning about its function.
pub(super) fn op_of_entry(entry: &Entry<'_>) -> Result<(Op, Option<Diagnostic>), Diagnostic> {
    let output = entry
        .text("output")?
        .ok_or_else(|| entry.missing("output"))?;
    let name = entry.text("name")?.unwrap_or(output);
    let op_type = entry.op_type()?;
    let inputs = entry.inputs()?;
    let shape = entry.shape()?;
    let (bytes_per_element, dtype) = entry.element()?;
    let k = entry.one_size("contraction")?;
    let named = entry.text("function")?;
    let (function, doubt) = match named {
        None => (None, None),
        Some(function) => entry.known_function(function, op_type),
    };
    let is_named_in_place = named.and_then(Function::called).is_some_and(|(_, is)| is);
    let may_be = function.is_some_and(Function::has_in_place_form);
    let op = Op {
        name: name.to_owned(),
        op_type,
        inputs,
        output: output.to_owned(),
        shape,
        bytes_per_element,
        in_place: may_be && (is_named_in_place || entry.is_set("in_place")),
        function,
        dtype,
        k,
        is_across_rows: false,
        keeps_sizes: false,
        is_causal: false,
        axes: 0,
        indexing: None,
        unknown: None,
        literals: Vec::new(),
        is_output: entry.is_set("is_output"),
        unknown_reader: None,
        kernel: entry.kernel()?,
        mark_iteration: 0,
    };
    Ok((op, doubt))
}

/// The declaration of an entry.
pub(super) fn tensor_of_entry(entry: &Entry<'_>) -> Result<TensorDecl, Diagnostic> {
    let name = entry.text("name")?.ok_or_else(|| entry.missing("name"))?;
    let shape = entry.shape()?;
    let (bytes_per_element, dtype) = entry.element()?;
    let role = match entry.text("role")? {
        Some("weight") => TensorRole::Weight,
        _ => TensorRole::Input,
    };
    Ok(TensorDecl {
        name: name.to_owned(),
        shape,
        bytes_per_element,
        role,
        dtype,
    })
}
