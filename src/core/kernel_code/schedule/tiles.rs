//! A group of threads for each tile of one matrix product, with what follows it.

use super::places::{Places, follow};
use super::{Output, Scheduled, reduces_rows};
use crate::core::kernel_code::define::Definitions;
use crate::core::kernel_code::expression::{Binary, Expr, ExprId, Fold, bit};
use crate::core::kernel_code::index::{IndexId, VariableId};
use crate::core::kernel_code::statements::Known;
use crate::core::kernel_code::{Grid, Statement};
use crate::core::model::ids::{IdVec, OpId, TensorId};
use crate::core::model::op::{Op, element_count};
use crate::core::model::op_type::OpType;

/// Batch, row and column of a product.
type Variables = [VariableId; 3];

/// The schedule; `None` for a kernel that is no single product with what follows it element by element.
///
/// # Errors
/// Why an op has no definition.
pub(super) fn schedule(
    mut definitions: Definitions<'_>,
    ops: &[OpId],
    written: &[TensorId],
) -> Result<Option<Scheduled>, String> {
    let graph = definitions.graph;
    let is_product = |&op: &OpId| graph.ops[op].op_type == OpType::Matmul;
    let mut products = ops.iter().copied().filter(is_product);
    let (Some(product), None) = (products.next(), products.next()) else {
        return Ok(None);
    };
    if ops.iter().any(|&op| reduces_rows(&graph.ops[op])) {
        return Ok(None);
    }
    let Some((variables, at)) = tile_places(&mut definitions, &graph.ops[product]) else {
        return Ok(None);
    };
    let mut places = Places::default();
    places.insert(graph.output[product], at);
    follow(&mut definitions, ops, &mut places);
    let mut outputs = Vec::with_capacity(written.len());
    for &tensor in written {
        let Some(at) = places.get(&tensor) else {
            return Ok(None);
        };
        let shape = definitions.type_of(tensor)?.0;
        outputs.push(Output {
            tensor,
            place: definitions.expressions.ravel(&shape, at),
            value: definitions.value(tensor, at, None)?,
            only_if: None,
        });
    }
    Ok(tiled(definitions, variables, &outputs))
}

/// The variables of a product, and the index of an element of its output.
fn tile_places(definitions: &mut Definitions<'_>, op: &Op) -> Option<(Variables, Vec<IndexId>)> {
    let expressions = &mut definitions.expressions;
    let mut variables = |batch: &[u64], rows: &[u64], columns: u64| {
        Some([
            expressions.variable("batch", element_count(batch)?),
            expressions.variable("row", element_count(rows)?),
            expressions.variable("column", columns),
        ])
    };
    match (op.function.as_deref(), &op.shape[..]) {
        (Some("conv1d" | "conv2d"), [batch, features, places @ ..]) => {
            let sizes = [&[*batch], places].concat();
            let variables = variables(&[], &sizes, *features)?;
            let [_, row, column] = variables.map(|variable| expressions.place(variable));
            let mut at = expressions.unravel(&sizes, row);
            at.insert(1, column);
            Some((variables, at))
        }
        (Some("linear"), [rows @ .., columns]) => {
            let variables = variables(&[], rows, *columns)?;
            let [_, row, column] = variables.map(|variable| expressions.place(variable));
            let mut at = expressions.unravel(rows, row);
            at.push(column);
            Some((variables, at))
        }
        (_, [batches @ .., rows, columns]) => {
            let variables = variables(batches, &[*rows], *columns)?;
            let [batch, row, column] = variables.map(|variable| expressions.place(variable));
            let mut at = expressions.unravel(batches, batch);
            at.extend([row, column]);
            Some((variables, at))
        }
        _ => None,
    }
}

fn tiled(
    definitions: Definitions<'_>,
    [batch, row, column]: Variables,
    outputs: &[Output],
) -> Option<Scheduled> {
    let expressions = definitions.expressions;
    let values = || outputs.iter().map(|output| output.value);
    let mut folds = expressions
        .needed(values(), |_| false)
        .into_iter()
        .filter(|&expr| matches!(expressions.exprs[expr], Expr::Fold(..)));
    let (Some(result), None) = (folds.next(), folds.next()) else {
        return None;
    };
    let Expr::Fold(Fold::Sum, over, product) = expressions.exprs[result] else {
        return None;
    };
    let Expr::Binary(Binary::Multiply, left, right) = expressions.exprs[product] else {
        return None;
    };
    let depends = |expr: ExprId, variable| expressions.depends_on(expr) & bit(variable) != 0;
    if depends(left, column) || depends(right, row) {
        return None;
    }
    let outer = bit(batch);
    let mut known = Known::default();
    let mut left_known = known.clone();
    let left_body = expressions.block([left], outer | bit(row) | bit(over), &mut left_known);
    let mut right_known = known.clone();
    let right_body = expressions.block([right], outer | bit(column) | bit(over), &mut right_known);
    let mut body = vec![Statement::Product {
        result,
        left,
        left_body,
        right,
        right_body,
    }];
    known.insert(result);
    let scope = outer | bit(row) | bit(column);
    for output in outputs {
        body.extend(expressions.block([output.value], scope, &mut known));
        body.push(output.store());
    }
    Some(Scheduled {
        expressions,
        grid: Grid::Tiles { batch, row, column },
        shared: IdVec::new(),
        body,
    })
}
