//! A thread for each element: for kernels without rows and for all that fit no other schedule, with
//! their sums as loops.

use super::{Output, Scheduled};
use crate::kernel_code::define::Definitions;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, bit};
use crate::kernel_code::kernel::Grid;
use crate::kernel_code::statements::Known;
use fuseline_core::model::ids::{IdVec, TensorId};
use fuseline_core::model::op::element_count;

pub(super) fn schedule(
    mut definitions: Definitions<'_>,
    written: &[TensorId],
) -> Result<Scheduled, CodegenError> {
    let mut sizes = Vec::with_capacity(written.len());
    for &tensor in written {
        let shape = definitions.type_of(tensor)?.0;
        let elements = element_count(&shape).ok_or(CodegenError::TensorTooLarge)?;
        sizes.push((tensor, shape, elements));
    }
    let largest = sizes.iter().map(|size| size.2).max().unwrap_or(1);
    let element = definitions.expressions.variable("element", largest);
    let mut outputs = Vec::with_capacity(written.len());
    for (tensor, shape, elements) in sizes {
        let place = definitions.expressions.place(element);
        let end = definitions
            .expressions
            .constant(i64::try_from(elements).map_err(|_| CodegenError::TensorTooLarge)?);
        // Tensors of several sizes: the last threads have no element of a smaller one.
        let only_if =
            (elements < largest).then(|| definitions.expressions.expr(Expr::Below(place, end)));
        let at = definitions.expressions.unravel(&shape, place);
        outputs.push(Output {
            tensor,
            place,
            value: definitions.value(tensor, &at, only_if)?,
            only_if,
        });
    }
    let expressions = definitions.expressions;
    let mut known = Known::default();
    let mut body = Vec::new();
    for output in outputs {
        let roots = [Some(output.value), output.only_if];
        body.extend(expressions.block(roots.into_iter().flatten(), bit(element), &mut known));
        body.push(output.store());
    }
    Ok(Scheduled {
        expressions,
        grid: Grid::Elements(element),
        shared: IdVec::new(),
        body,
    })
}
