//! The table of all functions.

use super::{ANY_NUMBER, Function, ShapeRule};
use crate::model::op_type::OpType;

/// All functions, by op type.
#[rustfmt::skip]
pub static FUNCTIONS: &[Function] = &[
    binary("add", 1, "a + b", "one addition"),
    binary("sub", 1, "a - b", "one subtraction"),
    binary("mul", 1, "a * b", "one multiplication"),
    binary("div", 1, "a / b", "one division"),
    binary("maximum", 1, "the larger of a and b", "one comparison"),
    binary("minimum", 1, "the smaller of a and b", "one comparison"),
    binary("pow", 3, "a to the power of b", "log, multiplication, exp").takes(1, 2).with(&["exponent"]),
    binary("lt", 1, "whether a < b", "one comparison"),
    binary("le", 1, "whether a <= b", "one comparison"),
    binary("gt", 1, "whether a > b", "one comparison"),
    binary("ge", 1, "whether a >= b", "one comparison"),
    binary("eq", 1, "whether a = b", "one comparison"),
    binary("ne", 1, "whether a and b differ", "one comparison"),
    binary("logical_and", 1, "whether both are true", "one bit operation"),
    binary("logical_or", 1, "whether at least one is true", "one bit operation"),
    binary("logical_xor", 1, "whether exactly one is true", "one bit operation"),
    binary("floor_divide", 2, "a / b, rounded down", "one division, one rounding"),
    binary("remainder", 4, "remainder of a / b rounded down, with the sign of b", "division, rounding, multiplication, subtraction"),
    unary("logical_not", 1, "whether it is false", "one bit operation"),
    unary("neg", 1, "-x", "one negation"),
    unary("abs", 1, "the absolute value", "one sign operation"),
    unary("sign", 1, "-1, 0 or 1", "one sign operation"),
    unary("isnan", 1, "whether it is NaN", "one comparison"),
    unary("isinf", 1, "whether it is infinite", "one comparison"),
    unary("square", 1, "x * x", "one multiplication"),
    unary("relu", 1, "max(x, 0)", "one comparison"),
    unary("gelu", 8, "x times the normal distribution function, tanh form unless `approximate=none`", "x * 0.5 * (1 + tanh(x * (c + d * x * x))): 5 multiplications, 2 additions, tanh").with(&["approximate"]),
    unary("gelu_erf", 5, "the same, exact: `gelu(x, approximate=none)`", "x * 0.5 * (1 + erf(x * c)): 3 multiplications, addition, erf").with(&["approximate"]),
    unary("silu", 5, "x * sigmoid(x), also called swish", "sigmoid 4, one multiplication"),
    unary("leaky_relu", 2, "x where it is positive, else x times a small slope", "one multiplication, one comparison").with(&["slope"]),
    unary("elu", 4, "x where it is positive, else alpha * (exp(x) - 1)", "exp, subtraction, multiplication, comparison").with(&["alpha"]),
    unary("selu", 5, "elu of fixed alpha, times a constant", "elu 4, one multiplication"),
    unary("softplus", 3, "log(1 + exp(x))", "exp, addition, log"),
    unary("mish", 5, "x * tanh(softplus(x))", "softplus 3, tanh, multiplication"),
    unary("hardsigmoid", 4, "x / 6 + 1/2, clamped to 0 to 1", "addition, two comparisons, division"),
    unary("hardswish", 5, "x * hardsigmoid(x)", "hardsigmoid 4, one multiplication"),
    unary("sigmoid", 4, "1 / (1 + exp(-x))", "negation, exp, addition, division"),
    unary("tanh", 1, "hyperbolic tangent", "one transcendental"),
    unary("exp", 1, "e to the power of x", "one transcendental"),
    unary("exp2", 1, "2 to the power of x", "one transcendental"),
    unary("expm1", 2, "exp(x) - 1", "one transcendental, one subtraction"),
    unary("log", 1, "natural logarithm", "one transcendental"),
    unary("log2", 1, "logarithm to the base 2", "one transcendental"),
    unary("log1p", 2, "log(1 + x)", "one addition, one transcendental"),
    unary("erf", 1, "error function", "one transcendental"),
    unary("sin", 1, "sine", "one transcendental"),
    unary("cos", 1, "cosine", "one transcendental"),
    unary("tan", 1, "tangent", "one transcendental"),
    unary("ceil", 1, "smallest whole number that is at least x", "one rounding"),
    unary("trunc", 1, "the integer part", "one rounding"),
    unary("round", 1, "nearest whole number", "one rounding"),
    unary("floor", 1, "largest whole number that is at most x", "one rounding"),
    unary("sqrt", 1, "square root", "one transcendental"),
    unary("rsqrt", 1, "1 / square root", "one transcendental"),
    unary("reciprocal", 1, "1 / x", "one division"),
    unary("scale", 1, "x times a constant", "one multiplication").with(&["factor"]),
    unary("shift", 1, "x plus a constant", "one addition").with(&["amount"]),
    unary("mask", 1, "x + mask; causal without a mask", "one addition, or one comparison if causal").takes(1, 2),
    unary("tril", 1, "zero above a diagonal of the last two dimensions", "one comparison").with(&["diagonal"]),
    unary("triu", 1, "zero below a diagonal of the last two dimensions", "one comparison").with(&["diagonal"]),
    unary("full", 0, "one value everywhere, of the annotated type", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated).with(&["value"]),
    unary("arange", 0, "0, 1, 2 and so on, of the annotated type", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated),
    unary("dropout", 2, "drops elements at random; generates the mask on chip", "one comparison, one multiplication; random bits do not count").with(&["p"]),
    unary("cast", 1, "x in another element type", "one conversion").with(&["dtype"]),
    binary("where", 1, "a where the condition is true, else b", "one selection").takes(3, 3),
    unary("clamp", 2, "x clamped to two bounds", "two comparisons").with(&["min", "max"]),
    unary("rotary", 3, "x * cos + rotated * sin, where rotated swaps the halves of x's last dimension and negates the new first half", "two multiplications, one addition; the sign change is free").takes(3, 3),
    unary("batch_norm", 2, "x * scale + shift, or with mean, variance, weight and bias; one value of each per channel", "one multiplication, one addition; the factors per channel do not count").takes(3, 5).shaped(ShapeRule::PerChannel).with(&["training", "eps"]),
    unary("batch_norm_train", 6, "mean 0 and variance 1 per channel of the batch; optional weight and bias: `batch_norm(x, w, b, training=true)`", "variance 4; one multiplication, one addition").typed(OpType::Reduction).takes(1, 3).shaped(ShapeRule::PerChannel).with(&["eps"]),
    reduce("sum", 1, "sum along an axis", "one addition"),
    reduce("mean", 1, "mean along an axis", "one addition"),
    reduce("max", 1, "largest value along an axis", "one comparison"),
    reduce("min", 1, "smallest value along an axis", "one comparison"),
    reduce("prod", 1, "product along an axis", "one multiplication"),
    reduce("any", 1, "whether any element along an axis is not 0", "one bit operation"),
    reduce("all", 1, "whether no element along an axis is 0", "one bit operation"),
    reduce("argmax", 1, "index of the largest value along an axis, the first of equal values", "one comparison"),
    reduce("argmin", 1, "index of the smallest value along an axis, the first of equal values", "one comparison"),
    reduce("var", 4, "variance along an axis, two passes", "addition for the mean; subtraction, square, addition"),
    normalize("softmax", 5, "exp(x - max) over its sum, along an axis", "comparison, subtraction, exp, addition, division"),
    normalize("log_softmax", 5, "the logarithm of softmax", "comparison, subtraction, exp, addition, subtraction"),
    normalize("layer_norm", 8, "mean 0 and variance 1 along the last axis; optional weight and bias", "variance 4; subtraction, multiplication, weight, bias").takes(1, 3).with(&["eps"]),
    normalize("rms_norm", 4, "x over its root mean square along the last axis; optional weight and bias", "square, addition; multiplication, weight").takes(1, 3).with(&["eps"]),
    normalize("l2_norm", 3, "x over its length along an axis", "square, addition, division").with(&["axis", "eps"]),
    normalize("group_norm", 8, "mean 0 and variance 1 per group of channels; optional weight and bias", "variance 4; subtraction, multiplication, weight, bias").takes(1, 3).shaped(ShapeRule::PerChannel).with(&["groups", "eps"]),
    normalize("cumsum", 1, "sum of each element and all elements before it, along an axis", "one addition"),
    reduce("max_pool2d", 1, "largest value of each window", "one comparison; overlaps count once").shaped(ShapeRule::Pool2d).with(&["kernel", "stride", "padding"]),
    reduce("avg_pool2d", 1, "mean of each window", "one addition; overlaps count once").shaped(ShapeRule::Pool2d).with(&["kernel", "stride", "padding"]),
    reduce("adaptive_avg_pool2d", 1, "mean of a given number of windows", "one addition; overlaps count once").shaped(ShapeRule::AdaptivePool2d).with(&["size"]),
    reduce("adaptive_max_pool2d", 1, "largest value of a given number of windows", "one comparison; overlaps count once").shaped(ShapeRule::AdaptivePool2d).with(&["size"]),
    product("matmul", ShapeRule::Matmul, "matrix product, batched over leading dimensions", "2 * K per output element").takes(2, 2).with(&["transpose_a", "transpose_b", "k"]),
    product("linear", ShapeRule::Linear, "x times a transposed weight [N, K], plus an optional bias", "2 * K per output element; the bias is free"),
    product("conv1d", ShapeRule::Conv1d, "convolution of [B, C, L] by [O, C/groups, K]", "2 * C/groups * K per output element").with(&["stride", "padding", "dilation", "groups"]),
    product("conv2d", ShapeRule::Conv2d, "convolution of [B, C, H, W] by [O, C/groups, KH, KW]", "2 * C/groups * KH * KW per output element").with(&["stride", "padding", "dilation", "groups"]),
    layout("reshape", ShapeRule::Reshape, &["shape"], "the same elements in another shape"),
    layout("rearrange", ShapeRule::Stated, &[], "elements moved in a way that only the annotated shape defines").takes(1, ANY_NUMBER),
    layout("contiguous", ShapeRule::Reshape, &["shape"], "a copy of the same elements in a new layout, and in another shape if given").copying(),
    layout("transpose", ShapeRule::Transpose, &["perm"], "dimensions in another order"),
    layout("split", ShapeRule::Split, &["parts", "index", "axis"], "one of several equal pieces along an axis"),
    layout("concat", ShapeRule::Concat, &["axis"], "all inputs joined along an axis").takes(2, ANY_NUMBER).copying(),
    layout("slice", ShapeRule::Slice, &["start", "end", "step", "axis"], "a range along an axis"),
    layout("expand", ShapeRule::Expand, &["shape"], "dimensions of size 1 expanded without a copy"),
    layout("repeat", ShapeRule::Repeat, &["times"], "the whole tensor repeated along each dimension").copying(),
    layout("repeat_interleave", ShapeRule::Interleave, &["times", "axis"], "each element repeated along an axis").copying(),
    layout("embedding", ShapeRule::Embedding, &[], "one row of a table per index; reads one row per index, at most the table").takes(2, 2).copying(),
    layout("gather", ShapeRule::Gather, &["axis"], "one element along an axis per index; reads one element per index, at most the tensor").takes(2, 2).copying(),
    layout("index", ShapeRule::Index, &[], "the elements at the indices along the first dimensions: `index(x, i, j)` is `x[i, j]`; reads as many elements as it writes, at most the tensor").takes(2, ANY_NUMBER).copying(),
    layout("one_hot", ShapeRule::OneHot, &["classes"], "1 at the class of each index, else 0").copying(),
    layout("flip", ShapeRule::Moved, &["axis"], "elements in the opposite order along axes").copying(),
    layout("roll", ShapeRule::Moved, &["shift", "axis"], "elements shifted along an axis; elements that leave at the end enter at the start").copying(),
    layout("interpolate", ShapeRule::Resample, &["size", "times", "mode", "align_corners"], "an image of another size, by the nearest element").copying(),
    layout("interpolate_bilinear", ShapeRule::Resample, &["size", "times", "mode", "align_corners"], "an image of another size, by interpolating four elements: `interpolate(x, times=2, mode=bilinear)`").copying().costing(9, "three interpolations: subtraction, multiplication, addition"),
    layout("pad", ShapeRule::Pad, &["pad"], "a border of zeros around the last dimensions").copying(),
    opaque("sdpa", 0, "attention, softmax(q k^T * scale) v, as a library kernel; a float mask is added, a boolean mask selects", "2 * head size per score and per weight of v; scale 1, softmax 5, mask 1 per score").takes(3, 4).shaped(ShapeRule::Attention).with(&["causal", "scale", "enable_gqa"]),
    opaque("topk", 1, "the largest values along an axis, the largest first", "one comparison").shaped(ShapeRule::TopK).with(&["count", "axis"]),
    opaque("topk_indices", 1, "indices of the largest values along an axis, the largest first", "one comparison").shaped(ShapeRule::TopK).with(&["count", "axis"]),
    opaque("sort", 0, "the values along an axis in ascending order", "moves elements; the comparisons of a radix sort do not count").with(&["axis", "descending"]),
    opaque("argsort", 0, "indices of the values along an axis in ascending order; equal values keep their order", "moves elements; the comparisons of a radix sort do not count").with(&["axis", "descending"]),
    opaque("scatter", 0, "x with elements of src written at the indices along an axis", "moves elements, computes nothing").takes(3, 3).shaped(ShapeRule::Scatter).with(&["axis"]),
    opaque("scatter_add", 1, "x with elements of src added at the indices along an axis", "one addition").takes(3, 3).shaped(ShapeRule::Scatter).with(&["axis"]),
    opaque("index_copy", 0, "x with slices of src written at the indices along an axis", "moves elements, computes nothing").takes(3, 3).shaped(ShapeRule::IndexAlong).with(&["axis"]),
    opaque("index_add", 1, "x with slices of src added at the indices along an axis", "one addition").takes(3, 3).shaped(ShapeRule::IndexAlong).with(&["axis"]),
    opaque("opaque", 0, "an unknown operator: it reads its inputs, writes its result, and fuses with no op", "the value of `flops=`, else none").takes(0, ANY_NUMBER).shaped(ShapeRule::Stated).with(&["name", "flops"]),
];

