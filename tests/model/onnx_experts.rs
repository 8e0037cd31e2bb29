//! Mixtures of experts of ONNX Runtime.

use crate::onnx_files::{attribute_float, attribute_int, attribute_text};
use crate::onnx_fused::{fused, lines};

/// That each of these is a line of the text.
fn assert_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
}

#[test]
fn a_mixture_of_experts_is_grouped_products_of_the_chosen_rows() {
    let experts = [
        "x f16[2, 1, 64]",
        "r f16[2, 16]",
        "w f16[16, 96, 64]",
        "v f16[16, 64, 96]",
    ];
    let flags = [
        attribute_int("k", 2),
        attribute_text("activation_type", "silu"),
    ];
    let text = lines(&experts, &fused("MoE", "x r w - v", "y", &flags));
    assert_eq!(
        text,
        "y_tokens = reshape(x, shape=[2, 64])\n\
         y_router = softmax(r, axis=-1)\n\
         y_chosen = topk_indices(y_router, count=2, axis=-1)\n\
         y_weights = gather(y_router, y_chosen, axis=-1)\n\
         y_rows = repeat_interleave(y_tokens, times=2, axis=0)\n\
         y_gates = reshape(y_weights, shape=[4, 1])\n\
         y_first = matmul(y_rows, w, transpose_b=true, k=64) : f16[4, 96]\n\
         y_active = silu(y_first)\n\
         y_second = matmul(y_active, v, transpose_b=true, k=96) : f16[4, 64]\n\
         y_scaled = mul(y_second, y_gates)\n\
         y_each = reshape(y_scaled, shape=[2, 2, 64])\n\
         y_sum = sum(y_each, axis=1, keepdim=false)\n\
         y = reshape(y_sum, shape=[2, 1, 64])"
    );
}

#[test]
fn a_mixture_of_experts_has_its_biases_weights_and_gates() {
    let experts = [
        "x f16[N, 64]",
        "r f16[N, 16]",
        "w f16[16, 192, 64]",
        "b f16[16, 192]",
        "v f16[16, 64, 96]",
        "c f16[16, 64]",
    ];
    let flags = [
        attribute_text("activation_type", "swiglu"),
        attribute_int("swiglu_fusion", 1),
        attribute_int("normalize_routing_weights", 1),
        attribute_float("activation_alpha", 1.5),
        attribute_float("activation_beta", 1.0),
        attribute_float("swiglu_limit", 7.0),
    ];
    let text = lines(&experts, &fused("MoE", "x r w b v c", "y", &flags));
    assert_lines(
        &text,
        &[
            "y_normalized = div(y_weights, y_weight)",
            "y_first_product = matmul(y_tokens, w, transpose_b=true, k=64) : f16[N, 192]",
            "y_first_bias = index(b, y_experts)",
            "y_value = slice(y_first, start=1, step=2, axis=1)",
            "y_low_gate = clamp(y_gate, max=7)",
            "y_scaled_gate = scale(y_low_gate, factor=1.5)",
            "y_moved = add(y_low_value, 1)",
            "y_second_product = matmul(y_inner, v, transpose_b=true, k=96) : f16[N, 64]",
            "y_second = add(y_second_product, y_second_bias)",
        ],
    );
    // Two products that are not fused, with the matrices of older models.
    let apart = [
        "x f16[4, 64]",
        "r f16[4, 16]",
        "w f16[16, 64, 96]",
        "v f16[16, 96, 64]",
        "u f16[16, 64, 96]",
    ];
    let flags = [attribute_text("activation_type", "relu2")];
    let text = lines(&apart, &fused("MoE", "x r w - v - u", "y", &flags));
    assert_lines(
        &text,
        &[
            "y_third = matmul(y_tokens, u, k=64) : f16[4, 96]",
            "y_active = square(y_positive)",
            "y_inner = mul(y_active, y_third)",
            "y_second = matmul(y_inner, v, k=96) : f16[4, 64]",
        ],
    );
}

const SHORT_EXPERTS: [&str; 6] = [
    "x f16[2, 1, 64]",
    "r f16[2, 16]",
    "w i8[16, 192, 32]",
    "s f16[16, 192]",
    "v i8[16, 64, 48]",
    "t f16[16, 64]",
];

#[test]
fn a_quantised_mixture_of_experts_reads_the_short_weights_of_the_chosen_rows() {
    let flags = [
        attribute_int("k", 2),
        attribute_int("swiglu_fusion", 1),
        attribute_text("activation_type", "swiglu"),
    ];
    let node = fused("QMoE", "x r w s - v t", "y", &flags);
    let text = lines(&SHORT_EXPERTS, &node);
    assert_lines(
        &text,
        &[
            "y_first_short = part(w) : i4[16, 192, 64]",
            "y_first_product = matmul(y_rows, y_first_short, transpose_b=true, k=64) : f16[4, 192]",
            "y_first_scale = index(s, y_experts)",
            "y_first = mul(y_first_product, y_first_scale)",
            "y_second_product = matmul(y_inner, y_second_short, transpose_b=true, k=96) : f16[4, 64]",
        ],
    );
    // Scales of blocks, biases, and the weights of the choice.
    let mut blocks = SHORT_EXPERTS;
    (blocks[3], blocks[5]) = ("s f16[16, 192, 2]", "t f16[16, 64, 3]");
    let blocks = [&blocks[..], &["b f16[16, 192]", "g f16[2, 16]"]].concat();
    let node = fused("QMoE", "x r w s b v t - - - - - - - g", "y", &flags);
    let text = lines(&blocks, &node);
    assert_lines(
        &text,
        &[
            "y_chosen = topk_indices(r, count=2, axis=-1)",
            "y_weights = gather(g, y_chosen, axis=-1)",
            "y_first_bias = index(b, y_experts)",
            "y_first = add(y_first_product, y_first_bias)",
            "y_second = matmul(y_inner, y_second_short, transpose_b=true, k=96) : f16[4, 64]",
        ],
    );
}

#[test]
fn a_quantised_mixture_of_another_form_has_its_flops() {
    let flags = [
        attribute_int("k", 2),
        attribute_int("swiglu_fusion", 1),
        attribute_text("activation_type", "swiglu"),
        attribute_text("quant_type", "fp4"),
    ];
    let text = lines(&SHORT_EXPERTS, &fused("QMoE", "x r w s - v t", "y", &flags));
    let flops = 2 * 2 * 2 * 64 * (192 + 96);
    assert!(
        text.contains(&format!("flops={flops}, units=matrix")),
        "{text}"
    );
}
