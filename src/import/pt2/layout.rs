//! Operators that show the elements of a tensor in another shape or order.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::Call;
use crate::pt2::schema::{Argument, SymInt, TensorMeta};
use crate::pt2::views::perm;
use crate::shapes::elements;
use crate::size::Size;
use fuseline_core::model::functions::Function;
use std::fmt::Write;

/// The elements of the first tensor in the shape of the output, where PyTorch copies none.
pub(super) fn reshape(call: &Call<'_>) -> Option<Becomes> {
    let name = call.node.inputs.first()?.name.as_str();
    let known = call.tensor(name)?;
    let index = call.tensor_index(name)?;
    if known.dtype != Some(call.dtype) {
        return None;
    }
    let copies = matches!(call.operator, "reshape" | "flatten" | "reshape_as")
        && !is_view(call, name)
        && !is_attention(call, index);
    if copies {
        let shape = call.list(known.shape.as_deref()?);
        return Some(Becomes::lines(format!(
            "{{y}}_copy = contiguous({{{name}}}) : {}{shape}\n{{y}} = reshape({{y}}_copy)",
            call.dtype.name()
        )));
    }
    Some(Becomes::Reshape(index))
}

/// The bits of a tensor in another element type of the same size. `u8` and `i8` are one type here.
pub(super) fn bitcast(call: &Call<'_>) -> Option<Becomes> {
    let index = call.tensor_index("self")?;
    let dtype = call.known(index)?.dtype?;
    if dtype == call.dtype {
        return Some(Becomes::Same(index));
    }
    (dtype.size() == call.dtype.size()).then(|| {
        let dtype = call.dtype.name();
        Becomes::lines(format!("{{y}} = bitcast({{self}}, dtype={dtype})"))
    })
}

/// A view of any strides; one that shows all elements in their order is a reshape.
pub(super) fn as_strided(call: &Call<'_>) -> Option<Becomes> {
    let output = call.outputs.first().copied().flatten()?;
    let output = call.graph.tensor_values.get(output)?;
    let keeps_all = elements(call.shape_of("self")?)? == elements(&call.shape)?;
    let is_reshape = keeps_all && is_in_order(call.meta("self")?)? && is_in_order(output)?;
    is_reshape.then_some(Becomes::Reshape(call.tensor_index("self")?))
}

/// The diagonal of the last two dimensions.
pub(super) fn diagonal(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.rank_of("self")?;
    let axis = |name: &str, default: usize| {
        if call.has(name) {
            call.axis(name, rank)
        } else {
            Some(default)
        }
    };
    let last = [rank.checked_sub(2)?, rank.checked_sub(1)?];
    let are_last = [axis("dim1", 0)?, axis("dim2", 1)?] == last;
    let lines = diagonal_lines(call, call.int_or("offset", 0)?, "{y}");
    lines.filter(|_| are_last).map(Becomes::lines)
}

/// The sum of the diagonal of a matrix.
pub(super) fn trace(call: &Call<'_>) -> Option<Becomes> {
    let lines = diagonal_lines(call, 0, "{y}_diagonal")?;
    Some(Becomes::lines(format!(
        "{lines}\n{{y}} = sum({{y}}_diagonal, axis=0, keepdim=false)"
    )))
}

/// In a row of all elements of a matrix, its diagonal has every one that is a column further in the
/// next row.
fn diagonal_lines(call: &Call<'_>, offset: i64, output: &str) -> Option<String> {
    let [outer @ .., rows, columns] = call.shape_of("self")? else {
        return None;
    };
    let (rows, columns) = (rows.as_int()?, columns.as_int()?);
    let (start, length) = if offset < 0 {
        let start = offset.checked_neg()?.checked_mul(columns)?;
        (start, columns.min(rows.checked_add(offset)?))
    } else {
        (offset, rows.min(columns.checked_sub(offset)?))
    };
    (length > 0).then_some(())?;
    let elements = rows.checked_mul(columns)?;
    let step = columns.checked_add(1)?;
    // The last element of the diagonal is one of the matrix.
    let end = start + (length - 1) * step + 1;
    let row = [outer, &[Size::from(elements)]].concat();
    Some(format!(
        "{{y}}_row = reshape({{self}}, shape={})\n\
         {output} = slice({{y}}_row, start={start}, end={end}, step={step}, axis={})",
        call.list(&row),
        outer.len()
    ))
}

/// Whether the memory of a tensor has its elements in row-major order, without gaps. `None` where
/// the graph does not tell a size.
fn is_in_order(meta: &TensorMeta) -> Option<bool> {
    let hints = |sizes: &[SymInt]| sizes.iter().map(SymInt::hint).collect::<Option<Vec<i64>>>();
    let mut end = 1_i64;
    let dims = hints(&meta.sizes)?.into_iter().zip(hints(&meta.strides)?);
    Some(dims.rev().all(|(size, stride)| {
        let follows = size == 1 || stride == end;
        end = end.saturating_mul(size);
        follows
    }))
}

