//! Assigns the work of a kernel to threads: the kind of the kernel and its steps.

mod element_indices;
mod elements;
mod rows;
mod stages;
mod tiles;

use super::define::Definitions;
use super::expression::{Expr, ExprId, Expressions, MAX_VARIABLES, SharedId};
use super::index::IndexId;
use super::kernel::{Argument, Grid, Kernel, Statement, visit};
use super::row_values::row_value;
use crate::call::Call;
use crate::kernel_code::error::CodegenError;
use fuseline_core::model::functions::Function;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::op::{Op, element_count};
use fuseline_core::model::op_type::OpType;
use fuseline_core::model::options::MAX_OPS;

/// A value that the kernel writes.
#[derive(Clone, Copy, Debug)]
struct Output {
    tensor: TensorId,
    place: IndexId,
    value: ExprId,
    only_if: Option<ExprId>,
}

impl Output {
    fn store(self) -> Statement {
        Statement::Store {
            tensor: self.tensor,
            place: self.place,
            value: self.value,
            only_if: self.only_if,
        }
    }
}

/// The result of a schedule.
struct Scheduled {
    expressions: Expressions,
    grid: Grid,
    shared: IdVec<SharedId, u64>,
    body: Vec<Statement>,
}

/// A kernel of these ops, ascending, that writes these tensors. Of some of the ops it reads the row
/// values that another kernel has written.
///
/// # Errors
/// Why it has no code.
pub(super) fn kernel(
    graph: &Graph,
    calls: &IdVec<OpId, Call>,
    (ops, reads_row_values): (&[OpId], &[OpId]),
    written: &[TensorId],
) -> Result<Kernel, CodegenError> {
    if ops.len() > MAX_OPS {
        return Err(CodegenError::TooManyOps);
    }
    let definitions = || Definitions::new(graph, calls, ops, reads_row_values);
    let scheduled = match tiles::schedule(definitions, ops, written)? {
        Some(tiles) => tiles,
        None => match rows::schedule(definitions(), ops, written)? {
            Some(rows) => rows,
            None => elements::schedule(definitions(), written)?,
        },
    };
    if scheduled.expressions.variables.len() > MAX_VARIABLES {
        return Err(CodegenError::TooManyLoops);
    }
    let arguments = arguments(&definitions(), &scheduled)?;
    Ok(Kernel {
        expressions: scheduled.expressions,
        arguments,
        grid: scheduled.grid,
        shared: scheduled.shared,
        body: scheduled.body,
        removed: Vec::new(),
    })
}

/// The tensors that are read and written, each once, in the order of the steps.
fn arguments(
    definitions: &Definitions<'_>,
    scheduled: &Scheduled,
) -> Result<Vec<Argument>, CodegenError> {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    visit(&scheduled.body, &mut |statement| match statement {
        Statement::Let(expr) => {
            if let Expr::Read { tensor, .. } = scheduled.expressions.exprs[*expr]
                && !read.contains(&tensor)
            {
                read.push(tensor);
            }
        }
        Statement::Store { tensor, .. } if !written.contains(tensor) => written.push(*tensor),
        _ => {}
    });
    let reads = read.into_iter().map(|tensor| (tensor, false));
    let writes = written.into_iter().map(|tensor| (tensor, true));
    reads
        .chain(writes)
        .map(|(tensor, is_written)| {
            let (shape, dtype) = definitions.type_of(tensor)?;
            let elements = element_count(&shape).ok_or(CodegenError::TensorTooLarge)?;
            Ok(Argument {
                tensor,
                row_value: row_value(definitions.graph, tensor),
                dtype,
                elements,
                is_written,
            })
        })
        .collect()
}

/// Whether the op reduces rows; a pool reduces windows instead.
fn reduces_rows(op: &Op) -> bool {
    op.op_type == OpType::Reduction && !op.function.is_some_and(Function::is_pool)
}
