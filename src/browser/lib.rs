//! The browser, behind plain functions: the only place that names `web_sys` and `js_sys`.
//!
//! No function panics when the browser refuses: storage may be full or forbidden, the clipboard may
//! need a permission, the page may be served without a secure context.

#![cfg(target_arch = "wasm32")]

mod animate;
mod channel;
mod clipboard;
mod clock;
mod debounce;
mod document;
mod fetch;
mod files;
mod focus;
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
mod webgpu;
mod worker;
mod zlib;

pub use animate::{animate_from, shows_sheets, wants_less_motion};
pub use channel::Channel;
pub use clipboard::copy;
pub use clock::{clock_ms, date_and_time, now_ms};
pub use debounce::Debounce;
pub use document::{end_loading, set_root_attribute, set_title};
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
pub use js_sys::futures::spawn_local as spawn;
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
pub use storage::{forget, load, new_id, store, stored_keys};
pub use timers::{after, during, next_frame, next_task};
pub use turn::keep_place_when_turned;
pub use values::{read_json, written};
pub use web_sys::{Event, File};
pub use webgpu::{Gpu, Prepared, Stop};
pub use worker::{Worker, is_worker, post_to_page};
pub use zlib::{pack, unpack};
