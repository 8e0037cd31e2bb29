//! Properties of the charts of every program on every device.

use crate::random_graph;
use fuseline_core::analysis::transformer::transformer_block;
use fuseline_core::{
    Analysis, DEVICES, Device, KernelId, Op, Options, Placement, Policy, TensorDecl, analyze,
};
use fuseline_view::picture::charts::by_kernel_scene;
use fuseline_view::picture::charts::scene::{Mark, MarkKey, Point, Role, Scene, Shape};
use fuseline_view::picture::charts::{roofline, timeline, traffic_bars};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

/// Phone, panel, projector, and a size too small for any layout.
const SIZES: [(f64, f64); 4] = [
    (320.0, 260.0),
    (480.0, 360.0),
    (1600.0, 900.0),
    (60.0, 40.0),
];

pub(crate) fn analysis(
    ops: &[Op],
    externals: &[TensorDecl],
    device: &Device,
    policy: Policy,
) -> Analysis {
    let options = Options {
        policy,
        device: device.clone(),
        ..Options::default()
    };
    analyze(ops, externals, &options).unwrap()
}

pub(crate) fn block(seq_len: u64, hidden_dim: u64, heads: u64, device: &Device) -> Analysis {
    let (ops, externals) = transformer_block(seq_len, hidden_dim, heads, 2).unwrap();
    analysis(&ops, &externals, device, Policy::Rules)
}

pub(crate) fn all_scenes(analysis: &Analysis) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for size in SIZES {
        scenes.push(roofline::scene(analysis, size, None));
        scenes.push(traffic_bars::scene(analysis, size, None));
        scenes.push(timeline::scene(analysis, size, None));
        scenes.push(by_kernel_scene(analysis, size.0, None));
    }
    scenes
}

fn points_of(mark: &Mark) -> Vec<Point> {
    match &mark.shape {
        Shape::Path { points, .. } => points.clone(),
        Shape::Curve { ends, .. } => ends.to_vec(),
        Shape::Circle { center, .. } => vec![*center],
        Shape::Rect {
            corner,
            width,
            height,
        } => vec![*corner, (corner.0 + width, corner.1 + height)],
        Shape::Text { at, .. } => vec![*at],
    }
}

/// Every mark is inside the frame; every focusable mark has a name and appears once.
pub(crate) fn check_sound(scene: &Scene) {
    let (width, height) = (scene.width, scene.height);
    for mark in &scene.marks {
        for (x, y) in points_of(mark) {
            assert!(
                (-0.1..=width + 0.1).contains(&x) && (-0.1..=height + 0.1).contains(&y),
                "{mark:?} leaves {width} x {height}"
            );
        }
        if let Shape::Rect { width, height, .. } = mark.shape {
            assert!(width >= 0.0 && height >= 0.0, "{mark:?}");
        }
        if let Some(label) = &mark.label {
            assert!(
                !label.name.is_empty() && label.name.chars().count() < 400,
                "{label:?}"
            );
            assert!(
                !label.name.contains("NaN") && !label.name.contains("inf"),
                "{label:?}"
            );
        }
    }
    let keys: HashSet<MarkKey> = scene.keys().into_iter().collect();
    assert_eq!(keys.len(), scene.marks.len(), "no two marks share a key");
    let once: BTreeSet<usize> = scene.focus_order.iter().copied().collect();
    assert_eq!(once.len(), scene.focus_order.len());
    assert!(once.iter().all(|&mark| scene.marks[mark].label.is_some()));
}

fn center_of(scene: &Scene, role: Role, kernel: KernelId) -> Option<Point> {
    scene.marks.iter().find_map(|mark| match mark.shape {
        Shape::Circle { center, .. } if mark.role == role && mark.kernel == Some(kernel) => {
            Some(center)
        }
        _ => None,
    })
}

