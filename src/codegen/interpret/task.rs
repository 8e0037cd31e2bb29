//! An op to be evaluated, and why it has no value.

use super::arithmetic::Arithmetic;
use super::array::{Array, count};
use crate::call::Call;
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::Op;

/// An op with all that its value depends on beside its inputs.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) op: &'a Op,
    pub(super) call: &'a Call,
    pub(super) function: Function,
    /// Shape of the output.
    pub(super) shape: &'a [usize],
    pub(super) arithmetic: Arithmetic,
    /// For functions that draw random numbers.
    pub(super) seed: u64,
    /// The name of the tensor that it writes.
    pub(super) output: &'a str,
    /// Element types of the tensors that it reads.
    pub(super) input_dtypes: &'a [DType],
    /// Whether all inputs are the same tensor.
    pub(super) reads_one_tensor: bool,
}

impl Task<'_> {
    pub(super) fn elements(&self) -> usize {
        count(self.shape)
    }
}

/// The error of an op whose inputs do not have the shapes that its function takes.
pub(super) fn unfit(task: &Task<'_>, inputs: &[Array<'_>]) -> EvaluationError {
    EvaluationError::Shapes {
        function: task.function,
        inputs: inputs.iter().map(|input| input.shape.to_vec()).collect(),
        output: task.shape.to_vec(),
    }
}

/// The error of an op whose operator is unknown.
pub fn unknown_operator(op: &Op) -> EvaluationError {
    let named = op.unknown.as_ref().and_then(|own| own.name.clone());
    EvaluationError::UnknownOperator(named)
}
