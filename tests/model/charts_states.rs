//! Charts of programs whose rounds are folded, and of programs before they are fused.

use crate::charts_cases::bar_end;
use crate::charts_properties::bar;
use crate::repeats::{BLOCK, HEAD, TAIL, of_text, program, repeats};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::{KernelId, Options, Policy, analyze_program, device, notation};
use fuseline_view::picture::charts::scene::{Role, Scene, Shape};
use fuseline_view::picture::charts::{Charted, by_kernel_scene_of, roofline, traffic_bars};
use fuseline_view::present::headline::{Headline, headline};
use std::collections::{BTreeMap, BTreeSet};

/// The bars of a folded program have a mark for each kernel that the graph shows, and together as
/// many bytes as before.
#[test]
fn equal_kernels_of_a_folded_program_share_a_segment_and_a_row() {
    let text = program(HEAD, BLOCK, TAIL, 48);
    for policy in [Policy::Rules, Policy::None] {
        let analysis = of_text(&text, policy);
        let repeats = repeats(&analysis);
        let shown: BTreeSet<KernelId> = (analysis.partition.kernels.ids())
            .filter(|&kernel| repeats.shows_kernel(kernel))
            .collect();
        assert!(shown.len() * 8 < analysis.partition.kernels.len());
        let size = (900.0, 200.0);
        let all = traffic_bars::scene(&analysis, size, None);
        let charted = Charted {
            repeats: &repeats,
            ..Charted::fused(&analysis)
        };
        let bars = traffic_bars::scene_of(charted, size, None);
        assert_eq!(kernels_of(&bars), shown);
        assert!((bar_end(&bars) - bar_end(&all)).abs() < 0.25);
        let rows = by_kernel_scene_of(charted, 900.0, None);
        assert_eq!(kernels_of(&rows), shown);
        let repeated = repeats.runs()[0].first;
        let named = |scene: &Scene| {
            let mut labels = scene.marks.iter().filter_map(|mark| {
                let label = mark.label.as_ref()?;
                (mark.kernel == Some(repeated)).then(|| label.heading.clone())
            });
            labels.next().unwrap()
        };
        assert!(
            named(&bars).contains("and 47 equal kernels"),
            "{}",
            named(&bars)
        );
        assert!(
            named(&rows).ends_with("and 47 equal kernels"),
            "{}",
            named(&rows)
        );
    }
}

/// The kernels that have marks with figures.
fn kernels_of(scene: &Scene) -> BTreeSet<KernelId> {
    let marks = scene.marks.iter().filter(|mark| mark.label.is_some());
    marks.filter_map(|mark| mark.kernel).collect()
}

/// Before fusion each point is at the place from which its arrow comes, and the lower bar is the
/// upper one; the frame stays.
#[test]
fn what_is_not_fused_stands_where_fusion_takes_it_from() {
    for example in EXAMPLES {
        let program = notation::parse(example.text).program;
        let analysis = analyze_program(&program, &Options::default())
            .analysis
            .unwrap();
        if analysis.partition.kernels.len() > 64 {
            continue; // Kernels share points.
        }
        let charted = Charted {
            is_fused: false,
            ..Charted::fused(&analysis)
        };
        let (size, id) = ((900.0, 560.0), example.id);
        let [fused, unfused] = [Charted::fused(&analysis), charted]
            .map(|charted| roofline::scene_of(charted, size, None));
        assert_eq!(fused.axes, unfused.axes, "{id}");
        let of_role = |scene: &Scene, role: Role| -> BTreeMap<KernelId, String> {
            let marks = scene.marks.iter().filter(|mark| mark.role == role);
            marks
                .filter_map(|mark| match &mark.shape {
                    Shape::Circle { center, .. } => Some((mark.kernel?, format!("{center:?}"))),
                    _ => None,
                })
                .collect()
        };
        assert!(of_role(&unfused, Role::HollowPoint).is_empty(), "{id}");
        let mut before = of_role(&fused, Role::SolidPoint);
        before.extend(of_role(&fused, Role::HollowPoint));
        assert_eq!(of_role(&unfused, Role::SolidPoint), before, "{id}");
        let bars = traffic_bars::scene_of(charted, (900.0, 200.0), None);
        assert!(
            !bars.marks.iter().any(|mark| mark.role == Role::Saved),
            "{id}"
        );
        assert_eq!(bar(&bars, true), bar(&bars, false), "{id}");
    }
}

