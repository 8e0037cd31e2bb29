//! Images that ONNX resizes in ways that `interpolate` has or lacks.

use crate::onnx::statements;
use crate::onnx_files::{attribute_text, floats, ints, node};

/// Mode, coordinates, rounding, the sizes of an image before and after, and the mode of
/// `interpolate` with equal values; empty for none. onnxruntime 1.32 and PyTorch 2.11 computed both
/// on random images.
#[rustfmt::skip]
const RESIZED: &[(&str, &str, &str, [i64; 2], &str)] = &[
    ("nearest", "half_pixel", "round_prefer_floor", [4, 8], "nearest"),
    ("nearest", "half_pixel", "round_prefer_floor", [6, 3], "nearest"),
    ("nearest", "half_pixel", "round_prefer_floor", [6, 2], ""),
    ("nearest", "half_pixel", "round_prefer_floor", [4, 6], "nearest"),
    ("nearest", "half_pixel", "round_prefer_ceil", [4, 8], "nearest"),
    ("nearest", "half_pixel", "round_prefer_ceil", [6, 3], ""),
    ("nearest", "half_pixel", "round_prefer_ceil", [6, 2], ""),
    ("nearest", "half_pixel", "round_prefer_ceil", [4, 6], ""),
    ("nearest", "half_pixel", "floor", [4, 8], ""),
    ("nearest", "half_pixel", "floor", [6, 3], "nearest"),
    ("nearest", "half_pixel", "floor", [6, 2], ""),
    ("nearest", "half_pixel", "floor", [4, 6], ""),
    ("nearest", "half_pixel", "ceil", [4, 8], ""),
    ("nearest", "half_pixel", "ceil", [6, 3], ""),
    ("nearest", "half_pixel", "ceil", [6, 2], ""),
    ("nearest", "half_pixel", "ceil", [4, 6], ""),
    ("nearest", "pytorch_half_pixel", "round_prefer_floor", [4, 8], "nearest"),
    ("nearest", "pytorch_half_pixel", "round_prefer_floor", [6, 3], "nearest"),
    ("nearest", "pytorch_half_pixel", "round_prefer_floor", [6, 2], ""),
    ("nearest", "pytorch_half_pixel", "round_prefer_floor", [4, 6], "nearest"),
    ("nearest", "pytorch_half_pixel", "round_prefer_ceil", [4, 8], "nearest"),
    ("nearest", "pytorch_half_pixel", "round_prefer_ceil", [6, 3], ""),
    ("nearest", "pytorch_half_pixel", "round_prefer_ceil", [6, 2], ""),
    ("nearest", "pytorch_half_pixel", "round_prefer_ceil", [4, 6], ""),
    ("nearest", "pytorch_half_pixel", "floor", [4, 8], ""),
    ("nearest", "pytorch_half_pixel", "floor", [6, 3], "nearest"),
    ("nearest", "pytorch_half_pixel", "floor", [6, 2], ""),
    ("nearest", "pytorch_half_pixel", "floor", [4, 6], ""),
    ("nearest", "pytorch_half_pixel", "ceil", [4, 8], ""),
    ("nearest", "pytorch_half_pixel", "ceil", [6, 3], ""),
    ("nearest", "pytorch_half_pixel", "ceil", [6, 2], ""),
    ("nearest", "pytorch_half_pixel", "ceil", [4, 6], ""),
    ("nearest", "align_corners", "round_prefer_floor", [4, 8], "nearest"),
    ("nearest", "align_corners", "round_prefer_floor", [6, 3], ""),
    ("nearest", "align_corners", "round_prefer_floor", [6, 2], ""),
    ("nearest", "align_corners", "round_prefer_floor", [4, 6], ""),
    ("nearest", "align_corners", "round_prefer_ceil", [4, 8], "nearest"),
    ("nearest", "align_corners", "round_prefer_ceil", [6, 3], ""),
    ("nearest", "align_corners", "round_prefer_ceil", [6, 2], ""),
    ("nearest", "align_corners", "round_prefer_ceil", [4, 6], ""),
    ("nearest", "align_corners", "floor", [4, 8], ""),
    ("nearest", "align_corners", "floor", [6, 3], ""),
    ("nearest", "align_corners", "floor", [6, 2], ""),
    ("nearest", "align_corners", "floor", [4, 6], ""),
    ("nearest", "align_corners", "ceil", [4, 8], ""),
    ("nearest", "align_corners", "ceil", [6, 3], ""),
    ("nearest", "align_corners", "ceil", [6, 2], ""),
    ("nearest", "align_corners", "ceil", [4, 6], ""),
    ("nearest", "asymmetric", "round_prefer_floor", [4, 8], "nearest"),
    ("nearest", "asymmetric", "round_prefer_floor", [6, 3], "nearest"),
    ("nearest", "asymmetric", "round_prefer_floor", [6, 2], "nearest"),
    ("nearest", "asymmetric", "round_prefer_floor", [4, 6], ""),
    ("nearest", "asymmetric", "round_prefer_ceil", [4, 8], ""),
    ("nearest", "asymmetric", "round_prefer_ceil", [6, 3], "nearest"),
    ("nearest", "asymmetric", "round_prefer_ceil", [6, 2], "nearest"),
    ("nearest", "asymmetric", "round_prefer_ceil", [4, 6], ""),
    ("nearest", "asymmetric", "floor", [4, 8], "nearest"),
    ("nearest", "asymmetric", "floor", [6, 3], "nearest"),
    ("nearest", "asymmetric", "floor", [6, 2], "nearest"),
    ("nearest", "asymmetric", "floor", [4, 6], "nearest"),
    ("nearest", "asymmetric", "ceil", [4, 8], ""),
    ("nearest", "asymmetric", "ceil", [6, 3], "nearest"),
    ("nearest", "asymmetric", "ceil", [6, 2], "nearest"),
    ("nearest", "asymmetric", "ceil", [4, 6], ""),
    ("nearest", "half_pixel_symmetric", "round_prefer_floor", [4, 8], "nearest"),
    ("nearest", "half_pixel_symmetric", "round_prefer_floor", [6, 3], "nearest"),
    ("nearest", "half_pixel_symmetric", "round_prefer_floor", [6, 2], ""),
    ("nearest", "half_pixel_symmetric", "round_prefer_floor", [4, 6], "nearest"),
    ("nearest", "half_pixel_symmetric", "round_prefer_ceil", [4, 8], "nearest"),
    ("nearest", "half_pixel_symmetric", "round_prefer_ceil", [6, 3], ""),
    ("nearest", "half_pixel_symmetric", "round_prefer_ceil", [6, 2], ""),
    ("nearest", "half_pixel_symmetric", "round_prefer_ceil", [4, 6], ""),
    ("nearest", "half_pixel_symmetric", "floor", [4, 8], ""),
    ("nearest", "half_pixel_symmetric", "floor", [6, 3], "nearest"),
    // 0.5 / 0.3333 - 0.5 is 1: the runtime rounds it to 0.99999 and takes element 0.
    ("nearest", "half_pixel_symmetric", "floor", [6, 2], ""),
    ("nearest", "half_pixel_symmetric", "floor", [4, 6], ""),
    ("nearest", "half_pixel_symmetric", "ceil", [4, 8], ""),
    ("nearest", "half_pixel_symmetric", "ceil", [6, 3], ""),
    ("nearest", "half_pixel_symmetric", "ceil", [6, 2], ""),
    ("nearest", "half_pixel_symmetric", "ceil", [4, 6], ""),
    ("linear", "half_pixel", "", [4, 8], "bilinear"),
    ("linear", "half_pixel", "", [6, 3], "bilinear"),
    ("linear", "half_pixel", "", [6, 2], "bilinear"),
    ("linear", "half_pixel", "", [4, 6], "bilinear"),
    ("linear", "pytorch_half_pixel", "", [4, 8], "bilinear"),
    ("linear", "pytorch_half_pixel", "", [6, 3], "bilinear"),
    ("linear", "pytorch_half_pixel", "", [6, 2], "bilinear"),
    ("linear", "pytorch_half_pixel", "", [4, 6], "bilinear"),
    ("linear", "align_corners", "", [4, 8], "bilinear, align_corners=true"),
    ("linear", "align_corners", "", [6, 3], "bilinear, align_corners=true"),
    ("linear", "align_corners", "", [6, 2], "bilinear, align_corners=true"),
    ("linear", "align_corners", "", [4, 6], "bilinear, align_corners=true"),
    ("linear", "asymmetric", "", [4, 8], ""),
    ("linear", "asymmetric", "", [6, 3], ""),
    ("linear", "asymmetric", "", [6, 2], ""),
    ("linear", "asymmetric", "", [4, 6], ""),
    ("linear", "half_pixel_symmetric", "", [4, 8], "bilinear"),
    ("linear", "half_pixel_symmetric", "", [6, 3], "bilinear"),
    ("linear", "half_pixel_symmetric", "", [6, 2], "bilinear"),
    ("linear", "half_pixel_symmetric", "", [4, 6], "bilinear"),
];

