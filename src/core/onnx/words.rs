//! Works out the words of the table of operators: what depends on attributes, on shapes or on known inputs.

use crate::core::onnx::call::{Call, float_text};
use crate::core::onnx::fold::{Scalar, whole};
use crate::core::onnx::proto::{Number, element_type};
use crate::core::onnx::shapes::{Sizes, broadcast, dimension};
use crate::core::onnx::size::Size;

/// The text that stands for a word; `None` where the node is not of a form that the notation has.
pub(super) fn word(name: &str, call: &Call<'_>) -> Option<String> {
    match name {
        "type" => element(call).map(str::to_owned),
        "output" => typed(
            call,
            call.output.shape.as_deref().or(made(call).as_deref())?,
        ),
        "bounds" => bounds(call),
        "triangle" => triangle(call),
        "fast_gelu" => {
            let x = "gelu({0}, approximate=tanh)".to_owned();
            (!call.has(1)).then_some(x)
        }
        "axes" => axes(call),
        "axis_kept" => {
            let axis = call.int("axis").unwrap_or(0);
            Some(format!("axis={axis}{}", keepdim(call)))
        }
        "softmax_axis" => softmax_axis(call),
        "count" => match call.int("k") {
            Some(count) => Some(count.to_string()),
            None => call.sizes(1)?.first().map(|size| call.one(size)),
        },
        "last_axis" => {
            let axis = call.int("axis").unwrap_or(-1);
            let is_last = axis == -1 || usize::try_from(axis).ok()? + 1 == call.rank(0)?;
            is_last.then(|| "{0}".to_owned())
        }
        "channels" => call.shape(0)?.get(1).map(|size| call.one(size)),
        "image_axes" => {
            let axes: Vec<usize> = (2..call.rank(0)?).collect();
            (!axes.is_empty()).then(|| format!("{axes:?}"))
        }
        "pool" | "window" => window(name, call),
        "conv" => match call.rank(1)? {
            3 => Some("conv1d".to_owned()),
            4 => Some("conv2d".to_owned()),
            _ => None,
        },
        "matmul" => matmul(call),
        "gemm" => gemm(call),
        "transposed" => {
            let is_plain = call.float("alpha").is_none_or(|alpha| alpha == 1.0);
            let no_batches = ["transBatchA", "transBatchB"]
                .iter()
                .all(|n| call.int(n).unwrap_or(0) == 0);
            let flags =
                [("transA", "transpose_a"), ("transB", "transpose_b")].map(|(own, flag)| {
                    if call.int(own) == Some(1) {
                        format!(", {flag}=true")
                    } else {
                        String::new()
                    }
                });
            (is_plain && no_batches).then(|| flags.concat())
        }
        "four_dimensions" => (call.rank(0)? == 4 && !call.has(4)).then(|| "{0}".to_owned()),
        "attention" => {
            let causal = if call.int("is_causal") == Some(1) {
                ", causal=true"
            } else {
                ""
            };
            let scale = call.float("scale").and_then(float_text);
            let scale = scale.map_or_else(String::new, |scale| format!(", scale={scale}"));
            Some(format!("{causal}{scale}"))
        }
        "shape" => call.reshaped().map(|shape| call.list(&shape)),
        "perm" => match call.ints("perm") {
            Some(perm) => Some(format!("{perm:?}")),
            None => Some(format!(
                "{:?}",
                (0..call.rank(0)?).rev().collect::<Vec<_>>()
            )),
        },
        "expanded" => {
            let wanted = call.sizes(1);
            let known = wanted.map(|wanted| call.shape(0).map(|own| broadcast(own, &wanted)));
            known
                .flatten()
                .or_else(|| call.output.shape.clone())
                .map(|shape| call.list(&shape))
        }
        "times" => call.sizes(1).map(|times| call.list(&times)),
        "pads" => pads(call),
        "all" => {
            let places = (0..call.input_count()).filter(|&place| call.has(place));
            let inputs: Vec<String> = places.map(|place| format!("{{{place}}}")).collect();
            (inputs.len() > 1).then(|| inputs.join(", "))
        }
        "slices" => slices(call),
        "piece" => piece(call),
        "gather" => gather(call),
        "scatter" => match call.word("reduction") {
            None | Some("none") => Some("scatter".to_owned()),
            Some("add") => Some("scatter_add".to_owned()),
            Some(_) => None,
        },
        "image" => image(call),
        "resize_mode" => match call.word("mode") {
            None | Some("nearest") => Some("nearest".to_owned()),
            Some("linear") => Some("bilinear".to_owned()),
            Some(_) => None,
        },
        "fill" => fill(call),
        _ => None,
    }
}

