//! The data model: ops and tensors, programs and graphs, partitions, options, devices, diagnostics.

pub(crate) mod acyclic;
pub mod adjacency;
pub mod bound;
pub mod build;
pub mod calibration;
pub mod day;
pub mod device;
pub mod diagnostic;
pub mod digest;
pub mod dtype;
pub mod fix;
pub(crate) mod fixed_sizes;
pub mod functions;
pub mod graph;
pub mod ids;
pub mod names;
pub mod op;
pub mod op_type;
pub mod operand_parts;
pub mod options;
pub mod order;
pub mod partition;
pub mod program;
pub mod sizes;
pub mod work;