#[test]
fn an_image_is_interpolated_only_where_the_values_are_equal() {
    for &(mode, coordinates, rounding, [from, to], expected) in RESIZED {
        let attributes = [
            ("mode", mode),
            ("coordinate_transformation_mode", coordinates),
            ("nearest_mode", rounding),
        ];
        let stated = attributes.iter().filter(|(_, value)| !value.is_empty());
        let stated: Vec<Vec<u8>> = stated
            .map(|(name, value)| attribute_text(name, value))
            .collect();
        let image = format!("x f32[1, 1, {from}, {from}]");
        let text = statements(
            &[image.as_str()],
            &[ints("s", &[1, 1, to, to])],
            &[node("Resize", "x - - s", "y", &stated)],
            "y",
        );
        let flops = if mode == "nearest" { 0 } else { 9 * to * to };
        let own = if expected.is_empty() {
            let units = if flops > 0 { ", units=vector" } else { "" };
            format!("y = opaque(x, name=Resize, flops={flops}{units}) : f32[1, 1, {to}, {to}]")
        } else {
            format!("y = interpolate(x, size=[{to}, {to}], mode={expected})")
        };
        assert_eq!(text, own, "{mode} {coordinates} {rounding}");
    }
}

/// The factor and the sizes before and after of a `Resize` of opset 10, which has no attributes of
/// positions, and whether onnxruntime 1.32 takes the elements of PyTorch's `nearest`.
const OF_OPSET_10: &[(f32, [i64; 2], bool)] = &[
    (2.0, [4, 8], true),
    (1.5, [4, 6], true),
    (0.5, [6, 3], true),
    (0.7, [10, 7], false),
    (0.6, [5, 3], false),
];

