//! Values that a file computes from shapes: exporters write the new shape of a reshape as `Shape`,
//! `Gather` and `Concat`. Only a few elements are followed, whole numbers as sizes over the params.

use crate::constant::{Constant, MAX_NUMBERS, Scalar};
use crate::onnx::arithmetic::{binary, each, number, unary};
use crate::onnx::call::Call;
use crate::onnx::proto::{Number, TensorValue};
use crate::shapes::{Sizes, dimension, is_permutation};
use crate::size::Size;

/// The value of a constant, if it holds whole numbers or a few numbers.
pub(super) fn value_of(tensor: &TensorValue) -> Option<Constant> {
    let numbers = tensor.numbers()?;
    // The factors of a resize are a few floats.
    let is_few = numbers.len() <= 8 || numbers.iter().all(|n| matches!(n, Number::Int(_)));
    let shape = tensor.dims.iter().map(|&dim| usize::try_from(dim).ok());
    Some(Constant {
        shape: shape.collect::<Option<_>>().filter(|_| is_few)?,
        elements: numbers.into_iter().map(scalar).collect(),
    })
}

fn scalar(number: Number) -> Scalar {
    match number {
        Number::Int(value) => Scalar::Int(Size::from(value)),
        Number::Float(value) => Scalar::Float(value),
    }
}

/// The value that a node gives, where it is known: whole numbers, or one number.
pub(super) fn folded(call: &Call<'_>) -> Option<Constant> {
    let value = computed(call)?;
    let is_constant = call.operator() == "Constant";
    (is_constant || value.elements.len() == 1 || value.sizes().is_some()).then_some(value)
}

fn computed(call: &Call<'_>) -> Option<Constant> {
    let input = |index| call.value(index);
    match call.operator() {
        "Constant" => held(call),
        "Shape" => {
            let shape = call.shape(0)?;
            let bound = |name, default: usize| match call.int(name) {
                None => default,
                Some(value) if value < 0 => shape.len().saturating_sub(back(value)),
                Some(value) => usize::try_from(value).map_or(shape.len(), |v| v.min(shape.len())),
            };
            let sizes = shape.get(bound("start", 0)..bound("end", shape.len()));
            Constant::sizes_list(sizes.unwrap_or_default())
        }
        "Size" => Some(Constant::scalar(Scalar::Int(call.elements(0)?))),
        "Identity" | "Cast" => cast(call, input(0)?),
        "Gather" => gather(call, input(0)?, input(1)?),
        "Concat" => {
            let values = (0..call.input_count()).map(input);
            let values: Vec<&Constant> = values.collect::<Option<_>>()?;
            let is_list = |value: &&Constant| value.shape.len() == 1;
            let elements = values.iter().flat_map(|value| &value.elements);
            let elements = elements.take(MAX_NUMBERS + 1).cloned();
            values
                .iter()
                .all(is_list)
                .then(|| Constant::list(elements.collect()))?
        }
        "Unsqueeze" | "Squeeze" | "Reshape" | "Flatten" => {
            let shape = call.reshaped()?;
            let shape = shape
                .iter()
                .map(|size| usize::try_from(size.as_int()?).ok());
            input(0)?.with_shape(shape.collect::<Option<_>>()?)
        }
        "Slice" => slice(call, input(0)?),
        "ScatterElements" => scattered(call, input(0)?, input(1)?, input(2)?),
        "Transpose" => transposed(call, input(0)?),
        "ConstantOfShape" => {
            let sizes = input(0)?.sizes()?;
            let shape = sizes
                .iter()
                .map(|size| usize::try_from(size.as_int()?).ok());
            let shape: Vec<usize> = shape.collect::<Option<_>>()?;
            let count = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))?;
            let filled = call.tensor("value").map(TensorValue::numbers);
            let element = match filled {
                Some(numbers) => scalar(*numbers?.first()?),
                None => Scalar::Float(0.0),
            };
            let is_few = count <= 1 || matches!(element, Scalar::Int(_)) && count <= MAX_NUMBERS;
            is_few.then(|| Constant {
                shape,
                elements: vec![element; count],
            })
        }
        "Range" => {
            let number = |index| match input(index)?.only()? {
                Scalar::Int(size) => size.as_int(),
                Scalar::Float(_) => None,
            };
            let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
            if step == 0 {
                return None;
            }
            let ends = move |value: &i64| (*value < limit) == (step > 0) && *value != limit;
            let values = std::iter::successors(Some(start), move |value| value.checked_add(step));
            let values: Vec<i64> = values.take_while(ends).take(MAX_NUMBERS + 1).collect();
            Constant::list(
                values
                    .into_iter()
                    .map(|v| Scalar::Int(Size::from(v)))
                    .collect(),
            )
        }
        "ReduceProd" if call.output_rank() == Some(0) || input(0)?.shape.len() <= 1 => {
            let product = input(0)?
                .sizes()?
                .iter()
                .try_fold(Size::from(1), |n, s| n.mul(s))?;
            Some(Constant::scalar(Scalar::Int(product)))
        }
        "Neg" | "Sqrt" | "Reciprocal" | "Floor" | "Ceil" | "Not" | "Abs" => {
            each(&[input(0)?], |elements| unary(call, elements.first()?))
        }
        "Add" | "Sub" | "Mul" | "Div" | "Mod" | "Pow" | "Equal" | "Min" | "Max" | "And" | "Or"
        | "Less" | "Greater" => each(&[input(0)?, input(1)?], |elements| match elements {
            [a, b] => binary(call, a, b),
            _ => None,
        }),
        "Where" => each(
            &[input(0)?, input(1)?, input(2)?],
            |elements| match elements {
                [condition, a, b] => {
                    let holds = number(call, condition)? != 0.0;
                    Some((if holds { *a } else { *b }).clone())
                }
                _ => None,
            },
        ),
        _ => None,
    }
}

