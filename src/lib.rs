//! Fuseline: edit a list of GPU operations and watch kernels, memory traffic and the roofline change.
//!
//! [`core`] computes, [`present`] turns results into texts and rows, [`picture`] draws into plain data, and the page
//! (on `wasm32`) or the command line (native) shows them.

pub mod app;
pub mod core;
pub mod picture;
pub mod present;

#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(target_arch = "wasm32")]
pub mod components;
#[cfg(target_arch = "wasm32")]
pub mod exports;
#[cfg(target_arch = "wasm32")]
pub mod worker;

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
