//! The table of functions: one row for each, the only place that holds their FLOPs and shape rules.
//!
//! FLOP counts follow the usual convention: a multiply-add is two; elementwise functions count per output
//! element, reductions per *input* element. For transcendental functions there is no convention. Here each exp,
//! log, tanh, erf, sqrt and division counts 1, like one instruction of a GPU's special function units, and a
//! composed function counts its steps: GELU in its tanh form is 8, softmax 5, layer norm 8. Work per row
//! instead of per element (the rsqrt of a norm, the division of a mean) is left out.

mod attributes;
pub mod pytorch;
mod table;

pub use attributes::{ATTRIBUTES, AttributeKind, AttributeSpec, find_attribute};
pub use table::FUNCTIONS;

use crate::model::dtype::DType;
use crate::model::op_type::OpType;

/// How the output's shape is inferred from the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// Right-aligned broadcasting of all inputs, as in NumPy.
    Broadcast,
    /// The first input's shape; further inputs broadcast into it.
    SameAsFirst,
    /// `[B, C, ..]` with further inputs `[C]`: one value for each channel. The first input's shape.
    PerChannel,
    /// The first input's shape with one axis (or a list of axes) reduced to 1, or dropped with `keepdim=false`.
    Reduce,
    /// `[batch.., M, K] x [batch.., K, N] -> [batch.., M, N]`, batch dimensions broadcast.
    Matmul,
    /// `[.., K] x [N, K] (+ [N]) -> [.., N]`.
    Linear,
    /// `[B, C, L] x [O, C/groups, K] (+ [O]) -> [B, O, L']`.
    Conv1d,
    /// `[B, C, H, W] x [O, C/groups, KH, KW] (+ [O]) -> [B, O, H', W']`.
    Conv2d,
    /// `[B, C, H, W] -> [B, C, H', W']` by a window.
    Pool2d,
    /// The same number of elements in another shape, given by the annotation or `shape=[..]`; `contiguous` may
    /// keep its shape.
    Reshape,
    /// The annotated shape, from any number of inputs.
    Stated,
    /// The dimensions in another order.
    Transpose,
    /// One of `parts` equal pieces along an axis.
    Split,
    /// The inputs concatenated along an axis.
    Concat,
    /// The elements `start..end` along an axis, every `step`-th.
    Slice,
    /// The stated shape, into which the input is broadcast.
    Expand,
    /// Each dimension `times` as long.
    Repeat,
    /// An axis `times` as long.
    Interleave,
    /// `[..] x [rows, D] -> [.., D]`: for each index a row of a table.
    Embedding,
    /// `[..] x [..] -> [..]`: for each index an element along an axis. The index's shape.
    Gather,
    /// The last dimensions longer by `pad`.
    Pad,
    /// `[.., H, S, D] x [.., H, T, D] x [.., H, T, E] (+ mask) -> [.., H, S, E]`.
    Attention,
    /// `[B, C, H, W] -> [B, C, size]` by windows that cover the image.
    AdaptivePool2d,
    /// `[B, C, H, W] -> [B, C, H', W']` by `size` or `times`.
    Resample,
    /// The input's shape, elements moved along axes.
    Moved,
    /// `[..] -> [.., classes]`.
    OneHot,
    /// Indices broadcast to `[..]`, and the dimensions of the input behind those that are indexed.
    Index,
    /// `count` elements along an axis.
    TopK,
    /// The first input's shape; an index and a source of equal shape, not larger than the input elsewhere than along the axis.
    Scatter,
    /// The first input's shape; an index `[N]` and a source with N along the axis.
    IndexAlong,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in a program.
    pub name: &'static str,
    /// Its op type, which the fusion rules look at.
    pub op_type: OpType,
    /// Minimum number of inputs.
    pub min_inputs: usize,
    /// Maximum number of inputs; [`ANY_NUMBER`] for a list of any length.
    pub max_inputs: usize,
    /// FLOPs per output element (elementwise) or element of the first input (reduction, opaque), or output element of a reshape that
    /// computes; 0 for matmuls.
    pub flops_per_element: u64,
    /// How the output's shape is inferred.
    pub shape_rule: ShapeRule,
    /// Attributes that it takes; each is described in [`ATTRIBUTES`].
    pub attributes: &'static [&'static str],
    /// Whether the output is another index order of the same bytes.
    pub is_view: bool,
    /// A short description for the reader.
    pub summary: &'static str,
    /// The operations that the FLOP count adds up.
    pub flops_source: &'static str,
}

/// [`Function::max_inputs`] of a function that takes a list of inputs.
pub const ANY_NUMBER: usize = usize::MAX;

/// The function with this name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

