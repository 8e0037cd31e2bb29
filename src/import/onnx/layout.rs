//! Words of the table about ops that move elements.

use crate::constant::{Scalar, float_text};
use crate::onnx::arithmetic::number;
use crate::onnx::call::Call;
use crate::onnx::fold::whole;
use crate::onnx::results;
use crate::shapes::{Sizes, dimension};
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

/// A border of one value, in the notation's order, the last dimension first; any other border moves
/// elements of the input.
pub(super) fn pad(call: &Call<'_>) -> Option<String> {
    let is_constant = matches!(call.word("mode"), None | Some("constant"));
    let flat = borders(call).filter(|flat| is_constant && flat.iter().all(|&border| border >= 0));
    if let (Some(flat), Some(value)) = (flat, border_value(call)) {
        return Some(format!("{{y}} = pad({{0}}, pad={flat:?}{value})"));
    }
    let shape = results::output_shape(call)?;
    let is_possible = |size: &Size| call.default_of(size).is_some_and(|size| size > 0);
    (shape.iter().all(is_possible)).then(|| "{y} = rearrange({0}) : {output}".to_owned())
}

/// The value of a border as an attribute, if it is not 0; `None` where only a run gives it.
fn border_value(call: &Call<'_>) -> Option<String> {
    let value = if call.has(2) {
        number(call, call.value(2)?.only()?)?
    } else {
        call.float("value").unwrap_or(0.0)
    };
    if value == 0.0 {
        return Some(String::new());
    }
    // About the largest number of f32 stands for infinity.
    let value = float_text(value.clamp(-3.4e38, 3.4e38))?;
    Some(format!(", value={value}"))
}

