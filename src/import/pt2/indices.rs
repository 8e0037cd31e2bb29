//! Operators that read and write at indices, and those that sort.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::{Call, number_text};
use crate::shapes::elements;

fn lines(text: impl Into<String>) -> Becomes {
    Becomes::lines(text.into())
}

/// Rows along an axis. Views bring another axis than the first to the front and back.
pub(super) fn index_select(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.rank_of("self")?;
    let axis = call.axis("dim", rank)?;
    if axis == 0 {
        return Some(lines("{y} = index({self}, {index})"));
    }
    let mut front: Vec<usize> = (0..rank).filter(|&own| own != axis).collect();
    front.insert(0, axis);
    let mut back: Vec<usize> = (1..rank).collect();
    back.insert(axis, 0);
    Some(lines(format!(
        "{{y}}_front = transpose({{self}}, perm={front:?})\n\
         {{y}}_rows = index({{y}}_front, {{index}})\n\
         {{y}} = transpose({{y}}_rows, perm={back:?})"
    )))
}

/// How many elements lie in each of several bins of equal width.
pub(super) fn histogram(call: &Call<'_>) -> Option<Becomes> {
    let bins = call.int_or("bins", 100)?;
    let (low, high) = (call.number("min")?, call.number("max")?);
    if high <= low {
        return None;
    }
    let scale = number_text(bins as f64 / (high - low))?;
    let (low, last, dtype) = (number_text(low)?, bins - 1, call.dtype.name());
    let shape = call.list(&call.shape);
    let flat = call.list(&[elements(call.shape_of("self")?)?]);
    Some(lines(format!(
        "{{y}}_flat = reshape({{self}}, shape={flat})\n\
         {{y}}_shifted = sub({{y}}_flat, {low})\n\
         {{y}}_scaled = mul({{y}}_shifted, {scale})\n\
         {{y}}_bin = clamp({{y}}_scaled, min=0, max={last})\n\
         {{y}}_index = cast({{y}}_bin, dtype=i64)\n\
         {{y}}_empty = full(value=0) : {dtype}{shape}\n\
         {{y}}_ones = full(value=1) : {dtype}{flat}\n\
         {{y}} = scatter_add({{y}}_empty, {{y}}_index, {{y}}_ones, axis=0)"
    )))
}

/// Rows of a table, and a sum, a mean or a maximum of those of each bag.
pub(super) fn embedding_bag(call: &Call<'_>) -> Option<Becomes> {
    (call.index == 0).then(|| {
        lines(
            "{y}_rows = embedding({indices}, {weight})\n\
             {y} = reduction({y}_rows, {offsets}, {per_sample_weights?})",
        )
    })
}

pub(super) fn scatter(call: &Call<'_>) -> Option<Becomes> {
    if call.has("value") && !call.has("src") {
        let (axis, value) = (
            call.axis("dim", call.rank_of("self")?)?,
            call.literal("value")?,
        );
        let shape = call.list(call.shape_of("index")?);
        let dtype = call.dtype.name();
        return (!call.has("reduce")).then(|| {
            Becomes::lines(format!(
                "{{y}}_values = full(value={value}) : {dtype}{shape}\n\
                 {{y}} = scatter({{self}}, {{index}}, {{y}}_values, axis={axis})"
            ))
        });
    }
    let source = if call.has("source") { "source" } else { "src" };
    let axis = call.axis("dim", call.rank_of("self")?)?;
    let is_known = if call.operator.starts_with("scatter") {
        call.shape_of("index")? == call.shape_of(source)?
    } else {
        call.rank_of("index") == Some(1)
    };
    (is_known && !call.differs("alpha", 1.0) && !call.has("reduce")).then(|| {
        let function = call.operator;
        Becomes::lines(format!(
            "{{y}} = {function}({{self}}, {{index}}, {{{source}}}, axis={axis})"
        ))
    })
}

/// The largest values, or their indices.
pub(super) fn top(call: &Call<'_>) -> Option<Becomes> {
    let count = call.one(&call.size("k")?);
    let axis = call.int_or("dim", -1)?;
    let is_largest = !call.has("largest") || call.flag("largest");
    let function = if call.index == 0 {
        "topk"
    } else {
        "topk_indices"
    };
    is_largest.then(|| {
        lines(format!(
            "{{y}} = {function}({{self}}, count={count}, axis={axis})"
        ))
    })
}

pub(super) fn sort(call: &Call<'_>) -> Option<Becomes> {
    let axis = call.int_or("dim", -1)?;
    let order = if call.flag("descending") {
        ", descending=true"
    } else {
        ""
    };
    let function = if call.index == 1 || call.operator == "argsort" {
        "argsort"
    } else {
        "sort"
    };
    Some(lines(format!(
        "{{y}} = {function}({{self}}, axis={axis}{order})"
    )))
}
