//! The shape of an operand that fits the other shapes of the op that reads it.

use super::FEW_INPUTS;
use crate::model::functions::{AttributeName, ShapeRule};
use crate::model::op::Op;
use crate::resolve::attributes::Attributes;
use crate::resolve::shapes::dimension_of;

/// Most axes of a reduction for which its input is proposed.
const MOST_AXES: usize = 32;

/// An op that reads tensors of unknown shape.
pub(super) struct Reader<'a> {
    pub(super) op: &'a Op,
    pub(super) attributes: Attributes<'a>,
    /// The shapes of its inputs, as far as they are known.
    pub(super) operands: Vec<Option<&'a [u64]>>,
    /// Whether a shape is chosen where several fit.
    pub(super) is_choice: bool,
}

impl Reader<'_> {
    /// The shape of an operand; `None` if the other shapes leave it open.
    pub(super) fn operand(&self, index: usize) -> Option<Vec<u64>> {
        let output = &self.op.shape;
        let chosen = |shape: Vec<u64>| self.is_choice.then_some(shape);
        let function = self.op.function;
        let Some(function) = function else {
            return chosen(output.clone());
        };
        match function.row().shape_rule {
            ShapeRule::Matmul if self.operands.len() == 2 => self.factor(index),
            ShapeRule::Linear => self.of_linear(index),
            // The sizes of its blocks are open.
            ShapeRule::ScaledMatmul => Some(vec![*output.last().filter(|_| index == 4)?]),
            ShapeRule::Conv2d => self.of_conv2d(index),
            ShapeRule::PerChannel if index > 0 => Some(vec![*output.get(1)?]),
            ShapeRule::SameAsFirst | ShapeRule::Blocks if index == 0 => Some(output.clone()),
            ShapeRule::PerChannel | ShapeRule::Reshape => Some(output.clone()),
            ShapeRule::Transpose => self.transposed(),
            ShapeRule::Split => {
                let parts =
                    u64::try_from(self.attributes.size(AttributeName::Parts).ok()??).ok()?;
                self.along_axis(|size| size.checked_mul(parts))
            }
            ShapeRule::Concat if self.operands.len() <= FEW_INPUTS => self.part(index),
            ShapeRule::Reduce => chosen(self.before_reduction()?),
            ShapeRule::Pool2d => {
                let window = self
                    .attributes
                    .pair(AttributeName::Kernel, 1, [1, 1])
                    .ok()?;
                let &[batch, channels, ..] = &output[..] else {
                    return None;
                };
                let [height, width] = self.before_window(window, window)?;
                chosen(vec![batch, channels, height, width])
            }
            ShapeRule::Concat
            | ShapeRule::Expand
            | ShapeRule::Repeat
            | ShapeRule::Interleave
            | ShapeRule::Pad
            | ShapeRule::Embedding
            | ShapeRule::Gather
            | ShapeRule::Conv1d
            | ShapeRule::Attention
            | ShapeRule::AdaptivePool2d
            | ShapeRule::Resample
            | ShapeRule::OneHot
            | ShapeRule::Index
            | ShapeRule::TopK
            | ShapeRule::Scatter
            // The size of its blocks is open.
            | ShapeRule::Blocks
            | ShapeRule::IndexAlong
            | ShapeRule::IndexPut
            | ShapeRule::SliceScatter => None,
            ShapeRule::Slice => {
                let start = self
                    .attributes
                    .size(AttributeName::Start)
                    .ok()?
                    .unwrap_or_default();
                let end = self.attributes.size(AttributeName::End).ok()?;
                let [start, end] = [start, end.unwrap_or_default()]
                    .map(|at| u64::try_from(at).unwrap_or_default());
                // A positive end counts from the front, so the input reaches at least that far.
                // Without an end the slice takes the rest.
                let size = |size: u64| Some(end.max(start.checked_add(size)?));
                chosen(self.along_axis(size)?)
            }
            ShapeRule::Matmul
            | ShapeRule::Broadcast
            | ShapeRule::SameAsFirst
            | ShapeRule::Moved
            | ShapeRule::Stated => chosen(output.clone()),
        }
    }

    /// An operand of a concatenation. Several unknown ones get equal shares, and the last of them
    /// gets the rest.
    fn part(&self, index: usize) -> Option<Vec<u64>> {
        let axis = self.axis()?;
        let sizes = self.operands.iter().flatten();
        let mut sizes = sizes.filter_map(|shape| shape.get(axis));
        let known = sizes.try_fold(0_u64, |sum, &size| sum.checked_add(size))?;
        let rest = self.op.shape.get(axis)?.checked_sub(known)?;
        let unknown = self.operands.iter().filter(|shape| shape.is_none()).count();
        if unknown > 1 && !self.is_choice {
            return None;
        }
        let share = rest / unknown as u64;
        let is_last = !self.operands[index + 1..].contains(&None);
        let size = if is_last {
            rest - share * (unknown as u64 - 1)
        } else {
            share
        };
        self.along_axis(|_| Some(size))
    }

    /// A factor of a matrix product: `[batch.., M, K]`, or `[K, N]`.
    fn factor(&self, index: usize) -> Option<Vec<u64>> {
        let transposed = [AttributeName::TransposeA, AttributeName::TransposeB]
            .map(|name| self.attributes.flag(name));
        let [batch @ .., rows, columns] = &self.op.shape[..] else {
            return None;
        };
        let other = self.operands[1 - index];
        // K is last on the left and second to last on the right, unless they are transposed.
        let is_k_last = |index: usize| (index == 0) != transposed[index];
        let k_of_other = other.and_then(|shape| match shape {
            [.., before, last] => Some(if is_k_last(1 - index) { *last } else { *before }),
            _ => None,
        });
        if self.attributes.has(AttributeName::K) && !self.is_choice {
            return None;
        }
        let k = (self.op.k.or(k_of_other)).or(self.is_choice.then_some(*columns))?;
        let matrix = match (index, is_k_last(index)) {
            (0, true) => [*rows, k],
            (0, false) => [k, *rows],
            (_, true) => [*columns, k],
            (_, false) => [k, *columns],
        };
        let is_batched = index == 0 || other.is_some_and(|shape| shape.len() < self.op.shape.len());
        let batch = if is_batched { batch } else { &[] };
        Some([batch, &matrix].concat())
    }

    /// An operand of `[.., K] x [N, K] + [N]`.
    fn of_linear(&self, index: usize) -> Option<Vec<u64>> {
        let (&features, rows) = self.op.shape.split_last()?;
        let last = |index: usize| {
            self.operands
                .get(index)?
                .and_then(|shape| shape.last().copied())
        };
        let k = last(0).or(last(1)).or(self.is_choice.then_some(features));
        Some(match index {
            0 => [rows, &[k?]].concat(),
            1 => vec![features, k?],
            _ => vec![features],
        })
    }

    /// An operand of `[B, C, H, W] x [O, C/groups, KH, KW] + [O]`. A window is chosen so that it
    /// keeps the size of the picture at stride 1.
    fn of_conv2d(&self, index: usize) -> Option<Vec<u64>> {
        let &[batch, features, ..] = &self.op.shape[..] else {
            return None;
        };
        let groups = self
            .attributes
            .size_or_default(AttributeName::Groups)
            .ok()?;
        let groups = u64::try_from(groups).ok().filter(|&groups| groups > 0)?;
        let padding = self
            .attributes
            .pair_or_default(AttributeName::Padding, 0)
            .ok()?;
        let window = padding.map(|border| border.saturating_mul(2).saturating_add(1));
        match (index, self.operands[0], self.operands[1]) {
            (0, _, Some(&[_, channels, height, width])) => {
                let [height, width] = self.before_window([height, width], [1, 1])?;
                Some(vec![batch, channels.checked_mul(groups)?, height, width])
            }
            (1, Some(&[_, channels, ..]), _) => {
                Some(vec![features, channels / groups, window[0], window[1]])
            }
            (1, None, _) if self.is_choice => {
                Some(vec![features, features / groups, window[0], window[1]])
            }
            (0, _, None) if self.is_choice => {
                let [height, width] = self.before_window(window, [1, 1])?;
                Some(vec![batch, features, height, width])
            }
            (2, ..) => Some(vec![features]),
            _ => None,
        }
    }

    /// The smallest height and width for which the window gives the output's height and width.
    fn before_window(&self, window: [u64; 2], default_stride: [u64; 2]) -> Option<[u64; 2]> {
        let stride = self
            .attributes
            .pair(AttributeName::Stride, 1, default_stride)
            .ok()?;
        let padding = self
            .attributes
            .pair_or_default(AttributeName::Padding, 0)
            .ok()?;
        let dilation = self
            .attributes
            .pair_or_default(AttributeName::Dilation, 1)
            .ok()?;
        let &[_, _, height, width] = &self.op.shape[..] else {
            return None;
        };
        let size = |axis: usize, output_size: u64| {
            let reach = dilation[axis].checked_mul(window[axis].checked_sub(1)?)?;
            let moves = output_size.checked_sub(1)?.checked_mul(stride[axis])?;
            let padded = moves.checked_add(reach)?.checked_add(1)?;
            padded
                .checked_sub(padding[axis].checked_mul(2)?)
                .filter(|&size| size > 0)
        };
        Some([size(0, height)?, size(1, width)?])
    }

    fn transposed(&self) -> Option<Vec<u64>> {
        let output = &self.op.shape;
        let Some(perm) = self.attributes.sizes(AttributeName::Perm).ok()? else {
            let mut shape = output.clone();
            let last = shape.len().checked_sub(2)?;
            shape[last..].reverse();
            return Some(shape);
        };
        let mut shape = vec![0; output.len()];
        for (&size, &from) in output.iter().zip(&perm) {
            *shape.get_mut(dimension_of(from, output.len())?)? = size;
        }
        Some(shape)
    }

    /// The shape before a reduction. Reduced axes have the size 1, because the output says nothing
    /// about them.
    fn before_reduction(&self) -> Option<Vec<u64>> {
        let mut shape = self.op.shape.clone();
        if self.attributes.flag(AttributeName::Keepdim) {
            return Some(shape);
        }
        let axes = self.attributes.sizes_or_default(AttributeName::Axis).ok()?;
        if axes.len() > MOST_AXES {
            return None;
        }
        let rank = shape.len() + axes.len();
        let mut indices: Vec<usize> = axes
            .iter()
            .map(|&axis| dimension_of(axis, rank))
            .collect::<Option<_>>()?;
        indices.sort_unstable();
        for index in indices {
            if index > shape.len() {
                return None;
            }
            shape.insert(index, 1);
        }
        Some(shape)
    }

    fn axis(&self) -> Option<usize> {
        let axis = self.attributes.size_or_default(AttributeName::Axis).ok()?;
        dimension_of(axis, self.op.shape.len())
    }

    /// The output's shape with another size along the axis of the call.
    fn along_axis(&self, size: impl FnOnce(u64) -> Option<u64>) -> Option<Vec<u64>> {
        let mut shape = self.op.shape.clone();
        let along = shape.get_mut(self.axis()?)?;
        *along = size(*along).filter(|&size| size > 0)?;
        Some(shape)
    }
}
