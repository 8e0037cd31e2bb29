//! The table of functions: one row for each, the only place that holds their FLOPs and shape rules.
//!
//! FLOP counts follow the usual convention: a multiply-add is two; elementwise functions count per
//! output element, reductions per *input* element. For transcendental functions there is no
//! convention. Here each exp, log, tanh, erf, sqrt and division counts 1, like one instruction of a
//! GPU's special function units, and a composed function counts its steps: GELU in its tanh form is
//! 8, softmax 5, layer norm 8. Work per row instead of per element (the rsqrt of a norm, the
//! division of a mean) is left out.

mod attributes;
pub mod pytorch;
mod table;

pub use attributes::{AttributeDefault, AttributeKind, AttributeName};
pub use table::{Function, Row, SlowOperation};

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
    /// The first input's shape with one axis (or a list of axes) reduced to 1, or dropped with
    /// `keepdim=false`.
    Reduce,
    /// `[batch.., M, K] x [batch.., K, N] -> [batch.., M, N]`, batch dimensions broadcast.
    Matmul,
    /// As [`Self::Matmul`], with a scale for each operand as in [`Self::Blocks`].
    ScaledMatmul,
    /// The first input's shape; each size of a further input, aligned at the last, divides it.
    Blocks,
    /// `[.., K] x [N, K] (+ [N]) -> [.., N]`.
    Linear,
    /// `[B, C, L] x [O, C/groups, K] (+ [O]) -> [B, O, L']`.
    Conv1d,
    /// `[B, C, H, W] x [O, C/groups, KH, KW] (+ [O]) -> [B, O, H', W']`.
    Conv2d,
    /// `[B, C, H, W] -> [B, C, H', W']` by a window.
    Pool2d,
    /// The same number of elements in another shape, given by the annotation or `shape=[..]`;
    /// `contiguous` may keep its shape.
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
    /// The first input's shape; an index and a source of equal shape, not larger than the input
    /// elsewhere than along the axis.
    Scatter,
    /// The first input's shape; an index `[N]` and a source with N along the axis.
    IndexAlong,
    /// The first input's shape; indices along the first dimensions, and a source of the shape that
    /// [`Self::Index`] gives.
    IndexPut,
    /// The first input's shape; a source of the shape that [`Self::Slice`] gives.
    SliceScatter,
}

/// [`Row::max_inputs`] of a function that takes a list of inputs.
pub const ANY_NUMBER: usize = usize::MAX;

impl Function {
    /// The function with this name in the notation.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The name in the notation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The first input that gives the element type of the output: the second for `where`, whose
    /// first is the condition, and for `embedding`, whose first is the index; the scale of short
    /// numbers.
    pub fn leading_input(self) -> usize {
        match self {
            Self::Where | Self::Embedding | Self::Dequantize => 1,
            Self::ScaledMatmul => 2,
            _ => 0,
        }
    }

    /// The input whose elements count for the FLOPs of a reduction or of a library's kernel. For a
    /// scatter this is the source, which it adds to some elements of a tensor.
    pub fn counted_input(self) -> usize {
        match self.row().shape_rule {
            ShapeRule::Scatter | ShapeRule::IndexAlong => 2,
            _ => 0,
        }
    }

    /// Whether the function gives its first input with some elements replaced, or added to, where
    /// an index or a range says. In place, it writes these elements alone.
    pub fn writes_part(self) -> bool {
        matches!(
            self.row().shape_rule,
            ShapeRule::Scatter
                | ShapeRule::IndexAlong
                | ShapeRule::IndexPut
                | ShapeRule::SliceScatter
        )
    }

    /// Whether the function adds to the elements that it [writes](Self::writes_part).
    pub fn adds_to_part(self) -> bool {
        matches!(self, Self::ScatterAdd | Self::IndexAdd)
    }

    /// The name of the function in place: with a trailing underscore, as in PyTorch.
    pub fn in_place_name(self) -> String {
        format!("{}_", self.name())
    }

    /// The function that a name calls, and whether in place.
    pub fn called(name: &str) -> Option<(Self, bool)> {
        let own = || Some((Self::from_name(name)?, false));
        let in_place = || {
            let function = Self::from_name(name.strip_suffix('_')?)?;
            function.has_in_place_form().then_some((function, true))
        };
        own().or_else(in_place)
    }

