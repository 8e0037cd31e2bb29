//! The value of one op.

use super::array::Array;
use super::elementwise::elementwise;
use super::layout::layout;
use super::opaque::opaque;
use super::products::product;
use super::rows::reduction;
use super::task::{Task, unfit};
use crate::evaluation_error::EvaluationError;
use fuseline_core::model::functions::Function;
use fuseline_core::model::op::Op;
use fuseline_core::model::op_type::OpType;

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

/// The function of an op. A matmul without one multiplies its operands without transposing them,
/// and a reshape keeps the order of the elements.
///
/// # Errors
/// If the op has a bare type, which may compute any function.
pub fn function_of(op: &Op) -> Result<Function, EvaluationError> {
    Ok(match (op.function, op.op_type) {
        (Some(function), _) => function,
        (None, OpType::Matmul) => Function::Matmul,
        (None, OpType::Reshape) => Function::Reshape,
        (None, OpType::Opaque) => Function::Opaque,
        (None, op_type) => return Err(EvaluationError::BareType(op_type)),
    })
}
