//! The element type of a result of several operands, as PyTorch promotes them.

use crate::model::dtype::DType;
use crate::model::functions::{AttributeName, Function, ShapeRule};
use crate::model::op_type::OpType;
use crate::model::program::{Attribute, AttributeValue, BinaryOp, Expr, ExprKind, Literal};

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
/// numbers between them. A number is whole if it is written without a point, an exponent and a
/// division. A tensor that is written in place keeps its type.
pub fn type_of_call(
    function: Function,
    is_in_place: bool,
    mut inputs: Vec<Option<ArgumentType>>,
    numbers: &[Literal],
    attributes: &[Attribute],
) -> Option<DType> {
    if is_in_place {
        return inputs.first().copied().flatten().map(ArgumentType::dtype);
    }
    for number in numbers {
        let is_whole = number.text.parse::<i64>().is_ok();
        let place = number.place.min(inputs.len());
        inputs.insert(place, Some(ArgumentType::number(is_whole)));
    }
    for &name in function.operand_attributes() {
        let stated = attributes.iter().filter(|attribute| attribute.is(name));
        inputs.extend(stated.map(|own| Some(ArgumentType::number(is_whole(&own.value)))));
    }
    function.result_type(&inputs)
}

/// Whether the value of an attribute is a whole number. As in Python, a division gives a fraction.
fn is_whole(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::Number(text) => text.parse::<i64>().is_ok(),
        AttributeValue::Size(expr) => has_no_division(expr),
        AttributeValue::Word(_) | AttributeValue::Sizes(_) => true,
    }
}

/// The recursion is safe because the parser bounds the nesting depth.
fn has_no_division(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Param(_) => true,
        ExprKind::Negate(operand) => has_no_division(operand),
        ExprKind::Binary(operator, left, right) => {
            *operator != BinaryOp::Div && has_no_division(left) && has_no_division(right)
        }
    }
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

    /// Whether it gives i64 of integers and of truth values, whatever their size.
    pub const fn accumulates(self) -> bool {
        matches!(self, Self::Sum | Self::Prod | Self::Cumsum)
    }

    /// The attributes that are operands: `scale(x, factor=2)` is `mul(x, 2)`.
    pub const fn operand_attributes(self) -> &'static [AttributeName] {
        match self {
            Self::Scale => &[AttributeName::Factor],
            Self::Shift => &[AttributeName::Amount],
            Self::Pow => &[AttributeName::Exponent],
            Self::Clamp => &[AttributeName::Min, AttributeName::Max],
            _ => &[],
        }
    }

    /// The element type of the output for these arguments in their order, `None` for an unknown
    /// one. A cast and an op in place have types of their own.
    pub fn result_type(self, arguments: &[Option<ArgumentType>]) -> Option<DType> {
        if let Some(dtype) = self.row().result_dtype {
            return Some(dtype);
        }
        let leading = arguments.get(self.leading_input()..)?;
        let dtype = if self.promotes() {
            // `square(x)` is `pow(x, 2)`.
            let exponent = (self == Self::Square).then_some(ArgumentType::number(true));
            promoted(leading.iter().copied().flatten().chain(exponent))?
        } else {
            leading.first().copied().flatten()?.dtype
        };
        Some(match dtype {
            _ if self.accumulates() && !dtype.is_float() => DType::I64,
            _ if self.is_fractional() && !dtype.is_float() => DType::F32,
            // A power of two holds no result; PyTorch's `scaled_mm` gives this type by default.
            DType::F8e8m0 if self.leading_input() > 0 && self.is_freely_typed() => DType::Bf16,
            _ => dtype,
        })
    }
}
