//! The `<html>` element, and the title of its document.

use super::timers::next_frame;

/// Sets or, with `None`, removes an attribute of the `<html>` element.
pub fn set_root_attribute(name: &str, value: Option<&str>) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        // Fails only for a malformed name.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    }
}

/// Sets the title of the document, which tabs, bookmarks and printed pages carry.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// Removes what `index.html` shows while the program loads. The first picture stays until the
/// program has drawn its own.
pub fn end_loading() {
    fn remove(id: &str) {
        if let Some(element) = document().and_then(|d| d.get_element_by_id(id)) {
            element.remove();
        }
    }
    remove("loading");
    // Charts are drawn when their width is known, in the frame after they were mounted.
    next_frame(|| next_frame(|| remove("first-picture")));
}

pub(crate) fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}
