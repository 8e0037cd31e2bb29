//! The indexing of an op's input, where shapes alone do not determine it: views, and the axes along
//! which an op works.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a rank is a small number"
)]

use crate::model::functions::{AttributeName, Function, ShapeRule};
use crate::model::op::{Indexing, Window};
use crate::model::op_type::OpType;
use crate::resolve::attributes::Attributes;
use crate::resolve::callee::Callee;
use crate::resolve::shapes::dimension_of;

/// How a view finds its elements; `input` is the shape of its input.
pub(super) fn indexing_of(
    function: Function,
    attributes: Attributes<'_>,
    input: Option<&[u64]>,
    output: &[u64],
) -> Option<Box<Indexing>> {
    let input = input?;
    let rank = input.len();
    // A size that cannot be evaluated is an error of its own; the default replaces it here.
    let size = |name: AttributeName| {
        attributes
            .size_or_default(name)
            .unwrap_or(name.default_size())
    };
    let axis = dimension_of(size(AttributeName::Axis), rank);
    let along = |axis: usize| Some((*input.get(axis)?, *output.get(axis)?));
    let indexing = match function.row().shape_rule {
        ShapeRule::Transpose => {
            let stated = attributes.sizes(AttributeName::Perm).ok().flatten();
            let perm = if let Some(perm) = stated {
                let dimensions = perm.iter().map(|&d| dimension_of(d, rank));
                dimensions.collect::<Option<_>>()?
            } else {
                let mut swapped: Vec<usize> = (0..rank).collect();
                swapped.swap(rank.checked_sub(2)?, rank - 1);
                swapped
            };
            Indexing {
                perm,
                ..Indexing::default()
            }
        }
        ShapeRule::Slice | ShapeRule::SliceScatter => {
            let (whole, _) = along(axis?)?;
            let start = size(AttributeName::Start);
            Indexing {
                perm: Vec::new(),
                axis: axis?,
                start: match u64::try_from(start) {
                    Ok(start) => start,
                    Err(_) => whole.checked_sub(start.unsigned_abs())?,
                },
                step: u64::try_from(size(AttributeName::Step)).ok()?,
                ..Indexing::default()
            }
        }
        ShapeRule::Split => {
            let (_, part) = along(axis?)?;
            let index = u64::try_from(size(AttributeName::Index)).ok()?;
            Indexing {
                perm: Vec::new(),
                axis: axis?,
                start: index.checked_mul(part)?,
                step: 1,
                ..Indexing::default()
            }
        }
        ShapeRule::Gather
        | ShapeRule::Concat
        | ShapeRule::TopK
        | ShapeRule::Scatter
        | ShapeRule::IndexAlong
        | ShapeRule::Moved => Indexing {
            axis: axis?,
            step: 1,
            ..Indexing::default()
        },
        ShapeRule::SameAsFirst if matches!(function, Function::Sort | Function::Argsort) => {
            Indexing {
                axis: axis?,
                step: 1,
                descends: attributes.flag(AttributeName::Descending),
                ..Indexing::default()
            }
        }
        ShapeRule::Pad => {
            // Stated before and behind, the last dimension first.
            let stated = attributes.sizes(AttributeName::Pad).ok().flatten()?;
            let mut borders = vec![0; rank];
            for (border, sides) in borders.iter_mut().rev().zip(stated.chunks(2)) {
                *border = u64::try_from(*sides.first()?).ok()?;
            }
            Indexing {
                borders,
                ..Indexing::default()
            }
        }
        ShapeRule::Pool2d => {
            let size = attributes.pair(AttributeName::Kernel, 1, [1, 1]).ok()?;
            Indexing {
                window: Some(Window {
                    size,
                    stride: attributes.pair(AttributeName::Stride, 1, size).ok()?,
                    padding: attributes.pair_or_default(AttributeName::Padding, 0).ok()?,
                }),
                ..Indexing::default()
            }
        }
        ShapeRule::AdaptivePool2d => {
            let (&[_, _, height, width], &[_, _, rows, columns]) = (input, output) else {
                return None;
            };
            // Every size is at least 1.
            let (rows, columns) = (rows.max(1), columns.max(1));
            let is_even = height.is_multiple_of(rows) && width.is_multiple_of(columns);
            // As in `_adaptive_avg_pool2d` of `torch/_inductor/lowering.py`.
            let largest = |size: u64, count: u64| size.saturating_add(count - 1).div_ceil(count);
            let size = if is_even {
                [height / rows, width / columns]
            } else {
                [largest(height, rows), largest(width, columns)]
            };
            Indexing {
                window: Some(Window {
                    size,
                    stride: if is_even { size } else { [0, 0] },
                    padding: [0, 0],
                }),
                ..Indexing::default()
            }
        }
        ShapeRule::PerChannel if function == Function::GroupNorm => Indexing {
            groups: u64::try_from(size(AttributeName::Groups)).ok()?,
            ..Indexing::default()
        },
        _ => return None,
    };
    Some(Box::new(indexing))
}

/// Whether a matmul or an op that keeps its shape works along another axis of its first input than
/// the last.
pub(super) fn is_across_rows(callee: Callee, attributes: Attributes<'_>, axes: u32) -> bool {
    let Callee::Function(function) = callee else {
        return false;
    };
    match function.row().shape_rule {
        ShapeRule::Matmul => attributes.flag(AttributeName::TransposeA),
        ShapeRule::SameAsFirst | ShapeRule::PerChannel => axes != 0,
        _ => false,
    }
}

/// The reduced axes, bit `i` for dimension `i` of the input; `rank` is that of the output.
///
/// 0 if only the last axis is reduced, for ops that are not reductions, and beyond 32 dimensions.
pub(super) fn reduced_axes(callee: Callee, attributes: Attributes<'_>, rank: usize) -> u32 {
    let Callee::Function(function) = callee else {
        return 0;
    };
    let keeps = match function.row().shape_rule {
        ShapeRule::Reduce => attributes.flag(AttributeName::Keepdim),
        _ => true,
    };
    if function.row().shape_rule == ShapeRule::PerChannel
        && function.row().op_type == OpType::Reduction
    {
        // Group norm reduces all axes but the batch, other functions all but the channels.
        let all = 1_u32.checked_shl(rank as u32).map_or(0, |bit| bit - 1);
        let is_grouped = function == Function::GroupNorm;
        return all & !(if is_grouped { 1 } else { 2 });
    }
    let is_along = matches!(
        function.row().shape_rule,
        ShapeRule::Reduce | ShapeRule::SameAsFirst
    );
    if function.row().op_type != OpType::Reduction || !is_along {
        return 0;
    }
    let axes = attributes.sizes_or_default(AttributeName::Axis);
    let axes = axes.unwrap_or_else(|_| vec![AttributeName::Axis.default_size()]);
    let rank = if keeps { rank } else { rank + axes.len() };
    let mut bits = 0;
    for axis in axes {
        let back = axis + if axis < 0 { rank as i64 } else { 0 };
        match u32::try_from(back)
            .ok()
            .and_then(|axis| 1_u32.checked_shl(axis))
        {
            Some(bit) => bits |= bit,
            None => return 0,
        }
    }
    let last = (rank as u32).checked_sub(1);
    if last.and_then(|last| 1_u32.checked_shl(last)) == Some(bits) {
        return 0;
    }
    bits
}