/// A text of the table.
type Text = &'static str;

/// A function of one input that keeps its shape.
const fn unary(name: Text, flops: u64, summary: Text, source: Text) -> Function {
    Function {
        name,
        op_type: OpType::Elementwise,
        min_inputs: 1,
        max_inputs: 1,
        flops_per_element: flops,
        shape_rule: ShapeRule::SameAsFirst,
        attributes: &[],
        is_view: false,
        summary,
        flops_source: source,
    }
}

/// A function of two inputs that are broadcast.
const fn binary(name: Text, flops: u64, summary: Text, source: Text) -> Function {
    unary(name, flops, summary, source)
        .takes(2, 2)
        .shaped(ShapeRule::Broadcast)
}

/// A reduction that gives one value for each row.
const fn reduce(name: Text, flops: u64, summary: Text, source: Text) -> Function {
    unary(name, flops, summary, source)
        .typed(OpType::Reduction)
        .shaped(ShapeRule::Reduce)
        .with(&["axis", "keepdim"])
}

/// A reduction over rows that keeps the shape, such as softmax.
const fn normalize(name: Text, flops: u64, summary: Text, source: Text) -> Function {
    unary(name, flops, summary, source)
        .typed(OpType::Reduction)
        .with(&["axis"])
}

const fn product(name: Text, rule: ShapeRule, summary: Text, source: Text) -> Function {
    unary(name, 0, summary, source)
        .typed(OpType::Matmul)
        .takes(2, 3)
        .shaped(rule)
}

/// A kernel of its own; FLOPs for each element of the first input.
const fn opaque(name: Text, flops: u64, summary: Text, source: Text) -> Function {
    unary(name, flops, summary, source).typed(OpType::Opaque)
}

const fn layout(
    name: Text,
    rule: ShapeRule,
    attributes: &'static [Text],
    summary: Text,
) -> Function {
    let moved = unary(name, 0, summary, "moves elements, computes nothing");
    Function {
        is_view: true,
        ..moved.typed(OpType::Reshape).shaped(rule).with(attributes)
    }
}

impl Function {
    const fn typed(self, op_type: OpType) -> Self {
        Self { op_type, ..self }
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

    const fn with(self, attributes: &'static [&'static str]) -> Self {
        Self { attributes, ..self }
    }

    const fn costing(self, flops_per_element: u64, flops_source: Text) -> Self {
        Self {
            flops_per_element,
            flops_source,
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
