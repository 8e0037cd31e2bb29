//! Compares the results of a GPU with the interpreter's exact numbers.

use super::job::{ProgramJob, elements};
use crate::interpret::{Checked, Reference};
use fuseline_core::TensorId;

/// An error is tolerated up to this share of the largest exact value. f32 keeps a share of 6e-8;
/// sums of a thousand numbers lose two digits of it, and WGSL allows `exp`, `tanh`, `sin` and the
/// like a few units in the last place, `sin` and `cos` 5e-4.
pub const TOLERANCE: f64 = 1e-4;
/// An error is also tolerated up to this many times the error that the interpreter itself makes in
/// f32, where the program loses digits by cancellation.
pub const TOLERATED_F32_ERRORS: f64 = 16.0;

/// A tensor that a GPU has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub tensor: TensorId,
    pub name: String,
    pub elements: usize,
    /// Whether it is a result of the program.
    pub is_result: bool,
    /// The largest error of an element; infinite if one is not finite where the exact one is, or is
    /// missing.
    pub max_error: f64,
    /// The largest error that is tolerated.
    pub tolerance: f64,
}

impl Output {
    /// Whether the largest error is tolerated.
    pub fn is_right(&self) -> bool {
        self.max_error <= self.tolerance
    }
}

/// All tensors that a run has written, in the order of the launches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    pub outputs: Vec<Output>,
}

impl Check {
    /// Compares what the buffers of [`ProgramJob::written`] hold. Linear in the elements.
    pub fn new(
        reference: &Reference,
        checked: &Checked,
        job: &ProgramJob,
        read: &[Vec<u8>],
    ) -> Self {
        let results = job.results(reference);
        let written = job.written(reference).into_iter().zip(read);
        let outputs = written.filter_map(|((_, tensor), bytes)| {
            let exact = checked.exact[tensor].as_ref()?;
            let (_, dtype) = reference.type_of(tensor).ok()?;
            let f32_error = checked.f32_error[tensor].unwrap_or(0.0);
            let (max_error, largest) = compare(&elements(bytes, dtype), exact);
            Some(Output {
                tensor,
                name: reference.graph.tensor_name(tensor).to_owned(),
                elements: exact.len(),
                is_result: results[tensor],
                max_error,
                tolerance: (TOLERANCE * largest).max(TOLERATED_F32_ERRORS * f32_error),
            })
        });
        Self {
            outputs: outputs.collect(),
        }
    }

    /// The first tensor that is wrong; tensors that depend on it are wrong, too.
    pub fn first_wrong(&self) -> Option<&Output> {
        self.outputs.iter().find(|output| !output.is_right())
    }
}

/// The largest error of an element, and the largest finite exact value. Elements that are not
/// finite have to be so in both, and infinite ones with the same sign.
pub fn compare(values: &[f64], exact: &[f64]) -> (f64, f64) {
    let mut max_error: f64 = if values.len() < exact.len() {
        f64::INFINITY
    } else {
        0.0
    };
    let mut largest: f64 = 0.0;
    for (&value, &exact) in values.iter().zip(exact) {
        let error = if exact.is_finite() {
            largest = largest.max(exact.abs());
            (value - exact).abs()
        } else if exact.is_nan() == value.is_nan()
            && (exact.is_nan() || (exact > 0.0) == (value > 0.0))
        {
            // The same sign is enough, because shaders write the largest f32 for infinity.
            0.0
        } else {
            f64::INFINITY
        };
        max_error = max_error.max(if error.is_nan() { f64::INFINITY } else { error });
    }
    (max_error, largest)
}
