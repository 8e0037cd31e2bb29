//! Operators over elements whose form depends on their arguments.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::size::Size;
use fuseline_core::model::dtype::DType;

fn lines(cast: Cast, lines: impl Into<String>) -> Becomes {
    Becomes::Lines(cast, lines.into())
}

/// Two operands, of which one may be a number; like torch.compile, which computes nothing for
/// `x + 0` and `x / 1`.
fn binary(call: &Call<'_>, function: &str, neutral: Option<f64>) -> Option<Becomes> {
    let function = match call.text("rounding_mode") {
        None => function,
        Some("floor") => "floor_divide",
        Some(_) => "trunc_divide",
    };
    let neutral = neutral.filter(|_| call.text("rounding_mode").is_none());
    if let (Some(index), Some(number)) = (call.tensor_index("self"), call.number("other"))
        && neutral.is_some_and(|neutral| neutral.total_cmp(&number).is_eq())
        && call.tensor("self").and_then(|known| known.shape.as_ref()) == Some(&call.shape)
    {
        return Some(Becomes::Same(index));
    }
    if !call.differs("alpha", 1.0) {
        return Some(lines(
            Cast::Result,
            format!("{{y}} = {function}({{self}}, {{other}})"),
        ));
    }
    let alpha = call.number("alpha")?;
    if let Some(other) = call.number("other") {
        let other = number_text(other * alpha)?;
        let line = format!("{{y}} = {function}({{self}}, {other})");
        return Some(lines(Cast::Result, line));
    }
    let alpha = number_text(alpha)?;
    Some(lines(
        Cast::Result,
        format!(
            "{{y}}_scaled = mul({{other}}, {alpha})\n{{y}} = {function}({{self}}, {{y}}_scaled)"
        ),
    ))
}

pub(super) fn add(call: &Call<'_>) -> Option<Becomes> {
    binary(call, "add", Some(0.0))
}

pub(super) fn sub(call: &Call<'_>) -> Option<Becomes> {
    binary(call, "sub", Some(0.0))
}

pub(super) fn mul(call: &Call<'_>) -> Option<Becomes> {
    binary(call, "mul", Some(1.0))
}

pub(super) fn div(call: &Call<'_>) -> Option<Becomes> {
    binary(call, "div", Some(1.0))
}

pub(super) fn rsub(call: &Call<'_>) -> Option<Becomes> {
    (!call.differs("alpha", 1.0))
        .then(|| Becomes::Lines(Cast::Result, "{y} = sub({other}, {self})".to_owned()))
}

pub(super) fn pow(call: &Call<'_>) -> Option<Becomes> {
    call.argument("exponent")?;
    let exponent = call.number("exponent");
    let is = |number: f64| exponent.is_some_and(|own| own.total_cmp(&number).is_eq());
    if is(2.0) {
        Some(lines(Cast::Result, "{y} = square({self})"))
    } else if is(0.5) {
        Some(lines(Cast::Result, "{y} = sqrt({self})"))
    } else if exponent.is_some() {
        Some(lines(
            Cast::Result,
            "{y} = pow({self}, exponent={exponent=2})",
        ))
    } else {
        Some(lines(Cast::Result, "{y} = pow({self}, {exponent})"))
    }
}

/// `self + value * tensor1 * tensor2`, or with `tensor1 / tensor2`.
pub(super) fn add_product(call: &Call<'_>) -> Option<Becomes> {
    let function = if call.operator == "addcdiv" {
        "div"
    } else {
        "mul"
    };
    let product = format!("{{y}}_product = {function}({{tensor1}}, {{tensor2}})");
    let sum = "{y} = add({self}, {y}_product)";
    if call.differs("value", 1.0) {
        let value = number_text(call.number("value")?)?;
        return Some(lines(
            Cast::Result,
            format!(
                "{product}\n{{y}}_scaled = mul({{y}}_product, {value})\n{{y}} = add({{self}}, {{y}}_scaled)"
            ),
        ));
    }
    Some(lines(Cast::Result, format!("{product}\n{sum}")))
}

