//! Listeners on the window, the targets of events, and waiting for the next frame.

use crate::timers::{Timeout, next_frame};
use futures_channel::oneshot;
use leptos::ev::EventDescriptor;
use leptos::prelude::*;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, Node};

/// Listens to an event of the window until the calling component is unmounted.
pub fn on_window<E>(event: E, handle: impl Fn(E::EventType) + 'static)
where
    E: EventDescriptor + 'static,
    E::EventType: JsCast,
{
    let listener = window_event_listener(event, handle);
    on_cleanup(move || listener.remove());
}

/// Whether the page is being printed. Set before the browser lays it out for paper.
pub fn is_printing() -> ReadSignal<bool> {
    let (is_printing, set) = signal(false);
    on_window(leptos::ev::beforeprint, move |_| set.set(true));
    on_window(leptos::ev::afterprint, move |_| set.set(false));
    is_printing
}

/// Opens the dialog of the browser that prints the page.
pub fn print() {
    if let Some(window) = web_sys::window() {
        // A sandboxed frame may refuse.
        let _ = window.print();
    }
}

/// Whether the target of `event` is in `element`.
pub fn is_within(event: &Event, element: &Element) -> bool {
    let target = event.target().and_then(|t| t.dyn_into::<Node>().ok());
    element.contains(target.as_ref())
}

/// Whether the target of `event` is in an element that matches this selector.
pub fn is_on(event: &Event, selector: &str) -> bool {
    let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
    // Fails only for a malformed selector.
    target.is_some_and(|target| matches!(target.closest(selector), Ok(Some(_))))
}

/// Waits until the next frame is drawn, so that the visitor sees a message before work goes on.
pub async fn painted() {
    let (send, receive) = oneshot::channel();
    after_picture(move || {
        // Fails only where the page is gone.
        let _ = send.send(());
    });
    let _ = receive.await;
}

/// Runs `action` after the next frame is drawn; soon, in a tab that is hidden and draws none.
pub fn after_picture(action: impl FnOnce() + 'static) {
    let soon = || {
        Timeout::start(action, Duration::ZERO);
    };
    if document().hidden() {
        soon();
    } else {
        next_frame(soon);
    }
}
