//! The core's four functions for JavaScript: plain objects in and out.
//!
//! Numbers go in as `number` or `BigInt`. Counts come out as `number` up to `2^53 - 1` and as `BigInt`
//! above, never rounded. A failure throws an `Error` whose message says what to mend.

use crate::core::{
    Conventions, Diagnostic, Externals, NamedGraph, Op, ReshapeCost, TensorDecl, TensorRole,
    analyze_transformer_block as analyze_block, build_graph as build,
    estimate_memory_traffic as estimate, find_fusion_groups as find_groups,
};
use crate::platform::object_keys;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_wasm_bindgen::Serializer;
use std::collections::BTreeMap;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

const TRAFFIC_OPTIONS: [&str; 3] = ["tensors", "externals", "reshape"];

/// `{ tensors?, externals?, reshape? }` of [`estimate_memory_traffic`].
#[derive(Default, Deserialize)]
#[serde(default)]
struct TrafficOptions {
    tensors: BTreeMap<String, Size>,
    externals: Externals,
    reshape: ReshapeCost,
}

#[derive(Deserialize)]
struct Size {
    shape: Vec<u64>,
    bytes_per_element: u32,
}

/// `{ producers, consumers, predecessors, successors }` of a list of ops, all by name.
///
/// # Errors
/// A list that is not one of ops, a duplicate name or output, a cycle, sizes that are zero or too large.
#[wasm_bindgen]
pub fn build_graph(ops: JsValue) -> Result<JsValue, JsError> {
    let graph = build(&read_ops(ops)?, &[]).map_err(thrown)?;
    write(&NamedGraph::from(&graph))
}

/// The kernels of the contract's rules: a list of lists of ops.
///
/// # Errors
/// As [`build_graph`].
#[wasm_bindgen]
pub fn find_fusion_groups(ops: JsValue) -> Result<JsValue, JsError> {
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
    ops: JsValue,
    fused: Option<bool>,
    options: JsValue,
) -> Result<JsValue, JsError> {
    let ops = read_ops(ops)?;
    let options: TrafficOptions = if options.is_undefined() || options.is_null() {
        TrafficOptions::default()
    } else {
        refuse_others(&options, &TRAFFIC_OPTIONS)?;
        read("options", options)?
    };
    let externals: Vec<TensorDecl> = options
        .tensors
        .into_iter()
        .map(|(name, size)| TensorDecl {
            name,
            shape: size.shape,
            bytes_per_element: size.bytes_per_element,
            role: TensorRole::Input,
            dtype: None,
        })
        .collect();
    let conventions = Conventions {
        externals: options.externals,
        reshape: options.reshape,
    };
    write(&estimate(&ops, &externals, conventions, fused.unwrap_or(false)).map_err(thrown)?)
}

/// `{ ops, fusion_groups, unfused_traffic, fused_traffic, savings_pct }` of one transformer block;
/// `dtype_bytes` is 2 when left out.
///
/// # Errors
/// Sizes that are zero, negative, fractional or too large, and a hidden size that the heads do not divide.
#[wasm_bindgen]
pub fn analyze_transformer_block(
    seq_len: JsValue,
    hidden_dim: JsValue,
    num_heads: JsValue,
    dtype_bytes: JsValue,
) -> Result<JsValue, JsError> {
    let dtype_bytes = if dtype_bytes.is_undefined() {
        2
    } else {
        read("dtype_bytes", dtype_bytes)?
    };
    let block = analyze_block(
        read("seq_len", seq_len)?,
        read("hidden_dim", hidden_dim)?,
        read("num_heads", num_heads)?,
        dtype_bytes,
    );
    write(&block.map_err(thrown)?)
}

fn read_ops(ops: JsValue) -> Result<Vec<Op>, JsError> {
    read("ops", ops)
}

/// An option with a slip in its name must not be passed over. (`deny_unknown_fields` sees no unknown ones
/// here: only fields that a struct knows are asked of a JavaScript object.)
fn refuse_others(options: &JsValue, known: &[&str]) -> Result<(), JsError> {
    let mut names = object_keys(options).into_iter();
    match names.find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(JsError::new(&format!(
            "options: unknown option `{name}` (there are {})",
            known.join(", ")
        ))),
        None => Ok(()),
    }
}

fn read<T: DeserializeOwned>(what: &str, value: JsValue) -> Result<T, JsError> {
    serde_wasm_bindgen::from_value(value).map_err(|e| JsError::new(&format!("{what}: {e}")))
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