/// A logical function of truth values. Integers are combined bit by bit: the lowest bits are a
/// remainder, and the notation lacks a name for the others.
#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn bitwise(call: &Call<'_>) -> Option<Becomes> {
    let is_bool = call.dtype == DType::Bool;
    let name = call
        .operator
        .trim_matches('_')
        .trim_start_matches("bitwise_");
    let inputs = if name == "not" {
        "{self}"
    } else {
        "{self}, {other}"
    };
    if is_bool {
        return Some(Becomes::lines(format!("{{y}} = logical_{name}({inputs})")));
    }
    let mask = call.int("other");
    if let Some(mask) = mask.filter(|mask| name == "and" && *mask > 0 && mask & (mask + 1) == 0) {
        let size = mask + 1;
        return Some(Becomes::lines(format!(
            "{{y}} = remainder({{self}}, {size})"
        )));
    }
    Some(Becomes::lines("{y} = elementwise({tensors})"))
}

/// A shift by a number of bits, which multiplies or divides by a power of two.
#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn shift(call: &Call<'_>) -> Option<Becomes> {
    let bits = call.int("other").filter(|bits| (0..31).contains(bits));
    let Some(bits) = bits else {
        return Some(Becomes::lines("{y} = elementwise({tensors})"));
    };
    let factor = 1_i64 << bits;
    let function = if call.operator.contains("right") || call.operator.contains("rshift") {
        "floor_divide"
    } else {
        "mul"
    };
    Some(Becomes::lines(format!(
        "{{y}} = {function}({{self}}, {factor})"
    )))
}

#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn elu(call: &Call<'_>) -> Option<Becomes> {
    let is_plain = !call.differs("scale", 1.0) && !call.differs("input_scale", 1.0);
    Some(Becomes::lines(if is_plain {
        "{y} = elu({self}, alpha={alpha=1})"
    } else {
        "{y} = elementwise({self})"
    }))
}

#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn softplus(call: &Call<'_>) -> Option<Becomes> {
    let is_plain = !call.differs("beta", 1.0) && !call.differs("threshold", 20.0);
    let text = if is_plain {
        "{y} = softplus({self})"
    } else {
        "{y} = elementwise({self})"
    };
    Some(lines(Cast::Result, text))
}

/// A clamp whose bounds are numbers or tensors.
pub(super) fn clamp(call: &Call<'_>) -> Option<Becomes> {
    if !call.has("min") && !call.has("max") {
        return None;
    }
    if call.tensor("min").is_none() && call.tensor("max").is_none() {
        return Some(lines(Cast::Result, "{y} = clamp({self}{bounds})"));
    }
    Some(lines(
        Cast::Result,
        match (call.has("min"), call.has("max")) {
            (true, true) => "{y}_above = maximum({self}, {min})\n{y} = minimum({y}_above, {max})",
            (true, false) => "{y} = maximum({self}, {min})",
            _ => "{y} = minimum({self}, {max})",
        },
    ))
}

/// `, min=0, max=6`.
pub(super) fn bounds(call: &Call<'_>) -> Option<String> {
    let default = |bound: f64| (call.operator == "hardtanh").then_some(bound);
    let bound = |names: [&str; 2], default: Option<f64>| {
        names.iter().find_map(|name| call.number(name)).or(default)
    };
    let text = |name: &str, bound: Option<f64>| match bound {
        Some(bound) => Some(format!(", {name}={}", number_text(bound)?)),
        None => Some(String::new()),
    };
    let (low, high) = if call.operator == "relu6" {
        (Some(0.0), Some(6.0))
    } else {
        (
            bound(["min", "min_val"], default(-1.0)),
            bound(["max", "max_val"], default(1.0)),
        )
    };
    Some(text("min", low)? + &text("max", high)?)
}

