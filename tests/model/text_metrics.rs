//! The estimated width of a text, and texts that are cut to a width.

use fuseline_core::model::op::shape_text;
use fuseline_view::picture::dag::metrics::{
    SMALL_FONT_PX, fit_name, fit_text, reserved_shape_width, text_width,
};

#[test]
fn long_text_is_cut_to_the_width() {
    let long = "a_very_long_name_".repeat(600);
    let short = fit_text(&long, 100.0, 11.0);
    assert!(short.ends_with('…'));
    assert!(text_width(&short, 11.0) <= 100.0);
    assert!(text_width(&short, 11.0) > 80.0);
    assert_eq!(fit_text("gelu", 100.0, 11.0), "gelu");
    assert_eq!(fit_text("", 0.0, 11.0), "");
    assert_eq!(fit_text("名前名前名前", 30.0, 11.0), "名…");
}

#[test]
fn a_long_name_keeps_its_end() {
    let names = ["q", "k"].map(|end| format!("{}proj_{end}", "layers_0_self_attn_".repeat(600)));
    let [query, key] = names.each_ref().map(|name| fit_name(name, 100.0, 11.0));
    assert_eq!(query, "layer…attn_proj_q");
    assert_eq!(key, "layer…attn_proj_k");
    assert!(text_width(&query, 11.0) <= 100.0);
    assert_eq!(fit_name("gelu", 100.0, 11.0), "gelu");
    assert_eq!(fit_name("gelu", 0.0, 11.0), "…");
    assert_eq!(fit_name("名前名前名前", 40.0, 11.0), "…名前");
}

#[test]
fn the_reserved_width_holds_large_shapes() {
    let text = shape_text(&[16384, 65536, 12288]);
    assert!(text_width(&text, SMALL_FONT_PX) <= reserved_shape_width(3));
}