/// Elements of blocks of an image that become channels, or the reverse.
pub(super) fn blocks(call: &Call<'_>) -> Option<String> {
    let [batch, channels, height, width] = call.shape(0)? else {
        return None;
    };
    let block = Size::from(call.int("blocksize")?);
    let (split, perm) = if call.operator() == "SpaceToDepth" {
        let (rows, columns) = (height.div_exact(&block)?, width.div_exact(&block)?);
        let split = [batch, channels, &rows, &block, &columns, &block].map(Size::clone);
        (split, [0, 3, 5, 1, 2, 4])
    } else {
        let channels = channels.div_exact(&block.mul(&block)?)?;
        // The first part of the channels counts the elements of a block, or the last.
        if call.word("mode") == Some("CRD") {
            let split = [batch, &channels, &block, &block, height, width].map(Size::clone);
            (split, [0, 1, 4, 2, 5, 3])
        } else {
            let split = [batch, &block, &block, &channels, height, width].map(Size::clone);
            (split, [0, 3, 4, 1, 5, 2])
        }
    };
    Some(format!(
        "{{y}}_blocks = reshape({{0}}, shape={})\n\
         {{y}}_turned = transpose({{y}}_blocks, perm={perm:?})\n\
         {{y}} = reshape({{y}}_turned, shape={})",
        call.list(&split),
        call.list(&results::output_shape(call)?)
    ))
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
    let runs_back = |step: &Size| step.as_int().is_some_and(|step| step < 0);
    if !steps.is_empty() && steps.iter().all(runs_back) {
        let shape = reversed(call, shape, [&starts, &ends, &along, &steps])?;
        return Some(format!("{{y}} = rearrange({{0}}) : {}", call.typed(&shape)));
    }
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

/// The shape of slices that run backwards.
fn reversed(
    call: &Call<'_>,
    shape: &[Size],
    [starts, ends, along, steps]: [&[Size]; 4],
) -> Option<Sizes> {
    let mut output = shape.to_vec();
    for (index, start) in starts.iter().enumerate() {
        let axis = dimension(along.get(index)?.as_int()?, shape.len())?;
        let size = shape.get(axis)?;
        let length = call.default_of(size)?;
        let bound = |index: &Size| {
            let index = call.default_of(index)?;
            let index = if index < 0 {
                index.saturating_add(length)
            } else {
                index
            };
            Some(index.clamp(-1, length - 1))
        };
        let step = steps.get(index)?.as_int()?.checked_neg()?;
        let taken = bound(start)?.checked_sub(bound(ends.get(index)?)?)?;
        let count = taken.checked_add(step - 1)?.checked_div(step)?;
        if count != length {
            let count = (count > 0).then(|| Size::from(count))?;
            *output.get_mut(axis)? = count.computed_from(size);
        }
    }
    Some(output)
}

/// One output of a split.
pub(super) fn piece(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0)?;
    let axis = dimension(call.int("axis").unwrap_or(0), shape.len())?;
    let index = call.output_index;
    let parts = call.node.outputs.len();
    let (sizes, list) = (call.sizes(1), call.ints("split"));
    let whole = shape.get(axis)?;
    let is_equal = match (&sizes, list) {
        (Some(sizes), _) => sizes.windows(2).all(|pair| pair.first() == pair.last()),
        (None, Some(list)) => list.windows(2).all(|pair| pair.first() == pair.last()),
        (None, None) if call.has(1) => return None,
        (None, None) => {
            let parts = i64::try_from(parts).ok()?;
            if call.default_of(whole)?.checked_rem(parts)? != 0 {
                // All pieces have the size rounded up but the last one, which has the rest.
                let whole = call.fixed(whole)?;
                let size = whole.checked_add(parts - 1)? / parts;
                let start = size.checked_mul(i64::try_from(index).ok()?)?.min(whole);
                let end = start.checked_add(size)?.min(whole);
                return (start < end)
                    .then(|| format!("slice({{0}}, start={start}, end={end}, axis={axis})"));
            }
            true
        }
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
            call.reshape_list(&shape)
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

/// Height and width of an image that is resized, where only they change.
pub(super) fn image(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0).filter(|shape| shape.len() == 4)?;
    let output = resized(call).or_else(|| call.output.shape.clone())?;
    (output.get(..2)? == shape.get(..2)?).then(|| output.get(2..4).map(|image| call.list(image)))?
}

/// The shape of a tensor that is resized.
pub(super) fn resized(call: &Call<'_>) -> Option<Sizes> {
    let shape = call.shape(0)?;
    let axes: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes
            .iter()
            .map(|&axis| dimension(axis, shape.len()))
            .collect::<Option<_>>()?,
        None => (0..shape.len()).collect(),
    };
    let mut output = shape.to_vec();
    if let Some(sizes) = call.sizes(3).filter(|sizes| !sizes.is_empty()) {
        let policy = call.word("keep_aspect_ratio_policy").unwrap_or("stretch");
        let ratios = axes.iter().zip(&sizes).map(|(&axis, size)| {
            Some(call.fixed(size)? as f64 / call.fixed(shape.get(axis)?)? as f64)
        });
        let factor = match policy {
            "not_larger" => Some(
                ratios
                    .collect::<Option<Vec<f64>>>()?
                    .into_iter()
                    .fold(f64::MAX, f64::min),
            ),
            "not_smaller" => Some(
                ratios
                    .collect::<Option<Vec<f64>>>()?
                    .into_iter()
                    .fold(0.0, f64::max),
            ),
            _ => None,
        };
        for (axis, size) in axes.into_iter().zip(sizes) {
            let own = output.get_mut(axis)?;
            *own = match factor {
                Some(factor) => scaled(call, own, |own| (own * factor).round())?,
                None => size,
            };
        }
        return Some(output);
    }
    // Since opset 11, `roi` stands before `scales`; the first version had them as an attribute.
    let stated: Option<Vec<f64>> = call.floats("scales").map(Iterator::collect);
    let factors: Vec<Scalar> = if let Some(scales) = stated {
        scales.into_iter().map(Scalar::Float).collect()
    } else {
        let at = if call.input_count() == 2 { 1 } else { 2 };
        call.value(at)?.elements.clone()
    };
    if factors.len() != axes.len() {
        return None;
    }
    for (axis, factor) in axes.into_iter().zip(factors) {
        let own = output.get_mut(axis)?;
        *own = match factor {
            Scalar::Int(by) => own.mul(&by)?,
            Scalar::Float(by) if by.fract() == 0.0 => own.mul(&whole(by)?)?,
            Scalar::Float(by) => scaled(call, own, |own| (own * by).floor())?,
        };
    }
    Some(output)
}

/// A size by a factor that is no whole number, which holds only at the defaults of the params.
fn scaled(call: &Call<'_>, size: &Size, scale: impl Fn(f64) -> f64) -> Option<Size> {
    Some(whole(scale(call.fixed(size)? as f64))?.computed_from(size))
}

/// The largest values, or their indices. No function gives the smallest.
pub(super) fn topk(call: &Call<'_>) -> Option<String> {
    let axis = call.int("axis").unwrap_or(-1);
    let function = match call.output_index {
        0 => "topk",
        _ => "topk_indices",
    };
    let is_largest = call.int("largest").unwrap_or(1) != 0;
    is_largest.then(|| format!("{{y}} = {function}({{0}}, count={{count}}, axis={axis})"))
}
