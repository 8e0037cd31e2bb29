//! A component in a corner of the document, and what a test asks of it.

use js_sys::Promise;
use js_sys::futures::JsFuture;
use leptos::mount::mount_to;
use leptos::prelude::{IntoView, document, request_animation_frame};
use leptos::task::tick;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Element, Event, EventInit, HtmlElement, HtmlInputElement, HtmlSelectElement, KeyboardEvent,
    KeyboardEventInit, PointerEvent,
};

/// Waits until effects, and effects that they set off, have run.
pub(crate) async fn settled() {
    for _ in 0..8 {
        tick().await;
    }
}

/// Waits for two frames, in which sizes are observed, and until effects have run.
pub(crate) async fn drawn() {
    for _ in 0..2 {
        let frame = Promise::new(&mut |done, _| {
            request_animation_frame(move || {
                done.call0(&JsValue::NULL).unwrap();
            })
            .unwrap();
        });
        JsFuture::from(frame).await.unwrap();
    }
    settled().await;
}

/// The element around a mounted component.
pub(crate) struct Mounted(HtmlElement);

/// Mounts what `view` gives, and waits until its effects have run.
pub(crate) async fn mounted<V: IntoView + 'static>(view: impl FnOnce() -> V + 'static) -> Mounted {
    let root: HtmlElement = document().create_element("div").unwrap().unchecked_into();
    document().body().unwrap().append_child(&root).unwrap();
    mount_to(root.clone(), view).forget();
    settled().await;
    Mounted(root)
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The ids of one test must not be found by the next.
        self.0.remove();
    }
}

impl Mounted {
    /// All elements that match a CSS selector.
    pub(crate) fn all(&self, selector: &str) -> Vec<Element> {
        let found = self.0.query_selector_all(selector).unwrap();
        (0..found.length())
            .filter_map(|i| found.get(i)?.dyn_into().ok())
            .collect()
    }

    /// The first element that matches.
    pub(crate) fn one(&self, selector: &str) -> Element {
        let found = self.0.query_selector(selector).unwrap();
        found.unwrap_or_else(|| panic!("nothing matches {selector} in {}", self.0.inner_html()))
    }

    /// The texts of all elements that match.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let text = |element: Element| element.text_content().unwrap_or_default();
        self.all(selector).into_iter().map(text).collect()
    }

    /// Clicks on the first element that matches.
    pub(crate) async fn click(&self, selector: &str) {
        let event = bubbling("click");
        self.one(selector).dispatch_event(&event).unwrap();
        settled().await;
    }

    /// Clicks on the first button that matches, with an event of the mouse.
    pub(crate) async fn press_button(&self, selector: &str) {
        let button: HtmlElement = self.one(selector).unchecked_into();
        button.click();
        settled().await;
    }

    /// Puts a value into a field as typing or dragging would, and fires the events named.
    pub(crate) async fn enter(&self, selector: &str, value: &str, events: &[&str]) {
        let field: HtmlInputElement = self.one(selector).unchecked_into();
        field.set_value(value);
        for name in events {
            field.dispatch_event(&bubbling(name)).unwrap();
        }
        settled().await;
    }

    /// Chooses an option of a list, by its value.
    pub(crate) async fn choose(&self, selector: &str, value: &str) {
        let select: HtmlSelectElement = self.one(selector).unchecked_into();
        select.set_value(value);
        select.dispatch_event(&bubbling("change")).unwrap();
        settled().await;
    }

    /// Presses a key on the first element that matches. Returns whether the browser does what the
    /// key does by itself.
    pub(crate) async fn press(&self, selector: &str, key: &str) -> bool {
        self.press_key(selector, key, false).await
    }

    /// The same with the control key.
    pub(crate) async fn press_with_control(&self, selector: &str, key: &str) -> bool {
        self.press_key(selector, key, true).await
    }

    async fn press_key(&self, selector: &str, key: &str, has_control: bool) -> bool {
        let init = KeyboardEventInit::new();
        init.set_bubbles(true);
        init.set_cancelable(true);
        init.set_key(key);
        init.set_ctrl_key(has_control);
        let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
        let is_left = self.one(selector).dispatch_event(&event).unwrap();
        settled().await;
        is_left
    }

    /// Focuses the first element that matches.
    pub(crate) async fn focus(&self, selector: &str) -> Element {
        let element = self.one(selector);
        let focusable: &HtmlElement = element.unchecked_ref();
        focusable.focus().unwrap();
        settled().await;
        element
    }

    /// Fires an event that does not bubble at the first element that matches.
    pub(crate) async fn fire(&self, selector: &str, name: &str) {
        let event = Event::new(name).unwrap();
        self.one(selector).dispatch_event(&event).unwrap();
        settled().await;
    }

    /// A mouse comes onto the first element that matches.
    pub(crate) async fn point_at(&self, selector: &str) {
        let event = PointerEvent::new("pointerenter").unwrap();
        self.one(selector).dispatch_event(&event).unwrap();
        settled().await;
    }

    /// Hides or shows all of it.
    pub(crate) async fn set_hidden(&self, is_hidden: bool) {
        self.0.set_hidden(is_hidden);
        drawn().await;
    }

    /// What a field holds.
    pub(crate) fn value(&self, selector: &str) -> String {
        self.one(selector)
            .unchecked_into::<HtmlInputElement>()
            .value()
    }
}

fn bubbling(name: &str) -> Event {
    let init = EventInit::new();
    init.set_bubbles(true);
    Event::new_with_event_init_dict(name, &init).unwrap()
}
