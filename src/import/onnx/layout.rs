//! Words of the table about ops that move elements.

use crate::constant::Scalar;
use crate::onnx::call::Call;
use crate::onnx::fold::whole;
use crate::shapes::{Sizes, dimension};
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

/// Borders in the notation's order, the last dimension first.
pub(super) fn pads(call: &Call<'_>) -> Option<String> {
    let flat = borders(call)?;
    let is_zeros = matches!(call.word("mode"), None | Some("constant"));
    (is_zeros && flat.iter().all(|&border| border >= 0)).then(|| format!("{flat:?}"))
}

/// Borders before and behind each of the last dimensions, the last one first.
pub(super) fn borders(call: &Call<'_>) -> Option<Vec<i64>> {
    let pads = call.numbers(1, "pads")?;
    let axes: Vec<usize> = if call.has(3) {
        let named = call.sizes(3)?;
        let named = named
            .iter()
            .map(|axis| dimension(axis.as_int()?, call.rank(0)?));
        named.collect::<Option<_>>()?
    } else {
        (0..pads.len() / 2).collect()
    };
    let rank = call.rank(0)?;
    let mut borders = vec![[0, 0]; rank];
    for (index, axis) in axes.into_iter().enumerate() {
        *borders.get_mut(axis)? = [*pads.get(index)?, *pads.get(index + pads.len() / 2)?];
    }
    borders.reverse();
    while borders.len() > 1 && borders.last() == Some(&[0, 0]) {
        borders.pop();
    }
    Some(borders.concat())
}

/// A slice along each axis that is named.
pub(super) fn slices(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0)?;
    let sizes = |index: usize, name: &str| match call.sizes(index) {
        Some(sizes) => Some(sizes),
        None => call
            .ints(name)
            .map(|list| list.iter().map(|&i| Size::from(i)).collect()),
    };
    let (starts, ends) = (sizes(1, "starts")?, sizes(2, "ends")?);
    let along: Sizes = if call.has(3) || call.ints("axes").is_some() {
        sizes(3, "axes")?
    } else {
        (0_i64..).take(starts.len()).map(Size::from).collect()
    };
    let steps: Sizes = if call.has(4) {
        sizes(4, "steps")?
    } else {
        vec![Size::from(1); starts.len()]
    };
    let mut lines = Vec::new();
    let mut input = "{0}".to_owned();
    for (index, start) in starts.iter().enumerate() {
        let axis = dimension(along.get(index)?.as_int()?, shape.len())?;
        let (size, end) = (shape.get(axis)?, ends.get(index)?);
        let step = steps.get(index)?.as_int().filter(|&step| step > 0)?;
        // An end past the last element means the end of the dimension.
        let is_rest = call.default_of(end)? >= call.default_of(size)?;
        let start_at = start
            .as_int()
            .filter(|&at| at == 0 || call.default_of(size).is_some_and(|s| at <= -s));
        if is_rest && start_at.is_some() && step == 1 {
            continue;
        }
        // Writing to a `String` cannot fail.
        let mut range = format!("start={}", call.one(start));
        if !is_rest {
            let _ = write!(range, ", end={}", call.one(end));
        }
        if step != 1 {
            let _ = write!(range, ", step={step}");
        }
        let output = format!("{{y}}_{axis}");
        lines.push(format!("{output} = slice({input}, {range}, axis={axis})"));
        input = output;
    }
    match lines.last_mut() {
        Some(line) => *line = line.replacen(&input, "{y}", 1),
        // All of it: the input itself.
        None => return Some(String::new()),
    }
    Some(lines.join("\n"))
}

