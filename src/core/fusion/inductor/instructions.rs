//! How many values the compiler's expression of an op has, which decides what it inlines.
//!
//! Counted by `inner_fn_opcount` in `torch/_inductor/ir.py` (torch 2.11) for each function, in f32
//! and in bf16: loads, constants, conversions and operations, each different one once. Loads and
//! what inputs are computed of are not part of these counts.

use super::facts::is_repeat;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::op::Op;
use crate::model::op_type::OpType;
use std::collections::BTreeSet;

/// The values of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instructions {
    /// For each index at which the op is computed.
    pub(super) computed: u64,
    /// Constants of the function itself, without the numbers that a program writes: one value each
    /// in an expression.
    pub(super) constants: u64,
}

impl Instructions {
    const fn new(computed: u64, constants: u64) -> Self {
        Self {
            computed,
            constants,
        }
    }

    /// Those of an op that is inlined. Bilinear interpolation and pools count their FLOPs.
    pub(super) fn of(op: &Op) -> Self {
        let Some(function) = op.function else {
            return Self::new(1, 0);
        };
        let inputs = op.inputs.len() as u64;
        let weights = inputs.saturating_sub(1);
        if let Some(powers) = powers(op) {
            return Self::new(powers, 0);
        }
        if is_repeat(op) {
            return Self::new(0, 0);
        }
        let own = in_f32(function, inputs);
        // Computed in f32, with conversions of each input and of the result.
        let is_f8 = op.element_type().is_some_and(DType::is_f8);
        let conversions = match function {
            // Nothing computes in 8 bits.
            _ if is_f8 && op.op_type == OpType::Elementwise && function != Function::Cast => 2,
            _ if !is_half(op) => 0,
            // A tensor that is read twice is converted once.
            Function::Xlogy | Function::Logaddexp => {
                1 + op.inputs.iter().collect::<BTreeSet<_>>().len() as u64
            }
            Function::LayerNorm | Function::RmsNorm | Function::GroupNorm => 2 + weights,
            function if converts_both_ways(function, op) => 2,
            Function::L2Norm | Function::Dropout => 1,
            _ => 0,
        };
        Self {
            computed: own.computed + conversions,
            ..own
        }
    }

    /// The values of the pointwise end of a reduction, which its readers compute.
    pub(super) fn of_end(op: &Op) -> Self {
        let conversions = u64::from(is_half(op));
        match op.function {
            Some(Function::Mean) => Self::new(1 + conversions, 1),
            Some(Function::Var) => Self::new(4 + conversions, 2),
            _ => Self::new(0, 0),
        }
    }
}

/// The multiplications of a power with a whole exponent, or the root that it is. Source:
/// `pow_recursive` in `torch/_inductor/lowering.py`.
pub(super) fn powers(op: &Op) -> Option<u64> {
    /// Larger exponents are left to the library's function.
    const LARGEST: u32 = 31;
    let [exponent] = &op.literals[..] else {
        return None;
    };
    if op.function != Some(Function::Pow) {
        return None;
    }
    let exponent: f64 = exponent.parse().ok()?;
    let is = |number: f64| (exponent.abs() - number).abs() < f64::EPSILON;
    if is(0.5) {
        return Some(1);
    }
    let whole = (1..=LARGEST).find(|&whole| is(f64::from(whole)))?;
    let steps = whole.ilog2() + whole.count_ones() - 1;
    Some(u64::from(steps) + u64::from(exponent < 0.0))
}

/// The conversions that a pair of ops leaves out: what is converted to 16 bits for another op that
/// converts it back stays in f32. `is_alone`: no other op reads the first result. Source:
/// `pointless_convert` in `torch/_inductor/fx_passes/joint_graph.py`.
pub(super) fn saved_conversions(first: &Op, second: &Op, is_alone: bool) -> u64 {
    let is_cast = |op: &Op| op.function == Some(Function::Cast);
    let in_f32 =
        |op: &Op| is_half(op) && op.function.is_some_and(|own| converts_both_ways(own, op));
    let ends = is_half(first) && is_cast(first) || in_f32(first);
    let begins = !is_half(second) && is_cast(second) || in_f32(second);
    if ends && begins {
        1 + u64::from(is_alone)
    } else {
        0
    }
}

fn is_half(op: &Op) -> bool {
    op.element_type().is_some_and(DType::is_half)
}

/// Whether a function of 16 bits is computed in f32, with conversions of its input and its result.
fn converts_both_ways(function: Function, op: &Op) -> bool {
    use Function::{
        Clamp, Elu, Gelu, GeluErf, GroupNorm, Hardsigmoid, Hardswish, LayerNorm, LeakyRelu,
        LogSigmoid, LogSoftmax, Logaddexp, Maximum, Minimum, Mish, RmsNorm, Selu, Silu, Softmax,
        Softplus, Xlogy,
    };
    match function {
        Maximum | Minimum => !op.literals.is_empty(),
        Clamp | Elu | Gelu | GeluErf | GroupNorm | Hardsigmoid | Hardswish | LayerNorm
        | LeakyRelu | LogSigmoid | LogSoftmax | Logaddexp | Mish | RmsNorm | Selu | Silu
        | Softmax | Softplus | Xlogy => true,
        _ => false,
    }
}

/// Values and constants in f32, for so many inputs.
#[allow(clippy::match_same_arms, reason = "a line for each kind of function")]
fn in_f32(function: Function, inputs: u64) -> Instructions {
    use Function as F;
    let weights = inputs.saturating_sub(1);
    let (computed, constants) = match function {
        F::Gelu => (9, 4),
        F::GeluErf => (5, 3),
        F::Silu => (4, 1),
        F::LeakyRelu => (3, 2),
        F::Elu => (5, 2),
        F::Selu => (6, 4),
        F::Softplus => (4, 1),
        F::LogSigmoid => (6, 1),
        F::Mish => (6, 1),
        F::Hardsigmoid => (4, 4),
        F::Hardswish => (5, 4),
        F::Softsign => (3, 1),
        F::Xlogy => (6, 3),
        F::Logaddexp => (15, 1),
        F::LogicalNot => (1, 1),
        F::Scale | F::Shift => (1, 1),
        F::Clamp => (2, 2),
        F::Tril | F::Triu => (1, 6),
        F::Mask if inputs < 2 => (1, 8),
        F::Full => (0, 1),
        F::Dropout => (4, 3),
        F::Dequantize => (2 + 2 * weights.saturating_sub(1), 0),
        F::BatchNorm if inputs > 3 => (8, 2),
        F::BatchNorm => (2, 0),
        F::Rotary => (15, 0),
        F::Softmax | F::LogSoftmax => (3, 0),
        F::L2Norm => (3, 1),
        F::RmsNorm => (4 + weights, 2),
        F::LayerNorm | F::GroupNorm | F::BatchNormTrain => (5 + weights, 5),
        // Each piece has a mask: a bound, a comparison or two, and a select.
        F::Concat => ((6 * inputs).saturating_sub(1), 0),
        F::Pad => (7, 0),
        F::SliceScatter => (8, 0),
        F::Roll => (5, 0),
        F::OneHot => (3, 0),
        F::Interpolate => (18, 0),
        F::InterpolateBilinear => (function.row().flops_per_element, 0),
        F::Copy | F::Contiguous | F::Repeat | F::RepeatInterleave | F::Flip => (0, 0),
        F::Embedding | F::Gather | F::Index => (0, 0),
        F::Pow => (2, 0),
        _ => (1, 0),
    };
    Instructions::new(computed, constants)
}
