//! Pointers in, and focus of, elements that are drawn.

use web_sys::{Element, FocusOptions, SvgElement};

/// A point of the window from the upper left corner of an element.
pub fn point_on(element: &Element, client_x: f64, client_y: f64) -> (f64, f64) {
    let rect = element.get_bounding_client_rect();
    (client_x - rect.left(), client_y - rect.top())
}

/// Sends all further events of a pointer to an element until it is lifted.
pub fn capture_pointer(element: &Element, pointer: i32) {
    // A pointer that was lifted meanwhile needs no capture.
    let _ = element.set_pointer_capture(pointer);
}

/// Focuses a drawn element without scrolling anything.
pub fn focus_in_place(element: &SvgElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    // An element in the page takes the focus.
    let _ = element.focus_with_options(&options);
}
