//! A group of threads for each row, whose reductions follow each other.

use super::places::{Places, follow};
use super::{Output, Scheduled, reduces_rows};
use crate::core::kernel_code::define::Definitions;
use crate::core::kernel_code::expression::{Dependence, Expr, ExprId, Expressions, bit};
use crate::core::kernel_code::index::{IndexId, VariableId};
use crate::core::kernel_code::statements::Known;
use crate::core::kernel_code::{Grid, SharedId, Statement};
use crate::core::model::ids::{IdVec, OpId, TensorId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// Which elements are a row: those of a shape that differ in these dimensions.
struct Domain {
    shape: Vec<u64>,
    reduced: Vec<usize>,
}

/// The schedule; `None` for a kernel without reductions, and for one whose elements are not all in the same rows.
///
/// # Errors
/// Why an op has no definition.
pub(super) fn schedule(
    mut definitions: Definitions<'_>,
    ops: &[OpId],
    written: &[TensorId],
) -> Result<Option<Scheduled>, String> {
    let Some((anchor, tensor)) = anchor(&definitions, ops) else {
        return Ok(None);
    };
    let Some(domain) = domain(&definitions, anchor, tensor) else {
        return Ok(None);
    };
    let is_reduced = |place: usize| domain.reduced.contains(&place);
    let sizes = |is_along: bool| {
        let places = (0..domain.shape.len()).filter(|&place| is_reduced(place) == is_along);
        places
            .map(|place| domain.shape[place])
            .collect::<Vec<u64>>()
    };
    let (kept, reduced) = (sizes(false), sizes(true));
    let (Some(rows), Some(columns)) = (element_count(&kept), element_count(&reduced)) else {
        return Ok(None);
    };
    let expressions = &mut definitions.expressions;
    let row = expressions.variable("row", rows);
    let column = expressions.variable("column", columns);
    let [of_row, of_column] = [row, column].map(|variable| expressions.place(variable));
    let mut outer = expressions.unravel(&kept, of_row).into_iter();
    let mut inner = expressions.unravel(&reduced, of_column).into_iter();
    let none = expressions.constant(0);
    let at: Vec<_> = (0..domain.shape.len())
        .map(|place| {
            let own = if is_reduced(place) {
                inner.next()
            } else {
                outer.next()
            };
            own.unwrap_or(none)
        })
        .collect();
    let linear = expressions.ravel(&domain.shape, &at);
    let mut places = Places::default();
    if let Some(shape) = known_shape(&definitions, tensor) {
        let at = definitions.expressions.unravel(&shape, linear);
        places.insert(tensor, at);
    }
    follow(&mut definitions, ops, &mut places);
    let mut outputs = Vec::with_capacity(written.len());
    for &tensor in written {
        let shape = definitions.type_of(tensor)?.0;
        let elements = element_count(&shape);
        let at = match places.get(&tensor) {
            Some(at) => at.clone(),
            None if elements == rows.checked_mul(columns) => {
                definitions.expressions.unravel(&shape, linear)
            }
            None if elements == Some(rows) => definitions.expressions.unravel(&shape, of_row),
            None => return Ok(None),
        };
        outputs.push(Output {
            tensor,
            place: definitions.expressions.ravel(&shape, &at),
            value: definitions.value(tensor, &at, None)?,
            only_if: None,
        });
    }
    Ok(Stages::new(definitions.expressions, row, column).scheduled(outputs))
}

/// The op whose rows the kernel goes over, and the tensor that has them: the product behind a reduction, as in attention, or
/// else the widest reduction.
fn anchor(definitions: &Definitions<'_>, ops: &[OpId]) -> Option<(OpId, TensorId)> {
    let graph = definitions.graph;
    let is_rows = |op: OpId| {
        reduces_rows(&graph.ops[op]) || graph.ops[op].function.as_deref() == Some("sdpa")
    };
    let first = ops.iter().copied().find(|&op| is_rows(op))?;
    let mut behind = ops.iter().rev().copied();
    let product = behind.find(|&op| graph.ops[op].op_type == OpType::Matmul && op > first);
    if let Some(product) = product {
        return Some((product, graph.output[product]));
    }
    if !reduces_rows(&graph.ops[first]) {
        return Some((first, graph.output[first]));
    }
    let width = |&op: &OpId| {
        let &x = graph.inputs[op].first()?;
        let out = element_count(&graph.ops[op].shape)?;
        Some((element_count(&known_shape(definitions, x)?)?, out))
    };
    let reductions = ops
        .iter()
        .copied()
        .filter(|&op| reduces_rows(&graph.ops[op]));
    let widest = reductions.max_by_key(|op| width(op).map_or(0, |(all, _)| all))?;
    Some((widest, *graph.inputs[widest].first()?))
}

fn known_shape(definitions: &Definitions<'_>, tensor: TensorId) -> Option<Vec<u64>> {
    Some(definitions.type_of(tensor).ok()?.0)
}

fn domain(definitions: &Definitions<'_>, anchor: OpId, tensor: TensorId) -> Option<Domain> {
    let op = &definitions.graph.ops[anchor];
    let shape = known_shape(definitions, tensor)?;
    let last = shape.len().checked_sub(1)?;
    if !reduces_rows(op) {
        return Some(Domain {
            shape,
            reduced: vec![last],
        });
    }
    let groups = op.indexing.as_ref().map_or(0, |own| own.groups);
    if groups > 0 {
        // The channels of a group stand one behind the other.
        let rows = shape.first()?.checked_mul(groups)?;
        let width = element_count(&shape)?.checked_div(rows)?;
        return Some(Domain {
            shape: vec![rows, width],
            reduced: vec![1],
        });
    }
    let reduced: Vec<usize> = match op.axes {
        0 => vec![last],
        bits => (0..32).filter(|axis| bits >> axis & 1 == 1).collect(),
    };
    (reduced.iter().all(|&axis| axis <= last)).then_some(Domain { shape, reduced })
}

/// The stages of a row. Each reduction is one, and so is what threads share.
struct Stages {
    expressions: Expressions,
    row: VariableId,
    /// The variables of columns, by their extents: what is kept for the same columns is kept by the same threads.
    columns: Vec<VariableId>,
    shared: IdVec<SharedId, u64>,
    replaced: HashMap<ExprId, ExprId, FxBuildHasher>,
    stages: Vec<Stage>,
}

enum Stage {
    Reduce {
        result: ExprId,
        column: VariableId,
    },
    Share {
        shared: SharedId,
        value: ExprId,
        column: VariableId,
        place: IndexId,
    },
}

impl Stages {
    fn new(expressions: Expressions, row: VariableId, column: VariableId) -> Self {
        Self {
            expressions,
            row,
            columns: vec![column],
            shared: IdVec::new(),
            replaced: HashMap::default(),
            stages: Vec::new(),
        }
    }

    fn column_of(&mut self, extent: u64) -> VariableId {
        let mut columns = self.columns.iter().copied();
        let known = columns.find(|&column| self.expressions.variables[column].extent == extent);
        known.unwrap_or_else(|| {
            let name = format!("column_{}", self.columns.len() + 1);
            let column = self.expressions.variable(&name, extent);
            self.columns.push(column);
            column
        })
    }

    fn scheduled(mut self, mut outputs: Vec<Output>) -> Option<Scheduled> {
        let of_row = bit(self.row);
        let roots: Vec<ExprId> = outputs.iter().map(|output| output.value).collect();
        for expr in self.expressions.needed(roots.iter().copied(), |_| false) {
            let Expr::Fold(fold, over, value) = self.expressions.exprs[expr] else {
                continue;
            };
            let is_of_row = self.expressions.depends_on(expr) & !of_row == 0;
            if is_of_row {
                let column = self.column_of(self.expressions.variables[over].extent);
                let value = self.moved_to(value, over, column);
                let result = self.expressions.fold(fold, column, value);
                self.stages.push(Stage::Reduce { result, column });
                self.replaced.insert(expr, result);
            } else {
                self.share_in(value, over);
            }
        }
        let values = self.expressions.rewritten(&roots, &self.replaced, None);
        for (output, value) in outputs.iter_mut().zip(values) {
            output.value = value;
        }
        self.written(&outputs)
    }

    /// A value along the row, at the column of a thread.
    fn moved_to(&mut self, value: ExprId, over: VariableId, column: VariableId) -> ExprId {
        let rewritten = self.expressions.rewritten(&[value], &self.replaced, None);
        let place = self.expressions.place(column);
        let moved =
            self.expressions
                .rewritten(&rewritten, &HashMap::default(), Some((over, place)));
        moved[0]
    }

    /// In a loop that each thread goes through, what is the same for all columns and holds a sum of its own is computed once
    /// for the row, by all threads: the probabilities of an attention.
    fn share_in(&mut self, value: ExprId, over: VariableId) {
        let scope = bit(self.row) | bit(over);
        let is_same = |expressions: &Expressions, expr| {
            let depends = expressions.depends_on(expr);
            depends & !scope == 0 && depends & bit(over) != 0
        };
        let is_new_fold = |expressions: &Expressions, replaced: &HashMap<_, _, _>, expr| {
            matches!(expressions.exprs[expr], Expr::Fold(..)) && !replaced.contains_key(&expr)
        };
        // The outermost ones that are the same for all columns.
        let outermost = self
            .expressions
            .needed([value], |expr| is_same(&self.expressions, expr));
        for expr in outermost {
            let holds_fold = is_same(&self.expressions, expr)
                && (self.expressions.needed([expr], |_| false).into_iter())
                    .any(|inner| is_new_fold(&self.expressions, &self.replaced, inner));
            if !holds_fold || self.replaced.contains_key(&expr) {
                continue;
            }
            let extent = self.expressions.variables[over].extent;
            let column = self.column_of(extent);
            let moved = self.moved_to(expr, over, column);
            let shared = SharedId::new(self.shared.len());
            self.shared.push(extent);
            let place = self.expressions.place(column);
            self.stages.push(Stage::Share {
                shared,
                value: moved,
                column,
                place,
            });
            let place = self.expressions.place(over);
            let read = self.expressions.expr(Expr::Shared(shared, place));
            self.replaced.insert(expr, read);
        }
    }

    /// The stages as statements, in their order, and what is written behind them.
    fn written(self, outputs: &[Output]) -> Option<Scheduled> {
        let of_row = bit(self.row);
        let mut body = Vec::new();
        let mut scopes = Scopes::new(&self.expressions, of_row);
        for stage in &self.stages {
            match *stage {
                Stage::Reduce { result, column } => {
                    let Expr::Fold(_, _, value) = self.expressions.exprs[result] else {
                        return None;
                    };
                    let own = scopes.columns(&mut body, column, [value]);
                    body.push(Statement::Reduce { result, body: own });
                    scopes.of_row.insert(result);
                }
                Stage::Share {
                    shared,
                    value,
                    column,
                    place,
                } => {
                    let mut own = scopes.columns(&mut body, column, [value]);
                    own.push(Statement::Share {
                        shared,
                        place,
                        value,
                    });
                    body.push(Statement::Columns { column, body: own });
                }
            }
        }
        let (once, each): (Vec<Output>, Vec<Output>) = outputs.iter().partition(|output| {
            let place = self.expressions.index_depends_on(output.place);
            (self.expressions.depends_on(output.value) | place) & !of_row == 0
        });
        for output in once {
            body.extend(scopes.row([output.value]));
            body.push(output.store());
        }
        if !each.is_empty() {
            let column = self.columns[0];
            let values: Vec<ExprId> = each.iter().map(|output| output.value).collect();
            let fits = values
                .iter()
                .all(|&value| self.expressions.depends_on(value) & !(of_row | bit(column)) == 0);
            if !fits {
                return None;
            }
            let mut own = scopes.columns(&mut body, column, values);
            own.extend(each.into_iter().map(Output::store));
            body.push(Statement::Columns { column, body: own });
        }
        let kept = scopes.kept;
        keep(&mut body, &kept);
        Some(Scheduled {
            grid: Grid::Rows(self.row),
            shared: self.shared,
            body,
            expressions: self.expressions,
        })
    }
}

/// What is known where, while stages are written.
struct Scopes<'a> {
    expressions: &'a Expressions,
    row: Dependence,
    of_row: Known,
    /// What earlier stages computed for the columns of a variable.
    of_columns: HashMap<VariableId, Known, FxBuildHasher>,
    /// What later stages take from earlier ones.
    kept: Known,
}

