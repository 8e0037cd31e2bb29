//! The entry of the program in a worker.

use crate::app::jobs::{Job, Message};
use crate::app::runner::Runner;
use fuseline_browser::post_to_page;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

thread_local! {
    static RUNNER: RefCell<Runner> = RefCell::default();
}

/// Runs a job of the page, in the page's own encoding. Posts how far it is, and its answer.
///
/// # Errors
/// A job of another version of the page.
#[wasm_bindgen]
pub fn run_job(job: &[u8]) -> Result<(), JsError> {
    let job: Job = borsh::from_slice(job)?;
    let send = |message: &Message| -> Result<(), JsError> {
        post_to_page(&borsh::to_vec(message)?);
        Ok(())
    };
    let answer = RUNNER.with_borrow_mut(|runner| {
        runner.run(&job, &mut |stage| {
            // A stage can be encoded.
            let _ = send(&Message::Stage(stage));
        })
    });
    send(&Message::Answer(answer))
}
