//! The page's state: signals, storage, share links and undo.
//!
//! `analysed`, `documents`, `embed`, `history`, `job_queue`, `jobs`, `measured_devices`, `op_edit`,
//! `panes`, `queries`, `runner` and `text_limits` are pure and also compiled natively, for the
//! tests.

pub mod analysed;
pub mod documents;
pub mod embed;
pub mod history;
pub mod job_queue;
pub mod jobs;
pub mod measured_devices;
pub mod op_edit;
pub mod panes;
pub mod queries;
pub mod runner;
pub mod text_limits;

#[cfg(target_arch = "wasm32")]
pub mod background;
#[cfg(target_arch = "wasm32")]
pub mod classroom;
#[cfg(target_arch = "wasm32")]
pub mod covers;
#[cfg(target_arch = "wasm32")]
pub mod learning;
#[cfg(target_arch = "wasm32")]
pub mod presenting;
#[cfg(target_arch = "wasm32")]
pub mod puzzling;
#[cfg(target_arch = "wasm32")]
mod seen;
#[cfg(target_arch = "wasm32")]
pub mod session;
#[cfg(target_arch = "wasm32")]
pub mod sharing;
#[cfg(target_arch = "wasm32")]
pub mod stage;
#[cfg(target_arch = "wasm32")]
pub mod starts;
#[cfg(target_arch = "wasm32")]
pub mod state;
#[cfg(target_arch = "wasm32")]
pub(crate) mod storage_keys;
#[cfg(target_arch = "wasm32")]
mod stored;
#[cfg(target_arch = "wasm32")]
pub mod student_results;
#[cfg(target_arch = "wasm32")]
pub mod sweeping;
#[cfg(target_arch = "wasm32")]
pub mod title;
#[cfg(target_arch = "wasm32")]
pub mod your_gpu;
