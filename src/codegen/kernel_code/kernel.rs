//! The small form of a kernel, which a schedule gives and printers write.

use super::expression::{Expr, ExprId, Expressions, SharedId};
use super::index::{IndexId, VariableId};
use fuseline_core::model::dtype::DType;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};

/// A kernel, ready to be printed.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it computes.
    pub expressions: Expressions,
    /// The tensors that it reads, then those that it writes.
    pub arguments: Vec<Argument>,
    /// How the elements are distributed over threads.
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
    /// A group of threads for each tile of the rows and columns of a product, and each of a batch
    /// of them.
    Tiles {
        /// Which product of the batch.
        batch: VariableId,
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
        column: VariableId,
        /// What is done for each.
        body: Vec<Statement>,
    },
    /// The threads of a row go over its columns, and what they compute is folded to one value that
    /// all of them have.
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
        place: IndexId,
        value: ExprId,
    },
    /// Writes an element of a tensor. Outside of columns a row writes it once.
    Store {
        tensor: TensorId,
        /// The place in row-major order.
        place: IndexId,
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

/// A tensor that each op of the kernel alone would store or load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The value that is an element of it. It is computed, or loaded, by a statement.
    pub value: ExprId,
    pub tensor: TensorId,
    /// Its element type.
    pub dtype: DType,
    /// The place of the element in row-major order.
    pub place: IndexId,
    /// The op that computes it would store it, and the kernel does not.
    pub is_store_removed: bool,
    /// The ops that would load it, and find its value in the kernel, with what each calls it:
    /// itself or a free view of it.
    pub readers: Vec<(OpId, TensorId)>,
}

/// Goes over all statements, in their order.
pub(super) fn visit<'a>(statements: &'a [Statement], each: &mut impl FnMut(&'a Statement)) {
    for statement in statements {
        each(statement);
        match statement {
            Statement::Loop { body, .. }
            | Statement::Columns { body, .. }
            | Statement::Reduce { body, .. } => visit(body, each),
            Statement::Products {
                left_body, rights, ..
            } => {
                visit(left_body, each);
                for right in rights {
                    visit(&right.body, each);
                }
            }
            _ => {}
        }
    }
}
