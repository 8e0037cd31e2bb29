//! Messages between a page and the one in whose frame it is.

use super::listen::on_window;
use super::values::{read_json, written};
use leptos::ev;
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Window};

/// Where the answer to a message goes.
pub struct Reply {
    to: Window,
    origin: String,
}

impl Reply {
    /// Sends the answer to the window that asked, as long as it shows a page of the same origin.
    pub fn send(&self, answer: &Value) {
        post(&self.to, answer, &self.origin);
    }
}

/// Calls `act` with each message from another window, or with what is wrong with it, until the
/// calling component is unmounted.
pub fn on_message(act: impl Fn(Result<Value, String>, Reply) + 'static) {
    on_window(ev::message, move |event: MessageEvent| {
        let own = web_sys::window().map(JsValue::from);
        let Some(from) = event
            .source()
            .map(JsValue::from)
            .filter(|from| Some(from) != own.as_ref())
        else {
            return;
        };
        let reply = Reply {
            // A window of another origin is no instance of this one's class.
            to: from.unchecked_into(),
            // A page in a sandbox has no origin that could be addressed.
            origin: Some(event.origin())
                .filter(|origin| origin != "null")
                .unwrap_or_else(|| "*".to_owned()),
        };
        act(
            read_json(&event.data()).map_err(|problem| problem.to_string()),
            reply,
        );
    });
}

/// Whether the page is in the frame of another one.
pub fn in_frame() -> bool {
    parent().is_some()
}

/// Sends a message to the page around this one, whatever its origin.
pub fn post_to_parent(message: &Value) {
    if let Some(parent) = parent() {
        post(&parent, message, "*");
    }
}

fn parent() -> Option<Window> {
    let window = web_sys::window()?;
    let parent = window.parent().ok()??;
    (JsValue::from(&parent) != JsValue::from(&window)).then_some(parent)
}

fn post(to: &Window, message: &Value, origin: &str) {
    if let Ok(message) = written(message) {
        // Fails only for values that cannot be cloned.
        let _ = to.post_message(&message, origin);
    }
}
