//! The table of all functions.

use super::{ANY_NUMBER, AttributeName, ShapeRule};
use crate::model::dtype::DType;
use crate::model::op_type::OpType;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// What an op computes: a function of the notation, where it has the same name in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[allow(missing_docs, reason = "each has its summary in its row")]
#[rustfmt::skip]
pub enum Function {
    Add, Sub, Mul, Div, Maximum, Minimum, Pow,
    Lt, Le, Gt, Ge, Eq, Ne,
    LogicalAnd, LogicalOr, LogicalXor, FloorDivide, TruncDivide, Remainder, Xlogy, Logaddexp,
    LogicalNot, Neg, Abs, Sign, Isnan, Isinf, Square,
    Relu, Gelu, GeluErf, Silu,
    LeakyRelu, Elu, Selu, Softplus, LogSigmoid, Mish,
    Hardsigmoid, Hardswish, Softsign,
    Sigmoid, Tanh,
    Exp, Exp2, Expm1, Log, Log2, Log1p,
    Erf, Sin, Cos, Tan,
    Ceil, Trunc, Round, Floor,
    Sqrt, Rsqrt, Reciprocal,
    Scale, Shift, Mask,
    Tril, Triu, Full, Arange,
    Dropout, Cast, Copy, Dequantize, Where, Clamp, Rotary, BatchNorm, BatchNormTrain,
    Sum, Mean, Max, Min, Prod, Any, All,
    Argmax, Argmin, Var,
    Softmax, LogSoftmax, LayerNorm, RmsNorm, L2Norm, GroupNorm,
    Cumsum,
    MaxPool2d, AvgPool2d, AdaptiveAvgPool2d, AdaptiveMaxPool2d,
    Matmul, ScaledMatmul, Linear, Conv1d, Conv2d, Convolution,
    Reshape, Bitcast, Rearrange, Part, Contiguous, Transpose,
    Split, Concat, Slice, Expand, Repeat, RepeatInterleave,
    Embedding, Gather, Index, OneHot,
    Flip, Roll, Interpolate, InterpolateBilinear, Pad,
    Sdpa,
    Topk, TopkIndices, Sort, Argsort,
    Scatter, ScatterAdd, IndexCopy, IndexAdd, IndexPut, SliceScatter,
    Opaque,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The op type, which the textbook rules look at.
    pub op_type: OpType,
    /// Minimum number of inputs.
    pub min_inputs: usize,
    /// Maximum number of inputs; [`ANY_NUMBER`] for a list of any length.
    pub max_inputs: usize,
    /// FLOPs per output element (elementwise) or element of the first input (reduction, opaque), or
    /// output element of a reshape that computes; 0 for matmuls.
    pub flops_per_element: u64,
    /// How the output's shape is inferred.
    pub shape_rule: ShapeRule,
    /// Attributes that the function takes.
    pub attributes: &'static [AttributeName],
    /// The element type of the result, if it does not follow from the inputs, as for a condition or
    /// an index.
    pub result_dtype: Option<DType>,
    /// Operations per element for which a GPU takes more than one instruction.
    pub slow: &'static [SlowOperation],
    /// Instructions per element in addition to `slow`.
    pub instructions: u32,
    /// Whether the output is another index order of the same bytes.
    pub is_view: bool,
    /// The module of `torch.nn` that computes the function, if there is one. Then
    /// `torch.nn.functional` has the function under its own name.
    pub module: Option<&'static str>,
    /// A short description for the reader.
    pub summary: &'static str,
    /// The operations that the FLOP count adds up.
    pub flops_source: &'static str,
}

/// An operation for which vector units take more than one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the operation of its name")]
pub enum SlowOperation {
    Exponential,
    Division,
    ErrorFunction,
    Tangent,
}

const COUNT: usize = Function::VARIANTS.len();

/// The rows in the order of the variants: the variant is the index.
static ROWS: [Row; COUNT] = {
    let mut rows = [Function::Add.definition(); COUNT];
    let mut at = 0;
    while at < COUNT {
        rows[at] = Function::VARIANTS[at].definition();
        at += 1;
    }
    rows
};

