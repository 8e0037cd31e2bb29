//! What covers the page: dialogs and full-screen.

use super::on_window;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;

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

/// Whether a part of the page is full-screen.
pub fn fills_screen() -> ReadSignal<bool> {
    let (fills_screen, set) = signal(is_screen_filled());
    on_window(ev::fullscreenchange, move |_| set.set(is_screen_filled()));
    fills_screen
}

fn is_screen_filled() -> bool {
    document().fullscreen_element().is_some()
}

/// Shows an element full-screen, or, if any is, the page again.
pub fn toggle_full_screen(section: NodeRef<html::Section>) {
    if is_screen_filled() {
        document().exit_fullscreen();
    } else if let Some(section) = section.get_untracked() {
        // The browser may refuse; the page stays as it is then.
        let _ = section.request_fullscreen();
    }
}
