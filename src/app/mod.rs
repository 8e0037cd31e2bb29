//! The page's state: signals, storage, share links and undo.
//!
//! `documents`, `embed`, `history`, `job_queue`, `jobs`, `lesson`, `links`, `measured_devices`, `model_file`, `op_edit`, `opened`, `panes`, `presenter`, `puzzle`, `runner`, `tab` and `view` are pure and also compiled natively, for the tests.

pub mod documents;
pub mod embed;
pub mod held_range;
pub mod history;
pub mod job_queue;
pub mod jobs;
pub mod lesson;
pub mod links;
pub mod measured_devices;
pub mod model_file;
pub mod op_edit;
pub mod opened;
pub mod panes;
pub mod presenter;
pub mod puzzle;
pub mod runner;
pub mod tab;
pub mod view;

#[cfg(target_arch = "wasm32")]
pub mod background;
#[cfg(target_arch = "wasm32")]
pub mod gpu_running;
#[cfg(target_arch = "wasm32")]
pub mod learning;
#[cfg(target_arch = "wasm32")]
pub mod presenting;
#[cfg(target_arch = "wasm32")]
pub mod puzzling;
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
