//! The value of every function, against numbers worked out by hand.
#![allow(clippy::float_cmp, reason = "every bit of a rounded number is meant")]

use fuseline_codegen::interpret::{Interpretation, Setup, interpret};
use fuseline_core::model::functions::Function;
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};
use std::collections::{BTreeMap, BTreeSet};
use strum::VariantArray;

/// Runs a text on given numbers.
pub(crate) fn run(text: &str, given: &[(&str, &[f64])], options: &Options) -> Interpretation {
    let parsed = parse(text);
    let outcome = analyze_program(&parsed.program, options);
    let analysis = outcome.analysis.unwrap();
    let setup = Setup {
        given: (given.iter())
            .map(|(name, values)| ((*name).to_owned(), values.to_vec()))
            .collect(),
        ..Setup::default()
    };
    interpret(&parsed.program, &analysis.partition, &setup).unwrap()
}

/// The exact elements of the last result.
fn value(text: &str, given: &[(&str, &[f64])]) -> Vec<f64> {
    let ran = run(text, given, &Options::default());
    assert_eq!(ran.refused, [], "{text}");
    let result = ran.result().unwrap();
    let runs = ran.tensors[result].as_ref().unwrap();
    assert!(
        runs.fused.error.relative < 1e-6,
        "{text}: {:?}",
        runs.fused.error
    );
    runs.exact.clone()
}

