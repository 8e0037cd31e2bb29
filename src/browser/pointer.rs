//! Pointers on an element.

use std::time::Duration;
use web_sys::{Element, EventTarget, MouseEvent, MouseEventInit};

/// A press of a finger that lasts as long is a long one.
pub const LONG_PRESS: Duration = Duration::from_millis(500);

/// A point of the window, from the upper left corner of an element.
pub fn point_on(element: &Element, client_x: f64, client_y: f64) -> (f64, f64) {
    let rect = element.get_bounding_client_rect();
    (client_x - rect.left(), client_y - rect.top())
}

/// Fires a click where a pointer is pressed.
pub fn click(target: &EventTarget) {
    let init = MouseEventInit::new();
    init.set_bubbles(true);
    init.set_cancelable(true);
    if let Ok(event) = MouseEvent::new_with_mouse_event_init_dict("click", &init) {
        // Fails only for an event that is being dispatched.
        let _ = target.dispatch_event(&event);
    }
}

/// Sends all further events of a pointer to an element until it is lifted.
pub fn capture_pointer(element: &Element, pointer: i32) {
    // Fails only if the pointer was lifted meanwhile.
    let _ = element.set_pointer_capture(pointer);
}
