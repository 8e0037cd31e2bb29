//! The table of ONNX Runtime's own operators, most of which are several of ONNX in one.

use super::operators::{Operator, Rule, lines, row};

/// All operators of ONNX Runtime that are understood, by kind.
#[rustfmt::skip]
pub(super) const RUNTIME_OPERATORS: &[Operator] = &[
    // Activations.
    lines!("Gelu", "{y} = gelu({0}, approximate=none)"),
    lines!("FastGelu", "{fast_gelu}"),
    lines!("QuickGelu", "{y}_scaled = scale({0}, factor={alpha=1.702})", "{y}_gate = sigmoid({y}_scaled)", "{y} = mul({0}, {y}_gate)"),
    lines!("BiasGelu", "{y}_sum = add({0}, {1})", "{y} = gelu({y}_sum, approximate=none)"),
    lines!("BiasSoftmax", "{y}_sum = add({0}, {1})", "{y} = softmax({y}_sum, axis=-1)"),
    lines!("BiasAdd", "{y}_sum = add({0}, {1})", "{y} = add({y}_sum, {2})"),
    row("BiasDropout", &[Rule::Lines(&["{bias_dropout}"]), Rule::Lines(&["{y} = full(value=1) : {output}"])]),
    lines!("BiasSplitGelu", "{y}_sum = add({0}, {1})", "{y}_value = split({y}_sum, parts=2, index=0, axis=-1)", "{y}_gate = split({y}_sum, parts=2, index=1, axis=-1)", "{y}_gelu = gelu({y}_gate, approximate=none)", "{y} = mul({y}_value, {y}_gelu)"),
    // Norms.
    row("SkipLayerNormalization", &[Rule::Lines(&["{skip_norm}"]), Rule::Opaque, Rule::Opaque, Rule::Lines(&["{skip_sum}"])]),
    row("SkipSimplifiedLayerNormalization", &[Rule::Lines(&["{skip_norm}"]), Rule::Opaque, Rule::Opaque, Rule::Lines(&["{skip_sum}"])]),
    row("EmbedLayerNormalization", &[Rule::Lines(&["{embed_norm}"]), Rule::Lines(&["{y} = full(value=0) : {output}"]), Rule::Lines(&["{embed_sum}"])]),
    // Products.
    lines!("FusedMatMul", "{fused_matmul}"),
    lines!("TransposeMatMul", "{fused_matmul}"),
    lines!("FusedMatMulActivation", "{fused_matmul}"),
    lines!("FusedGemm", "{gemm}"),
    lines!("GemmFastGelu", "{y}_product = matmul({0}, {1})", "{gelu_of_product}"),
    lines!("FusedConv", "{convolution}"),
    lines!("NhwcConv", "{convolution}"),
    lines!("NhwcFusedConv", "{convolution}"),
    lines!("MatMulNBits", "{short_product}"),
    lines!("MoE", "{mixture}"),
    lines!("QMoE", "{mixture}"),
    lines!("MatMulIntegerToFloat", "{integer_product}"),
    lines!("QGemm", "{integer_product}"),
    lines!("QLinearAdd", "{integer_function}"),
    lines!("QLinearMul", "{integer_function}"),
    lines!("QLinearSigmoid", "{integer_function}"),
    lines!("QLinearLeakyRelu", "{integer_function}"),
    lines!("QLinearSoftmax", "{integer_function}"),
    // Attention.
    row("Attention", &[Rule::Lines(&["{projected_attention}"])]),
    row("MultiHeadAttention", &[Rule::Lines(&["{attention}"]), Rule::Lines(&["{present}"]), Rule::Lines(&["{present}"])]),
    row("DecoderMaskedMultiHeadAttention", &[Rule::Lines(&["{attention}"]), Rule::Lines(&["{present}"]), Rule::Lines(&["{present}"])]),
    row("GroupQueryAttention", &[Rule::Lines(&["{attention}"]), Rule::Lines(&["{present}"]), Rule::Lines(&["{present}"])]),
];
