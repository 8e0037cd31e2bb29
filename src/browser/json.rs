//! The browser's own JSON, which costs a visitor no download.

use crate::core::decimal::parse_decimal;
use crate::core::json::Json;
use js_sys::{Array, BigInt, Function, JSON, Object, Reflect};
use serde::Serialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// How deep values are read: a list of a field of an op of the list of ops of an object is 5 deep.
const MAX_DEPTH: u32 = 6;

/// `value` as indented JSON. Counts past 2^53 stay exact where the browser can write them as numbers,
/// else they become strings. `None` when the browser refuses.
pub fn to_json(value: &impl Serialize) -> Option<String> {
    let object = value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .ok()?;
    let exact = Closure::<dyn Fn(JsValue, JsValue) -> JsValue>::new(|_, value: JsValue| {
        if value.is_bigint() {
            raw_number(&value)
        } else {
            value
        }
    });
    let replacer: &Function = exact.as_ref().unchecked_ref();
    JSON::stringify_with_replacer_and_space(&object, replacer, &JsValue::from_f64(2.0))
        .ok()?
        .as_string()
}

/// The value that `text` holds, read by the browser.
///
/// # Errors
/// A phrase for the visitor: no JSON, or not of this form.
pub fn from_json(text: &str) -> Result<Json, String> {
    let value = JSON::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let message = error.dyn_ref::<js_sys::Error>().map(js_sys::Error::message);
        message.map_or("it cannot be parsed".to_owned(), String::from)
    })?;
    Ok(json_of(&value))
}

/// The value as the core reads it.
pub fn json_of(value: &JsValue) -> Json {
    nested_json_of(value, MAX_DEPTH)
}

/// A visitor's file may nest into the end of the stack, so `depth` counts down.
fn nested_json_of(value: &JsValue, depth: u32) -> Json {
    if value.is_null() || value.is_undefined() {
        return Json::Null;
    }
    if let Some(number) = value.as_f64() {
        return Json::of_f64(number);
    }
    if let Some(text) = value.as_string() {
        return Json::Text(text);
    }
    if value.is_bigint() {
        let number = value.unchecked_ref::<BigInt>();
        return i64::try_from(number.clone())
            .map_or_else(|_| Json::Number(decimal(number)), Json::Integer);
    }
    if depth == 0 || !value.is_object() {
        return Json::Other;
    }
    let nested = |value: &JsValue| nested_json_of(value, depth - 1);
    if Array::is_array(value) {
        return Json::List(list(value.unchecked_ref(), &nested));
    }
    let object = value.unchecked_ref::<Object>();
    let names = list(&Object::keys(object), &|name| name.as_string());
    let values = list(&Object::values(object), &nested);
    let fields = names.into_iter().zip(values);
    Json::Object(
        fields
            .filter_map(|(name, value)| Some((name?, value)))
            .collect(),
    )
}

/// A big integer past 64 bits, as near as a float gets.
fn decimal(number: &BigInt) -> f64 {
    let digits = number.to_string(10).map(String::from);
    digits
        .ok()
        .and_then(|digits| parse_decimal(&digits))
        .unwrap_or(f64::NAN)
}

fn list<T>(array: &Array, read: &dyn Fn(&JsValue) -> T) -> Vec<T> {
    (0..array.length())
        .map(|place| read(&array.get(place)))
        .collect()
}

/// A big integer as `JSON.stringify` writes it without quotes.
fn raw_number(value: &JsValue) -> JsValue {
    let digits = value
        .unchecked_ref::<js_sys::BigInt>()
        .to_string(10)
        .map_or(JsValue::NULL, JsValue::from);
    let json: JsValue = js_sys::global().into();
    Reflect::get(&json, &"JSON".into())
        .and_then(|json| Reflect::get(&json, &"rawJSON".into()))
        .ok()
        .and_then(|f| f.dyn_into::<Function>().ok())
        .and_then(|raw| raw.call1(&JsValue::UNDEFINED, &digits).ok())
        .unwrap_or(digits)
}
