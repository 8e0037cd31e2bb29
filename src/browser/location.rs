//! The address of the page.

use wasm_bindgen::JsValue;
use web_sys::ScrollRestoration;

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

/// The address of the whole page, without a fragment, also where it is embedded.
pub fn page_address() -> String {
    let address = address();
    let Ok(url) = web_sys::Url::new(&address) else {
        return address;
    };
    let query = url.search_params();
    if !query.has("embed") {
        return address;
    }
    query.delete("embed");
    url.href()
}

/// The value of this name in the query of the address (`?name=value`).
pub fn query_value(name: &str) -> Option<String> {
    let query = web_sys::window()?.location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&query)
        .ok()?
        .get(name)
}

/// The name that [`name_entry`] gave to the present entry of the tab's history. It outlives a
/// reload.
pub fn entry_name() -> Option<String> {
    Entry::present().map(|entry| entry.name)
}

/// The number of entries that [`push_entry`] added between the named one and the present one.
pub fn entry_depth() -> usize {
    Entry::present().map_or(0, |entry| entry.depth)
}

/// Names the present entry of the tab's history. Its address keeps the fragment of a link where
/// `keeps_link`, for a visitor who copies it from there.
pub fn name_entry(name: &str, keeps_link: bool) {
    if let Some(history) = history() {
        let entry = Entry {
            name: name.to_owned(),
            depth: entry_depth(),
        };
        let address = (!keeps_link).then(address);
        // A sandboxed frame may refuse.
        let _ = history.replace_state_with_url(&entry.state(), "", address.as_deref());
    }
}

/// Adds an entry of the present one's name and address to the tab's history.
pub fn push_entry() {
    if let (Some(history), Some(mut entry)) = (history(), Entry::present()) {
        entry.depth += 1;
        // Otherwise the page would jump to where it was scrolled to at the push. A sandboxed frame
        // may refuse both.
        let _ = history.set_scroll_restoration(ScrollRestoration::Manual);
        let _ = history.push_state_with_url(&entry.state(), "", None);
    }
}

/// Goes back by this many entries. The browser reports later, by `popstate`, that it has done so.
pub fn go_back(entries: usize) {
    if let (Some(history), Ok(entries)) = (history(), i32::try_from(entries)) {
        // Fails only where the document is no longer shown.
        let _ = history.go_with_delta(-entries);
    }
}

/// A reload of the present entry scrolls to where the page was.
pub fn restore_scroll() {
    if let Some(history) = history() {
        // Fails only where the document is no longer shown.
        let _ = history.set_scroll_restoration(ScrollRestoration::Auto);
    }
}

/// What this page keeps with an entry of the tab's history.
struct Entry {
    name: String,
    depth: usize,
}

impl Entry {
    fn present() -> Option<Self> {
        let state = history()?.state().ok()?.as_string()?;
        let (name, depth) = state.split_once('/').unwrap_or((&state, "0"));
        Some(Self {
            name: name.to_owned(),
            depth: depth.parse().unwrap_or_default(),
        })
    }

    fn state(&self) -> JsValue {
        let Self { name, depth } = self;
        JsValue::from_str(&format!("{name}/{depth}"))
    }
}

/// Opens this page with another query in a small window of this name, or brings that to the front.
/// Whether the browser let it.
pub fn open_window(query: &str, name: &str) -> bool {
    let address = address();
    let page = address.split('?').next().unwrap_or_default();
    let window = web_sys::window().and_then(|window| {
        let url = format!("{page}?{query}");
        let opened =
            window.open_with_url_and_target_and_features(&url, name, "popup,width=960,height=720");
        opened.ok()?
    });
    window.is_some()
}

/// Loads the page again.
pub fn reload() {
    if let Some(window) = web_sys::window() {
        // Fails only where the document is no longer shown.
        let _ = window.location().reload();
    }
}

fn history() -> Option<web_sys::History> {
    web_sys::window()?.history().ok()
}
