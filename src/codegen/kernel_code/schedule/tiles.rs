//! A group of threads for each tile of one matrix product, with the ops that follow it.

use super::element_indices::{ElementIndex, ElementIndices, follow};
use super::{Output, Scheduled, reduces_rows};
use crate::calculator::{Binary, Fold};
use crate::kernel_code::define::Definitions;
use crate::kernel_code::error::CodegenError;
use crate::kernel_code::expression::{Expr, ExprId, Expressions, bit};
use crate::kernel_code::index::{IndexId, VariableId};
use crate::kernel_code::kernel::{Grid, RightOperand, Statement};
use crate::kernel_code::statements::Known;
use fuseline_core::model::functions::Function;
use fuseline_core::model::ids::{IdVec, OpId, TensorId};
use fuseline_core::model::op::{Op, element_count};
use fuseline_core::model::op_type::OpType;

/// Batch, row and column of a product.
type Variables = [VariableId; 3];

/// The schedule; `None` unless the kernel is one product followed by elementwise ops. If these read
/// the product at two columns, as rotary embeddings do, a tile has pairs of columns, and both are
/// computed at once.
///
/// # Errors
/// Why an op has no definition.
pub(super) fn schedule<'a>(
    definitions: impl Fn() -> Definitions<'a>,
    ops: &[OpId],
    written: &[TensorId],
) -> Result<Option<Scheduled>, CodegenError> {
    let first = definitions();
    let graph = first.graph;
    let is_product = |&op: &OpId| graph.ops[op].op_type == OpType::Matmul;
    let mut products = ops.iter().copied().filter(is_product);
    let (Some(product), None) = (products.next(), products.next()) else {
        return Ok(None);
    };
    if ops.iter().any(|&op| reduces_rows(&graph.ops[op])) {
        return Ok(None);
    }
    if let Some(scheduled) = with_columns(first, ops, written, product, None)? {
        return Ok(Some(scheduled));
    }
    let mut tried = Vec::new();
    for &op in ops {
        let Some(distance) = distance(&definitions(), op) else {
            continue;
        };
        if tried.contains(&distance) {
            continue;
        }
        tried.push(distance);
        let scheduled = with_columns(definitions(), ops, written, product, Some(distance))?;
        if scheduled.is_some() {
            return Ok(scheduled);
        }
    }
    Ok(None)
}

/// The distance of the columns that an op joins or splits.
fn distance(definitions: &Definitions<'_>, op: OpId) -> Option<u64> {
    let definition = &definitions.graph.ops[op];
    match definition.function? {
        Function::Rotary => Some(definition.shape.last()? / 2),
        Function::Slice | Function::Split => {
            let indexing = definition.indexing.as_ref()?;
            let &input = definitions.graph.inputs[op].first()?;
            let shape = definitions.type_of(input).ok()?.0;
            let behind = element_count(shape.get(indexing.axis + 1..)?)?;
            indexing.start.checked_mul(behind)
        }
        _ => None,
    }
}

/// The schedule whose tiles have columns of the product, or pairs of columns at this distance.
fn with_columns(
    mut definitions: Definitions<'_>,
    ops: &[OpId],
    written: &[TensorId],
    product: OpId,
    distance: Option<u64>,
) -> Result<Option<Scheduled>, CodegenError> {
    let graph = definitions.graph;
    let Some((variables, elements)) = tile_places(&mut definitions, &graph.ops[product], distance)
    else {
        return Ok(None);
    };
    let columns = elements.len();
    let mut outputs = Vec::with_capacity(columns * written.len());
    for at in elements {
        let mut indices = ElementIndices::default();
        indices.insert(graph.output[product], ElementIndex { at, only_if: None });
        follow(&mut definitions, ops, &mut indices);
        for &tensor in written {
            let Some(ElementIndex { at, only_if }) = indices.get(&tensor) else {
                return Ok(None);
            };
            if only_if.is_some_and(|only_if| is_never(&definitions, only_if)) {
                continue;
            }
            let shape = definitions.type_of(tensor)?.0;
            outputs.push(Output {
                tensor,
                place: definitions.expressions.ravel(&shape, at),
                value: definitions.value(tensor, at, *only_if)?,
                only_if: *only_if,
            });
        }
    }
    Ok(tiled(definitions, variables, columns, &outputs))
}

fn is_never(definitions: &Definitions<'_>, condition: ExprId) -> bool {
    definitions.expressions.exprs[condition] == Expr::Number(0.0_f64.to_bits())
}

