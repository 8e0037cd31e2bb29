//! Computes the words of the table of operators, which depend on attributes, on shapes or on known
//! inputs.

use crate::constant::{Scalar, float_text};
use crate::onnx::arithmetic::number;
use crate::onnx::attention::{attention, present, projected};
use crate::onnx::call::Call;
use crate::onnx::convolutions::{convolution, transposed_convolution};
use crate::onnx::experts::mixture;
use crate::onnx::fold::whole;
use crate::onnx::fused::{
    bias_dropout, dropout, embed_norm, embed_sum, fast_gelu, mean_of_all, rows_norm, skip_norm,
    skip_sum, slope,
};
use crate::onnx::integers::{integer_function, integer_product};
use crate::onnx::layout::{blocks, gather, image, pad, piece, slices, topk};
use crate::onnx::losses::{entropy_loss, likelihood_loss};
use crate::onnx::products::{einsum, fused_matmul, gemm, matmul, short_product};
use crate::onnx::proto::{Number, element_type};
use crate::onnx::quantized::{dequantized, quantized};
use crate::onnx::rotary::rotary;
use crate::onnx::scatter::{scatter, scatter_nd};
use crate::onnx::types;
use crate::onnx::windows::{lp_pool, pool};
use crate::onnx::{resize, results};
use crate::shapes::{broadcast, dimension};
use crate::size::Size;
use crate::template::Blanks;
use fuseline_core::model::dtype::DType;

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
        "output" => typed_output(call),
        // Integers are divided without a remainder.
        "divided" => Some(if call.input(0)?.dtype.is_some_and(DType::is_integer) {
            "trunc_divide".to_owned()
        } else {
            "div".to_owned()
        }),
        "clip" => Some(clip(call)),
        "slope" => slope(call),
        "inverse_alpha" => float_text(1.0 / call.float("alpha").unwrap_or(1.0)),
        "dropout" => Some(dropout(call, "{0}")),
        "triangle" => Some(triangle(call)),
        "fast_gelu" => Some(fast_gelu("{0}", call.has(1).then_some("{1}"))),
        "gelu_of_product" => Some(fast_gelu("{y}_product", call.has(2).then_some("{2}"))),
        "mean_of_all" => mean_of_all(call),
        "bias_dropout" => bias_dropout(call),
        "norm_axes" => Some(match call.ints("axes") {
            Some(axes) => format!("{axes:?}"),
            None => "[0, 2, 3]".to_owned(),
        }),
        "likelihood_loss" => likelihood_loss(call),
        "entropy_loss" => entropy_loss(call),
        "one_hot" => one_hot(call),
        "cumulated" => Some(match call.number_text(1) {
            Some(axis) => format!("{{y}} = cumsum({{0}}, axis={axis})"),
            None => "{y} = reduction({0}) : {output}".to_owned(),
        }),
        "axes" => axes(call),
        "mean" => Some(of_floats(call, "mean({0}, {axes})")),
        "resized" => {
            let mode = resize::mode(call)?;
            let function = format!("interpolate({{0}}, size={{image}}, mode={mode})");
            Some(if mode == "nearest" {
                format!("{{y}} = {function}")
            } else {
                of_floats(call, &function)
            })
        }
        "axis_kept" => {
            let axis = call.int("axis").unwrap_or(0);
            Some(format!("axis={axis}{}", keepdim(call)))
        }
        "softmax_axis" => softmax_axis(call),
        "count" => match call.int("k") {
            Some(count) => Some(count.to_string()),
            None => call.sizes(1)?.first().map(|size| call.one(size)),
        },
        "layer_norm" => rows_norm(call, "layer_norm"),
        "rms_norm" => rows_norm(call, "rms_norm"),
        "batch_norm" => Some(
            if call.int("training_mode") == Some(1) {
                "{y} = batch_norm({0}, {1}, {2}, eps={epsilon=1e-5}, training=true)"
            } else {
                "{y} = batch_norm({0}, {3}, {4}, {1}, {2}, eps={epsilon=1e-5})"
            }
            .to_owned(),
        ),
        "channels" => call.shape(0)?.get(1).map(|size| call.one(size)),
        "image_axes" => {
            let axes: Vec<usize> = (2..call.rank(0)?).collect();
            (!axes.is_empty()).then(|| format!("{axes:?}"))
        }
        "pool" => pool(call),
        "lp_pool" => lp_pool(call),
        "convolution" => convolution(call),
        "transposed_convolution" => transposed_convolution(call),
        "quantized" => quantized(call),
        "dequantized" => dequantized(call),
        "topk" => topk(call),
        "einsum" => einsum(call),
        "attention" => attention(call),
        "present" => present(call),
        "projected_attention" => projected(call),
        "rotary" => rotary(call),
        "integer_product" => integer_product(call),
        "integer_function" => integer_function(call),
        "skip_norm" => Some(skip_norm(call)),
        "skip_sum" => Some(skip_sum(call, "{y}")),
        "embed_norm" => embed_norm(call),
        "embed_sum" => embed_sum(call, "{y}"),
        "matmul" => matmul(call),
        "gemm" => gemm(call),
        "fused_matmul" => fused_matmul(call),
        "short_product" => short_product(call),
        "mixture" => mixture(call),
        "shape" => call.reshaped().map(|shape| call.reshape_list(&shape)),
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
        "pad" => pad(call),
        "blocks" => blocks(call),
        "range" => range(call),
        "all" => {
            let indices = (0..call.input_count()).filter(|&index| call.has_elements(index));
            let inputs: Vec<String> = indices.map(|index| format!("{{{index}}}")).collect();
            (inputs.len() > 1).then(|| inputs.join(", "))
        }
        "slices" => slices(call),
        "piece" => piece(call),
        "gather" => gather(call),
        "scatter" => scatter(call),
        "scatter_nd" => scatter_nd(call),
        "image" => image(call),
        "fill" => fill(call),
        _ => None,
    }
}

