//! The chart of a sweep.
//!
//! `UPDATE_GOLDEN=1 cargo test --test model sweep_chart` rewrites the files; look at them before
//! committing.

use fuseline_core::analysis::sweep::{Measure, Sweep, sweep};
use fuseline_core::examples::example;
use fuseline_core::{Device, Options, Policy, default_device, notation};
use fuseline_view::picture::charts::scene::{Mark, Role, Scene, Shape};
use fuseline_view::picture::charts::sweep::{SweepView, scene};
use fuseline_view::picture::export::chart;
use std::path::Path;
use strum::VariantArray;

const WIDE: (f64, f64) = (760.0, 380.0);
const PHONE: (f64, f64) = (340.0, 260.0);

fn transformer() -> Sweep {
    let program = notation::parse(example("transformer").unwrap().text).program;
    sweep(&program, 0, &Options::default()).unwrap()
}

fn view<'a>(sweep: &'a Sweep, device: &'a Device) -> SweepView<'a> {
    SweepView {
        sweep,
        measure: Measure::Bytes,
        is_relative: false,
        present: 2048,
        device,
    }
}

fn check_golden(name: &str, scene: &Scene) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/golden");
    let path = folder.join(format!("sweep_{name}.svg"));
    let drawn = chart(scene, true).plain_svg();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(drawn, golden, "{} differs", path.display());
}

#[test]
fn charts_look_as_before() {
    let sweep = transformer();
    let bytes = view(&sweep, default_device());
    check_golden("bytes_wide", &scene(bytes, WIDE));
    let relative = SweepView {
        is_relative: true,
        ..bytes
    };
    check_golden("relative_wide", &scene(relative, WIDE));
    let time = SweepView {
        measure: Measure::Time,
        ..bytes
    };
    check_golden("time_phone", &scene(time, PHONE));
}

fn markers(scene: &Scene, policy: Policy) -> Vec<&Mark> {
    let marks = scene.marks.iter();
    marks
        .filter(|mark| mark.role == Role::Policy(policy))
        .collect()
}

#[test]
fn each_policy_has_a_curve_and_a_marker_at_each_value_that_sets_it() {
    let sweep = transformer();
    let values: Vec<Option<i64>> = sweep.points.iter().map(|p| Some(p.value)).collect();
    for &measure in Measure::VARIANTS {
        for is_relative in [false, true] {
            let view = SweepView {
                measure,
                is_relative,
                ..view(&sweep, default_device())
            };
            let scene = scene(view, WIDE);
            for &policy in &sweep.policies {
                let markers = markers(&scene, policy);
                let set: Vec<Option<i64>> = markers.iter().map(|mark| mark.param_value).collect();
                assert_eq!(set, values, "{measure:?}");
                let mut curves = scene.marks.iter();
                assert!(curves.any(|mark| mark.role == Role::PolicyCurve(policy)));
            }
            assert!(!scene.focus_order.is_empty());
        }
    }
}

#[test]
fn crossings_have_numbers_that_do_not_cover_each_other_and_set_their_values() {
    let sweep = transformer();
    for size in [WIDE, PHONE] {
        let scene = scene(view(&sweep, default_device()), size);
        let numbers: Vec<&Mark> = (scene.marks.iter())
            .filter(|mark| mark.role == Role::CrossingNumber)
            .collect();
        let values: Vec<Option<i64>> = numbers.iter().map(|mark| mark.param_value).collect();
        let expected: Vec<Option<i64>> = sweep.crossings.iter().map(|c| Some(c.value)).collect();
        assert_eq!(values, expected);
        let places: Vec<f64> = (numbers.iter())
            .map(|mark| match mark.shape {
                Shape::Text { at, .. } => at.0,
                _ => panic!("a number is a text"),
            })
            .collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 10.0));
    }
}

#[test]
fn the_present_value_has_a_line_where_it_is_on_the_axis() {
    let sweep = transformer();
    let lines = |present: i64| {
        let view = SweepView {
            present,
            ..view(&sweep, default_device())
        };
        let marks = scene(view, WIDE).marks;
        let line = marks.into_iter().find(|mark| mark.role == Role::Ridge);
        line.map(|mark| mark.shape)
    };
    assert!(lines(1).is_none());
    assert_ne!(lines(2048).unwrap(), lines(4096).unwrap());
}
