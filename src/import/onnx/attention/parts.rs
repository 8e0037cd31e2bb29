//! Queries, keys and values of an attention operator, with their heads in a dimension of their own.

use crate::onnx::call::Call;
use crate::onnx::rotary::{Rotation, rotated};
use crate::size::Size;

/// The inputs of an attention, by index.
pub(super) struct Inputs {
    pub(super) query: usize,
    pub(super) key: usize,
    pub(super) value: usize,
    /// Cached keys and values.
    pub(super) past: [usize; 2],
    /// A mask that broadcasts to the scores.
    pub(super) mask: usize,
    pub(super) heads: Option<i64>,
    pub(super) kv_heads: Option<i64>,
    pub(super) is_causal: bool,
}

impl Inputs {
    pub(super) fn of(call: &Call<'_>) -> Option<Self> {
        let own = Self {
            query: 0,
            key: 1,
            value: 2,
            past: [4, 5],
            mask: 3,
            heads: call.int("q_num_heads"),
            kv_heads: call.int("kv_num_heads"),
            is_causal: call.int("is_causal") == Some(1),
        };
        Some(match call.operator() {
            "Attention" => own,
            "GroupQueryAttention" => Self {
                past: [3, 4],
                mask: 10,
                heads: Some(call.int("num_heads")?),
                is_causal: true,
                ..own
            },
            "MultiHeadAttention" | "DecoderMaskedMultiHeadAttention" => Self {
                past: [6, 7],
                mask: 5,
                heads: Some(call.int("num_heads")?),
                kv_heads: call.int("num_heads"),
                is_causal: call.int("unidirectional") == Some(1),
                ..own
            },
            _ => return None,
        })
    }
}

/// Queries, keys and values of four dimensions, by name, and their sizes.
pub(super) struct Parts {
    pub(super) query: String,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) batch: Size,
    pub(super) query_heads: Size,
    pub(super) key_heads: Size,
    pub(super) tokens: Size,
    /// Tokens of the keys, with the cached ones.
    pub(super) keys: Size,
    /// Elements of a head of the values.
    pub(super) value_size: Size,
    /// Elements of a head of queries and keys.
    pub(super) width: Size,
    /// Whether some of the keys are cached.
    pub(super) is_cached: bool,
    /// Whether the output has three dimensions.
    pub(super) is_flat: bool,
}

/// Lines under construction.
pub(super) type Lines = Vec<String>;

/// Lines that give every head a dimension of its own, and what they name.
pub(super) fn heads(call: &Call<'_>, inputs: &Inputs, lines: &mut Lines) -> Option<Parts> {
    let query = call.shape(inputs.query)?;
    let is_flat = query.len() == 3;
    let batch = query.first()?.clone();
    let (heads, kv_heads) = if is_flat {
        let heads = Size::from(inputs.heads?);
        let kv = inputs.kv_heads.map_or(heads.clone(), Size::from);
        (heads, kv)
    } else {
        let [_, heads, ..] = query else { return None };
        (heads.clone(), call.shape(inputs.key)?.get(1)?.clone())
    };
    let tokens = query.get(if is_flat { 1 } else { 2 })?.clone();
    let is_packed = !call.has(inputs.key);
    let head_size = match (is_flat, is_packed) {
        (false, _) => query.get(3)?.clone(),
        (true, false) => query.get(2)?.div_exact(&heads)?,
        (true, true) => {
            let all = heads.add(&kv_heads)?.add(&kv_heads)?;
            query.get(2)?.div_exact(&all)?
        }
    };
    let split = |index: usize, name: &str, count: &Size, lines: &mut Lines| {
        let from = format!("{{{index}}}");
        let shape = call.shape(index)?;
        if shape.len() == 4 {
            return Some((from, shape.get(2)?.clone(), shape.get(3)?.clone()));
        }
        let [_, tokens, width] = shape else {
            return None;
        };
        let size = width.div_exact(count)?;
        let from = biased(call, index, name, &from, lines)?;
        let sizes = [&batch, tokens, count, &size];
        Some((
            in_heads(call, name, &from, sizes, lines),
            tokens.clone(),
            size,
        ))
    };
    let (mut query, mut key, mut value, new, value_size);
    if is_packed {
        let width = |count: &Size| count.mul(&head_size);
        let parts = [
            (&heads, width(&heads)?),
            (&kv_heads, width(&kv_heads)?),
            (&kv_heads, width(&kv_heads)?),
        ];
        [query, key, value] = taken_apart(call, "{0}", [&batch, &tokens], &parts, lines)?;
        (new, value_size) = (tokens.clone(), head_size.clone());
    } else {
        (query, _, _) = split(inputs.query, "q", &heads, lines)?;
        (key, new, _) = split(inputs.key, "k", &kv_heads, lines)?;
        (value, _, value_size) = split(inputs.value, "v", &kv_heads, lines)?;
    }
    if call.int("do_rotary") == Some(1) {
        for (name, x, count) in [("q", &mut query, &heads), ("k", &mut key, &kv_heads)] {
            let rotation = Rotation {
                name,
                x,
                shape: &[
                    batch.clone(),
                    count.clone(),
                    tokens.clone(),
                    head_size.clone(),
                ],
                cache: [7, 8],
                positions: None,
                is_interleaved: call.int("rotary_interleaved") == Some(1),
            };
            *x = rotated(call, &rotation, lines)?;
        }
    }
    let is_cached = call.has_elements(*inputs.past.first()?);
    let mut keys = new.clone();
    let names = [("k", &mut key), ("v", &mut value)];
    for (index, (name, own)) in names.into_iter().enumerate() {
        let past = *inputs.past.get(index)?;
        if let Some(written) = call.other_output(index + 1) {
            written.clone_into(own);
        } else if call.shape(past).is_some_and(|past| past.len() == 4) {
            let all = format!("{{y}}_{name}_all");
            lines.push(format!("{all} = concat({{{past}}}, {own}, axis=2)"));
            *own = all;
        }
        if let Some([_, _, cached, _]) = call.shape(past).filter(|_| index == 0) {
            keys = keys.add(cached)?;
        }
    }
    Some(Parts {
        query,
        key,
        value,
        batch,
        query_heads: heads,
        key_heads: kv_heads,
        tokens,
        keys,
        value_size,
        width: head_size,
        is_cached,
        is_flat,
    })
}

