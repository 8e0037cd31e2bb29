//! The address of the page.

use wasm_bindgen::JsValue;

/// What stands behind `#`, without it; `None` when there is nothing.
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

/// Takes the fragment away without a new entry in the tab's history, so that a reload shows what the
/// visitor made of the link and not the link again.
pub fn clear_fragment() {
    if let Some(history) = web_sys::window().and_then(|w| w.history().ok()) {
        // A sandboxed frame may refuse; then the fragment stays.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address()));
    }
}
