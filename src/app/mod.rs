//! The page's state: signals, storage, share links and undo.
//!
//! Undo and links are pure and also compiled natively, for the tests.

pub mod history;
pub mod links;

#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod state;
