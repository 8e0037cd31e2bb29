//! Effects and listeners, each through one function of erased type: a visitor downloads their machinery once.

use leptos::prelude::{Effect, request_animation_frame};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, EventTarget};

/// Runs `run` once the component stands in the page, and whenever a signal that it reads changes.
pub fn effect(run: impl FnMut() + 'static) {
    boxed_effect(Box::new(run));
}

fn boxed_effect(mut run: Box<dyn FnMut()>) {
    Effect::new(move |_| run());
}

/// Hears all events of these kinds in the element of this id, which lives as long as the page. `handle` finds
/// out where: by [`closest_attribute`] or [`super::closest_id`].
pub fn listen(id: &str, kinds: &'static [&'static str], handle: impl Fn(&Event) + 'static) {
    boxed_listen(id.to_owned(), kinds, Box::new(handle));
}

fn boxed_listen(id: String, kinds: &'static [&'static str], handle: Handle) {
    let mut handle = Some(handle);
    boxed_effect(Box::new(move || {
        if let (Some(element), Some(handle)) = (super::element(&id), handle.take()) {
            add(&element, kinds, handle);
        }
    }));
}

/// Hears all events of these kinds that reach the window, from now on.
pub fn listen_to_window(kinds: &'static [&'static str], handle: impl Fn(&Event) + 'static) {
    if let Some(window) = web_sys::window() {
        add(&window, kinds, Box::new(handle));
    }
}

type Handle = Box<dyn Fn(&Event)>;

fn add(target: &EventTarget, kinds: &[&str], handle: Handle) {
    let closure = Closure::<dyn Fn(Event)>::new(move |event: Event| handle(&event));
    for kind in kinds {
        // The browser refuses no listener.
        let _ = target.add_event_listener_with_callback(kind, closure.as_ref().unchecked_ref());
    }
    closure.forget();
}

/// Does `action` before the next frame is drawn, when all effects have run.
pub fn next_frame(action: impl FnOnce() + 'static) {
    boxed_next_frame(Box::new(action));
}

fn boxed_next_frame(action: Box<dyn FnOnce()>) {
    request_animation_frame(action);
}

/// Focuses the element of this id, which an effect is about to make.
pub fn focus_soon(id: String) {
    next_frame(move || {
        super::focus(&id);
    });
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