impl Function {
    /// The row of the function.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The row of each function, sorted by op type.
    #[rustfmt::skip]
    #[allow(clippy::too_many_lines, reason = "a line for each function")]
    const fn definition(self) -> Row {
        use AttributeName as A;
        use SlowOperation as S;
        match self {
        Self::Add => binary(1, "a + b", "one addition"),
        Self::Sub => binary(1, "a - b", "one subtraction"),
        Self::Mul => binary(1, "a * b", "one multiplication"),
        Self::Div => binary(1, "a / b", "one division").slow(&[S::Division], 0),
        Self::Maximum => binary(1, "the larger of a and b", "one comparison"),
        Self::Minimum => binary(1, "the smaller of a and b", "one comparison"),
        Self::Pow => binary(3, "a to the power of b", "log, multiplication, exp").takes(1, 2).with(&[A::Exponent]),
        Self::Lt => binary(1, "whether a < b", "one comparison").giving(DType::Bool),
        Self::Le => binary(1, "whether a <= b", "one comparison").giving(DType::Bool),
        Self::Gt => binary(1, "whether a > b", "one comparison").giving(DType::Bool),
        Self::Ge => binary(1, "whether a >= b", "one comparison").giving(DType::Bool),
        Self::Eq => binary(1, "whether a = b", "one comparison").giving(DType::Bool),
        Self::Ne => binary(1, "whether a and b differ", "one comparison").giving(DType::Bool),
        Self::LogicalAnd => binary(1, "whether both are true", "one bit operation").giving(DType::Bool),
        Self::LogicalOr => binary(1, "whether at least one is true", "one bit operation").giving(DType::Bool),
        Self::LogicalXor => binary(1, "whether exactly one is true", "one bit operation").giving(DType::Bool),
        Self::FloorDivide => binary(2, "a / b, rounded down", "one division, one rounding").slow(&[S::Division], 0),
        Self::TruncDivide => binary(2, "a / b, rounded toward zero", "one division, one rounding").slow(&[S::Division], 0),
        Self::Remainder => binary(4, "remainder of a / b rounded down, with the sign of b", "division, rounding, multiplication, subtraction").slow(&[S::Division], 0),
        Self::Xlogy => binary(4, "a * log(b), and 0 where a is 0 unless b is NaN", "one transcendental, one multiplication, two comparisons"),
        Self::Logaddexp => binary(6, "log(exp(a) + exp(b)), without an overflow", "comparison, subtraction, exp, addition, log, addition").slow(&[S::Exponential], 3),
        Self::LogicalNot => unary(1, "whether it is false", "one bit operation").giving(DType::Bool),
        Self::Neg => unary(1, "-x", "one negation"),
        Self::Abs => unary(1, "the absolute value", "one sign operation"),
        Self::Sign => unary(1, "-1, 0 or 1", "one sign operation"),
        Self::Isnan => unary(1, "whether it is NaN", "one comparison").giving(DType::Bool),
        Self::Isinf => unary(1, "whether it is infinite", "one comparison").giving(DType::Bool),
        Self::Square => unary(1, "x * x", "one multiplication"),
        Self::Relu => unary(1, "max(x, 0)", "one comparison").module("ReLU"),
        Self::Gelu => unary(8, "x times the normal distribution function, tanh form unless `approximate=none`", "x * 0.5 * (1 + tanh(x * (c + d * x * x))): 5 multiplications, 2 additions, tanh").with(&[A::Approximate]).slow(&[S::ErrorFunction], 8),
        Self::GeluErf => unary(5, "the same, exact: `gelu(x, approximate=none)`", "x * 0.5 * (1 + erf(x * c)): 3 multiplications, addition, erf").with(&[A::Approximate]).slow(&[S::ErrorFunction], 8),
        Self::Silu => unary(5, "x * sigmoid(x), also called swish", "sigmoid 4, one multiplication").slow(&[S::Exponential, S::Division], 2).module("SiLU"),
        Self::LeakyRelu => unary(2, "x where it is positive, else x times a small slope", "one multiplication, one comparison").with(&[A::Slope]).module("LeakyReLU"),
        Self::Elu => unary(4, "x where it is positive, else alpha * (exp(x) - 1)", "exp, subtraction, multiplication, comparison").with(&[A::Alpha]).slow(&[S::Exponential], 3).module("ELU"),
        Self::Selu => unary(5, "elu of fixed alpha, times a constant", "elu 4, one multiplication").slow(&[S::Exponential], 3).module("SELU"),
        Self::Softplus => unary(3, "log(1 + exp(x))", "exp, addition, log").slow(&[S::Exponential], 3).module("Softplus"),
        Self::LogSigmoid => unary(7, "log(1 / (1 + exp(-x)))", "min(x, 0) - log(1 + exp(-|x|)): comparison, sign operation, negation, exp, addition, log, subtraction").slow(&[S::Exponential], 3).module("LogSigmoid"),
        Self::Mish => unary(5, "x * tanh(softplus(x))", "softplus 3, tanh, multiplication").slow(&[S::Exponential, S::Tangent], 3).module("Mish"),
        Self::Hardsigmoid => unary(4, "x / 6 + 1/2, clamped to 0 to 1", "addition, two comparisons, division").module("Hardsigmoid"),
        Self::Hardswish => unary(5, "x * hardsigmoid(x)", "hardsigmoid 4, one multiplication").module("Hardswish"),
        Self::Softsign => unary(3, "x / (1 + the absolute value of x)", "one sign operation, one addition, one division").slow(&[S::Division], 2).module("Softsign"),
        Self::Sigmoid => unary(4, "1 / (1 + exp(-x))", "negation, exp, addition, division").slow(&[S::Exponential, S::Division], 2),
        Self::Tanh => unary(1, "hyperbolic tangent", "one transcendental").slow(&[S::Tangent], 0),
        Self::Exp => unary(1, "e to the power of x", "one transcendental").slow(&[S::Exponential], 1),
        Self::Exp2 => unary(1, "2 to the power of x", "one transcendental").slow(&[S::Exponential], 1),
        Self::Expm1 => unary(2, "exp(x) - 1", "one transcendental, one subtraction").slow(&[S::Exponential], 1),
        Self::Log => unary(1, "natural logarithm", "one transcendental"),
        Self::Log2 => unary(1, "logarithm to the base 2", "one transcendental"),
        Self::Log1p => unary(2, "log(1 + x)", "one addition, one transcendental"),
        Self::Erf => unary(1, "error function", "one transcendental").slow(&[S::ErrorFunction], 0),
        Self::Sin => unary(1, "sine", "one transcendental"),
        Self::Cos => unary(1, "cosine", "one transcendental"),
        Self::Tan => unary(1, "tangent", "one transcendental"),
        Self::Ceil => unary(1, "smallest whole number that is at least x", "one rounding"),
        Self::Trunc => unary(1, "the integer part", "one rounding"),
        Self::Round => unary(1, "nearest whole number", "one rounding"),
        Self::Floor => unary(1, "largest whole number that is at most x", "one rounding"),
        Self::Sqrt => unary(1, "square root", "one transcendental"),
        Self::Rsqrt => unary(1, "1 / square root", "one transcendental"),
        Self::Reciprocal => unary(1, "1 / x", "one division").slow(&[S::Division], 0),
        Self::Scale => unary(1, "x times a constant", "one multiplication").with(&[A::Factor]),
        Self::Shift => unary(1, "x plus a constant", "one addition").with(&[A::Amount]),
        Self::Mask => unary(1, "x + mask; causal without a mask", "one addition, or one comparison if causal").takes(1, 2),
        Self::Tril => unary(1, "zero above a diagonal of the last two dimensions", "one comparison").with(&[A::Diagonal]),
        Self::Triu => unary(1, "zero below a diagonal of the last two dimensions", "one comparison").with(&[A::Diagonal]),
        Self::Full => unary(0, "one value everywhere, of the annotated type", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated).with(&[A::Value]),
        Self::Arange => unary(0, "start, start + step, start + 2 * step and so on, of the annotated type: 0, 1, 2 by default", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated).with(&[A::Start, A::Step]),
        Self::Dropout => unary(2, "drops elements at random; generates the mask on chip", "one comparison, one multiplication; random bits do not count").with(&[A::P]).module("Dropout"),
        Self::Cast => unary(1, "x in another element type", "one conversion").with(&[A::Dtype]),
        Self::Dequantize => unary(2, "(q - zero) * scale: one scale for a block of numbers, so `[K, N]` and a scale `[K/128, N]` make groups of 128; optional zero points; in the type of the scale", "one conversion, one multiplication; the zero point is free").takes(2, 3).shaped(ShapeRule::Blocks),
        Self::Copy => unary(0, "src in the shape and type of x, which is not read: `copy_(x, src)` writes it into x", "one conversion at most, which does not count").takes(2, 2),
        Self::Where => binary(1, "a where the condition is true, else b", "one selection").takes(3, 3),
        Self::Clamp => unary(2, "x clamped to two bounds", "two comparisons").with(&[A::Min, A::Max]),
        Self::Rotary => unary(3, "x * cos + rotated * sin, where rotated swaps the halves of x's last dimension and negates the new first half", "two multiplications, one addition; the sign change is free").takes(3, 3),
        Self::BatchNorm => unary(2, "x * scale + shift, or with mean, variance, weight and bias; one value of each per channel", "one multiplication, one addition; the factors per channel do not count").takes(3, 5).shaped(ShapeRule::PerChannel).with(&[A::Training, A::Eps]).module("BatchNorm2d"),
        Self::BatchNormTrain => unary(6, "mean 0 and variance 1 per channel of the batch; optional weight and bias: `batch_norm(x, w, b, training=true)`", "variance 4; one multiplication, one addition").typed(OpType::Reduction).takes(1, 3).shaped(ShapeRule::PerChannel).with(&[A::Eps]),
        Self::Sum => reduce(1, "sum along an axis", "one addition"),
        Self::Mean => reduce(1, "mean along an axis", "one addition"),
        Self::Max => reduce(1, "largest value along an axis", "one comparison"),
        Self::Min => reduce(1, "smallest value along an axis", "one comparison"),
        Self::Prod => reduce(1, "product along an axis", "one multiplication"),
        Self::Any => reduce(1, "whether any element along an axis is not 0", "one bit operation").giving(DType::Bool),
        Self::All => reduce(1, "whether no element along an axis is 0", "one bit operation").giving(DType::Bool),
        Self::Argmax => reduce(1, "index of the largest value along an axis, the first of equal values", "one comparison").giving(DType::I64),
        Self::Argmin => reduce(1, "index of the smallest value along an axis, the first of equal values", "one comparison").giving(DType::I64),
        Self::Var => reduce(4, "variance along an axis, two passes", "addition for the mean; subtraction, square, addition"),
        Self::Softmax => normalize(5, "exp(x - max) over its sum, along an axis", "comparison, subtraction, exp, addition, division").slow(&[S::Exponential], 1).module("Softmax"),
        Self::LogSoftmax => normalize(5, "the logarithm of softmax", "comparison, subtraction, exp, addition, subtraction").slow(&[S::Exponential], 1).module("LogSoftmax"),
        Self::LayerNorm => normalize(8, "mean 0 and variance 1 along the last axis; optional weight and bias", "variance 4; subtraction, multiplication, weight, bias").takes(1, 3).with(&[A::Eps]).module("LayerNorm"),
        Self::RmsNorm => normalize(4, "x over its root mean square along the last axis; optional weight and bias", "square, addition; multiplication, weight").takes(1, 3).with(&[A::Eps]).module("RMSNorm"),
        Self::L2Norm => normalize(3, "x over its length along an axis", "square, addition, division").with(&[A::Axis, A::Eps]),
        Self::GroupNorm => normalize(8, "mean 0 and variance 1 per group of channels; optional weight and bias", "variance 4; subtraction, multiplication, weight, bias").takes(1, 3).shaped(ShapeRule::PerChannel).with(&[A::Groups, A::Eps]).module("GroupNorm"),
        Self::Cumsum => normalize(1, "sum of each element and all elements before it, along an axis", "one addition"),
        Self::MaxPool2d => reduce(1, "largest value of each window", "one comparison; overlaps count once").shaped(ShapeRule::Pool2d).with(&[A::Kernel, A::Stride, A::Padding]).module("MaxPool2d"),
        Self::AvgPool2d => reduce(1, "mean of each window", "one addition; overlaps count once").shaped(ShapeRule::Pool2d).with(&[A::Kernel, A::Stride, A::Padding]).module("AvgPool2d"),
        Self::AdaptiveAvgPool2d => reduce(1, "mean of a given number of windows", "one addition; overlaps count once").shaped(ShapeRule::AdaptivePool2d).with(&[A::Size]).module("AdaptiveAvgPool2d"),
        Self::AdaptiveMaxPool2d => reduce(1, "largest value of a given number of windows", "one comparison; overlaps count once").shaped(ShapeRule::AdaptivePool2d).with(&[A::Size]).module("AdaptiveMaxPool2d"),
        Self::Matmul => product(ShapeRule::Matmul, "matrix product, batched over leading dimensions", "2 * K per output element").takes(2, 2).with(&[A::TransposeA, A::TransposeB, A::K]),
        Self::ScaledMatmul => product(ShapeRule::ScaledMatmul, "matrix product of two operands and their scales, of the whole, of rows or of blocks, as libraries multiply f8 and f4, plus an optional bias; in the type of the first scale or of the annotation", "2 * K per output element; the scales and the bias are free").takes(4, 5).with(&[A::TransposeA, A::TransposeB]),
        Self::Linear => product(ShapeRule::Linear, "x times a transposed weight [N, K], plus an optional bias", "2 * K per output element; the bias is free").module("Linear"),
        Self::Conv1d => product(ShapeRule::Conv1d, "convolution of [B, C, L] by [O, C/groups, K]", "2 * C/groups * K per output element").with(&[A::Stride, A::Padding, A::Dilation, A::Groups]).module("Conv1d"),
        Self::Conv2d => product(ShapeRule::Conv2d, "convolution of [B, C, H, W] by [O, C/groups, KH, KW]", "2 * C/groups * KH * KW per output element").with(&[A::Stride, A::Padding, A::Dilation, A::Groups]).module("Conv2d"),
        Self::Convolution => product(ShapeRule::Stated, "any other convolution, such as one over a volume or a transposed one, of the length K and the shape that are stated", "2 * K per output element").takes(2, 2).with(&[A::K]),
        Self::Reshape => layout(ShapeRule::Reshape, &[A::Shape], "the same elements in another shape"),
        Self::Bitcast => layout(ShapeRule::SameAsFirst, &[A::Dtype], "the same bits in another element type of the same size"),
        Self::Rearrange => layout(ShapeRule::Stated, &[], "elements moved in a way that the text does not say, of the annotated shape; has values only where columns split into heads or heads join").takes(1, ANY_NUMBER),
        Self::Part => layout(ShapeRule::Stated, &[], "one result of an operator that gives several, which its one kernel has written; always free").takes(1, 1),
        Self::Contiguous => layout(ShapeRule::Reshape, &[A::Shape], "a copy of the same elements in a new layout, and in another shape if given").copying(),
        Self::Transpose => layout(ShapeRule::Transpose, &[A::Perm], "dimensions in another order"),
        Self::Split => layout(ShapeRule::Split, &[A::Parts, A::Index, A::Axis], "one of several equal pieces along an axis"),
        Self::Concat => layout(ShapeRule::Concat, &[A::Axis], "all inputs joined along an axis").takes(2, ANY_NUMBER).copying(),
        Self::Slice => layout(ShapeRule::Slice, &[A::Start, A::End, A::Step, A::Axis], "a range along an axis"),
        Self::Expand => layout(ShapeRule::Expand, &[A::Shape], "dimensions of size 1 expanded without a copy"),
        Self::Repeat => layout(ShapeRule::Repeat, &[A::Times], "the whole tensor repeated along each dimension").copying(),
        Self::RepeatInterleave => layout(ShapeRule::Interleave, &[A::Times, A::Axis], "each element repeated along an axis").copying(),
        Self::Embedding => layout(ShapeRule::Embedding, &[], "one row of a table per index; reads one row per index, at most the table").takes(2, 2).copying().module("Embedding"),
        Self::Gather => layout(ShapeRule::Gather, &[A::Axis], "one element along an axis per index; reads one element per index, at most the tensor").takes(2, 2).copying(),
        Self::Index => layout(ShapeRule::Index, &[], "the elements at the indices along the first dimensions: `index(x, i, j)` is `x[i, j]`; reads as many elements as it writes, at most the tensor").takes(2, ANY_NUMBER).copying(),
        Self::OneHot => layout(ShapeRule::OneHot, &[A::Classes], "1 at the class of each index, else 0").copying().giving(DType::I64),
        Self::Flip => layout(ShapeRule::Moved, &[A::Axis], "elements in the opposite order along axes").copying(),
        Self::Roll => layout(ShapeRule::Moved, &[A::Shift, A::Axis], "elements shifted along an axis; elements that leave at the end enter at the start").copying(),
        Self::Interpolate => layout(ShapeRule::Resample, &[A::Size, A::Times, A::Mode, A::AlignCorners], "an image of another size, by the nearest element").copying(),
        Self::InterpolateBilinear => layout(ShapeRule::Resample, &[A::Size, A::Times, A::Mode, A::AlignCorners], "an image of another size, by interpolating four elements: `interpolate(x, times=2, mode=bilinear)`").copying().costing(9, "three interpolations: subtraction, multiplication, addition"),
        Self::Pad => layout(ShapeRule::Pad, &[A::Pad, A::Value], "a border around the last dimensions, of zeros unless `value=` is another number").copying(),
        Self::Sdpa => opaque(0, "attention, softmax(q k^T * scale) v, as a library kernel; a float mask is added, a boolean mask selects", "2 * head size per score and per weight of v; scale 1, softmax 5, mask 1 per score").takes(3, 4).shaped(ShapeRule::Attention).with(&[A::Causal, A::Scale, A::EnableGqa]),
        Self::Topk => opaque(1, "the largest values along an axis, the largest first", "one comparison").shaped(ShapeRule::TopK).with(&[A::Count, A::Axis]),
        Self::TopkIndices => opaque(1, "indices of the largest values along an axis, the largest first", "one comparison").shaped(ShapeRule::TopK).with(&[A::Count, A::Axis]).giving(DType::I64),
        Self::Sort => opaque(0, "the values along an axis in ascending order", "moves elements; the comparisons of a radix sort do not count").with(&[A::Axis, A::Descending]),
        Self::Argsort => opaque(0, "indices of the values along an axis in ascending order; equal values keep their order", "moves elements; the comparisons of a radix sort do not count").with(&[A::Axis, A::Descending]).giving(DType::I64),
        Self::Scatter => opaque(0, "x with elements of src written at the indices along an axis", "moves elements, computes nothing").takes(3, 3).shaped(ShapeRule::Scatter).with(&[A::Axis]),
        Self::ScatterAdd => opaque(1, "x with elements of src added at the indices along an axis", "one addition").takes(3, 3).shaped(ShapeRule::Scatter).with(&[A::Axis]),
        Self::IndexCopy => opaque(0, "x with slices of src written at the indices along an axis", "moves elements, computes nothing").takes(3, 3).shaped(ShapeRule::IndexAlong).with(&[A::Axis]),
        Self::IndexAdd => opaque(1, "x with slices of src added at the indices along an axis", "one addition").takes(3, 3).shaped(ShapeRule::IndexAlong).with(&[A::Axis]),
        Self::IndexPut => opaque(0, "x with elements of src written at the indices along the first dimensions: `index_put(x, i, j, src)` is `x[i, j] = src`", "moves elements, computes nothing").takes(3, ANY_NUMBER).shaped(ShapeRule::IndexPut),
        Self::SliceScatter => opaque(0, "x with src written over a range along an axis", "moves elements, computes nothing").takes(2, 2).shaped(ShapeRule::SliceScatter).with(&[A::Start, A::End, A::Step, A::Axis]),
        Self::Opaque => opaque(0, "an unknown operator: it reads its inputs, writes its result, and fuses with no op", "the value of `flops=`, else none").takes(0, ANY_NUMBER).shaped(ShapeRule::Stated).with(&[A::Name, A::Flops, A::Units]),
        }
    }
}

