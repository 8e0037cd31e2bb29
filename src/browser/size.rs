//! How large an element is shown.

use crate::core::decimal::parse_decimal;
use js_sys::Array;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver, ResizeObserverEntry};

/// Calls `changed(width, height)` with the size of the element's content in CSS pixels, once it stands in the page
/// and whenever it changes, as long as the component is mounted that calls this.
pub fn observe_size(id: &str, changed: impl Fn(f64, f64) + 'static) {
    let id = id.to_owned();
    let changed = StoredValue::new_local(changed);
    Effect::new(move || {
        if let Some(element) = super::element(&id) {
            // Owned by this effect, which ends with its component.
            StoredValue::new_local(Observation::of(&element, move |width, height| {
                changed.try_with_value(|changed| changed(width, height));
            }));
        }
    });
}

/// An observer that observes until it is dropped.
struct Observation {
    observer: Option<ResizeObserver>,
    _callback: Closure<dyn Fn(Array)>,
}

impl Observation {
    fn of(element: &Element, changed: impl Fn(f64, f64) + 'static) -> Self {
        let callback = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
            if let Ok(entry) = entries.get(0).dyn_into::<ResizeObserverEntry>() {
                let size = entry.content_rect();
                changed(size.width(), size.height());
            }
        });
        let observer = ResizeObserver::new(callback.as_ref().unchecked_ref()).ok();
        if let Some(observer) = &observer {
            observer.observe(element);
        }
        Self {
            observer,
            _callback: callback,
        }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        if let Some(observer) = &self.observer {
            observer.disconnect();
        }
    }
}

/// How much larger than usual the page's type is: the root's font size over 16 px.
pub fn type_scale() -> f64 {
    let style = web_sys::window()
        .zip(super::document().and_then(|d| d.document_element()))
        .and_then(|(window, root)| window.get_computed_style(&root).ok()?);
    style
        .and_then(|s| s.get_property_value("font-size").ok())
        .and_then(|size| parse_decimal(size.strip_suffix("px")?))
        .filter(|&px| px > 0.0)
        .map_or(1.0, |px| px / 16.0)
}

/// Whether the `<details>` that `event` comes from is open.
pub fn is_open(event: &web_sys::Event) -> bool {
    let details = event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    details.is_some_and(|d| d.has_attribute("open"))
}
