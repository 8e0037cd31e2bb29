//! Operators of ONNX that are several functions: ONNX Runtime's fused ones, attention, einsum,
//! losses, quantised products.

use crate::onnx::statements;
use crate::onnx_files::{
    attribute_float, attribute_int, attribute_ints, attribute_text, field, node,
};

/// A node of ONNX Runtime.
pub(crate) fn fused(
    operator: &str,
    inputs: &str,
    outputs: &str,
    attributes: &[Vec<u8>],
) -> Vec<u8> {
    [
        node(operator, inputs, outputs, attributes),
        field(7, "com.microsoft"),
    ]
    .concat()
}

/// The lines of one node that writes `y`.
pub(crate) fn lines(inputs: &[&str], node: &[u8]) -> String {
    statements(inputs, &[], &[node.to_vec()], "y")
}

#[test]
fn fused_operators_have_their_biases_sums_and_activations() {
    let x = ["x f16[4, 8]", "b f16[8]"];
    assert_eq!(
        lines(&x, &fused("FastGelu", "x b", "y", &[])),
        "y_sum = add(x, b)\ny = gelu(y_sum, approximate=tanh)"
    );
    assert_eq!(
        lines(&x, &fused("BiasGelu", "x b", "y", &[])),
        "y_sum = add(x, b)\ny = gelu(y_sum, approximate=none)"
    );
    assert_eq!(
        lines(&x, &fused("QuickGelu", "x", "y", &[])),
        "y_scaled = scale(x, factor=1.702)\ny_gate = sigmoid(y_scaled)\ny = mul(x, y_gate)"
    );
    let skip = ["x f16[4, 8]", "r f16[4, 8]", "g f16[8]", "b f16[8]"];
    assert_eq!(
        lines(
            &skip,
            &fused("SkipSimplifiedLayerNormalization", "x r g b", "y", &[])
        ),
        "y_residual = add(x, r)\n\
         y_sum = add(y_residual, b)\n\
         y = rms_norm(y_sum, g, eps=1e-12)"
    );
    let image = [
        "x f32[1, 4, 8, 8]",
        "w f32[6, 4, 3, 3]",
        "b f32[6]",
        "z f32[1, 6, 6, 6]",
    ];
    assert_eq!(
        lines(
            &image,
            &fused(
                "FusedConv",
                "x w b z",
                "y",
                &[attribute_text("activation", "Relu")]
            )
        ),
        "y_conv = conv2d(x, w, b)\ny_sum = add(y_conv, z)\ny = relu(y_sum)"
    );
    let matrices = ["a f32[2, 8, 4]", "b f32[2, 5, 8]"];
    let flags = [
        attribute_int("transA", 1),
        attribute_int("transB", 1),
        attribute_float("alpha", 0.5),
    ];
    assert_eq!(
        lines(&matrices, &fused("FusedMatMul", "a b", "y", &flags)),
        "y_product = matmul(a, b, transpose_a=true, transpose_b=true)\n\
         y = scale(y_product, factor=0.5)"
    );
}

#[test]
fn embeddings_with_a_norm_are_look_ups_and_their_sum() {
    let inputs = [
        "i i64[2, 4]",
        "s i64[2, 4]",
        "w f32[30, 8]",
        "p f32[16, 8]",
        "t f32[2, 8]",
        "g f32[8]",
        "b f32[8]",
    ];
    assert_eq!(
        lines(
            &inputs,
            &fused("EmbedLayerNormalization", "i s w p t g b", "y", &[])
        ),
        "y_words = embedding(i, w)\n\
         y_positions = slice(p, end=4, axis=0)\n\
         y_placed = add(y_words, y_positions)\n\
         y_segments = embedding(s, t)\n\
         y_sum = add(y_placed, y_segments)\n\
         y = layer_norm(y_sum, g, b, eps=1e-12)"
    );
}

/// Attention of three dimensions has its heads side by side.
#[test]
fn attention_of_three_dimensions_has_heads() {
    let inputs = ["q f16[2, 5, 32]", "k f16[2, 6, 16]", "v f16[2, 6, 16]"];
    let heads = [
        attribute_int("q_num_heads", 4),
        attribute_int("kv_num_heads", 2),
    ];
    assert_eq!(
        lines(&inputs, &node("Attention", "q k v", "y", &heads)),
        "y_q_split = reshape(q, shape=[2, 5, 4, 8])\n\
         y_q = transpose(y_q_split, perm=[0, 2, 1, 3])\n\
         y_k_split = reshape(k, shape=[2, 6, 2, 8])\n\
         y_k = transpose(y_k_split, perm=[0, 2, 1, 3])\n\
         y_v_split = reshape(v, shape=[2, 6, 2, 8])\n\
         y_v = transpose(y_v_split, perm=[0, 2, 1, 3])\n\
         y_heads = sdpa(y_q, y_k, y_v, enable_gqa=true)\n\
         y_joined = transpose(y_heads, perm=[0, 2, 1, 3])\n\
         y = reshape(y_joined, shape=[2, 5, 32])"
    );
}

