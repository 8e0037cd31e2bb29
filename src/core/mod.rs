//! The model: pure, deterministic, panic-free; no I/O, no web type.
//!
//! In reading order: the contract's data model ([`op`], [`dtype`]), a program as text
//! ([`program`], [`notation`], [`resolve`], [`functions`]), then the phases
//! `Graph -> Partition -> Traffic -> Work -> Placement -> Analysis`.

pub mod analysis;
pub mod attention;
pub mod compare;
pub mod device;
pub mod device_model;
pub mod diagnostic;
mod disjoint_sets;
pub mod dtype;
pub mod edit;
pub mod examples;
pub mod explain;
pub mod format;
pub mod functions;
pub mod fusion;
pub mod graph;
pub mod json;
pub mod limits;
pub mod lists;
pub mod measured;
mod names;
pub mod notation;
pub mod op;
mod order;
pub mod program;
pub mod replay;
pub mod report;
pub mod resolve;
pub mod roofline;
pub mod share;
pub mod sizes;
pub mod traffic;
pub mod transformer;
pub mod why;
pub mod work;

pub use analysis::{
    Analysis, Comparison, Execution, Kernel, Options, Outcome, TensorTraffic, analyze,
    analyze_graph, analyze_program,
};
pub use device::{DEVICES, Device, default_device, device};
pub use diagnostic::{Code, Diagnostic, Severity, Span};
pub use dtype::DType;
pub use fusion::options::{FusionOptions, Objective};
pub use fusion::{Partition, Plan, Policy, find_fusion_groups, plan};
pub use graph::{Graph, NamedGraph, OpId, Tensor, TensorId, build_graph};
pub use op::{Op, OpType, TensorDecl, TensorRole};
pub use program::Program;
pub use roofline::{Bound, Placement, ridge_point};
pub use sizes::{Conventions, Externals, ReshapeCost, SizeSource};
pub use traffic::{Traffic, estimate_memory_traffic};
pub use transformer::{TransformerAnalysis, analyze_transformer_block};
