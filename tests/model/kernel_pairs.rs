//! Kernels whose ops read a product at two columns: a tile computes both of a pair.

use crate::kernel_code::{check, ran};
use fuseline_codegen::kernel_code::{Grid, Statement};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy};

const PRODUCT: &str = "input x : f32[6, 10]\nweight w : f32[10, 16]\nh = matmul(x, w)\n";

/// What follows the product, and how many products the tile has; 0 for a kernel that computes
/// element by element.
const CASES: &[(&str, usize)] = &[
    ("y = relu(h)", 1),
    (
        "input c : f32[6, 16]\ninput s : f32[6, 16]\ny = rotary(h, c, s)",
        2,
    ),
    // Two heads of eight columns.
    (
        "input c : f32[6, 8]\ninput s : f32[6, 8]\nq = rearrange(h) : f32[2, 6, 8]\nq1 = slice(q, end=4)\nq2 = slice(q, start=4)\nminus = neg(q2)\nturned = concat(minus, q1)\nby_c = mul(q, c)\nby_s = mul(turned, s)\ny = add(by_c, by_s)",
        2,
    ),
    // A packed gated unit: both halves make one.
    (
        "gate = slice(h, end=8)\nup = slice(h, start=8)\nopen = silu(gate)\ny = mul(open, up)",
        2,
    ),
    // Three columns of the product for one element.
    (
        "a = slice(h, end=4)\nb = slice(h, start=4, end=8)\nc = slice(h, start=8, end=12)\nab = mul(a, b)\ny = mul(ab, c)",
        0,
    ),
];

#[test]
fn a_tile_has_both_columns_of_a_pair() {
    for (rest, products) in CASES {
        let text = format!("{PRODUCT}{rest}\n");
        let options = Options {
            policy: Policy::Optimal,
            ..Options::default()
        };
        let ran = ran(&parse(&text).program, &options, &[]);
        let [(_, Ok(Some(kernel)))] = &ran.kernels[..] else {
            panic!("{rest}: {} kernels", ran.kernels.len());
        };
        let own = match (&kernel.grid, kernel.body.first()) {
            (Grid::Tiles { .. }, Some(Statement::Products { rights, .. })) => rights.len(),
            _ => 0,
        };
        assert_eq!(own, *products, "{rest}");
        check(ran, rest);
    }
}