/// Name, type and elements.
pub(crate) type Input = (&'static str, &'static str, &'static [f64]);

/// For each function a call in f64 or f32, its inputs `x` (and `y`, `z`), and its elements.
pub(crate) struct Case {
    pub(crate) inputs: &'static [Input],
    pub(crate) call: &'static str,
    expected: &'static [f64],
}

const INF: f64 = f64::INFINITY;

const X: Input = ("x", "f32[3]", &[-1.0, 0.5, 2.0]);
const Y: Input = ("y", "f32[3]", &[3.0, 0.5, -4.0]);
const POSITIVE: Input = ("x", "f32[3]", &[1.0, 4.0, 0.25]);
const SQUARE: Input = ("x", "f32[2, 2]", &[1.0, 2.0, 3.0, 4.0]);
const ROWS: Input = ("x", "f32[2, 3]", &[2.0, 5.0, 5.0, -1.0, -3.0, 0.0]);
const SMALL: Input = ("x", "f32[1, 1, 2, 2]", &[1.0, 2.0, 3.0, 4.0]);
const Q: Input = ("q", "f32[2, 2]", &[1.0, 0.0, 0.0, 2.0]);
const K: Input = ("k", "f32[2, 2]", &[1.0, 1.0, 2.0, -1.0]);
const V: Input = ("v", "f32[2, 2]", &[1.0, 10.0, 3.0, 30.0]);
const BITS: Input = ("x", "bool[2]", &[1.0, 0.0]);
const OTHERS: Input = ("y", "bool[2]", &[1.0, 1.0]);
const IMAGE: Input = (
    "x",
    "f32[1, 1, 3, 3]",
    &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
);

fn case(inputs: &[Input], call: &'static str, expected: &'static [f64]) -> Case {
    Case {
        inputs: Box::leak(inputs.to_vec().into_boxed_slice()),
        call,
        expected,
    }
}

pub(crate) fn cases() -> Vec<Case> {
    [elementwise(), reductions(), products_and_calls(), layouts()]
        .into_iter()
        .flatten()
        .collect()
}

#[rustfmt::skip]
fn elementwise() -> Vec<Case> {
    vec![
        case(&[X, Y], "add(x, y)", &[2.0, 1.0, -2.0]),
        case(&[("x", "f32[2, 4]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), ("y", "f32[1, 2]", &[2.0, 10.0])], "dequantize(x, y)", &[2.0, 4.0, 30.0, 40.0, 10.0, 12.0, 70.0, 80.0]),
        case(&[("x", "f32[2, 4]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), ("y", "f32[2]", &[2.0, 10.0]), ("z", "f32[2, 1]", &[1.0, 0.0])], "dequantize(x, y, z)", &[0.0, 2.0, 20.0, 30.0, 10.0, 12.0, 70.0, 80.0]),
        case(&[X, Y], "sub(x, y)", &[-4.0, 0.0, 6.0]),
        case(&[X, Y], "mul(x, y)", &[-3.0, 0.25, -8.0]),
        case(&[X, Y], "div(x, y)", &[-1.0 / 3.0, 1.0, -0.5]),
        case(&[X], "div(x, 8)", &[-0.125, 0.0625, 0.25]),
        case(&[X], "sub(1, x)", &[2.0, 0.5, -1.0]),
        case(&[X, Y], "maximum(x, y)", &[3.0, 0.5, 2.0]),
        case(&[X, Y], "minimum(x, y)", &[-1.0, 0.5, -4.0]),
        case(&[X], "pow(x, exponent=3)", &[-1.0, 0.125, 8.0]),
        case(&[X, ("y", "f32[3]", &[2.0, 1.0, 0.5])], "pow(x, y)", &[1.0, 0.5, std::f64::consts::SQRT_2]),
        case(&[X, Y], "lt(x, y)", &[1.0, 0.0, 0.0]),
        case(&[X, Y], "le(x, y)", &[1.0, 1.0, 0.0]),
        case(&[X, Y], "gt(x, y)", &[0.0, 0.0, 1.0]),
        case(&[X, Y], "ge(x, y)", &[0.0, 1.0, 1.0]),
        case(&[X, Y], "eq(x, y)", &[0.0, 1.0, 0.0]),
        case(&[X, Y], "ne(x, y)", &[1.0, 0.0, 1.0]),
        case(&[BITS, OTHERS], "logical_and(x, y)", &[1.0, 0.0]),
        case(&[BITS, OTHERS], "logical_or(x, y)", &[1.0, 1.0]),
        case(&[BITS], "logical_not(x)", &[0.0, 1.0]),
        case(&[BITS, OTHERS], "logical_xor(x, y)", &[0.0, 1.0]),
        case(&[X, Y], "floor_divide(x, y)", &[-1.0, 1.0, -1.0]),
        case(&[X, Y], "trunc_divide(x, y)", &[0.0, 1.0, 0.0]),
        case(&[X, Y], "remainder(x, y)", &[2.0, 0.0, -2.0]),
        case(&[("x", "f32[5]", &[2.0, 0.0, 0.0, 0.0, -1.0]), ("y", "f32[5]", &[0.5, 0.0, INF, f64::NAN, 0.0])],
            "xlogy(x, y)", &[-1.386_294, 0.0, 0.0, f64::NAN, INF]),
        case(&[POSITIVE], "xlogy(x, x)", &[0.0, 5.545_177, -0.346_574]),
        case(&[("x", "f32[6]", &[1.0, -2.0, 100.0, INF, -INF, f64::NAN]), ("y", "f32[6]", &[1.0, 0.5, -100.0, INF, -INF, 1.0])],
            "logaddexp(x, y)", &[1.693_147, 0.578_890, 100.0, INF, -INF, f64::NAN]),
        case(&[("x", "f32[1, 4]", &[1.0, 2.0, 3.0, 4.0]), ("c", "f32[4]", &[1.0, 0.5, 1.0, 0.5]), ("s", "f32[4]", &[0.0, 1.0, 0.0, 1.0])],
            "rotary(x, c, s)", &[1.0, -3.0, 3.0, 4.0]),
        case(&[X], "sign(x)", &[-1.0, 1.0, 1.0]),
        case(&[("x", "f32[3]", &[f64::NAN, INF, 0.0])], "isnan(x)", &[1.0, 0.0, 0.0]),
        case(&[("x", "f32[3]", &[f64::NAN, -INF, 0.0])], "isinf(x)", &[0.0, 1.0, 0.0]),
        case(&[X], "leaky_relu(x)", &[-0.01, 0.5, 2.0]),
        case(&[X], "leaky_relu(x, slope=0.2)", &[-0.2, 0.5, 2.0]),
        case(&[X], "elu(x, alpha=2)", &[-1.264_241, 0.5, 2.0]),
        case(&[X], "selu(x)", &[-1.111_331, 0.525_350, 2.101_402]),
        case(&[X], "softplus(x)", &[0.313_262, 0.974_077, 2.126_928]),
        case(&[X], "log_sigmoid(x)", &[-1.313_262, -0.474_077, -0.126_928]),
        case(&[X], "mish(x)", &[-0.303_401, 0.375_245, 1.943_959]),
        case(&[X], "hardsigmoid(x)", &[1.0 / 3.0, 7.0 / 12.0, 5.0 / 6.0]),
        case(&[X], "hardswish(x)", &[-1.0 / 3.0, 7.0 / 24.0, 5.0 / 3.0]),
        case(&[X], "softsign(x)", &[-0.5, 1.0 / 3.0, 2.0 / 3.0]),
        case(&[X], "exp2(x)", &[0.5, std::f64::consts::SQRT_2, 4.0]),
        case(&[X], "expm1(x)", &[-0.632_121, 0.648_721, 6.389_056]),
        case(&[POSITIVE], "log2(x)", &[0.0, 2.0, -2.0]),
        case(&[POSITIVE], "log1p(x)", &[std::f64::consts::LN_2, 1.609_438, 0.223_144]),
        case(&[X], "tan(x)", &[-1.557_408, 0.546_302, -2.185_040]),
        case(&[("x", "f32[2]", &[-1.5, 1.2])], "ceil(x)", &[-1.0, 2.0]),
        case(&[("x", "f32[2]", &[-1.5, 1.2])], "trunc(x)", &[-1.0, 1.0]),
        case(&[X], "neg(x)", &[1.0, -0.5, -2.0]),
        case(&[X], "abs(x)", &[1.0, 0.5, 2.0]),
        case(&[X], "square(x)", &[1.0, 0.25, 4.0]),
        case(&[X], "relu(x)", &[0.0, 0.5, 2.0]),
        case(&[X], "gelu(x)", &[-0.158_808, 0.345_714, 1.954_598]),
        case(&[X], "gelu_erf(x)", &[-0.158_655, 0.345_731, 1.954_500]),
        case(&[X], "silu(x)", &[-0.268_941, 0.311_230, 1.761_594]),
        case(&[X], "sigmoid(x)", &[0.268_941, 0.622_459, 0.880_797]),
        case(&[X], "tanh(x)", &[-0.761_594, 0.462_117, 0.964_028]),
        case(&[X], "exp(x)", &[0.367_879, 1.648_721, 7.389_056]),
        case(&[POSITIVE], "log(x)", &[0.0, 1.386_294, -1.386_294]),
        case(&[X], "erf(x)", &[-0.842_701, 0.520_500, 0.995_322]),
        case(&[X], "sin(x)", &[-0.841_471, 0.479_426, 0.909_297]),
        case(&[X], "cos(x)", &[0.540_302, 0.877_583, -0.416_147]),
        case(&[("x", "f32[4]", &[0.5, 1.5, 2.5, -1.2])], "round(x)", &[0.0, 2.0, 2.0, -1.0]),
        case(&[X], "floor(x)", &[-1.0, 0.0, 2.0]),
        case(&[POSITIVE], "sqrt(x)", &[1.0, 2.0, 0.5]),
        case(&[POSITIVE], "rsqrt(x)", &[1.0, 0.5, 2.0]),
        case(&[POSITIVE], "reciprocal(x)", &[1.0, 0.25, 4.0]),
        case(&[X], "scale(x, factor=1/8)", &[-0.125, 0.0625, 0.25]),
        case(&[X], "shift(x, amount=-1.5)", &[-2.5, -1.0, 0.5]),
        case(&[SQUARE], "mask(x)", &[1.0, -INF, 3.0, 4.0]),
        case(&[X, Y], "mask(x, y)", &[2.0, 1.0, -2.0]),
        case(&[SQUARE], "tril(x, diagonal=-1)", &[0.0, 0.0, 3.0, 0.0]),
        case(&[SQUARE], "triu(x)", &[1.0, 2.0, 0.0, 4.0]),
        case(&[], "full(value=2.5) : f32[2]", &[2.5, 2.5]),
        case(&[], "arange() : i64[3]", &[0.0, 1.0, 2.0]),
        case(&[], "arange(start=3, step=-2) : f32[2, 2]", &[3.0, 1.0, -1.0, -3.0]),
        case(&[X], "dropout(x, p=0)", &[-1.0, 0.5, 2.0]),
        case(&[X], "dropout(x, p=1)", &[0.0, 0.0, 0.0]),
        case(&[("x", "f32[3]", &[-1.75, 2.5, 300.0])], "cast(x, dtype=i8)", &[-1.0, 2.0, 44.0]),
        case(&[("c", "bool[2]", &[1.0, 0.0]), ("x", "f32[2]", &[1.0, 2.0]), ("y", "f32[2]", &[3.0, 4.0])], "where(c, x, y)", &[1.0, 4.0]),
        case(&[X], "clamp(x, min=0, max=1)", &[0.0, 0.5, 1.0]),
        case(&[("x", "f32[1, 2, 1]", &[3.0, 5.0]), ("y", "f32[2]", &[2.0, 3.0]), ("z", "f32[2]", &[1.0, -1.0])], "batch_norm(x, y, z)", &[7.0, 14.0]),
        case(&[("x", "f32[1, 2]", &[3.0, 5.0]), ("m", "f32[2]", &[1.0, 1.0]), ("v", "f32[2]", &[4.0, 16.0]), ("w", "f32[2]", &[1.0, 2.0]), ("b", "f32[2]", &[0.0, 1.0])], "batch_norm(x, m, v, w, b, eps=0)", &[1.0, 3.0]),
        case(&[("x", "f32[2, 2]", &[1.0, 10.0, 3.0, 30.0]), ("y", "f32[2]", &[1.0, 2.0]), ("z", "f32[2]", &[0.0, 1.0])], "batch_norm(x, y, z, training=true, eps=0)", &[-1.0, -1.0, 1.0, 3.0]),
    ]
}

#[rustfmt::skip]
fn reductions() -> Vec<Case> {
    vec![
        case(&[ROWS], "prod(x)", &[50.0, 0.0]),
        case(&[ROWS], "any(x)", &[1.0, 1.0]),
        case(&[ROWS], "all(x)", &[1.0, 0.0]),
        case(&[ROWS], "argmax(x)", &[1.0, 2.0]),
        // The first NaN, as in PyTorch.
        case(&[("x", "f32[2, 3]", &[9.0, f64::NAN, f64::NAN, f64::NAN, 1.0, 0.0])], "argmax(x)", &[1.0, 0.0]),
        case(&[("x", "f32[2, 3]", &[9.0, 0.0, f64::NAN, 5.0, 1.0, 1.0])], "argmin(x)", &[2.0, 1.0]),
        case(&[ROWS], "argmin(x, axis=0)", &[1.0, 1.0, 1.0]),
        case(&[SQUARE], "sum(x)", &[3.0, 7.0]),
        case(&[SQUARE], "sum(x, axis=0, keepdim=false)", &[4.0, 6.0]),
        case(&[SQUARE], "sum(x, axis=[0, 1])", &[10.0]),
        case(&[SQUARE], "mean(x)", &[1.5, 3.5]),
        case(&[SQUARE], "max(x, axis=0)", &[3.0, 4.0]),
        case(&[SQUARE], "min(x)", &[1.0, 3.0]),
        case(&[("x", "f32[4]", &[1.0, 2.0, 3.0, 6.0])], "var(x)", &[14.0 / 3.0]),
        case(&[("x", "f32[2]", &[0.0, std::f64::consts::LN_2])], "softmax(x)", &[1.0 / 3.0, 2.0 / 3.0]),
        case(&[("x", "f32[2, 2]", &[0.0, 5.0, 0.0, 5.0])], "softmax(x, axis=0)", &[0.5, 0.5, 0.5, 0.5]),
        case(&[("x", "f32[2]", &[1000.0, 1000.0])], "log_softmax(x)", &[-std::f64::consts::LN_2, -std::f64::consts::LN_2]),
        case(&[("x", "f32[2]", &[1.0, 5.0]), ("y", "f32[2]", &[2.0, 3.0]), ("z", "f32[2]", &[0.5, 1.0])], "layer_norm(x, y, z, eps=0)", &[-1.5, 4.0]),
        case(&[("x", "f32[2]", &[1.0, 7.0])], "rms_norm(x, eps=0)", &[0.2, 1.4]),
        case(&[("x", "f32[2]", &[3.0, -4.0])], "l2_norm(x)", &[0.6, -0.8]),
        case(&[SQUARE], "cumsum(x, axis=0)", &[1.0, 2.0, 4.0, 6.0]),
        case(&[IMAGE], "max_pool2d(x, kernel=2, stride=1)", &[5.0, 6.0, 8.0, 9.0]),
        case(&[IMAGE], "avg_pool2d(x, kernel=2, stride=2, padding=1)", &[0.25, 1.25, 2.75, 7.0]),
        case(&[("x", "f32[1, 4, 2]", &[1.0, 3.0, 5.0, 11.0, 2.0, 4.0, 6.0, 16.0]), ("y", "f32[4]", &[1.0, 2.0, 3.0, 4.0]), ("z", "f32[4]", &[0.0, 0.0, 1.0, 1.0])],
            "group_norm(x, y, z, groups=2, eps=0)", &[-1.069_045, -0.534_522, 0.0, 3.207_135, -1.785_430, -0.671_258, 0.257_219, 7.685_032]),
        case(&[IMAGE], "adaptive_avg_pool2d(x, size=2)", &[3.0, 4.0, 6.0, 7.0]),
        case(&[IMAGE], "adaptive_max_pool2d(x, size=[1, 2])", &[8.0, 9.0]),
    ]
}

#[rustfmt::skip]
fn products_and_calls() -> Vec<Case> {
    vec![
        case(&[SQUARE, ("y", "f32[2, 2]", &[5.0, 6.0, 7.0, 8.0]), ("z", "f32[2, 1]", &[2.0, 10.0]), ("w", "f32[]", &[3.0])], "scaled_matmul(x, y, z, w)", &[114.0, 132.0, 1290.0, 1500.0]),
        case(&[SQUARE, ("y", "f32[2, 2]", &[5.0, 6.0, 7.0, 8.0]), ("z", "f32[2, 1]", &[2.0, 10.0]), ("w", "f32[]", &[3.0]), ("b", "f32[2]", &[0.5, -1.0])], "scaled_matmul(x, y, z, w, b)", &[114.5, 131.0, 1290.5, 1499.0]),
        // One scale for each element along K.
        case(&[SQUARE, ("y", "f32[2, 2]", &[5.0, 6.0, 7.0, 8.0]), ("z", "f32[2, 2]", &[1.0, 2.0, 3.0, 4.0]), ("w", "f32[1, 2]", &[10.0, 1.0])], "scaled_matmul(x, y, z, w, transpose_b=true)", &[74.0, 102.0, 546.0, 758.0]),
        case(&[SQUARE, ("y", "f32[2, 2]", &[5.0, 6.0, 7.0, 8.0])], "matmul(x, y)", &[19.0, 22.0, 43.0, 50.0]),
        case(&[SQUARE, ("y", "f32[2, 2]", &[5.0, 6.0, 7.0, 8.0])], "matmul(x, y, transpose_a=true, transpose_b=true)", &[23.0, 31.0, 34.0, 46.0]),
        case(&[("x", "f32[2, 1, 2]", &[1.0, 2.0, 3.0, 4.0]), ("y", "f32[2, 1]", &[1.0, 10.0])], "matmul(x, y)", &[21.0, 43.0]),
        // Q, K and V of one row side by side.
        case(&[("x", "f32[1, 6]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])], "matmul(x, x, k=2) : f32[1, 1]", &[11.0]),
        case(&[("y", "f32[1, 1]", &[2.0]), ("x", "f32[1, 6]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])], "matmul(y, x, k=1) : f32[1, 2]", &[10.0, 12.0]),
        case(&[("x", "f32[2]", &[1.0, 2.0]), ("y", "f32[3, 2]", &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]), ("z", "f32[3]", &[10.0, 20.0, 30.0])], "linear(x, y, z)", &[11.0, 22.0, 33.0]),
        case(&[("x", "f32[1, 2, 3]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), ("y", "f32[1, 2, 2]", &[1.0, 0.0, 0.0, 10.0]), ("z", "f32[1]", &[100.0])], "conv1d(x, y, z)", &[151.0, 162.0]),
        case(&[("x", "f32[1, 1, 4]", &[1.0, 2.0, 3.0, 4.0]), ("y", "f32[1, 1, 2]", &[1.0, 1.0])], "conv1d(x, y, stride=2, padding=1, dilation=2)", &[2.0, 6.0]),
        case(&[IMAGE, ("y", "f32[1, 1, 2, 2]", &[1.0, 0.0, 0.0, 1.0]), ("z", "f32[1]", &[100.0])], "conv2d(x, y, z)", &[106.0, 108.0, 112.0, 114.0]),
        case(&[IMAGE, ("y", "f32[1, 1, 2, 2]", &[1.0, 1.0, 1.0, 1.0])], "conv2d(x, y, stride=2, padding=1, dilation=2)", &[5.0, 5.0, 5.0, 5.0]),
        case(&[("x", "f32[1, 2, 1, 1]", &[2.0, 3.0]), ("y", "f32[2, 1, 1, 1]", &[5.0, 7.0])], "conv2d(x, y, groups=2)", &[10.0, 21.0]),
        case(&[Q, K, V], "sdpa(q, k, v)", &[2.339_523, 23.395_231, 1.111_614, 11.116_144]),
        case(&[Q, K, V], "sdpa(q, k, v, causal=true, scale=1)", &[1.0, 10.0, 1.035_972, 10.359_724]),
        case(&[Q, K, V, ("m", "f32[2, 2]", &[0.0, 1.0, -1.0, 0.0])], "sdpa(q, k, v, m)", &[2.692_921, 26.929_213, 1.276_852, 12.768_515]),
        case(&[Q, K, V, ("m", "bool[2, 2]", &[1.0, 0.0, 0.0, 0.0])], "sdpa(q, k, v, m)", &[1.0, 10.0, 0.0, 0.0]),
        // Two heads of q for each of k and v.
        case(&[("q", "f32[4, 1, 2]", &[1.0, 0.0, 0.0, 2.0, 2.0, 1.0, 1.0, 1.0]), ("k", "f32[2, 2, 2]", &[1.0, 1.0, 2.0, -1.0, 0.0, 1.0, 1.0, 0.0]), ("v", "f32[2, 2, 1]", &[1.0, 3.0, 5.0, 7.0])],
            "sdpa(q, k, v, enable_gqa=true)", &[2.339_523, 1.111_614, 6.339_523, 6.0]),
        case(&[ROWS], "topk(x, count=2)", &[5.0, 5.0, 0.0, -1.0]),
        case(&[ROWS], "topk_indices(x, count=2)", &[1.0, 2.0, 2.0, 0.0]),
        case(&[ROWS], "topk_indices(x, count=1, axis=0)", &[0.0, 0.0, 0.0]),
        case(&[ROWS], "sort(x)", &[2.0, 5.0, 5.0, -3.0, -1.0, 0.0]),
        case(&[ROWS], "argsort(x, axis=0, descending=true)", &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        case(&[SQUARE, ("i", "i64[2, 1]", &[1.0, 0.0]), ("s", "f32[2, 1]", &[9.0, 8.0])], "scatter(x, i, s)", &[1.0, 9.0, 8.0, 4.0]),
        case(&[SQUARE, ("i", "i64[2, 2]", &[1.0, 1.0, 1.0, 0.0]), ("s", "f32[2, 2]", &[10.0, 20.0, 30.0, 40.0])], "scatter_add(x, i, s, axis=0)", &[1.0, 42.0, 43.0, 24.0]),
        case(&[SQUARE, ("i", "i64[1]", &[1.0]), ("s", "f32[1, 2]", &[7.0, 6.0])], "index_copy(x, i, s, axis=0)", &[1.0, 2.0, 7.0, 6.0]),
        case(&[SQUARE, ("i", "i64[2]", &[0.0, 0.0]), ("s", "f32[2, 2]", &[10.0, 1.0, 20.0, 2.0])], "index_add(x, i, s)", &[12.0, 2.0, 25.0, 4.0]),
        case(&[SQUARE, ("i", "i64[1]", &[1.0]), ("s", "f32[1, 2]", &[7.0, 6.0])], "index_put(x, i, s)", &[1.0, 2.0, 7.0, 6.0]),
        case(&[SQUARE, ("i", "i64[2, 1]", &[0.0, 1.0]), ("j", "i64[1]", &[1.0]), ("s", "f32[1]", &[9.0])], "index_put(x, i, j, s)", &[1.0, 9.0, 3.0, 9.0]),
        case(&[SQUARE, ("s", "f32[2, 1]", &[7.0, 6.0])], "slice_scatter(x, s, start=1)", &[1.0, 7.0, 3.0, 6.0]),
        case(&[SQUARE, ("s", "f32[2]", &[7.0, 6.0])], "copy(x, s)", &[7.0, 6.0, 7.0, 6.0]),
        case(&[SQUARE, ("s", "f32[2, 1]", &[7.0, 6.0])], "slice_scatter_(x, s, end=1)", &[7.0, 2.0, 6.0, 4.0]),
        case(&[SQUARE], "relu_(x)", &[1.0, 2.0, 3.0, 4.0]),
    ]
}

#[rustfmt::skip]
fn layouts() -> Vec<Case> {
    vec![
        case(&[SMALL], "interpolate(x, size=[3, 2])", &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0]),
        case(&[SMALL], "interpolate(x, times=[1, 2], mode=bilinear)", &[1.0, 1.25, 1.75, 2.0, 3.0, 3.25, 3.75, 4.0]),
        case(&[SMALL], "interpolate_bilinear(x, size=[3, 2], align_corners=true)", &[1.0, 2.0, 2.0, 3.0, 3.0, 4.0]),
        case(&[SQUARE, ("i", "i64[3]", &[1.0, 0.0, 1.0])], "index(x, i)", &[3.0, 4.0, 1.0, 2.0, 3.0, 4.0]),
        case(&[SQUARE, ("i", "i64[2, 1]", &[0.0, 1.0]), ("j", "i64[2]", &[1.0, 0.0])], "index(x, i, j)", &[2.0, 1.0, 4.0, 3.0]),
        case(&[ROWS], "flip(x)", &[5.0, 5.0, 2.0, 0.0, -3.0, -1.0]),
        case(&[ROWS], "flip(x, axis=[0, 1])", &[0.0, -3.0, -1.0, 5.0, 5.0, 2.0]),
        case(&[ROWS], "roll(x, shift=1)", &[5.0, 2.0, 5.0, 0.0, -1.0, -3.0]),
        case(&[ROWS], "roll(x, shift=-1, axis=0)", &[-1.0, -3.0, 0.0, 2.0, 5.0, 5.0]),
        case(&[("x", "i64[2]", &[1.0, 0.0])], "one_hot(x, classes=3)", &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
        case(&[SQUARE], "reshape(x, shape=[4])", &[1.0, 2.0, 3.0, 4.0]),
        case(&[SQUARE], "contiguous(x)", &[1.0, 2.0, 3.0, 4.0]),
        // Two heads of one column: [S, h * d] to [h, S, d].
        case(&[SQUARE], "rearrange(x) : f32[2, 2, 1]", &[1.0, 3.0, 2.0, 4.0]),
        case(&[("x", "f32[2, 2, 1]", &[1.0, 3.0, 2.0, 4.0])], "rearrange(x) : f32[2, 2]", &[1.0, 2.0, 3.0, 4.0]),
        // Heads of two dimensions.
        case(&[("x", "f32[2, 4]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])], "rearrange(x) : f32[2, 2, 2, 1]", &[1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]),
        case(&[("x", "f32[2, 2, 2, 1]", &[1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0])], "rearrange(x) : f32[2, 4]", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        case(&[SQUARE], "transpose(x)", &[1.0, 3.0, 2.0, 4.0]),
        case(&[("x", "f32[1, 2, 2]", &[1.0, 2.0, 3.0, 4.0])], "transpose(x, perm=[2, 0, 1])", &[1.0, 3.0, 2.0, 4.0]),
        case(&[SQUARE], "split(x, parts=2, index=1)", &[2.0, 4.0]),
        case(&[SQUARE, ("y", "f32[2, 1]", &[8.0, 9.0])], "concat(x, y)", &[1.0, 2.0, 8.0, 3.0, 4.0, 9.0]),
        case(&[("x", "f32[5]", &[0.0, 1.0, 2.0, 3.0, 4.0])], "slice(x, start=1, end=-1, step=2)", &[1.0, 3.0]),
        case(&[("x", "f32[2, 1]", &[1.0, 2.0])], "expand(x, shape=[2, 2])", &[1.0, 1.0, 2.0, 2.0]),
        case(&[("x", "f32[2]", &[1.0, 2.0])], "repeat(x, times=[2, 2])", &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]),
        case(&[("x", "f32[2]", &[1.0, 2.0])], "repeat_interleave(x, times=2)", &[1.0, 1.0, 2.0, 2.0]),
        case(&[("x", "i64[2]", &[1.0, 0.0]), ("y", "f32[2, 2]", &[1.0, 2.0, 3.0, 4.0])], "embedding(x, y)", &[3.0, 4.0, 1.0, 2.0]),
        case(&[SQUARE, ("y", "i64[2, 1]", &[1.0, 0.0])], "gather(x, y)", &[2.0, 3.0]),
        case(&[SQUARE], "pad(x, pad=[1, 0, 0, 1])", &[0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0]),
        case(&[SQUARE], "pad(x, pad=[1, 0], value=7)", &[7.0, 1.0, 2.0, 7.0, 3.0, 4.0]),
    ]
}

#[test]
fn each_function_has_its_value() {
    for case in cases() {
        let mut text = String::new();
        for (name, dtype, _) in case.inputs {
            text.extend(["input ", name, " : ", dtype, "\n"]);
        }
        text.extend(["result = ", case.call]);
        let given: Vec<(&str, &[f64])> = case.inputs.iter().map(|i| (i.0, i.2)).collect();
        let values = value(&text, &given);
        assert_eq!(values.len(), case.expected.len(), "{}", case.call);
        for (value, expected) in values.iter().zip(case.expected) {
            let is_same = value == expected || value.is_nan() && expected.is_nan();
            let is_near = is_same || (value - expected).abs() < 2e-6;
            assert!(
                is_near,
                "{} gives {values:?}, not {:?}",
                case.call, case.expected
            );
        }
    }
}

#[test]
fn each_function_of_the_table_is_among_them() {
    let mut called: BTreeSet<&str> = (cases().iter())
        .map(|case| case.call.split('(').next().unwrap())
        .collect();
    // `batch_norm(training=true)` is a function of its own.
    called.insert("batch_norm_train");
    for function in Function::VARIANTS
        .iter()
        // Of an unknown operator and its results no value is known, a convolution of a stated
        // length does not say what its windows are, and numbers have no bits.
        .filter(|&&function| {
            !matches!(
                function,
                Function::Opaque | Function::Part | Function::Convolution | Function::Bitcast
            )
        })
    {
        assert!(called.contains(function.name()), "{function}");
    }
}

#[test]
fn an_op_that_does_not_say_what_it_computes_is_named_and_the_others_run() {
    let text =
        "input x : f16[4]\na = relu(x)\nb = elementwise(a) : f16[4]\nc = exp(b)\nd = tanh(a)";
    let ran = run(text, &[], &Options::default());
    let [refused] = &ran.refused[..] else {
        panic!("{:?}", ran.refused);
    };
    assert_eq!(ran.graph.ops[refused.op].name, "b");
    assert_eq!(
        refused.reason.to_string(),
        "`elementwise` does not say what it computes: use a function such as `relu`"
    );
    let has_value = |name| ran.tensors[ran.tensor_named(name).unwrap()].is_some();
    assert_eq!(
        ["a", "b", "c", "d"].map(has_value),
        [true, false, false, true]
    );
}

#[test]
fn numbers_that_are_missing_or_outside_are_told() {
    for (text, reason) in [
        (
            "input x : f16[4]\ny = scale(x)",
            "it has no number: give one with `factor=`",
        ),
        (
            "input x : f16[4]\ny = dropout(x, p=2)",
            "`p` is 2, which is not a probability",
        ),
        (
            "input x : i64[1]\ninput t : f16[3, 2]\ni = shift(x, amount=9)\ny = embedding(i, t)",
            "an index is 9, but the dimension has size 3",
        ),
    ] {
        let ran = run(
            text,
            &[("x", &vec![0.0; if text.contains("i64") { 1 } else { 4 }])],
            &Options::default(),
        );
        assert_eq!(ran.refused[0].reason.to_string(), reason);
    }
}

#[test]
fn dropout_drops_about_its_part_and_scales_the_rest() {
    let text = "input x : f32[4096]\ndropped = dropout(x, p=0.5)\nrest = sum(dropped)";
    let ones = vec![1.0; 4096];
    let sum = value(text, &[("x", &ones)])[0];
    // The standard deviation is 64. Each element that is left is 2.
    assert!((sum - 4096.0).abs() < 250.0 && sum % 2.0 == 0.0, "{sum}");
}

/// What one seed gives does not depend on names that come and go.
#[test]
fn inputs_follow_from_seed_and_name() {
    let inputs = |text: &str, seed| {
        let program = parse(text).program;
        let analysis = analyze_program(&program, &Options::default())
            .analysis
            .unwrap();
        let setup = Setup {
            seed,
            sizes: BTreeMap::new(),
            given: BTreeMap::new(),
        };
        let ran = interpret(&program, &analysis.partition, &setup).unwrap();
        ran.tensors[ran.tensor_named("y").unwrap()]
            .clone()
            .unwrap()
            .exact
    };
    let one = inputs("input x : f16[8]\ny = neg(x)", 1);
    assert_eq!(
        one,
        inputs(
            "input w : f16[8]\ninput x : f16[8]\nz = neg(w)\ny = neg(x)",
            1
        )
    );
    assert_ne!(one, inputs("input x : f16[8]\ny = neg(x)", 2));
}

#[test]
fn numbers_are_rounded_to_their_type() {
    use fuseline_codegen::interpret::rounded;
    use fuseline_core::DType;
    assert_eq!(rounded(0.1, DType::F16), 0.099_975_585_937_5);
    assert_eq!(rounded(65_520.0, DType::F16), f64::INFINITY);
}

#[test]
fn neighbours_of_a_number_are_as_far_apart_as_its_digits_say() {
    use fuseline_codegen::interpret::FloatFormat;
    use fuseline_core::DType;
    let f16 = FloatFormat::of(DType::F16).unwrap();
    assert_eq!(
        [0.0, 1.0, 2049.0].map(|x| f16.spacing(x)),
        [2_f64.powi(-24), 2_f64.powi(-10), 2.0]
    );
}
