//! Files of the page's own folder.

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Response;

/// Fetches a file from beside the page; `done` gets its text, or `None` when it does not come.
pub fn fetch_text(path: &str, done: impl Fn(Option<String>) + 'static) {
    boxed_fetch(path, Box::new(done));
}

fn boxed_fetch(path: &str, done: Box<dyn Fn(Option<String>)>) {
    let Some(window) = web_sys::window() else {
        return;
    };
    let done = std::rc::Rc::new(done);
    let (refused, unread) = (done.clone(), done.clone());
    let answered = Closure::once(move |response: JsValue| {
        let text = response
            .dyn_into::<Response>()
            .ok()
            .filter(Response::ok)
            .and_then(|response| response.text().ok());
        let Some(text) = text else {
            return done(None);
        };
        let read = Closure::once(move |text: JsValue| done(text.as_string()));
        let failed = Closure::once(move |_: JsValue| unread(None));
        let _ = text.then2(&read, &failed);
        read.forget();
        failed.forget();
    });
    let failed = Closure::once(move |_: JsValue| refused(None));
    let _ = window.fetch_with_str(path).then2(&answered, &failed);
    answered.forget();
    failed.forget();
}
