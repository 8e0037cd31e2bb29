//! `x[i, j]`, `x[mask]` and writes at such places.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::Call;
use crate::pt2::parts::{Range, with_part};
use crate::shapes::{Sizes, broadcast, elements};
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

/// What stands between the brackets.
enum Places<'a> {
    /// Whether each element of the first dimensions is meant.
    Mask(&'a Known),
    /// Indices of some dimensions, ascending.
    Indices(Vec<(usize, &'a Known)>),
}

fn places<'a>(call: &Call<'a>) -> Option<Places<'a>> {
    let indices = call.tensors_of("indices")?.into_iter().enumerate();
    let given: Vec<(usize, &Known)> = indices
        .filter_map(|(axis, index)| Some((axis, index?)))
        .collect();
    match given.as_slice() {
        [(0, mask)] if mask.dtype == Some(DType::Bool) => Some(Places::Mask(mask)),
        [] => None,
        _ => {
            let is_whole =
                |(_, index): &(usize, &Known)| matches!(index.dtype, Some(DType::I64 | DType::I32));
            given.iter().all(is_whole).then_some(Places::Indices(given))
        }
    }
}

/// A tensor as rows: its first dimensions joined to one.
fn rows(of: &[Size], joined: usize) -> Option<Sizes> {
    let (first, rest) = of.split_at_checked(joined)?;
    let count = elements(first)?;
    Some([std::slice::from_ref(&count), rest].concat())
}

/// The dimensions that have indices, before the others.
struct Front {
    /// The indices, as the arguments of a call.
    names: String,
    perm: Vec<usize>,
    /// The first dimension that has an index.
    first: usize,
    /// Whether no dimension without an index is between them.
    is_together: bool,
}

impl Front {
    fn of(given: &[(usize, &Known)], rank: usize) -> Option<Self> {
        let axes: Vec<usize> = given.iter().map(|(axis, _)| *axis).collect();
        let others = (0..rank).filter(|axis| !axes.contains(axis));
        let (first, last) = (*axes.first()?, *axes.last()?);
        let names: Vec<&str> = given.iter().map(|(_, index)| index.name.as_str()).collect();
        Some(Self {
            names: names.join(", "),
            perm: axes.iter().copied().chain(others).collect(),
            first,
            is_together: last - first + 1 == axes.len(),
        })
    }
}

/// Elements at indices, or where a mask is true.
pub(super) fn index(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let given = match places(call)? {
        Places::Mask(mask) => {
            let joined = mask.shape.as_ref()?.len();
            let (count, flat) = (call.list(call.shape.get(..1)?), rows(shape, joined)?);
            let (name, flat) = (&mask.name, call.list(&flat));
            let mut text =
                format!("{{y}}_places = opaque({name}, name=aten.nonzero) : i64{count}\n");
            let mut from = "{self}";
            if joined > 1 {
                // Writing to a `String` cannot fail.
                let _ = writeln!(text, "{{y}}_flat = reshape({{self}}, shape={flat})");
                from = "{y}_flat";
            }
            return Some(Becomes::lines(format!(
                "{text}{{y}} = index({from}, {{y}}_places)"
            )));
        }
        Places::Indices(given) => given,
    };
    let Front {
        names,
        perm,
        first,
        is_together,
    } = Front::of(&given, shape.len())?;
    if perm.is_sorted() {
        return Some(Becomes::lines(format!("{{y}} = index({{self}}, {names})")));
    }
    // Views bring the indexed dimensions to the front, and back if they are neighbours.
    let mut text = format!("{{y}}_front = transpose({{self}}, perm={perm:?})\n");
    if !is_together || first == 0 {
        return Some(Becomes::lines(format!(
            "{text}{{y}} = index({{y}}_front, {names})"
        )));
    }
    let written = call.shape.len() + given.len();
    let ranks = written.checked_sub(shape.len())?;
    let mut back: Vec<usize> = (ranks..ranks + first).collect();
    back.extend(0..ranks);
    back.extend(ranks + first..call.shape.len());
    let _ = write!(
        text,
        "{{y}}_rows = index({{y}}_front, {names})\n{{y}} = transpose({{y}}_rows, perm={back:?})"
    );
    Some(Becomes::lines(text))
}

