//! An entry of a list: its fields by name, and the errors about them.

use crate::model::diagnostic::{Code, Diagnostic, Span};
use crate::notation::spelling::quoted;
use serde_json::{Number, Value};

/// Spans of an `Op(...)` line and of its fields.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldSpans {
    /// The whole call.
    pub(super) call: Span,
    /// The value of each field; if a field occurs twice, the last one counts.
    pub(super) values: Vec<(&'static str, Span)>,
}

impl FieldSpans {
    /// The value of a field; the whole call if the field is missing.
    pub(super) fn of(&self, field: &str) -> Span {
        let given = self.values.iter().rev().find(|(name, _)| *name == field);
        given.map_or(self.call, |&(_, span)| span)
    }
}

/// An entry of a list, with its name and spans for diagnostics.
pub(super) struct Entry<'a> {
    /// `op 3 (`relu`)`
    who: String,
    fields: &'a Value,
    /// `None` for an entry of a JSON list.
    spans: Option<&'a FieldSpans>,
}

impl<'a> Entry<'a> {
    /// The op at `index` of the list.
    pub(super) fn op(index: usize, fields: &'a Value, spans: Option<&'a FieldSpans>) -> Self {
        Self::new("op", index, fields, spans)
    }

    /// The tensor at `index` of the list.
    pub(super) fn tensor(index: usize, fields: &'a Value) -> Self {
        Self::new("tensor", index, fields, None)
    }

    fn new(kind: &str, index: usize, fields: &'a Value, spans: Option<&'a FieldSpans>) -> Self {
        let number = index + 1;
        Self {
            who: match fields.get("name") {
                Some(Value::String(name)) => format!("{kind} {number} ({})", quoted(name)),
                _ => format!("{kind} {number}"),
            },
            fields,
            spans,
        }
    }

    /// The value of a field; `None` also for `null`.
    pub(super) fn value(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn error(&self, code: Code, field: &str, what: impl AsRef<str>) -> Diagnostic {
        let mut error = Diagnostic::error(code, format!("{}: {}", self.who, what.as_ref()));
        error.span = self.spans.map(|spans| spans.of(field));
        error
    }

    /// The error for a field whose value has the wrong form.
    pub(super) fn malformed(&self, field: &str, what: impl AsRef<str>) -> Diagnostic {
        let code = match self.spans {
            Some(_) => Code::MalformedOpLine,
            None => Code::MalformedJson,
        };
        self.error(code, field, what)
    }

    pub(super) fn missing(&self, field: &str) -> Diagnostic {
        self.malformed(field, format!("`{field}` is missing"))
            .hint("give name, op_type, inputs, output, shape and bytes_per_element")
    }

    pub(super) fn text(&self, field: &str) -> Result<Option<&'a str>, Diagnostic> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self
                .malformed(field, format!("`{field}` is not a string"))
                .hint("write it in quotes")),
        }
    }

    /// The size that a field holds on its own.
    pub(super) fn one_size(&self, field: &str) -> Result<Option<u64>, Diagnostic> {
        match self.value(field) {
            Some(Value::Array(_)) => Err(self
                .malformed(field, format!("`{field}` is a list"))
                .hint("give one number")),
            Some(size) => self.size(size, field).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn size(&self, value: &Value, field: &str) -> Result<u64, Diagnostic> {
        let Value::Number(number) = value else {
            let what = format!("`{field}` contains something other than numbers");
            return Err(self.malformed(field, what).hint("sizes are whole numbers"));
        };
        let size = number.as_f64().unwrap_or(f64::INFINITY);
        match whole(number) {
            Some(size @ 1..) => Ok(size.cast_unsigned()),
            _ if size <= 0.0 => Err(self
                .error(
                    Code::NonPositiveSize,
                    field,
                    format!("a size of {size} in `{field}`"),
                )
                .hint("every size is at least 1")),
            _ if size.fract() == 0.0 => Err(self
                .error(
                    Code::Overflow,
                    field,
                    format!("a size of about {size:.2e} in `{field}` is too large"),
                )
                .hint("use a smaller number")),
            _ => Err(self
                .malformed(
                    field,
                    format!("a size of {size} in `{field}` is not a whole number"),
                )
                .hint("sizes are whole numbers")),
        }
    }
}

/// The integer that JSON gives, also as `2.0`, because JavaScript has one type of numbers.
pub(super) fn whole(number: &Number) -> Option<i64> {
    // From 2^53 on, a float can represent several integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        let is_whole = float.fract() == 0.0 && float.abs() < EXACT;
        #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        is_whole.then_some(float as i64)
    })
}
