//! Convolutions and pools.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::Call;
use crate::shapes::elements;
use crate::size::Size;
use std::fmt::Write;

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
    let weight = call.shape_of("weight")?;
    let dims = weight.len().checked_sub(2)?;
    let is_transposed = call.flag("transposed") || call.operator.starts_with("conv_transpose");
    if dims == 0 || call.rank_of("input") != Some(dims + 2) {
        return None;
    }
    if is_transposed || dims > 2 {
        return of_stated_length(call, is_transposed);
    }
    let list = |name: &str, default: i64| {
        if call.has(name) {
            call.ints(name)
        } else {
            Some(vec![default])
        }
    };
    let dilation = list("dilation", 1)?;
    let (mut text, mut input) = (String::new(), "{input}");
    let padding = match call.text("padding") {
        None => list("padding", 0)?,
        Some("valid") => vec![0],
        Some(_) => {
            let window = weight.get(2..)?.iter();
            let steps = dilation.iter().cycle();
            let around = window
                .zip(steps)
                .map(|(size, step)| size.as_int()?.checked_sub(1)?.checked_mul(*step));
            let around: Vec<i64> = around.collect::<Option<_>>()?;
            if around.iter().all(|around| around % 2 == 0) {
                around.iter().map(|around| around / 2).collect()
            } else {
                // PyTorch pads one element more at the end than at the start.
                let pads = around.iter().rev();
                let pads: Vec<i64> = pads
                    .flat_map(|around| [around / 2, around - around / 2])
                    .collect();
                let _ = writeln!(text, "{{y}}_padded = pad({{input}}, pad={pads:?})");
                input = "{y}_padded";
                vec![0]
            }
        }
    };
    let groups = vec![call.int("groups").unwrap_or(1)];
    // Writing to a `String` cannot fail.
    let _ = write!(text, "{{y}} = conv{dims}d({input}, {{weight}}, {{bias?}}");
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
    Some(Becomes::Lines(Cast::Result, text))
}

/// A convolution of three dimensions or a transposed one, of its stated length and shape. Each
/// element of the smaller side, the output of a convolution and the input of a transposed one,
/// meets each weight of its channel.
fn of_stated_length(call: &Call<'_>, is_transposed: bool) -> Option<Becomes> {
    let weight = call.shape_of("weight")?;
    let groups = call.int("groups").unwrap_or(1);
    let per_output = if is_transposed {
        let input = call.shape_of("input")?;
        let (small, large) = (elements(input.get(2..)?)?, elements(call.shape.get(2..)?)?);
        let all = elements(weight)?.mul(&small)?;
        let outputs = weight.get(1)?.mul(&Size::from(groups))?.mul(&large)?;
        // All steps over all elements of the output, rounded up.
        all.div_up(&outputs, &call.params().values)?
    } else {
        elements(weight.get(1..)?)?
    };
    let k = call.one(&per_output);
    let product = format!("convolution({{input}}, {{weight}}, k={k})");
    let stated = format!("{}{}", call.dtype.name(), call.list(&call.shape));
    if !call.has("bias") {
        return Some(Becomes::Lines(Cast::Result, format!("{{y}} = {product}")));
    }
    let mut channels = vec![Size::from(1); weight.len() - 1];
    *channels.first_mut()? = call.shape.get(1)?.clone();
    let channels = call.list(&channels);
    Some(Becomes::Lines(
        Cast::Result,
        format!(
            "{{y}}_product = {product} : {stated}\n\
             {{y}}_bias = reshape({{bias}}, shape={channels})\n\
             {{y}} = add({{y}}_product, {{y}}_bias)"
        ),
    ))
}

