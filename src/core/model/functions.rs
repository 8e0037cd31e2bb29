//! The table of functions: one row for each, the only place that holds their FLOPs and shape rules.
//!
//! FLOP counts follow the usual convention: a multiply-add is two; elementwise functions count per output
//! element, reductions per *input* element. For transcendental functions there is no convention. Here each exp,
//! log, tanh, erf, sqrt and division counts 1, like one instruction of a GPU's special function units, and a
//! composed function counts its steps: GELU in its tanh form is 8, softmax 5, layer norm 8. Work per row
//! instead of per element (the rsqrt of a norm, the division of a mean) is left out.

pub mod pytorch;

use crate::core::model::op_type::OpType;

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
    /// `[..] x [rows, D] -> [.., D]`: for each index a row of a table.
    Embedding,
    /// `[..] x [..] -> [..]`: for each index an element along an axis. The index's shape.
    Gather,
    /// The last dimensions longer by `pad`.
    Pad,
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
    /// FLOPs per output element (elementwise) or input element (reduction); 0 for the other types.
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

/// The values that an attribute can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// An integer expression over params.
    Size,
    /// An integer or a list of integers.
    SizeOrSizes,
    /// A list of integers.
    Sizes,
    /// Any number; sizes do not depend on it.
    Number,
    /// `true` or `false`.
    Flag,
    /// An element type.
    Type,
    /// An integer, or the word `unknown`.
    SizeOrUnknown,
    /// `tanh` or `none`.
    Approximation,
}

impl AttributeKind {
    /// Whether a word is a value as it stands, and not the name of a param.
    pub fn is_word(self, word: &str) -> bool {
        match self {
            Self::Flag | Self::Type => true,
            Self::SizeOrUnknown => word == "unknown",
            Self::Approximation => matches!(word, "tanh" | "none"),
            Self::Size | Self::SizeOrSizes | Self::Sizes | Self::Number => false,
        }
    }

    /// The form of a value, for a hint.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Size => "an integer",
            Self::SizeOrSizes => "an integer or a list such as [1, 2]",
            Self::Sizes => "a list such as [0, 2, 1]",
            Self::Number => "a number",
            Self::Flag => "true or false",
            Self::Type => "an element type such as f32",
            Self::SizeOrUnknown => "an integer, or `unknown`",
            Self::Approximation => "tanh or none",
        }
    }
}

/// An attribute; it has the same meaning in every function that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// Its name.
    pub name: &'static str,
    /// The values that it can have.
    pub kind: AttributeKind,
    /// Its meaning and its default.
    pub summary: &'static str,
}

/// All attributes of all functions.
#[rustfmt::skip]
pub const ATTRIBUTES: &[AttributeSpec] = &[
    attribute("axis", AttributeKind::SizeOrSizes, "dimension to work along, counted from the end when negative; -1 by default"),
    attribute("keepdim", AttributeKind::Flag, "whether the reduced dimension stays as 1; true by default"),
    attribute("transpose_a", AttributeKind::Flag, "whether the first operand is [K, M]; false by default"),
    attribute("transpose_b", AttributeKind::Flag, "whether the second operand is [N, K]; false by default"),
    attribute("k", AttributeKind::SizeOrUnknown, "contraction length, where the operands hold more than the op reads; the shape must be given"),
    attribute("stride", AttributeKind::SizeOrSizes, "step of the window, one number or [height, width]; 1 for a convolution, the window for a pool"),
    attribute("padding", AttributeKind::SizeOrSizes, "border of zeros on each side; 0 by default"),
    attribute("dilation", AttributeKind::SizeOrSizes, "distance of the window's elements; 1 by default"),
    attribute("groups", AttributeKind::Size, "independent groups of channels; 1 by default"),
    attribute("kernel", AttributeKind::SizeOrSizes, "size of the window, one number or [height, width]"),
    attribute("shape", AttributeKind::Sizes, "the new shape; one size may be -1 and follows from the others"),
    attribute("perm", AttributeKind::Sizes, "for each new dimension the old one; the last two swapped by default"),
    attribute("times", AttributeKind::SizeOrSizes, "how often the elements are repeated along the axis, or along each dimension"),
    attribute("pad", AttributeKind::Sizes, "elements added before and after, the last dimension first, as in PyTorch: [left, right, top, bottom]"),
    attribute("parts", AttributeKind::Size, "number of equal pieces"),
    attribute("index", AttributeKind::Size, "which piece, from 0; 0 by default"),
    attribute("start", AttributeKind::Size, "first element, counted from the end when negative; 0 by default"),
    attribute("end", AttributeKind::Size, "one past the last element; the whole rest by default"),
    attribute("step", AttributeKind::Size, "distance between two elements that are kept; 1 by default"),
    attribute("diagonal", AttributeKind::Size, "the last diagonal that is kept, 0 for the main one; 0 by default"),
    attribute("approximate", AttributeKind::Approximation, "tanh, or none for the exact function by erf; tanh by default"),
    attribute("training", AttributeKind::Flag, "whether mean and variance are those of the batch; false by default"),
    attribute("value", AttributeKind::Number, "the value of every element"),
    attribute("dtype", AttributeKind::Type, "element type of the result"),
    attribute("factor", AttributeKind::Number, "what to multiply by"),
    attribute("amount", AttributeKind::Number, "what to add"),
    attribute("exponent", AttributeKind::Number, "the power, when it is no tensor"),
    attribute("p", AttributeKind::Number, "probability that an element is dropped"),
    attribute("eps", AttributeKind::Number, "small number against a division by zero"),
    attribute("min", AttributeKind::Number, "lower bound"),
    attribute("max", AttributeKind::Number, "upper bound"),
];