/// The headline tells the effect of fusion in both views, and so do the bars.
#[test]
fn the_bars_of_the_unfused_view_do_not_give_away_what_fusion_saves() {
    let text = "input x : f16[1024, 1024]\na = relu(x)\nb = exp(a)\n";
    let analysis = of_text(text, Policy::Rules);
    let words = |is_fused: bool| -> Vec<String> {
        let charted = Charted {
            is_fused,
            ..Charted::fused(&analysis)
        };
        let scene = traffic_bars::scene_of(charted, (240.0, 200.0), None);
        let words = scene.marks.into_iter().filter_map(|mark| match mark.shape {
            Shape::Text { text, .. } => {
                matches!(mark.role, Role::BarText | Role::SavedText).then_some(text)
            }
            _ => None,
        });
        words.collect()
    };
    let Headline {
        unfused_bytes: unfused,
        fused_bytes: fused,
        change,
        ..
    } = headline(&analysis);
    let above = format!("unfused {unfused}");
    assert_eq!(words(false), [above.clone(), format!("now {unfused}")]);
    assert_eq!(words(true), [above, format!("fused {fused}"), change]);
}

/// An axis of nothing, or of a few bytes, has no parts of bytes.
#[test]
fn the_axis_of_an_empty_program_has_whole_bytes_each_once() {
    let analysis = of_text("", Policy::Rules);
    let scene = traffic_bars::scene(&analysis, (900.0, 200.0), None);
    let ticks = scene.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Text { text, .. } if mark.role == Role::AxisText && !text.is_empty() => {
            Some(text.as_str())
        }
        _ => None,
    });
    assert_eq!(ticks.collect::<Vec<_>>(), ["0", "1 B"]);
}

/// On a device whose times are predicted, each point has its predicted rate below it: FLOPs over
/// the predicted time.
#[test]
fn a_predicted_rate_stands_below_its_point() {
    let text =
        "input x : f16[4096, 4096]\nweight w : f16[4096, 4096]\na = matmul(x, w)\nb = relu(a)\n";
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(Policy::Rules)
    };
    let analysis = analyze_program(&notation::parse(text).program, &options);
    let analysis = analysis.analysis.unwrap();
    for is_fused in [true, false] {
        let charted = Charted {
            is_fused,
            ..Charted::fused(&analysis)
        };
        let scene = roofline::scene_of(charted, (600.0, 400.0), None);
        let centre = |role: Role| {
            let mark = scene.marks.iter().find(|mark| mark.role == role).unwrap();
            match &mark.shape {
                Shape::Circle { center, .. } => *center,
                Shape::Path { points, .. } => (
                    f64::midpoint(points[0].0, points[1].0),
                    f64::midpoint(points[0].1, points[1].1),
                ),
                other => panic!("{other:?}"),
            }
        };
        let (point, rate) = (centre(Role::SolidPoint), centre(Role::PredictedRate));
        assert!((point.0 - rate.0).abs() < 0.2, "{point:?} {rate:?}");
        assert!(rate.1 > point.1, "{point:?} {rate:?}");
    }
    let elsewhere = of_text(text, Policy::Rules);
    let scene = roofline::scene(&elsewhere, (600.0, 400.0), None);
    assert!(
        scene
            .marks
            .iter()
            .all(|mark| mark.role != Role::PredictedRate)
    );
}