    /// Whether the function may write into its first input: its result has the shape and type of
    /// that input, and an element depends on no other element of it that is written.
    pub fn has_in_place_form(self) -> bool {
        let row = self.row();
        let is_of_elements = row.op_type == OpType::Elementwise
            && row.min_inputs > 0
            && row.result_dtype.is_none()
            && matches!(
                row.shape_rule,
                ShapeRule::Broadcast | ShapeRule::SameAsFirst
            )
            && !matches!(self, Self::Where | Self::Rotary | Self::Cast);
        is_of_elements || self.writes_part()
    }

    /// Whether its result has the element type that an attribute states.
    pub const fn converts(self) -> bool {
        matches!(self, Self::Cast | Self::Bitcast)
    }

    /// The function that a call of this one means when an attribute has this value.
    pub fn variant(self, attribute: &str, value: &str) -> Option<Self> {
        match (self, AttributeName::from_name(attribute)?, value) {
            (Self::Gelu, AttributeName::Approximate, "none") => Some(Self::GeluErf),
            (Self::GeluErf, AttributeName::Approximate, "tanh") => Some(Self::Gelu),
            (Self::Interpolate, AttributeName::Mode, "bilinear") => Some(Self::InterpolateBilinear),
            (Self::InterpolateBilinear, AttributeName::Mode, "nearest") => Some(Self::Interpolate),
            (Self::BatchNorm, AttributeName::Training, "true") => Some(Self::BatchNormTrain),
            _ => None,
        }
    }