/// The cache is joined once, for the result and for the next call.
#[test]
fn attention_joins_its_cache_once() {
    let inputs = [
        "q f16[2, 4, 1, 8]",
        "k f16[2, 2, 1, 8]",
        "v f16[2, 2, 1, 8]",
        "pk f16[2, 2, 7, 8]",
        "pv f16[2, 2, 7, 8]",
    ];
    let own = node("Attention", "q k v - pk pv", "y ok ov", &[]);
    assert_eq!(
        statements(&inputs, &[], &[own], "y ok ov"),
        "ov = concat(pv, v, axis=2)\n\
         ok = concat(pk, k, axis=2)\n\
         y = sdpa(q, ok, ov, enable_gqa=true)"
    );
}

#[test]
fn scores_that_are_capped_are_products_of_their_own() {
    let inputs = [
        "q f16[2, 4, 5, 8]",
        "k f16[2, 2, 6, 8]",
        "v f16[2, 2, 6, 8]",
    ];
    let own = node(
        "Attention",
        "q k v",
        "y",
        &[attribute_float("softcap", 30.0)],
    );
    let text = lines(&inputs, &own);
    let functions: Vec<&str> = text
        .lines()
        .map(|line| line.split_once(" = ").unwrap().1.split('(').next().unwrap())
        .collect();
    let expected = "reshape matmul reshape scale tanh scale softmax reshape matmul reshape";
    assert_eq!(functions.join(" "), expected, "{text}");
}

#[test]
fn rotary_embeddings_turn_pairs() {
    let inputs = [
        "x f16[2, 4, 32]",
        "p i64[2, 4]",
        "c f16[16, 4]",
        "s f16[16, 4]",
    ];
    let text = lines(&inputs, &fused("RotaryEmbedding", "x p c s", "y", &[]));
    assert!(text.contains("y_x_cos_rows = embedding(p, c)"), "{text}");
    assert!(
        text.contains("reshape(y_x_cos_rows, shape=[2, 4, 1, 4])"),
        "{text}"
    );
    assert!(
        text.ends_with("y = reshape(y_x_turned, shape=[2, 4, 32])"),
        "{text}"
    );
}

#[test]
fn an_einsum_is_a_product() {
    let einsum = |inputs: &[&str], equation: &str| {
        let names = ["a", "b", "c"][..inputs.len()].join(" ");
        let own = node(
            "Einsum",
            &names,
            "y",
            &[attribute_text("equation", equation)],
        );
        lines(inputs, &own)
    };
    assert_eq!(
        einsum(&["a f32[2, 3, 4]", "b f32[2, 4, 5]"], "bij, bjk -> bik"),
        "y = matmul(a, b)"
    );
    assert_eq!(
        einsum(&["a f32[2, 3, 4]", "b f32[2, 5, 4]"], "...ij,...kj->...ik"),
        "y = matmul(a, b, transpose_b=true)"
    );
    assert_eq!(
        einsum(
            &["a f32[2, 6, 4, 8]", "b f32[2, 7, 4, 8]"],
            "bthd,bshd->bhts"
        ),
        "y_0_a = transpose(a, perm=[0, 2, 1, 3])\n\
         y_0_b = transpose(b, perm=[0, 2, 1, 3])\n\
         y = matmul(y_0_a, y_0_b, transpose_b=true)"
    );
    assert_eq!(
        einsum(&["a f32[3]", "b f32[4]"], "i,j->ij"),
        "y_0_a_wide = reshape(a, shape=[3, 1])\n\
         y_0_b_wide = reshape(b, shape=[1, 4])\n\
         y = mul(y_0_a_wide, y_0_b_wide)"
    );
    assert_eq!(
        einsum(&["a f32[3, 4]"], "ij->ji"),
        "y = transpose(a, perm=[1, 0])"
    );
    assert_eq!(
        einsum(&["a f32[3, 4]"], "ij->"),
        "y = sum(a, axis=[0, 1], keepdim=false)"
    );
    // The sum over what only one operand has comes first.
    assert_eq!(
        einsum(
            &["a f32[3, 4]", "b f32[4, 5]", "c f32[5, 6]"],
            "ij,jk,kl->il"
        ),
        "y_0 = matmul(a, b)\ny = matmul(y_0, c)"
    );
}

#[test]
fn a_loss_is_a_look_up_in_logarithms() {
    let inputs = ["x f32[8, 10]", "t i64[8]"];
    assert_eq!(
        lines(&inputs, &node("SoftmaxCrossEntropyLoss", "x t", "y", &[])),
        "y_logs = log_softmax(x, axis=1)\n\
         y_column = reshape(t, shape=[8, 1])\n\
         y_picked = gather(y_logs, y_column, axis=1)\n\
         y_likelihood = reshape(y_picked, shape=[8])\n\
         y_loss = neg(y_likelihood)\n\
         y = mean(y_loss, axis=[0], keepdim=false)"
    );
}

