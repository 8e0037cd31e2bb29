//! What is analysed and under which choices: ops and tensors, programs and graphs, devices, diagnostics.

pub mod device;
pub mod diagnostic;
pub mod dtype;
pub mod functions;
pub mod graph;
pub mod lists;
pub(crate) mod names;
pub mod op;
pub(crate) mod order;
pub mod program;
