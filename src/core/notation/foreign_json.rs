//! Recognises JSON of other tools by the names of its fields.

use crate::json::read_json;
use crate::model::diagnostic::{Code, Diagnostic};
use crate::notation::foreign_text::{EXPORT, FILE, ONNX, TENSORFLOW};
use serde_json::{Map, Value};

const CONFIG: &str = "build the model from it, AutoModel.from_config(config) of transformers, and save it with fuseline.export(model, x) of fuseline.py (on the page: Open, A PyTorch model)";

/// What each kind is, how to import its model, and fields that only it has together.
#[rustfmt::skip]
static KINDS: &[(&str, &str, &[&str])] = &[
    ("a config.json of transformers", CONFIG, &["model_type"]),
    ("a config.json of transformers", CONFIG, &["architectures"]),
    ("a config.json of a model", CONFIG, &["hidden_size"]),
    ("a config.json of diffusers", EXPORT, &["_class_name", "_diffusers_version"]),
    ("an index of weights, which lacks the data flow", EXPORT, &["weight_map"]),
    ("a tokenizer, which holds no ops", EXPORT, &["added_tokens"]),
    ("a tokenizer, which holds no ops", EXPORT, &["tokenizer_class"]),
    ("a Jupyter notebook", EXPORT, &["nbformat", "cells"]),
    ("an ONNX model as JSON", ONNX, &["irVersion", "graph"]),
    ("an ONNX model as JSON", ONNX, &["ir_version", "graph"]),
    ("a model of TensorFlow.js", TENSORFLOW, &["modelTopology"]),
    ("a model of Keras as JSON", TENSORFLOW, &["class_name", "config"]),
    ("a graph of TVM or MXNet", FILE, &["nodes", "arg_nodes", "heads"]),
];

/// The one error of JSON of another tool, if it is one. `O(text)`.
pub(super) fn refusal(text: &str) -> Option<Diagnostic> {
    let fields: Map<String, Value> = read_json(text).ok()?;
    let has = |names: &&[&str]| names.iter().all(|name| fields.contains_key(*name));
    let (what, way, _) = KINDS.iter().find(|(_, _, names)| has(names))?;
    Some(Diagnostic::error(Code::ForeignText, format!("this is {what}")).hint(*way))
}