/// The element type that a node gives.
pub(super) fn element(call: &Call<'_>) -> Option<&'static str> {
    let to = call.int("to").and_then(|to| i32::try_from(to).ok());
    let like = || {
        call.input(1)
            .filter(|_| call.operator() == "CastLike")?
            .dtype
    };
    Some(
        to.and_then(element_type)
            .or_else(like)
            .or(call.output.dtype)?
            .name(),
    )
}

/// A type of the notation: `f32[B, 64]`.
pub(super) fn typed(call: &Call<'_>, shape: &[Size]) -> Option<String> {
    let filled = call
        .tensor("value")
        .and_then(|value| element_type(value.data_type));
    let first = || {
        call.input(0)
            .filter(|_| call.operator() != "ConstantOfShape")?
            .dtype
    };
    let dtype = call.output.dtype.or(filled).or_else(first);
    let dtype = dtype.map_or("f32", |dtype| dtype.name());
    Some(format!("{dtype}{}", call.list(shape)))
}

/// The shape of what is made from nothing, or laid out in blocks.
fn made(call: &Call<'_>) -> Option<Sizes> {
    match call.operator() {
        "ConstantOfShape" => call.sizes(0),
        "Range" => {
            let number = |place: usize| call.sizes(place)?.into_iter().next();
            let length = number(1)?.sub(&number(0)?)?;
            Some(vec![length.div_exact(&number(2)?)?])
        }
        "DepthToSpace" | "SpaceToDepth" => {
            let block = Size::from(call.int("blocksize")?);
            let [batch, channels, height, width] = call.shape(0)? else {
                return None;
            };
            let area = block.mul(&block)?;
            Some(if call.operator() == "DepthToSpace" {
                vec![
                    batch.clone(),
                    channels.div_exact(&area)?,
                    height.mul(&block)?,
                    width.mul(&block)?,
                ]
            } else {
                vec![
                    batch.clone(),
                    channels.mul(&area)?,
                    height.div_exact(&block)?,
                    width.div_exact(&block)?,
                ]
            })
        }
        _ => None,
    }
}

fn bounds(call: &Call<'_>) -> Option<String> {
    let bound = |place: usize, name: &str| match (call.has(place), call.float(name)) {
        (true, _) => Some(format!(", {name}={}", call.number_text(place)?)),
        (false, Some(bound)) => Some(format!(", {name}={}", float_text(bound)?)),
        (false, None) => Some(String::new()),
    };
    Some(bound(1, "min")? + &bound(2, "max")?)
}

fn triangle(call: &Call<'_>) -> Option<String> {
    let function = if call.int("upper") == Some(0) {
        "tril"
    } else {
        "triu"
    };
    let diagonal = if call.has(1) {
        call.number_text(1)?
    } else {
        "0".to_owned()
    };
    Some(format!("{function}({{0}}, diagonal={diagonal})"))
}

fn keepdim(call: &Call<'_>) -> &'static str {
    if call.int("keepdims") == Some(0) {
        ", keepdim=false"
    } else {
        ""
    }
}

fn axes(call: &Call<'_>) -> Option<String> {
    let rank = call.rank(0)?;
    let is_named = call.has(1) || call.ints("axes").is_some();
    let axes = if is_named {
        call.axes(1, rank)?
    } else {
        Vec::new()
    };
    let axes = if axes.is_empty() {
        (0..rank).collect()
    } else {
        axes
    };
    let axis = match axes.as_slice() {
        [] => return None,
        [axis] => axis.to_string(),
        axes => format!("{axes:?}"),
    };
    Some(format!("axis={axis}{}", keepdim(call)))
}

/// Before version 13 all dimensions from the axis on were one; that is the same for the last one.
fn softmax_axis(call: &Call<'_>) -> Option<String> {
    if call.version >= 13 {
        return Some(call.int("axis").unwrap_or(-1).to_string());
    }
    let axis = dimension(call.int("axis").unwrap_or(1), call.rank(0)?)?;
    (axis + 1 == call.rank(0)?).then(|| axis.to_string())
}

/// `kernel=[3, 3], stride=[2, 2], padding=[1, 1]`.
fn window(of: &str, call: &Call<'_>) -> Option<String> {
    let dims = call
        .rank(0)?
        .checked_sub(2)
        .filter(|dims| (1..=2).contains(dims))?;
    let list = |name: &str, default: i64| match call.ints(name) {
        Some(list) => (list.len() == dims).then(|| list.to_vec()),
        None => Some(vec![default; dims]),
    };
    let kernel = match call.ints("kernel_shape") {
        Some(kernel) => kernel.to_vec(),
        None => call
            .shape(1)?
            .iter()
            .skip(2)
            .map(Size::as_int)
            .collect::<Option<_>>()?,
    };
    let (strides, dilations) = (list("strides", 1)?, list("dilations", 1)?);
    let padding = match (call.word("auto_pad"), call.ints("pads")) {
        (Some("VALID"), _) | (None | Some("NOTSET"), None) => vec![0; dims],
        (None | Some("NOTSET"), Some(pads)) => {
            let (before, after) = pads.split_at_checked(dims)?;
            (before == after).then(|| before.to_vec())?
        }
        // As much on each side as keeps the size, where the stride is 1 and the window odd.
        _ => {
            let reaches = kernel
                .iter()
                .zip(&dilations)
                .map(|(k, d)| (k.saturating_sub(1)).saturating_mul(*d));
            let reaches: Vec<i64> = reaches.collect();
            let is_even =
                reaches.iter().all(|reach| reach % 2 == 0) && strides.iter().all(|&s| s == 1);
            is_even.then(|| reaches.iter().map(|reach| reach / 2).collect())?
        }
    };
    let text = |list: &[i64]| match list {
        [only] => only.to_string(),
        list => format!("{list:?}"),
    };
    if of == "pool" {
        let is_plain = dims == 2
            && call.int("ceil_mode").unwrap_or(0) == 0
            && dilations.iter().all(|&d| d == 1);
        return is_plain.then(|| {
            format!(
                "kernel={}, stride={}, padding={}",
                text(&kernel),
                text(&strides),
                text(&padding)
            )
        });
    }
    let groups = call.int("group").unwrap_or(1);
    let mut window = format!("stride={}, padding={}", text(&strides), text(&padding));
    if dilations.iter().any(|&d| d != 1) {
        window += &format!(", dilation={}", text(&dilations));
    }
    if groups != 1 {
        window += &format!(", groups={groups}");
    }
    Some(window)
}

fn matmul(call: &Call<'_>) -> Option<String> {
    match (call.shape(0), call.shape(1)) {
        // A vector on the right is a matrix of one column.
        (Some(a), Some([k])) if a.len() > 1 => {
            let rows = a.get(..a.len() - 1)?;
            Some(format!(
                "{{y}}_column = reshape({{1}}, shape={})\n{{y}}_product = matmul({{0}}, {{y}}_column)\n{{y}} = reshape({{y}}_product, shape={})",
                call.list(&[k.clone(), Size::from(1)]),
                call.list(rows)
            ))
        }
        (Some([_]), _) | (_, Some([_])) => None,
        _ => Some("{y} = matmul({0}, {1})".to_owned()),
    }
}

fn gemm(call: &Call<'_>) -> Option<String> {
    let flag = |name: &str| call.int(name).unwrap_or(0) != 0;
    let factor = |name: &str| call.float(name).filter(|&factor| factor != 1.0);
    let (transposes_a, transposes_b) = (flag("transA"), flag("transB"));
    let (alpha, beta) = (factor("alpha"), factor("beta"));
    let is_bias = !call.has(2) || call.rank(2) == Some(1);
    if transposes_b && !transposes_a && alpha.is_none() && beta.is_none() && is_bias {
        return Some("{y} = linear({0}, {1}, {2?})".to_owned());
    }
    let mut attributes = String::new();
    for (name, _) in [("transpose_a", transposes_a), ("transpose_b", transposes_b)]
        .iter()
        .filter(|(_, on)| *on)
    {
        attributes += &format!(", {name}=true");
    }
    let mut lines = vec![format!("{{y}}_product = matmul({{0}}, {{1}}{attributes})")];
    let mut last = "{y}_product";
    if let Some(alpha) = alpha {
        lines.push(format!(
            "{{y}}_scaled = scale({last}, factor={})",
            float_text(alpha)?
        ));
        last = "{y}_scaled";
    }
    if call.has(2) {
        let mut bias = "{2}";
        if let Some(beta) = beta {
            lines.push(format!(
                "{{y}}_bias = scale({{2}}, factor={})",
                float_text(beta)?
            ));
            bias = "{y}_bias";
        }
        lines.push(format!("{{y}} = add({last}, {bias})"));
    } else if let Some(line) = lines.last_mut() {
        *line = line.replacen(last, "{y}", 1);
    }
    Some(lines.join("\n"))
}

/// Borders in the notation's order, the last dimension first.
fn pads(call: &Call<'_>) -> Option<String> {
    if !matches!(call.word("mode"), None | Some("constant")) {
        return None;
    }
    let pads = call.numbers(1, "pads")?;
    let axes = match call.has(3) {
        true => call
            .sizes(3)?
            .iter()
            .map(|axis| dimension(axis.as_int()?, call.rank(0)?))
            .collect::<Option<_>>()?,
        false => (0..pads.len() / 2).collect::<Vec<usize>>(),
    };
    let rank = call.rank(0)?;
    let mut borders = vec![[0, 0]; rank];
    for (place, axis) in axes.into_iter().enumerate() {
        *borders.get_mut(axis)? = [*pads.get(place)?, *pads.get(place + pads.len() / 2)?];
    }
    borders.reverse();
    while borders.len() > 1 && borders.last() == Some(&[0, 0]) {
        borders.pop();
    }
    let flat = borders.concat();
    flat.iter()
        .all(|&border| border >= 0)
        .then(|| format!("{flat:?}"))
}

/// A slice along each axis that is named.
fn slices(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0)?;
    let list = |place: usize, name: &str| match call.sizes(place) {
        Some(sizes) => Some(sizes),
        None => call
            .ints(name)
            .map(|list| list.iter().map(|&i| Size::from(i)).collect()),
    };
    let (starts, ends) = (list(1, "starts")?, list(2, "ends")?);
    let axes: Sizes = match call.has(3) || call.ints("axes").is_some() {
        true => list(3, "axes")?,
        false => (0_i64..).take(starts.len()).map(Size::from).collect(),
    };
    let steps: Sizes = if call.has(4) {
        list(4, "steps")?
    } else {
        vec![Size::from(1); starts.len()]
    };
    let mut lines = Vec::new();
    let mut last = "{0}".to_owned();
    for (place, start) in starts.iter().enumerate() {
        let axis = dimension(axes.get(place)?.as_int()?, shape.len())?;
        let (size, end) = (shape.get(axis)?, ends.get(place)?);
        let step = steps.get(place)?.as_int().filter(|&step| step > 0)?;
        // An end past the last element is the last one.
        let is_rest = call.default_of(end)? >= call.default_of(size)?;
        let start_at = start
            .as_int()
            .filter(|&at| at == 0 || call.default_of(size).is_some_and(|s| at <= -s));
        if is_rest && start_at.is_some() && step == 1 {
            continue;
        }
        let mut range = format!("start={}", call.one(start));
        if !is_rest {
            range += &format!(", end={}", call.one(end));
        }
        if step != 1 {
            range += &format!(", step={step}");
        }
        let output = format!("{{y}}_{axis}");
        lines.push(format!("{output} = slice({last}, {range}, axis={axis})"));
        last = output;
    }
    match lines.last_mut() {
        Some(line) => *line = line.replacen(&last, "{y}", 1),
        // All of it: the input itself.
        None => return Some(String::new()),
    }
    Some(lines.join("\n"))
}

/// One output of a split.
fn piece(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0)?;
    let axis = dimension(call.int("axis").unwrap_or(0), shape.len())?;
    let index = call.output_index;
    let parts = call.node.outputs.len();
    let sizes = match call.sizes(1) {
        Some(sizes) => Some(sizes),
        None => call
            .ints("split")
            .map(|list| list.iter().map(|&i| Size::from(i)).collect()),
    };
    let is_equal = match &sizes {
        Some(sizes) => sizes.windows(2).all(|pair| pair.first() == pair.last()),
        None => !call.has(1),
    };
    if is_equal {
        return Some(format!(
            "split({{0}}, parts={parts}, index={index}, axis={axis})"
        ));
    }
    let sizes = sizes?;
    let mut before = sizes.get(..index)?.iter();
    let start = before.try_fold(Size::from(0), |sum, size| sum.add(size))?;
    let end = start.add(sizes.get(index)?)?;
    Some(format!(
        "slice({{0}}, start={}, end={}, axis={axis})",
        call.one(&start),
        call.one(&end)
    ))
}

