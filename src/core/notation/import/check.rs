//! Checks the entries of a list and makes ops of them; each invalid entry gets one diagnostic.

use super::values::{OpEntry, Scalar, TensorEntry, Value};
use crate::core::decimal::{exact, scientific};
use crate::core::model::diagnostic::{Code, Diagnostic, Span};
use crate::core::model::dtype::DType;
use crate::core::model::functions;
use crate::core::model::op::{Op, TensorDecl, TensorRole};
use crate::core::model::op_type::OpType;
use crate::core::notation::parser::unknown_dtype;
use crate::core::notation::spelling::{edit_distance, quoted, shortened};
use std::borrow::Cow;

/// Spans of the fields of an `Op(...)` line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldSpans {
    /// The whole call.
    pub(super) call: Span,
    /// The op's name.
    pub(super) name: Span,
    /// The op type.
    pub(super) op_type: Span,
    /// All inputs.
    pub(super) inputs: Span,
    /// The output.
    pub(super) output: Span,
    /// The shape.
    pub(super) shape: Span,
    /// Bytes of an element.
    pub(super) bytes_per_element: Span,
    /// The function.
    pub(super) function: Span,
    /// The element type.
    pub(super) dtype: Span,
    /// The contraction length.
    pub(super) contraction: Span,
    /// The number of the kernel.
    pub(super) kernel: Span,
}

/// The entry that a diagnostic is about.
pub(super) struct Subject<'a> {
    /// `op 3 (`relu`)`
    who: String,
    spans: Option<&'a FieldSpans>,
    /// The code for a field of the wrong form.
    malformed: Code,
}

impl<'a> Subject<'a> {
    /// The op at `index` of the list.
    pub(super) fn op(index: usize, entry: &OpEntry, spans: Option<&'a FieldSpans>) -> Self {
        Self::new("op", index, &entry.name, spans)
    }

    fn new(kind: &str, index: usize, name: &Value, spans: Option<&'a FieldSpans>) -> Self {
        let number = index + 1;
        Self {
            who: match name {
                Value::One(Scalar::Text(name)) => format!("{kind} {number} ({})", quoted(name)),
                _ => format!("{kind} {number}"),
            },
            spans,
            malformed: match spans {
                Some(_) => Code::MalformedOpLine,
                None => Code::MalformedJson,
            },
        }
    }

    /// An error about a field; `place` selects its span.
    pub(super) fn error(
        &self,
        code: Code,
        place: fn(&FieldSpans) -> Span,
        what: impl AsRef<str>,
    ) -> Diagnostic {
        let error = Diagnostic::error(code, format!("{}: {}", self.who, what.as_ref()));
        let Some(spans) = self.spans else {
            return error;
        };
        let span = place(spans);
        error.at(if span == Span::default() {
            spans.call
        } else {
            span
        })
    }

    fn malformed(&self, place: fn(&FieldSpans) -> Span, what: impl AsRef<str>) -> Diagnostic {
        self.error(self.malformed, place, what)
    }
}

/// The op of an entry, and a warning about it if there is one.
pub(super) fn op_of_entry(
    entry: &OpEntry,
    subject: &Subject<'_>,
) -> Result<(Op, Option<Diagnostic>), Diagnostic> {
    let output = text(&entry.output, "output", subject, |s| s.output)?
        .ok_or_else(|| missing("output", subject))?;
    let name = text(&entry.name, "name", subject, |s| s.name)?.unwrap_or_else(|| output.clone());
    let op_type = op_type(entry, subject)?;
    let inputs = match &entry.inputs {
        Value::Many(names) => names
            .iter()
            .map(|name| match name {
                Scalar::Text(name) => Ok(name.clone()),
                _ => Err(subject
                    .malformed(|s| s.inputs, "`inputs` holds something that is no name")
                    .hint("name the tensors: `[\"x\", \"w\"]`")),
            })
            .collect::<Result<Vec<String>, Diagnostic>>()?,
        Value::One(Scalar::Text(name)) => vec![name.clone()],
        Value::Missing => return Err(missing("inputs", subject)),
        Value::One(_) => {
            return Err(subject
                .malformed(|s| s.inputs, "`inputs` is no list")
                .hint("name the tensors: `[\"x\", \"w\"]`"));
        }
    };
    let shape = shape(&entry.shape, subject)?;
    let (bytes_per_element, dtype) = width(&entry.bytes_per_element, &entry.dtype, subject)?;
    let k = match &entry.contraction {
        Value::Missing => None,
        Value::One(k) => Some(size(k, "contraction", subject, |s| s.contraction)?),
        Value::Many(_) => {
            return Err(subject
                .malformed(|s| s.contraction, "`contraction` is a list")
                .hint("give one number"));
        }
    };
    let (function, doubt) = match text(&entry.function, "function", subject, |s| s.function)? {
        None => (None, None),
        Some(function) => known_function(&function, op_type, subject),
    };
    let op = Op {
        name,
        op_type,
        inputs,
        output,
        shape,
        bytes_per_element,
        function,
        dtype,
        k,
        is_across_rows: false,
        axes: 0,
        kernel: kernel(&entry.kernel, subject)?,
    };
    Ok((op, doubt))
}

