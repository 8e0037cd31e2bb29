//! The browser's own JSON, which costs a visitor no download.

use js_sys::{Function, JSON, Reflect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

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
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = JSON::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let message = error.dyn_ref::<js_sys::Error>().map(js_sys::Error::message);
        message.map_or("it cannot be parsed".to_owned(), String::from)
    })?;
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
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

/// The names of an object's own fields.
pub fn object_keys(object: &JsValue) -> Vec<String> {
    let keys = js_sys::Object::keys(&js_sys::Object::from(object.clone()));
    keys.iter().filter_map(|name| name.as_string()).collect()
}
