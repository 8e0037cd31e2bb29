//! The clipboard.

use js_sys::futures::JsFuture;
use js_sys::{Promise, Reflect};
use wasm_bindgen::JsCast;

/// Copies `text`, and says whether the clipboard took it.
pub async fn copy(text: &str) -> bool {
    match begin_copy(text) {
        Some(copied) => JsFuture::from(copied).await.is_ok(),
        None => false,
    }
}

/// Begins to copy `text`. `None` without a secure context, which alone has a clipboard.
pub(super) fn begin_copy(text: &str) -> Option<Promise> {
    let navigator = web_sys::window()?.navigator();
    let clipboard = Reflect::get(&navigator, &"clipboard".into()).ok()?;
    let clipboard: web_sys::Clipboard = clipboard.dyn_into().ok()?;
    Some(clipboard.write_text(text))
}