type Text = &'static str;

/// A function of one input that keeps its shape.
const fn unary(flops: u64, summary: Text, source: Text) -> Row {
    Row {
        op_type: OpType::Elementwise,
        min_inputs: 1,
        max_inputs: 1,
        flops_per_element: flops,
        shape_rule: ShapeRule::SameAsFirst,
        attributes: &[],
        result_dtype: None,
        slow: &[],
        instructions: 2,
        is_view: false,
        module: None,
        summary,
        flops_source: source,
    }
}

/// A function of two inputs that are broadcast.
const fn binary(flops: u64, summary: Text, source: Text) -> Row {
    unary(flops, summary, source)
        .takes(2, 2)
        .shaped(ShapeRule::Broadcast)
}

/// A reduction that gives one value for each row.
const fn reduce(flops: u64, summary: Text, source: Text) -> Row {
    unary(flops, summary, source)
        .typed(OpType::Reduction)
        .shaped(ShapeRule::Reduce)
        .with(&[AttributeName::Axis, AttributeName::Keepdim])
}

/// A reduction over rows that keeps the shape, such as softmax.
const fn normalize(flops: u64, summary: Text, source: Text) -> Row {
    unary(flops, summary, source)
        .typed(OpType::Reduction)
        .with(&[AttributeName::Axis])
}

