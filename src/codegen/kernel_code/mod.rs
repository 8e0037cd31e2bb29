//! Kernels as code: what a GPU would run for each kernel of a partition, printed in several languages.
//!
//! Each op is defined as an expression of elements of its inputs ([`define`]), in which what the kernel computes itself takes
//! the place of its element. A schedule then says which threads compute what ([`schedule`]), and gives a small form of three
//! kinds: a thread for each element, a group of threads for each row with its reductions, and a group for each tile of a
//! matrix product with what follows it. Printers write that form and decide nothing.

mod define;
mod error;
mod expression;
mod index;
mod print;
mod removed;
mod schedule;
mod statements;

pub use error::CodegenError;
pub use expression::{Binary, Expr, ExprId, Expressions, Fold, SharedId, Unary};
pub use index::{Atom, Index, IndexId, Variable, VariableId};
pub use print::{
    Access, Code, CodeLanguage, LONGEST_SHARED_ROW, Line, Naming, Shader, TILE, cuda, triton, wgsl,
};
pub use removed::Removed;

use crate::interpret::{Call, calls, ops_of, stored};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
use fuseline_core::model::ids::{IdVec, KernelId, OpId, TensorId};
use fuseline_core::model::op::Op;
use fuseline_core::model::partition::Partition;
use fuseline_core::model::program::Program;

/// A kernel, ready to be printed.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it computes.
    pub expressions: Expressions,
    /// The tensors that it reads, then those that it writes.
    pub arguments: Vec<Argument>,
    /// Who computes what.
    pub grid: Grid,
    /// Rows that the threads of a row share: the number of values of each.
    pub shared: IdVec<SharedId, u64>,
    /// What each thread, or each group of threads, does.
    pub body: Vec<Statement>,
    /// What it does not move because its ops are one kernel.
    pub removed: Vec<Removed>,
}

/// The parts of a kernel that computes tiles of products.
pub(crate) struct Tile<'a> {
    /// What they are summed over.
    pub(crate) over: VariableId,
    /// The element of the left operand, and what computes it.
    pub(crate) left: (ExprId, &'a [Statement]),
    /// The right operands, and what each gives.
    pub(crate) rights: &'a [RightOperand],
    /// What follows for each element of the tile.
    pub(crate) rest: &'a [Statement],
}

impl Kernel {
    /// The products with which the steps of a tile begin.
    pub(crate) fn tile(&self) -> Option<Tile<'_>> {
        let (first, rest) = self.body.split_first()?;
        let Statement::Products {
            left,
            left_body,
            rights,
        } = first
        else {
            return None;
        };
        let Expr::Fold(_, over, _) = self.expressions.exprs[rights.first()?.result] else {
            return None;
        };
        Some(Tile {
            over,
            left: (*left, left_body),
            rights,
            rest,
        })
    }

    /// What the statement goes over, if it goes over the columns of a row.
    pub(crate) fn column_of(&self, statement: &Statement) -> Option<VariableId> {
        match *statement {
            Statement::Columns { column, .. } => Some(column),
            Statement::Reduce { result, .. } => match self.expressions.exprs[result] {
                Expr::Fold(_, column, _) => Some(column),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A tensor in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The tensor.
    pub tensor: TensorId,
    /// Its element type.
    pub dtype: DType,
    /// Its number of elements.
    pub elements: u64,
    /// Written, not read.
    pub is_written: bool,
}

/// How the work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// A thread for each element.
    Elements(VariableId),
    /// A group of threads for each row.
    Rows(VariableId),
    /// A group of threads for each tile of the rows and columns of a product, and each of a batch of them.
    Tiles {
        /// Which product of the batch.
        batch: VariableId,
        /// Its row.
        row: VariableId,
        /// Its column, or a pair of columns, of which each row of the tile has two products.
        column: VariableId,
    },
}

/// A step of a kernel. Expressions are written where they stand; what they read was written before.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Computes an expression.
    Let(ExprId),
    /// Folds over a variable, one value after the other.
    Loop {
        /// The fold.
        result: ExprId,
        /// Computes each value.
        body: Vec<Statement>,
    },
    /// The threads of a row go over its columns, each over its own.
    Columns {
        /// The column.
        column: VariableId,
        /// What is done for each.
        body: Vec<Statement>,
    },
    /// The threads of a row go over its columns, and what they compute is folded to one value that all of them have.
    Reduce {
        /// The fold, over the column.
        result: ExprId,
        /// Computes each value.
        body: Vec<Statement>,
    },
    /// Within columns: the value waits in the registers of its thread.
    Keep(ExprId),
    /// Within columns: takes the value that was kept.
    Recall(ExprId),
    /// Within columns: writes the value for all threads of the row.
    Share {
        /// Where to.
        shared: SharedId,
        /// At this place.
        place: IndexId,
        /// The value.
        value: ExprId,
    },
    /// Writes an element of a tensor. Outside of columns a row writes it once.
    Store {
        /// The tensor.
        tensor: TensorId,
        /// The place in row-major order.
        place: IndexId,
        /// The value.
        value: ExprId,
        /// When it is written, if not always.
        only_if: Option<ExprId>,
    },
    /// The products of a tile, of one left operand and some right ones, summed over K in steps.
    Products {
        /// The element of the left operand, of a row and K.
        left: ExprId,
        /// Computes it.
        left_body: Vec<Statement>,
        /// The right operands.
        rights: Vec<RightOperand>,
    },
}