/// A dropout, which does nothing where the model is evaluated.
pub(super) fn dropout(call: &Call<'_>) -> Option<Becomes> {
    // The operator in place names its argument `self`.
    let name = if call.has("input") { "input" } else { "self" };
    let input = call.tensor_index(name)?;
    let is_off = call.has("train") && !call.flag("train") || !call.differs("p", 0.0);
    if is_off {
        return Some(Becomes::Same(input));
    }
    let gives_mask = call.operator == "native_dropout" && call.uses(1);
    (!gives_mask).then(|| Becomes::lines(format!("{{y}} = dropout({{{name}}}, p={{p=0.5}})")))
}

/// The first tensor, in another type where the output has one.
pub(super) fn same(call: &Call<'_>) -> Option<Becomes> {
    let mut inputs = call.node.inputs.iter();
    let index = inputs.find_map(|argument| call.tensor_index(&argument.name))?;
    Some(Becomes::Same(index))
}

/// The source of a copy, in the shape of the tensor that it overwrites.
pub(super) fn copy(call: &Call<'_>) -> Option<Becomes> {
    let source = call.tensor_index("src")?;
    if call.shape_of("src") == Some(call.shape.as_slice()) {
        return Some(Becomes::Same(source));
    }
    Some(lines(Cast::Result, "{y} = expand({src})"))
}

/// A tensor with one value everywhere.
pub(super) fn full(call: &Call<'_>) -> Option<Becomes> {
    let names = ["fill_value", "value", "s"];
    if let Some(name) = names.iter().find(|name| call.tensor(name).is_some()) {
        return Some(lines(Cast::Result, format!("{{y}} = expand({{{name}}})")));
    }
    let stated = names.iter().find_map(|name| match call.number(name) {
        Some(number) => number_text(number),
        None => call.size(name).map(|size| call.one(&size)),
    });
    let value = if call.operator.contains("ones") {
        "1".to_owned()
    } else if names.iter().any(|name| call.has(name)) {
        stated?
    } else {
        "0".to_owned()
    };
    Some(lines(Cast::None, format!("{{y}} = full(value={value})")))
}

/// `start`, `start + step` and so on. Functions compute those that are no integers.
pub(super) fn arange(call: &Call<'_>) -> Option<Becomes> {
    let whole = |name: &str, default: i64| {
        if !call.has(name) {
            return Some(Size::from(default));
        }
        call.size(name).or_else(|| whole_of(call.number(name)?))
    };
    if let (Some(start), Some(step)) = (whole("start", 0), whole("step", 1)) {
        let mut attributes = Vec::new();
        if start != Size::from(0) {
            attributes.push(format!("start={}", call.one(&start)));
        }
        if step != Size::from(1) {
            attributes.push(format!("step={}", call.one(&step)));
        }
        let attributes = attributes.join(", ");
        return Some(Becomes::lines(format!("{{y}} = arange({attributes})")));
    }
    let stated = format!("{}{}", call.dtype.name(), call.list(&call.shape));
    let first = number_text(call.number_or("start", 0.0)?)?;
    let distance = number_text(call.number_or("step", 1.0)?)?;
    Some(Becomes::lines(format!(
        "{{y}}_index = arange() : {stated}\n\
         {{y}}_scaled = scale({{y}}_index, factor={distance})\n\
         {{y}} = shift({{y}}_scaled, amount={first})"
    )))
}

/// A number without a fraction.
#[allow(
    clippy::cast_possible_truncation,
    reason = "no integer of a range is beyond 2^53"
)]
fn whole_of(number: f64) -> Option<Size> {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    is_whole.then(|| Size::from(number as i64))
}

/// The nearest whole number; the notation has no name for the nearest of some decimals.
#[allow(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn round(call: &Call<'_>) -> Option<Becomes> {
    Some(lines(
        Cast::Result,
        if call.differs("decimals", 0.0) {
            "{y} = elementwise({self})"
        } else {
            "{y} = round({self})"
        },
    ))
}