/// The type of an output that no input or attribute of the notation gives.
fn typed_output(call: &Call<'_>) -> Option<String> {
    let shape = results::output_shape(call)?;
    let dtype = call.output.dtype.or_else(|| types::dtype(call));
    let dtype = dtype.unwrap_or_else(|| call.dtype());
    Some(format!("{}{}", dtype.name(), call.list(&shape)))
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

/// Elements between two bounds, which only a run may give.
fn clip(call: &Call<'_>) -> String {
    let bound = |index: usize, name: &str| match (call.has(index), call.float(name)) {
        (true, _) => Some(format!(", {name}={}", call.number_text(index)?)),
        (false, Some(bound)) => Some(format!(", {name}={}", float_text(bound)?)),
        (false, None) => Some(String::new()),
    };
    if let (Some(min), Some(max)) = (bound(1, "min"), bound(2, "max")) {
        return format!("{{y}} = clamp({{0}}{min}{max})");
    }
    match (call.has(1), call.has(2)) {
        (true, true) => "{y}_low = maximum({0}, {1})\n{y} = minimum({y}_low, {2})".to_owned(),
        (true, false) => "{y} = maximum({0}, {1})".to_owned(),
        _ => "{y} = minimum({0}, {2})".to_owned(),
    }
}

/// Classes along the last dimension have a function; along another one each element is compared.
fn one_hot(call: &Call<'_>) -> Option<String> {
    let axis = call.int("axis").unwrap_or(-1);
    let is_last = axis == -1 || usize::try_from(axis).ok() == call.rank(0);
    let classes = call.sizes(1);
    let classes = classes.as_ref().and_then(|sizes| sizes.first());
    let values = call.value(2).map(|values| values.elements.iter());
    let values = values.map(|values| values.filter_map(|value| number(call, value)));
    let is_one_or_zero = values.is_some_and(|values| values.eq([0.0, 1.0]));
    let is_plain = is_last && is_one_or_zero && call.input(0)?.dtype == Some(DType::I64);
    Some(match classes.filter(|_| is_plain) {
        Some(classes) => format!(
            "{{y}}_classes = one_hot({{0}}, classes={})\n{{y}} = cast({{y}}_classes, dtype={})",
            call.one(classes),
            call.input(2)?.dtype?.name()
        ),
        None => "{y} = elementwise({0}, {2}) : {output}".to_owned(),
    })
}

/// `start`, `start + delta` and so on. Functions compute those that are no integers; an operand of
/// unknown value leaves the function open.
fn range(call: &Call<'_>) -> Option<String> {
    let part = |index: usize| call.value(index)?.only();
    let (Some(start), Some(delta)) = (part(0), part(2)) else {
        return Some("{y} = elementwise({0}, {2}) : {output}".to_owned());
    };
    if let (Some(start), Some(delta)) = (whole_of(start), whole_of(delta)) {
        let mut attributes = Vec::new();
        if start != Size::from(0) {
            attributes.push(format!("start={}", call.one(&start)));
        }
        if delta != Size::from(1) {
            attributes.push(format!("step={}", call.one(&delta)));
        }
        return Some(format!(
            "{{y}} = arange({}) : {{output}}",
            attributes.join(", ")
        ));
    }
    let [start, delta] = [start, delta].map(|own| float_text(number(call, own)?));
    Some(format!(
        "{{y}}_index = arange() : {{output}}\n\
         {{y}}_scaled = scale({{y}}_index, factor={})\n\
         {{y}} = shift({{y}}_scaled, amount={})",
        delta?, start?
    ))
}

/// A scalar without a fraction.
fn whole_of(scalar: &Scalar) -> Option<Size> {
    match scalar {
        Scalar::Int(size) => Some(size.clone()),
        Scalar::Float(number) if number.fract() == 0.0 => whole(*number),
        Scalar::Float(_) => None,
    }
}

fn triangle(call: &Call<'_>) -> String {
    let function = if call.int("upper") == Some(0) {
        "tril"
    } else {
        "triu"
    };
    let diagonal = match call.number_text(1) {
        Some(diagonal) => diagonal,
        None if call.has(1) => return "elementwise({0}, {1}) : {output}".to_owned(),
        None => "0".to_owned(),
    };
    format!("{function}({{0}}, diagonal={diagonal})")
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
/// which makes no difference where each dimension behind the axis has one element.
fn softmax_axis(call: &Call<'_>) -> Option<String> {
    if call.version >= 13 {
        return Some(call.int("axis").unwrap_or(-1).to_string());
    }
    let shape = call.shape(0)?;
    let axis = dimension(call.int("axis").unwrap_or(1), shape.len())?;
    let behind = shape.get(axis + 1..)?;
    behind.iter().all(Size::is_one).then(|| axis.to_string())
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

/// A call of a function that takes floats alone, as in PyTorch, with casts around it for integers.
fn of_floats(call: &Call<'_>, function: &str) -> String {
    let dtype = call.dtype();
    if dtype.is_float() {
        return format!("{{y}} = {function}");
    }
    let name = function.split('(').next().unwrap_or_default();
    let function = function.replace("{0}", "{y}_floats");
    format!(
        "{{y}}_floats = cast({{0}}, dtype=f32)\n{{y}}_{name} = {function}\n\
         {{y}} = cast({{y}}_{name}, dtype={})",
        dtype.name()
    )
}
