//! A second thread that runs the same program, without a page.

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, Event, MessageEvent, WorkerOptions, WorkerType};

#[wasm_bindgen]
extern "C" {
    type ImportMeta;

    /// `import.meta` of the module that loads this program.
    #[wasm_bindgen(thread_local_v2, js_namespace = import, js_name = meta)]
    static IMPORT_META: ImportMeta;

    #[wasm_bindgen(method, getter)]
    fn url(this: &ImportMeta) -> JsValue;
}

/// A running worker. Dropping it ends its thread at once, whatever it is doing.
pub struct Worker {
    thread: web_sys::Worker,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_failure: Closure<dyn Fn(Event)>,
}

impl Worker {
    /// Starts a worker. Its messages, or why it has failed, are given to the two functions.
    ///
    /// # Errors
    /// What the browser says when it refuses.
    pub fn start(
        on_message: impl Fn(Vec<u8>) + 'static,
        on_failure: impl Fn(String) + 'static,
    ) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let thread = web_sys::Worker::new_with_options("./worker.js", &options).map_err(said)?;
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            on_message(Uint8Array::new(&event.data()).to_vec());
        });
        // An error of its program, or an event without a message if it cannot be loaded.
        let on_failure = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            let message = message_of(&event);
            on_failure(message.unwrap_or_else(|| "its program could not be loaded".to_owned()));
        });
        thread.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        thread.set_onerror(Some(on_failure.as_ref().unchecked_ref()));
        let program = Object::new();
        let parts = [
            ("bindings", IMPORT_META.with(ImportMeta::url)),
            ("module", wasm_bindgen::module()),
        ];
        for (name, part) in parts {
            Reflect::set(&program, &name.into(), &part).map_err(said)?;
        }
        thread.post_message(&program).map_err(said)?;
        Ok(Self {
            thread,
            _on_message: on_message,
            _on_failure: on_failure,
        })
    }

    /// Sends it a message.
    pub fn post(&self, message: &[u8]) {
        // Fails only for values that cannot be cloned.
        let _ = self.thread.post_message(&Uint8Array::from(message));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.thread.set_onmessage(None);
        self.thread.set_onerror(None);
        self.thread.terminate();
    }
}

/// In a worker: sends the page a message. Its bytes move to the page instead of being copied once
/// more.
pub fn post_to_page(message: &[u8]) {
    let bytes = Uint8Array::from(message);
    let worker: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let moved = Array::of1(&bytes.buffer());
    // The page may be gone, and then the answer is not needed.
    let _ = worker.post_message_with_transfer(&bytes, &moved);
}

/// Whether this program runs in a worker.
pub fn is_worker() -> bool {
    web_sys::window().is_none()
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
fn said(error: JsValue) -> String {
    message_of(&error).unwrap_or_else(|| "the browser refuses to start it".to_owned())
}

fn message_of(error: &JsValue) -> Option<String> {
    let message = Reflect::get(error, &"message".into()).ok()?;
    message.as_string().filter(|message| !message.is_empty())
}
