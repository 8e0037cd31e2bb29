//! Params as sliders and number boxes.

use fuseline_core::notation;
use fuseline_view::present::sliders::{SliderRow, SliderTrack, slider_rows};

fn rows(text: &str) -> Vec<SliderRow> {
    slider_rows(text, &notation::parse(text).program, usize::MAX)
}

#[test]
fn each_param_is_a_row_and_a_name_stands_once() {
    let rows = rows("param S = 512 in 128..1024 step 128\nparam H = 7\nparam S = 9\n");
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.value, row.track().is_some()))
        .collect();
    assert_eq!(found, [("S", 512, true), ("H", 7, false)]);
}

#[test]
fn a_typed_number_is_a_value_or_refused_with_the_reason() {
    let row = &rows("param S = 512 in 128..65536 step 128\n")[0];
    for (text, value) in [
        ("256", 256),
        ("16k", 16_384),
        ("0.5K", 512),
        ("1e3", 1000),
        ("16,384", 16_384),
        (" 16 384 ", 16_384),
        ("65_536", 65_536),
    ] {
        assert_eq!(row.entered(text), Ok(value), "{text}");
    }
    for (text, reason) in [
        ("4", "S ranges from 128 to 65,536, and 4 is outside."),
        (
            "70000",
            "S ranges from 128 to 65,536, and 70,000 is outside.",
        ),
        (
            "99999999999999999999",
            "S ranges from 128 to 65,536, and 99,999,999,999,999,999,999 is outside.",
        ),
        ("1e99", "S ranges from 128 to 65,536, and 1e99 is outside."),
        ("1M", "S ranges from 128 to 65,536, and 1M is outside."),
        ("-512", "S ranges from 128 to 65,536, and -512 is outside."),
    ] {
        assert_eq!(row.entered(text).unwrap_err().to_string(), reason);
    }
    for text in [
        "1,5k", "0,5", "1 2", "1,0000", ",512", "abc", "1.5", "NaN", "inf", "k",
    ] {
        let reason = row.entered(text).unwrap_err().to_string();
        assert!(reason.contains("is not a size. Write"), "{text}: {reason}");
    }
    let empty = row.entered(" ").unwrap_err().to_string();
    assert!(
        empty.starts_with("The field was empty. Write a whole number"),
        "{empty}"
    );
    let endless = rows("param H = 7\n")[0].entered("99999999999999999999");
    assert_eq!(
        endless.unwrap_err().to_string(),
        "99,999,999,999,999,999,999 exceeds 2^63."
    );
}

/// The steps are those of the slider: a size between two of them may be typed, and the box says so.
#[test]
fn a_number_between_two_steps_may_be_typed_as_the_box_says() {
    let hint = |text: &str| rows(text).pop().unwrap().entry_hint();
    let row = &rows("param S = 512 in 128..16384 step 128\n")[0];
    assert_eq!(row.entered("2000"), Ok(2000));
    assert_eq!(
        row.entry_hint(),
        "any whole number from 128 to 16,384; the slider moves in steps of 128"
    );
    assert_eq!(
        hint("param S = 5 in 1..64\n"),
        "any whole number from 1 to 64"
    );
    assert_eq!(hint("param S = 5\n"), "any whole number of at least 1");
    assert_eq!(
        hint("param H = 64\nparam S = 4 in 1..64 dividing H\n"),
        "a number from 1 to 64 that divides H"
    );
}

#[test]
fn without_a_range_any_size_holds() {
    let row = &rows("param H = 7\n")[0];
    assert_eq!(row.track(), None);
    assert_eq!(row.entered("4096"), Ok(4096));
    assert_eq!(
        row.entered("-3").unwrap_err().to_string(),
        "H is a size, so it is at least 1."
    );
    assert_eq!([row.stepped(true), row.stepped(false)], [8, 6]);
    assert_eq!(rows("param H = 1\n")[0].stepped(false), 1);
}

