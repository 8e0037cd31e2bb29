//! What is shown over the page beside the element that opened it, without holding the page.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, ShowPopoverOptions};

/// The button that has opened something, to which the focus returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Opener(HtmlElement);

impl Opener {
    /// The button of this event.
    pub fn of(event: &Event) -> Option<Self> {
        let target = event.target()?.dyn_into::<Element>().ok()?;
        let button = target.closest("button").ok()??;
        button.dyn_into().ok().map(Self)
    }

    /// Whether it is still on the page.
    pub fn is_mounted(&self) -> bool {
        self.0.is_connected()
    }

    /// Gives it the focus.
    pub fn focus(&self) {
        // Focusing a mounted element does not fail.
        let _ = self.0.focus();
    }
}

/// Between an element and the edge of the window, or of what covers it.
const EDGE_PX: f64 = 8.0;

/// Whenever an element is mounted, shifts it sideways so far that the window shows all of it, or
/// its start where it is wider.
pub fn keep_in_window(element: NodeRef<html::Div>) {
    Effect::new(move || {
        let (Some(element), Some(width)) = (element.get(), document_width()) else {
            return;
        };
        let rect = element.get_bounding_client_rect();
        let beyond_end = (rect.right() + EDGE_PX - width).max(0.0);
        let shift = (EDGE_PX - (rect.left() - beyond_end)).max(0.0) - beyond_end;
        if shift != 0.0 {
            let style = (*element).style();
            // Fails for no value of a known property.
            let _ = style.set_property("translate", &format!("{shift}px"));
        }
    });
}

fn document_width() -> Option<f64> {
    let root = web_sys::window()?.document()?.document_element()?;
    Some(f64::from(root.client_width()))
}

/// Shows a popover beside its opener, and gives it the focus. CSS places it.
pub fn show_beside(popover: NodeRef<html::Div>, opener: &Opener) {
    if let Some(popover) = popover.get_untracked() {
        let options = ShowPopoverOptions::new();
        options.set_source(&opener.0);
        // Hiding fails for one that is not shown, both in a browser without popovers, where CSS
        // shows it.
        let _ = popover.hide_popover();
        let _ = popover.show_popover_with_options(&options);
        let _ = popover.focus();
        let opener = opener.0.clone();
        // The popover is as high as what it says by then.
        super::next_frame(move || reveal_above(&opener, &popover));
    }
}

/// Scrolls as little as needed to show an element, above `cover` where that lies over it. Does
/// nothing where the element is in sight.
fn reveal_above(element: &HtmlElement, cover: &Element) {
    const MARGIN: &str = "scroll-margin-block-end";
    let (rect, cover) = (
        element.get_bounding_client_rect(),
        cover.get_bounding_client_rect(),
    );
    let is_covered = rect.left() < cover.right()
        && cover.left() < rect.right()
        && rect.top() < cover.bottom()
        && cover.top() < rect.bottom();
    // Setting and removing a known property does not fail. It is removed so that no later scroll,
    // such as that of a focus, obeys it.
    let style = element.style();
    if is_covered {
        let margin_px = super::focus::window_height_px() - cover.top() + EDGE_PX;
        let _ = style.set_property(MARGIN, &format!("{margin_px}px"));
    }
    super::reveal(element);
    let _ = style.remove_property(MARGIN);
}
