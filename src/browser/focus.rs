//! Focus, carets and scrolling.

use leptos::html::{self, ElementType};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{
    Element, FocusOptions, HtmlBodyElement, HtmlElement, HtmlInputElement, HtmlTextAreaElement,
    KeyboardEvent, NodeList, ScrollIntoViewOptions, ScrollLogicalPosition, SvgElement,
};

/// A selection in a text field, in UTF-16 units; a caret where `start == end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    /// First selected unit.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// The element, if it is mounted. Code that runs later must call this, because a [`NodeRef`] itself
/// panics once its component is unmounted.
pub fn mounted<E>(node: NodeRef<E>) -> Option<E::Output>
where
    E: ElementType,
    E::Output: JsCast + Clone + 'static,
{
    node.try_get_untracked().flatten()
}

/// Gives the focus to an element, if it is mounted.
pub fn focus<E>(node: NodeRef<E>)
where
    E: ElementType,
    E::Output: JsCast + AsRef<HtmlElement> + Clone + 'static,
{
    if let Some(element) = mounted(node) {
        let element: &HtmlElement = element.as_ref();
        // Focusing a mounted element does not fail.
        let _ = element.focus();
    }
}

/// Gives the focus to the first field of a form, if it is mounted: to the chosen option if there is
/// one. Selects all of a text.
pub fn focus_field(form: NodeRef<html::Form>) {
    let field = mounted(form).and_then(|form| {
        let first = |selector| form.query_selector(selector).ok().flatten();
        first("input:checked").or_else(|| first("input"))
    });
    if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
        // Focusing a mounted element does not fail.
        let _ = field.focus();
        field.select();
    }
}

/// Gives the focus to an SVG element without scrolling the page.
pub fn focus_svg(element: &SvgElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = element.focus_with_options(&options);
}

/// Whether anything in the page has the focus.
pub fn has_focus() -> bool {
    active_element().is_some_and(|e| !e.is_instance_of::<HtmlBodyElement>())
}

/// Whether the focused element shows its focus, as after a key but not after a pointer.
pub fn has_visible_focus() -> bool {
    active_element().is_some_and(|e| e.matches(":focus-visible") == Ok(true))
}

/// Whether `element`, or something in it, has the focus.
pub fn has_focus_within(element: &Element) -> bool {
    active_element().is_some_and(|e| element.contains(Some(&e)))
}

/// Whether a text field has the focus.
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

/// Gives the focus from one element of a table that matches `selector` to the next one in the
/// direction of the pressed key: in its row, or in the nearest row that has one at the same place.
pub fn step_in_table(event: &KeyboardEvent, selector: &str) {
    let key = event.key();
    if let Some(next) = next_in_table(event, &key, selector) {
        // Keeps the table from scrolling.
        event.prevent_default();
        let _ = next.focus();
    }
}

fn next_in_table(event: &KeyboardEvent, key: &str, selector: &str) -> Option<HtmlElement> {
    let from = event.target()?.dyn_into::<Element>().ok()?;
    let row = from.closest("tr").ok()??;
    let of_row = |row: &Element| elements(row.query_selector_all(selector).ok());
    let own = of_row(&row);
    let at = own.iter().position(|element| **element == from)?;
    match key {
        "ArrowLeft" => own.get(at.checked_sub(1)?).cloned(),
        "ArrowRight" => own.get(at + 1).cloned(),
        "Home" => own.first().cloned(),
        "End" => own.last().cloned(),
        "ArrowUp" | "ArrowDown" => {
            let table = row.closest("table").ok()??;
            let rows = elements(table.query_selector_all("tr").ok());
            let index = rows.iter().position(|other| **other == row)?;
            let in_row = |row: &HtmlElement| of_row(row).get(at).cloned();
            match key {
                "ArrowUp" => rows.iter().take(index).rev().find_map(in_row),
                _ => rows.iter().skip(index + 1).find_map(in_row),
            }
        }
        _ => None,
    }
}

fn elements(found: Option<NodeList>) -> Vec<HtmlElement> {
    let found = found.into_iter().flat_map(|list| {
        let indices = 0..list.length();
        indices.filter_map(move |index| list.item(index))
    });
    found.filter_map(|node| node.dyn_into().ok()).collect()
}

pub fn caret(area: &HtmlTextAreaElement) -> Option<Caret> {
    Some(Caret {
        start: area.selection_start().ok()??,
        end: area.selection_end().ok()??,
    })
}

pub fn set_caret(area: &HtmlTextAreaElement, caret: Caret) {
    // Does not fail for a text area: a place past the end counts as the end.
    let _ = area.set_selection_range(caret.start, caret.end);
}