/// A copy, if it changes the layout; torch.compile removes a copy in the same order.
pub(super) fn clone(call: &Call<'_>) -> Option<Becomes> {
    let index = call.tensor_index("self")?;
    let strides = |sizes: &[SymInt]| sizes.iter().map(SymInt::hint).collect::<Vec<_>>();
    let before = strides(&call.meta("self")?.strides);
    let output = call.outputs.first().copied().flatten()?;
    let after = strides(&call.graph.tensor_values.get(output)?.strides);
    if before == after || is_attention(call, index) {
        return Some(Becomes::Same(index));
    }
    Some(Becomes::lines("{y} = contiguous({self})"))
}

/// Whether a tensor is attention with its heads behind its rows: on a GPU attention writes it so,
/// whatever the traced strides say.
fn is_attention(call: &Call<'_>, index: usize) -> bool {
    let Some(op) = call
        .known(index)
        .and_then(|known| call.producer(&known.name))
    else {
        return false;
    };
    let swaps = op.function() == Some(Function::Transpose) && perm(op) == Some(vec![0, 2, 1, 3]);
    let source = op
        .inputs
        .first()
        .and_then(|input| call.producer(&input.text));
    swaps && source.is_some_and(|source| source.function() == Some(Function::Sdpa))
}

/// Whether the output can be a view, judged at the example inputs: dimensions that are contiguous
/// in memory may be split and joined (`computeStride` of PyTorch).
fn is_view(call: &Call<'_>, name: &str) -> bool {
    let output = call.outputs.first().copied().flatten();
    let (Some(old), Some(new)) = (
        call.meta(name),
        output.and_then(|output| call.graph.tensor_values.get(output)),
    ) else {
        return true;
    };
    let hints = |sizes: &[SymInt]| sizes.iter().map(SymInt::hint).collect::<Option<Vec<i64>>>();
    let (Some(sizes), Some(strides), Some(wanted)) =
        (hints(&old.sizes), hints(&old.strides), hints(&new.sizes))
    else {
        return true;
    };
    let mut wanted = wanted
        .into_iter()
        .rev()
        .filter(|&size| size != 1)
        .peekable();
    let mut old = sizes
        .iter()
        .zip(&strides)
        .rev()
        .filter(|(size, _)| **size != 1)
        .peekable();
    while let Some((&size, &stride)) = old.next() {
        // The longest run of dimensions that are contiguous in memory.
        let mut run = size;
        let mut end = stride.saturating_mul(size);
        while let Some((&size, &stride)) = old.peek().copied().filter(|(_, stride)| **stride == end)
        {
            run = run.saturating_mul(size);
            end = stride.saturating_mul(size);
            old.next();
        }
        let mut covered = 1_i64;
        while covered < run {
            match wanted.next() {
                Some(size) => covered = covered.saturating_mul(size),
                None => return false,
            }
        }
        if covered != run {
            return false;
        }
    }
    true
}

pub(super) fn transpose(call: &Call<'_>) -> Option<Becomes> {
    let rank = call.rank_of("self")?;
    let index = call.tensor_index("self")?;
    let mut perm: Vec<usize> = (0..rank).collect();
    if let Some(dims) = call.ints("dims") {
        perm = dims
            .iter()
            .map(|&dim| call.dimension(dim, rank))
            .collect::<Option<_>>()?;
        perm.extend(call.is_complex.then(|| rank.saturating_sub(1)));
    } else if rank >= 2 {
        let names = if call.has("axis0") {
            ["axis0", "axis1"]
        } else {
            ["dim0", "dim1"]
        };
        let swapped = if call.has(names[0]) {
            names.map(|name| call.axis(name, rank))
        } else {
            [call.dimension(-2, rank), call.dimension(-1, rank)]
        };
        let [Some(a), Some(b)] = swapped else {
            return None;
        };
        perm.swap(a, b);
    }
    if perm.iter().copied().eq(0..rank) {
        return Some(Becomes::Same(index));
    }
    Some(Becomes::lines(format!(
        "{{y}} = transpose({{self}}, perm={perm:?})"
    )))
}

