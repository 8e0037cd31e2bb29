//! The graph of the program: ops in the panels of their kernels, edges through memory and edges on chip.
//!
//! [`state::Graph`] holds what the graph knows beside the page. Its [`canvas`] turns pointers, wheel and keys into calls
//! of it ([`pointer`], [`keys`], [`by_hand`]) and shows a [`picture`]: keyed lists of the parts that are in sight, each
//! part a component of its own, or an [`overview`] where very many are.
#![allow(
    unreachable_pub,
    reason = "the macro makes the props of a component public, and parts of the graph are for the graph alone"
)]

mod by_hand;
mod canvas;
mod edge;
mod kernel;
mod keys;
mod op;
mod overview;
mod panel;
mod picture;
mod pill;
mod pointer;
mod size_label;
mod state;

pub use canvas::GraphCanvas;
pub use panel::GraphPanel;
