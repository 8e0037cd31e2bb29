//! The views through which the ops of a program read their inputs.

use super::View;
use crate::model::functions::ShapeRule;
use crate::model::graph::Graph;
use crate::model::ids::OpId;
use crate::model::op::{Indexing, Op, Window, element_count};
use crate::model::operand_parts::{Heads, heads_between};

impl View {
    /// For each element of a window the one of the image with its border that each element of the
    /// pool's output reads there.
    pub(in crate::fusion::inductor) fn of_window(
        image: &[u64],
        pool: &Op,
        window: Window,
    ) -> impl Iterator<Item = Option<Self>> {
        let [rows, columns] = window.size;
        let is_regular = !window.stride.contains(&0);
        let strides: Option<[u64; 4]> = dense_strides(image).try_into().ok();
        (0..rows.saturating_mul(columns)).map(move |element| {
            let [batch, channel, row, column] = strides.filter(|_| is_regular)?;
            let [down, right] = window.stride;
            let moved = [
                batch,
                channel,
                row.checked_mul(down)?,
                column.checked_mul(right)?,
            ];
            let offset = (element / columns).checked_mul(row)? + element % columns;
            let offset = i64::try_from(offset).ok()?;
            (pool.shape.len() == moved.len()).then(|| Self {
                offset,
                ..Self::strided(&pool.shape, &moved)
            })
        })
    }

    /// For each element of an image the one of its channel.
    pub(in crate::fusion::inductor) fn per_channel(shape: &[u64]) -> Option<Self> {
        let mut strides = vec![0; shape.len()];
        *strides.get_mut(1)? = 1;
        Some(Self::strided(shape, &strides))
    }

    /// An image whose channels lie side by side.
    pub(in crate::fusion::inductor) fn channels_last(shape: &[u64]) -> Self {
        let &[_, channels, height, width] = shape else {
            return Self::whole(element_count(shape).unwrap_or(0));
        };
        let row = channels.saturating_mul(width);
        Self::strided(shape, &[row.saturating_mul(height), 1, row, channels])
    }

    /// A dense tensor of this shape with its dimensions in another order.
    pub(in crate::fusion::inductor) fn transposed<const N: usize>(
        shape: &[u64; N],
        order: [usize; N],
    ) -> Self {
        let strides = dense_strides(shape);
        let moved = |sizes: &[u64]| order.map(|from| sizes.get(from).copied().unwrap_or(1));
        Self::strided(&moved(shape), &moved(&strides))
    }

    /// A new image of this shape whose dimensions lie in memory as those of another one do.
    pub(in crate::fusion::inductor) fn image_as(
        shape: &[u64],
        like: &Self,
        like_shape: &[u64],
    ) -> Self {
        let is_last = *like == Self::channels_last(like_shape) && shape.len() == like_shape.len();
        if is_last {
            Self::channels_last(shape)
        } else {
            Self::whole(element_count(shape).unwrap_or(0))
        }
    }

    /// A dense tensor of this shape with one of its dimensions as the innermost one.
    pub(in crate::fusion::inductor) fn with_last(shape: &[u64], dimension: usize) -> Self {
        let strides = dense_strides(shape);
        let sized = shape.iter().copied().zip(strides).enumerate();
        let (mut moved, last): (Vec<_>, Vec<_>) = sized.partition(|&(place, _)| place != dimension);
        moved.extend(last);
        Self::of_loops(moved.into_iter().map(|(_, loops)| loops))
    }

    /// A dense tensor of this shape whose dimensions of more than one element are nested in this
    /// order, the outermost first.
    pub(in crate::fusion::inductor) fn in_order(shape: &[u64], order: &[usize]) -> Self {
        let mut strides = vec![0; shape.len()];
        let mut inner = 1_u64;
        for &dimension in order.iter().rev() {
            if let (Some(stride), Some(size)) = (strides.get_mut(dimension), shape.get(dimension)) {
                *stride = inner;
                inner = inner.saturating_mul(*size);
            }
        }
        Self::strided(shape, &strides)
    }

    /// For each element of a slice of this shape its position in the tensor.
    pub(in crate::fusion::inductor) fn of_slice(
        tensor: &[u64],
        shape: &[u64],
        range: &Indexing,
    ) -> Option<Self> {
        let mut strides = dense_strides(tensor);
        let stride = strides.get_mut(range.axis)?;
        let offset = i64::try_from(stride.checked_mul(range.start)?).ok()?;
        *stride = stride.checked_mul(range.step)?;
        let view = Self::strided(shape, &strides);
        Some(Self { offset, ..view })
    }

    /// For each element of an output one of an input whose elements are repeated along a dimension.
    pub(in crate::fusion::inductor) fn of_interleaved(
        input: &[u64],
        output: &[u64],
    ) -> Option<Self> {
        Self::of_copies(input, output, |element, again| [element, again])
    }

    /// For each element of an output one of an input that is repeated as a whole along dimensions.
    pub(in crate::fusion::inductor) fn of_repeated(input: &[u64], output: &[u64]) -> Option<Self> {
        Self::of_copies(input, output, |element, again| [again, element])
    }

    fn of_copies(
        input: &[u64],
        output: &[u64],
        nested: impl Fn((u64, u64), (u64, u64)) -> [(u64, u64); 2],
    ) -> Option<Self> {
        let mut loops = Vec::with_capacity(output.len() + 1);
        for ((&size, &repeated), stride) in input.iter().zip(output).zip(dense_strides(input)) {
            let times = repeated.checked_div(size)?;
            (times.checked_mul(size) == Some(repeated)).then_some(())?;
            loops.extend(nested((size, stride), (times, 0)));
        }
        (input.len() == output.len()).then(|| Self::of_loops(loops.into_iter()))
    }

