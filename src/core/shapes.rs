//! Shape rules: from the shapes of a call's inputs to the shape of its output.

use super::attributes::Attributes;
use super::diagnostic::{Code, Diagnostic, Span};
use super::dtype::DType;
use super::functions::ShapeRule;
use super::notation::spelling::{quoted, shortened};
use super::op::{element_count, shape_text};
use super::program::Name;

/// An input whose type is known.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// Its name and its place in the call.
    pub(super) name: &'a Name,
    /// Its shape.
    pub(super) shape: &'a [u64],
    /// Its element type.
    pub(super) dtype: DType,
}

/// What a shape rule gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inferred {
    /// Shape of the output.
    pub(super) shape: Vec<u64>,
    /// Contraction length of a matmul, a linear layer or a convolution.
    pub(super) contraction: Option<u64>,
}

impl From<Vec<u64>> for Inferred {
    fn from(shape: Vec<u64>) -> Self {
        Self {
            shape,
            contraction: None,
        }
    }
}

/// A call whose inputs are all known and whose number of inputs and attributes fit its function.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// Inputs, in order.
    pub(super) operands: &'a [Operand<'a>],
    /// Attributes.
    pub(super) attributes: Attributes<'a>,
    /// Name of the function, for messages.
    pub(super) callee: &'a Name,
    /// The annotated shape and its place, for the rules that take it as their result.
    pub(super) annotated: Option<(&'a [u64], Span)>,
}

/// Shape of the output, and K where there is one. `O(rank * inputs)`.
pub(super) fn infer(rule: ShapeRule, call: &Call<'_>) -> Result<Inferred, Diagnostic> {
    let shape = match (rule, call.operands) {
        (ShapeRule::Broadcast, operands) => broadcast_all(operands)?,
        (ShapeRule::SameAsFirst, [first, others @ ..]) => {
            axis(call, first)?;
            for other in others {
                broadcast_into(first, other)?;
            }
            first.shape.to_vec()
        }
        (ShapeRule::PerChannel, [first, others @ ..]) => per_channel(first, others)?,
        (ShapeRule::Reduce, [input]) => reduce(call, input)?,
        (ShapeRule::Matmul, [a, b]) => return matmul(call, a, b),
        (ShapeRule::Linear, [x, weight, bias @ ..]) => return linear(x, weight, bias.first()),
        (ShapeRule::Conv2d, [x, weight, bias @ ..]) => {
            return conv2d(call, x, weight, bias.first());
        }
        (ShapeRule::Pool2d, [input]) => pool2d(call, input)?,
        (ShapeRule::Reshape, [input]) => reshape(call, input)?,
        (ShapeRule::Transpose, [input]) => transpose(call, input)?,
        (ShapeRule::Split, [input]) => split(call, input)?,
        (ShapeRule::Concat, [first, others @ ..]) => concat(call, first, others)?,
        (ShapeRule::Slice, [input]) => slice(call, input)?,
        // The number of inputs is checked against the table before.
        _ => return Err(missing(call, "the inputs do not fit the function")),
    };
    Ok(shape.into())
}

/// `a` f16[2, 3]: a tensor in a message.
pub(super) fn tensor_text(name: &str, dtype: DType, shape: &[u64]) -> String {
    format!("{} {}{}", quoted(name), dtype.name(), shape_text(shape))
}

fn text(operand: &Operand<'_>) -> String {
    tensor_text(&operand.name.text, operand.dtype, operand.shape)
}

fn mismatch(at: &Operand<'_>, message: String) -> Diagnostic {
    Diagnostic::error(Code::ShapeMismatch, message).at(at.name.span)
}

fn missing(call: &Call<'_>, message: &str) -> Diagnostic {
    Diagnostic::error(Code::MissingShape, message).at(call.callee.span)
}

fn too_large(call: &Call<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::Overflow,
        format!("a size in `{}` passes 2^63", call.callee.text),
    )
    .at(call.callee.span)
    .hint("use smaller sizes")
}

