//! Files of the page's own folder.

use js_sys::futures::JsFuture;
use wasm_bindgen::JsCast;
use web_sys::Response;

/// Fetches a file from beside the page: its text, or `None` when it does not come. The request is sent now, not when the
/// answer is first waited for.
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
