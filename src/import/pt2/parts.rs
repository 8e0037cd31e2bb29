//! Tensors of which a program writes parts. A part that is written stands between what the tensor
//! holds before it and behind it. Of a tensor that was written in parts already, those that are
//! kept stand there as they are, so that nothing reads what is overwritten.

use crate::shapes::dimension;
use crate::size::{Size, size_of};
use crate::writer::Writer;
use fuseline_core::model::functions::{AttributeName, Function};
use fuseline_core::model::program::{AttributeValue, OpStatement};
use std::fmt::Write;

/// A range along an axis.
pub(super) struct Range {
    pub(super) axis: usize,
    pub(super) start: Size,
    pub(super) end: Size,
}

/// A piece of a tensor along an axis.
struct Piece {
    /// The index of its tensor.
    tensor: usize,
    start: Size,
    end: Size,
}

/// The lines that write `{y}`, the tensor of this index with `part` in a range; `None` where the
/// range is all of it, and where its shape is unknown.
pub(super) fn with_part(
    written: &Writer,
    whole: usize,
    part: &str,
    range: &Range,
) -> Option<String> {
    let size = size_along(written, whole, range.axis)?;
    let is_known = |pieces: &Vec<Piece>| {
        pieces.iter().all(|own| {
            [&own.start, &own.end].into_iter().all(|own| {
                is_less(own, &range.start).is_some() && is_less(&range.end, own).is_some()
            })
        })
    };
    let pieces = pieces(written, whole, range.axis).filter(is_known);
    let pieces = pieces.unwrap_or_else(|| {
        vec![Piece {
            tensor: whole,
            start: Size::from(0),
            end: size,
        }]
    });
    // What is not known to be less is another size, of which the graph says that it is in range.
    let less = |a: &Size, b: &Size| is_less(a, b).unwrap_or(a != b);
    let (mut lines, mut before, mut behind) = (String::new(), Vec::new(), Vec::new());
    for piece in &pieces {
        if less(&piece.start, &range.start) {
            before.push(if less(&range.start, &piece.end) {
                lines += &cut(
                    written,
                    piece,
                    "before",
                    &piece.start,
                    &range.start,
                    range.axis,
                )?;
                "{y}_before".to_owned()
            } else {
                written.tensors.get(piece.tensor)?.name.clone()
            });
        }
        if less(&range.end, &piece.end) {
            behind.push(if less(&piece.start, &range.end) {
                lines += &cut(written, piece, "behind", &range.end, &piece.end, range.axis)?;
                "{y}_behind".to_owned()
            } else {
                written.tensors.get(piece.tensor)?.name.clone()
            });
        }
    }
    if before.is_empty() && behind.is_empty() {
        return None;
    }
    before.push(part.to_owned());
    before.extend(behind);
    let parts = before.join(", ");
    Some(format!(
        "{lines}{{y}} = concat({parts}, axis={})",
        range.axis
    ))
}

/// The range that a slice names; `None` for one with a step.
pub(super) fn range_of(written: &Writer, slice: &OpStatement, whole: usize) -> Option<Range> {
    let value = |name: AttributeName| {
        let stated = slice.attributes.iter().find(|own| own.is(name));
        stated.map(|own| match &own.value {
            AttributeValue::Size(expr) => size_of(expr, &mut |name| written.params.size_of(name)),
            _ => None,
        })
    };
    let step = value(AttributeName::Step).unwrap_or(Some(Size::from(1)))?;
    let axis = value(AttributeName::Axis).unwrap_or(Some(Size::from(-1)))?;
    let rank = written.tensors.get(whole)?.shape.as_ref()?.len();
    let axis = dimension(axis.as_int()?, rank)?;
    let size = size_along(written, whole, axis)?;
    let from_end = |index: Size| match index.as_int() {
        Some(own) if own < 0 => size.add(&index),
        _ => Some(index),
    };
    let start = from_end(value(AttributeName::Start).unwrap_or(Some(Size::from(0)))?)?;
    let end = from_end(value(AttributeName::End).unwrap_or_else(|| Some(size.clone()))?)?;
    step.is_one().then_some(Range { axis, start, end })
}

fn size_along(written: &Writer, tensor: usize, axis: usize) -> Option<Size> {
    written
        .tensors
        .get(tensor)?
        .shape
        .as_ref()?
        .get(axis)
        .cloned()
}

/// The op that writes a tensor.
fn producer(written: &Writer, tensor: usize) -> Option<&OpStatement> {
    let at = (written.ops).binary_search_by_key(&tensor, |(_, output)| *output);
    Some(&written.ops.get(at.ok()?)?.0)
}

/// The pieces of which a tensor was joined along this axis.
fn pieces(written: &Writer, whole: usize, axis: usize) -> Option<Vec<Piece>> {
    let op = producer(written, whole)?;
    let joined = op.function() == Some(Function::Concat);
    let along = op.attributes.iter().find(|own| own.is(AttributeName::Axis));
    let along = along.map(|own| &own.value);
    let is_along = matches!(along, Some(AttributeValue::Size(own))
        if size_of(own, &mut |_| None)?.as_int() == i64::try_from(axis).ok());
    if !joined || !is_along {
        return None;
    }
    let mut end = Size::from(0);
    let mut pieces = Vec::with_capacity(op.inputs.len());
    for input in &op.inputs {
        let &tensor = written.by_name.get(&input.text)?;
        let start = end.clone();
        end = start.add(&size_along(written, tensor, axis)?)?;
        pieces.push(Piece {
            tensor,
            start,
            end: end.clone(),
        });
    }
    Some(pieces)
}

/// The line of a slice of a piece, in places of the whole. A slice of a slice is one of its source.
fn cut(
    written: &Writer,
    piece: &Piece,
    word: &str,
    start: &Size,
    end: &Size,
    axis: usize,
) -> Option<String> {
    let mut source = piece.tensor;
    let mut offset = Size::from(0);
    if let Some(op) = producer(written, source)
        && op.function() == Some(Function::Slice)
        && let Some(&of) = op
            .inputs
            .first()
            .and_then(|input| written.by_name.get(&input.text))
        && let Some(own) = range_of(written, op, of).filter(|own| own.axis == axis)
    {
        (source, offset) = (of, own.start);
    }
    let place = |at: &Size| at.sub(&piece.start)?.add(&offset);
    let (start, end) = (place(start)?, place(end)?);
    let mut bounds = String::new();
    if start != Size::from(0) {
        // Writing to a `String` cannot fail.
        let _ = write!(bounds, ", start={}", written.params.one(&start));
    }
    if end != size_along(written, source, axis)? {
        let _ = write!(bounds, ", end={}", written.params.one(&end));
    }
    let name = &written.tensors.get(source)?.name;
    Some(format!(
        "{{y}}_{word} = slice({name}{bounds}, axis={axis})\n"
    ))
}

/// Whether a size is less than another, if both differ by a number.
fn is_less(a: &Size, b: &Size) -> Option<bool> {
    Some(a.sub(b)?.as_int()? < 0)
}
