//! The browser, behind plain functions: the only place that names `web_sys` and `js_sys`.
//!
//! No function panics when the browser refuses: storage may be full or forbidden, the clipboard may need a permission,
//! the page may be served without a secure context.

#![cfg(target_arch = "wasm32")]

mod animate;
mod channel;
mod clipboard;
mod fetch;
mod files;
mod focus;
mod gpu;
mod later;
mod listen;
mod location;
mod messages;
mod modal;
mod overlay;
mod png;
mod pointer;
mod popover;
mod service_worker;
mod size;
mod storage;
mod timers;
mod turn;
mod values;
mod worker;
mod zlib;

pub use animate::{animate_from, shows_sheets, wants_less_motion};
pub use channel::Channel;
pub use clipboard::copy;
pub use fetch::fetch_text;
pub use files::{
    chosen_file, chosen_files, download, drags_file, dropped_files, pasted_text, read_file,
    read_slice,
};
pub use focus::{
    Caret, caret, first_line_in_view, focus, focus_field, focus_svg, has_focus,
    has_focus_in_text_field, has_focus_within, has_visible_focus, is_in_window, mounted,
    place_in_view, reveal, reveal_in, reveal_node, reveal_unless_seen, reveal_within, scroll_page,
    scroll_to_line, scroll_to_top, scrolled_px, select_line, set_caret, step_in_table,
};
pub use gpu::{Gpu, Prepared, Stop};
pub use js_sys::futures::spawn_local as spawn;
pub use later::Later;
pub use listen::{after_picture, is_on, is_printing, is_within, on_window, painted, print};
pub use location::{
    address, entry_depth, entry_name, fragment, go_back, name_entry, open_window, page_address,
    push_entry, query_value, reload, restore_scroll,
};
pub use messages::{Reply, in_frame, on_message, post_to_parent};
pub use modal::{
    can_fill_screen, close_modal, fill_screen, fills_screen, is_full_screen, leave_full_screen,
    show_modal, toggle_full_screen,
};
pub use overlay::{install_panic_hook, remember_text};
pub use png::{download_png, svg_address};
pub use pointer::{LONG_PRESS, capture_pointer, click, point_on};
pub use popover::{Opener, keep_in_window, show_beside};
pub use service_worker::{keep_offline, switch_version};
pub use size::{content_size, type_scale};
pub use storage::{forget, load, store, stored_keys};
pub use timers::{after, during, next_frame, next_task};
pub use turn::keep_place_when_turned;
pub use values::{read_json, written};
pub use web_sys::{Event, File};
pub use worker::{Worker, is_worker, post_to_page};
pub use zlib::{pack, unpack};

/// Milliseconds since the page was opened.
pub fn now_ms() -> f64 {
    web_sys::window()
        .and_then(|w| w.performance())
        .map_or(0.0, |p| p.now())
}

/// The time of the day, in milliseconds since 1970.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole milliseconds, positive and far below 2^53"
)]
pub fn clock_ms() -> u64 {
    js_sys::Date::now() as u64
}

/// A time of [`clock_ms`] in words: "Nov 22, 2026, 2:03 PM".
#[allow(
    clippy::cast_precision_loss,
    reason = "milliseconds since 1970 stay below 2^53"
)]
pub fn date_and_time(clock_ms: u64) -> String {
    let date = js_sys::Date::new(&(clock_ms as f64).into());
    let style = js_sys::Object::new();
    for (key, value) in [("dateStyle", "medium"), ("timeStyle", "short")] {
        // Fails only on a frozen object.
        let _ = js_sys::Reflect::set(&style, &key.into(), &value.into());
    }
    date.to_locale_string("en", &style).into()
}

/// An id that no other tab makes, except by a chance of 1 to 2^52.
pub fn new_id() -> String {
    let digits = js_sys::Math::random().to_bits() & ((1 << 52) - 1);
    format!("{digits:013x}")
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

/// Sets the title of the document, which tabs, bookmarks and printed pages carry.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// Removes what `index.html` shows while the program loads. The first picture stays until the program has drawn its own.
pub fn end_loading() {
    fn remove(id: &str) {
        if let Some(element) = document().and_then(|d| d.get_element_by_id(id)) {
            element.remove();
        }
    }
    remove("loading");
    // Charts are drawn when their width is known, in the frame after they were mounted.
    next_frame(|| next_frame(|| remove("first-picture")));
}

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}