fn gather(call: &Call<'_>) -> Option<String> {
    let (data, index) = (call.shape(0)?, call.shape(1)?);
    let axis = dimension(call.int("axis").unwrap_or(0), data.len())?;
    let (outer, inner) = (data.get(..axis)?, data.get(axis + 1..)?);
    let shape = [outer, index, inner].concat();
    if let Some(size) = call.value(1).and_then(|value| match value.only() {
        Some(Scalar::Int(size)) => size.as_int(),
        _ => None,
    }) {
        // One index is a slice. -1 is the last element, whose end is the end of all.
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
    Some(format!(
        "{{y}} = rearrange({{0}}, {{1}}) : {}",
        typed(call, &shape)?
    ))
}

/// Height and width of an image that is resized.
fn image(call: &Call<'_>) -> Option<String> {
    let shape = call.shape(0).filter(|shape| shape.len() == 4)?;
    let stated = call.sizes(3).filter(|sizes| sizes.len() == 4);
    if let Some(sizes) = stated.or_else(|| call.output.shape.clone()) {
        return sizes.get(2..4).map(|image| call.list(image));
    }
    // Whole factors; others leave a size that only the file could say.
    let numbers = call.node.inputs.len();
    let factors = (1..numbers).find_map(|place| call.input(place)?.value.as_ref());
    let factors = factors?
        .elements
        .get(2..4)?
        .iter()
        .map(|factor| match factor {
            Scalar::Int(size) => Some(size.clone()),
            Scalar::Float(factor) => whole(*factor).filter(|_| factor.fract() == 0.0),
        });
    let factors: Sizes = factors.collect::<Option<_>>()?;
    let scaled = shape
        .iter()
        .skip(2)
        .zip(&factors)
        .map(|(size, by)| size.mul(by));
    scaled
        .collect::<Option<Sizes>>()
        .map(|image| call.list(&image))
}

fn fill(call: &Call<'_>) -> Option<String> {
    let Some(value) = call.tensor("value") else {
        return Some("0".to_owned());
    };
    match value.numbers()?.first()? {
        Number::Int(number) => Some(number.to_string()),
        Number::Float(number) => float_text(*number),
    }
}