/// Elements that are written at indices, or where a mask is true.
pub(super) fn index_put(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let values = call.shape_of("values")?;
    let function = if call.flag("accumulate") {
        "index_add"
    } else {
        "index_copy"
    };
    let given = match places(call)? {
        Places::Mask(mask) => return put_at_mask(call, mask, function),
        Places::Indices(given) => given,
    };
    if let [(axis, index)] = given.as_slice()
        && let Some([count]) = index.shape.as_deref()
    {
        let mut wanted = shape.to_vec();
        *wanted.get_mut(*axis)? = count.clone();
        let (text, from) = values_of(call, &wanted)?;
        let name = &index.name;
        return Some(cast(format!(
            "{text}{{y}} = {function}({{self}}, {name}, {from}, axis={axis})"
        )));
    }
    if function == "index_add" {
        return add_at_rows(call, shape, &given);
    }
    let Front {
        names,
        perm,
        first,
        is_together,
    } = Front::of(&given, shape.len())?;
    if perm.is_sorted() {
        return Some(cast(format!(
            "{{y}} = index_put({{self}}, {names}, {{values}})"
        )));
    }
    // Views bring the indexed dimensions to the front and back.
    let mut text = format!("{{y}}_front = transpose({{self}}, perm={perm:?})\n");
    let mut from = "{values}";
    // Behind dimensions that have no index, those of the indices are in the middle of the values.
    let rest = shape.len().checked_sub(first + given.len())?;
    if is_together && values.len() > rest {
        let shapes = given.iter().map(|(_, index)| index.shape.as_deref());
        let indexed = shapes.map(|shape| Some(shape?.len())).max()??;
        let rank = first + indexed + rest;
        let padded = rank.checked_sub(values.len())?;
        if padded > 0 {
            let ones = vec![Size::from(1); padded];
            let all = call.list(&[ones.as_slice(), values].concat());
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{{y}}_all = reshape({{values}}, shape={all})");
            from = "{y}_all";
        }
        let order = (first..first + indexed).chain(0..first);
        let order: Vec<usize> = order.chain(first + indexed..rank).collect();
        let _ = writeln!(text, "{{y}}_values = transpose({from}, perm={order:?})");
        from = "{y}_values";
    }
    let mut back = vec![0; perm.len()];
    for (place, &axis) in perm.iter().enumerate() {
        *back.get_mut(axis)? = place;
    }
    let _ = write!(
        text,
        "{{y}}_put = index_put({{y}}_front, {names}, {from})\n\
         {{y}} = transpose({{y}}_put, perm={back:?})"
    );
    Some(cast(text))
}

/// The line that brings the values of a write to the shape that they fill, and their name.
fn values_of(call: &Call<'_>, wanted: &[Size]) -> Option<(String, String)> {
    let values = call.shape_of("values")?;
    let list = call.list(wanted);
    let (function, from) = if values == wanted {
        return Some((String::new(), "{values}".to_owned()));
    } else if elements(values)? == elements(wanted)? {
        // The graph has dropped dimensions of size 1, often by a reshape.
        let source = call.known(call.written.unshaped(call.tensor_index("values")?))?;
        let is_typed = source.dtype == Some(call.dtype);
        if is_typed && source.shape.as_deref() == Some(wanted) {
            return Some((String::new(), source.name.clone()));
        }
        let own = is_typed.then_some(source.name.as_str());
        ("reshape", own.unwrap_or("{values}"))
    } else {
        ("expand", "{values}")
    };
    let text = format!("{{y}}_values = {function}({from}, shape={list})\n");
    Some((text, "{y}_values".to_owned()))
}

/// Adds rows to those at indices of the first dimensions.
fn add_at_rows(call: &Call<'_>, shape: &[Size], given: &[(usize, &Known)]) -> Option<Becomes> {
    let axes = given.iter().map(|(axis, _)| *axis);
    if !axes.eq(0..given.len()) {
        return None;
    }
    // The index of a row of the tensor whose indexed dimensions are joined.
    let mut text = String::new();
    let mut at = given.first()?.1.name.clone();
    let mut common = given.first()?.1.shape.clone()?;
    for (axis, index) in given.iter().skip(1) {
        let size = shape.get(*axis)?.as_int()?;
        let name = &index.name;
        let _ = write!(
            text,
            "{{y}}_scaled{axis} = mul({at}, {size})\n\
             {{y}}_at{axis} = add({{y}}_scaled{axis}, {name})\n"
        );
        at = format!("{{y}}_at{axis}");
        common = broadcast(&common, index.shape.as_deref()?);
    }
    let rest = shape.get(given.len()..)?;
    let count = elements(&common)?;
    let flat = call.list(&rows(shape, given.len())?);
    let wide = call.list(&[common.as_slice(), rest].concat());
    let list = call.list(std::slice::from_ref(&count));
    let all = call.list(&[std::slice::from_ref(&count), rest].concat());
    let _ = write!(
        text,
        "{{y}}_places = reshape({at}, shape={list})\n\
         {{y}}_wide = expand({{values}}, shape={wide})\n\
         {{y}}_values = reshape({{y}}_wide, shape={all})\n\
         {{y}}_flat = reshape({{self}}, shape={flat})\n\
         {{y}}_put = index_add({{y}}_flat, {{y}}_places, {{y}}_values, axis=0)\n\
         {{y}} = reshape({{y}}_put)"
    );
    Some(cast(text))
}