impl<'a> Scopes<'a> {
    fn new(expressions: &'a Expressions, row: Dependence) -> Self {
        Self {
            expressions,
            row,
            of_row: Known::default(),
            of_columns: HashMap::default(),
            kept: Known::default(),
        }
    }

    fn row(&mut self, roots: impl IntoIterator<Item = ExprId>) -> Vec<Statement> {
        self.expressions.block(roots, self.row, &mut self.of_row)
    }

    /// What computes these values for each column. What is the same for the whole row goes before.
    fn columns(
        &mut self,
        before: &mut Vec<Statement>,
        column: VariableId,
        roots: impl IntoIterator<Item = ExprId>,
    ) -> Vec<Statement> {
        let roots: Vec<ExprId> = roots.into_iter().collect();
        before.extend(self.row(roots.iter().copied()));
        let earlier = self.of_columns.entry(column).or_default();
        let mut known = self.of_row.clone();
        let mut body = Vec::new();
        let stop = |expr: ExprId| known.contains(&expr) || earlier.contains(&expr);
        let waiting = self.expressions.needed(roots.iter().copied(), stop);
        for expr in waiting {
            if earlier.contains(&expr) {
                body.push(Statement::Recall(expr));
                self.kept.insert(expr);
                known.insert(expr);
            }
        }
        body.extend(
            self.expressions
                .block(roots, self.row | bit(column), &mut known),
        );
        for statement in &body {
            if let Statement::Let(expr) | Statement::Loop { result: expr, .. } = statement
                && is_worth_keeping(self.expressions.exprs[*expr])
            {
                earlier.insert(*expr);
            }
        }
        body
    }
}

/// What follows from an index alone is as quickly computed again.
fn is_worth_keeping(expr: Expr) -> bool {
    !matches!(
        expr,
        Expr::Place(_) | Expr::Below(..) | Expr::Uniform(..) | Expr::Shared(..)
    )
}

/// Marks what waits for a later stage where it is computed.
fn keep(body: &mut [Statement], kept: &Known) {
    for statement in body {
        if let Statement::Columns { body, .. } | Statement::Reduce { body, .. } = statement {
            let mut place = 0;
            while let Some(statement) = body.get(place) {
                place += 1;
                if let Statement::Let(expr) | Statement::Loop { result: expr, .. } = statement
                    && kept.contains(expr)
                {
                    body.insert(place, Statement::Keep(*expr));
                    place += 1;
                }
            }
        }
    }
}