/// Multi-head attention may add a bias to queries, keys and values, packed in one tensor.
fn biased(
    call: &Call<'_>,
    index: usize,
    name: &str,
    from: &str,
    lines: &mut Lines,
) -> Option<String> {
    let is_packed = call.operator().ends_with("MultiHeadAttention") && call.has(3);
    if !is_packed {
        return Some(from.to_owned());
    }
    let mut start = Size::from(0);
    for before in 0..index {
        start = start.add(call.shape(before)?.last()?)?;
    }
    let end = start.add(call.shape(index)?.last()?)?;
    lines.push(format!(
        "{{y}}_{name}_bias = slice({{3}}, start={}, end={}, axis=0)",
        call.one(&start),
        call.one(&end)
    ));
    lines.push(format!("{{y}}_{name}_sum = add({from}, {{y}}_{name}_bias)"));
    Some(format!("{{y}}_{name}_sum"))
}

/// A tensor [batch, tokens, heads * size] as [batch, heads, tokens, size].
fn in_heads(
    call: &Call<'_>,
    name: &str,
    from: &str,
    sizes: [&Size; 4],
    lines: &mut Lines,
) -> String {
    let sizes = sizes.map(Clone::clone);
    let list = call.list(&sizes);
    lines.push(format!(
        "{{y}}_{name}_split = reshape({from}, shape={list})"
    ));
    lines.push(format!(
        "{{y}}_{name} = transpose({{y}}_{name}_split, perm=[0, 2, 1, 3])"
    ));
    format!("{{y}}_{name}")
}

/// Queries, keys and values out of one tensor [batch, tokens, width], as [batch, heads, tokens,
/// size]. Each part has a count of heads and the width of all of them.
pub(super) fn taken_apart(
    call: &Call<'_>,
    from: &str,
    [batch, tokens]: [&Size; 2],
    parts: &[(&Size, Size); 3],
    lines: &mut Lines,
) -> Option<[String; 3]> {
    let mut start = Size::from(0);
    let mut heads = <[String; 3]>::default();
    for ((own, name), (count, width)) in heads.iter_mut().zip(["q", "k", "v"]).zip(parts) {
        let end = start.add(width)?;
        let flat = format!("{{y}}_{name}_flat");
        lines.push(format!(
            "{flat} = slice({from}, start={}, end={}, axis=2)",
            call.one(&start),
            call.one(&end)
        ));
        start = end;
        let size = width.div_exact(count)?;
        *own = in_heads(call, name, &flat, [batch, tokens, count, &size], lines);
    }
    Some(heads)
}