/// The declaration of an entry.
pub(super) fn tensor_of_entry(
    index: usize,
    entry: &TensorEntry,
) -> (Subject<'static>, Result<TensorDecl, Diagnostic>) {
    let subject = Subject::new("tensor", index, &entry.name, None);
    let tensor = tensor(entry, &subject);
    (subject, tensor)
}

fn tensor(entry: &TensorEntry, subject: &Subject<'_>) -> Result<TensorDecl, Diagnostic> {
    let name =
        text(&entry.name, "name", subject, |s| s.name)?.ok_or_else(|| missing("name", subject))?;
    let shape = shape(&entry.shape, subject)?;
    let (bytes_per_element, dtype) = width(&entry.bytes_per_element, &entry.dtype, subject)?;
    let role = match text(&entry.role, "role", subject, |s| s.call)?.as_deref() {
        Some("weight") => TensorRole::Weight,
        _ => TensorRole::Input,
    };
    Ok(TensorDecl {
        name,
        shape,
        bytes_per_element,
        role,
        dtype,
    })
}

fn missing(field: &str, subject: &Subject<'_>) -> Diagnostic {
    subject
        .malformed(|s| s.call, format!("`{field}` is missing"))
        .hint("give name, op_type, inputs, output, shape and bytes_per_element")
}

fn text(
    value: &Value,
    field: &str,
    subject: &Subject<'_>,
    place: fn(&FieldSpans) -> Span,
) -> Result<Option<String>, Diagnostic> {
    match value {
        Value::Missing => Ok(None),
        Value::One(Scalar::Text(text)) => Ok(Some(text.clone())),
        _ => Err(subject
            .malformed(place, format!("`{field}` is no string"))
            .hint("write it in quotes")),
    }
}

fn op_type(entry: &OpEntry, subject: &Subject<'_>) -> Result<OpType, Diagnostic> {
    let name = text(&entry.op_type, "op_type", subject, |s| s.op_type)?
        .ok_or_else(|| missing("op_type", subject))?;
    OpType::from_name(&name).ok_or_else(|| {
        let nearest = OpType::ALL
            .into_iter()
            .min_by_key(|known| edit_distance(&shortened(&name), known.name()))
            .unwrap_or(OpType::Elementwise);
        let hint = match functions::find(&name) {
            Some(function) => format!(
                "`{name}` is a function: use `{}` and give it as `function`",
                function.op_type.name()
            ),
            None => format!(
                "use elementwise, reduction, matmul or reshape; did you mean `{}`?",
                nearest.name()
            ),
        };
        subject
            .error(
                Code::UnknownOpType,
                |s| s.op_type,
                format!("there is no op type {}", quoted(&name)),
            )
            .hint(hint)
    })
}

fn shape(value: &Value, subject: &Subject<'_>) -> Result<Vec<u64>, Diagnostic> {
    let sizes = match value {
        Value::Many(sizes) => sizes.as_slice(),
        // In Python `(1024)` is a number and not a tuple.
        Value::One(size) => std::slice::from_ref(size),
        Value::Missing => return Err(missing("shape", subject)),
    };
    sizes
        .iter()
        .map(|value| size(value, "shape", subject, |s| s.shape))
        .collect()
}

