//! Operators that take parts of tensors, or put tensors together.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::{Call, number_text};
use crate::pt2::schema::Argument;
use crate::shapes::{elements, with_size};
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

pub(super) fn slice(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let axis = call.axis_or_first("dim", shape.len())?;
    let size = shape.get(axis)?;
    let step = call.int_or("step", 1)?;
    if shape == call.shape {
        return call.tensor_index("self").map(Becomes::Same);
    }
    let (start, end) = if call.operator == "narrow" {
        let start = call.size("start")?;
        let start = if start.as_int().is_some_and(|start| start < 0) {
            start.add(size)?
        } else {
            start
        };
        let end = start.add(&call.size("length")?)?;
        (start, Some(end))
    } else {
        (
            call.size("start").unwrap_or(Size::from(0)),
            call.size("end"),
        )
    };
    let length = size.as_int();
    let from_end = |index: i64| match length {
        Some(length) if index < 0 => index.saturating_add(length).max(0),
        _ => index,
    };
    let start = start
        .as_int()
        .map_or(start.clone(), |start| Size::from(from_end(start)));
    let mut text = format!("{{y}} = slice({{self}}, start={}", call.one(&start));
    if let Some(end) = end {
        let end = match (end.as_int(), length) {
            (Some(end), Some(length)) => Some(Size::from(from_end(end).min(length))),
            (Some(end), None) if end >= 1 << 62 => None,
            _ => Some(end),
        };
        if let Some(end) = end {
            let _ = write!(text, ", end={}", call.one(&end));
        }
    }
    if step != 1 {
        let _ = write!(text, ", step={step}");
    }
    let _ = write!(text, ", axis={axis})");
    Some(Becomes::lines(text))
}

/// One element along an axis, without that axis.
pub(super) fn select(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let axis = call.axis("dim", shape.len())?;
    let size = shape.get(axis)?;
    if size.is_one() {
        return call.tensor_index("self").map(Becomes::Reshape);
    }
    let index = call.size("index")?;
    let index = if index.as_int().is_some_and(|index| index < 0) {
        index.add(size)?
    } else {
        index
    };
    piece_at(call, "self", axis, &index)
}

/// A slice of one element at this index, without its axis.
fn piece_at(call: &Call<'_>, of: &str, axis: usize, index: &Size) -> Option<Becomes> {
    let end = index.add(&Size::from(1))?;
    Some(Becomes::lines(format!(
        "{{y}}_slice = slice({{{of}}}, start={}, end={}, axis={axis})\n{{y}} = reshape({{y}}_slice)",
        call.one(index),
        call.one(&end)
    )))
}

/// One of several pieces, whose sizes the file states.
pub(super) fn split(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let axis = call.axis_or_first("dim", shape.len())?;
    let pieces = call.outputs.iter().map(|output| {
        let meta = call.graph.tensor_values.get((*output)?)?;
        Some(call.symbols.size(meta.sizes.get(axis)?).0)
    });
    let sizes: Vec<Size> = pieces.collect::<Option<_>>()?;
    if sizes.len() == 1 {
        return call.tensor_index("self").map(Becomes::Same);
    }
    let (parts, index) = (sizes.len(), call.index);
    if sizes.windows(2).all(|pair| pair.first() == pair.last()) {
        return Some(Becomes::lines(format!(
            "{{y}} = split({{self}}, parts={parts}, index={index}, axis={axis})"
        )));
    }
    let mut before = sizes.get(..index)?.iter();
    let start = before.try_fold(Size::from(0), |sum, size| sum.add(size))?;
    let end = start.add(sizes.get(index)?)?;
    let (start, end) = (call.one(&start), call.one(&end));
    Some(Becomes::lines(format!(
        "{{y}} = slice({{self}}, start={start}, end={end}, axis={axis})"
    )))
}

pub(super) fn unbind(call: &Call<'_>) -> Option<Becomes> {
    let axis = call.axis_or_first("dim", call.rank_of("self")?)?;
    if call.outputs.len() == 1 {
        return call.tensor_index("self").map(Becomes::Reshape);
    }
    piece_at(
        call,
        "self",
        axis,
        &Size::from(i64::try_from(call.index).ok()?),
    )
}

