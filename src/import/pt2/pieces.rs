//! Operators that take parts of tensors, or put tensors together.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::Call;
use crate::pt2::schema::{Argument, SymInt};
use crate::shapes::{elements, with_size};
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

pub(super) fn slice(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let axis = call.axis_or_first("dim", shape.len())?;
    let size = shape.get(axis)?;
    let step = if call.has("step") {
        call.int("step")?
    } else {
        1
    };
    if shape == call.shape {
        return call.tensor_index("self").map(Becomes::Same);
    }
    let (start, end) = if call.operator == "narrow" {
        let start = call.size("start")?;
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
        if meta.sizes.contains(&SymInt::AsInt(0)) {
            continue;
        }
        let index = *call.tensors.get(name)?;
        let known = call.known(index)?;
        only = Some(index);
        let mut now = known.name.clone();
        if known.dtype != Some(call.dtype) {
            let _ = writeln!(
                text,
                "{{y}}_cast{number} = cast({now}, dtype={})",
                call.dtype.name()
            );
            now = format!("{{y}}_cast{number}");
        }
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
    let pads = call.sizes("pad")?;
    let is_negative = pads
        .iter()
        .any(|size| size.as_int().is_some_and(|size| size < 0));
    let is_constant = matches!(call.text("mode"), None | Some("constant"));
    let pads = call.list(&pads);
    (!is_negative && is_constant)
        .then(|| Becomes::lines(format!("{{y}} = pad({{self}}, pad={pads})")))
}

pub(super) fn roll(call: &Call<'_>) -> Option<Becomes> {
    let (shifts, axes) = (call.ints("shifts")?, call.ints("dims")?);
    if shifts.len() != axes.len() || shifts.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut last = "{self}".to_owned();
    for (step, (shift, axis)) in shifts.iter().zip(&axes).enumerate() {
        let now = if step + 1 == axes.len() {
            "{y}".to_owned()
        } else {
            format!("{{y}}_{step}")
        };
        let _ = writeln!(text, "{now} = roll({last}, shift={shift}, axis={axis})");
        last = now;
    }
    Some(Becomes::lines(text))
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
