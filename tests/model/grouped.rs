//! Grouped products: each row meets one of several matrices, and no more are read than there are
//! rows.

use crate::pt2::exporter;
use fuseline_core::model::ids::OpId;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program};
use fuseline_view::present::explain::source_reason;
use fuseline_view::present::figure::explanation;
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use strum::VariantArray;

fn analysis(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert_eq!(outcome.diagnostics, [], "{text}");
    outcome.analysis.unwrap()
}

const MATRIX: u64 = 64 * 192 * 2;

/// Rows, declaration of the matrices, attributes, and the bytes that are read of 16 matrices.
const PRODUCTS: &[(u64, &str, &str, u64)] = &[
    (1, "f16[16, 64, 192]", "", MATRIX),
    (4, "f16[16, 64, 192]", "", 4 * MATRIX),
    (4, "f16[16, 192, 64]", ", transpose_b=true", 4 * MATRIX),
    (16, "f16[16, 64, 192]", "", 16 * MATRIX),
    (400, "f16[16, 64, 192]", "", 16 * MATRIX),
    (4, "i4[16, 64, 192]", "", MATRIX),
];

fn product(rows: u64, matrices: &str, attributes: &str) -> String {
    format!(
        "input x : f16[{rows}, 64]\nweight w : {matrices}\n\
         y = matmul(x, w{attributes}, k=64) : f16[{rows}, 192]\n"
    )
}

#[test]
fn a_grouped_product_reads_one_matrix_for_each_row_at_most() {
    for &(rows, matrices, attributes, bytes) in PRODUCTS {
        let text = product(rows, matrices, attributes);
        for &policy in Policy::VARIANTS {
            let analysis = analysis(&text, policy);
            let (x, y) = (rows * 64 * 2, rows * 192 * 2);
            for execution in [&analysis.unfused, &analysis.fused] {
                let kernel = execution.kernels.iter().next().unwrap();
                assert_eq!(kernel.bytes_read, bytes + x, "{policy:?} {text}");
                assert_eq!(kernel.bytes_written, y, "{policy:?} {text}");
                let flops = u128::from(2 * rows * 64 * 192);
                assert_eq!(kernel.work.flops(), flops, "{policy:?} {text}");
            }
        }
    }
}

#[test]
fn two_products_of_one_tensor_read_no_more_than_all_of_it() {
    let text = "\
input x : f16[12, 64]
weight w : f16[16, 64, 192]
y = matmul(x, w, k=64) : f16[12, 192]
z = matmul(x, w, k=64) : f16[12, 192]
";
    let analysis = analysis(text, Policy::None);
    let read = |op: usize| analysis.unfused.of_lone_op(OpId::new(op)).bytes_read;
    assert_eq!([read(0), read(1)], [12 * MATRIX + 12 * 64 * 2; 2]);
    // The caller holds all matrices.
    let held = analysis.fused.peak_memory.bytes;
    assert_eq!(held, 16 * MATRIX + 12 * 64 * 2 + 2 * 12 * 192 * 2);
}

#[test]
fn packed_operands_count_in_full() {
    let text = "\
input qkv : f16[16, 128, 192]
s = matmul(qkv, qkv, transpose_b=true, k=64) : f16[16, 128, 128]
";
    let analysis = analysis(text, Policy::None);
    assert_eq!(analysis.unfused.traffic.bytes_read, 16 * 128 * 192 * 2);
}

#[test]
fn the_card_of_a_read_says_that_it_is_an_upper_bound() {
    let text = product(4, "f16[16, 64, 192]", "");
    let analysis = analysis(&text, Policy::None);
    let figure = Figure::fused(Subject::Kernel(OpId::new(0)), Quantity::BytesRead);
    let told = explanation(figure, &analysis).unwrap();
    let terms = told.term.unwrap().derivation.unwrap().terms;
    let lines: Vec<_> = terms
        .iter()
        .map(|term| {
            let line = term.derivation.as_ref().unwrap().line().unwrap();
            format!("{}: {line}", term.name)
        })
        .collect();
    assert_eq!(
        lines,
        [
            "reads w, at most 4 of 16 matrices: each row of y meets one: 4 × 64 × 192 × 2 B",
            "reads x: 4 × 64 × 2 B",
        ]
    );
    let read = &analysis.unfused.of_lone_op(OpId::new(0)).traffic.reads[1];
    let reason = source_reason(&analysis, &[OpId::new(0)], read.tensor, read.source);
    assert_eq!(
        reason,
        "its declaration in the text; at most 4 of 16 matrices: each row of y meets one"
    );
}

#[test]
fn experts_of_transformers_read_those_that_tokens_choose() {
    let text = exporter("experts");
    let analysis = analysis(&text, Policy::None);
    let of_products: Vec<u64> = (analysis.graph.ops.iter_enumerated())
        .filter(|(_, op)| op.k.is_some() && op.name.contains("experts.matmul"))
        .map(|(id, _)| analysis.unfused.of_lone_op(id).bytes_read)
        .collect();
    // Two tokens choose two of 16 experts each.
    let rows = 2 * 2;
    assert_eq!(
        of_products,
        [rows * (192 * 64 + 64) * 2, rows * (64 * 96 + 96) * 2],
        "{text}"
    );
}
