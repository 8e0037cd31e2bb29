//! The graph of the program: ops in the boxes of their kernels, edges through memory and edges on
//! chip.
//!
//! [`state::Graph`] holds the signals of the graph, made of the plain types in [`placed`], [`aim`],
//! [`plan`] and [`pressed`]. [`focus`], [`moving`], [`by_hand`], [`keys`] and [`pointer`] are its
//! methods. [`canvas`] calls them from its event handlers and shows a [`picture`]: keyed lists of
//! what is in view, or an [`overview`] where that is very much.
#![allow(
    unreachable_pub,
    reason = "the macro makes the props of a component public, though most components here are private to the graph"
)]

mod aim;
mod by_hand;
mod canvas;
mod edge_lines;
mod focus;
mod kernel_box;
mod keys;
mod minimap;
mod motion;
mod moving;
mod op_box;
mod overview;
mod panel;
mod picture;
mod placed;
mod plan;
mod pointer;
mod pressed;
mod repeat_frame;
mod search;
mod size_label;
mod state;
mod tensor_pill;

pub use canvas::GraphCanvas;
pub use panel::GraphPanel;
