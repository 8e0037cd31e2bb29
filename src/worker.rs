//! The entry of the program in a worker.

use crate::app::jobs::{Job, Message, Runner};
use js_sys::{Function, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

thread_local! {
    static RUNNER: RefCell<Runner> = RefCell::default();
}

/// Runs a job of the page, in the page's own encoding. `post` gets how far it is, and its answer.
///
/// # Errors
/// A job of another version of the page.
#[wasm_bindgen]
pub fn run_job(job: &[u8], post: &Function) -> Result<(), JsError> {
    let job: Job = borsh::from_slice(job)?;
    let send = |message: &Message| -> Result<(), JsError> {
        let bytes = Uint8Array::from(&borsh::to_vec(message)?[..]);
        // The other side may be gone: then nobody needs the answer.
        let _ = post.call1(&JsValue::UNDEFINED, &bytes);
        Ok(())
    };
    let answer = RUNNER.with_borrow_mut(|runner| {
        runner.run(&job, &mut |stage| {
            // A stage can be encoded.
            let _ = send(&Message::Stage(stage));
        })
    });
    send(&Message::Answer(Box::new(answer)))
}
