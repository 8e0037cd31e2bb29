//! Pointers on an element.

use web_sys::Element;

/// A point of the window, from the upper left corner of an element.
pub fn point_on(element: &Element, client_x: f64, client_y: f64) -> (f64, f64) {
    let rect = element.get_bounding_client_rect();
    (client_x - rect.left(), client_y - rect.top())
}

/// Sends all further events of a pointer to an element until it is lifted.
pub fn capture_pointer(element: &Element, pointer: i32) {
    // Fails only if the pointer was lifted meanwhile.
    let _ = element.set_pointer_capture(pointer);
}
