//! Numbers as a GPU holds them: wide in registers, rounded to an element type where they are
//! stored.

use fuseline_core::model::dtype::DType;

/// Rounds to the nearest value of an element type, ties to even. A finite value beyond the largest
/// becomes infinite; in eight-bit floats, which are E4M3 and have no infinity, it becomes NaN.
/// Integers are truncated toward zero.
pub fn rounded(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F32 => single(value),
        DType::Bf16 => BF16.rounded(value),
        DType::F16 => F16.rounded(value),
        DType::F8 => E4M3.rounded(value),
        DType::I64 | DType::I32 | DType::I8 => whole(value, dtype),
        DType::Bool => f64::from(u8::from(value != 0.0)),
    }
}

/// A value of this type as a register holds it: all floats but f64 are computed in f32.
pub(super) fn in_register(value: f64, dtype: DType) -> f64 {
    if matches!(dtype, DType::Bf16 | DType::F16 | DType::F8) {
        single(value)
    } else {
        rounded(value, dtype)
    }
}

/// Keeps floats as they are and rounds integers and booleans to their type.
pub(super) fn exactly(value: f64, dtype: DType) -> f64 {
    if is_float(dtype) {
        value
    } else {
        rounded(value, dtype)
    }
}

pub(super) const fn is_float(dtype: DType) -> bool {
    matches!(
        dtype,
        DType::F64 | DType::F32 | DType::Bf16 | DType::F16 | DType::F8
    )
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is meant")]
pub(super) fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "integers wrap, as in PyTorch"
)]
fn whole(value: f64, dtype: DType) -> f64 {
    let whole = value as i64;
    match dtype {
        DType::I32 => f64::from(whole as i32),
        DType::I8 => f64::from(whole as i8),
        _ => whole as f64,
    }
}

/// How a float type is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatFormat {
    /// Binary digits of the significand, including the leading one.
    pub digits: i32,
    /// Exponent of the smallest normal value.
    pub min_exponent: i32,
    /// Its largest finite value.
    pub largest: f64,
    /// The result of overflow: infinity or NaN.
    overflow: f64,
}

const F64: FloatFormat = FloatFormat {
    digits: 53,
    min_exponent: -1022,
    largest: f64::MAX,
    overflow: f64::INFINITY,
};

const F32: FloatFormat = FloatFormat {
    digits: 24,
    min_exponent: -126,
    // (2 - 2^-23) * 2^127
    largest: 3.402_823_466_385_288_6e38,
    overflow: f64::INFINITY,
};

const F16: FloatFormat = FloatFormat {
    digits: 11,
    min_exponent: -14,
    largest: 65_504.0,
    overflow: f64::INFINITY,
};

const BF16: FloatFormat = FloatFormat {
    digits: 8,
    min_exponent: -126,
    // (2 - 2^-7) * 2^127
    largest: 3.389_531_389_251_535_5e38,
    overflow: f64::INFINITY,
};

const E4M3: FloatFormat = FloatFormat {
    digits: 4,
    min_exponent: -6,
    largest: 448.0,
    overflow: f64::NAN,
};

impl FloatFormat {
    /// The format of an element type; `None` for whole numbers.
    pub const fn of(dtype: DType) -> Option<Self> {
        Some(match dtype {
            DType::F64 => F64,
            DType::F32 => F32,
            DType::Bf16 => BF16,
            DType::F16 => F16,
            DType::F8 => E4M3,
            DType::I64 | DType::I32 | DType::I8 | DType::Bool => return None,
        })
    }

    /// The distance from a finite value of this type to the next one of larger magnitude.
    pub fn spacing(&self, value: f64) -> f64 {
        let (_, above) = libm::frexp(value);
        let exponent = if value == 0.0 {
            self.min_exponent
        } else {
            (above - 1).max(self.min_exponent)
        };
        libm::ldexp(1.0, exponent - self.digits + 1)
    }

    fn rounded(&self, value: f64) -> f64 {
        if value == 0.0 || value.is_nan() {
            return value;
        }
        if value.is_infinite() {
            return self.overflow.copysign(value);
        }
        let unit = self.spacing(value);
        let rounded = (value / unit).round_ties_even() * unit;
        if rounded.abs() > self.largest {
            self.overflow.copysign(value)
        } else {
            rounded
        }
    }
}