const fn product(rule: ShapeRule, summary: Text, source: Text) -> Row {
    unary(0, summary, source)
        .typed(OpType::Matmul)
        .takes(2, 3)
        .shaped(rule)
}

/// A separate kernel; FLOPs for each element of the first input.
const fn opaque(flops: u64, summary: Text, source: Text) -> Row {
    unary(flops, summary, source).typed(OpType::Opaque)
}

const fn layout(rule: ShapeRule, attributes: &'static [AttributeName], summary: Text) -> Row {
    let moved = unary(0, summary, "moves elements, computes nothing");
    Row {
        is_view: true,
        ..moved.typed(OpType::Reshape).shaped(rule).with(attributes)
    }
}

impl Row {
    /// The row with another op type. Kernels of that type have measured rates of their own, so no
    /// instructions count.
    const fn typed(self, op_type: OpType) -> Self {
        Self {
            op_type,
            instructions: 0,
            ..self
        }
    }

    const fn takes(self, min_inputs: usize, max_inputs: usize) -> Self {
        Self {
            min_inputs,
            max_inputs,
            ..self
        }
    }

    const fn shaped(self, shape_rule: ShapeRule) -> Self {
        Self { shape_rule, ..self }
    }

    const fn with(self, attributes: &'static [AttributeName]) -> Self {
        Self { attributes, ..self }
    }

    const fn costing(self, flops_per_element: u64, flops_source: Text) -> Self {
        Self {
            flops_per_element,
            flops_source,
            ..self
        }
    }

    const fn giving(self, result_dtype: DType) -> Self {
        Self {
            result_dtype: Some(result_dtype),
            ..self
        }
    }

    const fn slow(self, slow: &'static [SlowOperation], instructions: u32) -> Self {
        Self {
            slow,
            instructions,
            ..self
        }
    }

    const fn module(self, module: Text) -> Self {
        Self {
            module: Some(module),
            ..self
        }
    }

    const fn copying(self) -> Self {
        Self {
            is_view: false,
            ..self
        }
    }
}
