//! The size of an element, and of the page's type.

use js_sys::Array;
use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver, ResizeObserverEntry};

/// Width and height of an element's content in CSS pixels. 0 before the element is mounted and
/// while it is hidden.
pub fn content_size<E>(node: NodeRef<E>) -> ReadSignal<(f64, f64)>
where
    E: ElementType,
    E::Output: JsCast + AsRef<Element> + Clone + 'static,
{
    let (size, set_size) = signal((0.0, 0.0));
    Effect::new(move || {
        if let Some(element) = node.get() {
            // The effect owns the value, so it is dropped with the component.
            StoredValue::new_local(Observation::of(element.as_ref(), move |width, height| {
                set_size.try_set((width, height));
            }));
        }
    });
    size
}

/// Observes the size of an element until it is dropped.
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

/// The root's font size over the usual 16 px.
pub fn type_scale() -> f64 {
    let style = web_sys::window()
        .zip(super::document::document().and_then(|d| d.document_element()))
        .and_then(|(window, root)| window.get_computed_style(&root).ok()?);
    style
        .and_then(|s| s.get_property_value("font-size").ok())
        .and_then(|size| size.strip_suffix("px")?.parse().ok())
        .filter(|&px: &f64| px > 0.0)
        .map_or(1.0, |px| px / 16.0)
}