#[test]
fn ignored_targets_count_nothing_in_a_loss() {
    let inputs = ["x f32[8, 10]", "t i64[8]", "w f32[10]"];
    let own = |inputs: &str, reduction: &str| {
        let attributes = [
            attribute_int("ignore_index", -1),
            attribute_text("reduction", reduction),
        ];
        node("NegativeLogLikelihoodLoss", inputs, "y", &attributes)
    };
    let picked = "y_counts = ne(t, -1)\n\
                  y_class = where(y_counts, t, 0)\n\
                  y_column = reshape(y_class, shape=[8, 1])\n\
                  y_picked = gather(x, y_column, axis=1)\n\
                  y_likelihood = reshape(y_picked, shape=[8])\n\
                  y_loss = neg(y_likelihood)\n";
    assert_eq!(
        lines(&inputs, &own("x t", "none")),
        format!("{picked}y = where(y_counts, y_loss, 0)")
    );
    assert_eq!(
        lines(&inputs, &own("x t", "mean")),
        format!(
            "{picked}\
             y_kept = where(y_counts, y_loss, 0)\n\
             y_sum = sum(y_kept, axis=[0], keepdim=false)\n\
             y_total = sum(y_counts, axis=[0], keepdim=false)\n\
             y_number = cast(y_total, dtype=f32)\n\
             y = div(y_sum, y_number)"
        )
    );
    assert_eq!(
        lines(&inputs, &own("x t w", "mean")),
        format!(
            "{picked}\
             y_weights = index(w, y_class)\n\
             y_weighted = mul(y_loss, y_weights)\n\
             y_kept = where(y_counts, y_weighted, 0)\n\
             y_sum = sum(y_kept, axis=[0], keepdim=false)\n\
             y_kept_weights = where(y_counts, y_weights, 0)\n\
             y_weight = sum(y_kept_weights, axis=[0], keepdim=false)\n\
             y = div(y_sum, y_weight)"
        )
    );
}

#[test]
fn products_of_quantised_tensors_keep_their_operands() {
    let inputs = [
        "a i8[2, 4, 8]",
        "as f32[]",
        "b i8[8, 5]",
        "bs f32[5]",
        "ys f32[]",
        "z i8[]",
    ];
    let own = node("QLinearMatMul", "a as z b bs z ys z", "y", &[]);
    let text = lines(&inputs, &own);
    assert!(
        text.starts_with("y_sums = matmul(a, b) : i32[2, 4, 5]\n"),
        "{text}"
    );
    assert!(text.ends_with("y = cast(y_held, dtype=i8)"), "{text}");
    let own = fused("MatMulIntegerToFloat", "a b as bs", "y", &[]);
    assert_eq!(
        lines(&inputs, &own),
        "y_sums = matmul(a, b) : i32[2, 4, 5]\n\
         y_float = cast(y_sums, dtype=f32)\n\
         y_once = mul(y_float, as)\n\
         y = mul(y_once, bs)"
    );
}

#[test]
fn windows_over_sequences_and_volumes_have_shapes() {
    let sequence = ["x f32[1, 4, 16]"];
    let kernel = [
        attribute_ints("kernel_shape", &[3]),
        attribute_ints("strides", &[2]),
        attribute_int("ceil_mode", 1),
    ];
    assert_eq!(
        lines(&sequence, &node("MaxPool", "x", "y", &kernel)),
        "y_image = reshape(x, shape=[1, 4, 1, 16])\n\
         y_pooled = max_pool2d(y_image, kernel=[1, 3], stride=[1, 2], padding=[0, 1])\n\
         y = reshape(y_pooled, shape=[1, 4, 8])"
    );
    let volume = ["x f32[1, 4, 8, 8, 8]", "w f32[6, 4, 3, 3, 3]"];
    let pads = attribute_ints("pads", &[1; 6]);
    let strides = attribute_ints("strides", &[2; 3]);
    assert_eq!(
        lines(&volume, &node("Conv", "x w", "y", &[pads, strides])),
        "y = convolution(x, w, k=108) : f32[1, 6, 4, 4, 4]"
    );
}

#[test]
fn elementwise_operators_that_the_notation_lacks_fuse() {
    let x = ["x f32[4, 8]"];
    for operator in ["Acos", "Asinh", "Cosh"] {
        assert_eq!(
            lines(&x, &node(operator, "x", "y", &[])),
            "y = elementwise(x) : f32[4, 8]"
        );
    }
    let bits = ["a i32[4, 8]", "b i32[8]"];
    assert_eq!(
        lines(&bits, &node("BitwiseAnd", "a b", "y", &[])),
        "y = elementwise(a, b) : i32[4, 8]"
    );
}
