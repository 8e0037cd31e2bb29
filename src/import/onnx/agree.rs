//! Sizes that an operator says are equal, from which open sizes follow.

use crate::onnx::call::Call;
use crate::onnx::windows::{left_out, window_shape};
use crate::shapes::{dimension, elements};
use crate::size::Size;

/// Two sizes that an operator compares.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) sizes: [Size; 2],
    /// Whether either may also be 1, which is broadcast.
    pub(super) is_broadcast: bool,
}

/// What an operator says about the sizes of its inputs.
#[derive(Debug, Default)]
pub(super) struct Agreements {
    pub(super) sizes: Vec<Agreement>,
    /// Whether a window is larger than its image, or a reshape has no room for all elements.
    pub(super) is_impossible: bool,
    /// Windows that leave out elements at the end of an image without borders.
    pub(super) left_out: usize,
}

impl Agreements {
    fn equal(&mut self, a: Option<&Size>, b: Option<&Size>) {
        self.add(a, b, false);
    }

    fn add(&mut self, a: Option<&Size>, b: Option<&Size>, is_broadcast: bool) {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
            && !(is_broadcast && (a.is_one() || b.is_one()))
        {
            let sizes = [a.clone(), b.clone()];
            self.sizes.push(Agreement {
                sizes,
                is_broadcast,
            });
        }
    }

    /// Shapes that are broadcast to each other.
    fn broadcast(&mut self, a: &[Size], b: &[Size]) {
        for (a, b) in a.iter().rev().zip(b.iter().rev()) {
            self.add(Some(a), Some(b), true);
        }
    }
}

/// Which sizes a node says are equal. Linear in its inputs and their sizes.
pub(super) fn agreements(call: &Call<'_>) -> Agreements {
    let mut found = Agreements::default();
    let Some(x) = call.shape(0) else {
        return found;
    };
    match call.operator() {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Where" | "Max" | "Min" | "Sum" | "Mean"
        | "Less" | "Greater" | "Equal" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or"
        | "PRelu" => {
            for shape in (1..call.input_count()).filter_map(|index| call.shape(index)) {
                found.broadcast(x, shape);
            }
        }
        "MatMul" | "MatMulInteger" => {
            if let Some(b) = call.shape(1) {
                let inner = b.len().saturating_sub(2);
                found.equal(x.last(), b.get(inner));
                let batches = (x.get(..x.len().saturating_sub(2)), b.get(..inner));
                if let (Some(a), Some(b)) = batches {
                    found.broadcast(a, b);
                }
            }
        }
        "Gemm" => {
            let side = |flag: &str, plain: usize| {
                if call.int(flag).unwrap_or(0) == 0 {
                    plain
                } else {
                    1 - plain
                }
            };
            let weight = call.shape(1).and_then(|b| b.get(side("transB", 0)));
            found.equal(x.get(side("transA", 1)), weight);
        }
        "Conv" | "MaxPool" | "AveragePool" => windows(call, x, &mut found),
        "Concat" => {
            let axis = dimension(call.int("axis").unwrap_or(1), x.len());
            for shape in (1..call.input_count()).filter_map(|index| call.shape(index)) {
                for (at, (a, b)) in x.iter().zip(shape).enumerate() {
                    if Some(at) != axis && shape.len() == x.len() {
                        found.equal(Some(a), Some(b));
                    }
                }
            }
        }
        "LSTM" | "GRU" | "RNN" => {
            found.equal(x.get(2), call.shape(1).and_then(|weight| weight.get(2)));
            let is_batch_first = call.int("layout") == Some(1);
            let batch = x.get(usize::from(!is_batch_first));
            for state in [call.shape(5), call.shape(6)].into_iter().flatten() {
                found.equal(state.get(usize::from(!is_batch_first)), batch);
            }
        }
        "LayerNormalization" | "RMSNormalization" | "SimplifiedLayerNormalization" => {
            found.equal(x.last(), call.shape(1).and_then(<[Size]>::last));
        }
        "BatchNormalization" | "InstanceNormalization" => {
            found.equal(x.get(1), call.shape(1).and_then(<[Size]>::first));
        }
        "Squeeze" => {
            let one = Size::from(1);
            for axis in call.axes(1, x.len()).unwrap_or_default() {
                found.equal(x.get(axis), Some(&one));
            }
        }
        "Reshape" => found.is_impossible = reshapes_no_elements(call, x),
        _ => {}
    }
    found
}

fn windows(call: &Call<'_>, x: &[Size], found: &mut Agreements) {
    if call.operator() == "Conv"
        && let Some(weight) = call.shape(1)
        && let Some(channels) = weight.get(1)
    {
        let groups = Size::from(call.int("group").unwrap_or(1));
        found.equal(x.get(1), channels.mul(&groups).as_ref());
    }
    let image = x.get(2..).unwrap_or_default();
    let is_known = image.iter().all(|size| call.default_of(size).is_some());
    found.is_impossible = is_known && window_shape(call).is_none();
    found.left_out = left_out(call);
}

/// Whether the elements do not fill the new shape at the defaults of the params.
fn reshapes_no_elements(call: &Call<'_>, x: &[Size]) -> bool {
    let Some(wanted) = call.sizes(1) else {
        return false;
    };
    let all = elements(x).and_then(|all| call.default_of(&all));
    let mut is_open = false;
    let mut known = Some(1_i64);
    for (at, size) in wanted.iter().enumerate() {
        let size = match size.as_int() {
            Some(-1) => {
                is_open = true;
                continue;
            }
            Some(0) if call.int("allowzero") != Some(1) => x.get(at).unwrap_or(size),
            _ => size,
        };
        let size = call.default_of(size);
        known = known.and_then(|known| known.checked_mul(size?));
    }
    match (all, known) {
        (Some(all), Some(known)) if is_open => all.checked_rem(known) != Some(0),
        (Some(all), Some(known)) => all != known,
        _ => false,
    }
}
