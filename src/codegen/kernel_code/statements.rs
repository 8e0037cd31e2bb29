//! Turns expressions into statements. Each is computed once, in the outermost loop in which all
//! that it depends on is known.

use super::expression::{Dependence, Expr, ExprId, Expressions, bit};
use super::kernel::Statement;
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

pub(super) type Known = HashSet<ExprId, FxBuildHasher>;

impl Expressions {
    /// The statements that compute these expressions inside the loops of `scope`. Expressions in
    /// `known` are computed already, and the others are added to it.
    pub(super) fn block(
        &self,
        roots: impl IntoIterator<Item = ExprId>,
        scope: Dependence,
        known: &mut Known,
    ) -> Vec<Statement> {
        let mut statements = Vec::new();
        for expr in self.needed(roots, |expr| known.contains(&expr)) {
            // A number needs no statement, and what depends on the variable of an inner loop is
            // computed inside that loop.
            let is_outside = self.depends_on(expr) & !scope != 0;
            if is_outside || known.contains(&expr) || matches!(self.exprs[expr], Expr::Number(_)) {
                continue;
            }
            statements.push(match self.exprs[expr] {
                Expr::Fold(_, over, value) => {
                    let mut inside = known.clone();
                    Statement::Loop {
                        result: expr,
                        body: self.block([value], scope | bit(over), &mut inside),
                    }
                }
                _ => Statement::Let(expr),
            });
            known.insert(expr);
        }
        statements
    }
}