/// The value of a tick label: `0.1`, `10 k`, `1 TFLOP/s`.
fn tick_value(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let power = match unit.strip_suffix("FLOP/s").unwrap_or(unit) {
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        other => panic!("{other} in {text}"),
    };
    number.parse::<f64>().unwrap() * 10_f64.powi(power)
}

/// Maps decimal logarithms to positions along one axis, from its first and last tick.
fn scale(scene: &Scene, is_x: bool) -> impl Fn(f64) -> f64 + use<> {
    let ticks: Vec<(f64, f64)> = scene
        .marks
        .windows(2)
        .filter(|pair| pair[0].role == Role::AxisText && pair[1].role == Role::Axis)
        .filter_map(|pair| match (&pair[0].shape, &pair[1].shape) {
            (Shape::Text { text, .. }, Shape::Path { points, .. }) => {
                let is_upright = (points[0].0 - points[1].0).abs() < 0.05;
                let place = if is_x { points[0].0 } else { points[0].1 };
                (is_upright == is_x).then(|| (tick_value(text).log10(), place))
            }
            _ => None,
        })
        .collect();
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let px_per_decade = (last.1 - first.1) / (last.0 - first.0);
    move |value| first.1 + (value.log10() - first.0) * px_per_decade
}

/// Intensity and rate of a kernel or an op.
fn place_of(placement: &Placement) -> Option<(f64, f64)> {
    placement.intensity.zip(placement.attainable_flops_per_s)
}

/// Those of the ops of a kernel one after the other.
fn unfused_place(analysis: &Analysis, kernel: KernelId) -> Option<(f64, f64)> {
    let launch_s = analysis.options.device.launch_s.value;
    let ops = analysis.fused.kernels[kernel].ops.iter();
    let alone = ops.map(|&op| analysis.unfused.of_lone_op(op));
    let seconds: f64 = (alone.clone().filter(|op| !op.is_free))
        .map(|op| op.placement.time_s - launch_s)
        .sum();
    let flops: u128 = alone.map(|op| op.work.flops()).sum();
    let intensity = analysis.comparisons[kernel].unfused_placement.intensity?;
    Some((intensity, flops as f64 / seconds))
}

/// Every point is at its intensity and rate, even if other marks overlap it: a kernel on the roof,
/// ops one after the other below it.
fn check_points_are_exact(analysis: &Analysis) {
    for size in [(300.0, 260.0), (900.0, 600.0)] {
        let scene = roofline::scene(analysis, size, None);
        let (x, y) = (scale(&scene, true), scale(&scene, false));
        for mark in &scene.marks {
            let Shape::Circle { center, .. } = mark.shape else {
                continue;
            };
            let Some(kernel) = mark.kernel else {
                continue;
            };
            let places: Vec<(f64, f64)> = match mark.role {
                Role::SolidPoint => place_of(&analysis.fused.kernels[kernel].placement)
                    .into_iter()
                    .collect(),
                Role::HollowPoint => {
                    let place = unfused_place(analysis, kernel).unwrap();
                    // At most as fast as if its ops overlapped. That may be above its roof, where
                    // ops in f32 stand beside one in f64.
                    let comparison = &analysis.comparisons[kernel];
                    let launch_s = analysis.options.device.launch_s.value;
                    let overlapped_s = comparison.unfused_placement.time_s - launch_s;
                    let flops = place.0 * comparison.unfused_bytes as f64;
                    assert!(place.1 <= flops / overlapped_s * 1.000_001);
                    vec![place]
                }
                Role::OpPoint => analysis.fused.kernels[kernel]
                    .ops
                    .iter()
                    .filter_map(|&op| place_of(&analysis.unfused.of_lone_op(op).placement))
                    .collect(),
                _ => continue,
            };
            let is_exact = places.iter().any(|&(intensity, rate)| {
                (center.0 - x(intensity)).abs() < 0.3 && (center.1 - y(rate)).abs() < 0.3
            });
            assert!(is_exact, "{size:?}: {mark:?} is not at {places:?}");
        }
    }
}

