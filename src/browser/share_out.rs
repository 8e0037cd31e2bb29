//! The clipboard.

use js_sys::Reflect;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// Copies `text`; `done` learns whether the clipboard took it.
pub fn copy(text: &str, done: impl Fn(bool) + 'static) {
    let clipboard = web_sys::window()
        .and_then(|w| Reflect::get(&w.navigator(), &"clipboard".into()).ok())
        .and_then(|c| c.dyn_into::<web_sys::Clipboard>().ok());
    // Without a secure context there is no clipboard at all.
    let Some(clipboard) = clipboard else {
        done(false);
        return;
    };
    let done = std::rc::Rc::new(done);
    let refused = done.clone();
    let taken = Closure::once(move |_: JsValue| done(true));
    let failed = Closure::once(move |_: JsValue| refused(false));
    let _ = clipboard.write_text(text).then2(&taken, &failed);
    // The browser calls one of them, once.
    taken.forget();
    failed.forget();
}