/// Gradients of a convolution: of its input and of its weight by as many steps as the convolution,
/// of its bias by a sum.
pub(super) fn gradient(call: &Call<'_>) -> Option<Becomes> {
    let (output, weight) = (call.shape_of("grad_output")?, call.shape_of("weight")?);
    if call.index == 2 {
        let axes = (0..output.len()).filter(|&axis| axis != 1);
        let axes: Vec<usize> = axes.collect();
        return Some(Becomes::lines(format!(
            "{{y}} = sum({{grad_output}}, axis={axes:?}, keepdim=false)"
        )));
    }
    let small = if call.flag("transposed") {
        call.shape_of("input")?
    } else {
        output
    };
    let positions = elements(small.get(2..)?)?.mul(small.first()?)?;
    let all = elements(weight)?.mul(&positions)?;
    let k = all.div_up(&elements(&call.shape)?, &call.params().values)?;
    let k = call.one(&k);
    let other = if call.index == 0 { "weight" } else { "input" };
    Some(Becomes::lines(format!(
        "{{y}} = convolution({{grad_output}}, {{{other}}}, k={k})"
    )))
}

/// A pool; one that no function of the notation computes is a reduction to the stated shape.
pub(super) fn pool(call: &Call<'_>) -> Option<Becomes> {
    let is_max = call.operator.starts_with("max");
    let pads = call
        .ints("padding")
        .is_some_and(|list| list.iter().any(|&border| border != 0));
    let counts_padding = !call.has("count_include_pad") || call.flag("count_include_pad");
    let is_plain = call.rank_of("self") == Some(4)
        && call.operator.contains("2d")
        && !call.flag("ceil_mode")
        && call
            .ints("dilation")
            .is_none_or(|list| list.iter().all(|&step| step == 1))
        && !call.has("divisor_override")
        && (is_max || counts_padding || !pads)
        && call.index == 0;
    // No function gives both the largest elements and their indices.
    if call.uses_both() {
        return None;
    }
    if !is_plain {
        return Some(reduction());
    }
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
    Some(Becomes::lines(text))
}

fn reduction() -> Becomes {
    Becomes::lines("{y} = reduction({self})")
}

pub(super) fn adaptive_pool(call: &Call<'_>) -> Option<Becomes> {
    if call.uses_both() {
        return None;
    }
    let size = call.ints("output_size")?;
    let is_max = call.operator.contains("max");
    let rank = call.rank_of("self")?;
    if size.iter().all(|&size| size == 1) && !is_max {
        let axes = rank.checked_sub(size.len())?..rank;
        let axes: Vec<usize> = axes.collect();
        let axes = match (size.len(), axes.as_slice()) {
            (2, _) => "[-2, -1]".to_owned(),
            (_, [only]) => only.to_string(),
            _ => format!("{axes:?}"),
        };
        return Some(Becomes::lines(format!(
            "{{y}} = mean({{self}}, axis={axes}, keepdim=true)"
        )));
    }
    if rank != 4 || size.len() != 2 || call.index > 0 {
        return Some(reduction());
    }
    let (kind, size) = (if is_max { "max" } else { "avg" }, pair(&size)?);
    Some(Becomes::lines(format!(
        "{{y}} = adaptive_{kind}_pool2d({{self}}, size={size})"
    )))
}

/// An image or a volume of another size. What is interpolated otherwise than the notation knows
/// reads its input and computes each element.
pub(super) fn interpolate(call: &Call<'_>) -> Option<Becomes> {
    let is_nearest = matches!(call.operator, "upsample_nearest2d");
    let input = if call.has("input") { "input" } else { "self" };
    let is_bilinear = call.operator == "upsample_bilinear2d" && call.dtype.is_float();
    if !is_nearest && !is_bilinear {
        return Some(Becomes::lines(format!("{{y}} = elementwise({{{input}}})")));
    }
    let image = call.list(call.shape.get(2..4)?);
    let mode = if is_nearest { "nearest" } else { "bilinear" };
    let corners = if call.flag("align_corners") {
        ", align_corners=true"
    } else {
        ""
    };
    Some(Becomes::lines(format!(
        "{{y}} = interpolate({{{input}}}, size={image}, mode={mode}{corners})"
    )))
}
