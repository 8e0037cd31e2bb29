//! The attributes of functions.

use super::Function;
use crate::model::op::Units;
use std::fmt;
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
    Dtype, Factor, Amount, Exponent, P, Eps, Name, Flops, Units, Causal, Scale, EnableGqa, Count,
    Descending, Classes, Shift, Size, Mode, AlignCorners, Slope, Alpha, Min, Max,
}

impl AttributeName {
    /// The attribute with this name in the notation.
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
    pub fn summary(self) -> String {
        let (_, meaning, default) = self.row();
        let default = default.map(|default| format!("{default} by default"));
        let exceptions = self.exceptions().iter().map(|(functions, default)| {
            let functions: Vec<String> = functions.iter().map(|name| format!("`{name}`")).collect();
            format!("{default} for {}", functions.join(" and "))
        });
        let defaults: Vec<String> = default.into_iter().chain(exceptions).collect();
        if defaults.is_empty() {
            return meaning.to_owned();
        }
        format!("{meaning}; {}", defaults.join(", "))
    }

    /// The value of the attribute in a call of the function that does not state it. `None` where
    /// the call must state it, or where its absence has a meaning of its own.
    pub fn default(self, function: Option<Function>) -> Option<AttributeDefault> {
        let is_own = |functions: &[Function]| function.is_some_and(|own| functions.contains(&own));
        let mut exceptions = self.exceptions().iter();
        let own = exceptions.find(|(functions, _)| is_own(functions));
        own.map_or(self.row().2, |&(_, default)| Some(default))
    }

    /// The default size of the attribute in every function; 0 for an attribute without one. Pools
    /// have another default stride, which [`Self::default`] gives.
    pub fn default_size(self) -> i64 {
        match self.row().2 {
            Some(AttributeDefault::Size(size)) => size,
            _ => 0,
        }
    }

    /// Whether the default is `true`.
    pub fn is_set_by_default(self) -> bool {
        self.row().2 == Some(AttributeDefault::Flag(true))
    }

