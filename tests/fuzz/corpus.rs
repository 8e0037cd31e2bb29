//! What mutations start from: the examples, in every form.

use flate2::Compression;
use flate2::write::GzEncoder;
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::parse;
use fuseline_core::resolve::resolve;
use fuseline_core::{Op, Options, Policy, analyze_program};
use fuseline_import::pt2::Archive;
use fuseline_learn::lesson::library::LESSONS;
use fuseline_learn::puzzle::library::PUZZLES;
use fuseline_view::page::links::{SharedState, write_state};
use fuseline_view::present::export::OpList;
use fuseline_view::present::graph_file::model_explorer;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use strum::VariantArray;

const BY_HAND: &[&str] = &[
    "",
    "param S = 64 in 1..128 step 1\nparam T = S\ninput x : f16[S/2, 3]\ny = split(x, axis=0) : f16[S/4, 3] @kernel 2\n",
    "input x : f8[4, 16, 64]\nw: y = matmul(x, `w w`, transpose_b=true, k=64) : bf16[4, 16, 8]\nz = softmax(y, axis=-1)\n",
    "input i : f32[2, 3, 32, 32]\nc = conv2d(i, w, stride=2, padding=1) : f32[2, 8, 16, 16]\np = max_pool2d(c, kernel=2)\n",
    "input x : f16[8]\na = relu(x)\nb = concat(a, x, axis=0)\nc = slice(b, start=1, end=4)\nd = sum(c, keepdim=false)\n",
    "input q : bf16[2, 64, 4, 32]\ninput ids : i64[2, 8]\nweight table : bf16[64, 32]\nt = transpose(q, perm=[0, 2, 1, 3])\ns = matmul(t, t, transpose_b=true)\nc = div(s, 8)\nm = tril(c)\nw = where(m, c, -inf)\np = softmax(w, axis=-2)\no = matmul(p, t)\ne = embedding(ids, table)\ng = expand(e, shape=[3, -1, -1, 32])\nh = slice(g, start=1, step=3)\nr = pad(h, pad=[1, 2])\nu = cumsum(r, axis=1)\noutput w\noutput e\n",
    "param L = 3 in 1..48\ninput x : f16[8, 8]\nb = relu(x)\nrepeat L with b = y, k = h { # a layer\n  weight w : f16[8, 8]\n  up: h = matmul(b, w) @kernel 1\n  g = add(h, k) @kernel 1\n  y = softmax(g)\n  output h\n}\nz = exp(y) @kernel 1\nrepeat 2 with y = v {\n  v = tanh(y)\n}\nlast = add(v, w)\n",
];

fn bytes(text: impl Into<String>) -> Vec<u8> {
    text.into().into_bytes()
}

pub(crate) fn notation() -> Vec<Vec<u8>> {
    let examples = EXAMPLES.iter().map(|example| example.text);
    examples.chain(BY_HAND.iter().copied()).map(bytes).collect()
}

/// The ops of each example.
fn lists() -> impl Iterator<Item = Vec<Op>> {
    EXAMPLES.iter().map(|e| resolve(&parse(e.text).program).ops)
}

pub(crate) fn json_lists() -> Vec<Vec<u8>> {
    let plain = lists().filter_map(|ops| serde_json::to_string_pretty(&ops).ok());
    let with_tensors = lists().map(|ops| {
        let tensors = json!({ "x": { "shape": [1024, 1024], "dtype": "f16", "role": "weight" } });
        json!({ "ops": ops, "tensors": tensors }).to_string()
    });
    plain.chain(with_tensors).map(bytes).collect()
}

pub(crate) fn op_lines() -> Vec<Vec<u8>> {
    let line = |op: &Op| {
        let (name, op_type, output) = (&op.name, op.op_type.name(), &op.output);
        let (inputs, shape, bytes) = (&op.inputs, &op.shape, op.bytes_per_element.bytes());
        format!("    Op({name:?}, \"{op_type}\", {inputs:?}, {output:?}, {shape:?}, {bytes}),\n")
    };
    let list = |ops: Vec<Op>| format!("ops = [\n{}]\n", ops.iter().map(line).collect::<String>());
    lists().map(|ops| bytes(list(ops))).collect()
}

