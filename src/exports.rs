//! The core's four functions for JavaScript: plain objects in and out.
//!
//! Numbers go in as `number` or `BigInt`. Counts come out as `number` up to `2^53 - 1` and as `BigInt`
//! above, never rounded. A failure throws an `Error` whose message says what to mend.

use crate::browser::json_of;
use crate::core::json::Json;
use crate::core::notation::import::{OpList, ops_of_list, tensor_entries, tensors_of_list};
use crate::core::{
    Conventions, Diagnostic, Externals, NamedGraph, Op, ReshapeCost, TensorDecl,
    analyze_transformer_block as analyze_block, build_graph as build,
    estimate_memory_traffic as estimate, find_fusion_groups as find_groups,
};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// `{ producers, consumers, predecessors, successors }` of a list of ops, all by name.
///
/// # Errors
/// A list that is not one of ops, a duplicate name or output, a cycle, sizes that are zero or too large.
#[wasm_bindgen]
pub fn build_graph(ops: &JsValue) -> Result<JsValue, JsError> {
    let graph = build(&read_ops(ops)?, &[]).map_err(thrown)?;
    write(&NamedGraph::from(&graph))
}

/// The kernels of the baseline rules: a list of lists of ops.
///
/// # Errors
/// As [`build_graph`].
#[wasm_bindgen]
pub fn find_fusion_groups(ops: &JsValue) -> Result<JsValue, JsError> {
    write(&find_groups(&read_ops(ops)?).map_err(thrown)?)
}

/// `{ bytes_read, bytes_written, total, saved_by_fusion }` of a list of ops.
///
/// `options` may declare external tensors and choose conventions:
/// `{ tensors: { x: { shape: [1024, 1024], bytes_per_element: 2 } }, externals: "declared", reshape: "copy" }`.
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
/// Sizes that are zero, negative, fractional or too large, and a hidden size that the heads do not divide.
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

fn read_ops(ops: &JsValue) -> Result<Vec<Op>, JsError> {
    let list =
        OpList::new(json_of(ops)).map_err(|problem| JsError::new(&format!("ops: {problem}")))?;
    ops_of_list(&list).map_err(thrown)
}

/// An option with a slip in its name must not be passed over.
fn read_options(options: &JsValue) -> Result<(Vec<TensorDecl>, Conventions), JsError> {
    let mut conventions = Conventions::default();
    let mut tensors = Vec::new();
    let fields = match json_of(options) {
        Json::Null => Vec::new(),
        Json::Object(fields) => fields,
        _ => return Err(JsError::new("options: no object")),
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("tensors", value) => {
                let list = tensor_entries(value)
                    .map_err(|problem| JsError::new(&format!("options: {problem}")))?;
                tensors = tensors_of_list(&list).map_err(thrown)?;
            }
            (_, Json::Null) => {}
            ("externals", Json::Text(value)) => {
                conventions.externals = Externals::from_name(&value).ok_or_else(|| {
                    refused("externals", &value, &Externals::ALL.map(Externals::name))
                })?;
            }
            ("reshape", Json::Text(value)) => {
                conventions.reshape = ReshapeCost::from_name(&value).ok_or_else(|| {
                    refused("reshape", &value, &ReshapeCost::ALL.map(ReshapeCost::name))
                })?;
            }
            ("externals" | "reshape", _) => {
                return Err(JsError::new(&format!("options: `{name}` is no string")));
            }
            _ => {
                return Err(refused(
                    "option",
                    &name,
                    &["tensors", "externals", "reshape"],
                ));
            }
        }
    }
    Ok((tensors, conventions))
}

fn refused(what: &str, given: &str, known: &[&str]) -> JsError {
    JsError::new(&format!(
        "options: unknown {what} `{given}` (there are {})",
        known.join(", ")
    ))
}

fn read_count(what: &str, value: &JsValue) -> Result<u64, JsError> {
    match json_of(value) {
        Json::Integer(count) => u64::try_from(count).ok(),
        _ => None,
    }
    .ok_or_else(|| JsError::new(&format!("{what}: not a whole number from 0 to 2^63 - 1")))
}

fn write<T: Serialize>(value: &T) -> Result<JsValue, JsError> {
    value
        .serialize(&Serializer::json_compatible())
        .map_err(|e| JsError::new(&e.to_string()))
}

/// All findings in one message, a line each.
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
