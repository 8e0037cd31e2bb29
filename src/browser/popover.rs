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

/// Whenever an element is mounted, shifts it sideways so far that the window shows all of it, or its start where it is wider.
pub fn keep_in_window(element: NodeRef<html::Div>) {
    /// Between the element and the edge of the window.
    const EDGE_PX: f64 = 8.0;
    Effect::new(move || {
        let (Some(element), Some(width)) = (element.get(), document_width()) else {
            return;
        };
        let place = element.get_bounding_client_rect();
        let beyond_end = (place.right() + EDGE_PX - width).max(0.0);
        let shift = (EDGE_PX - (place.left() - beyond_end)).max(0.0) - beyond_end;
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
        // Hiding fails for one that is not shown, both in a browser without popovers, where CSS shows it.
        let _ = popover.hide_popover();
        let _ = popover.show_popover_with_options(&options);
        let _ = popover.focus();
        // The margin of its scroll keeps it clear of a sheet at the bottom.
        super::reveal(&opener.0);
    }
}