fn put_at_mask(call: &Call<'_>, mask: &Known, function: &str) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let values = call.shape_of("values")?;
    let masked = mask.shape.as_deref()?;
    let name = &mask.name;
    if elements(values)?.is_one() && function == "index_copy" {
        let ones = vec![Size::from(1); shape.len().checked_sub(masked.len())?];
        let wide = call.list(&[masked, &ones].concat());
        return Some(cast(format!(
            "{{y}}_value = reshape({{values}}, shape=[])\n\
             {{y}}_mask = reshape({name}, shape={wide})\n\
             {{y}} = where({{y}}_mask, {{y}}_value, {{self}})"
        )));
    }
    let flat = call.list(&rows(shape, masked.len())?);
    let count = call.list(values.get(..1)?);
    (values.len() == shape.len() + 1 - masked.len()).then(|| {
        cast(format!(
            "{{y}}_places = opaque({name}, name=aten.nonzero) : i64{count}\n\
             {{y}}_flat = reshape({{self}}, shape={flat})\n\
             {{y}}_put = {function}({{y}}_flat, {{y}}_places, {{values}}, axis=0)\n\
             {{y}} = reshape({{y}}_put)"
        ))
    })
}

/// Lines whose values are cast to the type of the tensor that they are written into.
fn cast(text: String) -> Becomes {
    Becomes::Lines(Cast::Result, text)
}

/// A part of a tensor, written over: a write into the tensor where it is that of the caller or the
/// part has a step, else what stands before the part, the part, and what stands behind.
pub(super) fn slice_scatter(call: &Call<'_>) -> Option<Becomes> {
    if call.meta("src")?.has_no_elements() {
        return call.tensor_index("self").map(Becomes::Same);
    }
    let shape = call.shape_of("self")?;
    let axis = call.axis_or_first("dim", shape.len())?;
    let size = shape.get(axis)?;
    let from_end = |index: Size| match (index.as_int(), size.as_int()) {
        (Some(own), _) if own < 0 => size.add(&index),
        (Some(own), Some(size)) => Some(Size::from(own.min(size))),
        _ => Some(index),
    };
    let is_select = call.operator == "select_scatter";
    let start = from_end(if is_select {
        call.size("index")?
    } else {
        call.size("start").unwrap_or(Size::from(0))
    })?;
    let end = if is_select {
        start.add(&Size::from(1))?
    } else {
        match call.size("end") {
            Some(end) if end.as_int().is_none_or(|end| end < 1 << 62) => from_end(end)?,
            _ => size.clone(),
        }
    };
    let step = if call.differs("step", 1.0) {
        format!(", step={}", call.int("step")?)
    } else {
        String::new()
    };
    let mut text = String::new();
    let mut part = "{src}";
    if is_select {
        let mut one = shape.to_vec();
        *one.get_mut(axis)? = Size::from(1);
        let _ = writeln!(
            text,
            "{{y}}_part = reshape({{src}}, shape={})",
            call.list(&one)
        );
        part = "{y}_part";
    }
    if start == Size::from(0) && &end == size && step.is_empty() {
        let source = call.tensor_index("src")?;
        return Some(if is_select {
            Becomes::Reshape(source)
        } else {
            Becomes::Same(source)
        });
    }
    // Elements between those of the part are no ranges that could be joined with it.
    if call.is_written_slice || !step.is_empty() {
        let (first, last) = (call.one(&start), call.one(&end));
        let _ = write!(
            text,
            "{{y}} = slice_scatter({{self}}, {part}, start={first}, end={last}{step}, axis={axis})"
        );
        return Some(cast(text));
    }
    let range = Range { axis, start, end };
    let whole = call.tensor_index("self")?;
    Some(cast(text + &with_part(call.written, whole, part, &range)?))
}
