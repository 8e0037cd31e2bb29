//! What covers the page: dialogs and full-screen.

use super::listen::on_window;
use js_sys::Promise;
use js_sys::futures::{JsFuture, spawn_local};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

// `web_sys` drops the promises of both calls, so a refusal could not be caught.
#[wasm_bindgen]
extern "C" {
    type FullScreen;
    #[wasm_bindgen(method, catch, js_name = requestFullscreen)]
    fn request(this: &FullScreen) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = exitFullscreen)]
    fn exit(this: &FullScreen) -> Result<JsValue, JsValue>;
}

/// Shows a dialog over the page, which cannot be reached meanwhile.
pub fn show_modal(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.get_untracked() {
        // It fails for a dialog that is open already.
        let _ = dialog.show_modal();
    }
}

/// Closes a dialog; the focus returns to where it was before.
pub fn close_modal(dialog: NodeRef<html::Dialog>) {
    if let Some(dialog) = dialog.get_untracked() {
        dialog.close();
    }
}

/// Whether the browser can show a part of the page full-screen; telephones cannot.
pub fn can_fill_screen() -> bool {
    document().fullscreen_enabled()
}

/// Whether the page or a part of it is full-screen.
pub fn fills_screen() -> ReadSignal<bool> {
    full_screen(is_screen_filled)
}

/// Whether this part of the page is full-screen.
pub fn is_full_screen(section: NodeRef<html::Section>) -> ReadSignal<bool> {
    full_screen(move || {
        let shown = document().fullscreen_element();
        shown.is_some() && shown == section.get_untracked().map(Into::into)
    })
}

fn full_screen(holds: impl Fn() -> bool + 'static) -> ReadSignal<bool> {
    let (fills_screen, set) = signal(holds());
    on_window(ev::fullscreenchange, move |_| set.set(holds()));
    fills_screen
}

fn is_screen_filled() -> bool {
    document().fullscreen_element().is_some()
}

/// Shows the whole page full-screen, if the browser does not refuse.
pub fn fill_screen() {
    if let Some(root) = document().document_element() {
        ask(root.unchecked_ref(), FullScreen::request);
    }
}

/// Shows the page in its window again.
pub fn leave_full_screen() {
    if is_screen_filled() {
        ask(document().unchecked_ref(), FullScreen::exit);
    }
}

/// Shows an element full-screen, or, if any is, the page again.
pub fn toggle_full_screen(section: NodeRef<html::Section>) {
    if is_screen_filled() {
        leave_full_screen();
    } else if let Some(section) = section.get_untracked() {
        ask(section.unchecked_ref(), FullScreen::request);
    }
}

/// Asks the browser for another way to show the page. Where it refuses, as a frame's policy may
/// demand, nothing changes, which the visitor sees.
fn ask(of: &FullScreen, change: fn(&FullScreen) -> Result<JsValue, JsValue>) {
    if let Ok(answer) = change(of) {
        spawn_local(async move { drop(JsFuture::from(Promise::resolve(&answer)).await) });
    }
}
