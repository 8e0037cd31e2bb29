//! Listeners, for views that find their elements by id.

use leptos::ev::EventDescriptor;
use leptos::prelude::*;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, Node};

/// Hears all events of these kinds in the element of this id, as long as the component is mounted that calls this.
/// `handle` finds out where: by [`closest_attribute`] or [`super::closest_id`].
pub fn listen(id: &str, kinds: &'static [&'static str], handle: impl Fn(&Event) + 'static) {
    let id = id.to_owned();
    let handle = StoredValue::new_local(handle);
    Effect::new(move || {
        let Some(element) = super::element(&id) else {
            return;
        };
        // An element that leaves the page may still lose the focus when the handler is gone.
        let closure = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            handle.try_with_value(|handle| handle(&event));
        });
        for kind in kinds {
            // The browser refuses no listener.
            let _ =
                element.add_event_listener_with_callback(kind, closure.as_ref().unchecked_ref());
        }
        closure.forget();
    });
}

/// Hears all events of these kinds that reach the window, as long as the component is mounted that calls this.
pub fn listen_to_window(kinds: &[&str], handle: impl Fn(&Event) + 'static) {
    let handle = Rc::new(handle);
    for kind in kinds {
        let handle = handle.clone();
        let listener = window_event_listener_untyped(kind, move |event| handle(&event));
        on_cleanup(move || listener.remove());
    }
}

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

/// The value of `name` (such as `data-op`) at the closest element that has it and holds the place of `event`.
pub fn closest_attribute(event: &Event, name: &str) -> Option<String> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let selector = ["[", name, "]"].concat();
    target.closest(&selector).ok()??.get_attribute(name)
}

/// The number in such an attribute.
pub fn closest_number(event: &Event, name: &str) -> Option<usize> {
    closest_attribute(event, name)?.parse().ok()
}

/// The event as one of the keyboard or of a pointer; `None` when it is another.
pub fn event_as<E: JsCast + Clone>(event: &Event) -> Option<E> {
    event.dyn_ref::<E>().cloned()
}