/// Selects a line, from 1, of a text area, which gets the focus. Browsers scroll to it.
pub fn select_line(area: &HtmlTextAreaElement, line: usize) {
    let text = area.value();
    let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (before, after) = lines.split_at(line.saturating_sub(1).min(lines.len()));
    let start: u32 = before.iter().map(|line| units(line)).sum();
    let length = after
        .first()
        .map_or(0, |line| units(line.trim_end_matches('\n')));
    // Fails only for an element that is no longer on the page.
    let _ = area.focus();
    set_caret(
        area,
        Caret {
            start,
            end: start + length,
        },
    );
}

/// Scrolls until a line is in view. All lines are equally high; `line` counts from 0.
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

/// Scrolls the page to its top.
pub fn scroll_to_top() {
    scroll_page(0.0);
}

/// Scrolls the page to this distance from its top, in CSS pixels.
pub fn scroll_page(top_px: f64) {
    if let Some(window) = web_sys::window() {
        window.scroll_to_with_x_and_y(0.0, top_px);
    }
}

/// How far the page is scrolled from its top, in CSS pixels.
pub fn scrolled_px() -> f64 {
    let scrolled_px = web_sys::window().and_then(|window| window.scroll_y().ok());
    scrolled_px.unwrap_or_default()
}

/// Scrolls `scroller`, but not the page, until `element` in it is in view.
pub fn reveal_in(scroller: &Element, element: &Element) {
    let (frame, rect) = (
        scroller.get_bounding_client_rect(),
        element.get_bounding_client_rect(),
    );
    let distance = |start: f64, end: f64, from: f64, to: f64| {
        if start < from || end > to {
            start - from - (to - from) / 3.0
        } else {
            0.0
        }
    };
    scroller.scroll_by_with_x_and_y(
        distance(rect.left(), rect.right(), frame.left(), frame.right()),
        distance(rect.top(), rect.bottom(), frame.top(), frame.bottom()),
    );
}

/// The first line in view, from 0, in a scroller with this many equally high lines.
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

/// Where a line is in the frame of a scroller of equally high lines: 0 at its top, 1 at its bottom.
pub fn place_in_view(scroller: &Element, line: usize, lines: usize) -> f64 {
    let line_height = f64::from(scroller.scroll_height()) / lines.max(1) as f64;
    let down = line_height * line as f64 - f64::from(scroller.scroll_top());
    down / f64::from(scroller.client_height().max(1))
}

/// Scrolls as little as needed to bring an element into view, or its start where it is taller than
/// the window.
pub fn reveal(element: &Element) {
    let is_taller = element.get_bounding_client_rect().height() > window_height_px();
    let options = ScrollIntoViewOptions::new();
    options.set_block(if is_taller {
        ScrollLogicalPosition::Start
    } else {
        ScrollLogicalPosition::Nearest
    });
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Calls [`reveal`] for the element of a node, if it is mounted.
pub fn reveal_node<E>(node: NodeRef<E>)
where
    E: ElementType,
    E::Output: JsCast + AsRef<Element> + Clone + 'static,
{
    if let Some(element) = mounted(node) {
        reveal(element.as_ref());
    }
}

/// Calls [`reveal`] for the first element in `node` that matches `selector`, if there is one.
pub fn reveal_within<E>(node: NodeRef<E>, selector: &str)
where
    E: ElementType,
    E::Output: JsCast + AsRef<Element> + Clone + 'static,
{
    let found = mounted(node).and_then(|node| {
        let node: &Element = node.as_ref();
        node.query_selector(selector).ok()?
    });
    if let Some(element) = found {
        reveal(&element);
    }
}

/// Calls [`reveal`] unless at least `least_px` of the element's height are in view.
pub fn reveal_unless_seen(element: &Element, least_px: f64) {
    let rect = element.get_bounding_client_rect();
    let seen_px = rect.bottom().min(window_height_px()) - rect.top().max(0.0);
    if seen_px < least_px.min(rect.height()) {
        reveal(element);
    }
}

/// Whether the window shows an element from its upper to its lower edge.
pub fn is_in_window(element: &Element) -> bool {
    let rect = element.get_bounding_client_rect();
    rect.top() >= 0.0 && rect.bottom() <= window_height_px()
}

pub(crate) fn window_height_px() -> f64 {
    let height = web_sys::window().and_then(|window| window.inner_height().ok()?.as_f64());
    height.unwrap_or_default()
}

fn active_element() -> Option<Element> {
    super::document::document()?.active_element()
}