/// The function with this name.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// The attribute with this name.
pub fn find_attribute(name: &str) -> Option<&'static AttributeSpec> {
    ATTRIBUTES.iter().find(|a| a.name == name)
}

const fn attribute(name: Text, kind: AttributeKind, summary: Text) -> AttributeSpec {
    AttributeSpec {
        name,
        kind,
        summary,
    }
}

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
    /// The input that gives the element type of the output: the second for `where`, whose first is the
    /// condition, and for `embedding`, whose first is the index.
    pub fn leading_input(&self) -> usize {
        usize::from(matches!(self.name, "where" | "embedding"))
    }

    /// The function that a call of this one stands for, when an attribute has this value.
    pub fn variant(&self, attribute: &str, value: &str) -> Option<&'static Self> {
        match (self.name, attribute, value) {
            ("gelu", "approximate", "none") => find("gelu_erf"),
            ("gelu_erf", "approximate", "tanh") => find("gelu"),
            ("batch_norm", "training", "true") => find("batch_norm_train"),
            _ => None,
        }
    }

    /// Whether numbers may stand in the place of inputs, all but one.
    pub fn takes_literals(&self) -> bool {
        self.op_type == OpType::Elementwise && self.shape_rule == ShapeRule::Broadcast
    }

    /// Whether the result is true or false.
    pub fn gives_bool(&self) -> bool {
        matches!(
            self.name,
            "lt" | "le" | "gt" | "ge" | "eq" | "ne" | "logical_not" | "logical_and" | "logical_or"
        )
    }

    /// Whether the output may have another element type than the inputs without a cast.
    pub fn is_freely_typed(&self) -> bool {
        self.op_type == OpType::Matmul || self.shape_rule == ShapeRule::Stated
    }

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

    const fn copying(self) -> Self {
        Self {
            is_view: false,
            ..self
        }
    }
}

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
    binary("logical_and", 1, "whether both hold", "one operation on bits"),
    binary("logical_or", 1, "whether one of both holds", "one operation on bits"),
    unary("logical_not", 1, "whether it does not hold", "one operation on bits"),
    unary("neg", 1, "-x", "one negation"),
    unary("abs", 1, "the absolute value", "one operation on the sign"),
    unary("square", 1, "x * x", "one multiplication"),
    unary("relu", 1, "max(x, 0)", "one comparison"),
    unary("gelu", 8, "x times the normal distribution function, tanh form unless `approximate=none`", "x * 0.5 * (1 + tanh(x * (c + d * x * x))): 5 multiplications, 2 additions, tanh").with(&["approximate"]),
    unary("gelu_erf", 5, "the same, exact: `gelu(x, approximate=none)`", "x * 0.5 * (1 + erf(x * c)): 3 multiplications, addition, erf").with(&["approximate"]),
    unary("silu", 5, "x * sigmoid(x), also called swish", "sigmoid 4, one multiplication"),
    unary("sigmoid", 4, "1 / (1 + exp(-x))", "negation, exp, addition, division"),
    unary("tanh", 1, "hyperbolic tangent", "one transcendental"),
    unary("exp", 1, "e to the power of x", "one transcendental"),
    unary("log", 1, "natural logarithm", "one transcendental"),
    unary("erf", 1, "error function", "one transcendental"),
    unary("sin", 1, "sine", "one transcendental"),
    unary("cos", 1, "cosine", "one transcendental"),
    unary("round", 1, "nearest whole number", "one rounding"),
    unary("floor", 1, "largest whole number that is not above", "one rounding"),
    unary("sqrt", 1, "square root", "one transcendental"),
    unary("rsqrt", 1, "1 / square root", "one transcendental"),
    unary("reciprocal", 1, "1 / x", "one division"),
    unary("scale", 1, "x times a constant", "one multiplication").with(&["factor"]),
    unary("shift", 1, "x plus a constant", "one addition").with(&["amount"]),
    unary("mask", 1, "x + mask; causal when no mask is named", "one addition, or one comparison when causal").takes(1, 2),
    unary("tril", 1, "zero above a diagonal of the last two dimensions", "one comparison").with(&["diagonal"]),
    unary("triu", 1, "zero below a diagonal of the last two dimensions", "one comparison").with(&["diagonal"]),
    unary("full", 0, "one value everywhere, of the annotated type", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated).with(&["value"]),
    unary("arange", 0, "0, 1, 2 and so on, of the annotated type", "computes nothing").takes(0, 0).shaped(ShapeRule::Stated),
    unary("dropout", 2, "elements dropped at random; the mask is made on chip", "one comparison, one multiplication; random bits are not counted").with(&["p"]),
    unary("cast", 1, "x in another element type", "one conversion").with(&["dtype"]),
    binary("where", 1, "a where the condition holds, else b", "one selection").takes(3, 3),
    unary("clamp", 2, "x held between two bounds", "two comparisons").with(&["min", "max"]),
    unary("batch_norm", 2, "x * scale + shift, or with mean, variance, weight and bias; one of each for a channel", "one multiplication, one addition: the factors are counted once for a channel, so not at all").takes(3, 5).shaped(ShapeRule::PerChannel).with(&["training", "eps"]),
    unary("batch_norm_train", 6, "mean 0 and variance 1 for each channel of the batch; optional weight and bias: `batch_norm(x, w, b, training=true)`", "variance 4; one multiplication, one addition").typed(OpType::Reduction).takes(1, 3).shaped(ShapeRule::PerChannel).with(&["eps"]),
    reduce("sum", 1, "sum along an axis", "one addition"),
    reduce("mean", 1, "mean along an axis", "one addition"),
    reduce("max", 1, "largest value along an axis", "one comparison"),
    reduce("min", 1, "smallest value along an axis", "one comparison"),
    reduce("var", 4, "variance along an axis, two passes", "addition for the mean; subtraction, square, addition"),
    normalize("softmax", 5, "exp(x - max) over its sum, along an axis", "comparison, subtraction, exp, addition, division"),
    normalize("log_softmax", 5, "the logarithm of softmax", "comparison, subtraction, exp, addition, subtraction"),
    normalize("layer_norm", 8, "mean 0 and variance 1 along the last axis; optional weight and bias", "variance 4; subtraction, multiplication, weight, bias").takes(1, 3).with(&["eps"]),
    normalize("rms_norm", 4, "x over its root mean square along the last axis; optional weight and bias", "square, addition; multiplication, weight").takes(1, 3).with(&["eps"]),
    normalize("l2_norm", 3, "x over its length along an axis", "square, addition, division").with(&["axis", "eps"]),
    normalize("cumsum", 1, "sum of an element and those before it, along an axis", "one addition"),
    reduce("max_pool2d", 1, "largest value of each window", "one comparison; overlaps are not counted twice").shaped(ShapeRule::Pool2d).with(&["kernel", "stride", "padding"]),
    reduce("avg_pool2d", 1, "mean of each window", "one addition; overlaps are not counted twice").shaped(ShapeRule::Pool2d).with(&["kernel", "stride", "padding"]),
    product("matmul", ShapeRule::Matmul, "matrix product, batched over leading dimensions", "2 * K for each output element").takes(2, 2).with(&["transpose_a", "transpose_b", "k"]),
    product("linear", ShapeRule::Linear, "x times a transposed weight [N, K], plus an optional bias", "2 * K for each output element; the bias rides along"),
    product("conv2d", ShapeRule::Conv2d, "convolution of [B, C, H, W] by [O, C/groups, KH, KW]", "2 * C/groups * KH * KW for each output element").with(&["stride", "padding", "dilation", "groups"]),
    layout("reshape", ShapeRule::Reshape, &["shape"], "the same elements in another shape"),
    layout("rearrange", ShapeRule::Stated, &[], "elements moved in a way that only the annotation tells").takes(1, ANY_NUMBER),
    layout("contiguous", ShapeRule::Reshape, &["shape"], "the same elements laid out anew, in another shape if one is given: a copy").copying(),
    layout("transpose", ShapeRule::Transpose, &["perm"], "dimensions in another order"),
    layout("split", ShapeRule::Split, &["parts", "index", "axis"], "one of several equal pieces along an axis"),
    layout("concat", ShapeRule::Concat, &["axis"], "all inputs one behind the other along an axis").takes(2, ANY_NUMBER).copying(),
    layout("slice", ShapeRule::Slice, &["start", "end", "step", "axis"], "a range along an axis"),
    layout("expand", ShapeRule::Expand, &["shape"], "dimensions of size 1 made longer without a copy"),
    layout("repeat", ShapeRule::Repeat, &["times"], "the whole tensor several times along each dimension").copying(),
    layout("repeat_interleave", ShapeRule::Repeat, &["times", "axis"], "each element several times along an axis").copying(),
    layout("embedding", ShapeRule::Embedding, &[], "for each index a row of a table; it reads as many rows as there are indices, at most the table").takes(2, 2).copying(),
    layout("gather", ShapeRule::Gather, &["axis"], "for each index an element along an axis; it reads as many elements as there are indices, at most the tensor").takes(2, 2).copying(),
    layout("pad", ShapeRule::Pad, &["pad"], "a border of zeros around the last dimensions").copying(),
];

