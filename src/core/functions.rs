//! The table of functions: one row for each, and the only place that knows their FLOPs and shape rules.
//!
//! FLOP counts follow the contract: one multiply-add is two; elementwise functions count for each output
//! element, reductions for each *input* element. Transcendental functions have no agreed count; each row
//! says what it counts.

use super::op::OpType;

/// How the output's shape follows from the inputs'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// Right-aligned broadcasting of all inputs, as in NumPy.
    Broadcast,
    /// The first input's shape; further inputs broadcast into it.
    SameAsFirst,
    /// The first input's shape with one axis reduced to 1, or dropped with `keepdim=false`.
    Reduce,
    /// `[batch.., M, K] x [batch.., K, N] -> [batch.., M, N]`, batch dimensions broadcast.
    Matmul,
    /// `[.., K] x [N, K] (+ [N]) -> [.., N]`.
    Linear,
    /// `[B, C, H, W] x [O, C/groups, KH, KW] (+ [O]) -> [B, O, H', W']`.
    Conv2d,
    /// `[B, C, H, W] -> [B, C, H', W']` by a window.
    Pool2d,
    /// As many elements in another shape, given by the annotation or `shape=[..]`.
    Reshape,
    /// Dimensions in another order.
    Transpose,
    /// One of `parts` equal pieces along an axis.
    Split,
    /// All inputs one behind the other along an axis.
    Concat,
    /// `start..end` along an axis.
    Slice,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// What a program calls it.
    pub name: &'static str,
    /// What the fusion rules see.
    pub op_type: OpType,
    /// Fewest inputs.
    pub min_inputs: usize,
    /// Most inputs.
    pub max_inputs: usize,
    /// For each output element (elementwise) or input element (reduction); 0 for the other types.
    pub flops_per_element: u64,
    /// How the output's shape follows.
    pub shape_rule: ShapeRule,
    /// Attributes that it takes.
    pub attributes: &'static [&'static str],
    /// Whether it only renames bytes.
    pub is_view: bool,
    /// What it computes, in a few words.
    pub summary: &'static str,
    /// Where the FLOP count comes from.
    pub flops_source: &'static str,
}

/// The function of this name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// All functions, by op type.
pub const FUNCTIONS: &[Function] = &[];
