//! Kernels as code: what a GPU would run for each kernel of a partition, printed in several
//! languages.
//!
//! Each op is defined as an expression of elements of its inputs ([`define`]), in which what the
//! kernel computes itself takes the place of its element. A schedule ([`schedule`]) then assigns
//! the work to threads and builds an intermediate representation of one of three kinds: a thread
//! for each element, a group of threads for each row with its reductions, or a group for each tile
//! of a matrix product with the ops that follow it. Printers write that representation and decide
//! nothing.

mod define;
mod error;
mod expression;
mod index;
mod kernel;
mod print;
mod removed;
mod row_values;
mod schedule;
mod statements;

pub use crate::calculator::{Binary, Fold, Unary};
pub use error::CodegenError;
pub use expression::{Expr, ExprId, Expressions, SharedId};
pub use index::{Atom, Index, IndexId, Variable, VariableId};
pub use kernel::{Argument, Grid, Kernel, Removed, RightOperand, Statement};
pub use print::{
    Access, Code, CodeLanguage, LONGEST_SHARED_ROW, Line, Naming, Shader, TILE, cuda, triton,
    triton_launch, wgsl,
};
pub use row_values::RowValue;

use crate::call::{Call, calls};
use crate::interpret::{ops_of, stored};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::element_size::ElementSize;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, KernelId, OpId, TensorId};
use fuseline_core::model::options::ReshapeCost;
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::Program;

/// A kernel, or why it has no code. `None` for a kernel that launches nothing, because it consists
/// of views or only recomputes what another kernel writes.
pub type Coded = Result<Option<Kernel>, CodegenError>;

/// The kernels of a partition of a program's graph, each of whose ops comes from one of its
/// statements. `views_are_free` is the convention that a view is another way to read the same
/// bytes.
pub fn of_program(
    program: &Program,
    graph: &Graph,
    statement_of_op: &IdVec<OpId, usize>,
    partition: &Partition,
    views_are_free: bool,
) -> IdVec<KernelId, Coded> {
    let calls = calls(program, statement_of_op);
    kernels(graph, &calls, partition, views_are_free)
}

/// The code of the kernels of a graph whose ops have no attributes.
pub fn of_graph(
    graph: &Graph,
    partition: &Partition,
    views_are_free: bool,
) -> IdVec<KernelId, Coded> {
    let calls = graph.ops.iter().map(Call::without_attributes).collect();
    kernels(graph, &calls, partition, views_are_free)
}

/// The code of the kernels of a graph, with the call of each op.
pub(crate) fn kernels(
    graph: &Graph,
    calls: &IdVec<OpId, Call>,
    partition: &Partition,
    views_are_free: bool,
) -> IdVec<KernelId, Coded> {
    let coder = Coder::new(graph, calls, partition, views_are_free);
    partition.kernels.ids().map(|id| coder.kernel(id)).collect()
}

/// The code of one kernel of a partition. Linear in the program, in addition to the kernel itself.
pub fn of_kernel(
    program: &Program,
    graph: &Graph,
    statement_of_op: &IdVec<OpId, usize>,
    partition: &Partition,
    views_are_free: bool,
    kernel: KernelId,
) -> Coded {
    let calls = calls(program, statement_of_op);
    Coder::new(graph, &calls, partition, views_are_free).kernel(kernel)
}

/// Makes the kernels of a partition.
struct Coder<'a> {
    graph: &'a Graph,
    calls: &'a IdVec<OpId, Call>,
    partition: &'a Partition,
    is_stored: IdVec<TensorId, bool>,
    /// Whether each op is a free view: another way to read the same bytes.
    is_view: IdVec<OpId, bool>,
    /// Whether each kernel consists of views alone, so that it launches nothing.
    runs_nothing: IdVec<KernelId, bool>,
    /// Whether another kernel reads the row values of each op.
    passes_row_values: IdVec<OpId, bool>,
}

