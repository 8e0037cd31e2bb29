//! The page's state: signals, storage, share links and undo.
//!
//! `documents`, `history`, `job_queue`, `jobs`, `links`, `op_edit`, `opened`, `panes` and `runner` are pure and also compiled natively, for the tests.

pub mod documents;
pub mod held_range;
pub mod history;
pub mod job_queue;
pub mod jobs;
pub mod links;
pub mod op_edit;
pub mod opened;
pub mod panes;
pub mod runner;

#[cfg(target_arch = "wasm32")]
pub mod background;
#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod sharing;
#[cfg(target_arch = "wasm32")]
pub mod starts;
#[cfg(target_arch = "wasm32")]
pub mod state;
#[cfg(target_arch = "wasm32")]
mod stored;
