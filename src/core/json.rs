//! JSON values on their way in, read by the browser on the page and by `serde_json` on the command line.
//!
//! One plain type instead of a visitor for each form: what the page reads costs its visitors a tenth of the
//! download that derived readers would.

/// A value that was read, objects in the order of their fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// Nothing, or not there.
    Null,
    /// A whole number that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object's fields.
    Object(Vec<(String, Json)>),
    /// A truth value, or what is nested deeper than anything that Fuseline reads.
    Other,
}

impl Json {
    /// JavaScript has one type of numbers, so `2.0` is the integer 2.
    pub fn of_f64(number: f64) -> Self {
        // From 2^53 on a float may stand for its neighbours too.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() < EXACT {
            #[allow(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            return Self::Integer(number as i64);
        }
        Self::Number(number)
    }
}

/// `serde_json` itself limits how deep a text may nest.
#[cfg(not(target_arch = "wasm32"))]
impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Other,
            Value::Number(number) => number.as_i64().map_or_else(
                || number.as_f64().map_or(Self::Other, Self::of_f64),
                Self::Integer,
            ),
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(fields) => {
                let field = |(name, value)| (name, Self::from(value));
                Self::Object(fields.into_iter().map(field).collect())
            }
        }
    }
}
