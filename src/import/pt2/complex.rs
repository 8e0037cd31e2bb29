//! Complex tensors: real ones with a last dimension of two, the real and the imaginary part.

use crate::pt2::becomes::{Becomes, Cast};
use crate::pt2::call::Call;
use crate::pt2::schema::Argument;
use crate::pt2::{elementwise, indexing, layout, pieces};
use crate::size::Size;
use std::fmt::Write;

/// What an operator with complex numbers among its operands or results becomes.
pub(super) fn becomes(call: &Call<'_>) -> Option<Becomes> {
    let first = call
        .node
        .inputs
        .first()
        .map_or("", |input| input.name.as_str());
    match call.operator {
        "view_as_real" | "view_as_complex" | "resolve_conj" | "resolve_neg" | "alias"
        | "detach" | "lift_fresh" | "lift_fresh_copy" | "positive" => {
            call.tensor_index(first).map(Becomes::Same)
        }
        "view" | "_unsafe_view" | "reshape" | "unsqueeze" | "squeeze" | "flatten" | "unflatten"
        | "view_as" | "reshape_as" => call.tensor_index(first).map(Becomes::Reshape),
        "clone" | "contiguous" => layout::clone(call),
        "expand" | "expand_as" | "broadcast_to" => layout::expand(call),
        "permute" | "transpose" | "t" | "mT" | "swapaxes" => layout::transpose(call),
        "slice" | "narrow" => pieces::slice(call),
        "select" => pieces::select(call),
        "split" | "split_with_sizes" | "chunk" => pieces::split(call),
        "unbind" => pieces::unbind(call),
        "cat" | "concat" | "stack" => pieces::concat(call),
        "index" => indexing::index(call),
        "slice_scatter" | "select_scatter" => indexing::slice_scatter(call),
        "copy" => elementwise::copy(call),
        "real" => Some(part(0)),
        "imag" => Some(part(1)),
        "abs" => Some(Becomes::lines(
            "{y}_squares = square({self})\n\
             {y}_sum = sum({y}_squares, axis=-1, keepdim=false)\n\
             {y} = sqrt({y}_sum)",
        )),
        "angle" => Some(Becomes::lines("{y} = reduction({self})")),
        "complex" => joined(call, "{real}", "{imag}", ""),
        "polar" => joined(
            call,
            "{y}_across",
            "{y}_up",
            "{y}_cos = cos({angle})\n{y}_across = mul({abs}, {y}_cos)\n\
             {y}_sin = sin({angle})\n{y}_up = mul({abs}, {y}_sin)\n",
        ),
        "mm" | "bmm" | "matmul" => {
            // Each number is two, and each of them a sum of two products.
            let [a, b] = [call.node.inputs.first()?, call.node.inputs.get(1)?];
            let (a, b) = (a.name.as_str(), b.name.as_str());
            let shape = call.shape_of(a)?;
            let k = shape
                .get(shape.len().checked_sub(2)?)?
                .mul(&Size::from(2))?;
            let k = call.one(&k);
            Some(Becomes::lines(format!(
                "{{y}} = matmul({{{a}}}, {{{b}}}, k={k})"
            )))
        }
        "add" | "sub" | "mul" | "div" | "neg" | "exp" | "sin" | "cos" | "reciprocal" | "sqrt"
        | "rsqrt" | "pow" | "square" | "conj_physical" | "_conj" | "_conj_physical"
        | "_neg_view" | "sgn" | "where" | "tanh" | "sigmoid" | "log" | "masked_fill" => {
            computed(call)
        }
        "full" | "full_like" | "zeros" | "ones" | "zeros_like" | "ones_like" | "new_zeros"
        | "empty" => Some(Becomes::lines("{y} = full(value=0)")),
        _ => None,
    }
}

/// The real or the imaginary part.
fn part(index: usize) -> Becomes {
    let end = index + 1;
    Becomes::lines(format!(
        "{{y}}_part = slice({{self}}, start={index}, end={end}, axis=-1)\n\
         {{y}} = reshape({{y}}_part)"
    ))
}

/// A complex tensor of its two parts.
fn joined(call: &Call<'_>, real: &str, imaginary: &str, before: &str) -> Option<Becomes> {
    let axis = call.shape.len().checked_sub(1)?;
    let mut column = call.shape.clone();
    *column.get_mut(axis)? = Size::from(1);
    let column = call.list(&column);
    Some(Becomes::lines(format!(
        "{before}{{y}}_real = reshape({real}, shape={column})\n\
         {{y}}_imag = reshape({imaginary}, shape={column})\n\
         {{y}} = concat({{y}}_real, {{y}}_imag, axis={axis})"
    )))
}

/// An op over elements. The notation knows how to add complex numbers and how to scale them; any
/// other function reads its operands and computes each element.
fn computed(call: &Call<'_>) -> Option<Becomes> {
    let mut text = String::new();
    let mut operands = Vec::new();
    let mut complex = 0;
    for argument in &call.node.inputs {
        let name = argument.name.as_str();
        let Argument::Tensor(tensor) = &argument.arg else {
            continue;
        };
        let meta = call.graph.tensor_values.get(tensor)?;
        if meta.is_real() && !meta.sizes.is_empty() {
            // One number for both parts.
            let shape = [call.shape_of(name)?, &[Size::from(1)]].concat();
            let shape = call.list(&shape);
            let _ = writeln!(text, "{{y}}_{name} = reshape({{{name}}}, shape={shape})");
            operands.push(format!("{{y}}_{name}"));
        } else {
            complex += usize::from(!meta.is_real());
            operands.push(format!("{{{name}}}"));
        }
    }
    let by_parts = matches!(call.operator, "add" | "sub") && complex == 2 && !call.has("alpha")
        || matches!(call.operator, "mul" | "div") && complex == 1 && operands.len() == 2
        || call.operator == "neg";
    let function = if by_parts {
        call.operator
    } else {
        "elementwise"
    };
    let operands = operands.join(", ");
    let _ = write!(text, "{{y}} = {function}({operands})");
    Some(Becomes::Lines(Cast::None, text))
}
