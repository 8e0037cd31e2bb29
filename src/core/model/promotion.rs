//! The element type of a result of several operands, as PyTorch promotes them.

use crate::model::dtype::DType;
use crate::model::functions::{Function, ShapeRule};
use crate::model::op_type::OpType;
use crate::model::program::Literal;

/// The element type of an argument of a call, and the rank that says how much it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    dtype: DType,
    rank: Rank,
}

/// In ascending order of what counts more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    Number,
    Scalar,
    Tensor,
}

impl ArgumentType {
    /// That of a tensor with so many dimensions.
    pub const fn tensor(dtype: DType, dimensions: usize) -> Self {
        let rank = if dimensions == 0 {
            Rank::Scalar
        } else {
            Rank::Tensor
        };
        Self { dtype, rank }
    }

    /// That of a number: f32, or i64 if it is whole.
    pub const fn number(is_whole: bool) -> Self {
        Self {
            dtype: if is_whole { DType::I64 } else { DType::F32 },
            rank: Rank::Number,
        }
    }

    /// The element type.
    pub const fn dtype(self) -> DType {
        self.dtype
    }
}

/// The element type of the result of a call with these inputs, `None` for an unknown one, and with
/// numbers between them. A number is whole if it is written without a point and an exponent. A
/// tensor that is written in place keeps its type.
pub fn type_of_call(
    function: Function,
    is_in_place: bool,
    mut inputs: Vec<Option<ArgumentType>>,
    numbers: &[Literal],
) -> Option<DType> {
    if is_in_place {
        return inputs.first().copied().flatten().map(ArgumentType::dtype);
    }
    for number in numbers {
        let is_whole = number.text.parse::<i64>().is_ok();
        let place = number.place.min(inputs.len());
        inputs.insert(place, Some(ArgumentType::number(is_whole)));
    }
    function.result_type(&inputs)
}

impl DType {
    /// The type to which PyTorch promotes two tensors: a float goes before an integer, an integer
    /// before a bool, then the wider one. Two floats of one size, of which neither holds the
    /// other, give f32.
    #[must_use]
    pub fn promoted(self, other: Self) -> Self {
        let rank = |dtype: Self| (dtype.category(), dtype.size());
        match rank(self).cmp(&rank(other)) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Equal if self == other => self,
            std::cmp::Ordering::Equal => Self::F32,
        }
    }

    const fn category(self) -> u8 {
        match self {
            Self::Bool => 0,
            _ if self.is_integer() => 1,
            _ => 2,
        }
    }
}

/// The type to which PyTorch promotes all arguments; `None` without arguments. A tensor without
/// dimensions counts beside tensors with some only if its category is higher, and a number likewise
/// beside tensors.
pub fn promoted(arguments: impl IntoIterator<Item = ArgumentType>) -> Option<DType> {
    let mut of_rank: [Option<DType>; 3] = [None; 3];
    for ArgumentType { dtype, rank } in arguments {
        let known = &mut of_rank[rank as usize];
        *known = Some(known.map_or(dtype, |known| known.promoted(dtype)));
    }
    of_rank.into_iter().flatten().reduce(|lower, higher| {
        if lower.category() > higher.category() {
            lower
        } else {
            higher
        }
    })
}

impl Function {
    /// Whether the types of several operands together give that of the output.
    pub fn promotes(self) -> bool {
        let row = self.row();
        row.result_dtype.is_none()
            && match row.shape_rule {
                ShapeRule::Broadcast | ShapeRule::Concat => true,
                ShapeRule::SameAsFirst => {
                    row.op_type == OpType::Elementwise && !matches!(self, Self::Cast | Self::Copy)
                }
                _ => false,
            }
    }

    /// Whether it gives whole numbers of truth values, such as their count.
    pub const fn counts_truths(self) -> bool {
        matches!(self, Self::Sum | Self::Prod | Self::Cumsum)
    }

    /// The element type of the output for these arguments in their order, `None` for an unknown
    /// one. A cast and an op in place have types of their own.
    pub fn result_type(self, arguments: &[Option<ArgumentType>]) -> Option<DType> {
        if let Some(dtype) = self.row().result_dtype {
            return Some(dtype);
        }
        let leading = arguments.get(self.leading_input()..)?;
        let dtype = if self.promotes() {
            promoted(leading.iter().copied().flatten())?
        } else {
            leading.first().copied().flatten()?.dtype
        };
        Some(match dtype {
            DType::Bool if self.counts_truths() => DType::I64,
            _ if self.is_fractional() && !dtype.is_float() => DType::F32,
            _ => dtype,
        })
    }
}
