//! Each text at a logarithmic axis is the value of its place, whatever the axis spans.

use crate::charts_properties::block;
use fuseline_core::analysis::measured::Variant;
use fuseline_core::analysis::sweep::{Measure, Sweep, SweepFigures, SweepPoint};
use fuseline_core::{DEVICES, Objective, Policy, default_device, device};
use fuseline_view::picture::charts::scene::{Anchor, Role, Scene, Shape};
use fuseline_view::picture::charts::sweep::{SweepView, scene};
use fuseline_view::picture::charts::{attention_growth, measured_scatter, roofline};
use fuseline_view::present::attention::AttentionSizes;
use fuseline_view::present::measured::{Comparison, MeasuredQuantity};
use proptest::prelude::*;

const SIZES: [(f64, f64); 3] = [(340.0, 260.0), (760.0, 380.0), (1600.0, 900.0)];
/// How far a text may stand from the place of its value, in the units of the picture, which are
/// rounded to a tenth.
const NEAR: f64 = 0.25;

/// The number that a text says: `0.1`, `300 µs`, `20 k`, `5 TB`, `2e-5`, `1.50×`.
fn value_of(text: &str) -> f64 {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text[digits.len()..].trim();
    let number: f64 = digits.replace(',', "").parse().unwrap();
    let prefix = unit
        .strip_suffix("FLOP/s")
        .or(unit.strip_suffix('B'))
        .or(unit.strip_suffix('s'));
    let scale = match prefix.unwrap_or(unit) {
        "" | "×" => 0,
        "p" => -12,
        "n" => -9,
        "µ" => -6,
        "m" => -3,
        large => 3 * (1 + i32::try_from("kMGTPEZYRQ".find(large).unwrap()).unwrap()),
    };
    number * 10_f64.powi(scale)
}

/// The texts of an axis with their places along it.
fn texts(scene: &Scene, anchor: Anchor) -> Vec<(String, f64)> {
    let marks = scene
        .marks
        .iter()
        .filter(|mark| mark.role == Role::AxisText);
    let texts = marks.filter_map(|mark| match &mark.shape {
        Shape::Text {
            at,
            text,
            anchor: this,
            ..
        } if *this == anchor && !text.is_empty() => Some((
            text.clone(),
            if anchor == Anchor::End { at.1 } else { at.0 },
        )),
        _ => None,
    });
    texts.collect()
}

/// The outermost texts say the scale of a logarithmic axis; all others have to stand on it.
fn assert_true(scene: &Scene, anchor: Anchor) {
    let texts = texts(scene, anchor);
    let places: Vec<(f64, f64)> = texts
        .iter()
        .map(|(text, at)| (value_of(text).log10(), *at))
        .collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        panic!("{}: an axis without texts", scene.title);
    };
    let by_decade = (last.1 - first.1) / (last.0 - first.0);
    assert!(by_decade.abs() > 10.0, "{}: {texts:?}", scene.title);
    for (value, at) in &places {
        let expected = first.1 + by_decade * (value - first.0);
        assert!((at - expected).abs() < NEAR, "{}: {texts:?}", scene.title);
    }
    assert!(
        texts
            .windows(2)
            .all(|pair| (pair[1].1 - pair[0].1).abs() >= 10.0),
        "{}: {texts:?}",
        scene.title
    );
}

fn swept(figures: [SweepFigures; 2]) -> Sweep {
    let point = |(value, figures)| SweepPoint {
        value,
        figures: vec![figures],
    };
    Sweep {
        param: "S".to_owned(),
        policies: vec![Policy::None],
        points: [1, 64].into_iter().zip(figures).map(point).collect(),
        crossings: Vec::new(),
        objective: Objective::Bytes,
        is_predicted: false,
        is_complete: true,
    }
}

proptest! {
    #[test]
    fn of_a_sweep((start, span) in (0.0_f64..16.0, 0.0_f64..6.0)) {
        let least = 10_f64.powf(start);
        let of = |factor: f64| SweepFigures {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^23")]
            bytes: (least * factor).min(1e19) as u64,
            time_s: least * factor * 1e-10,
            lower_bound_s: least * factor * 1e-10,
            kernels: 1,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^30")]
            flops: Some((least * factor * 1e6) as u128),
            is_partial: false,
            is_time_least: false,
            outside: None,
        };
        let sweep = swept([of(1.0), of(10_f64.powf(span))]);
        for measure in [Measure::Bytes, Measure::Time] {
            for size in SIZES {
                let view = SweepView { sweep: &sweep, measure, is_relative: false, present: 1, device: default_device() };
                let drawn = scene(view, size);
                assert_true(&drawn, Anchor::End);
                // The values of the param, at powers of two.
                assert_true(&drawn, Anchor::Middle);
            }
        }
    }

    #[test]
    fn of_an_intensity_over_a_param((start, span) in (-3.0_f64..6.0, 0.0_f64..4.0)) {
        const BYTES: u64 = 1_000_000_000;
        let of = |exponent: f64| SweepFigures {
            bytes: BYTES,
            time_s: 1.0,
            lower_bound_s: 1.0,
            kernels: 1,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10^20")]
            flops: Some((10_f64.powf(exponent) * BYTES as f64) as u128),
            is_partial: false,
            is_time_least: false,
            outside: None,
        };
        let sweep = swept([of(start), of(start + span)]);
        for size in SIZES {
            let view = SweepView { sweep: &sweep, measure: Measure::Intensity, is_relative: false, present: 1, device: default_device() };
            assert_true(&scene(view, size), Anchor::End);
        }
    }

    #[test]
    fn of_measured_beside_predicted((start, span) in (-7.0_f64..1.0, 0.0_f64..4.0)) {
        let comparison = |value: f64| Comparison {
            name: "pattern".to_owned(),
            variant: Variant::Inductor,
            predicted: value,
            measured: value,
        };
        let both = [start, start + span].map(|exponent| comparison(10_f64.powf(exponent)));
        for size in SIZES {
            let drawn = measured_scatter::scene(&both, MeasuredQuantity::Time, size);
            assert_true(&drawn, Anchor::End);
            assert_true(&drawn, Anchor::Middle);
        }
    }
}

#[test]
fn of_a_roofline_on_each_device() {
    for device in DEVICES {
        let analysis = block(1024, 1024, 16, device);
        for size in SIZES {
            let drawn = roofline::scene(&analysis, size, None);
            assert_true(&drawn, Anchor::End);
            assert_true(&drawn, Anchor::Middle);
        }
    }
}

#[test]
fn of_attention_over_its_length() {
    for size in SIZES {
        let drawn =
            attention_growth::scene(&AttentionSizes::default(), device("h200").unwrap(), size);
        assert_true(&drawn, Anchor::End);
        assert_true(&drawn, Anchor::Middle);
    }
}
