//! Words of the table about attention: ONNX's own operator, and those of ONNX Runtime.
//!
//! All of them become `sdpa` on tensors of four dimensions, [batch, heads, tokens, head size], with
//! the projections, rotations and caches around it that the operator contains.

mod parts;

use crate::constant::float_text;
use crate::onnx::attention::parts::{Inputs, Lines, Parts, heads, taken_apart};
use crate::onnx::call::Call;
use crate::size::Size;
use fuseline_core::model::dtype::DType;

/// The output of attention over separate queries, keys and values.
pub(super) fn attention(call: &Call<'_>) -> Option<String> {
    let inputs = Inputs::of(call)?;
    let mut lines = Lines::new();
    let heads = heads(call, &inputs, &mut lines)?;
    let mut mask = call
        .has(inputs.mask)
        .then(|| format!("{{{}}}", inputs.mask));
    // A mask of fewer keys lets no query see the rest.
    let masked = call.shape(inputs.mask).and_then(<[Size]>::last);
    if let (Some(own), Some(masked)) = (&mut mask, masked)
        && let Some(missing) = heads.keys.sub(masked).and_then(|rest| rest.as_int())
        && missing > 0
        && !masked.is_one()
    {
        lines.push(format!("{{y}}_mask = pad({own}, pad=[0, {missing}])"));
        "{y}_mask".clone_into(own);
    }
    finish(call, &heads, mask, inputs.is_causal, lines)
}

/// The keys or values with the cached ones, as the operator gives them for its next call.
pub(super) fn present(call: &Call<'_>) -> Option<String> {
    let inputs = Inputs::of(call)?;
    let mut lines = Lines::new();
    let heads = heads(call, &inputs, &mut lines)?;
    let own = if call.output_index == 1 {
        heads.key
    } else {
        heads.value
    };
    // The lines behind the one that gives this output are of no use here.
    let end = format!("{own} = ");
    let at = lines.iter().position(|line| line.starts_with(&end))?;
    lines.truncate(at + 1);
    let last = lines.last_mut()?;
    *last = last.replacen(&own, "{y}", 1);
    Some(lines.join("\n"))
}

fn finish(
    call: &Call<'_>,
    heads: &Parts,
    mask: Option<String>,
    is_causal: bool,
    mut lines: Lines,
) -> Option<String> {
    // The notation's causal mask starts at the first key, which is right without a cache.
    let is_causal = is_causal && !heads.is_cached;
    let scale = call.float("scale").filter(|&scale| scale != 0.0);
    let softcap = call.float("softcap").filter(|&cap| cap != 0.0);
    let output = if heads.is_flat { "{y}_heads" } else { "{y}" };
    if let Some(softcap) = softcap {
        let scale = match scale {
            Some(scale) => scale,
            None => 1.0 / (call.default_of(&heads.width)? as f64).sqrt(),
        };
        capped(
            call,
            heads,
            mask,
            is_causal,
            [scale, softcap],
            output,
            &mut lines,
        )?;
    } else {
        let Parts {
            query, key, value, ..
        } = heads;
        let mut arguments = vec![query.clone(), key.clone(), value.clone()];
        arguments.extend(mask);
        arguments.extend(is_causal.then(|| "causal=true".to_owned()));
        if let Some(scale) = scale {
            arguments.push(format!("scale={}", float_text(scale)?));
        }
        let is_grouped = heads.query_heads != heads.key_heads;
        arguments.extend(is_grouped.then(|| "enable_gqa=true".to_owned()));
        lines.push(format!("{output} = sdpa({})", arguments.join(", ")));
    }
    if heads.is_flat {
        let width = heads.query_heads.mul(&heads.value_size)?;
        let shape = [heads.batch.clone(), heads.tokens.clone(), width];
        lines.push("{y}_joined = transpose({y}_heads, perm=[0, 2, 1, 3])".to_owned());
        lines.push(format!(
            "{{y}} = reshape({{y}}_joined, shape={})",
            call.list(&shape)
        ));
    }
    Some(lines.join("\n"))
}