fn back(value: i64) -> usize {
    usize::try_from(value.unsigned_abs()).unwrap_or(usize::MAX)
}

fn held(call: &Call<'_>) -> Option<Constant> {
    if let Some(tensor) = call.tensor("value") {
        return value_of(tensor);
    }
    if let Some(value) = call.int("value_int") {
        return Some(Constant::scalar(Scalar::Int(Size::from(value))));
    }
    if let Some(value) = call.float("value_float") {
        return Some(Constant::scalar(Scalar::Float(value)));
    }
    if let Some(values) = call.floats("value_floats") {
        return Constant::list(values.map(Scalar::Float).collect());
    }
    Constant::sizes_list(
        &call
            .ints("value_ints")?
            .iter()
            .map(|&i| Size::from(i))
            .collect::<Sizes>(),
    )
}

/// A list of which some elements are replaced: exporters write the shape of an expanded index so.
fn scattered(
    call: &Call<'_>,
    list: &Constant,
    places: &Constant,
    values: &Constant,
) -> Option<Constant> {
    let is_replaced = call.word("reduction").is_none_or(|name| name == "none");
    let are_lists = [list, places, values]
        .iter()
        .all(|own| own.shape.len() == 1);
    if !is_replaced || !are_lists || places.elements.len() != values.elements.len() {
        return None;
    }
    let mut elements = list.elements.clone();
    for (place, value) in places.sizes()?.iter().zip(&values.elements) {
        let place = match place.as_int()? {
            place @ ..0 => elements.len().checked_sub(back(place))?,
            place => usize::try_from(place).ok()?,
        };
        *elements.get_mut(place)? = value.clone();
    }
    Constant::list(elements)
}

/// The elements in another type. Whole numbers stay sizes, because only sizes can be the shape of
/// something.
fn cast(call: &Call<'_>, value: &Constant) -> Option<Constant> {
    // TensorProto.DataType: 1 f32, 10 f16, 11 f64, 16 bf16.
    let to_float = matches!(call.int("to"), Some(1 | 10 | 11 | 16));
    let elements = value.elements.iter().map(|element| match element {
        Scalar::Float(number) if !to_float && call.operator() == "Cast" => {
            Some(Scalar::Int(whole(*number)?))
        }
        other => Some(other.clone()),
    });
    Some(Constant {
        shape: value.shape.clone(),
        elements: elements.collect::<Option<_>>()?,
    })
}

/// The number rounded towards zero, as a size.
pub(super) fn whole(number: f64) -> Option<Size> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "checked to be far below 2^63"
    )]
    let whole = (number.abs() < 1e15).then_some(number as i64)?;
    Some(Size::from(whole))
}

