//! Params as sliders and number boxes.

use fuseline::core::notation;
use fuseline::present::sliders::{SliderRow, slider_rows};

fn rows(text: &str) -> Vec<SliderRow> {
    slider_rows(&notation::parse(text).program, usize::MAX)
}

#[test]
fn each_param_is_a_row_and_a_name_stands_once() {
    let rows = rows("param S = 512 in 128..1024 step 128\nparam H = 7\nparam S = 9\n");
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.value, row.range.is_some()))
        .collect();
    assert_eq!(found, [("S", 512, true), ("H", 7, false)]);
}

#[test]
fn a_number_on_its_way_to_another_one_waits_and_a_finished_one_moves_into_the_range() {
    let row = &rows("param S = 512 in 128..1024 step 128\n")[0];
    for (text, typed, entered) in [
        ("256", Some(256), Some(256)),
        ("4", None, Some(128)),
        ("4096", None, Some(1024)),
        ("", None, None),
        ("1e3", None, None),
        ("99999999999999999999", None, None),
    ] {
        assert_eq!(row.typed(text), typed, "{text}");
        assert_eq!(row.entered(text), entered, "{text}");
    }
}

#[test]
fn without_a_range_any_number_holds() {
    let row = &rows("param H = 7\n")[0];
    assert_eq!(row.typed("-3"), Some(-3));
    assert_eq!(row.entered("4096"), Some(4096));
}
