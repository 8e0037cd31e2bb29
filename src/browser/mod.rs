//! The browser, behind plain functions: the only place that names `web_sys` and `js_sys`.
//!
//! No function panics when the browser refuses: storage may be full or forbidden, the clipboard may need a permission,
//! the page may be served without a secure context.

mod clipboard;
mod fetch;
mod files;
mod focus;
mod later;
mod listen;
mod location;
mod overlay;
mod pointer;
mod size;
mod storage;
mod zlib;

pub use clipboard::copy;
pub use fetch::fetch_text;
pub use files::{chosen_file, download, dropped_file, pasted_text, read_file};
pub use focus::{
    Caret, caret, first_line_in_view, focus, focus_svg, has_focus, has_focus_in_text_field,
    has_focus_within, reveal, reveal_in, scroll_to_line, set_caret,
};
pub use js_sys::futures::spawn_local as spawn;
pub use later::Later;
pub use listen::{is_within, next_frame, on_window};
pub use location::{address, clear_fragment, fragment};
pub use overlay::{install_panic_hook, remember_text};
pub use pointer::{capture_pointer, point_on};
pub use size::{content_size, type_scale};
pub use storage::{load, store};
pub use web_sys::{Event, File};
pub use zlib::{pack, unpack};

/// Milliseconds since the page was opened.
pub fn now_ms() -> f64 {
    web_sys::window()
        .and_then(|w| w.performance())
        .map_or(0.0, |p| p.now())
}

/// Sets or, with `None`, removes an attribute of the `<html>` element.
pub fn set_root_attribute(name: &str, value: Option<&str>) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        // Fails only for a malformed name.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    }
}

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}
