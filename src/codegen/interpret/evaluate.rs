//! The value of one op.

use super::arithmetic::Arithmetic;
use super::array::{Array, count};
use super::call::Call;
use super::elementwise::elementwise;
use super::error::EvaluationError;
use super::layout::layout;
use super::opaque::opaque;
use super::products::product;
use super::rows::reduction;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::Op;
use fuseline_core::model::op_type::OpType;

/// An op with all that its value depends on beside its inputs.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) op: &'a Op,
    pub(super) call: &'a Call,
    /// The name of its function.
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
    /// All its inputs are the same tensor.
    pub(super) reads_one_tensor: bool,
}

impl Task<'_> {
    pub(super) fn elements(&self) -> usize {
        count(self.shape)
    }
}

/// The elements of the output, before they are rounded to its element type.
///
/// # Errors
/// Why the op has no value.
pub(super) fn evaluate(task: &Task<'_>, inputs: &[Array<'_>]) -> Result<Vec<f64>, EvaluationError> {
    let function = function_of(task.op)?;
    let values = match function.row().op_type {
        OpType::Elementwise => elementwise(task, inputs),
        OpType::Reduction => reduction(task, inputs),
        OpType::Matmul => product(task, inputs),
        OpType::Reshape => layout(task, inputs),
        OpType::Opaque => opaque(task, inputs),
    }?;
    if values.len() == task.elements() {
        Ok(values)
    } else {
        Err(unfit(task, inputs))
    }
}

/// Why an operator that is not known has no value.
pub fn unknown_operator(op: &Op) -> EvaluationError {
    let named = op.unknown.as_ref().and_then(|own| own.name.clone());
    EvaluationError::UnknownOperator(named)
}

/// The function of an op. A matmul without one multiplies its operands as they are, and a reshape keeps the order.
///
/// # Errors
/// What an op of a bare type computes is not known.
pub fn function_of(op: &Op) -> Result<Function, EvaluationError> {
    Ok(match (op.function, op.op_type) {
        (Some(function), _) => function,
        (None, OpType::Matmul) => Function::Matmul,
        (None, OpType::Reshape) => Function::Reshape,
        (None, OpType::Opaque) => Function::Opaque,
        (None, op_type) => return Err(EvaluationError::BareType(op_type)),
    })
}

/// The reason of an op whose inputs do not have the shapes that its function takes.
pub(super) fn unfit(task: &Task<'_>, inputs: &[Array<'_>]) -> EvaluationError {
    EvaluationError::Shapes {
        function: task.function,
        inputs: inputs.iter().map(|input| input.shape.to_vec()).collect(),
        output: task.shape.to_vec(),
    }
}
