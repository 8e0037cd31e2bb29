//! Products, convolutions, pools and attention.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::shapes::elements;
use crate::size::Size;
use std::fmt::Write;

/// Lines whose operands autocast brings to the type of the result.
fn product(text: impl Into<String>) -> Becomes {
    Becomes::Lines(Cast::Result, text.into())
}

/// A product of matrices; a vector is a matrix of one row or column.
pub(super) fn matmul(call: &Call<'_>) -> Option<Becomes> {
    let [a, b] = call.node.inputs.as_slice() else {
        return None;
    };
    let (a, b) = (a.name.as_str(), b.name.as_str());
    let (a_shape, b_shape) = (call.shape_of(a)?, call.shape_of(b)?);
    if a_shape.len() >= 2 && b_shape.len() >= 2 {
        return Some(product(format!("{{y}} = matmul({{{a}}}, {{{b}}})")));
    }
    let mut text = String::new();
    let (mut left, mut right) = (format!("{{{a}}}"), format!("{{{b}}}"));
    if let [size] = a_shape {
        let shape = call.list(&[Size::from(1), size.clone()]);
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{{y}}_row = reshape({left}, shape={shape})");
        "{y}_row".clone_into(&mut left);
    }
    if let [size] = b_shape {
        let shape = call.list(&[size.clone(), Size::from(1)]);
        let _ = writeln!(text, "{{y}}_column = reshape({right}, shape={shape})");
        "{y}_column".clone_into(&mut right);
    }
    let _ = writeln!(text, "{{y}}_product = matmul({left}, {right})");
    Some(product(text + "{y} = reshape({y}_product)"))
}

/// `beta * bias + alpha * (a times b)`.
pub(super) fn add_matmul(call: &Call<'_>) -> Option<Becomes> {
    let (a, b) = if call.operator == "baddbmm" {
        ("batch1", "batch2")
    } else {
        ("mat1", "mat2")
    };
    let mut text = format!("{{y}}_product = matmul({{{a}}}, {{{b}}})\n");
    let (mut product, mut bias) = ("{y}_product", "{self}");
    if call.differs("alpha", 1.0) {
        let alpha = number_text(call.number("alpha")?)?;
        let _ = writeln!(text, "{{y}}_scaled = mul({{y}}_product, {alpha})");
        product = "{y}_scaled";
    }
    if call.has("beta") && !call.differs("beta", 0.0) {
        return Some(self::product(
            text.replace(&format!("{product} ="), "{y} ="),
        ));
    }
    if call.differs("beta", 1.0) {
        let beta = number_text(call.number("beta")?)?;
        let _ = writeln!(text, "{{y}}_bias = mul({{self}}, {beta})");
        bias = "{y}_bias";
    }
    let _ = write!(text, "{{y}} = add({product}, {bias})");
    Some(self::product(text))
}

/// Rows in groups, each group times its own matrix: every row meets one matrix.
pub(super) fn grouped_matmul(call: &Call<'_>) -> Option<Becomes> {
    let (a, b) = (call.shape_of("self")?, call.shape_of("mat2")?);
    let k = call.one(a.last()?);
    (a.len() == 2 && b.len() == 3)
        .then(|| Becomes::lines(format!("{{y}} = matmul({{self}}, {{mat2}}, k={k})")))
}

/// Attention. PyTorch broadcasts keys and values over the leading dimensions of the queries.
pub(super) fn attention(call: &Call<'_>) -> Option<Becomes> {
    let q = call.shape_of("query")?;
    let kept = if call.flag("enable_gqa") { 3 } else { 2 };
    let outer = q.get(..q.len().checked_sub(kept)?)?;
    let mut text = String::new();
    let mut part = |name: &str| {
        let own = call.shape_of(name)?;
        let shape = [outer, own.get(own.len().checked_sub(kept)?..)?].concat();
        if own == shape {
            return Some(format!("{{{name}}}"));
        }
        let _ = writeln!(
            text,
            "{{y}}_{name} = expand({{{name}}}, shape={})",
            call.list(&shape)
        );
        Some(format!("{{y}}_{name}"))
    };
    let (key, value) = (part("key")?, part("value")?);
    let mask = if call.has("attn_bias") {
        "attn_bias"
    } else {
        "attn_mask"
    };
    let _ = write!(text, "{{y}} = sdpa({{query}}, {key}, {value}, {{{mask}?}}");
    if call.flag("is_causal") {
        text.push_str(", causal=true");
    }
    if let Some(scale) = call.number("scale") {
        let _ = write!(text, ", scale={}", number_text(scale)?);
    }
    if call.flag("enable_gqa") {
        text.push_str(", enable_gqa=true");
    }
    text.push(')');
    Some(product(text))
}

