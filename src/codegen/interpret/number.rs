//! Numbers as a GPU holds them: wide in registers, rounded to an element type where they are
//! stored.

use fuseline_core::model::dtype::DType;

/// Rounds to the nearest value of an element type, ties to even. A finite value beyond the largest
/// becomes infinite; E4M3 has no infinity, so it becomes NaN there, and E2M1 has no NaN either, so
/// it becomes the largest. E8M0 has no sign and no zero. Integers are truncated toward zero.
pub fn rounded(value: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F64 => value,
        DType::F32 => single(value),
        DType::Bf16 => BF16.rounded(value),
        DType::F16 => F16.rounded(value),
        DType::F8e4m3 => E4M3.rounded(value),
        DType::F8e5m2 => E5M2.rounded(value),
        // In this order a NaN stays.
        DType::F8e8m0 if value.abs() < E8M0_LEAST => E8M0_LEAST,
        DType::F8e8m0 => E8M0.rounded(value.abs()),
        DType::F4 => E2M1.rounded(value),
        DType::I64 | DType::I32 | DType::I8 | DType::I4 => whole(value, dtype),
        DType::Bool => f64::from(u8::from(value != 0.0)),
    }
}

/// A value of this type as a register holds it: all floats but f64 are computed in f32.
pub(super) fn in_register(value: f64, dtype: DType) -> f64 {
    if dtype.is_float() && dtype != DType::F64 {
        single(value)
    } else {
        rounded(value, dtype)
    }
}

/// Keeps floats as they are and rounds integers and booleans to their type.
pub(super) fn exactly(value: f64, dtype: DType) -> f64 {
    if dtype.is_float() {
        value
    } else {
        rounded(value, dtype)
    }
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
        // The low four bits, the highest of which is the sign.
        DType::I4 => f64::from((whole as i8) << 4 >> 4),
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
    /// The result of overflow: infinity, NaN or the largest value.
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

const E5M2: FloatFormat = FloatFormat {
    digits: 3,
    min_exponent: -14,
    largest: 57_344.0,
    overflow: f64::INFINITY,
};

const E8M0: FloatFormat = FloatFormat {
    digits: 1,
    min_exponent: -127,
    // 2^127
    largest: 1.701_411_834_604_692_3e38,
    overflow: f64::NAN,
};

/// The smallest value of E8M0, 2^-127.
const E8M0_LEAST: f64 = 5.877_471_754_111_438e-39;

const E2M1: FloatFormat = FloatFormat {
    digits: 2,
    min_exponent: 0,
    largest: 6.0,
    overflow: 6.0,
};

impl FloatFormat {
    /// The format of an element type; `None` for whole numbers.
    pub const fn of(dtype: DType) -> Option<Self> {
        Some(match dtype {
            DType::F64 => F64,
            DType::F32 => F32,
            DType::Bf16 => BF16,
            DType::F16 => F16,
            DType::F8e4m3 => E4M3,
            DType::F8e5m2 => E5M2,
            DType::F8e8m0 => E8M0,
            DType::F4 => E2M1,
            DType::I64 | DType::I32 | DType::I8 | DType::I4 | DType::Bool => return None,
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
