//! The attributes of functions.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// An attribute; it has the same meaning in every function that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[allow(missing_docs, reason = "each has its summary in its row")]
#[rustfmt::skip]
pub enum AttributeName {
    Axis, Keepdim, TransposeA, TransposeB, K, Stride, Padding, Dilation, Groups, Kernel, Shape,
    Perm, Times, Pad, Parts, Index, Start, End, Step, Diagonal, Approximate, Training, Value,
    Dtype, Factor, Amount, Exponent, P, Eps, Name, Flops, Causal, Scale, EnableGqa, Count,
    Descending, Classes, Shift, Size, Mode, AlignCorners, Slope, Alpha, Min, Max,
}

impl AttributeName {
    /// The attribute that the notation calls so.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The name in the notation.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The values that the attribute can have.
    pub fn kind(self) -> AttributeKind {
        self.row().0
    }

    /// What the attribute means, and its default.
    pub fn summary(self) -> &'static str {
        self.row().1
    }

    #[rustfmt::skip]
    const fn row(self) -> (AttributeKind, &'static str) {
        match self {
            Self::Axis => (AttributeKind::SizeOrSizes, "dimension to work along, counted from the end if negative; -1 by default"),
            Self::Keepdim => (AttributeKind::Flag, "whether the reduced dimension stays as 1; true by default"),
            Self::TransposeA => (AttributeKind::Flag, "whether the first operand is [K, M]; false by default"),
            Self::TransposeB => (AttributeKind::Flag, "whether the second operand is [N, K]; false by default"),
            Self::K => (AttributeKind::SizeOrUnknown, "contraction length, if the operands hold more than the op reads; requires a shape after a colon"),
            Self::Stride => (AttributeKind::SizeOrSizes, "step of the window, one number or [height, width]; 1 for a convolution, the window for a pool"),
            Self::Padding => (AttributeKind::SizeOrSizes, "border of zeros on each side; 0 by default"),
            Self::Dilation => (AttributeKind::SizeOrSizes, "distance between the window's elements; 1 by default"),
            Self::Groups => (AttributeKind::Size, "independent groups of channels; 1 by default"),
            Self::Kernel => (AttributeKind::SizeOrSizes, "size of the window, one number or [height, width]"),
            Self::Shape => (AttributeKind::Sizes, "the new shape; one size may be -1 and follows from the others"),
            Self::Perm => (AttributeKind::Sizes, "the old dimension for each new one; swaps the last two by default"),
            Self::Times => (AttributeKind::SizeOrSizes, "how often the elements repeat along the axis, or along each dimension"),
            Self::Pad => (AttributeKind::Sizes, "elements added before and after, last dimension first, as in PyTorch: [left, right, top, bottom]"),
            Self::Parts => (AttributeKind::Size, "number of equal pieces"),
            Self::Index => (AttributeKind::Size, "which piece, from 0; 0 by default"),
            Self::Start => (AttributeKind::Size, "first element, counted from the end if negative; 0 by default"),
            Self::End => (AttributeKind::Size, "one past the last element; up to the end by default"),
            Self::Step => (AttributeKind::Size, "distance between kept elements; 1 by default"),
            Self::Diagonal => (AttributeKind::Size, "the last kept diagonal, 0 for the main one; 0 by default"),
            Self::Approximate => (AttributeKind::Approximation, "tanh, or none for the exact function with erf; tanh by default"),
            Self::Training => (AttributeKind::Flag, "whether to use mean and variance of the batch; false by default"),
            Self::Value => (AttributeKind::Number, "the value of every element"),
            Self::Dtype => (AttributeKind::Type, "element type of the result"),
            Self::Factor => (AttributeKind::Number, "what to multiply by"),
            Self::Amount => (AttributeKind::Number, "what to add"),
            Self::Exponent => (AttributeKind::Number, "the exponent, if it is not a tensor"),
            Self::P => (AttributeKind::Number, "probability that an element is dropped"),
            Self::Eps => (AttributeKind::Number, "small number that avoids a division by zero"),
            Self::Name => (AttributeKind::Word, "the operator's own name, in backquotes if it has characters other than letters, digits, `_` and dots"),
            Self::Flops => (AttributeKind::Size, "its FLOPs; 0 by default"),
            Self::Causal => (AttributeKind::Flag, "whether a query sees only keys up to its own position; false by default"),
            Self::Scale => (AttributeKind::Number, "factor of the scores; 1 / sqrt(head size) by default"),
            Self::EnableGqa => (AttributeKind::Flag, "whether several heads of q share one of k and v; false by default"),
            Self::Count => (AttributeKind::Size, "how many elements are kept"),
            Self::Descending => (AttributeKind::Flag, "whether the largest comes first; false by default"),
            Self::Classes => (AttributeKind::Size, "number of classes that an index can select"),
            Self::Shift => (AttributeKind::Size, "number of positions that elements move, backwards if negative"),
            Self::Size => (AttributeKind::SizeOrSizes, "height and width of the result, one number for both"),
            Self::Mode => (AttributeKind::Interpolation, "nearest or bilinear; nearest by default"),
            Self::AlignCorners => (AttributeKind::Flag, "whether the corners of both images align; false by default"),
            Self::Slope => (AttributeKind::Number, "factor of negative elements; 0.01 by default"),
            Self::Alpha => (AttributeKind::Number, "limit for large negative elements, negated; 1 by default"),
            Self::Min => (AttributeKind::Number, "lower bound"),
            Self::Max => (AttributeKind::Number, "upper bound"),
        }
    }
}

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