/// One output of a split.
pub(super) fn piece(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0)?;
    let axis = dimension(call.int("axis").unwrap_or(0), shape.len())?;
    let index = call.output_index;
    let parts = call.node.outputs.len();
    let (sizes, list) = (call.sizes(1), call.ints("split"));
    let is_equal = match (&sizes, list) {
        (Some(sizes), _) => sizes.windows(2).all(|pair| pair.first() == pair.last()),
        (None, Some(list)) => list.windows(2).all(|pair| pair.first() == pair.last()),
        (None, None) => !call.has(1),
    };
    if is_equal {
        return Some(format!(
            "split({{0}}, parts={parts}, index={index}, axis={axis})"
        ));
    }
    let (start, own) = if let Some(sizes) = sizes {
        let mut before = sizes.get(..index)?.iter();
        let start = before.try_fold(Size::from(0), |sum, size| sum.add(size))?;
        (start, sizes.get(index)?.clone())
    } else {
        // Each output sums the pieces before it, and the list of an attribute may be long. Numbers
        // add faster than sizes.
        let list = list?;
        let mut before = list.get(..index)?.iter();
        let start = before.try_fold(0_i64, |sum, &size| sum.checked_add(size))?;
        (Size::from(start), Size::from(*list.get(index)?))
    };
    let end = start.add(&own)?;
    Some(format!(
        "slice({{0}}, start={}, end={}, axis={axis})",
        call.one(&start),
        call.one(&end)
    ))
}

pub(super) fn gather(call: &Call<'_>) -> Option<String> {
    let (data, index) = (call.shape(0)?, call.shape(1)?);
    let axis = dimension(call.int("axis").unwrap_or(0), data.len())?;
    let (outer, inner) = (data.get(..axis)?, data.get(axis + 1..)?);
    let shape = [outer, index, inner].concat();
    if let Some(size) = call.value(1).and_then(|value| match value.only() {
        Some(Scalar::Int(size)) => size.as_int(),
        _ => None,
    }) {
        // A single index is a slice of one element. At -1 its end is the end of the dimension.
        let end = if size == -1 {
            String::new()
        } else {
            format!(", end={}", size.checked_add(1)?)
        };
        return Some(format!(
            "{{y}}_slice = slice({{0}}, start={size}{end}, axis={axis})\n{{y}} = reshape({{y}}_slice, shape={})",
            call.list(&shape)
        ));
    }
    if axis == 0 && data.len() == 2 {
        return Some("{y} = embedding({1}, {0})".to_owned());
    }
    if axis == 0 && call.input(1)?.dtype == Some(DType::I64) {
        return Some("{y} = index({0}, {1})".to_owned());
    }
    Some(format!(
        "{{y}} = rearrange({{0}}, {{1}}) : {}",
        call.typed(&shape)
    ))
}

/// Height and width of an image that is resized.
pub(super) fn image(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0).filter(|shape| shape.len() == 4)?;
    let stated = call.sizes(3).filter(|sizes| sizes.len() == 4);
    if let Some(sizes) = stated.or_else(|| call.output.shape.clone()) {
        return sizes.get(2..4).map(|image| call.list(image));
    }
    // Since opset 11, `roi` stands before `scales`.
    let factors = call.value(if call.input_count() == 2 { 1 } else { 2 })?;
    let factors = factors.elements.get(2..4)?;
    let scaled = shape.iter().skip(2).zip(factors);
    scaled
        .map(|(size, factor)| match factor {
            Scalar::Int(by) => size.mul(by),
            Scalar::Float(by) if by.fract() == 0.0 => size.mul(&whole(*by)?),
            // This size holds only at the defaults of the params.
            Scalar::Float(by) => whole((call.fixed(size)? as f64 * by).floor()),
        })
        .collect::<Option<Sizes>>()
        .map(|image| call.list(&image))
}

/// The largest values. Where their indices are read, too, those are written first.
pub(super) fn topk(call: &Call<'_>) -> String {
    let axis = call.int("axis").unwrap_or(-1);
    match call.other_output(1) {
        Some(indices) => format!("gather({{0}}, {indices}, axis={axis})"),
        None => format!("topk({{0}}, count={{count}}, axis={axis})"),
    }
}