/// Attention whose scores a `tanh` caps, which `sdpa` lacks. The query heads that share a key head
/// are rows of one product.
fn capped(
    call: &Call<'_>,
    heads: &Parts,
    mask: Option<String>,
    is_causal: bool,
    [scale, softcap]: [f64; 2],
    output: &str,
    lines: &mut Lines,
) -> Option<()> {
    let rows = heads
        .query_heads
        .mul(&heads.tokens)?
        .div_exact(&heads.key_heads)?;
    let of = |shape: [&Size; 4]| call.list(&shape.map(Clone::clone));
    let (batch, kv) = (&heads.batch, &heads.key_heads);
    let rows_of = |last: &Size| of([batch, kv, &rows, last]);
    let heads_of = |last: &Size| of([batch, &heads.query_heads, &heads.tokens, last]);
    let Parts {
        query, key, value, ..
    } = heads;
    lines.push(format!(
        "{{y}}_rows = reshape({query}, shape={})",
        rows_of(&heads.width)
    ));
    lines.push(format!(
        "{{y}}_products = matmul({{y}}_rows, {key}, transpose_b=true)"
    ));
    lines.push(format!(
        "{{y}}_scores = reshape({{y}}_products, shape={})",
        heads_of(&heads.keys)
    ));
    lines.push(format!(
        "{{y}}_scaled = scale({{y}}_scores, factor={})",
        float_text(scale / softcap)?
    ));
    lines.push("{y}_tanh = tanh({y}_scaled)".to_owned());
    lines.push(format!(
        "{{y}}_capped = scale({{y}}_tanh, factor={})",
        float_text(softcap)?
    ));
    let mut last = "{y}_capped";
    if let Some(mask) = mask {
        let given = Inputs::of(call).and_then(|inputs| call.input(inputs.mask)?.dtype);
        lines.push(if given == Some(DType::Bool) {
            format!("{{y}}_masked = where({mask}, {last}, -inf)")
        } else {
            format!("{{y}}_masked = add({last}, {mask})")
        });
        last = "{y}_masked";
    }
    if is_causal {
        lines.push(format!("{{y}}_causal = mask({last})"));
        last = "{y}_causal";
    }
    lines.push(format!("{{y}}_weights = softmax({last}, axis=-1)"));
    lines.push(format!(
        "{{y}}_weight_rows = reshape({{y}}_weights, shape={})",
        rows_of(&heads.keys)
    ));
    lines.push(format!(
        "{{y}}_value_rows = matmul({{y}}_weight_rows, {value})"
    ));
    lines.push(format!(
        "{output} = reshape({{y}}_value_rows, shape={})",
        heads_of(&heads.value_size)
    ));
    Some(())
}

/// ONNX Runtime's attention, which holds the projection of its input, too.
pub(super) fn projected(call: &Call<'_>) -> Option<String> {
    let (x, weight) = (call.shape(0)?, call.shape(1)?);
    let [batch, tokens, _] = x else { return None };
    let count = Size::from(call.int("num_heads")?);
    let sizes: Vec<Size> = match call.ints("qkv_hidden_sizes") {
        Some(stated) => stated.iter().map(|&size| Size::from(size)).collect(),
        None => vec![weight.last()?.div_exact(&Size::from(3))?; 3],
    };
    let mut lines = vec!["{y}_projected = matmul({0}, {1})".to_owned()];
    let mut last = "{y}_projected";
    if call.has(2) {
        lines.push("{y}_qkv = add({y}_projected, {2})".to_owned());
        last = "{y}_qkv";
    }
    let [query_width, key_width, value_width] = sizes.as_slice() else {
        return None;
    };
    let parts = [query_width, key_width, value_width].map(|width| (&count, width.clone()));
    let [query, key, value] = taken_apart(call, last, [batch, tokens], &parts, &mut lines)?;
    if call.has(4) {
        // Its cache holds keys and values in one tensor, which the notation would have to take
        // apart.
        return None;
    }
    let heads = Parts {
        query,
        key,
        value,
        batch: batch.clone(),
        query_heads: count.clone(),
        key_heads: count.clone(),
        tokens: tokens.clone(),
        keys: tokens.clone(),
        value_size: value_width.div_exact(&count)?,
        width: query_width.div_exact(&count)?,
        is_cached: false,
        is_flat: true,
    };
    let mask = call.has(5).then(|| "{5}".to_owned());
    let is_causal = call.int("unidirectional") == Some(1);
    finish(call, &heads, mask, is_causal, lines)
}
