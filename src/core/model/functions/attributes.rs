//! The attributes of functions.

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
    /// `nearest` or `bilinear`.
    Interpolation,
    /// Any word; in backquotes if it is no name.
    Word,
}

impl AttributeKind {
    /// Whether a word is a value as it stands, and not the name of a param.
    pub fn is_word(self, word: &str) -> bool {
        match self {
            Self::Flag | Self::Type | Self::Word => true,
            Self::SizeOrUnknown => word == "unknown",
            Self::Approximation => matches!(word, "tanh" | "none"),
            Self::Interpolation => matches!(word, "nearest" | "bilinear"),
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
            Self::Interpolation => "nearest or bilinear",
            Self::Word => "a word such as `aten.fft_rfft`",
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
    attribute("axis", AttributeKind::SizeOrSizes, "dimension to work along, counted from the end if negative; -1 by default"),
    attribute("keepdim", AttributeKind::Flag, "whether the reduced dimension stays as 1; true by default"),
    attribute("transpose_a", AttributeKind::Flag, "whether the first operand is [K, M]; false by default"),
    attribute("transpose_b", AttributeKind::Flag, "whether the second operand is [N, K]; false by default"),
    attribute("k", AttributeKind::SizeOrUnknown, "contraction length, if the operands hold more than the op reads; requires a shape after a colon"),
    attribute("stride", AttributeKind::SizeOrSizes, "step of the window, one number or [height, width]; 1 for a convolution, the window for a pool"),
    attribute("padding", AttributeKind::SizeOrSizes, "border of zeros on each side; 0 by default"),
    attribute("dilation", AttributeKind::SizeOrSizes, "distance between the window's elements; 1 by default"),
    attribute("groups", AttributeKind::Size, "independent groups of channels; 1 by default"),
    attribute("kernel", AttributeKind::SizeOrSizes, "size of the window, one number or [height, width]"),
    attribute("shape", AttributeKind::Sizes, "the new shape; one size may be -1 and follows from the others"),
    attribute("perm", AttributeKind::Sizes, "the old dimension for each new one; swaps the last two by default"),
    attribute("times", AttributeKind::SizeOrSizes, "how often the elements repeat along the axis, or along each dimension"),
    attribute("pad", AttributeKind::Sizes, "elements added before and after, last dimension first, as in PyTorch: [left, right, top, bottom]"),
    attribute("parts", AttributeKind::Size, "number of equal pieces"),
    attribute("index", AttributeKind::Size, "which piece, from 0; 0 by default"),
    attribute("start", AttributeKind::Size, "first element, counted from the end if negative; 0 by default"),
    attribute("end", AttributeKind::Size, "one past the last element; up to the end by default"),
    attribute("step", AttributeKind::Size, "distance between kept elements; 1 by default"),
    attribute("diagonal", AttributeKind::Size, "the last kept diagonal, 0 for the main one; 0 by default"),
    attribute("approximate", AttributeKind::Approximation, "tanh, or none for the exact function with erf; tanh by default"),
    attribute("training", AttributeKind::Flag, "whether to use mean and variance of the batch; false by default"),
    attribute("value", AttributeKind::Number, "the value of every element"),
    attribute("dtype", AttributeKind::Type, "element type of the result"),
    attribute("factor", AttributeKind::Number, "what to multiply by"),
    attribute("amount", AttributeKind::Number, "what to add"),
    attribute("exponent", AttributeKind::Number, "the exponent, if it is not a tensor"),
    attribute("p", AttributeKind::Number, "probability that an element is dropped"),
    attribute("eps", AttributeKind::Number, "small number that avoids a division by zero"),
    attribute("name", AttributeKind::Word, "the operator's own name, in backquotes if it has characters other than letters, digits, `_` and dots"),
    attribute("flops", AttributeKind::Size, "its FLOPs; 0 by default"),
    attribute("causal", AttributeKind::Flag, "whether a query sees only keys up to its own position; false by default"),
    attribute("scale", AttributeKind::Number, "factor of the scores; 1 / sqrt(head size) by default"),
    attribute("enable_gqa", AttributeKind::Flag, "whether several heads of q share one of k and v; false by default"),
    attribute("count", AttributeKind::Size, "how many elements are kept"),
    attribute("descending", AttributeKind::Flag, "whether the largest comes first; false by default"),
    attribute("classes", AttributeKind::Size, "number of classes that an index can select"),
    attribute("shift", AttributeKind::Size, "number of positions that elements move, backwards if negative"),
    attribute("size", AttributeKind::SizeOrSizes, "height and width of the result, one number for both"),
    attribute("mode", AttributeKind::Interpolation, "nearest or bilinear; nearest by default"),
    attribute("align_corners", AttributeKind::Flag, "whether the corners of both images align; false by default"),
    attribute("slope", AttributeKind::Number, "factor of negative elements; 0.01 by default"),
    attribute("alpha", AttributeKind::Number, "limit for large negative elements, negated; 1 by default"),
    attribute("min", AttributeKind::Number, "lower bound"),
    attribute("max", AttributeKind::Number, "upper bound"),
];

/// The attribute with this name.
pub fn find_attribute(name: &str) -> Option<&'static AttributeSpec> {
    ATTRIBUTES.iter().find(|a| a.name == name)
}

const fn attribute(
    name: &'static str,
    kind: AttributeKind,
    summary: &'static str,
) -> AttributeSpec {
    AttributeSpec {
        name,
        kind,
        summary,
    }
}