/// Elements moved along dimensions, and those that leave at one end back in at the other.
pub(super) fn roll(call: &Call<'_>) -> Option<Becomes> {
    let (shape, shifts) = (call.shape_of("self")?, call.ints("shifts")?);
    let axes = call.ints("dims").unwrap_or_default();
    // PyTorch flattens a tensor of several dimensions for a roll of none that is named.
    if let ([shift], [], true) = (&*shifts, &*axes, shape.len() != 1) {
        let all = call.one(&elements(shape)?);
        let (copy, from) = match is_in_order(call.meta("self")?) {
            Some(false) => ("{y}_copy = contiguous({self})\n", "{y}_copy"),
            _ => ("", "{self}"),
        };
        return Some(Becomes::lines(format!(
            "{copy}{{y}}_flat = reshape({from}, shape=[{all}])\n\
             {{y}}_rolled = roll({{y}}_flat, shift={shift}, axis=0)\n\
             {{y}} = reshape({{y}}_rolled)"
        )));
    }
    let axes = if axes.is_empty() { vec![0] } else { axes };
    if shifts.len() != axes.len() {
        return None;
    }
    let mut text = String::new();
    let mut last = "{self}".to_owned();
    for (step, (shift, axis)) in shifts.iter().zip(&axes).enumerate() {
        let now = if step + 1 == axes.len() {
            "{y}".to_owned()
        } else {
            format!("{{y}}_{step}")
        };
        let _ = writeln!(text, "{now} = roll({last}, shift={shift}, axis={axis})");
        last = now;
    }
    Some(Becomes::lines(text))
}

pub(super) fn expand(call: &Call<'_>) -> Option<Becomes> {
    let index = call.tensor_index("self")?;
    if call.shape_of("self") == Some(call.shape.as_slice()) {
        return Some(Becomes::Same(index));
    }
    let Some(written) = call
        .sizes("size")
        .filter(|sizes| sizes.contains(&Size::from(-1)))
    else {
        return Some(Becomes::lines("{y} = expand({self})"));
    };
    // torch.compile treats sizes of -1 otherwise than the sizes that they mean.
    let sizes = written.iter().zip(&call.shape);
    let sizes = sizes.map(|(written, whole)| {
        if *written == Size::from(-1) {
            "-1".to_owned()
        } else {
            call.one(whole)
        }
    });
    let sizes = sizes.collect::<Vec<_>>().join(", ");
    Some(Becomes::lines(format!(
        "{{y}} = expand({{self}}, shape=[{sizes}])"
    )))
}

/// One of several tensors, broadcast to their common shape.
pub(super) fn broadcast(call: &Call<'_>) -> Option<Becomes> {
    let Argument::Tensors(names) = call.argument("tensors")? else {
        return None;
    };
    let index = *call.tensors.get(names.get(call.index)?.as_deref()?)?;
    let known = call.known(index)?;
    if known.shape.as_deref() == Some(call.shape.as_slice()) {
        return Some(Becomes::Same(index));
    }
    let shape = call.list(&call.shape);
    Some(Becomes::lines(format!(
        "{{y}} = expand({}, shape={shape})",
        known.name
    )))
}

/// Elements of channels and of an image, moved in blocks: a reshape that splits dimensions, a
/// transpose, and a copy in the shape of the output.
pub(super) fn shuffle(call: &Call<'_>) -> Option<Becomes> {
    let shape = call.shape_of("self")?;
    let (split, perm) = match call.operator {
        "channel_shuffle" => {
            let [batch, channels, rest @ ..] = shape else {
                return None;
            };
            let groups = call.size("groups")?;
            let of_group = channels.div_exact(&groups)?;
            let split = [&[batch.clone(), groups, of_group], rest].concat();
            let mut perm: Vec<usize> = (0..split.len()).collect();
            perm.swap(1, 2);
            (split, perm)
        }
        operator => {
            let (outer, [channels, height, width]) = shape.split_last_chunk()?;
            let first = outer.len();
            let (inner, order) = if operator == "pixel_shuffle" {
                let block = call.size("upscale_factor")?;
                let channels = channels.div_exact(&block.mul(&block)?)?;
                let inner = [
                    channels,
                    block.clone(),
                    block,
                    height.clone(),
                    width.clone(),
                ];
                (inner, [0, 3, 1, 4, 2])
            } else {
                let block = call.size("downscale_factor")?;
                let rows = height.div_exact(&block)?;
                let columns = width.div_exact(&block)?;
                (
                    [channels.clone(), rows, block.clone(), columns, block],
                    [0, 2, 4, 1, 3],
                )
            };
            let order = order.map(|axis: usize| first + axis);
            ([outer, &inner].concat(), (0..first).chain(order).collect())
        }
    };
    let split: Vec<Size> = split;
    let moved: Vec<Size> = perm
        .iter()
        .map(|&axis| split.get(axis).cloned())
        .collect::<Option<_>>()?;
    let (split, moved, dtype) = (call.list(&split), call.list(&moved), call.dtype.name());
    Some(Becomes::lines(format!(
        "{{y}}_blocks = reshape({{self}}, shape={split})\n\
         {{y}}_turned = transpose({{y}}_blocks, perm={perm:?})\n\
         {{y}}_copy = contiguous({{y}}_turned) : {dtype}{moved}\n\
         {{y}} = reshape({{y}}_copy)"
    )))
}
