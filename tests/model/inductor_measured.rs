//! The compiler policy against kernels that were measured on a GPU.

use crate::measured::{analysis, rows};
use fuseline_core::{Conventions, FusionOptions, Options, Policy, ReshapeCost, device};

pub(crate) const EAGER: &str = "eager";
pub(crate) const DEFAULT: &str = "inductor";
pub(crate) const TUNED: &str = "inductor_triton_gemm";

/// Variant, pattern, measured launches, predicted launches, and the reason for a difference.
#[rustfmt::skip]
const LAUNCHES: &[(&str, &str, usize, usize, &str)] = &[
    (EAGER, "linear_bias", 2, 2, ""),
    (DEFAULT, "linear_bias", 1, 1, ""),
    (TUNED, "linear_bias", 1, 1, ""),
    (EAGER, "linear_bias_relu", 3, 3, ""),
    (DEFAULT, "linear_bias_relu", 2, 2, ""),
    (TUNED, "linear_bias_relu", 1, 1, ""),
    (EAGER, "linear_bias_gelu", 3, 3, ""),
    (DEFAULT, "linear_bias_gelu", 2, 2, ""),
    (TUNED, "linear_bias_gelu", 2, 1, "the compiler timed the GELU in the epilogue and apart, and kept it apart (benchmark_epilogue_fusion)"),
    (EAGER, "linear_bias_relu_dropout", 4, 4, ""),
    (DEFAULT, "linear_bias_relu_dropout", 2, 2, ""),
    (TUNED, "linear_bias_relu_dropout", 2, 1, "timed and kept apart: the mask is another operand as large as the result"),
    (EAGER, "mlp2", 5, 5, ""),
    (DEFAULT, "mlp2", 3, 3, ""),
    (TUNED, "mlp2", 2, 2, ""),
    (EAGER, "conv_bias", 2, 2, ""),
    (DEFAULT, "conv_bias", 2, 2, ""),
    (EAGER, "conv_bn_relu", 4, 4, ""),
    (DEFAULT, "conv_bn_relu", 2, 2, ""),
    (EAGER, "conv_relu", 2, 2, ""),
    (DEFAULT, "conv_relu", 2, 2, ""),
    (EAGER, "conv_bn_relu_maxpool", 5, 5, ""),
    (DEFAULT, "conv_bn_relu_maxpool", 3, 3, ""),
    (EAGER, "attn_scores", 3, 3, ""),
    (DEFAULT, "attn_scores", 2, 2, ""),
    (TUNED, "attn_scores", 2, 2, ""),
    (EAGER, "attention", 4, 4, ""),
    (DEFAULT, "attention", 3, 3, ""),
    (TUNED, "attention", 3, 3, ""),
    (EAGER, "sdpa_flash", 1, 4, "one library call; the op list holds the four ops that it stands for"),
    (DEFAULT, "sdpa_flash", 1, 1, ""),
    (EAGER, "add_relu", 2, 2, ""),
    (DEFAULT, "add_relu", 1, 1, ""),
    (EAGER, "mul_add_relu", 3, 3, ""),
    (DEFAULT, "mul_add_relu", 1, 1, ""),
    (EAGER, "sigmoid_mul", 2, 2, ""),
    (DEFAULT, "sigmoid_mul", 1, 1, ""),
    (EAGER, "bias_gelu_dropout_add", 4, 4, ""),
    (DEFAULT, "bias_gelu_dropout_add", 1, 1, ""),
    (EAGER, "add_layernorm", 2, 2, ""),
    (DEFAULT, "add_layernorm", 1, 1, ""),
    (EAGER, "layernorm_gelu", 2, 2, ""),
    (DEFAULT, "layernorm_gelu", 1, 1, ""),
    (EAGER, "layernorm_decomposed", 9, 9, ""),
    (DEFAULT, "layernorm_decomposed", 1, 1, ""),
    (EAGER, "softmax_decomposed", 5, 5, ""),
    (DEFAULT, "softmax_decomposed", 1, 1, ""),
    (EAGER, "rmsnorm_decomposed", 6, 6, ""),
    (DEFAULT, "rmsnorm_decomposed", 1, 1, ""),
    (EAGER, "l2norm_decomposed", 4, 4, ""),
    (DEFAULT, "l2norm_decomposed", 1, 1, ""),
    (EAGER, "transformer_block", 13, 13, ""),
    (DEFAULT, "transformer_block", 8, 8, ""),
    (TUNED, "transformer_block", 8, 7, "timed and kept apart: the GELU behind the first layer of the MLP"),
];

pub(crate) fn options(variant: &str) -> Options {
    Options {
        conventions: Conventions {
            reshape: ReshapeCost::View,
            ..Conventions::default()
        },
        fusion: FusionOptions {
            max_autotune: variant == TUNED,
            ..FusionOptions::default()
        },
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(if variant == EAGER {
            Policy::None
        } else {
            Policy::Inductor
        })
    }
}

#[test]
fn every_pattern_with_its_launches() {
    let mut found = Vec::new();
    for row in rows() {
        let analysis = analysis(&row.pattern, &row.size, &options(&row.variant));
        let predicted = analysis.fused.launches;
        found.push((row.variant, row.pattern, row.launches, predicted));
    }
    let table = LAUNCHES.iter();
    let expected: Vec<_> = table
        .clone()
        .map(|&(variant, pattern, measured, predicted, _)| {
            (variant.to_owned(), pattern.to_owned(), measured, predicted)
        })
        .collect();
    assert_eq!(found, expected);
    for &(variant, pattern, measured, predicted, why) in table {
        assert_eq!(measured == predicted, why.is_empty(), "{variant} {pattern}");
    }
}

/// If no matmul reads tiles twice, a compiled kernel reads the compulsory traffic from DRAM.
#[test]
fn compiled_kernels_without_a_matmul_read_what_was_measured() {
    let mut compared = 0;
    for row in rows().iter().filter(|row| row.variant == DEFAULT) {
        let analysis = analysis(&row.pattern, &row.size, &options(DEFAULT));
        let has_matmul = analysis.graph.ops.iter().any(|op| op.k.is_some());
        let Some(measured) = row.dram_read_bytes.filter(|_| !has_matmul) else {
            continue;
        };
        let read = analysis.fused.traffic.bytes_read;
        let difference = read.abs_diff(measured);
        assert!(
            difference * 200 <= measured,
            "{}: {read} predicted, {measured} measured",
            row.pattern
        );
        compared += 1;
    }
    assert_eq!(compared, 8);
}
