//! The rows that ops iterate over.
#![allow(
    clippy::cast_possible_truncation,
    reason = "dimensions are counted in a few bits"
)]

use crate::model::functions::ShapeRule;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The rows of an op: a reduction makes one value of each row; the rows of any other op are its
/// innermost dimension. Equal domains put the same elements, in row-major order, into the same
/// rows.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize,
)]
pub struct RowDomain {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row.
    pub width: u64,
    /// Stride between neighbours of a row: 1 along the last axis; 0 for several axes that are not
    /// adjacent.
    pub stride: u64,
    /// A number that identifies axes that are not adjacent; otherwise 0.
    #[serde(skip)]
    pub axes_id: u64,
}

/// [`RowDomain::axes_id`] of the windows of a pool, which are not axes.
const WINDOWS: u64 = u64::MAX;

impl RowDomain {
    pub(crate) fn of_op(graph: &Graph, op: OpId) -> Self {
        let definition = &graph.ops[op];
        let output = &definition.shape[..];
        let input = graph.inputs[op]
            .first()
            .filter(|_| definition.op_type == OpType::Reduction);
        let input = input.and_then(|&tensor| graph.tensor_shape(tensor));
        let last = 1 << output.len().saturating_sub(1).min(31);
        let axes = match definition.axes {
            0 => last,
            axes => axes,
        };
        let groups = definition.indexing.as_ref().map_or(0, |own| own.groups);
        if let (1.., Some(batch)) = (groups, output.first()) {
            // The channels of a group are adjacent in memory, so a group is one contiguous row.
            let rows = batch.saturating_mul(groups);
            return Self {
                rows,
                width: size(output) / rows.max(1),
                stride: 1,
                axes_id: 0,
            };
        }
        let Some(input) = input.filter(|&input| input != output) else {
            return Self::along(output, axes);
        };
        let domain = Self::along(input, definition.axes);
        if definition.axes != 0 && domain.rows == size(output) {
            return domain;
        }
        match missing(input, output) {
            Some(axes) => Self::along(input, axes),
            None if size(input) == size(output) => Self::along(output, last),
            None => Self {
                rows: size(output),
                width: size(input) / size(output).max(1),
                stride: 0,
                axes_id: WINDOWS,
            },
        }
    }

    /// The rows of a result along which a smaller value that the op reads is broadcast. Dimensions
    /// are matched from the last on, otherwise from the first on, as in op lists without axes;
    /// `None` if neither fits.
    pub(crate) fn of_read(value: &[u64], reader: &Op) -> Option<Self> {
        let shape = &reader.shape[..];
        let outer = shape.len().checked_sub(value.len())?;
        let function = reader.function;
        let per_channel = function.is_some_and(|f| f.row().shape_rule == ShapeRule::PerChannel);
        if per_channel {
            // All dimensions are broadcast along but the channels, dimension 1.
            return Some(Self::along(shape, !2));
        }
        let met = |first: usize| {
            let mut axes = 0;
            for (place, &size) in shape.iter().enumerate() {
                let own = place.checked_sub(first).and_then(|place| value.get(place));
                match own.copied().unwrap_or(1) {
                    own if own == size => {}
                    1 => axes |= 1_u32.checked_shl(place as u32)?,
                    _ => return None,
                }
            }
            Some(Self::along(shape, axes))
        };
        met(outer).or_else(|| met(0))
    }

    /// Along these axes of a shape, bit `i` for dimension `i`.
    pub(crate) fn along(shape: &[u64], axes: u32) -> Self {
        let mut domain = Self {
            rows: 1,
            width: 1,
            stride: 1,
            axes_id: 0,
        };
        // A hash of the sizes inside each change between reduced and other dimensions: axes that
        // are not adjacent have equal rows only if they change at equal sizes.
        let (mut changes, mut inner, mut was_axis) = (0_u64, 1_u64, false);
        for (place, &size) in shape
            .iter()
            .enumerate()
            .rev()
            .filter(|&(_, &size)| size > 1)
        {
            let is_axis = place < 32 && axes >> place & 1 == 1;
            // A second run of reduced axes: no single stride leads along a row.
            if is_axis && !was_axis {
                if domain.width > 1 {
                    domain.stride = 0;
                } else {
                    domain.stride = inner;
                }
            }
            if is_axis != was_axis {
                changes = changes
                    // 2^64 over the golden ratio, as in Fibonacci hashing: it spreads sizes over
                    // all bits.
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .wrapping_add(inner);
            }
            let counted = if is_axis {
                &mut domain.width
            } else {
                &mut domain.rows
            };
            *counted = counted.saturating_mul(size);
            inner = inner.saturating_mul(size);
            was_axis = is_axis;
        }
        if domain.stride == 0 {
            domain.axes_id = changes;
        }
        domain
    }

    /// Elements of all rows together.
    pub fn full_elements(self) -> u64 {
        self.rows.saturating_mul(self.width)
    }
}

/// The axes that a reduction's output lacks or has as 1; `None` if another axis shrinks. Where
/// equal sizes allow several answers, the axes are the last ones possible.
fn missing(input: &[u64], output: &[u64]) -> Option<u32> {
    let bits = |mut axes: std::ops::Range<usize>| {
        axes.try_fold(0, |bits, axis| Some(bits | 1_u32.checked_shl(axis as u32)?))
    };
    if input.len() == output.len() {
        let mut axes = 0;
        for (axis, (before, after)) in input.iter().zip(output).enumerate() {
            if before != after {
                axes |= bits(axis..axis + 1).filter(|_| *after == 1)?;
            }
        }
        return Some(axes);
    }
    let outer = input.iter().zip(output).take_while(|(a, b)| a == b).count();
    let (input_rest, output_rest) = (input.iter().skip(outer), output.iter().skip(outer));
    let pairs = input_rest.rev().zip(output_rest.clone().rev());
    let inner = pairs.take_while(|(a, b)| a == b).count();
    let lacks = output_rest.skip(inner).all(|&size| size == 1);
    bits(outer..input.len() - inner).filter(|_| lacks)
}

fn size(shape: &[u64]) -> u64 {
    element_count(shape).unwrap_or(0)
}
