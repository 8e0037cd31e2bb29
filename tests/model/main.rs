//! What the model promises, seen from outside.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod contract;
mod notation;
mod properties;
mod random_graph;
mod share;