    /// The roles of its inputs, in order; for a list of any length those of the first two.
    pub fn input_names(self) -> &'static [&'static str] {
        let Row {
            shape_rule,
            max_inputs,
            ..
        } = *self.row();
        let names: &[&str] = match (self, shape_rule, max_inputs) {
            (Self::Where, ..) => &["condition", "a", "b"],
            (Self::Mask, ..) => &["x", "mask"],
            (Self::Rotary, ..) => &["x", "cos", "sin"],
            (Self::Dequantize, ..) => &["q", "scale", "zero"],
            (Self::ScaledMatmul, ..) => &["a", "b", "scale_a", "scale_b", "bias"],
            (Self::Convolution, ..) => &["x", "weight"],
            (_, ShapeRule::Embedding, _) => &["index", "table"],
            (_, ShapeRule::Gather | ShapeRule::Index, _) => &["x", "index"],
            (_, ShapeRule::OneHot, _) => &["index"],
            (Self::Copy, ..) | (_, ShapeRule::SliceScatter, _) => &["x", "src"],
            (_, ShapeRule::Scatter | ShapeRule::IndexAlong | ShapeRule::IndexPut, _) => {
                &["x", "index", "src"]
            }
            (_, ShapeRule::Attention, _) => &["q", "k", "v", "mask"],
            (_, ShapeRule::Linear | ShapeRule::Conv1d | ShapeRule::Conv2d, _)
            | (_, ShapeRule::SameAsFirst | ShapeRule::PerChannel, 3) => &["x", "weight", "bias"],
            (_, ShapeRule::PerChannel, _) => &["x", "mean", "variance", "weight", "bias"],
            (_, _, 1) => &["x"],
            (_, _, ANY_NUMBER) => &["a", "b"],
            _ => &["a", "b", "c", "d", "e"],
        };
        &names[..names.len().min(max_inputs)]
    }

    /// The arguments in the parentheses of a call, with optional ones in brackets: `x, [axis]`.
    pub fn arguments(self) -> String {
        let row = self.row();
        let inputs = self.input_names().iter().enumerate();
        let inputs = inputs.map(|(place, name)| {
            if place < row.min_inputs {
                (*name).to_owned()
            } else {
                format!("[{name}]")
            }
        });
        let more = (row.max_inputs == ANY_NUMBER).then(|| "…".to_owned());
        let attributes = row.attributes.iter().map(|name| format!("[{name}]"));
        let arguments: Vec<String> = inputs.chain(more).chain(attributes).collect();
        arguments.join(", ")
    }

    /// Whether the function combines windows of an image instead of rows.
    pub fn is_pool(self) -> bool {
        matches!(
            self.row().shape_rule,
            ShapeRule::Pool2d | ShapeRule::AdaptivePool2d
        )
    }

    /// Whether the function is a softmax: it keeps a running maximum and a sum for each row.
    pub const fn is_softmax(self) -> bool {
        matches!(self, Self::Softmax | Self::LogSoftmax)
    }

    /// Whether the function takes the variance of each row: it keeps a running mean and variance.
    pub const fn takes_variance(self) -> bool {
        matches!(
            self,
            Self::Var | Self::LayerNorm | Self::GroupNorm | Self::BatchNormTrain
        )
    }

    /// How many values a softmax or norm computes for each row before its elements; none for any
    /// other function.
    pub const fn row_values(self) -> usize {
        match self {
            Self::Softmax
            | Self::LogSoftmax
            | Self::LayerNorm
            | Self::GroupNorm
            | Self::BatchNormTrain => 2,
            Self::RmsNorm | Self::L2Norm => 1,
            _ => 0,
        }
    }

    /// Whether an element of the result depends on the order of the elements along an axis.
    pub const fn sorts_or_scans(self) -> bool {
        matches!(
            self,
            Self::Sort | Self::Argsort | Self::Topk | Self::TopkIndices | Self::Cumsum
        )
    }

    /// Whether the values of whole numbers have fractions, so that they are floats.
    pub const fn is_fractional(self) -> bool {
        matches!(
            self,
            Self::Div
                | Self::Xlogy
                | Self::Logaddexp
                | Self::Softsign
                | Self::Sigmoid
                | Self::Tanh
                | Self::Exp
                | Self::Exp2
                | Self::Expm1
                | Self::Log
                | Self::Log2
                | Self::Log1p
                | Self::Erf
                | Self::Sin
                | Self::Cos
                | Self::Tan
                | Self::Sqrt
                | Self::Rsqrt
                | Self::Reciprocal
        )
    }

    /// Whether numbers may replace inputs, all but one.
    pub fn takes_literals(self) -> bool {
        let row = self.row();
        row.op_type == OpType::Elementwise && row.shape_rule == ShapeRule::Broadcast
    }

    /// The element type that an input has whatever the other inputs have, as a condition or an
    /// index.
    pub fn input_dtype(self, place: usize) -> Option<DType> {
        match (self, place) {
            (Self::Where, 0)
            | (Self::LogicalAnd | Self::LogicalOr | Self::LogicalXor | Self::LogicalNot, _) => {
                Some(DType::Bool)
            }
            (Self::Embedding | Self::OneHot, 0)
            | (
                Self::Gather | Self::Scatter | Self::ScatterAdd | Self::IndexCopy | Self::IndexAdd,
                1,
            )
            | (Self::Index, 1..) => Some(DType::I64),
            _ => None,
        }
    }

    /// Whether PyTorch refuses integers and truth values as this input.
    pub const fn takes_floats(self, place: usize) -> bool {
        match self {
            // A mask may hold truth values.
            Self::Sdpa => place < 3,
            Self::Gelu
            | Self::GeluErf
            | Self::Silu
            | Self::LeakyRelu
            | Self::Elu
            | Self::Selu
            | Self::Softplus
            | Self::LogSigmoid
            | Self::Mish
            | Self::Hardsigmoid
            | Self::Hardswish
            | Self::Dropout
            | Self::Mean
            | Self::Var
            | Self::Softmax
            | Self::LogSoftmax
            | Self::LayerNorm
            | Self::RmsNorm
            | Self::L2Norm
            | Self::GroupNorm
            | Self::BatchNorm
            | Self::BatchNormTrain
            | Self::AdaptiveAvgPool2d
            | Self::AdaptiveMaxPool2d
            | Self::InterpolateBilinear => true,
            _ => false,
        }
    }

    /// Whether the output may have another element type than the inputs without a cast.
    pub fn is_freely_typed(self) -> bool {
        let row = self.row();
        row.op_type == OpType::Matmul
            || matches!(row.shape_rule, ShapeRule::Stated | ShapeRule::Blocks)
    }
}