/// Aligns two shapes at their last dimension; `None` when a pair of sizes is unequal and neither is 1.
pub(super) fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = long.to_vec();
    for (size, &other) in shape.iter_mut().rev().zip(short.iter().rev()) {
        if *size == 1 {
            *size = other;
        } else if other != 1 && *size != other {
            return None;
        }
    }
    Some(shape)
}

fn broadcast_all(operands: &[Operand<'_>]) -> Result<Vec<u64>, Diagnostic> {
    let mut shape = operands.first().map_or_else(Vec::new, |o| o.shape.to_vec());
    for (index, operand) in operands.iter().enumerate().skip(1) {
        if shape == operand.shape {
            continue;
        }
        shape = broadcast(&shape, operand.shape).ok_or_else(|| {
            // The first earlier input that clashes by itself, else the result so far.
            let clashing = operands
                .iter()
                .take(index)
                .find(|earlier| broadcast(earlier.shape, operand.shape).is_none());
            let other = clashing.map_or_else(|| shape_text(&shape), text);
            mismatch(
                operand,
                format!("{} does not broadcast with {other}", text(operand)),
            )
            .hint("sizes are compared from the last one; each pair must be equal, or one of them 1")
        })?;
    }
    Ok(shape)
}

fn broadcast_into(first: &Operand<'_>, other: &Operand<'_>) -> Result<(), Diagnostic> {
    let fits = other.shape == first.shape
        || other.shape.len() <= first.shape.len()
            && first
                .shape
                .iter()
                .rev()
                .zip(other.shape.iter().rev())
                .all(|(&size, &own)| own == size || own == 1);
    if fits {
        return Ok(());
    }
    Err(mismatch(
        other,
        format!("{} does not broadcast into {}", text(other), text(first)),
    )
    .hint("sizes are compared from the last one; each must be equal to the first input's, or 1"))
}

fn per_channel(first: &Operand<'_>, others: &[Operand<'_>]) -> Result<Vec<u64>, Diagnostic> {
    let &[_, channels, ..] = first.shape else {
        return Err(mismatch(first, format!("{} has no channels", text(first)))
            .hint("write the input as [batch, channels, ...]"));
    };
    for other in others {
        if other.shape != [channels] {
            return Err(mismatch(
                other,
                format!(
                    "{} must hold one value for each channel of {}",
                    text(other),
                    text(first)
                ),
            )
            .hint(format!("its shape must be [{channels}]")));
        }
    }
    Ok(first.shape.to_vec())
}

/// The dimension that `axis` names, the last one by default; `None` of a scalar.
fn axis(call: &Call<'_>, input: &Operand<'_>) -> Result<Option<usize>, Diagnostic> {
    match call.attributes.sizes("axis")?.as_deref() {
        None => Ok(input.shape.len().checked_sub(1)),
        Some(&[axis]) => dimension(call, "axis", axis, input).map(Some),
        Some(_) => Err(call
            .attributes
            .problem("axis", "must be one dimension here")),
    }
}

/// The last dimension by default; the input must have one.
fn required_axis(call: &Call<'_>, input: &Operand<'_>) -> Result<usize, Diagnostic> {
    axis(call, input)?.ok_or_else(|| {
        mismatch(
            input,
            format!("{} is a scalar and has no dimension", text(input)),
        )
        .hint("give it at least one dimension")
    })
}

/// A dimension counted from the end when negative.
fn dimension(
    call: &Call<'_>,
    name: &str,
    value: i64,
    input: &Operand<'_>,
) -> Result<usize, Diagnostic> {
    let rank = input.shape.len();
    let dimension = if value < 0 {
        usize::try_from(value.unsigned_abs())
            .ok()
            .and_then(|back| rank.checked_sub(back))
    } else {
        usize::try_from(value).ok().filter(|&d| d < rank)
    };
    dimension.ok_or_else(|| {
        let dimensions = if rank == 1 {
            "1 dimension".to_owned()
        } else {
            format!("{rank} dimensions")
        };
        let problem = call.attributes.problem(
            name,
            &format!("is {value}, but {} has {dimensions}", text(input)),
        );
        if rank == 0 {
            problem.hint("a scalar has no dimension to name")
        } else {
            problem.hint(format!("use a number from -{rank} to {}", rank - 1))
        }
    })
}

