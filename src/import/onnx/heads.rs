//! Shapes and products of attention operators that no function of the notation computes.

use crate::onnx::call::Call;
use crate::shapes::{Sizes, elements};
use crate::size::Size;

/// Batch, query heads, key heads, tokens, and head sizes of queries and values.
fn head_sizes(call: &Call<'_>, query: &[Size]) -> Option<[Size; 6]> {
    if let [batch, heads, tokens, size] = query {
        let (key, value) = (call.shape(1)?, call.shape(2)?);
        return Some([
            batch.clone(),
            heads.clone(),
            key.get(1)?.clone(),
            tokens.clone(),
            size.clone(),
            value.last()?.clone(),
        ]);
    }
    let [batch, tokens, width] = query else {
        return None;
    };
    let stated = |name: &str| call.int(name).map(Size::from);
    let heads = stated("q_num_heads").or_else(|| stated("num_heads"))?;
    let kv = stated("kv_num_heads").unwrap_or_else(|| heads.clone());
    let size = width.div_exact(&heads)?;
    let value = match call.shape(2) {
        Some([_, _, width]) => width.div_exact(&kv)?,
        Some([.., size]) => size.clone(),
        _ => size.clone(),
    };
    Some([batch.clone(), heads, kv, tokens.clone(), size, value])
}

/// Tokens of the keys, with those of a cache.
fn key_tokens(call: &Call<'_>) -> Option<Size> {
    let key = call.shape(1)?;
    let new = key.get(if key.len() == 4 { 2 } else { 1 })?;
    let past = match call.operator() {
        "GroupQueryAttention" => 3,
        "MultiHeadAttention" => 6,
        _ => 4,
    };
    match call.shape(past) {
        Some([_, _, cached, _]) => new.add(cached),
        _ => Some(new.clone()),
    }
}

/// The outputs of an attention: its result, the cache for the next call, the scores.
pub(super) fn attention(call: &Call<'_>, query: &[Size]) -> Option<Sizes> {
    let [batch, heads, kv, tokens, size, value] = head_sizes(call, query)?;
    if call.operator() == "LinearAttention" && call.output_index == 1 {
        return shape_of_state(call);
    }
    Some(match (call.output_index, query.len()) {
        (0, 4) => vec![batch, heads, tokens, value],
        (0, _) => vec![batch, tokens, heads.mul(&value)?],
        (1, _) => vec![batch, kv, key_tokens(call)?, size],
        (2, _) => vec![batch, kv, key_tokens(call)?, value],
        (3, _) => vec![batch, heads, tokens, key_tokens(call)?],
        _ => return None,
    })
}

/// The outputs of ONNX Runtime's attention over a projection: its result, and keys and values for
/// the next call.
pub(super) fn projected(call: &Call<'_>, x: &[Size], output: usize) -> Option<Sizes> {
    let [batch, tokens, _] = x else { return None };
    let width = match call.ints("qkv_hidden_sizes") {
        Some(stated) => Size::from(*stated.last()?),
        None => call.shape(1)?.last()?.div_exact(&Size::from(3))?,
    };
    if output == 0 {
        return Some(vec![batch.clone(), tokens.clone(), width]);
    }
    let heads = Size::from(call.int("num_heads")?);
    let size = width.div_exact(&heads)?;
    let keys = match call.shape(4) {
        Some([_, _, _, cached, _]) => tokens.add(cached)?,
        _ => tokens.clone(),
    };
    Some(vec![Size::from(2), batch.clone(), heads, keys, size])
}

/// The state of a linear attention: a matrix for each key head.
pub(super) fn shape_of_state(call: &Call<'_>) -> Option<Sizes> {
    let [batch, _, kv, _, size, value] = head_sizes(call, call.shape(0)?)?;
    Some(vec![batch, kv, size, value])
}

/// Multiplications of attention: the scores, and their product with the values.
pub(super) fn scored(call: &Call<'_>, query: &[Size]) -> Option<Size> {
    let [batch, heads, _, tokens, size, value] = head_sizes(call, query)?;
    let scores = elements(&[batch, heads, tokens, key_tokens(call)?])?;
    scores.mul(&size.add(&value)?)
}