fn size(
    value: &Scalar,
    field: &str,
    subject: &Subject<'_>,
    place: fn(&FieldSpans) -> Span,
) -> Result<u64, Diagnostic> {
    let not_positive = |size: &str| {
        subject
            .error(
                Code::NonPositiveSize,
                place,
                format!("a size of {size} in `{field}`"),
            )
            .hint("every size is at least 1")
    };
    match value {
        Scalar::Integer(size) => match u64::try_from(*size) {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(not_positive(&size.to_string())),
        },
        Scalar::Number(size) if *size <= 0.0 => Err(not_positive(&exact(*size))),
        Scalar::Number(size) if size.fract() == 0.0 => Err(subject
            .error(
                Code::Overflow,
                place,
                format!(
                    "a size of about {} in `{field}` is too large",
                    scientific(*size)
                ),
            )
            .hint("use a smaller number")),
        Scalar::Number(size) => Err(subject
            .malformed(
                place,
                format!("a size of {} in `{field}` is no whole number", exact(*size)),
            )
            .hint("sizes are whole numbers")),
        Scalar::Text(_) | Scalar::Other => Err(subject
            .malformed(
                place,
                format!("`{field}` holds something that is no number"),
            )
            .hint("sizes are whole numbers")),
    }
}

fn kernel(value: &Value, subject: &Subject<'_>) -> Result<Option<u32>, Diagnostic> {
    let number = match value {
        Value::Missing => return Ok(None),
        Value::One(Scalar::Integer(number)) => u32::try_from(*number).ok(),
        Value::One(_) | Value::Many(_) => None,
    };
    number.map(Some).ok_or_else(|| {
        subject
            .malformed(|s| s.kernel, "`kernel` is no number of a kernel")
            .hint("give ops that are to run as one kernel the same whole number, such as 3")
    })
}

/// Bytes and type of an element, from either field or from both.
fn width(
    bytes: &Value,
    dtype: &Value,
    subject: &Subject<'_>,
) -> Result<(u32, Option<DType>), Diagnostic> {
    let named = match text(dtype, "dtype", subject, |s| s.dtype)? {
        Some(name) => Some(DType::from_name(&name).ok_or_else(|| {
            let unknown = unknown_dtype(&name);
            let mut located = subject.error(unknown.code, |s| s.dtype, &unknown.message);
            located.hint = unknown.hint;
            located
        })?),
        None => None,
    };
    let bytes = match (bytes, named) {
        (Value::One(bytes), _) => {
            size(bytes, "bytes_per_element", subject, |s| s.bytes_per_element)?
        }
        (Value::Missing, Some(dtype)) => return Ok((dtype.bytes(), named)),
        (Value::Missing, None) => return Err(missing("bytes_per_element", subject)),
        (Value::Many(_), _) => {
            return Err(subject
                .malformed(|s| s.bytes_per_element, "`bytes_per_element` is a list")
                .hint("give one number"));
        }
    };
    let width = u32::try_from(bytes).map_err(|_| unknown_width(bytes, subject))?;
    match named {
        Some(dtype) if dtype.bytes() != width => Err(subject
            .error(
                Code::UnknownDtype,
                |s| s.dtype,
                format!("{} has {} bytes, not {width}", dtype.name(), dtype.bytes()),
            )
            .hint("remove one of `dtype` and `bytes_per_element`, or correct it")),
        _ => Ok((width, named)),
    }
}

/// The notation writes element types, so only widths that a type has can be written.
pub(super) fn check_width(bytes: u32, subject: &Subject<'_>) -> Result<(), Diagnostic> {
    match DType::float_of_bytes(bytes) {
        Some(_) => Ok(()),
        None => Err(unknown_width(u64::from(bytes), subject)),
    }
}

fn unknown_width(bytes: u64, subject: &Subject<'_>) -> Diagnostic {
    subject
        .error(
            Code::UnknownDtype,
            |s| s.bytes_per_element,
            format!("no element type has {bytes} bytes"),
        )
        .hint("use 1, 2, 4 or 8")
}

/// The function, if the table has it with this op type; otherwise a warning.
fn known_function(
    name: &str,
    op_type: OpType,
    subject: &Subject<'_>,
) -> (Option<Cow<'static, str>>, Option<Diagnostic>) {
    let why = match functions::find(name) {
        Some(function) if function.op_type == op_type => {
            return (Some(Cow::Borrowed(function.name)), None);
        }
        Some(function) => format!("{} is of type {}", quoted(name), function.op_type.name()),
        None => format!("there is no function {}", quoted(name)),
    };
    let mut doubt = subject.error(
        Code::UnknownFunction,
        |s| s.function,
        format!("{why}, so the op counts as any {}", op_type.name()),
    );
    doubt.severity = crate::core::model::diagnostic::Severity::Warning;
    (None, Some(doubt.hint("use a function of the list")))
}