fn size_at(shape: &[u64], dimension: usize) -> u64 {
    shape.get(dimension).copied().unwrap_or(1)
}

fn with_size(shape: &[u64], dimension: usize, size: u64) -> Vec<u64> {
    let mut shape = shape.to_vec();
    if let Some(own) = shape.get_mut(dimension) {
        *own = size;
    }
    shape
}

fn reduce(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axes = match call.attributes.sizes("axis")? {
        None => input.shape.len().checked_sub(1).into_iter().collect(),
        Some(values) => values
            .into_iter()
            .map(|value| dimension(call, "axis", value, input))
            .collect::<Result<Vec<usize>, _>>()?,
    };
    let keep = call.attributes.flag("keepdim", true);
    Ok(input
        .shape
        .iter()
        .enumerate()
        .filter_map(
            |(dimension, &size)| match (axes.contains(&dimension), keep) {
                (false, _) => Some(size),
                (true, keep) => keep.then_some(1),
            },
        )
        .collect())
}

fn matmul(call: &Call<'_>, a: &Operand<'_>, b: &Operand<'_>) -> Result<Inferred, Diagnostic> {
    let (a_batch, rows, a_k) = matrix(a, call.attributes.flag("transpose_a", false))?;
    let (b_batch, b_k, columns) = matrix(b, call.attributes.flag("transpose_b", false))?;
    if a_k != b_k {
        let problem = mismatch(
            b,
            format!(
                "{} and {} do not multiply: K is {a_k} on the left and {b_k} on the right",
                text(a),
                text(b)
            ),
        );
        return Err(if a_k == columns {
            problem.hint("write `transpose_b=true` when the second operand is [N, K]")
        } else {
            problem
                .hint("the last size of the first operand must be the last but one of the second")
        });
    }
    let mut shape = broadcast(a_batch, b_batch).ok_or_else(|| {
        mismatch(
            b,
            format!(
                "the batch dimensions of {} and {} do not broadcast",
                text(a),
                text(b)
            ),
        )
        .hint("each pair of batch sizes must be equal, or one of them 1")
    })?;
    shape.extend([rows, columns]);
    Ok(Inferred {
        shape,
        contraction: Some(a_k),
    })
}

/// Batch dimensions and the last two sizes, swapped when transposed.
fn matrix<'a>(
    operand: &Operand<'a>,
    transposed: bool,
) -> Result<(&'a [u64], u64, u64), Diagnostic> {
    match *operand.shape {
        [ref batch @ .., p, q] => Ok(if transposed {
            (batch, q, p)
        } else {
            (batch, p, q)
        }),
        _ => Err(mismatch(operand, format!("{} is no matrix", text(operand)))
            .hint("an operand of a matmul has at least two dimensions")),
    }
}