pub(crate) fn links() -> Vec<Vec<u8>> {
    let state = |(example, &policy): (&fuseline_core::examples::Example, &Policy)| {
        let state = SharedState {
            text: example.text.to_owned(),
            policy,
            selected_op: Some("y".to_owned()),
            open_tab: Some("why".to_owned()),
            ..SharedState::default()
        };
        write_state(&state).ok().map(bytes)
    };
    let states = EXAMPLES
        .iter()
        .zip(Policy::VARIANTS.iter().cycle())
        .filter_map(state);
    states.chain([bytes("v1.eN-_AA")]).collect()
}

pub(crate) fn lessons() -> Vec<Vec<u8>> {
    LESSONS.iter().map(|lesson| bytes(lesson.text)).collect()
}

pub(crate) fn puzzles() -> Vec<Vec<u8>> {
    PUZZLES.iter().map(|puzzle| bytes(puzzle.text)).collect()
}

pub(crate) fn measured() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/measured");
    let files = ["h200.json", "h200_sizes.json", "h200_fresh.json"];
    files
        .iter()
        .filter_map(|file| std::fs::read(folder.join(file)).ok())
        .collect()
}

pub(crate) fn onnx() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/files");
    let files = [
        "mlp",
        "attention",
        "attention_traced",
        "resnet_block",
        "resnet_block_traced",
        "decoder",
        "decoder_traced",
        "by_hand",
    ];
    files
        .iter()
        .filter_map(|file| std::fs::read(folder.join(file).with_extension("onnx")).ok())
        .collect()
}

/// Exported programs as files, and the graphs in them, which a check sum guards.
pub(crate) fn pt2() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/files");
    let files = [
        "mlp",
        "attention",
        "conv",
        "conv_decomposed",
        "gpt2",
        "llama",
        "unknown",
    ];
    let files = files
        .iter()
        .filter_map(|file| std::fs::read(folder.join(file).with_extension("pt2")).ok());
    files
        .flat_map(|bytes| [graph_of(&bytes).unwrap_or_default(), bytes])
        .collect()
}

/// The JSON in the archive of an exported program.
fn graph_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut archive = Archive::new(bytes.len() as u64);
    while let Some(wanted) = archive.wanted() {
        let range = usize::try_from(wanted.start).ok()?..usize::try_from(wanted.end).ok()?;
        archive.feed(bytes.get(range)?).ok()?;
    }
    archive.finish().ok().map(String::into_bytes)
}

/// The examples as graphs of Model Explorer.
pub(crate) fn graphs() -> Vec<Vec<u8>> {
    let graph = |example: &fuseline_core::examples::Example| {
        let analysis =
            analyze_program(&parse(example.text).program, &Options::default()).analysis?;
        let list = OpList::new(&analysis.graph);
        serde_json::to_vec_pretty(&model_explorer(example.id, &analysis, &list)).ok()
    };
    EXAMPLES.iter().filter_map(graph).collect()
}

pub(crate) fn profiles() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/measured_files");
    let files = [
        "bench.json",
        "ncu_base_metrics.csv",
        "ncu_raw.csv",
        "nsys_gpu_trace.csv",
        "trace_compiled.json",
    ];
    let read = |file: &&str| std::fs::read(folder.join(file)).ok();
    let plain: Vec<Vec<u8>> = files.iter().filter_map(read).collect();
    let packed = plain.iter().map(|file| packed(file));
    packed.chain(plain.iter().cloned()).collect()
}

/// Inputs that have no meaning of their own, for entries that draw all from them.
pub(crate) fn numbers() -> Vec<Vec<u8>> {
    (0..64_u32)
        .map(|number| bytes(format!("{number:064}")))
        .collect()
}

/// A file as gzip packs it.
pub(crate) fn packed(file: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to a vector cannot fail.
    let _ = packed.write_all(file);
    packed.finish().unwrap_or_default()
}