impl Function {
    /// The input that gives the element type of the output: the second for `where`, whose first is the
    /// condition, and for `embedding`, whose first is the index.
    pub fn leading_input(&self) -> usize {
        usize::from(matches!(self.name, "where" | "embedding"))
    }

    /// The input whose elements the FLOPs of a reduction or of a library's kernel are counted for: of one that adds to places of
    /// a tensor what it adds.
    pub fn counted_input(&self) -> usize {
        match self.shape_rule {
            ShapeRule::Scatter | ShapeRule::IndexAlong => 2,
            _ => 0,
        }
    }

    /// The function that a call of this one stands for, when an attribute has this value.
    pub fn variant(&self, attribute: &str, value: &str) -> Option<&'static Self> {
        match (self.name, attribute, value) {
            ("gelu", "approximate", "none") => find("gelu_erf"),
            ("gelu_erf", "approximate", "tanh") => find("gelu"),
            ("interpolate", "mode", "bilinear") => find("interpolate_bilinear"),
            ("interpolate_bilinear", "mode", "nearest") => find("interpolate"),
            ("batch_norm", "training", "true") => find("batch_norm_train"),
            _ => None,
        }
    }

    /// What its inputs are for, in their order; of a list of any length the first two.
    pub fn input_names(&self) -> &'static [&'static str] {
        let names: &[&str] = match (self.name, self.shape_rule, self.max_inputs) {
            ("where", ..) => &["condition", "a", "b"],
            ("mask", ..) => &["x", "mask"],
            ("rotary", ..) => &["x", "cos", "sin"],
            (_, ShapeRule::Embedding, _) => &["index", "table"],
            (_, ShapeRule::Gather | ShapeRule::Index, _) => &["x", "index"],
            (_, ShapeRule::OneHot, _) => &["index"],
            (_, ShapeRule::Scatter | ShapeRule::IndexAlong, _) => &["x", "index", "src"],
            (_, ShapeRule::Attention, _) => &["q", "k", "v", "mask"],
            (_, ShapeRule::Linear | ShapeRule::Conv1d | ShapeRule::Conv2d, _)
            | (_, ShapeRule::SameAsFirst | ShapeRule::PerChannel, 3) => &["x", "weight", "bias"],
            (_, ShapeRule::PerChannel, _) => &["x", "mean", "variance", "weight", "bias"],
            (_, _, 1) => &["x"],
            (_, _, ANY_NUMBER) => &["a", "b"],
            _ => &["a", "b", "c", "d", "e"],
        };
        &names[..names.len().min(self.max_inputs)]
    }

    /// What stands between the parentheses of a call; what is in brackets may be left out: `x, [axis]`.
    pub fn arguments(&self) -> String {
        let inputs = self.input_names().iter().enumerate();
        let inputs = inputs.map(|(place, name)| {
            if place < self.min_inputs {
                (*name).to_owned()
            } else {
                format!("[{name}]")
            }
        });
        let more = (self.max_inputs == ANY_NUMBER).then(|| "…".to_owned());
        let attributes = self.attributes.iter().map(|name| format!("[{name}]"));
        let arguments: Vec<String> = inputs.chain(more).chain(attributes).collect();
        arguments.join(", ")
    }

    /// Whether numbers may stand in the place of inputs, all but one.
    pub fn takes_literals(&self) -> bool {
        self.op_type == OpType::Elementwise && self.shape_rule == ShapeRule::Broadcast
    }

    /// The element type of the result, whatever that of the inputs: true or false, or a place.
    pub fn result_dtype(&self) -> Option<DType> {
        match self.name {
            "lt" | "le" | "gt" | "ge" | "eq" | "ne" | "logical_not" | "logical_and"
            | "logical_or" | "logical_xor" | "isnan" | "isinf" | "any" | "all" => Some(DType::Bool),
            "argmax" | "argmin" | "topk_indices" | "argsort" | "one_hot" => Some(DType::I64),
            _ => None,
        }
    }

    /// The element type that an input has whatever the others have: that of a condition or an index.
    pub fn input_dtype(&self, place: usize) -> Option<DType> {
        match (self.name, place) {
            ("where", 0) | ("logical_and" | "logical_or" | "logical_xor" | "logical_not", _) => {
                Some(DType::Bool)
            }
            ("embedding" | "one_hot", 0)
            | ("gather" | "scatter" | "scatter_add" | "index_copy" | "index_add", 1)
            | ("index", 1..) => Some(DType::I64),
            _ => None,
        }
    }

    /// Whether the output may have another element type than the inputs without a cast.
    pub fn is_freely_typed(&self) -> bool {
        self.op_type == OpType::Matmul || self.shape_rule == ShapeRule::Stated
    }
}
