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

/// Shows the whole page full-screen. The browser may refuse; the page stays in its window then.
pub fn fill_screen() {
    if let Some(root) = document().document_element() {
        let _ = root.request_fullscreen();
    }
}

/// Shows the page in its window again.
pub fn leave_full_screen() {
    if is_screen_filled() {
        document().exit_fullscreen();
    }
}

/// Shows an element full-screen, or, if any is, the page again.
pub fn toggle_full_screen(section: NodeRef<html::Section>) {
    if is_screen_filled() {
        leave_full_screen();
    } else if let Some(section) = section.get_untracked() {
        // The browser may refuse; the page stays as it is then.
        let _ = section.request_fullscreen();
    }
}