fn linear(
    x: &Operand<'_>,
    weight: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<Inferred, Diagnostic> {
    let Some((&k, rows)) = x.shape.split_last() else {
        return Err(mismatch(x, format!("{} is a scalar", text(x)))
            .hint("the input of a linear layer has at least one dimension"));
    };
    let &[features, weight_k] = weight.shape else {
        return Err(mismatch(weight, format!("{} is no matrix", text(weight)))
            .hint("the weight of a linear layer is [out features, in features]"));
    };
    if k != weight_k {
        let problem = mismatch(
            weight,
            format!(
                "{} has {k} features, but {} takes {weight_k}",
                text(x),
                text(weight)
            ),
        );
        return Err(if k == features {
            problem
                .hint("the weight of `linear` is [out, in]; use `matmul` for one that is [in, out]")
        } else {
            problem.hint("the weight of a linear layer is [out features, in features]")
        });
    }
    check_bias(bias, features)?;
    let mut shape = rows.to_vec();
    shape.push(features);
    Ok(Inferred {
        shape,
        contraction: Some(k),
    })
}

fn check_bias(bias: Option<&Operand<'_>>, features: u64) -> Result<(), Diagnostic> {
    match bias {
        Some(bias) if bias.shape != [features] => Err(mismatch(
            bias,
            format!("the bias {} must be [{features}]", text(bias)),
        )
        .hint("a bias holds one value for each output feature")),
        _ => Ok(()),
    }
}

fn conv2d(
    call: &Call<'_>,
    x: &Operand<'_>,
    weight: &Operand<'_>,
    bias: Option<&Operand<'_>>,
) -> Result<Inferred, Diagnostic> {
    let &[batch, channels, height, width] = x.shape else {
        return Err(not_an_image(x));
    };
    let &[features, weight_channels, kernel_height, kernel_width] = weight.shape else {
        return Err(
            mismatch(weight, format!("{} is no convolution weight", text(weight))).hint(
                "a weight is [out channels, in channels / groups, kernel height, kernel width]",
            ),
        );
    };
    let groups = call.attributes.size("groups")?.unwrap_or(1);
    let groups = u64::try_from(groups)
        .ok()
        .filter(|&g| g > 0 && channels.is_multiple_of(g) && features.is_multiple_of(g))
        .ok_or_else(|| {
            call.attributes.problem(
                "groups",
                &format!("is {groups}, which does not divide {channels} input and {features} output channels"),
            )
        })?;
    if channels / groups != weight_channels {
        return Err(mismatch(
            weight,
            format!(
                "{} has {channels} channels in {groups} group{}, but {} takes {weight_channels}",
                text(x),
                if groups == 1 { "" } else { "s" },
                text(weight)
            ),
        )
        .hint("a weight is [out channels, in channels / groups, kernel height, kernel width]"));
    }
    check_bias(bias, features)?;
    let stride = call.attributes.pair("stride", 1, [1, 1])?;
    let padding = call.attributes.pair("padding", 0, [0, 0])?;
    let dilation = call.attributes.pair("dilation", 1, [1, 1])?;
    let window = [kernel_height, kernel_width];
    let [height, width] = slide(call, x, [height, width], window, stride, padding, dilation)?;
    let contraction = element_count(&[weight_channels, kernel_height, kernel_width])
        .ok_or_else(|| too_large(call))?;
    Ok(Inferred {
        shape: vec![batch, features, height, width],
        contraction: Some(contraction),
    })
}

fn pool2d(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let &[batch, channels, height, width] = input.shape else {
        return Err(not_an_image(input));
    };
    if !call.attributes.has("kernel") {
        return Err(missing(
            call,
            &format!("`{}` needs the size of its window", call.callee.text),
        )
        .hint(format!(
            "write `{}({}, kernel=2)`",
            call.callee.text,
            shortened(&input.name.text)
        )));
    }
    let window = call.attributes.pair("kernel", 1, [1, 1])?;
    let stride = call.attributes.pair("stride", 1, window)?;
    let padding = call.attributes.pair("padding", 0, [0, 0])?;
    let [height, width] = slide(
        call,
        input,
        [height, width],
        window,
        stride,
        padding,
        [1, 1],
    )?;
    Ok(vec![batch, channels, height, width])
}

fn not_an_image(operand: &Operand<'_>) -> Diagnostic {
    mismatch(operand, format!("{} is no batch of images", text(operand)))
        .hint("the input is [batch, channels, height, width]")
}

/// How many places a window takes on height and width: `(size + 2p - d(w - 1) - 1) / s + 1`, rounded down.
fn slide(
    call: &Call<'_>,
    input: &Operand<'_>,
    size: [u64; 2],
    window: [u64; 2],
    stride: [u64; 2],
    padding: [u64; 2],
    dilation: [u64; 2],
) -> Result<[u64; 2], Diagnostic> {
    let places = |size: u64, window: u64, stride: u64, padding: u64, dilation: u64| {
        let padded = size
            .checked_add(padding.checked_mul(2).ok_or_else(|| too_large(call))?)
            .ok_or_else(|| too_large(call))?;
        let reach = dilation
            .checked_mul(window.saturating_sub(1))
            .ok_or_else(|| too_large(call))?;
        padded
            .checked_sub(1)
            .and_then(|last| last.checked_sub(reach))
            .map(|room| room / stride + 1)
            .ok_or_else(|| {
                mismatch(
                    input,
                    format!(
                        "a window of {window} does not fit into {size} of {}",
                        text(input)
                    ),
                )
                .hint("use a smaller window or more `padding`")
            })
    };
    let ([h, w], [wh, ww], [sh, sw], [ph, pw], [dh, dw]) =
        (size, window, stride, padding, dilation);
    Ok([places(h, wh, sh, ph, dh)?, places(w, ww, sw, pw, dw)?])
}

fn reshape(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let elements = element_count(input.shape);
    let span = call.attributes.span("shape", call.callee.span);
    let (shape, span) = match (call.attributes.sizes("shape")?, call.annotated) {
        (Some(values), _) => (filled(call, &values, elements)?, span),
        (None, Some((shape, span))) => (shape.to_vec(), span),
        (None, None) => {
            return Err(missing(call, "a reshape needs its new shape").hint(format!(
                "write it behind a colon, such as `: {}[...]`, or as `shape=[...]`",
                input.dtype.name()
            )));
        }
    };
    if element_count(&shape) == elements {
        return Ok(shape);
    }
    let count = |elements: Option<u64>| elements.map_or("too many".to_owned(), |n| n.to_string());
    Err(Diagnostic::error(
        Code::ShapeMismatch,
        format!(
            "{} holds {} elements, but {} holds {}",
            text(input),
            count(elements),
            shape_text(&shape),
            count(element_count(&shape))
        ),
    )
    .at(span)
    .hint("a reshape keeps the number of elements"))
}

/// A written shape, in which one `-1` stands for whatever the number of elements leaves.
fn filled(call: &Call<'_>, values: &[i64], elements: Option<u64>) -> Result<Vec<u64>, Diagnostic> {
    let problem = |value: i64| {
        Diagnostic::error(
            Code::NonPositiveSize,
            format!("a size of {value} in `shape`"),
        )
        .at(call.attributes.span("shape", call.callee.span))
        .hint("every size is at least 1; one may be -1 and follows from the others")
    };
    let mut known: u64 = 1;
    for &value in values.iter().filter(|&&value| value != -1) {
        let size = u64::try_from(value)
            .ok()
            .filter(|&s| s > 0)
            .ok_or_else(|| problem(value))?;
        known = known.checked_mul(size).ok_or_else(|| too_large(call))?;
    }
    let is_open = |&&value: &&i64| value == -1;
    let left = match values.iter().filter(is_open).count() {
        0 => 1,
        1 => elements
            .filter(|n| n.is_multiple_of(known))
            .map(|n| n / known)
            .ok_or_else(|| {
                Diagnostic::error(
                    Code::InexactDivision,
                    format!(
                        "the -1 in `shape` is {} / {known}, which leaves a remainder",
                        elements.unwrap_or(0)
                    ),
                )
                .at(call.attributes.span("shape", call.callee.span))
                .hint("a reshape keeps the number of elements")
            })?,
        _ => return Err(problem(-1)),
    };
    Ok(values
        .iter()
        .map(|&value| u64::try_from(value).unwrap_or(left))
        .collect())
}

fn transpose(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let Some(perm) = call.attributes.sizes("perm")? else {
        let mut shape = input.shape.to_vec();
        let rank = shape.len();
        if rank < 2 {
            return Err(mismatch(
                input,
                format!("{} has no two dimensions to swap", text(input)),
            )
            .hint("a transpose needs at least two dimensions"));
        }
        shape.swap(rank - 1, rank - 2);
        return Ok(shape);
    };
    let mut order = Vec::with_capacity(perm.len());
    for &value in &perm {
        order.push(dimension(call, "perm", value, input)?);
    }
    let mut seen = order.clone();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..input.shape.len()) {
        return Err(call
            .attributes
            .problem(
                "perm",
                &format!("must name each dimension of {} once", text(input)),
            )
            .hint(format!(
                "it is an order of the numbers from 0 to {}",
                input.shape.len().saturating_sub(1)
            )));
    }
    Ok(order.iter().map(|&old| size_at(input.shape, old)).collect())
}