fn gather(call: &Call<'_>, data: &Constant, index: &Constant) -> Option<Constant> {
    if data.shape.len() != 1 || call.int("axis").unwrap_or(0) != 0 {
        return None;
    }
    let indices = index.sizes()?;
    let elements = indices.iter().map(|index| {
        let index = dimension(index.as_int()?, data.elements.len())?;
        data.elements.get(index).cloned()
    });
    Some(Constant {
        shape: index.shape.clone(),
        elements: elements.collect::<Option<_>>()?,
    })
}

/// A slice along each axis that is named.
fn slice(call: &Call<'_>, data: &Constant) -> Option<Constant> {
    let starts = call.numbers(1, "starts")?;
    let ends = call.numbers(2, "ends")?;
    let rank = data.shape.len();
    let axes: Vec<usize> = if call.has(3) || call.ints("axes").is_some() {
        let named = call.numbers(3, "axes")?;
        let named = named.into_iter().map(|axis| dimension(axis, rank));
        named.collect::<Option<_>>()?
    } else {
        (0..starts.len()).collect()
    };
    let steps = if call.has(4) {
        call.numbers(4, "steps")?
    } else {
        vec![1; starts.len()]
    };
    let mut indices = all_indices(data)?;
    for (at, &axis) in axes.iter().enumerate() {
        let (start, end, step) = (*starts.get(at)?, *ends.get(at)?, *steps.get(at)?);
        let along = indices.get_mut(axis)?;
        let length = i64::try_from(along.len()).ok()?;
        // Forwards from 0 to the length, backwards from the last index to one before the first.
        let (lowest, highest) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let bound = |value: i64| {
            let value = if value < 0 {
                value.saturating_add(length)
            } else {
                value
            };
            value.clamp(lowest, highest)
        };
        let (start, end) = (bound(start), bound(end));
        let is_before_end =
            move |index: &i64| step != 0 && (*index < end) == (step > 0) && *index != end;
        let taken = std::iter::successors(Some(start), move |index| index.checked_add(step));
        let taken = taken.take_while(is_before_end);
        *along = taken
            .map(|index| usize::try_from(index).ok())
            .collect::<Option<_>>()?;
    }
    taken(data, &indices, &(0..rank).collect::<Vec<_>>())
}

/// The elements with their dimensions in another order.
fn transposed(call: &Call<'_>, data: &Constant) -> Option<Constant> {
    let rank = data.shape.len();
    let order: Vec<usize> = match call.ints("perm") {
        Some(perm) => perm
            .iter()
            .map(|&axis| dimension(axis, rank))
            .collect::<Option<_>>()?,
        None => (0..rank).rev().collect(),
    };
    is_permutation(&order, rank).then(|| taken(data, &all_indices(data)?, &order))?
}

/// All indices of each dimension. `None` for a tensor without elements, because the length of its
/// other dimensions has no limit.
fn all_indices(data: &Constant) -> Option<Vec<Vec<usize>>> {
    let sizes = data.shape.iter();
    (!data.elements.is_empty()).then(|| sizes.map(|&size| (0..size).collect()).collect())
}

/// The elements at these indices of each dimension, the dimensions in this order; `None` for more
/// than a value may have.
fn taken(data: &Constant, indices: &[Vec<usize>], order: &[usize]) -> Option<Constant> {
    let shape = order.iter().map(|&axis| indices.get(axis).map(Vec::len));
    let shape: Vec<usize> = shape.collect::<Option<_>>()?;
    // Checked before anything is allocated.
    let count = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d))?;
    if count > MAX_NUMBERS {
        return None;
    }
    let mut offsets = vec![0_usize];
    for &axis in order {
        let stride: usize = data.shape.get(axis + 1..)?.iter().product();
        let along = indices.get(axis)?;
        offsets = (offsets.iter())
            .flat_map(|&offset| along.iter().map(move |index| offset + index * stride))
            .collect();
    }
    let elements = offsets
        .into_iter()
        .map(|offset| data.elements.get(offset).cloned());
    Some(Constant {
        shape,
        elements: elements.collect::<Option<_>>()?,
    })
}
