//! After a panic: an overlay with the visitor's text, so that it can be copied.
//!
//! Built with `web_sys` alone, because after a panic the state of Leptos may be inconsistent.

use std::cell::RefCell;
use std::panic::PanicHookInfo;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Document, Element, HtmlElement, HtmlTextAreaElement};

thread_local! {
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a copy of the visitor's text outside the page's signals.
pub fn remember_text(text: &str) {
    TEXT.with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            kept.clear();
            kept.push_str(text);
        }
    });
}

/// Shows the overlay when the program panics.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        let message = info.to_string();
        web_sys_log(&message);
        let text = TEXT.with(|kept| kept.try_borrow().map(|t| t.clone()).unwrap_or_default());
        // Fails only without a document.
        let _ = show(&message, &text);
    }));
}

fn web_sys_log(message: &str) {
    let console = js_sys::Reflect::get(&js_sys::global(), &"console".into());
    let error = console
        .as_ref()
        .ok()
        .and_then(|c| js_sys::Reflect::get(c, &"error".into()).ok())
        .and_then(|f| f.dyn_into::<js_sys::Function>().ok());
    if let (Ok(console), Some(error)) = (console, error) {
        let _ = error.call1(&console, &message.into());
    }
}

fn show(message: &str, text: &str) -> Option<()> {
    let document = super::document::document()?;
    if document.get_element_by_id("failure").is_some() {
        return None;
    }
    let overlay = child(&document, document.body()?.as_ref(), "div", "")?;
    overlay.set_id("failure");
    overlay.set_class_name("failure");
    overlay.set_attribute("role", "alertdialog").ok()?;
    overlay
        .set_attribute("aria-labelledby", "failure-title")
        .ok()?;
    let panel = child(&document, &overlay, "div", "")?;
    panel.set_class_name("failure-panel");
    child(&document, &panel, "h1", "Fuseline has stopped")?.set_id("failure-title");
    child(
        &document,
        &panel,
        "p",
        "This is a fault of Fuseline. Copy your text below to be safe, then reload.",
    )?;
    let label = child(&document, &panel, "label", "Your text")?;
    label.set_attribute("for", "failure-text").ok()?;
    let area: HtmlTextAreaElement = child(&document, &panel, "textarea", "")?.dyn_into().ok()?;
    area.set_id("failure-text");
    area.set_value(text);
    area.set_read_only(true);
    child(&document, &panel, "pre", message)?.set_class_name("failure-message");
    let copy: HtmlElement = child(&document, &panel, "button", "Select and copy the text")?
        .dyn_into()
        .ok()?;
    let text = text.to_owned();
    on_click(&copy, move || {
        area.select();
        // If the clipboard refuses, the text is still selected.
        let _ = super::clipboard::begin_copy(&text);
    });
    let reload: HtmlElement = child(&document, &panel, "button", "Reload")?
        .dyn_into()
        .ok()?;
    on_click(&reload, || {
        if let Some(window) = web_sys::window() {
            let _ = window.location().reload();
        }
    });
    reload.focus().ok()
}

fn child(document: &Document, parent: &Element, tag: &str, text: &str) -> Option<Element> {
    let element = document.create_element(tag).ok()?;
    element.set_text_content(Some(text));
    parent.append_child(&element).ok()?;
    Some(element)
}

fn on_click(button: &HtmlElement, action: impl Fn() + 'static) {
    let listener = Closure::<dyn Fn()>::new(action);
    let _ = button.add_event_listener_with_callback("click", listener.as_ref().unchecked_ref());
    listener.forget();
}