/// Fusion moves a kernel's point right, never left.
fn check_points_move_right(analysis: &Analysis) {
    let scene = roofline::scene(analysis, (900.0, 600.0), None);
    for (kernel, comparison) in analysis.comparisons.iter_enumerated() {
        let solid = center_of(&scene, Role::SolidPoint, kernel);
        let hollow = center_of(&scene, Role::HollowPoint, kernel);
        let fused = &analysis.fused.kernels[kernel];
        assert_eq!(solid.is_some(), fused.placement.intensity.is_some());
        let moves = fused.ops.len() > 1 && comparison.unfused_placement.intensity.is_some();
        assert_eq!(hollow.is_some(), moves);
        if let (Some(solid), Some(hollow)) = (solid, hollow) {
            assert!(
                solid.0 >= hollow.0,
                "kernel {kernel}: {hollow:?} -> {solid:?}"
            );
        }
    }
}

/// The ends of the segments of one bar, from left to right.
pub(crate) fn bar(scene: &Scene, is_upper: bool) -> Vec<(f64, f64)> {
    let rects: Vec<(Point, f64)> = scene
        .marks
        .iter()
        .filter(|mark| matches!(mark.role, Role::Read | Role::Write))
        .filter_map(|mark| match mark.shape {
            Shape::Rect { corner, width, .. } => Some((corner, width)),
            _ => None,
        })
        .collect();
    let top = rects
        .iter()
        .map(|(corner, _)| corner.1)
        .fold(f64::INFINITY, f64::min);
    rects
        .into_iter()
        .filter(|(corner, _)| (corner.1 - top < 1.0) == is_upper)
        .map(|(corner, width)| (corner.0, corner.0 + width))
        .collect()
}

/// Segments are adjacent, their lengths are proportional to their bytes, and the gap at the end of
/// the fused bar is the traffic that fusion saves.
pub(crate) fn check_bars_add_up(analysis: &Analysis) {
    let scene = traffic_bars::scene(analysis, (900.0, 200.0), None);
    let unfused = analysis.unfused.traffic.total;
    if unfused == 0 {
        return;
    }
    let upper = bar(&scene, true);
    let lower = bar(&scene, false);
    let origin = upper[0].0;
    let px_per_byte = (upper.last().unwrap().1 - origin) / unfused as f64;
    for segments in [&upper, &lower] {
        for pair in segments.windows(2) {
            assert!((pair[0].1 - pair[1].0).abs() < 0.11, "{pair:?}");
        }
    }
    let fused_end = origin + analysis.fused.traffic.total as f64 * px_per_byte;
    assert!((lower.last().unwrap().1 - fused_end).abs() < 0.25);
    let gap = scene.marks.iter().find(|mark| mark.role == Role::Saved);
    let saved = analysis.fused.traffic.saved_by_fusion;
    assert_eq!(gap.is_some(), saved > 0);
    if let Some(Shape::Rect { corner, width, .. }) = gap.map(|mark| &mark.shape) {
        assert!((corner.0 - fused_end).abs() < 0.25);
        assert!((width - saved as f64 * px_per_byte).abs() < 0.25);
    }
}

pub(crate) fn check_all(analysis: &Analysis) {
    for scene in all_scenes(analysis) {
        check_sound(&scene);
    }
    check_points_are_exact(analysis);
    check_points_move_right(analysis);
    check_bars_add_up(analysis);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn charts_of_random_programs((ops, externals) in random_graph::ops(40), device in 0..DEVICES.len()) {
        for policy in [Policy::None, Policy::Rules] {
            check_all(&analysis(&ops, &externals, &DEVICES[device], policy));
        }
    }

    #[test]
    fn charts_of_transformer_blocks(s in 1_u64..40_000, head in 1_u64..300, heads in 1_u64..64, device in 0..DEVICES.len()) {
        check_all(&block(s, head * heads, heads, &DEVICES[device]));
    }
}