#[cfg(test)]
mod tests {
    use crate::core::model::functions::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_consistent() {
        let mut names = BTreeSet::new();
        for f in FUNCTIONS {
            assert!(names.insert(f.name), "{} twice", f.name);
            assert!(f.min_inputs <= f.max_inputs, "{}", f.name);
            assert!(!f.summary.is_empty() && !f.flops_source.is_empty());
            let computes =
                f.max_inputs > 0 && matches!(f.op_type, OpType::Elementwise | OpType::Reduction);
            assert_eq!(f.flops_per_element > 0, computes, "{}", f.name);
            for attribute in f.attributes {
                assert!(
                    find_attribute(attribute).is_some(),
                    "{attribute} of {}",
                    f.name
                );
            }
        }
        for spec in ATTRIBUTES {
            assert!(
                FUNCTIONS.iter().any(|f| f.attributes.contains(&spec.name)),
                "{}",
                spec.name
            );
        }
    }

    #[test]
    fn every_name_of_pytorch_leads_to_a_row() {
        let mut names = BTreeSet::new();
        for alias in pytorch::ALIASES {
            assert!(names.insert(alias.name), "{} twice", alias.name);
            let attributes = find(alias.function).map(|function| function.attributes);
            assert!(attributes.is_some(), "{}", alias.name);
            for attribute in alias.needs {
                let attributes = attributes.unwrap_or_default();
                assert!(attributes.contains(attribute), "{}", alias.name);
            }
        }
        let mut names = BTreeSet::new();
        for answer in pytorch::ANSWERS {
            assert!(names.insert(answer.name), "{} twice", answer.name);
            assert_eq!(answer.inputs > 0, !answer.lines.is_empty());
        }
    }

    #[test]
    fn flops_of_an_element() {
        let flops = |name| find(name).map(|f| f.flops_per_element);
        for (name, count) in [
            ("add", 1),
            ("relu", 1),
            ("gelu", 8),
            ("sum", 1),
            ("max", 1),
            ("softmax", 5),
            ("layer_norm", 8),
        ] {
            assert_eq!(flops(name), Some(count), "{name}");
        }
        assert_eq!(flops("no_such_function"), None);
    }
}
