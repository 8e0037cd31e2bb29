//! Graph to kernels: which ops run as one kernel. One policy, one file.
//!
//! In reading order: why ops are not fused ([`reason`]), which sets of ops may be one kernel
//! ([`legality`], on a region of the graph), the decisions of a policy ([`decision`]), the
//! policies, the choice among them ([`plan()`]), and the replay of their decisions
//! ([`decision_trace`]).

pub mod attention;
pub mod certificate;
pub mod decision;
pub mod decision_trace;
pub mod evidence;
pub mod horizontal;
mod in_place;
pub mod inductor;
pub mod legality;
pub mod loops;
pub mod manual;
pub mod measured;
pub mod none;
pub mod on_chip;
pub mod optimal;
mod pieces;
mod plan;
pub mod reason;
pub mod region;
pub mod rows;
pub(super) mod rules;
pub mod structure;
mod views;

pub use plan::{Plan, plan};