/// The right operand of one of the products of a tile.
#[derive(Clone, Debug, PartialEq)]
pub struct RightOperand {
    /// The sum of its product with the left operand.
    pub result: ExprId,
    /// Its element, of K and a column.
    pub value: ExprId,
    /// Computes it.
    pub body: Vec<Statement>,
}

/// A kernel; `None` for one that runs nothing, of views alone, and for one that only computes again what another one writes;
/// or why it has no code.
pub type Coded = Result<Option<Kernel>, CodegenError>;

/// The kernels of a partition of a program's graph, each of whose ops comes from one of its statements. `views_are_free` is
/// the convention that a view is another way to read the same bytes.
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

/// The same for a graph whose ops have no attributes.
pub fn of_graph(
    graph: &Graph,
    partition: &Partition,
    views_are_free: bool,
) -> IdVec<KernelId, Coded> {
    let calls = graph.ops.iter().map(|_| Call::default()).collect();
    kernels(graph, &calls, partition, views_are_free)
}

/// The same with what each op says.
pub(crate) fn kernels(
    graph: &Graph,
    calls: &IdVec<OpId, Call>,
    partition: &Partition,
    views_are_free: bool,
) -> IdVec<KernelId, Coded> {
    let coder = Coder::new(graph, calls, partition, views_are_free);
    partition.kernels.ids().map(|id| coder.kernel(id)).collect()
}

/// One of these kernels. Linear in the program, beside the kernel itself.
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
    /// Ops that are another way to read the same bytes.
    is_view: IdVec<OpId, bool>,
    /// Kernels of views alone.
    runs_nothing: IdVec<KernelId, bool>,
}

impl<'a> Coder<'a> {
    fn new(
        graph: &'a Graph,
        calls: &'a IdVec<OpId, Call>,
        partition: &'a Partition,
        views_are_free: bool,
    ) -> Self {
        let view = |op: &Op| views_are_free && op.is_view();
        let is_view: IdVec<OpId, bool> = graph.ops.iter().map(view).collect();
        let only_views = |kernel| ops_of(partition, kernel).into_iter().all(|op| is_view[op]);
        Self {
            graph,
            calls,
            partition,
            is_stored: stored(graph, partition),
            runs_nothing: partition.kernels.ids().map(only_views).collect(),
            is_view,
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
        let written: Vec<TensorId> = written.collect();
        if self.runs_nothing[kernel] || written.is_empty() {
            return Ok(None);
        }
        let is_read_through = |op: OpId| self.runs_nothing[self.partition.kernel_of[op]];
        with_views(graph, &mut ops, is_read_through);
        let mut kernel = schedule::kernel(graph, self.calls, &ops, &written)?;
        kernel.removed = removed::removed(graph, &kernel, &ops, |op| self.is_view[op]);
        Ok(Some(kernel))
    }
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
