//! Which images `interpolate` resizes as ONNX does.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::layout::resized;
use crate::shapes::dimension;

/// Most positions of an image that are compared.
const MOST_POSITIONS: i64 = 1 << 20;
/// Positions are computed in f32 by the runtime.
const EQUAL: f64 = 1e-4;

/// A dimension of an image that changes its size.
#[derive(Clone, Copy)]
struct Side {
    from: f64,
    to: i64,
    /// How many times as long, as the model states it.
    scale: f64,
}

/// `nearest`, or `bilinear` with the attribute that it needs. `None` where `interpolate` takes
/// other elements at the defaults of the params: no function resizes the image.
pub(super) fn mode(call: &Call<'_>) -> Option<String> {
    let sides = sides(call)?;
    let is_same = |corners: bool, of: &dyn Fn(Side, f64) -> f64| {
        sides.iter().all(|&side| {
            let last = side.from - 1.0;
            (0..side.to).all(|at| {
                let own = of(side, position(call, side, at).unwrap_or(f64::NAN));
                let (at, to) = (at as f64, side.to as f64);
                let ratio = side.from / to;
                let expected = match call.word("mode") {
                    None | Some("nearest") => (at * side.from / to).floor(),
                    _ if corners && side.to == 1 => 0.0,
                    _ if corners => at * last / (to - 1.0),
                    _ => (at + 0.5) * ratio - 0.5,
                };
                (own.clamp(0.0, last) - expected.clamp(0.0, last)).abs() < EQUAL
            })
        })
    };
    match call.word("mode") {
        None | Some("nearest") => {
            let rounded = |side: Side, at: f64| nearest(call, side, at);
            is_same(false, &rounded).then(|| "nearest".to_owned())
        }
        Some("linear") if call.int("antialias").unwrap_or(0) == 0 => {
            let exact = |_: Side, at: f64| at;
            if is_same(false, &exact) {
                Some("bilinear".to_owned())
            } else {
                is_same(true, &exact).then(|| "bilinear, align_corners=true".to_owned())
            }
        }
        _ => None,
    }
}

/// Height and width.
fn sides(call: &Call<'_>) -> Option<Vec<Side>> {
    let before = call.shape(0)?;
    let after = resized(call).or_else(|| call.output.shape.clone())?;
    let scales = scales(call, before.len());
    let sides = (2..before.len()).map(|axis| {
        let from = call.default_of(before.get(axis)?)? as f64;
        let to = call.default_of(after.get(axis)?)?;
        let scale = scales.as_ref().and_then(|scales| scales.get(axis).copied());
        let is_counted = (1..=MOST_POSITIONS).contains(&to) && from >= 1.0;
        is_counted.then_some(Side {
            from,
            to,
            scale: scale.unwrap_or(to as f64 / from),
        })
    });
    sides.collect()
}

/// The factors that the model states for all dimensions, if it states factors and no sizes.
fn scales(call: &Call<'_>, rank: usize) -> Option<Vec<f64>> {
    if call.has(3) {
        return None;
    }
    let stated: Vec<f64> = if let Some(scales) = call.floats("scales") {
        scales.collect()
    } else {
        let at = if call.input_count() == 2 { 1 } else { 2 };
        let factors = call.value(at)?.elements.iter();
        let number = |factor: &Scalar| match factor {
            Scalar::Int(whole) => Some(call.default_of(whole)? as f64),
            Scalar::Float(value) => Some(*value),
        };
        factors.map(number).collect::<Option<_>>()?
    };
    let mut scales = vec![1.0; rank];
    match call.ints("axes") {
        Some(axes) => {
            for (&axis, scale) in axes.iter().zip(stated) {
                *scales.get_mut(dimension(axis, rank)?)? = scale;
            }
        }
        None => scales = stated,
    }
    Some(scales)
}

/// Whether the model has the attributes of opset 11. Before, an element comes from its index over
/// the factor, rounded down, and rounded up where the image gets smaller.
fn has_positions(call: &Call<'_>) -> bool {
    call.operator() == "Resize" && (call.has(2) || call.has(3) || call.input_count() > 2)
}

/// The position in the image from which the element at this index comes. `None` for a way that is
/// not known.
fn position(call: &Call<'_>, side: Side, at: i64) -> Option<f64> {
    let (at, to) = (at as f64, side.to as f64);
    let half = (at + 0.5) / side.scale - 0.5;
    let stated = if has_positions(call) {
        let stated = call.word("coordinate_transformation_mode");
        stated.unwrap_or("half_pixel")
    } else {
        "asymmetric"
    };
    Some(match stated {
        "pytorch_half_pixel" | "align_corners" if side.to == 1 => 0.0,
        "half_pixel" | "pytorch_half_pixel" => half,
        "half_pixel_symmetric" => {
            let adjustment = to / (side.scale * side.from);
            side.from / 2.0 * (1.0 - adjustment) + half
        }
        "align_corners" => at * (side.from - 1.0) / (to - 1.0),
        "asymmetric" => at / side.scale,
        "tf_half_pixel_for_nn" => half + 0.5,
        _ => return None,
    })
}

/// The index of the element next to a position.
fn nearest(call: &Call<'_>, side: Side, at: f64) -> f64 {
    let stated = if has_positions(call) {
        call.word("nearest_mode").unwrap_or("round_prefer_floor")
    } else if side.scale < 1.0 {
        "ceil"
    } else {
        "floor"
    };
    match stated {
        "floor" => (at + EQUAL).floor(),
        "ceil" => (at - EQUAL).ceil(),
        "round_prefer_ceil" => (at + 0.5 + EQUAL).floor(),
        _ => (at - 0.5 - EQUAL).ceil(),
    }
}
