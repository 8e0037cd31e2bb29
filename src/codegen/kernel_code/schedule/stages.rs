//! The stages of a row: each reduction, and each value that its threads share.

use super::{Output, Scheduled};
use crate::kernel_code::expression::SharedId;
use crate::kernel_code::expression::{Dependence, Expr, ExprId, Expressions, bit};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::kernel::{Grid, Statement};
use crate::kernel_code::statements::Known;
use fuseline_core::model::ids::IdVec;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The stages of a row, in the order in which they run.
pub(super) struct Stages {
    expressions: Expressions,
    row: VariableId,
    /// The variables of columns, one for each extent, so that the thread that keeps a value for a
    /// column also recalls it.
    columns: Vec<VariableId>,
    shared: IdVec<SharedId, u64>,
    replaced: HashMap<ExprId, ExprId, FxBuildHasher>,
    steps: Vec<Stage>,
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
    pub(super) fn new(expressions: Expressions, row: VariableId, column: VariableId) -> Self {
        Self {
            expressions,
            row,
            columns: vec![column],
            shared: IdVec::new(),
            replaced: HashMap::default(),
            steps: Vec::new(),
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

    pub(super) fn scheduled(mut self, mut outputs: Vec<Output>) -> Option<Scheduled> {
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
                // Two reductions may become the same one once both run over this column variable.
                let is_same = |step: &Stage| matches!(step, Stage::Reduce { result: own, .. } if *own == result);
                if !self.steps.iter().any(is_same) {
                    self.steps.push(Stage::Reduce { result, column });
                }
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

    /// Shares the sums of a loop that each thread runs. An expression that is the same for all
    /// columns and contains a sum of its own, such as a probability of attention, is computed once
    /// for the row, by all threads.
    fn share_in(&mut self, value: ExprId, over: VariableId) {
        let scope = bit(self.row) | bit(over);
        let is_same = |expressions: &Expressions, expr| {
            let depends = expressions.depends_on(expr);
            depends & !scope == 0 && depends & bit(over) != 0
        };
        let is_new_fold = |expressions: &Expressions, replaced: &HashMap<_, _, _>, expr| {
            matches!(expressions.exprs[expr], Expr::Fold(..)) && !replaced.contains_key(&expr)
        };
        // The outermost expressions that are the same for all columns.
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
            self.steps.push(Stage::Share {
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

    /// The stages as statements, in their order, and then the stores of the outputs.
    fn written(self, outputs: &[Output]) -> Option<Scheduled> {
        let of_row = bit(self.row);
        let mut body = Vec::new();
        let mut scopes = Scopes::new(&self.expressions, of_row);
        for stage in &self.steps {
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
            body.extend(scopes.row([Some(output.value), output.only_if].into_iter().flatten()));
            body.push(output.store());
        }
        if !each.is_empty() {
            let column = self.columns[0];
            let roots = each
                .iter()
                .flat_map(|output| [Some(output.value), output.only_if]);
            let values: Vec<ExprId> = roots.flatten().collect();
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

/// The values that are known in each scope while stages are written.
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

    /// The statements that compute these values for each column. Values that are the same for the
    /// whole row are computed before.
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

/// An expression of an index alone, or a read of shared memory, is as fast to evaluate again.
fn is_worth_keeping(expr: Expr) -> bool {
    !matches!(
        expr,
        Expr::Place(_) | Expr::Below(..) | Expr::Uniform(..) | Expr::Shared(..)
    )
}

/// Keeps the values that later stages recall, right after the statements that compute them.
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