/// One number for a list of equal ones.
fn pair(list: &[i64]) -> Option<String> {
    match list {
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            Some(first.to_string())
        }
        [_, ..] => Some(format!("{list:?}")),
        [] => None,
    }
}

pub(super) fn convolution(call: &Call<'_>) -> Option<Becomes> {
    let dims = call.rank_of("weight")?.checked_sub(2)?;
    if !(1..=2).contains(&dims)
        || call.rank_of("input") != Some(dims + 2)
        || call.flag("transposed")
    {
        return None;
    }
    let list = |name: &str, default: i64| {
        if call.has(name) {
            call.ints(name)
        } else {
            Some(vec![default])
        }
    };
    let dilation = list("dilation", 1)?;
    let padding = match call.text("padding") {
        None => list("padding", 0)?,
        Some("valid") => vec![0],
        Some(_) => {
            let window = call.shape_of("weight")?.get(2..)?.iter();
            let steps = dilation.iter().cycle();
            let around = window.zip(steps).map(|(size, step)| {
                let around = size.as_int()?.checked_sub(1)?.checked_mul(*step)?;
                // Otherwise PyTorch pads one side more than the other.
                (around % 2 == 0).then_some(around / 2)
            });
            around.collect::<Option<_>>()?
        }
    };
    let groups = vec![call.int("groups").unwrap_or(1)];
    let mut text = format!("{{y}} = conv{dims}d({{input}}, {{weight}}, {{bias?}}");
    let stated = [
        ("stride", list("stride", 1)?, 1),
        ("padding", padding, 0),
        ("dilation", dilation, 1),
        ("groups", groups, 1),
    ];
    for (name, list, default) in &stated {
        if list.iter().any(|own| own != default) {
            let _ = write!(text, ", {name}={}", pair(list)?);
        }
    }
    text.push(')');
    Some(product(text))
}

/// FLOPs of an operator without a function, where they follow from shapes: convolutions of three
/// dimensions and transposed ones (`conv_flop_count` in `torch/utils/flop_counter.py`), einsum of
/// two tensors, which multiplies and adds once for all values of its letters, products of small
/// types, recurrent layers, and distances of few rows.
pub(super) fn flops(call: &Call<'_>) -> Option<Size> {
    let two = Size::from(2);
    match call.operator {
        "einsum" => return equation_flops(call),
        "_int_mm" | "_scaled_mm" => {
            let columns = call.shape_of("mat2")?.last()?;
            return elements(call.shape_of("self")?)?.mul(columns)?.mul(&two);
        }
        // A difference, a square and a sum for each element of each pair.
        "cdist" => {
            let length = call.shape_of("x1")?.last()?;
            return elements(&call.shape)?.mul(length)?.mul(&Size::from(3));
        }
        "lstm" | "gru" | "rnn_tanh" | "rnn_relu" | "lstm_cell" | "gru_cell" | "rnn_tanh_cell"
        | "rnn_relu_cell" => {
            return recurrent_flops(call)?.mul(&two);
        }
        _ => {}
    }
    let is_transposed = call.flag("transposed") || call.operator.starts_with("conv_transpose");
    if !call.operator.starts_with("conv") {
        return None;
    }
    let shape = if is_transposed {
        call.shape_of("input")?
    } else {
        call.shape.as_slice()
    };
    let positions = elements(shape.get(2..)?)?.mul(shape.first()?)?;
    elements(call.shape_of("weight")?)?
        .mul(&positions)?
        .mul(&Size::from(2))
}

