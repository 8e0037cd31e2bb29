//! Optimizers of training: one kernel updates all tensors of a group and their states.

use crate::onnx::call::Call;
use crate::shapes::{Sizes, elements};
use crate::size::Size;

/// The inputs before the tensors: the learning rate and the number of updates.
const LEADING: usize = 2;

/// An update of tensors.
struct Update {
    /// How many inputs a tensor has: itself, its gradient and its states.
    inputs: usize,
    /// FLOPs for each element.
    flops: i64,
}

fn update(call: &Call<'_>) -> Option<Update> {
    let is_set = |name: &str| call.float(name).is_some_and(|factor| factor != 0.0);
    // An addition and a multiplication for a norm of the tensor that the loss contains.
    let norm = 2 * i64::from(is_set("norm_coefficient"));
    let (inputs, flops) = match call.operator() {
        // The momentum: two products and a sum. The step: a product and a difference.
        "Momentum" if call.word("mode") == Some("nesterov") => (3, 7),
        "Momentum" => (3, 5),
        // A square is added to the sum of squares. The step: a root, two sums, a product and a
        // quotient.
        "Adagrad" => (3, 7),
        // Two moving averages of two products and a sum, one of a square. The step: as before.
        "Adam" => (4, 12 + i64::from(is_set("norm_coefficient_post"))),
        _ => return None,
    };
    Some(Update {
        inputs,
        flops: flops + norm,
    })
}

/// How many tensors it updates.
fn count(call: &Call<'_>, update: &Update) -> Option<usize> {
    let inputs = call.input_count().checked_sub(LEADING)?;
    (inputs > 0 && inputs % update.inputs == 0).then_some(inputs / update.inputs)
}

/// The shape of an output: the new tensors come before their new states.
pub(super) fn shape(call: &Call<'_>) -> Option<Sizes> {
    let tensor = call
        .output_index
        .checked_rem(count(call, &update(call)?)?)?;
    Some(call.shape(LEADING + tensor)?.to_vec())
}

/// The FLOPs for all tensors.
pub(super) fn flops(call: &Call<'_>) -> Option<Size> {
    let update = update(call)?;
    let mut tensors = (0..count(call, &update)?).map(|tensor| call.shape(LEADING + tensor));
    let all = tensors.try_fold(Size::from(0), |sum, shape| sum.add(&elements(shape?)?))?;
    all.mul(&Size::from(update.flops))
}
