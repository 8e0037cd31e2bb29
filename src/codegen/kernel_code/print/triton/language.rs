//! How Triton writes expressions.

use crate::calculator::{Binary, Unary};
use crate::kernel_code::print::language::Language;
use fuseline_core::model::dtype::DType;

/// The language, in the present scope.
pub(super) struct Triton {
    /// The mask of the elements that exist in the block; `None` if all do.
    pub(super) mask: Option<String>,
    /// Variables of the block that only take the value 0, as further terms of a place: ` + row`. An
    /// index has no such variable, but pointers must have the shape of the block.
    pub(super) zeros: String,
    /// The type that the kernel computes in.
    pub(super) float: &'static str,
}

impl Language for Triton {
    fn number(&self, value: f64) -> String {
        if value.is_nan() {
            "float(\"nan\")".to_owned()
        } else if value.is_infinite() {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}float(\"inf\")")
        } else if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
            format!("{value:e}")
        } else {
            format!("{value:?}")
        }
    }

    fn unary(&self, function: Unary, a: &str) -> String {
        let name = match function {
            Unary::Negate => return format!("-({a})"),
            Unary::Not => return format!("{a} == 0.0"),
            Unary::Abs => "tl.abs",
            Unary::Exp => "tl.exp",
            Unary::Exp2 => "tl.exp2",
            Unary::Log => "tl.log",
            Unary::Log2 => "tl.log2",
            Unary::Sqrt => "tl.sqrt",
            Unary::Sin => "tl.sin",
            Unary::Cos => "tl.cos",
            Unary::Erf => "tl.erf",
            Unary::Floor => "tl.floor",
            Unary::Ceil => "tl.ceil",
            Unary::Expm1 => "libdevice.expm1",
            Unary::Log1p => "libdevice.log1p",
            Unary::Tan => "libdevice.tan",
            Unary::Tanh => "libdevice.tanh",
            Unary::Trunc => "libdevice.trunc",
            Unary::Round => "libdevice.rint",
            Unary::IsNan => return format!("({a}) != ({a})"),
            Unary::IsInfinite => return format!("tl.abs({a}) == float(\"inf\")"),
        };
        format!("{name}({a})")
    }

    fn binary(&self, function: Binary, a: &str, b: &str) -> String {
        match function {
            Binary::Power => format!("libdevice.pow({a}, {b})"),
            Binary::Maximum => {
                format!("tl.maximum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)")
            }
            Binary::Minimum => {
                format!("tl.minimum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)")
            }
            _ => format!("libdevice.fmod({a}, {b})"),
        }
    }

    fn select(&self, condition: &str, then: &str, otherwise: &str) -> String {
        format!("tl.where({condition}, {then}, {otherwise})")
    }

    fn to_number(&self, text: &str, is_truth: bool) -> String {
        if is_truth {
            format!("tl.where({text}, 1.0, 0.0)")
        } else {
            format!("({text}) * 1.0")
        }
    }

    fn to_index(&self, text: &str) -> String {
        format!("({text}).to(tl.int32)")
    }

    fn divided(&self, a: &str, divisor: u64, wants_rest: bool) -> String {
        format!("{a} {} {divisor}", if wants_rest { "%" } else { "//" })
    }

    fn logic(&self) -> [&'static str; 3] {
        ["&", "|", "~"]
    }

    fn has_tight_logic(&self) -> bool {
        true
    }

    fn read(&self, tensor: &str, _: DType, place: &str, only_if: Option<&str>) -> String {
        let mask = match (&self.mask, only_if) {
            (Some(mask), Some(only_if)) => Some(format!("{mask} & ({only_if})")),
            (Some(mask), None) => Some(mask.clone()),
            (None, only_if) => only_if.map(str::to_owned),
        };
        let mask = mask.map_or(String::new(), |mask| format!(", mask={mask}, other=0.0"));
        let Self { zeros, float, .. } = self;
        format!("tl.load({tensor} + {place}{zeros}{mask}).to({float})")
    }

    fn shared(&self, name: &str, _: &str) -> String {
        name.to_owned()
    }

    fn uniform(&self, key: u32, place: &str) -> String {
        format!("uniform_at({key}, {place}{})", self.zeros)
    }
}

/// The element type of an operand of matrix units.
pub(super) fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "tl.float64",
        DType::F16 => "tl.float16",
        DType::Bf16 => "tl.bfloat16",
        DType::F8e4m3 => "tl.float8e4nv",
        DType::F8e5m2 => "tl.float8e5",
        _ => "tl.float32",
    }
}
