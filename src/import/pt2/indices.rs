//! Operators that read and write at indices, and those that sort.

use crate::params::identifier;
use crate::pt2::becomes::Becomes;
use crate::pt2::call::Call;
use crate::shapes::elements;
use crate::size::Size;
use crate::writer::Known;
use fuseline_core::model::dtype::DType;
use fuseline_core::notation::written_name;

fn lines(text: impl Into<String>) -> Becomes {
    Becomes::lines(text.into())
}

/// Indices of the first dimensions; masks and skipped dimensions are not known.
pub(super) fn index(call: &Call<'_>) -> Option<Becomes> {
    let indices = call.tensors_of("indices")?;
    let names = indices.into_iter().map(|index| {
        let index = index.filter(|index| index.dtype == Some(DType::I64))?;
        Some(index.name.clone())
    });
    let names: Vec<String> = names.collect::<Option<_>>()?;
    Some(lines(format!(
        "{{y}} = index({{self}}, {})",
        names.join(", ")
    )))
}

pub(super) fn index_select(call: &Call<'_>) -> Option<Becomes> {
    let axis = call.axis("dim", call.rank_of("self")?)?;
    Some(lines(if axis == 0 {
        "{y} = index({self}, {index})"
    } else {
        "{y} = rearrange({self}, {index})"
    }))
}

/// Rows of a table, and a sum, a mean or a maximum of those of each bag.
pub(super) fn embedding_bag(call: &Call<'_>) -> Option<Becomes> {
    let (table, indices) = (call.shape_of("weight")?, call.shape_of("indices")?);
    let rows = elements(&[indices, table.get(1..)?].concat())?;
    let name = written_name(&identifier(call.node.operator()));
    Some(lines(format!(
        "{{y}}_rows = embedding({{indices}}, {{weight}})\n\
         {{y}} = opaque({{y}}_rows, {{offsets}}, {{per_sample_weights?}}, name={name}, flops={})",
        call.one(&rows)
    )))
}

/// Rows that are written at one list of indices.
pub(super) fn index_put(call: &Call<'_>) -> Option<Becomes> {
    let indices = call.tensors_of("indices")?;
    let [Some(index)] = indices.as_slice() else {
        return None;
    };
    let [count] = shape(index)? else {
        return None;
    };
    if index.dtype == Some(DType::Bool) {
        return None;
    }
    let rows = [
        std::slice::from_ref(count),
        call.shape_of("self")?.get(1..)?,
    ]
    .concat();
    let function = if call.flag("accumulate") {
        "index_add"
    } else {
        "index_copy"
    };
    let name = &index.name;
    if call.shape_of("values") == Some(rows.as_slice()) {
        return Some(lines(format!(
            "{{y}} = {function}({{self}}, {name}, {{values}}, axis=0)"
        )));
    }
    let rows = call.list(&rows);
    Some(lines(format!(
        "{{y}}_values = expand({{values}}, shape={rows})\n{{y}} = {function}({{self}}, {name}, {{y}}_values, axis=0)"
    )))
}

fn shape(known: &Known) -> Option<&[Size]> {
    known.shape.as_deref()
}

pub(super) fn scatter(call: &Call<'_>) -> Option<Becomes> {
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

/// The largest values, or their indices. If both are read, the indices come first, and the values
/// are gathered at them.
pub(super) fn top(call: &Call<'_>) -> Option<Becomes> {
    let count = call.one(&call.size("k")?);
    let axis = if call.has("dim") {
        call.int("dim")?
    } else {
        -1
    };
    let is_largest = !call.has("largest") || call.flag("largest");
    let line = match (call.index, call.output(1).filter(|_| call.uses(1))) {
        (0, Some(indices)) => format!("{{y}} = gather({{self}}, {}, axis={axis})", indices.name),
        (0, None) => format!("{{y}} = topk({{self}}, count={count}, axis={axis})"),
        _ => format!("{{y}} = topk_indices({{self}}, count={count}, axis={axis})"),
    };
    is_largest.then_some(Becomes::lines(line))
}

pub(super) fn sort(call: &Call<'_>) -> Option<Becomes> {
    let axis = if call.has("dim") {
        call.int("dim")?
    } else {
        -1
    };
    let order = if call.flag("descending") {
        ", descending=true"
    } else {
        ""
    };
    let is_places = call.index == 1 || call.operator == "argsort";
    let line = match call.output(1).filter(|_| call.uses(1)) {
        _ if is_places => format!("{{y}} = argsort({{self}}, axis={axis}{order})"),
        Some(indices) => format!("{{y}} = gather({{self}}, {}, axis={axis})", indices.name),
        None => format!("{{y}} = sort({{self}}, axis={axis}{order})"),
    };
    Some(lines(line))
}
