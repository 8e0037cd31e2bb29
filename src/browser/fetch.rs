//! Fetching the files that are served with the page.

use js_sys::futures::JsFuture;
use wasm_bindgen::JsCast;
use web_sys::Response;

/// The text of a file beside the page; `None` when the request fails. The request is sent by this
/// call, not when the future is first polled, so that several requests run at once.
pub fn fetch_text(path: &str) -> impl Future<Output = Option<String>> + use<> {
    let response = web_sys::window().map(|window| JsFuture::from(window.fetch_with_str(path)));
    async move {
        let response: Response = response?.await.ok()?.dyn_into().ok()?;
        if !response.ok() {
            return None;
        }
        let text = JsFuture::from(response.text().ok()?).await.ok()?;
        text.as_string()
    }
}
