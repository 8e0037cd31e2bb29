//! The core's four functions for JavaScript: plain objects in and out.
//!
//! Numbers go in as `number` or `BigInt`. Counts come out as `number` up to `2^53 - 1` and as
//! `BigInt` above, never rounded. A failure throws an `Error` whose message says how to correct the
//! input.

use fuseline_browser::{read_json, written};
use fuseline_core::notation::import::{Tensors, ops_of_list, tensors_of_list};
use fuseline_core::{
    Conventions, Diagnostic, Externals, NamedGraph, Op, ReshapeCost, TensorDecl,
    analyze_transformer_block as analyze_block, build_graph as build,
    estimate_memory_traffic as estimate, find_fusion_groups as find_groups,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::from_value;
use std::fmt::Display;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// `{ producers, consumers, predecessors, successors }` of a list of ops, all by name.
///
/// # Errors
/// A list that is not one of ops or has more than 8 MB as JSON, a duplicate name or output, a
/// cycle, sizes that are zero or too large.
#[wasm_bindgen]
pub fn build_graph(ops: &JsValue) -> Result<JsValue, JsError> {
    let graph = build(&read_ops(ops)?, &[]).map_err(thrown)?;
    write(&NamedGraph::from(&graph))
}

/// The kernels of the textbook rules: a list of lists of ops.
///
/// # Errors
/// As [`build_graph`].
#[wasm_bindgen]
pub fn find_fusion_groups(ops: &JsValue) -> Result<JsValue, JsError> {
    write(&find_groups(&read_ops(ops)?).map_err(thrown)?)
}

/// `{ bytes_read, bytes_written, total, saved_by_fusion }` of a list of ops.
///
/// `options` may declare external tensors and choose conventions: `{ tensors: { x: { shape: [1024,
/// 1024], bytes_per_element: 2 } }, externals: "declared", reshape: "copy" }`.
///
/// # Errors
/// As [`build_graph`], and options that do not exist.
#[wasm_bindgen]
pub fn estimate_memory_traffic(
    ops: &JsValue,
    fused: Option<bool>,
    options: &JsValue,
) -> Result<JsValue, JsError> {
    let ops = read_ops(ops)?;
    let (externals, conventions) = read_options(options)?;
    write(&estimate(&ops, &externals, conventions, fused.unwrap_or(false)).map_err(thrown)?)
}

/// `{ ops, fusion_groups, unfused_traffic, fused_traffic, savings_pct }` of one transformer block;
/// `dtype_bytes` is 2 when left out.
///
/// # Errors
/// Sizes that are zero, negative, fractional or too large, and a hidden size that the heads do not
/// divide.
#[wasm_bindgen]
pub fn analyze_transformer_block(
    seq_len: &JsValue,
    hidden_dim: &JsValue,
    num_heads: &JsValue,
    dtype_bytes: &JsValue,
) -> Result<JsValue, JsError> {
    let dtype_bytes = if dtype_bytes.is_undefined() {
        2
    } else {
        read_count("dtype_bytes", dtype_bytes)?
    };
    let block = analyze_block(
        read_count("seq_len", seq_len)?,
        read_count("hidden_dim", hidden_dim)?,
        read_count("num_heads", num_heads)?,
        u32::try_from(dtype_bytes).map_err(|_| JsError::new("dtype_bytes: too large"))?,
    );
    write(&block.map_err(thrown)?)
}

/// Declared tensors and conventions. An unknown field is an error, so that a misspelt option is not
/// ignored.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TrafficOptions {
    tensors: Option<Tensors>,
    externals: Option<Externals>,
    reshape: Option<ReshapeCost>,
}

/// A value from JavaScript; an error names the argument, the field in it and the reason.
fn read<T: DeserializeOwned>(argument: &str, value: &JsValue) -> Result<T, JsError> {
    let refused = |problem: &dyn Display| {
        // An error of JavaScript shows its name before its message.
        let problem = problem.to_string();
        let message = problem.strip_prefix("Error: ").unwrap_or(&problem);
        JsError::new(&format!("{argument}: {message}"))
    };
    // Through JSON, because serde-wasm-bindgen ignores unknown fields.
    let json = read_json(value).map_err(|problem| refused(&problem))?;
    serde_path_to_error::deserialize(json).map_err(|problem| refused(&problem))
}

fn read_ops(ops: &JsValue) -> Result<Vec<Op>, JsError> {
    ops_of_list(&read("ops", ops)?).map_err(thrown)
}

fn read_options(options: &JsValue) -> Result<(Vec<TensorDecl>, Conventions), JsError> {
    let options: TrafficOptions = read::<Option<_>>("options", options)?.unwrap_or_default();
    let tensors = options.tensors.map(Vec::from).unwrap_or_default();
    let conventions = Conventions {
        externals: options.externals.unwrap_or_default(),
        reshape: options.reshape.unwrap_or_default(),
        ..Conventions::default()
    };
    Ok((tensors_of_list(&tensors).map_err(thrown)?, conventions))
}

fn read_count(argument: &str, value: &JsValue) -> Result<u64, JsError> {
    let count = from_value::<i64>(value.clone()).ok();
    count
        .and_then(|count| u64::try_from(count).ok())
        .ok_or_else(|| {
            JsError::new(&format!(
                "{argument}: not a whole number from 0 to 2^63 - 1"
            ))
        })
}

fn write<T: Serialize>(value: &T) -> Result<JsValue, JsError> {
    Ok(written(&serde_json::to_value(value)?)?)
}

/// All diagnostics in one message, one line each.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
fn thrown(problems: Vec<Diagnostic>) -> JsError {
    let lines: Vec<String> = problems
        .into_iter()
        .map(|d| match d.hint {
            Some(hint) => format!("{} ({hint})", d.message),
            None => d.message,
        })
        .collect();
    JsError::new(&lines.join("\n"))
}