/// Each step multiplies by all matrices, of all layers and directions.
fn recurrent_flops(call: &Call<'_>) -> Option<Size> {
    let x = call.shape_of("input").or_else(|| call.shape_of("data"))?;
    let steps = elements(x.get(..x.len().checked_sub(1)?)?)?;
    let weights = match call.tensors_of("params") {
        Some(weights) => weights,
        None => vec![call.tensor("w_ih"), call.tensor("w_hh")],
    };
    let shapes = weights.into_iter().map(|known| known?.shape.as_deref());
    let mut matrices = shapes.flatten().filter(|shape| shape.len() == 2);
    let weights = matrices.try_fold(Size::from(0), |sum, shape| sum.add(&elements(shape)?));
    steps.mul(&weights?)
}

fn equation_flops(call: &Call<'_>) -> Option<Size> {
    let operands = call.tensors_of("tensors")?;
    let terms = call.text("equation")?.split("->").next()?.split(',');
    let mut sizes: Vec<(char, &Size)> = Vec::new();
    for (term, operand) in terms.zip(&operands) {
        let shape = operand.and_then(|operand| operand.shape.as_ref())?;
        let letters: Vec<char> = term.chars().filter(|c| !c.is_whitespace()).collect();
        if letters.len() != shape.len() {
            return None;
        }
        for (letter, size) in letters.into_iter().zip(shape) {
            if sizes.iter().all(|(known, _)| *known != letter) {
                sizes.push((letter, size));
            }
        }
    }
    let mut all = sizes.iter();
    let products = all.try_fold(Size::from(2), |product, (_, size)| product.mul(size));
    products.filter(|_| operands.len() == 2)
}

pub(super) fn pool(call: &Call<'_>) -> Option<Becomes> {
    let is_max = call.operator.starts_with("max");
    let pads = call
        .ints("padding")
        .is_some_and(|list| list.iter().any(|&border| border != 0));
    let counts_padding = !call.has("count_include_pad") || call.flag("count_include_pad");
    let is_plain = call.rank_of("self") == Some(4)
        && !call.flag("ceil_mode")
        && call
            .ints("dilation")
            .is_none_or(|list| list.iter().all(|&step| step == 1))
        && !call.has("divisor_override")
        && (is_max || counts_padding || !pads)
        && call.index == 0;
    let kernel = call.ints("kernel_size")?;
    let stride = call.ints("stride").filter(|stride| !stride.is_empty());
    let stride = stride.unwrap_or_else(|| kernel.clone());
    let mut text = format!(
        "{{y}} = {}_pool2d({{self}}, kernel={}, stride={}",
        if is_max { "max" } else { "avg" },
        pair(&kernel)?,
        pair(&stride)?
    );
    if pads {
        let _ = write!(text, ", padding={}", pair(&call.ints("padding")?)?);
    }
    text.push(')');
    is_plain.then_some(Becomes::lines(text))
}

pub(super) fn adaptive_pool(call: &Call<'_>) -> Option<Becomes> {
    let size = call.ints("output_size")?;
    if size.iter().all(|&size| size == 1) && size.len() == 2 {
        return Some(Becomes::lines(
            "{y} = mean({self}, axis=[-2, -1], keepdim=true)",
        ));
    }
    let is_image = call.rank_of("self") == Some(4);
    let size = pair(&size)?;
    is_image.then(|| {
        Becomes::lines(format!(
            "{{y}} = adaptive_avg_pool2d({{self}}, size={size})"
        ))
    })
}

pub(super) fn interpolate(call: &Call<'_>) -> Option<Becomes> {
    let is_nearest = call.operator.contains("nearest");
    let image = call.list(call.shape.get(2..4)?);
    let mode = if is_nearest { "nearest" } else { "bilinear" };
    let corners = if call.flag("align_corners") {
        ", align_corners=true"
    } else {
        ""
    };
    Some(Becomes::lines(format!(
        "{{y}} = interpolate({{input}}, size={image}, mode={mode}{corners})"
    )))
}