impl<'a> Coder<'a> {
    fn new(
        graph: &'a Graph,
        calls: &'a IdVec<OpId, Call>,
        partition: &'a Partition,
        views_are_free: bool,
    ) -> Self {
        let reshape = if views_are_free {
            ReshapeCost::View
        } else {
            ReshapeCost::Copy
        };
        let mut is_free: IdVec<OpId, bool> = (graph.ops.ids())
            .map(|op| reshape.is_free_view(graph, op))
            .collect();
        for &op in &partition.views {
            is_free[op] = true;
        }
        for &op in &partition.copied_views {
            is_free[op] = false;
        }
        let only_views = |kernel| ops_of(partition, kernel).into_iter().all(|op| is_free[op]);
        Self {
            graph,
            calls,
            partition,
            is_stored: stored(graph, partition),
            runs_nothing: partition.kernels.ids().map(only_views).collect(),
            passes_row_values: passes_row_values(graph, partition),
            is_view: (is_free.iter_enumerated())
                .map(|(op, &is_free)| is_free && !graph.ops[op].in_place)
                .collect(),
        }
    }

    /// Polynomial in the ops of the kernel, of which there are few.
    fn kernel(&self, kernel: KernelId) -> Coded {
        let graph = self.graph;
        let Some(own) = self.partition.kernels.get(kernel) else {
            return Ok(None);
        };
        let mut ops = ops_of(self.partition, kernel);
        let outputs = own.iter().map(|&op| graph.output[op]);
        let written = outputs.filter(|&tensor| self.is_stored[tensor]);
        let row_values = own.iter().filter(|&&op| self.passes_row_values[op]);
        let row_values = row_values.flat_map(|&op| {
            let count = row_values::count(&graph.ops[op]);
            (0..count).map(move |which| row_values::tensor(graph, op, which))
        });
        let written: Vec<TensorId> = written.chain(row_values).collect();
        let again = self.partition.recomputed.get(kernel);
        let again = again.map_or(&[][..], |again| again);
        let reads_row_values: Vec<OpId> = (again.iter().copied())
            .filter(|&op| reads_row_values(graph, self.partition, (kernel, op), &ops))
            .collect();
        if self.runs_nothing[kernel] || written.is_empty() {
            return Ok(None);
        }
        let runs_nothing = |op: OpId| self.runs_nothing[self.partition.kernel_of[op]];
        let is_read_through = |op: OpId| self.is_view[op] && runs_nothing(op);
        with_views(graph, &mut ops, is_read_through);
        let mut kernel = schedule::kernel(graph, self.calls, (&ops, &reads_row_values), &written)?;
        for argument in &kernel.arguments {
            let name = || graph.tensor_name(argument.tensor).to_owned();
            if argument.dtype.size() == ElementSize::HALF_BYTE {
                return Err(CodegenError::FourBits(name()));
            }
            // Triton has no such type, and CUDA rounds to it upwards.
            if argument.dtype == DType::F8e8m0 {
                return Err(CodegenError::PowersOfTwo(name()));
            }
        }
        kernel.removed = removed::removed(graph, &kernel, &ops, |op| self.is_view[op]);
        Ok(Some(kernel))
    }
}

/// Whether a kernel of these ops, which ascend, reads the row values of one of them, which an
/// earlier kernel computes and has as its own. What no op of the kernel reads is a part of a
/// reduction that was split.
fn reads_row_values(
    graph: &Graph,
    partition: &Partition,
    (kernel, op): (KernelId, OpId),
    ops: &[OpId],
) -> bool {
    let mut readers = graph.successors[op].iter();
    let is_before = partition.kernel_of[op] < kernel;
    is_before
        && row_values::count(&graph.ops[op]) > 0
        && readers.any(|reader| ops.binary_search(reader).is_ok())
}

/// Whether another kernel reads the row values of each op.
fn passes_row_values(graph: &Graph, partition: &Partition) -> IdVec<OpId, bool> {
    let mut passes = IdVec::from_elem(false, graph.ops.len());
    for (kernel, again) in partition.recomputed.iter_enumerated() {
        if again
            .iter()
            .any(|&op| row_values::count(&graph.ops[op]) > 0)
        {
            let ops = ops_of(partition, kernel);
            for &op in again {
                passes[op] |= reads_row_values(graph, partition, (kernel, op), &ops);
            }
        }
    }
    passes
}

/// Adds the views that the ops read through, because no kernel writes them.
fn with_views(graph: &Graph, ops: &mut Vec<OpId>, is_read_through: impl Fn(OpId) -> bool) {
    let mut open = ops.clone();
    while let Some(op) = open.pop() {
        for &before in &graph.predecessors[op] {
            if is_read_through(before) && !ops.contains(&before) {
                ops.push(before);
                open.push(before);
            }
        }
    }
    ops.sort_unstable();
}