fn split(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, input)?;
    let Some(parts) = call.attributes.size("parts")? else {
        return Err(
            missing(call, "`split` needs the number of pieces").hint(format!(
                "write `split({}, parts=2, index=0)`",
                shortened(&input.name.text)
            )),
        );
    };
    let size = size_at(input.shape, axis);
    let Some(parts) = u64::try_from(parts).ok().filter(|&p| p > 0) else {
        return Err(call
            .attributes
            .problem("parts", &format!("is {parts}"))
            .hint("use at least 1"));
    };
    let index = call.attributes.size("index")?.unwrap_or(0);
    if !u64::try_from(index).is_ok_and(|i| i < parts) {
        return Err(call
            .attributes
            .problem(
                "index",
                &format!("is {index}, but there are {parts} pieces"),
            )
            .hint(format!("use a number from 0 to {}", parts - 1)));
    }
    if !size.is_multiple_of(parts) {
        return Err(Diagnostic::error(
            Code::InexactDivision,
            format!(
                "{} does not split into {parts} equal pieces: {size} / {parts} leaves a remainder of {}",
                text(input),
                size % parts
            ),
        )
        .at(call.attributes.span("parts", call.callee.span))
        .hint("choose sizes of which one divides the other"));
    }
    Ok(with_size(input.shape, axis, size / parts))
}

