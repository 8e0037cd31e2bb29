//! What a visitor reads stays in sight when a phone is turned.

use super::animate::is_media;
use super::debounce::Debounce;
use super::document::document;
use super::focus::window_height_px;
use super::listen::on_window;
use leptos::ev;
use leptos::prelude::*;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::{Element, ScrollIntoViewOptions, ScrollLogicalPosition, SvgElement};

/// The page is at rest after a scroll or a press, and the pictures have their new sizes after a
/// turn.
const REST: Duration = Duration::from_millis(200);

/// The points at which an element to read is looked up, as shares of the window's width and height:
/// in the middle, then in the left of two panes.
const WIDTHS: [f64; 2] = [0.5, 0.2];
const HEIGHTS: [f64; 4] = [0.45, 0.35, 0.55, 0.25];

/// Scrolls back to what stood in the middle of the window when the window gets another orientation:
/// the page is laid out anew, so that something else may stand there.
pub fn keep_place_when_turned() {
    let read: StoredValue<Option<Element>, LocalStorage> = StoredValue::new_local(None);
    let is_upright = StoredValue::new(is_upright());
    let at_rest = Debounce::after(REST);
    let turned = Debounce::after(REST);
    let look = move || {
        at_rest.call(move || {
            if let Some(element) = element_in_middle() {
                read.set_value(Some(element));
            }
        });
    };
    on_window(ev::scroll, move |_| look());
    on_window(ev::click, move |_| look());
    // A press cancels the scroll, so that the pressed element stays where it is.
    on_window(ev::pointerdown, move |_| turned.cancel());
    on_window(ev::resize, move |_| {
        let now = self::is_upright();
        if is_upright.try_update_value(|before| std::mem::replace(before, now)) == Some(now) {
            return;
        }
        // The new layout causes a scroll, too, which is not the visitor's.
        at_rest.cancel();
        turned.call(move || {
            let is_lost =
                |element: &Element| element.is_connected() && !has_middle_in_window(element);
            if let Some(element) = read.get_value().filter(is_lost) {
                let options = ScrollIntoViewOptions::new();
                options.set_block(ScrollLogicalPosition::Center);
                element.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
}

fn is_upright() -> bool {
    is_media("(orientation: portrait)")
}

fn has_middle_in_window(element: &Element) -> bool {
    let rect = element.get_bounding_client_rect();
    (0.0..=window_height_px()).contains(&(rect.top() + rect.height() / 2.0))
}

/// The element in the middle of the window, unless it is so high that its own middle may be out of
/// sight. For a picture this is its frame, because another size has other marks.
fn element_in_middle() -> Option<Element> {
    let width = web_sys::window()?.inner_width().ok()?.as_f64()?;
    let height = window_height_px();
    let document = document()?;
    let places = WIDTHS
        .iter()
        .flat_map(|x| HEIGHTS.map(|y| (x * width, y * height)));
    let mut found = places.filter_map(|(x, y)| {
        #[allow(clippy::cast_possible_truncation, reason = "pixels of a window")]
        let element = document.element_from_point(x as f32, y as f32)?;
        match element.dyn_ref::<SvgElement>() {
            Some(mark) => mark.closest("svg").ok()??.parent_element(),
            None => Some(element),
        }
    });
    found.find(|element| element.get_bounding_client_rect().height() < 0.8 * height)
}
