//! Animations of single elements.

use js_sys::{Array, Object, Reflect};
use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::Element;

/// Duration of an animation, as `--calm` in `style/tokens.css`.
const DURATION_MS: f64 = 200.0;

// `web_sys` offers `Element.animate` only among its unstable interfaces.
#[wasm_bindgen]
extern "C" {
    type Animatable;
    #[wasm_bindgen(method)]
    fn animate(this: &Animatable, frames: &Array, duration_ms: f64);
}

/// Once an element is mounted, animates its properties from `values` to its own. Where the visitor
/// asked for less motion, it has its own at once.
pub fn animate_from<E>(node: NodeRef<E>, values: Vec<(&'static str, String)>)
where
    E: ElementType,
    E::Output: JsCast + AsRef<Element> + Clone + 'static,
{
    if wants_less_motion() {
        return;
    }
    node.on_load(move |element| {
        let frame = Object::new();
        // A single keyframe is the first one; the element's own style is the last.
        let first = [("easing", "ease".to_owned()), ("offset", "0".to_owned())];
        for (property, value) in values.into_iter().chain(first) {
            // Setting a property of a new object does not fail.
            let _ = Reflect::set(&frame, &property.into(), &value.into());
        }
        let element: &Element = element.as_ref();
        let element: &Animatable = element.unchecked_ref();
        element.animate(&Array::of1(&frame), DURATION_MS);
    });
}

/// Whether the visitor asked for less motion.
pub fn wants_less_motion() -> bool {
    is_media("(prefers-reduced-motion: reduce)")
}

/// Whether cards are sheets at an edge of the window, as the style sheets have them on a phone,
/// upright or not.
pub fn shows_sheets() -> bool {
    is_media("(width < 45em), (height < 30em)")
}

pub(crate) fn is_media(query: &str) -> bool {
    let query = web_sys::window().and_then(|window| window.match_media(query).ok()?);
    query.is_some_and(|query| query.matches())
}