/// Tensors concatenated, or stacked along a new axis. `torch.cat` takes empty tensors of any rank.
pub(super) fn concat(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.shape.len();
    let axis = call.axis_or_first("dim", rank)?;
    let Argument::Tensors(names) = call.argument("tensors")? else {
        return None;
    };
    let (mut text, mut inputs, mut only) = (String::new(), Vec::new(), None);
    for (number, name) in names.iter().enumerate() {
        let name = name.as_deref()?;
        let meta = call.graph.tensor_values.get(name)?;
        if meta.has_no_elements() {
            continue;
        }
        let (index, mut now) = call.typed_operand(&mut text, number, name)?;
        only = Some(index);
        if call.operator == "stack" {
            let shape = call.list(&with_size(&call.shape, axis, Size::from(1)));
            let _ = writeln!(text, "{{y}}_part{number} = reshape({now}, shape={shape})");
            now = format!("{{y}}_part{number}");
        }
        inputs.push(now);
    }
    match inputs.as_slice() {
        [] => None,
        [_] if call.operator == "stack" => only.map(Becomes::Reshape),
        [_] => only.map(Becomes::Same),
        _ => Some(Becomes::lines(
            text + &format!("{{y}} = concat({}, axis={axis})", inputs.join(", ")),
        )),
    }
}

pub(super) fn repeat(call: &Call<'_>) -> Option<Becomes> {
    let times = call.sizes("repeats").or_else(|| call.sizes("dims"))?;
    let shape = call.shape_of("self")?;
    let ones = |missing: usize| vec![Size::from(1); missing];
    let times = [ones(shape.len().saturating_sub(times.len())), times].concat();
    if times.iter().all(Size::is_one) {
        return call.tensor_index("self").map(Becomes::Reshape);
    }
    let all = call.list(&times);
    let outer = times.len() - shape.len();
    if outer == 0 {
        return Some(Becomes::lines(format!(
            "{{y}} = repeat({{self}}, times={all})"
        )));
    }
    let shape = call.list(&[ones(outer), shape.to_vec()].concat());
    Some(Becomes::lines(format!(
        "{{y}}_outer = reshape({{self}}, shape={shape})\n{{y}} = repeat({{y}}_outer, times={all})"
    )))
}

pub(super) fn repeat_interleave(call: &Call<'_>) -> Option<Becomes> {
    let times = call.one(&call.size("repeats")?);
    let shape = call.shape_of("self")?;
    if call.has("dim") {
        let axis = call.axis("dim", shape.len())?;
        return Some(Becomes::lines(format!(
            "{{y}} = repeat_interleave({{self}}, times={times}, axis={axis})"
        )));
    }
    let count = call.list(&[elements(shape)?]);
    Some(Becomes::lines(format!(
        "{{y}}_flat = reshape({{self}}, shape={count})\n{{y}} = repeat_interleave({{y}}_flat, times={times}, axis=0)"
    )))
}

pub(super) fn pad(call: &Call<'_>) -> Option<Becomes> {
    let pads = call.sizes("pad").or_else(|| call.sizes("padding"))?;
    let is_negative = |size: &Size| size.as_int().is_some_and(|size| size < 0);
    let mode = match (call.operator, call.text("mode")) {
        (name, _) if name.starts_with("reflection") => "reflect",
        (name, _) if name.starts_with("replication") => "replicate",
        (_, mode) => mode.unwrap_or("constant"),
    };
    if mode != "constant" {
        return repeated_border(call, &pads, mode);
    }
    let value = call.number_or("value", 0.0)?;
    let value = if value == 0.0 {
        String::new()
    } else {
        format!(", value={}", number_text(value)?)
    };
    if !pads.iter().any(is_negative) {
        let pads = call.list(&pads);
        return Some(Becomes::lines(format!(
            "{{y}} = pad({{self}}, pad={pads}{value})"
        )));
    }
    // A negative border cuts elements off.
    let shape = call.shape_of("self")?;
    let (mut text, mut last) = (String::new(), "{self}".to_owned());
    for (index, border) in pads.chunks(2).enumerate() {
        let axis = shape.len().checked_sub(index + 1)?;
        let (start, end) = (cut(border.first()?), cut(border.get(1)?));
        if start == 0 && end == 0 {
            continue;
        }
        let end = shape.get(axis)?.add(&Size::from(-end))?;
        let _ = writeln!(
            text,
            "{{y}}_cut{axis} = slice({last}, start={start}, end={}, axis={axis})",
            call.one(&end)
        );
        last = format!("{{y}}_cut{axis}");
    }
    let kept = pads.iter().map(|size| {
        if is_negative(size) {
            Size::from(0)
        } else {
            size.clone()
        }
    });
    let kept: Vec<Size> = kept.collect();
    if kept.iter().all(|size| *size == Size::from(0)) {
        let text = text.replace(&format!("{last} ="), "{y} =");
        return Some(Becomes::lines(text));
    }
    let kept = call.list(&kept);
    Some(Becomes::lines(format!(
        "{text}{{y}} = pad({last}, pad={kept}{value})"
    )))
}