#[test]
fn a_slider_with_steps_stands_at_its_value() {
    let row = &rows("param S = 512 in 128..1024 step 128\n")[0];
    let track = SliderTrack {
        min: 128,
        max: 1024,
        step: 128,
        at: 512,
    };
    assert_eq!(row.track(), Some(track));
    assert_eq!(row.value_at(640), 640);
    for (value, up, down) in [
        (512, 640, 384),
        (1000, 1024, 896),
        (1024, 1024, 896),
        (128, 256, 128),
    ] {
        let row = &rows(&format!("param S = {value} in 128..1024 step 128\n"))[0];
        assert_eq!(
            [row.stepped(true), row.stepped(false)],
            [up, down],
            "{value}"
        );
    }
    // The slider does not reach an end that is not on a step.
    assert_eq!(
        rows("param S = 896 in 128..1000 step 128\n")[0].stepped(true),
        896
    );
    assert_eq!(row.ends(), Some([128, 1024]));
}

#[test]
fn a_slider_of_more_than_two_decades_doubles_in_equal_lengths() {
    let row = |value: i64| {
        let text = format!("param S = {value} in 128..16384 step 128\n");
        rows(&text).remove(0)
    };
    let track = row(2048).track().unwrap();
    assert_eq!((track.min, track.step), (0, 1));
    let stops: Vec<i64> = (0..=track.max).map(|at| row(2048).value_at(at)).collect();
    assert_eq!(stops[..8], [128, 256, 384, 512, 640, 768, 896, 1024]);
    assert_eq!(stops[stops.len() - 5..], [8192, 10240, 12288, 14336, 16384]);
    for (index, stop) in stops.iter().enumerate() {
        assert_eq!(
            row(*stop).track().unwrap().at,
            i64::try_from(index).unwrap()
        );
        assert_eq!(row(2048).entered(&stop.to_string()), Ok(*stop));
    }
    // A value between two stops stays, and the slider stands at the nearest one. The number box
    // goes on in steps.
    let between = row(2176);
    assert_eq!(between.value_at(between.track().unwrap().at), 2048);
    assert_eq!(between.stepped(true), 2304);
    assert_eq!(row(i64::MAX).value_at(i64::MAX), 16384);
}

#[test]
fn a_slider_of_divisors_stops_at_nothing_else() {
    let both = rows("param H = 768 in 128..8192 step 128\nparam heads = 32 in 8..128 dividing H\n");
    let heads = &both[1];
    let values = [8, 12, 16, 24, 32, 48, 64, 96, 128];
    let track = heads.track().unwrap();
    assert_eq!(
        track,
        SliderTrack {
            min: 0,
            max: 8,
            step: 1,
            at: 4
        }
    );
    assert!(
        (track.min..=track.max)
            .map(|at| heads.value_at(at))
            .eq(values)
    );
    for (value, up, down) in [(32, 48, 24), (90, 96, 64), (8, 12, 8), (128, 128, 96)] {
        let text = format!("param H = 768\nparam heads = {value} in 8..128 dividing H\n");
        let heads = &rows(&text)[1];
        assert_eq!(
            [heads.stepped(true), heads.stepped(false)],
            [up, down],
            "{value}"
        );
    }
    assert_eq!(heads.ends(), Some([8, 128]));
    assert_eq!(heads.entered("96"), Ok(96));
    let refused = |text| heads.entered(text).unwrap_err().to_string();
    assert_eq!(
        refused("80"),
        "heads ranges from 8 to 128 and must divide H: 80 does not, 64 does."
    );
    assert_eq!(
        refused("256"),
        "heads ranges from 8 to 128 and must divide H: 256 does not, 128 does."
    );
}

#[test]
fn the_comment_behind_a_param_says_what_it_is() {
    let text = "param S = 512 # sequence length: rows\nparam H = 7\n# heads\nparam d = 8 in 1..9    #   size; more\nparam e = 1 #";
    let about: Vec<String> = rows(text).into_iter().map(|row| row.about).collect();
    assert_eq!(about, ["sequence length", "", "size", ""]);
}
