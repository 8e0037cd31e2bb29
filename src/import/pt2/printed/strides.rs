//! The strides of printed tensors: `print(program)` lacks them, and they say whether a copy changes
//! the layout. What is not known to be a view lies in memory as its sizes say.

use crate::pt2::schema::{Argument, Node, SymInt, TensorMeta, Whole};
use crate::shapes::dimension;
use std::collections::HashMap;

/// Stands for an open size: only equality counts.
const OPEN: i64 = 1009;

/// Operators of single elements, which write in the order in which they read.
const ELEMENTWISE: &[&str] = &[
    "_to_copy",
    "abs",
    "add",
    "clamp",
    "clone",
    "cos",
    "div",
    "dropout",
    "exp",
    "gelu",
    "leaky_relu",
    "masked_fill",
    "mul",
    "neg",
    "pow",
    "relu",
    "rsqrt",
    "sigmoid",
    "silu",
    "sin",
    "sqrt",
    "sub",
    "tanh",
    "to",
];

/// The strides of a result with these sizes. `O(rank)`.
pub(super) fn strides_of(
    node: &Node,
    sizes: &[SymInt],
    tensors: &HashMap<String, TensorMeta>,
) -> Vec<SymInt> {
    let sizes = values(sizes);
    let source = node.tensors().next().and_then(|name| tensors.get(name));
    let strides = source.and_then(|source| of_view(node, source, &sizes));
    let strides = strides.filter(|strides| strides.len() == sizes.len());
    let strides = strides.unwrap_or_else(|| contiguous(&sizes));
    strides.into_iter().map(SymInt::AsInt).collect()
}

fn values(sizes: &[SymInt]) -> Vec<i64> {
    let value = |size: &SymInt| match size {
        SymInt::AsInt(value) => *value,
        SymInt::AsExpr(_) => OPEN,
    };
    sizes.iter().map(value).collect()
}

fn contiguous(sizes: &[i64]) -> Vec<i64> {
    let mut stride: i64 = 1;
    let mut strides = Vec::new();
    for &size in sizes.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul(size.max(1));
    }
    strides.reverse();
    strides
}

/// The strides of a view of `source`, or of a result in the order of `source`.
fn of_view(node: &Node, source: &TensorMeta, sizes: &[i64]) -> Option<Vec<i64>> {
    let own = values(&source.sizes);
    let rank = own.len();
    let mut strides = match source.strides.as_slice() {
        [] => contiguous(&own),
        strides => values(strides),
    };
    let whole = |name: &str| match argument(node, name)? {
        Argument::Int(Whole::AsInt(value)) => Some(*value),
        _ => None,
    };
    let axis = |name: &str, absent: i64, rank| dimension(whole(name).unwrap_or(absent), rank);
    let operator = node.operator().strip_prefix("aten.")?;
    match operator.split('.').next()? {
        "permute" => {
            let Argument::Ints(dims) = argument(node, "dims")? else {
                return None;
            };
            let moved = dims.iter().map(|dim| match dim {
                Whole::AsInt(dim) => strides.get(dimension(*dim, rank)?).copied(),
                Whole::AsName(_) => None,
            });
            moved.collect()
        }
        "transpose" | "swapaxes" | "swapdims" => {
            swap(&mut strides, whole("dim0")?, whole("dim1")?)?;
            Some(strides)
        }
        "mT" => {
            swap(&mut strides, -1, -2)?;
            Some(strides)
        }
        "t" | "numpy_T" => {
            strides.reverse();
            Some(strides)
        }
        "expand" => {
            let new = sizes.len().checked_sub(rank)?;
            let kept = own.iter().zip(strides).zip(sizes.get(new..)?);
            let kept = kept.map(|((own, stride), size)| if own == size { stride } else { 0 });
            Some(std::iter::repeat_n(0, new).chain(kept).collect())
        }
        "slice" => {
            let stride = strides.get_mut(axis("dim", 0, rank)?)?;
            *stride = stride.saturating_mul(whole("step").unwrap_or(1));
            Some(strides)
        }
        "narrow" | "split" | "split_with_sizes" | "chunk" | "alias" | "detach" => Some(strides),
        "select" | "unbind" => {
            strides.remove(axis("dim", 0, rank)?);
            Some(strides)
        }
        "unsqueeze" => {
            let at = axis("dim", 0, rank + 1)?;
            let size = own.get(at).copied().unwrap_or(1);
            let stride = strides.get(at).copied().unwrap_or(1);
            strides.insert(at, stride.saturating_mul(size));
            Some(strides)
        }
        "clone" if argument(node, "memory_format").is_some() => None,
        name if ELEMENTWISE.contains(&name) && own == sizes => {
            let mut sorted = strides.clone();
            sorted.sort_unstable();
            let mut dense = contiguous(&own);
            dense.sort_unstable();
            (sorted == dense).then_some(strides)
        }
        _ => None,
    }
}

fn argument<'a>(node: &'a Node, name: &str) -> Option<&'a Argument> {
    let mut inputs = node.inputs.iter();
    let named = inputs.find(|argument| argument.name == name)?;
    (!matches!(named.arg, Argument::None)).then_some(&named.arg)
}

fn swap(strides: &mut [i64], one: i64, other: i64) -> Option<()> {
    let one = dimension(one, strides.len())?;
    let other = dimension(other, strides.len())?;
    // `dimension` gives indices in the rank.
    strides.swap(one, other);
    Some(())
}
