//! Attributes that the functions of the notation lack.

use crate::onnx::call::Call;

/// An attribute of an operator, the value at which the row of the operator holds, and what the
/// operator is at other values: an op of the same type that computes an unknown function.
type Assumed = (&'static str, &'static str, f64, &'static str);

const ELEMENTS: &str = "{y} = elementwise({0}) : {output}";
const ROWS: &str = "{y} = reduction({0}) : {output}";

#[rustfmt::skip]
const ASSUMED: &[Assumed] = &[
    // The remainder of C has the sign of the dividend.
    ("Mod", "fmod", 0.0, "{y} = elementwise({0}, {1}) : {output}"),
    ("IsInf", "detect_negative", 1.0, ELEMENTS),
    ("IsInf", "detect_positive", 1.0, ELEMENTS),
    ("Selu", "alpha", 1.673_263, ELEMENTS),
    ("Selu", "gamma", 1.050_701, ELEMENTS),
    ("CumSum", "exclusive", 0.0, ROWS),
    ("CumSum", "reverse", 0.0, ROWS),
    ("ArgMax", "select_last_index", 0.0, ROWS),
    ("ArgMin", "select_last_index", 0.0, ROWS),
    ("LpNormalization", "p", 2.0, ROWS),
    ("GlobalLpPool", "p", 2.0, ROWS),
];

/// The line of an operator whose attributes no function of the notation has.
pub(super) fn other_form(call: &Call<'_>) -> Option<&'static str> {
    let mut rows = ASSUMED.iter().filter(|row| row.0 == call.operator());
    let differs = |&&(_, name, assumed, _): &&Assumed| {
        let whole = call.int(name).map(|value| value as f64);
        let stated = whole.or_else(|| call.float(name));
        // Constants of functions are stated with the digits of f32.
        stated.is_some_and(|stated| (stated - assumed).abs() > 1e-5)
    };
    rows.find(differs).map(|row| row.3)
}
