//! Listeners, and where an event happened.

use leptos::ev::EventDescriptor;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, Node};

/// Hears an event of the window, as long as the component is mounted that calls this.
pub fn on_window<E>(event: E, handle: impl Fn(E::EventType) + 'static)
where
    E: EventDescriptor + 'static,
    E::EventType: JsCast,
{
    let listener = window_event_listener(event, handle);
    on_cleanup(move || listener.remove());
}

/// Whether `event` happened in `element`.
pub fn is_within(event: &Event, element: &Element) -> bool {
    let target = event.target().and_then(|t| t.dyn_into::<Node>().ok());
    element.contains(target.as_ref())
}

/// Does `action` before the next frame is drawn, when all effects have run.
pub fn next_frame(action: impl FnOnce() + 'static) {
    request_animation_frame(action);
}