/// How many elements a negative border cuts off.
fn cut(border: &Size) -> i64 {
    border.as_int().map_or(0, |size| (-size).max(0))
}

/// A border of the tensor's own elements: mirrored, the outermost repeated, or those of the other
/// end.
fn repeated_border(call: &Call<'_>, pads: &[Size], mode: &str) -> Option<Becomes> {
    let mut shape = call.shape_of("self")?.to_vec();
    let (mut text, mut last) = (String::new(), "{self}".to_owned());
    for (index, border) in pads.chunks(2).enumerate() {
        let axis = shape.len().checked_sub(index + 1)?;
        let size = shape.get(axis)?.as_int()?;
        let (before, behind) = (border.first()?.as_int()?, border.get(1)?.as_int()?);
        if before < 0 || behind < 0 {
            return None;
        }
        let mut parts = Vec::new();
        for (name, length, is_first) in [("left", before, true), ("right", behind, false)] {
            let (start, length) = match (mode, is_first) {
                ("reflect", true) => (1, length),
                ("reflect", false) => (size - 1 - length, length),
                ("replicate", true) => (0, 1.min(length)),
                ("replicate", false) => (size - 1, 1.min(length)),
                (_, true) => (size - length, length),
                (_, false) => (0, length),
            };
            if length == 0 {
                continue;
            }
            let end = start + length;
            let part = format!("{{y}}_{name}{axis}");
            let _ = writeln!(
                text,
                "{part}_slice = slice({last}, start={start}, end={end}, axis={axis})"
            );
            let times = if is_first { before } else { behind };
            let line = match mode {
                "reflect" => format!("{part} = flip({part}_slice, axis={axis})"),
                "replicate" => {
                    let shape = call.list(&with_size(&shape, axis, Size::from(times)));
                    format!("{part} = expand({part}_slice, shape={shape})")
                }
                _ => {
                    parts.push((is_first, format!("{part}_slice")));
                    continue;
                }
            };
            let _ = writeln!(text, "{line}");
            parts.push((is_first, part));
        }
        if parts.is_empty() {
            continue;
        }
        let place = usize::from(parts.first().is_some_and(|(is_first, _)| *is_first));
        parts.insert(place, (false, last.clone()));
        let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
        let _ = writeln!(
            text,
            "{{y}}_bordered{axis} = concat({}, axis={axis})",
            parts.join(", ")
        );
        last = format!("{{y}}_bordered{axis}");
        *shape.get_mut(axis)? = Size::from(size + before + behind);
    }
    (last != "{self}").then(|| Becomes::lines(text.replace(&format!("{last} ="), "{y} =")))
}

/// Differences of neighbours along an axis, with tensors before or behind.
pub(super) fn diff(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.rank_of("self")?;
    let axis = if call.has("dim") {
        call.axis("dim", rank)?
    } else {
        rank.checked_sub(1)?
    };
    let count = call.shape.get(axis)?;
    let is_plain = !call.differs("n", 1.0) && call.dtype != DType::Bool;
    let parts = ["prepend", "self", "append"]
        .into_iter()
        .filter(|part| call.has(part));
    let parts: Vec<String> = parts.map(|part| format!("{{{part}}}")).collect();
    let (mut text, mut all) = (String::new(), "{self}");
    if parts.len() > 1 {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{{y}}_all = concat({}, axis={axis})",
            parts.join(", ")
        );
        all = "{y}_all";
    }
    let (end, last) = (call.one(count), call.one(&count.add(&Size::from(1))?));
    let _ = writeln!(
        text,
        "{{y}}_later = slice({all}, start=1, end={last}, axis={axis})"
    );
    let _ = writeln!(
        text,
        "{{y}}_earlier = slice({all}, start=0, end={end}, axis={axis})"
    );
    is_plain.then(|| Becomes::lines(text + "{y} = sub({y}_later, {y}_earlier)"))
}
