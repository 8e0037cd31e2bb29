//! What Fuseline computes about GPU kernel fusion: pure, deterministic, panic-free; no I/O, no web
//! type.
//!
//! In reading order: what is analysed ([`model`]), a program as text ([`notation`]) and its ops
//! with their shapes ([`resolve`]), which ops run as one kernel ([`fusion`]), what kernels cost
//! ([`cost`]), and all of it at once ([`analysis`]).
//!
//! # Example
//!
//! An op list of two ops, the kernels with the least memory traffic, and what they come to:
//!
//! ```
//! use fuseline_core::notation::parse;
//! use fuseline_core::{Bound, KernelId, Options, Policy, analyze_program};
//!
//! let parsed = parse("input x : f16[4096, 4096]\ny = scale(x, factor=0.5)\nz = relu(y)\n");
//! assert!(parsed.diagnostics.is_empty());
//!
//! let options = Options::of_policy(Policy::Optimal);
//! let outcome = analyze_program(&parsed.program, &options);
//! let analysis = outcome.analysis.ok_or("the program has errors")?;
//!
//! // In one kernel `y` stays on chip, so two of four accesses of 33.6 MB remain.
//! assert_eq!(analysis.unfused.traffic.total, 4 * 2 * 4096 * 4096);
//! assert_eq!(analysis.fused.traffic.total, 2 * 2 * 4096 * 4096);
//! // That kernel is memory-bound, and no other partition has less traffic.
//! let kernel = &analysis.fused.kernels[KernelId::new(0)];
//! assert_eq!(kernel.placement.bound, Bound::Memory);
//! assert!(analysis.certificate.is_some_and(|certificate| certificate.is_optimal));
//! # Ok::<(), &str>(())
//! ```

// Its documentation is a published page. The other packages explain what a name does not say.
#![warn(missing_docs)]

pub mod analysis;
pub use analysis::baseline::{estimate_memory_traffic, find_fusion_groups};
pub use analysis::transformer::{FusionSummary, analyze_transformer_block};
pub use analysis::{
    Analysis, Comparison, Execution, Kernel, Outcome, TensorTraffic, analyze, analyze_graph,
    analyze_program, analyze_program_with,
};
pub use completion::{Completion, CompletionKind, complete};
pub use cost::roofline::{Placement, ridge_point};
pub use cost::traffic::Traffic;
pub use fusion::{Plan, plan};
pub use model::bound::Bound;
pub use model::build::build_graph;
pub use model::device::{DEVICES, Device, F32Matmul, default_device, device};
pub use model::diagnostic::{Code, Diagnostic, Severity, Span};
pub use model::dtype::DType;
pub use model::fix::{Fix, TextEdit, edited};
pub use model::graph::{Graph, NamedGraph, SizeSource, Tensor};
pub use model::ids::{IdVec, KernelId, OpId, TensorId};
pub use model::op::{Op, TensorDecl, TensorRole};
pub use model::op_type::OpType;
pub use model::options::{
    Conventions, Externals, FusionOptions, Objective, Options, Policy, ReshapeCost,
};
pub use model::partition::Partition;
pub use model::program::Program;

pub mod completion;
pub mod cost;
pub mod disjoint_sets;
pub mod examples;
pub mod fixes;
pub mod fusion;
pub mod input;
pub mod json;
pub mod model;
pub mod notation;
pub mod numeral;
pub mod resolve;
pub mod sorted;
pub mod splitmix;
