//! The intermediate representation of a kernel, which a schedule builds and printers write.

use super::expression::{Expr, ExprId, Expressions, SharedId};
use super::index::{IndexId, VariableId};
use super::row_values::RowValue;
use fuseline_core::model::dtype::DType;
use fuseline_core::model::graph::Graph;
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
    /// The number of values of each row in shared memory.
    pub shared: IdVec<SharedId, u64>,
    /// What each thread, or each group of threads, does.
    pub body: Vec<Statement>,
    /// The loads and stores that fusion removed.
    pub removed: Vec<Removed>,
}

/// The parts of a kernel that computes tiles of products.
pub(crate) struct Tile<'a> {
    /// The variable over which the products are summed.
    pub(crate) over: VariableId,
    /// The element of the left operand, and the statements that compute it.
    pub(crate) left: (ExprId, &'a [Statement]),
    /// The right operands, each with the result of its product.
    pub(crate) rights: &'a [RightOperand],
    /// The statements that follow for each element of the tile.
    pub(crate) rest: &'a [Statement],
}

impl Kernel {
    /// The parts of the tile, if the kernel computes tiles of products.
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

    /// The name of a tensor or of a row value of its arguments.
    pub fn tensor_name<'a>(&'a self, graph: &'a Graph, tensor: TensorId) -> &'a str {
        let mut row_values = (self.arguments.iter())
            .filter(|own| own.tensor == tensor)
            .filter_map(|own| own.row_value.as_ref());
        match row_values.next() {
            Some(row_value) => &row_value.name,
            None => graph.tensor_name(tensor),
        }
    }

    /// The variable of a statement that goes over the columns of a row; `None` for other
    /// statements.
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

/// A tensor in memory, or a value for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// A tensor of the graph; for a row value a number behind those of all tensors.
    pub tensor: TensorId,
    /// What it is if no tensor of the graph holds it.
    pub row_value: Option<RowValue>,
    pub dtype: DType,
    pub elements: u64,
    /// Whether the kernel writes it, else it reads it.
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
        /// The column of the product, or a pair of columns that a tile computes at once.
        column: VariableId,
    },
}

/// A step of a kernel. The operands of an expression are computed before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Computes an expression.
    Let(ExprId),
    /// Folds over a variable, one value after the other.
    Loop {
        /// The fold.
        result: ExprId,
        /// The statements that compute each value.
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
        /// The statements that compute each value.
        body: Vec<Statement>,
    },
    /// Within columns: keeps the value in the registers of its thread for a later step.
    Keep(ExprId),
    /// Within columns: takes the value that was kept.
    Recall(ExprId),
    /// Within columns: writes the value to shared memory for all threads of the row.
    Share {
        shared: SharedId,
        place: IndexId,
        value: ExprId,
    },
    /// Writes an element of a tensor. Outside of columns a row writes it once.
    Store {
        tensor: TensorId,
        /// The position in row-major order.
        place: IndexId,
        value: ExprId,
        /// The condition under which the element is written; `None` for always.
        only_if: Option<ExprId>,
    },
    /// The products of a tile, of one left operand and some right ones, summed over K in steps.
    Products {
        /// The element of the left operand, of a row and K.
        left: ExprId,
        /// The statements that compute this element.
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
    /// The statements that compute this element.
    pub body: Vec<Statement>,
}

/// A tensor whose load or store fusion removed: as separate kernels the ops would need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The value of the tensor's element, which a statement computes or loads.
    pub value: ExprId,
    pub tensor: TensorId,
    pub dtype: DType,
    /// The position of the element in row-major order.
    pub place: IndexId,
    /// Whether fusion removed the store of the op that computes the tensor.
    pub is_store_removed: bool,
    /// The ops whose loads fusion removed, each with the tensor that it names: this one or a free
    /// view of it.
    pub readers: Vec<(OpId, TensorId)>,
}

/// Visits all statements in order, including nested ones.
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
