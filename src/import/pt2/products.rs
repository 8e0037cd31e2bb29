//! Products.

use crate::opaque::Flops;
use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::{Call, number_text};
use crate::pt2::schema::Argument;
use crate::pt2::views::perm;
use crate::shapes::elements;
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::functions::Function;
use std::fmt::Write;

/// Lines whose operands autocast brings to the type of the result.
pub(super) fn product(text: impl Into<String>) -> Becomes {
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

/// A product of integers, whose sums are wider.
pub(super) fn integer_matmul(call: &Call<'_>) -> Option<Becomes> {
    (call.rank_of("self") == Some(2)).then(|| Becomes::lines("{y} = matmul({self}, {mat2})"))
}

/// A product of small floats with its scales, of the whole, of rows and columns or of blocks, and
/// its bias, which the library applies inside the call.
pub(super) fn scaled_matmul(call: &Call<'_>) -> Option<Becomes> {
    let fits =
        |operand: &str, scale: &str| Some(divides(call.shape_of(operand)?, call.shape_of(scale)?));
    // Scales that a library reads in an order of its own are no blocks of an operand.
    let has_blocks = fits("self", "scale_a")? && fits("mat2", "scale_b")?;
    let takes_bias = has_blocks && call.rank_of("bias") == Some(1);
    let product = match (has_blocks, takes_bias) {
        (false, _) => "matmul({self}, {mat2})",
        (true, false) => "scaled_matmul({self}, {mat2}, {scale_a}, {scale_b})",
        (true, true) => "scaled_matmul({self}, {mat2}, {scale_a}, {scale_b}, {bias})",
    };
    let stated = format!("{}{}", call.dtype.name(), call.list(&call.shape));
    let mut text = format!("{{y}}_product = {product} : {stated}\n");
    let mut last = "{y}_product".to_owned();
    let parts = [("bias", "add"), ("scale_result", "mul")];
    let parts = parts.into_iter().skip(usize::from(takes_bias));
    for (name, function) in parts.filter(|(name, _)| call.has(name)) {
        let mut operand = format!("{{{name}}}");
        let shape = call.shape_of(name)?;
        if elements(shape)?.is_one() && !shape.is_empty() {
            let _ = writeln!(text, "{{y}}_{name} = reshape({operand}, shape=[])");
            operand = format!("{{y}}_{name}");
        }
        let _ = writeln!(text, "{{y}}_by_{name} = {function}({last}, {operand})");
        last = format!("{{y}}_by_{name}");
    }
    if last == "{y}_product" {
        return Some(Becomes::lines(format!("{{y}} = {product}")));
    }
    let text = text.trim_end();
    Some(Becomes::lines(text.replace(&format!("{last} ="), "{y} =")))
}

/// Whether a scale has one value for each block of an operand.
fn divides(operand: &[Size], scale: &[Size]) -> bool {
    let mut sizes = operand.iter().rev().zip(scale.iter().rev());
    scale.len() <= operand.len() && sizes.all(|(size, own)| size.div_exact(own).is_some())
}

/// Rows in groups, each group times its own matrix: every row meets one matrix. The library reads
/// transposed matrices as they are.
pub(super) fn grouped_matmul(call: &Call<'_>) -> Option<Becomes> {
    let name = |name: &'static str, other: &'static str| if call.has(name) { name } else { other };
    // The operator of Transformers has names of its own.
    let (a, b) = (name("self", "input"), name("mat2", "weight"));
    let (left, right) = (call.shape_of(a)?, call.shape_of(b)?);
    let k = call.one(left.last()?);
    let matrices = match call.tensor(b).and_then(|known| swapped(call, known)) {
        Some(stored) => format!("{stored}, transpose_b=true"),
        None => format!("{{{b}}}"),
    };
    let line = format!("{{y}} = matmul({{{a}}}, {matrices}, k={k})");
    (left.len() == 2 && right.len() == 3).then(|| Becomes::lines(line))
}

/// The name of the tensor of which this one is a view with its matrices transposed.
fn swapped<'a>(call: &Call<'a>, known: &Known) -> Option<&'a str> {
    let op = call.producer(&known.name)?;
    let is_swap = op.function() == Some(Function::Transpose) && perm(op)? == [0, 2, 1];
    is_swap.then_some(op.inputs.first()?.text.as_str())
}

/// An einsum, as PyTorch decomposes it into products. `None` for a diagonal.
pub(super) fn einsum(call: &Call<'_>) -> Option<Becomes> {
    let Argument::Tensors(names) = call.argument("tensors")? else {
        return None;
    };
    let (mut casts, mut operands) = (String::new(), Vec::with_capacity(names.len()));
    let mut first = None;
    for (number, name) in names.iter().enumerate() {
        let (index, now) = call.typed_operand(&mut casts, number, name.as_deref()?)?;
        first = first.or(Some(index));
        operands.push((now, call.known(index)?.shape.as_deref()?));
    }
    let list = |sizes: &[Size]| call.list(sizes);
    let lines = crate::einsum::einsum(call.text("equation")?, &operands, &list)?;
    if lines.is_empty() {
        first.map(Becomes::Same)
    } else {
        Some(Becomes::lines(casts + &lines))
    }
}

/// FLOPs of an operator without a function, where they follow from shapes: recurrent layers,
/// distances of few rows, and what compares the elements of rows or windows.
pub(super) fn flops(call: &Call<'_>) -> Option<Flops> {
    match call.operator {
        // A difference, a square and a sum for each element of each pair.
        "cdist" => {
            let length = call.shape_of("x1")?.last()?;
            let differences = elements(&call.shape)?.mul(length)?;
            differences.mul(&Size::from(3)).map(Flops::vector)
        }
        "lstm" | "gru" | "rnn_tanh" | "rnn_relu" | "lstm_cell" | "gru_cell" | "rnn_tanh_cell"
        | "rnn_relu_cell" => (recurrent_flops(call)?.mul(&Size::from(2))).map(Flops::matrix),
        "topk"
        | "median"
        | "nanmedian"
        | "kthvalue"
        | "mode"
        | "cummax"
        | "cummin"
        | "max_pool2d_with_indices"
        | "max_pool3d_with_indices"
        | "adaptive_max_pool2d"
        | "adaptive_max_pool3d" => elements(call.shape_of("self")?).map(Flops::vector),
        _ => None,
    }
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
