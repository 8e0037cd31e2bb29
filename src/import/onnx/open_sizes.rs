//! Sizes that only the numbers of a run give: how many elements are not zero, the target of a
//! reshape that the caller chooses. They become params, so that all that follows still counts.

use crate::onnx::call::Call;
use crate::shapes::{Sizes, dimension, elements};
use crate::size::Size;
use crate::statement::Dims;

/// The size of a dimension.
pub(super) enum Extent {
    /// It is known.
    Is(Size),
    /// A run gives it; it is at most this number, where the operator has a limit.
    Open(Option<i64>),
}

/// The sizes of an output, some of which are open; `None` where not even the rank is known.
pub(super) fn extents(call: &Call<'_>, stated: Option<&Dims>) -> Option<Vec<Extent>> {
    let own = by_operator(call);
    let stated = stated.map(|dims| {
        let dims = dims.iter();
        dims.map(|dim| dim.clone().map_or(Extent::Open(None), Extent::Is))
            .collect::<Vec<Extent>>()
    });
    let (Some(own), Some(stated)) = (&own, &stated) else {
        return own.or(stated);
    };
    // What the file states holds, and what it leaves open may have a limit.
    let both = stated.iter().zip(own);
    let merged = both.map(|(stated, own)| match (stated, own) {
        (Extent::Is(size), _) | (Extent::Open(_), Extent::Is(size)) => Extent::Is(size.clone()),
        (Extent::Open(_), Extent::Open(most)) => Extent::Open(*most),
    });
    (own.len() == stated.len()).then(|| merged.collect())
}

fn by_operator(call: &Call<'_>) -> Option<Vec<Extent>> {
    let is = |sizes: &[Size]| sizes.iter().cloned().map(Extent::Is).collect::<Vec<_>>();
    let open = |count: usize| (0..count).map(|_| Extent::Open(None)).collect::<Vec<_>>();
    let most = |size: &Size| Extent::Open(call.default_of(size));
    // How many numbers an input of shapes or axes has.
    let length = |index: usize| match call.shape(index)? {
        [length] => usize::try_from(length.as_int()?)
            .ok()
            .filter(|&n| n <= MAX_RANK),
        _ => None,
    };
    match (call.operator(), call.output_index) {
        ("ConstantOfShape", 0) => return length(0).map(open),
        ("Range", 0) => return Some(open(1)),
        _ => {}
    }
    let x = call.shape(0)?;
    let all = || elements(x);
    let along = |axis: i64| {
        let axis = dimension(axis, x.len())?;
        let mut sizes = is(x);
        *sizes.get_mut(axis)? = most(x.get(axis)?);
        Some(sizes)
    };
    match (call.operator(), call.output_index) {
        ("NonZero", 0) => Some(vec![
            Extent::Is(Size::from(i64::try_from(x.len()).ok()?)),
            most(&all()?),
        ]),
        ("Compress" | "Unique", 0) => match call.int("axis") {
            Some(axis) => along(axis),
            None => Some(vec![most(&all()?)]),
        },
        ("Unique", 1..) => {
            let own = match call.int("axis") {
                Some(axis) => x.get(dimension(axis, x.len())?)?.clone(),
                None => all()?,
            };
            Some(vec![if call.output_index == 2 {
                Extent::Is(own)
            } else {
                most(&own)
            }])
        }
        ("NonMaxSuppression", 0) => {
            let classes = call.shape(1)?.get(1)?;
            let boxes = x.first()?.mul(x.get(1)?)?.mul(classes)?;
            Some(vec![most(&boxes), Extent::Is(Size::from(3))])
        }
        ("Slice", 0) => Some(x.iter().map(most).collect()),
        ("TopK", 0 | 1) => along(call.int("axis").unwrap_or(-1)),
        ("Split", _) => along(call.int("axis").unwrap_or(0)),
        ("Reshape", 0) => length(1).map(open),
        ("Tile" | "Pad", 0) => Some(open(x.len())),
        ("Expand", 0) => {
            let count = length(1)?.max(x.len());
            let added = open(count - x.len()).into_iter();
            let own = x.iter().map(|size| {
                if size.is_one() {
                    Extent::Open(None)
                } else {
                    Extent::Is(size.clone())
                }
            });
            Some(added.chain(own).collect())
        }
        ("Resize" | "Upsample", 0) => {
            let image = open(x.len().checked_sub(2)?);
            Some(is(x.get(..2)?).into_iter().chain(image).collect())
        }
        ("OneHot", 0) => {
            let axis = dimension(call.int("axis").unwrap_or(-1), x.len() + 1)?;
            let mut sizes = is(x);
            sizes.insert(axis, Extent::Open(None));
            Some(sizes)
        }
        (name, 0) if name.starts_with("Reduce") => {
            if call.int("keepdims").unwrap_or(1) != 0 {
                return Some(x.iter().map(most).collect());
            }
            Some(open(x.len().checked_sub(length(1)?)?))
        }
        _ => None,
    }
}

/// Most dimensions of a tensor whose rank the length of an input gives.
const MAX_RANK: usize = 16;

/// Whether an output has no elements, with its shape: no op writes it.
pub(super) fn empty_shape(call: &Call<'_>, known: Option<Sizes>) -> Option<Sizes> {
    if let Some(known) = known {
        return has_no_elements(&known).then_some(known);
    }
    let x = call.shape(0)?;
    match call.operator() {
        "Slice" => sliced(call, x),
        "Concat" => {
            let mut shapes = (0..call.input_count()).map(|index| call.shape(index));
            let is_empty = shapes.all(|shape| shape.is_some_and(has_no_elements));
            is_empty.then(|| x.to_vec())
        }
        "Split" => {
            let axis = dimension(call.int("axis").unwrap_or(0), x.len())?;
            let sizes = call.numbers(1, "split")?;
            let own = *sizes.get(call.output_index)?;
            let mut shape = x.to_vec();
            *shape.get_mut(axis)? = Size::from(own);
            has_no_elements(&shape).then_some(shape)
        }
        name if name.starts_with("Reduce") => None,
        _ => has_no_elements(x).then(|| x.to_vec()),
    }
}

/// Whether a size is 0.
pub(super) fn has_no_elements(shape: &[Size]) -> bool {
    shape.iter().any(|size| size.as_int() == Some(0))
}

/// The shape of a slice that takes nothing.
fn sliced(call: &Call<'_>, x: &[Size]) -> Option<Sizes> {
    let (starts, ends) = (call.numbers(1, "starts")?, call.numbers(2, "ends")?);
    let axes: Vec<i64> = if call.has(3) || call.ints("axes").is_some() {
        call.numbers(3, "axes")?
    } else {
        (0..i64::try_from(starts.len()).ok()?).collect()
    };
    let mut shape = x.to_vec();
    for (at, &axis) in axes.iter().enumerate() {
        let along = dimension(axis, x.len())?;
        let length = call.default_of(x.get(along)?)?;
        let bound = |value: i64| {
            let value = if value < 0 {
                value.saturating_add(length)
            } else {
                value
            };
            value.clamp(0, length)
        };
        let is_forward = call
            .numbers(4, "steps")
            .is_none_or(|steps| steps.get(at) > Some(&0));
        let (start, end) = (bound(*starts.get(at)?), bound(*ends.get(at)?));
        if is_forward && start >= end {
            *shape.get_mut(along)? = Size::from(0);
        }
    }
    has_no_elements(&shape).then_some(shape)
}
