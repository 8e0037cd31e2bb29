//! Computes the words of the table of operators, which depend on attributes, on shapes or on known
//! inputs.

use crate::constant::{Scalar, float_text};
use crate::onnx::call::Call;
use crate::onnx::fold::whole;
use crate::onnx::layout::{gather, image, pads, piece, slices, topk};
use crate::onnx::products::{attention, gemm, matmul};
use crate::onnx::proto::{Number, element_type};
use crate::onnx::quantized::{dequantized, quantized};
use crate::onnx::windows::{convolution, pool};
use crate::shapes::{Sizes, broadcast, dimension};
use crate::size::Size;
use crate::template::Blanks;

impl Blanks for Call<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        self.attribute_text(name)
    }

    fn input(&self, name: &str) -> Option<String> {
        Call::input(self, name.parse().ok()?).map(|input| input.name.clone())
    }

    fn word(&self, name: &str) -> Option<String> {
        if let Some(index) = name.strip_prefix('#') {
            return self.number_text(index.parse().ok()?);
        }
        match name.parse::<usize>() {
            Ok(_) => Blanks::input(self, name),
            Err(_) => word(name, self),
        }
    }
}

/// The text that stands for a word; `None` where the node is not of a form that the notation has.
fn word(name: &str, call: &Call<'_>) -> Option<String> {
    match name {
        "type" => element(call).map(str::to_owned),
        "output" => Some(
            call.typed(
                call.output
                    .shape
                    .as_deref()
                    .or(created_shape(call).as_deref())?,
            ),
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
        "pool" => pool(call),
        "convolution" => convolution(call),
        "quantized" => quantized(call),
        "dequantized" => dequantized(call),
        "topk" => Some(topk(call)),
        "attention" => attention(call),
        "skip_norm" => Some(skip_norm(call)),
        "skip_sum" => Some(skip_sum(call, "{y}")),
        "matmul" => matmul(call),
        "gemm" => gemm(call),
        "transposed" => {
            let is_plain = call
                .float("alpha")
                .is_none_or(|alpha| alpha.total_cmp(&1.0).is_eq());
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
            let indices = (0..call.input_count()).filter(|&index| call.has(index));
            let inputs: Vec<String> = indices.map(|index| format!("{{{index}}}")).collect();
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

/// The shape of a created tensor, or of one laid out in blocks.
fn created_shape(call: &Call<'_>) -> Option<Sizes> {
    match call.operator() {
        "ConstantOfShape" => call.sizes(0),
        "Range" => {
            let given = |at: usize| call.value(at)?.only();
            let number = |at: usize| match given(at)? {
                Scalar::Int(size) => size.as_int().map(|number| number as f64),
                Scalar::Float(number) => Some(*number),
            };
            if let (Some(start), Some(end), Some(step)) = (number(0), number(1), number(2)) {
                return Some(vec![whole(((end - start) / step).ceil().max(0.0))?]);
            }
            let size = |at: usize| match given(at)? {
                Scalar::Int(size) => Some(size.clone()),
                Scalar::Float(number) => whole(*number).filter(|_| number.fract() == 0.0),
            };
            let length = size(1)?.sub(&size(0)?)?;
            Some(vec![length.div_exact(&size(2)?)?])
        }
        "GatherND" => {
            let (data, index) = (call.shape(0)?, call.shape(1)?);
            let (length, positions) = index.split_last()?;
            let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).ok()?;
            let from = batch.checked_add(usize::try_from(length.as_int()?).ok()?)?;
            Some([positions, data.get(from..)?].concat())
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

/// Layer norm of the skip sum; reuses output 3 if the model reads it.
fn skip_norm(call: &Call<'_>) -> String {
    let (before, sum) = match call.other_output(3) {
        Some(sum) => (String::new(), sum.to_owned()),
        None => (skip_sum(call, "{y}_sum") + "\n", "{y}_sum".to_owned()),
    };
    let eps = call.attribute_text("epsilon");
    let eps = eps.unwrap_or_else(|| "1e-12".to_owned());
    format!("{before}{{y}} = layer_norm({sum}, {{2}}, {{3?}}, eps={eps})")
}

/// The sum of a residual, of what is added to it, and of a bias.
fn skip_sum(call: &Call<'_>, output: &str) -> String {
    if call.has(4) {
        format!("{{y}}_residual = add({{0}}, {{1}})\n{output} = add({{y}}_residual, {{4}})")
    } else {
        format!("{output} = add({{0}}, {{1}})")
    }
}

fn bounds(call: &Call<'_>) -> Option<String> {
    let bound = |index: usize, name: &str| match (call.has(index), call.float(name)) {
        (true, _) => Some(format!(", {name}={}", call.number_text(index)?)),
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
    let named = if is_named {
        call.axes(1, rank)?
    } else {
        Vec::new()
    };
    let text = match (named.as_slice(), rank) {
        (_, 0) => return None,
        ([], _) => format!("{:?}", (0..rank).collect::<Vec<_>>()),
        ([only], _) => only.to_string(),
        (named, _) => format!("{named:?}"),
    };
    Some(format!("axis={text}{}", keepdim(call)))
}

/// The axis of a softmax. Before version 13 a softmax flattened all dimensions from its axis on,
/// which makes no difference at the last axis.
fn softmax_axis(call: &Call<'_>) -> Option<String> {
    if call.version >= 13 {
        return Some(call.int("axis").unwrap_or(-1).to_string());
    }
    let axis = dimension(call.int("axis").unwrap_or(1), call.rank(0)?)?;
    (axis + 1 == call.rank(0)?).then(|| axis.to_string())
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
