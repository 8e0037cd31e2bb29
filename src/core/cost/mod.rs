//! The costs of kernels: bytes through memory, FLOPs, and the time that a device needs for both.

pub(crate) mod computed_in_part;
mod equal_parts;
pub(crate) mod launch_order;
mod named;
pub(crate) mod pieces;
pub mod roofline;
mod runs;
mod statistics;
pub mod traffic;
pub mod views;
pub mod work;
