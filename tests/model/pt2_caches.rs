//! Exported programs that write into caches through views: what they read and write is that of the
//! rows, however a library lays its cache out. `make_pt2.py` writes the files.

use crate::pt2::{bytes, converted, exporter, lines_of};
use crate::pt2_files::{named, node, node_of, tensor};
use crate::put_back::analysis;
use fuseline_core::model::options::ReshapeCost;
use fuseline_core::{Analysis, Policy};
use serde_json::json;
use strum::VariantArray;

const K: u64 = 2 * 4 * 16 * 4;
const ROWS: u64 = 3 * 4 * 16 * 4;
const SLOTS: u64 = 3 * 8;
const AT: u64 = 8;

/// For each cache its bytes, and those that the writes into it read and write.
#[rustfmt::skip]
const CACHES: &[(&str, u64, u64, u64)] = &[
    ("pool", 8 * 16 * 4 * 16 * 4, ROWS + SLOTS, ROWS),
    ("pair", 8 * 16 * 4 * 16 * 4, ROWS + 2 * SLOTS, ROWS),
    ("heads", 8 * 4 * 16 * 16 * 4, ROWS + 2 * SLOTS, ROWS),
    ("both", 2 * 8 * 16 * 4 * 16 * 4, 2 * (ROWS + SLOTS), 2 * ROWS),
    ("layers", 3 * 2 * 4 * 64 * 16 * 4, K + AT, K),
    ("stacked", 3 * 4 * 64 * 16 * 4, K / 2 + AT, K / 2),
    ("first", 2 * K, K, K),
    ("at", 64 * K, K + AT, K),
    ("range", 64 * K, K, K),
    ("nested", 2 * 64 * K, K, K),
    ("turned", 64 * K, K + AT, K),
];

/// The bytes that the kernels read and write that have an op which writes a part in place.
fn of_writes(analysis: &Analysis) -> (u64, u64) {
    let kernels = analysis.fused.kernels.iter();
    let writes = kernels.filter(|kernel| {
        let mut ops = kernel.ops.iter();
        ops.any(|&op| analysis.graph.ops[op].writes_part())
    });
    writes.fold((0, 0), |(read, written), kernel| {
        (read + kernel.bytes_read, written + kernel.bytes_written)
    })
}

#[test]
fn a_write_through_a_view_is_that_of_its_rows() {
    let read: u64 = CACHES.iter().map(|own| own.2).sum();
    let written: u64 = CACHES.iter().map(|own| own.3).sum();
    let names = [
        "caches.fuseline.pt2",
        "given_caches.fuseline.pt2",
        "caches.pt2",
    ];
    for name in names {
        let text = converted(&bytes(name)).text;
        for &policy in Policy::VARIANTS {
            for reshape in [ReshapeCost::Copy, ReshapeCost::View] {
                let analysis = analysis(&text, policy, reshape);
                let which = format!("{name} {policy:?} {reshape:?}\n{text}");
                // The compiler's kernels compute the rows that they write, too, and copy views.
                if policy != Policy::Inductor {
                    assert_eq!(of_writes(&analysis), (read, written), "{which}");
                }
            }
        }
        // Where views are free, the rest of a program reads each cache once and writes its sum.
        for policy in [Policy::None, Policy::Rules, Policy::Optimal] {
            let total = analysis(&text, policy, ReshapeCost::View).fused.traffic;
            let caches: u64 = CACHES.iter().map(|own| own.1).sum();
            assert_eq!(total.bytes_read, read + caches, "{name} {policy:?}");
            let sums = 4 * CACHES.len() as u64;
            assert_eq!(total.bytes_written, written + sums, "{name} {policy:?}");
        }
    }
}

#[test]
fn a_step_of_a_llama_writes_one_row_of_its_static_cache() {
    let text = exporter("decode");
    assert_eq!(text.matches("= index_copy_(").count(), 4, "{text}");
    let row = 2 * 16 * 4;
    for &policy in Policy::VARIANTS {
        let analysis = analysis(&text, policy, ReshapeCost::Copy);
        let (read, written) = of_writes(&analysis);
        if policy == Policy::Inductor {
            // Its two kernels compute the rows, too, and what else is computed from the same.
            assert!(written >= 4 * row && written < 8 * row, "{written}");
        } else {
            assert_eq!((read, written), (4 * (row + 8), 4 * row), "{policy:?}");
        }
    }
}

/// `cache[:, at] = values` of one sequence: the graph drops the dimension of size 1 before.
#[test]
fn values_without_their_dimension_of_size_1_are_written_as_they_are() {
    let tensor_of = |name: &str| json!({ "as_tensor": { "name": name } });
    let mut at = tensor(&[1]);
    at["dtype"] = json!(5);
    let known = [
        ("x", tensor(&[1, 1, 8, 16])),
        ("values", tensor(&[1, 1, 8, 16])),
        ("rows", tensor(&[8, 16])),
        ("at", at),
        ("y", tensor(&[1, 1, 8, 16])),
    ];
    let sizes = named("size", &json!({ "as_ints": [8, 16] }));
    let indices = json!({ "as_optional_tensors": [{ "as_none": true }, tensor_of("at")] });
    let nodes = [
        node("exp.default", &["x"], "values"),
        node_of(
            "view.default",
            &[named("self", &tensor_of("values")), sizes],
            "rows",
        ),
        node_of(
            "arange.default",
            &[named("end", &json!({ "as_int": 1 }))],
            "at",
        ),
        node_of(
            "index_put.default",
            &[
                named("self", &tensor_of("x")),
                named("indices", &indices),
                named("values", &tensor_of("rows")),
            ],
            "y",
        ),
    ];
    assert_eq!(
        lines_of(&nodes, &known),
        [
            "exp = exp(x) : f32[1, 1, 8, 16]",
            "arange = arange() : i64[1]",
            "index_copy = index_copy(x, arange, exp, axis=1) : f32[1, 1, 8, 16]",
        ]
    );
}