    /// For each element of an output one of an input of the same rank, always the first along an
    /// axis.
    pub(in crate::fusion::inductor) fn of_rows(
        input: &[u64],
        axis: usize,
        output: &[u64],
    ) -> Option<Self> {
        let mut strides = dense_strides(input);
        *strides.get_mut(axis)? = 0;
        (strides.len() == output.len()).then(|| Self::strided(output, &strides))
    }

    /// For each position in a row along these axes of a shape the view that always shows it:
    /// over the rows, or, if they keep their shape, over all elements.
    pub(in crate::fusion::inductor) fn of_each_place(
        shape: &[u64],
        axes: u32,
        keeps_shape: bool,
    ) -> Vec<Self> {
        let strides = dense_strides(shape);
        let (mut kept, mut offsets) = (Vec::with_capacity(shape.len()), vec![0_i64]);
        for (place, (&size, &stride)) in shape.iter().zip(&strides).enumerate() {
            if place < 32 && axes >> place & 1 == 1 {
                let steps = offsets.iter().flat_map(|&offset| {
                    let along = move |step: u64| step.saturating_mul(stride);
                    (0..size).map(move |step| offset.saturating_add_unsigned(along(step)))
                });
                offsets = steps.collect();
                if keeps_shape {
                    kept.push((size, 0));
                }
            } else {
                kept.push((size, stride));
            }
        }
        let view = |offset| Self {
            offset,
            ..Self::of_loops(kept.iter().copied())
        };
        offsets.into_iter().map(view).collect()
    }
}

/// For each element of the output of a view its position in the input. `None` if only the op's
/// shapes are known, or if the op reorders elements in another way.
pub(in crate::fusion::inductor) fn view_of_op(graph: &Graph, op: OpId) -> Option<View> {
    let definition = &graph.ops[op];
    let input = graph.tensor_shape(*graph.inputs[op].first()?)?;
    let rule = match definition.function {
        None => ShapeRule::Reshape,
        Some(function) => function.row().shape_rule,
    };
    let whole = View::whole(element_count(input)?);
    let strides = dense_strides(input);
    match rule {
        ShapeRule::Reshape => Some(whole),
        // Of the functions with this rule only `bitcast` moves no element.
        ShapeRule::SameAsFirst if definition.is_view() => Some(whole),
        ShapeRule::Transpose => {
            let perm = definition.indexing.as_ref()?.perm.iter();
            let moved: Option<Vec<u64>> = perm.map(|&from| strides.get(from).copied()).collect();
            let moved = moved.filter(|moved| moved.len() == definition.shape.len())?;
            Some(View::strided(&definition.shape, &moved))
        }
        ShapeRule::Slice | ShapeRule::Split => {
            View::of_slice(input, &definition.shape, definition.indexing.as_ref()?)
        }
        ShapeRule::Expand => broadcast(input, definition),
        // Of the functions with this rule only `rearrange` and `part` have an input.
        ShapeRule::Stated if !definition.is_part() => view_of_heads(input, &definition.shape),
        _ => None,
    }
}

/// For each element of a tensor whose columns become heads, or whose heads become columns, its
/// position before.
fn view_of_heads(from: &[u64], to: &[u64]) -> Option<View> {
    let (heads, _) = heads_between(from, to).filter(|(_, heads)| heads.len() == 1)?;
    let split = if heads == Heads::Split { to } else { from };
    let &[.., count, rows, d] = split else {
        return None;
    };
    let (inner, inner_strides) = match heads {
        Heads::Split => ([count, rows, d], [d, count.checked_mul(d)?, 1]),
        Heads::Joined => ([rows, count, d], [d, rows.checked_mul(d)?, 1]),
    };
    let batch = split.len() - inner.len();
    let sizes = [&split[..batch], &inner].concat();
    let strides = [&dense_strides(split)[..batch], &inner_strides].concat();
    Some(View::strided(&sizes, &strides))
}

/// The strides of a tensor in row-major order.
fn dense_strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    let mut inner = 1_u64;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = inner;
        inner = inner.saturating_mul(size);
    }
    strides
}

/// For each element of an op's output the element of a broadcast input that it reads; `None` if the
/// shapes do not broadcast.
pub(in crate::fusion::inductor) fn broadcast(input: &[u64], reader: &Op) -> Option<View> {
    let shape = &reader.shape[..];
    let elements = element_count(input)?;
    if element_count(shape) == Some(elements) {
        return Some(View::whole(elements));
    }
    shape.len().checked_sub(input.len())?;
    let function = reader.function;
    if function.is_some_and(|f| f.row().shape_rule == ShapeRule::PerChannel) {
        return broadcast_from(input, shape, 1);
    }
    // PyTorch aligns shapes at the last dimension. A list of ops without axes may drop dimensions
    // at the end, and then only the first ones fit.
    broadcast_to(input, shape).or_else(|| broadcast_from(input, shape, 0))
}

/// For each element of a shape the element of an input that is broadcast to it.
pub(in crate::fusion::inductor) fn broadcast_to(input: &[u64], shape: &[u64]) -> Option<View> {
    broadcast_from(input, shape, shape.len().checked_sub(input.len())?)
}

/// The input's dimensions are those of the shape from `first` on.
fn broadcast_from(input: &[u64], shape: &[u64], first: usize) -> Option<View> {
    let strides = dense_strides(input);
    let mut moved = Vec::with_capacity(shape.len());
    for (place, &size) in shape.iter().enumerate() {
        let own = place.checked_sub(first);
        match own.and_then(|own| Some((*input.get(own)?, *strides.get(own)?))) {
            Some((own, stride)) if own == size => moved.push(stride),
            Some((1, _)) | None => moved.push(0),
            Some(_) => return None,
        }
    }
    Some(View::strided(shape, &moved))
}