    /// Functions in which the attribute has another default.
    const fn exceptions(self) -> &'static [(&'static [Function], AttributeDefault)] {
        use AttributeDefault::{Number, Words};
        match self {
            Self::Eps => &[
                (&[Function::RmsNorm], Number(1e-6)),
                (&[Function::L2Norm], Number(1e-12)),
            ],
            Self::Value => &[(&[Function::Pad], Number(0.0))],
            Self::Stride => &[(
                &[Function::MaxPool2d, Function::AvgPool2d],
                Words("the window"),
            )],
            _ => &[],
        }
    }

    #[rustfmt::skip]
    const fn row(self) -> (AttributeKind, &'static str, Option<AttributeDefault>) {
        use AttributeDefault as D;
        use AttributeKind as K;
        match self {
            Self::Axis => (K::SizeOrSizes, "dimension to work along, counted from the end if negative", Some(D::Size(-1))),
            Self::Keepdim => (K::Flag, "whether the reduced dimension stays as 1", Some(D::Flag(true))),
            Self::TransposeA => (K::Flag, "whether the first operand is [K, M]", Some(D::Flag(false))),
            Self::TransposeB => (K::Flag, "whether the second operand is [N, K]", Some(D::Flag(false))),
            Self::K => (K::SizeOrUnknown, "contraction length, if the operands hold more than the op reads or each row meets one of several matrices; requires a shape after a colon", None),
            Self::Stride => (K::SizeOrSizes, "step of the window, one number or [height, width]", Some(D::Size(1))),
            Self::Padding => (K::SizeOrSizes, "border of zeros on each side", Some(D::Size(0))),
            Self::Dilation => (K::SizeOrSizes, "distance between the window's elements", Some(D::Size(1))),
            Self::Groups => (K::Size, "independent groups of channels", Some(D::Size(1))),
            Self::Kernel => (K::SizeOrSizes, "size of the window, one number or [height, width]", None),
            Self::Shape => (K::Sizes, "the new shape; one size may be -1 and follows from the others", None),
            Self::Perm => (K::Sizes, "the old dimension for each new one", Some(D::Words("the last two swapped"))),
            Self::Times => (K::SizeOrSizes, "how often the elements repeat along the axis, or along each dimension", None),
            Self::Pad => (K::Sizes, "elements added before and after, last dimension first, as in PyTorch: [left, right, top, bottom]", None),
            Self::Parts => (K::Size, "number of equal pieces", None),
            Self::Index => (K::Size, "which piece, from 0", Some(D::Size(0))),
            Self::Start => (K::Size, "first element, counted from the end if negative; for `arange` its first value", Some(D::Size(0))),
            Self::End => (K::Size, "one past the last element", Some(D::Words("up to the end"))),
            Self::Step => (K::Size, "distance between kept elements; for `arange` between its values", Some(D::Size(1))),
            Self::Diagonal => (K::Size, "the last kept diagonal, 0 for the main one", Some(D::Size(0))),
            Self::Approximate => (K::Approximation, "tanh, or none for the exact function with erf", Some(D::Words("tanh"))),
            Self::Training => (K::Flag, "whether to use mean and variance of the batch", Some(D::Flag(false))),
            Self::Value => (K::Number, "the value of every element, for `pad` of its border", None),
            Self::Dtype => (K::Type, "element type of the result", None),
            Self::Factor => (K::Number, "what to multiply by", None),
            Self::Amount => (K::Number, "what to add", None),
            Self::Exponent => (K::Number, "the exponent, if it is not a tensor", None),
            Self::P => (K::Number, "probability that an element is dropped", Some(D::Number(0.5))),
            Self::Eps => (K::Number, "small number that avoids a division by zero", Some(D::Number(1e-5))),
            Self::Name => (K::Word, "the operator's own name, in backquotes if it has characters other than letters, digits, `_` and dots", None),
            Self::Flops => (K::Size, "its FLOPs", Some(D::Size(0))),
            Self::Units => (K::Units, "the units that execute its FLOPs; without it they count in sums, but have no time", None),
            Self::Causal => (K::Flag, "whether a query sees only keys up to its own position", Some(D::Flag(false))),
            Self::Scale => (K::Number, "factor of the scores", Some(D::Words("1 / sqrt(head size)"))),
            Self::EnableGqa => (K::Flag, "whether several heads of q share one of k and v", Some(D::Flag(false))),
            Self::Count => (K::Size, "how many elements are kept", None),
            Self::Descending => (K::Flag, "whether the largest comes first", Some(D::Flag(false))),
            Self::Classes => (K::Size, "number of classes that an index can select", None),
            Self::Shift => (K::Size, "number of positions that elements move, backwards if negative", None),
            Self::Size => (K::SizeOrSizes, "height and width of the result, one number for both", None),
            Self::Mode => (K::Interpolation, "nearest or bilinear", Some(D::Words("nearest"))),
            Self::AlignCorners => (K::Flag, "whether the corners of both images align", Some(D::Flag(false))),
            Self::Slope => (K::Number, "factor of negative elements", Some(D::Number(0.01))),
            Self::Alpha => (K::Number, "limit for large negative elements, negated", Some(D::Number(1.0))),
            Self::Min => (K::Number, "lower bound", None),
            Self::Max => (K::Number, "upper bound", None),
        }
    }
}

/// The value of an attribute in a call that does not state it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttributeDefault {
    /// An integer; for a list, the value of each item.
    Size(i64),
    /// A number.
    Number(f64),
    /// Whether it is set.
    Flag(bool),
    /// A word, or a description of how the value follows from the rest of the call.
    Words(&'static str),
}

impl fmt::Display for AttributeDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => size.fmt(f),
            Self::Number(number) if (f64::MIN_POSITIVE..1e-3).contains(number) => {
                write!(f, "{number:e}")
            }
            Self::Number(number) => number.fmt(f),
            Self::Flag(is_set) => is_set.fmt(f),
            Self::Words(words) => f.write_str(words),
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
    /// `matrix` or `vector`.
    Units,
    /// Any word; in backquotes if it is not a name.
    Word,
}

impl AttributeKind {
    /// Whether a word is a value itself, and not the name of a param.
    pub fn is_word(self, word: &str) -> bool {
        match self {
            Self::Flag | Self::Type | Self::Word => true,
            Self::SizeOrUnknown => word == "unknown",
            Self::Approximation => matches!(word, "tanh" | "none"),
            Self::Interpolation => matches!(word, "nearest" | "bilinear"),
            Self::Units => word.parse::<Units>().is_ok(),
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
            Self::Units => "matrix or vector",
            Self::Word => "a word such as `aten.fft_rfft`",
        }
    }
}