#[test]
fn the_first_version_of_resize_rounds_up_in_a_smaller_image() {
    for &(factor, [from, to], is_nearest) in OF_OPSET_10 {
        let image = format!("x f32[1, 1, {from}, {from}]");
        let text = statements(
            &[image.as_str()],
            &[floats("s", &[1.0, 1.0, factor, factor])],
            &[node("Resize", "x s", "y", &[])],
            "y",
        );
        let own = if is_nearest {
            format!("y = interpolate(x, size=[{to}, {to}], mode=nearest)")
        } else {
            format!("y = opaque(x, name=Resize, flops=0) : f32[1, 1, {to}, {to}]")
        };
        assert_eq!(text, own, "{factor}");
    }
}

/// Bilinear interpolation in the notation is one of floats; the nearest element has any type.
#[test]
fn an_image_of_integers_is_interpolated_as_floats() {
    for (mode, expected) in [
        (
            "linear",
            "y_floats = cast(x, dtype=f32)\n\
             y_interpolate = interpolate(y_floats, size=[8, 8], mode=bilinear)\n\
             y = cast(y_interpolate, dtype=i8)",
        ),
        ("nearest", "y = interpolate(x, size=[8, 8], mode=nearest)"),
    ] {
        let attributes = [
            attribute_text("mode", mode),
            attribute_text("coordinate_transformation_mode", "asymmetric"),
            attribute_text("nearest_mode", "floor"),
        ];
        let attributes = if mode == "linear" {
            &attributes[..1]
        } else {
            &attributes
        };
        assert_eq!(
            statements(
                &["x i8[1, 3, 4, 4]"],
                &[ints("s", &[1, 3, 8, 8])],
                &[node("Resize", "x - - s", "y", attributes)],
                "y"
            ),
            expected
        );
    }
}
