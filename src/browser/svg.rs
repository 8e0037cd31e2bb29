//! Pointers in, and focus of, elements that are drawn into; each by its id.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, FocusOptions, HtmlElement};

/// A point of the window from the upper left corner of an element; `None` when there is no such element.
pub fn point_in(id: &str, client_x: f64, client_y: f64) -> Option<(f64, f64)> {
    let rect = super::element(id)?.get_bounding_client_rect();
    Some((client_x - rect.left(), client_y - rect.top()))
}

/// Sends all further events of a pointer to an element until it is lifted.
pub fn capture_pointer(id: &str, pointer: i32) {
    if let Some(element) = super::element(id) {
        // A pointer that was lifted meanwhile needs no capture.
        let _ = element.set_pointer_capture(pointer);
    }
}

/// Focuses a drawn element without scrolling anything. `false` when there is none.
pub fn focus_in_place(id: &str) -> bool {
    super::focus::focusable(id).is_some_and(|element| {
        let options = FocusOptions::new();
        options.set_prevent_scroll(true);
        element.focus_with_options(&options).is_ok()
    })
}

/// Whether `event` comes from the element of this id itself and not from something in it.
pub fn is_target(event: &Event, id: &str) -> bool {
    event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
        .is_some_and(|target| target.id() == id)
}

/// Id of the element that matches `selector` and holds the place where `event` happened.
pub fn closest_id(event: &Event, selector: &str) -> Option<String> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    Some(target.closest(selector).ok()??.id())
}

/// Writes the text of the element of this id, if there is one.
pub fn set_text(id: &str, text: &str) {
    if let Some(element) = super::element(id) {
        element.set_text_content(Some(text));
    }
}

/// Writes an attribute of the element of this id, if there is one.
pub fn set_attribute(id: &str, name: &str, value: &str) {
    if let Some(element) = super::element(id) {
        // The browser refuses malformed names alone, and these are ours.
        let _ = element.set_attribute(name, value);
    }
}

/// Gives or takes an attribute without a value of the element of this id, if there is one.
pub fn set_flag(id: &str, name: &str, is_set: bool) {
    if let Some(element) = super::element(id) {
        // As above.
        let _ = element.toggle_attribute_with_force(name, is_set);
    }
}

/// Writes a property of the style of the element of this id, if there is one.
pub fn set_style(id: &str, name: &str, value: &str) {
    if let Some(Ok(element)) = super::element(id).map(JsCast::dyn_into::<HtmlElement>) {
        // As above.
        let _ = element.style().set_property(name, value);
    }
}

/// Gives or takes a class of the element of this id, if there is one.
pub fn set_class(id: &str, class: &str, is_set: bool) {
    if let Some(element) = super::element(id) {
        // As above.
        let _ = element.class_list().toggle_with_force(class, is_set);
    }
}
