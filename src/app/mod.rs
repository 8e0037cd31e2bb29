//! What the page knows: its state in signals, what storage keeps and links carry, and undo.
//!
//! Undo, links and what is opened are pure and native as well, so that tests reach them.

pub mod history;
pub mod links;
pub mod op_edit;
pub mod opened;

#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod state;
