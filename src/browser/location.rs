//! The address of the page.

use wasm_bindgen::JsValue;

/// The fragment of the address, without `#`; `None` when it is empty.
pub fn fragment() -> Option<String> {
    let hash = web_sys::window()?.location().hash().ok()?;
    let fragment = hash.strip_prefix('#')?;
    (!fragment.is_empty()).then(|| fragment.to_owned())
}

/// The address without its fragment.
pub fn address() -> String {
    web_sys::window()
        .and_then(|w| w.location().href().ok())
        .map(|href| href.split('#').next().unwrap_or_default().to_owned())
        .unwrap_or_default()
}

/// Removes the fragment without a new history entry, so that a reload shows the visitor's edits and not the link again.
pub fn clear_fragment() {
    if let Some(history) = web_sys::window().and_then(|w| w.history().ok()) {
        // A sandboxed frame may refuse.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address()));
    }
}
