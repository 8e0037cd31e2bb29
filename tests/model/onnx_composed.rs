//! Operators of ONNX that no function of the notation is, each by itself, as the lines that they
//! become.

use crate::onnx::statements;
use crate::onnx_files::{attribute_int, attribute_ints, attribute_text, ints, node};

/// Positions hold an index for each of the first dimensions, and a scatter copies its first input.
#[test]
fn a_scatter_at_positions_is_a_write_of_elements() {
    let inputs = ["x f32[64, 32, 16]", "at i64[100, 2]", "new f32[100, 16]"];
    let scatter = |attributes: &[Vec<u8>]| {
        let own = node("ScatterND", "x at new", "y", attributes);
        statements(&inputs, &[], &[own], "y")
    };
    assert_eq!(
        scatter(&[]),
        "y_at_0 = part(at) : i64[100]\n\
         y_at_1 = part(at) : i64[100]\n\
         y = index_put(x, y_at_0, y_at_1, new)"
    );
    assert_eq!(
        scatter(&[attribute_text("reduction", "mul")]),
        "y = opaque(x, at, new, name=ScatterND, flops=1600, units=vector) : f32[64, 32, 16]"
    );
    let rows = ["x f32[64, 16]", "at i64[5, 20, 1]", "new f32[5, 20, 16]"];
    let add = [attribute_text("reduction", "add")];
    assert_eq!(
        statements(&rows, &[], &[node("ScatterND", "x at new", "y", &add)], "y"),
        "y_at = part(at) : i64[100]\n\
         y_rows = part(new) : f32[100, 16]\n\
         y = index_add(x, y_at, y_rows, axis=0)"
    );
}

/// A transposed convolution multiplies each input by all weights of its channel.
#[test]
fn convolutions_without_a_function_are_products() {
    let transposed = node(
        "ConvTranspose",
        "x w b",
        "y",
        &[
            attribute_ints("strides", &[2, 2]),
            attribute_ints("pads", &[1; 4]),
        ],
    );
    assert_eq!(
        statements(
            &["x f32[B, 16, 32, 32]", "w f32[16, 8, 4, 4]", "b f32[8]"],
            &[],
            &[transposed],
            "y"
        ),
        "y_conv = convolution(x, w, k=64) : f32[B, 8, 64, 64]\n\
         y_bias = reshape(b, shape=[8, 1, 1])\n\
         y = add(y_conv, y_bias)"
    );
}

#[test]
fn bounds_that_a_run_gives_are_a_maximum_and_a_minimum() {
    assert_eq!(
        statements(
            &["x f32[4, 8]", "low f32[]", "high f32[]"],
            &[],
            &[node("Clip", "x low high", "y", &[])],
            "y"
        ),
        "y_low = maximum(x, low)\ny = minimum(y_low, high)"
    );
}

#[test]
fn a_slice_that_runs_backwards_moves_elements() {
    let whole = [
        ints("start", &[-1]),
        ints("end", &[i64::MIN]),
        ints("axis", &[1]),
        ints("step", &[-1]),
    ];
    let flip = node("Slice", "x start end axis step", "y", &[]);
    assert_eq!(
        statements(&["x f32[B, 8]"], &whole, std::slice::from_ref(&flip), "y"),
        "y = rearrange(x) : f32[B, 8]"
    );
    let some = [
        ints("start", &[6]),
        ints("end", &[0]),
        ints("axis", &[1]),
        ints("step", &[-2]),
    ];
    assert_eq!(
        statements(&["x f32[B, 8]"], &some, &[flip], "y"),
        "y = rearrange(x) : f32[B, 3]"
    );
}

/// Rows of several dimensions are seen as one, which costs nothing.
#[test]
fn a_norm_over_several_dimensions_is_one_of_rows() {
    let norm = node(
        "LayerNormalization",
        "x g b",
        "y",
        &[attribute_int("axis", 1)],
    );
    let inputs = ["x f32[B, 4, 8]", "g f32[4, 8]", "b f32[4, 8]"];
    assert_eq!(
        statements(&inputs, &[], &[norm], "y"),
        "y_rows = part(x) : f32[B, 32]\n\
         y_scale = part(g) : f32[32]\n\
         y_bias = part(b) : f32[32]\n\
         y_normed = layer_norm(y_rows, y_scale, y_bias, eps=1e-5)\n\
         y = part(y_normed) : f32[B, 4, 8]"
    );
}

#[test]
fn a_mask_of_fewer_keys_is_padded() {
    let inputs = [
        "q f32[2, 3, 4, 8]",
        "k f32[2, 3, 6, 8]",
        "v f32[2, 3, 6, 8]",
        "m f32[2, 3, 4, 4]",
    ];
    let own = node("Attention", "q k v m", "y", &[]);
    assert_eq!(
        statements(&inputs, &[], &[own], "y"),
        "y_mask = pad(m, pad=[0, 2])\ny = sdpa(q, k, v, y_mask)"
    );
}

#[test]
fn a_diagonal_that_a_run_gives_is_compared() {
    assert_eq!(
        statements(
            &["x f32[4, 8]", "k i64[]"],
            &[],
            &[node("Trilu", "x k", "y", &[])],
            "y"
        ),
        "y = elementwise(x, k) : f32[4, 8]"
    );
}
