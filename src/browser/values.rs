//! Values between JavaScript and JSON.

use fuseline_core::input::read_value;
use serde::Serialize;
use serde_json::Value;
use serde_wasm_bindgen::{Deserializer, Error, Serializer};
use wasm_bindgen::JsValue;

/// A plain value of JavaScript as JSON.
///
/// # Errors
/// If the value is not plain, or larger than an input may be.
pub fn read_json(value: &JsValue) -> Result<Value, Error> {
    read_value(Deserializer::from(value.clone()))
}

/// A JSON value for JavaScript. Integers above `2^53 - 1` become `BigInt`.
///
/// # Errors
/// None that is known.
pub fn written(value: &Value) -> Result<JsValue, Error> {
    Exact(value).serialize(&Serializer::json_compatible())
}

/// A JSON value whose integers above `2^53 - 1` become `BigInt`: serde-wasm-bindgen either refuses
/// them or converts every 64-bit integer.
struct Exact<'a>(&'a Value);

impl Serialize for Exact<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const MAX_SAFE_INTEGER: u128 = (1 << 53) - 1;
        match self.0 {
            Value::Array(list) => serializer.collect_seq(list.iter().map(Exact)),
            Value::Object(fields) => {
                serializer.collect_map(fields.iter().map(|(name, value)| (name, Exact(value))))
            }
            Value::Number(number) => match number.as_i128() {
                Some(count) if count.unsigned_abs() > MAX_SAFE_INTEGER => {
                    serializer.serialize_i128(count)
                }
                _ => number.serialize(serializer),
            },
            other => other.serialize(serializer),
        }
    }
}
