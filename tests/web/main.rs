//! Components and exported functions in a real browser: `./dev test` runs them by
//! `wasm-bindgen-test` in Chromium.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what it expects by failing"
)]

mod charts;
mod components;
mod dialog;
mod exports;
mod help;
mod mounted;
mod ops;
mod precision;
mod repeats;
mod results;
mod share;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
