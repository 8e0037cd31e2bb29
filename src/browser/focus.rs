//! Focus, carets and scrolling.

use js_sys::Reflect;
use wasm_bindgen::JsCast;
use web_sys::{
    Element, Event, HtmlBodyElement, HtmlInputElement, HtmlTextAreaElement, ScrollIntoViewOptions,
    ScrollLogicalPosition,
};

/// A selection in a text field, in UTF-16 units as browsers count; `start == end` is a caret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    /// First selected unit.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// Whether anything in the page has the focus.
pub fn has_focus() -> bool {
    active_element().is_some_and(|e| !e.is_instance_of::<HtmlBodyElement>())
}

/// Whether `element`, or something in it, has the focus.
pub fn has_focus_within(element: &Element) -> bool {
    active_element().is_some_and(|e| element.contains(Some(&e)))
}

/// Whether keys go into a text field just now.
pub fn has_focus_in_text_field() -> bool {
    active_element().is_some_and(|e| {
        e.has_attribute("contenteditable")
            || e.is_instance_of::<HtmlTextAreaElement>()
            || e.dyn_into::<HtmlInputElement>().is_ok_and(|input| {
                !matches!(
                    input.type_().as_str(),
                    "range" | "checkbox" | "radio" | "button"
                )
            })
    })
}

/// The caret of a text area.
pub fn caret(area: &HtmlTextAreaElement) -> Option<Caret> {
    Some(Caret {
        start: area.selection_start().ok()??,
        end: area.selection_end().ok()??,
    })
}

/// Puts the caret of a text area.
pub fn set_caret(area: &HtmlTextAreaElement, caret: Caret) {
    // A text area has a caret, and takes a place behind its end for its end.
    let _ = area.set_selection_range(caret.start, caret.end);
}

/// Scrolls so that one of the scroller's equal lines can be seen; `line` counts from 0.
pub fn scroll_to_line(scroller: &Element, line: usize, lines: usize) {
    let line_height = f64::from(scroller.scroll_height()) / lines.max(1) as f64;
    let top = line_height * line as f64;
    let (from, height) = (
        f64::from(scroller.scroll_top()),
        f64::from(scroller.client_height()),
    );
    if top < from || top + line_height > from + height {
        #[expect(clippy::cast_possible_truncation, reason = "a place in whole pixels")]
        scroller.set_scroll_top((top - height / 3.0).max(0.0) as i32);
    }
}

/// Scrolls `scroller`, and nothing else, so that `element` in it can be seen.
pub fn reveal_in(scroller: &Element, element: &Element) {
    let (frame, place) = (
        scroller.get_bounding_client_rect(),
        element.get_bounding_client_rect(),
    );
    if place.top() < frame.top() || place.bottom() > frame.bottom() {
        let down = place.top() - frame.top() - frame.height() / 3.0;
        #[expect(clippy::cast_possible_truncation, reason = "a way in whole pixels")]
        scroller.set_scroll_top(scroller.scroll_top() + down as i32);
    }
}

/// The first line of a scroller of this many equal lines that is in view, from 0.
pub fn first_line_in_view(scroller: &Element, lines: usize) -> usize {
    let share = f64::from(scroller.scroll_top()) / f64::from(scroller.scroll_height().max(1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a line of the text, never negative"
    )]
    let line = (share.clamp(0.0, 1.0) * lines as f64) as usize;
    line
}

/// Brings an element into view, no farther than needed.
pub fn reveal(element: &Element) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

/// The value of the field or select that `event` comes from.
pub fn input_value(event: &Event) -> String {
    event
        .target()
        .and_then(|field| Reflect::get(&field, &"value".into()).ok()?.as_string())
        .unwrap_or_default()
}

fn active_element() -> Option<Element> {
    super::document()?.active_element()
}