/// The variables of a product, and the index of an element of its output for the column, or for
/// both of a pair.
fn tile_places(
    definitions: &mut Definitions<'_>,
    op: &Op,
    distance: Option<u64>,
) -> Option<(Variables, Vec<Vec<IndexId>>)> {
    let expressions = &mut definitions.expressions;
    let (batches, rows, &columns) = match (op.function, &op.shape[..]) {
        (Some(Function::Conv1d | Function::Conv2d), [batch, features, places @ ..]) => {
            (Vec::new(), [&[*batch], places].concat(), features)
        }
        (Some(Function::Linear), [rows @ .., columns]) => (Vec::new(), rows.to_vec(), columns),
        (_, [batches @ .., rows, columns]) => (batches.to_vec(), vec![*rows], columns),
        _ => return None,
    };
    let batch = expressions.variable("batch", element_count(&batches)?);
    let row = expressions.variable("row", element_count(&rows)?);
    let (column, places) = match distance {
        None => {
            let column = expressions.variable("column", columns);
            (column, vec![expressions.place(column)])
        }
        Some(distance) => {
            let (column, pair) = pair(expressions, columns, distance)?;
            (column, pair.to_vec())
        }
    };
    let [of_batch, of_row] = [batch, row].map(|variable| expressions.place(variable));
    let mut outer = expressions.unravel(&batches, of_batch);
    outer.extend(expressions.unravel(&rows, of_row));
    let is_convolution = matches!(op.function, Some(Function::Conv1d | Function::Conv2d));
    let place = if is_convolution { 1 } else { outer.len() };
    let elements = places.into_iter().map(|column| {
        let mut at = outer.clone();
        at.insert(place, column);
        at
    });
    Some(([batch, row, column], elements.collect()))
}

/// The variable of pairs of columns at a distance, and the columns of a pair. Each column is in one
/// of them.
fn pair(
    expressions: &mut Expressions,
    columns: u64,
    distance: u64,
) -> Option<(VariableId, [IndexId; 2])> {
    let both = distance.checked_mul(2).filter(|&both| both > 0)?;
    if !columns.is_multiple_of(both) {
        return None;
    }
    let variable = expressions.variable("pair", columns / 2);
    let pair = expressions.place(variable);
    let block = expressions.quotient(pair, distance);
    let within = expressions.remainder(pair, distance);
    let start = expressions.times(block, both);
    let first = expressions.plus(start, within, 1);
    let second = expressions.shifted(first, i64::try_from(distance).ok()?);
    Some((variable, [first, second]))
}

fn tiled(
    definitions: Definitions<'_>,
    [batch, row, column]: Variables,
    most_products: usize,
    outputs: &[Output],
) -> Option<Scheduled> {
    let expressions = definitions.expressions;
    let values = outputs.iter().map(|output| output.value);
    let folds: Vec<ExprId> = (expressions.needed(values, |_| false).into_iter())
        .filter(|&expr| matches!(expressions.exprs[expr], Expr::Fold(..)))
        .collect();
    if folds.len() > most_products {
        return None;
    }
    let mut operands = Vec::with_capacity(folds.len());
    for &result in &folds {
        let Expr::Fold(Fold::Sum, over, product) = expressions.exprs[result] else {
            return None;
        };
        let Expr::Binary(Binary::Multiply, left, right) = expressions.exprs[product] else {
            return None;
        };
        operands.push((result, over, left, right));
    }
    let &(_, over, left, _) = operands.first()?;
    let depends = |expr: ExprId, variable| expressions.depends_on(expr) & bit(variable) != 0;
    let fits = |&(_, own_over, own_left, right): &(ExprId, VariableId, ExprId, ExprId)| {
        own_over == over && own_left == left && !depends(right, row)
    };
    if depends(left, column) || !operands.iter().all(fits) {
        return None;
    }
    let outer = bit(batch);
    let block = |value, side| {
        expressions.block(
            [value],
            outer | bit(side) | bit(over),
            &mut Known::default(),
        )
    };
    let rights = operands.iter().map(|&(result, _, _, value)| RightOperand {
        result,
        value,
        body: block(value, column),
    });
    let mut body = vec![Statement::Products {
        left,
        left_body: block(left, row),
        rights: rights.collect(),
    }];
    let mut known: Known = folds.into_iter().collect();
    let scope = outer | bit(row) | bit(column);
    for output in outputs {
        let roots = [Some(output.value), output.only_if];
        body.extend(expressions.block(roots.into_iter().flatten(), scope, &mut known));
        body.push(output.store());
    }
    Some(Scheduled {
        expressions,
        grid: Grid::Tiles { batch, row, column },
        shared: IdVec::new(),
        body,
    })
}
