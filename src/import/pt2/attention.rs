//! Attention, as one call or as the kernels into which PyTorch takes it apart.

use crate::pt2::becomes::Becomes;
use crate::pt2::call::{Call, number_text};
use crate::pt2::products::product;
use crate::size::Size;
use fuseline_core::model::dtype::DType;
use std::fmt::Write;

/// Attention. PyTorch broadcasts keys and values over the leading dimensions of the queries.
pub(super) fn attention(call: &Call<'_>) -> Option<Becomes> {
    let q = call.shape_of("query")?;
    let kept = if call.flag("enable_gqa") { 3 } else { 2 };
    let outer = q.get(..q.len().checked_sub(kept)?)?;
    let mut text = String::new();
    let mut part = |name: &str| {
        let own = call.shape_of(name)?;
        let shape = [outer, own.get(own.len().checked_sub(kept)?..)?].concat();
        if own == shape {
            return Some(format!("{{{name}}}"));
        }
        let _ = writeln!(
            text,
            "{{y}}_{name} = expand({{{name}}}, shape={})",
            call.list(&shape)
        );
        Some(format!("{{y}}_{name}"))
    };
    let (key, value) = (part("key")?, part("value")?);
    let mask = mask_name(call);
    if !has_rows(call, mask)
        && let Some(lines) = separate_kernels(call, q, [&key, &value], mask)
    {
        return Some(product(text + &lines));
    }
    let _ = write!(text, "{{y}} = sdpa({{query}}, {key}, {value}, {{{mask}?}}");
    if call.flag("is_causal") {
        text.push_str(", causal=true");
    }
    if let Some(scale) = call.number("scale") {
        let _ = write!(text, ", scale={}", number_text(scale)?);
    }
    if call.flag("enable_gqa") {
        text.push_str(", enable_gqa=true");
    }
    text.push(')');
    Some(product(text))
}

fn mask_name(call: &Call<'_>) -> &'static str {
    if call.has("attn_bias") {
        "attn_bias"
    } else {
        "attn_mask"
    }
}

/// Whether neighbours in a row of the mask are neighbours in memory. PyTorch has no fused kernel
/// for another mask, such as one that is broadcast along the keys. Source:
/// `check_last_dim_stride_equals_1_dense` in `aten/src/ATen/native/transformers/sdp_utils_cpp.h`.
fn has_rows(call: &Call<'_>, mask: &str) -> bool {
    let Some(meta) = call.meta(mask) else {
        return true;
    };
    let last = meta.sizes.last().zip(meta.strides.last());
    last.is_none_or(|(size, stride)| stride.hint() == Some(1) || size.hint() == Some(1))
}

/// The lines of attention in separate kernels, which compute in f32. `None` for keys of grouped
/// heads, causal attention, and where the scale is not known. Source:
/// `_scaled_dot_product_attention_math` in `aten/src/ATen/native/transformers/attention.cpp`.
fn separate_kernels(
    call: &Call<'_>,
    q: &[Size],
    [key, value]: [&str; 2],
    mask: &str,
) -> Option<String> {
    if call.flag("enable_gqa") || call.flag("is_causal") {
        return None;
    }
    let scale = match call.number("scale") {
        Some(scale) => scale,
        None => (q.last()?.as_int()? as f64).powf(-0.5),
    };
    (scale > 0.0).then_some(())?;
    let scale = number_text(scale.sqrt())?;
    let mut lines = String::new();
    // Writing to a `String` cannot fail.
    let in_f32 = |lines: &mut String, tensor: &str, name: &str| {
        if call.dtype == DType::F32 {
            return tensor.to_owned();
        }
        let _ = writeln!(lines, "{{y}}_{name} = cast({tensor}, dtype=f32)");
        format!("{{y}}_{name}")
    };
    let query = in_f32(&mut lines, "{query}", "wide_query");
    let key = in_f32(&mut lines, key, "wide_key");
    let value = in_f32(&mut lines, value, "wide_value");
    let rank = q.len();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank.checked_sub(2)?, rank.checked_sub(1)?);
    let is_bool = call.tensor(mask)?.dtype == Some(DType::Bool);
    let masked = if is_bool {
        format!("where({{{mask}}}, {{y}}_scores, -inf)")
    } else {
        format!("add({{y}}_scores, {{{mask}}})")
    };
    let _ = write!(
        lines,
        "{{y}}_query = mul({query}, {scale})\n\
         {{y}}_transpose = transpose({key}, perm={perm:?})\n\
         {{y}}_key = mul({{y}}_transpose, {scale})\n\
         {{y}}_scores = matmul({{y}}_query, {{y}}_key)\n\
         {{y}}_masked = {masked}\n\
         {{y}}_softmax = softmax({{y}}_masked)\n\
         {{y}}_is_hidden = eq({{y}}_masked, -inf)\n\
         {{y}}_is_empty = all({{y}}_is_hidden, axis={last}, keepdim=true)\n\
         {{y}}_weights = where({{y}}_is_empty, 0, {{y}}_softmax)\n",
        last = rank - 1,
    );
    if call.dtype == DType::F32 {
        let _ = write!(lines, "{{y}} = matmul({{y}}_weights, {value})");
    } else {
        let dtype = call.dtype.name();
        let _ = write!(
            lines,
            "{{y}}_heads = matmul({{y}}_weights, {value})\n{{y}} = cast({{y}}_heads, dtype={dtype})"
        );
    }
    Some(lines)
}