fn concat(
    call: &Call<'_>,
    first: &Operand<'_>,
    others: &[Operand<'_>],
) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, first)?;
    let mut total = size_at(first.shape, axis);
    for other in others {
        let fits = other.shape.len() == first.shape.len()
            && other
                .shape
                .iter()
                .zip(first.shape)
                .enumerate()
                .all(|(dimension, (own, size))| dimension == axis || own == size);
        if !fits {
            return Err(mismatch(
                other,
                format!(
                    "{} does not line up with {} along axis {axis}",
                    text(other),
                    text(first)
                ),
            )
            .hint("all sizes but the one along the axis must be equal"));
        }
        total = total
            .checked_add(size_at(other.shape, axis))
            .ok_or_else(|| too_large(call))?;
    }
    Ok(with_size(first.shape, axis, total))
}

fn slice(call: &Call<'_>, input: &Operand<'_>) -> Result<Vec<u64>, Diagnostic> {
    let axis = required_axis(call, input)?;
    let size = size_at(input.shape, axis);
    let place = |name: &str, default: u64| match call.attributes.size(name)? {
        None => Ok(default),
        Some(value) => {
            let place = if value < 0 {
                size.checked_sub(value.unsigned_abs())
            } else {
                Some(value.unsigned_abs()).filter(|&p| p <= size)
            };
            place.ok_or_else(|| {
                call.attributes
                    .problem(
                        name,
                        &format!(
                            "is {value}, but {} has {size} along axis {axis}",
                            text(input)
                        ),
                    )
                    .hint(format!("use a number from -{size} to {size}"))
            })
        }
    };
    let (start, end) = (place("start", 0)?, place("end", size)?);
    match end.checked_sub(start) {
        Some(length) if length > 0 => Ok(with_size(input.shape, axis, length)),
        _ => Err(Diagnostic::error(
            Code::NonPositiveSize,
            format!("the slice from {start} to {end} is empty"),
        )
        .at(call
            .attributes
            .span("end", call.attributes.span("start", call.callee.span)))
        .hint("`end` is one past the last element and must be larger than `start`")),
    }
}
