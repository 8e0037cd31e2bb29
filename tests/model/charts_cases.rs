//! Charts of programs that are empty, huge, long or named with care, and of a slider that moves.

use crate::charts_properties::{
    all_scenes, analysis, block, check_all, check_bars_add_up, check_sound,
};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::model::device::Figure;
use fuseline_core::model::functions::Function;
use fuseline_core::{
    Analysis, DEVICES, Op, OpType, Options, Policy, TensorDecl, analyze_program, default_device,
    notation,
};
use fuseline_view::picture::charts::scene::{
    Axes, FONT_PX, Mark, MarkKey, Reach, Role, Scene, Shape, held_room,
};
use fuseline_view::picture::charts::{roofline, traffic_bars};
use std::collections::{BTreeSet, HashSet};

#[test]
fn an_empty_program_has_empty_axes() {
    let empty = analysis(&[], &[], default_device(), Policy::Rules);
    check_all(&empty);
    let scene = roofline::scene(&empty, (900.0, 600.0), None);
    assert!(scene.focus_order.is_empty());
    assert!(scene.marks.iter().any(|mark| mark.role == Role::MemoryRoof));
}

#[test]
fn huge_and_tiny_figures_stay_on_the_frame() {
    let huge = [Op::new(
        "m",
        OpType::Matmul,
        &["a", "b"],
        "y",
        &[1 << 20, 1 << 20],
        1,
    )
    .with_k(1 << 62)];
    let tiny = [
        Op::new("e", OpType::Elementwise, &["x"], "y", &[1], 8).with_function(Function::Relu),
        Op::new("f", OpType::Elementwise, &["y", "big"], "z", &[1], 8).with_function(Function::Add),
    ];
    let big = [TensorDecl::new("big", &[1 << 58], 8)];
    let mut odd = default_device().clone();
    for (bandwidth, rate) in [
        (1e-3, 1e30),
        (f64::INFINITY, f64::NAN),
        (1e30, 1.0),
        (0.0, -1.0),
    ] {
        let figure = |value| Figure {
            value,
            is_confirmed: true,
        };
        odd.memory_bytes_per_s = figure(bandwidth);
        odd.vector_flops_per_s = Some(figure(rate));
        odd.matrix_f16_flops_per_s = None;
        odd.matrix_f8_flops_per_s = Some(figure(rate));
        for device in [default_device(), &odd] {
            for scene in all_scenes(&analysis(&huge, &[], device, Policy::Rules)) {
                check_sound(&scene);
            }
            for scene in all_scenes(&analysis(&tiny, &big, device, Policy::Rules)) {
                check_sound(&scene);
            }
        }
    }
}

#[test]
fn a_long_program_has_a_few_hundred_marks() {
    let names: Vec<String> = (0..20_000).map(|op| format!("t{op}")).collect();
    let ops: Vec<Op> = (0..20_000)
        .map(|op| {
            let input = if op == 0 { "x" } else { &names[op - 1] };
            // Each reduction ends a kernel, so there are many; different sizes give different
            // points.
            let op_type = if op % 3 == 2 {
                OpType::Reduction
            } else {
                OpType::Elementwise
            };
            let shape = [64 + (op as u64 * 7919) % 4000];
            Op::new(&names[op], op_type, &[input], &names[op], &shape, 2)
        })
        .collect();
    let analysis = analysis(&ops, &[], default_device(), Policy::Rules);
    assert!(analysis.fused.kernels.len() > 5000);
    check_bars_add_up(&analysis);
    for scene in all_scenes(&analysis) {
        check_sound(&scene);
        assert!(
            scene.marks.len() < 700,
            "{}: {}",
            scene.title,
            scene.marks.len()
        );
    }
}

#[test]
fn long_and_hostile_names_are_cut_and_kept_as_text() {
    let name = format!("<img onerror=alert(1)>{}", "é".repeat(10_000));
    let ops = [Op::new(&name, OpType::Elementwise, &["x"], "y", &[64], 2)];
    let analysis = analysis(&ops, &[], default_device(), Policy::Rules);
    for scene in all_scenes(&analysis) {
        check_sound(&scene);
        assert!(scene.description.len() < 1000);
    }
    let scene = roofline::scene(&analysis, (900.0, 600.0), None);
    let label = scene.marks[scene.focus_order[0]].label.as_ref().unwrap();
    assert!(
        label.name.starts_with("kernel 1: <img onerror=alert(1)>"),
        "{}",
        label.name
    );
}

#[test]
fn every_op_and_every_kernel_has_its_point() {
    let analysis = block(2048, 4096, 32, default_device());
    let scene = roofline::scene(&analysis, (900.0, 600.0), None);
    let count = |role| scene.marks.iter().filter(|mark| mark.role == role).count();
    assert_eq!(count(Role::SolidPoint), 9);
    assert_eq!(count(Role::Number), 9);
    assert_eq!(count(Role::NumberPlate), 9);
    assert_eq!(count(Role::HollowPoint), 5);
    assert_eq!(
        count(Role::OpPoint),
        12,
        "all ops but both reshapes, which have no FLOPs"
    );
}

fn mark_is_level(mark: &Mark) -> bool {
    matches!(mark.shape, Shape::Text { turn_deg, .. } if turn_deg == 0.0)
}

#[test]
fn numbers_hide_neither_each_other_nor_names() {
    for s in (128..=16384).step_by(640) {
        for size in [(300.0, 260.0), (360.0, 300.0), (900.0, 600.0)] {
            let scene = roofline::scene(&block(s, 4096, 32, default_device()), size, None);
            let boxes: Vec<[f64; 4]> = scene
                .marks
                .iter()
                .filter_map(|mark| match &mark.shape {
                    Shape::Text {
                        at, anchor, text, ..
                    } if matches!(
                        mark.role,
                        Role::Number | Role::RoofText | Role::RidgeText | Role::RegionText
                    ) && mark_is_level(mark) =>
                    {
                        let width = text.len() as f64 * FONT_PX * 0.58;
                        let start = at.0
                            - match anchor.name() {
                                "start" => 0.0,
                                "end" => width,
                                _ => width / 2.0,
                            };
                        Some([start, at.1 - 8.5, start + width, at.1])
                    }
                    _ => None,
                })
                .collect();
            let numbers = scene
                .marks
                .iter()
                .filter(|m| m.role == Role::Number)
                .count();
            assert_eq!(numbers, 9, "S = {s}: each kernel has its number");
            for (index, a) in boxes.iter().enumerate() {
                for b in &boxes[index + 1..] {
                    let overlaps = a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
                    assert!(!overlaps, "S = {s}, {size:?}: {a:?} {b:?}");
                }
            }
        }
    }
}

/// The number of different sets of tick labels over all 128 steps of the sequence length.
fn frames_of_slider(draw: fn(&Analysis, (f64, f64), Option<Axes>) -> Scene) -> usize {
    let frames: BTreeSet<Vec<String>> = (128..=16384)
        .step_by(128)
        .map(|s| {
            let scene = draw(&block(s, 4096, 32, default_device()), (900.0, 600.0), None);
            let ticks = scene
                .marks
                .iter()
                .filter(|mark| mark.role == Role::AxisText);
            ticks.map(|mark| format!("{:?}", mark.shape)).collect()
        })
        .collect();
    frames.len()
}

#[test]
fn axes_seldom_change_while_a_slider_moves() {
    assert_eq!(frames_of_slider(roofline::scene), 1);
    let scales = frames_of_slider(traffic_bars::scene);
    assert!(scales <= 24, "{scales} scales from 0.3 to 80 GB");
}

/// The right end of the upper bar, in a chart 900 units wide.
pub(crate) fn bar_end(scene: &Scene) -> f64 {
    let ends = scene.marks.iter().filter_map(|mark| match mark.shape {
        Shape::Rect { corner, width, .. } if matches!(mark.role, Role::Read | Role::Write) => {
            Some(corner.0 + width)
        }
        _ => None,
    });
    ends.fold(0.0, f64::max)
}

/// While a slider is held, the axis has room to grow from the start, and follows in few steps: bars
/// are never too short to read.
#[test]
fn the_axis_of_a_held_slider_has_room_and_follows() {
    let upwards: Vec<u64> = (1..=128).map(|step| 128 * step).collect();
    let downwards = upwards.iter().rev().copied().collect();
    for path in [upwards, downwards] {
        let (mut room, mut scales) = (None, 0);
        for &s in &path {
            let block = block(s, 4096, 32, default_device());
            let bytes = block.unfused.traffic.total;
            let next = held_room(room, bytes);
            scales += usize::from(room != Some(next));
            room = Some(next);
            let scene = traffic_bars::scene(&block, (900.0, 200.0), Some(Axes::of_bytes(next)));
            assert_eq!(scene.axes, Some(Axes::of_bytes(next)), "S = {s}");
            assert!(
                (90.0..=880.0).contains(&bar_end(&scene)),
                "S = {s}: {}",
                bar_end(&scene)
            );
        }
        assert!((2..=6).contains(&scales), "{scales}");
        let first = block(path[0], 4096, 32, default_device())
            .unfused
            .traffic
            .total;
        assert!(held_room(None, first) > 2 * first);
    }
}

#[test]
fn a_held_axis_stands_still_and_bars_grow() {
    let draw = |s, held| {
        let block = block(s, 4096, 32, default_device());
        traffic_bars::scene(&block, (900.0, 200.0), held)
    };
    let large = draw(16384, None);
    let small = draw(2048, large.axes);
    assert_eq!(small.axes, large.axes);
    assert!(
        bar_end(&small) < bar_end(&large) / 20.0,
        "2.3 GB beside 71 GB"
    );
    // Upwards the axis grows when a bar would leave it, by so much that bars are seen to grow
    // between.
    let mut scene = draw(2048, None);
    let mut scales = 1;
    for s in (2048..=16384).step_by(128) {
        let next = draw(s, scene.axes);
        if next.axes == scene.axes {
            assert!(bar_end(&next) >= bar_end(&scene), "S = {s}");
        } else {
            scales += 1;
        }
        assert!(bar_end(&next) <= 900.0);
        scene = next;
    }
    assert!(scales <= 4, "{scales} scales from 2.3 to 71 GB");
    assert_ne!(
        draw(16384, None).axes,
        scene.axes,
        "after the release the axis fits again"
    );
}

/// A visitor who takes a slider sees why the bars become shorter.
#[test]
fn an_axis_with_room_for_more_says_so() {
    let [small, large] = [256, 16_384].map(|s| block(s, 4096, 32, default_device()));
    let is_said = |analysis: &Analysis, width: f64, held| {
        let scene = traffic_bars::scene(analysis, (width, 200.0), held);
        let said = |mark: &Mark| matches!(&mark.shape, Shape::Text { text, .. } if text.contains("room to grow"));
        scene.marks.iter().any(said)
    };
    let whole = Axes::of_bytes(large.unfused.traffic.total);
    assert!(is_said(&small, 900.0, Some(whole)));
    assert!(is_said(&small, 320.0, Some(whole)));
    assert!(!is_said(&large, 900.0, Some(whole)));
    assert!(!is_said(&small, 900.0, None));
}

#[test]
fn a_held_roofline_keeps_its_decades() {
    let large = block(2048, 4096, 32, default_device());
    // One op of very low intensity, which needs a decade more on the left.
    let shape = [1 << 20];
    let ops = [Op::new(
        "copy",
        OpType::Elementwise,
        &["a", "b", "c"],
        "y",
        &shape,
        8,
    )];
    let small = analysis(&ops, &[], default_device(), Policy::Rules);
    let size = (900.0, 560.0);
    let wide = roofline::scene(&small, size, None);
    assert_ne!(wide.axes, roofline::scene(&large, size, None).axes);
    let held = roofline::scene(&large, size, wide.axes);
    assert_eq!(held.axes, roofline::scene(&small, size, held.axes).axes);
}

/// So that the page changes attributes, and no elements, while a slider moves.
#[test]
fn marks_keep_their_keys_while_a_slider_moves() {
    let keys = |s| -> Vec<HashSet<MarkKey>> {
        let scenes = all_scenes(&block(s, 4096, 32, default_device()));
        let keys = scenes.iter().map(|scene| scene.keys().into_iter());
        keys.map(Iterator::collect).collect()
    };
    for (before, after) in keys(2048).iter().zip(keys(2176)) {
        let kept = before.intersection(&after).count();
        // Single numbers and ticks come and go with the place that they have.
        assert!(kept + 4 >= before.len().max(after.len()), "{kept}");
        let focusable = |keys: &HashSet<MarkKey>| -> BTreeSet<String> {
            let reached = keys
                .iter()
                .filter(|key| key.reach == Reach::PointerAndKeyboard);
            reached.map(|key| format!("{key:?}")).collect()
        };
        assert_eq!(focusable(before), focusable(&after));
    }
}

/// So that the points and bars of a kernel travel from one policy to another.
#[test]
fn a_kernel_keeps_its_marks_while_others_are_merged() {
    let [before, merged] = [Policy::None, Policy::Optimal].map(|policy| {
        let transformer = EXAMPLES.iter().find(|example| example.id == "transformer");
        let program = notation::parse(transformer.unwrap().text).program;
        let outcome = analyze_program(&program, &Options::of_policy(policy));
        outcome.analysis.unwrap()
    });
    assert_ne!(
        merged.partition.kernels.len(),
        before.partition.kernels.len()
    );
    let points = |analysis: &Analysis| -> HashSet<MarkKey> {
        let scene = roofline::scene(analysis, (900.0, 560.0), None);
        let is_point = |key: &MarkKey| key.role == Role::SolidPoint;
        scene.keys().into_iter().filter(is_point).collect()
    };
    let firsts = |points: &HashSet<MarkKey>| -> BTreeSet<_> {
        points
            .iter()
            .map(|key| key.kernel.unwrap().first_op)
            .collect()
    };
    let (before, merged) = (points(&before), points(&merged));
    let both = firsts(&before).intersection(&firsts(&merged)).count();
    assert!(both > 5);
    // One of them takes another colour, because the kernel before it now has its own.
    assert_eq!(before.intersection(&merged).count(), both - 1);
}

#[test]
fn recalled_figures_carry_a_question_mark() {
    let texts = |id: &str| -> String {
        let device = DEVICES.iter().find(|device| device.id == id).unwrap();
        let scene = roofline::scene(&block(512, 1024, 8, device), (900.0, 600.0), None);
        scene
            .marks
            .iter()
            .filter_map(|mark| match &mark.shape {
                Shape::Text { text, .. } if mark.role == Role::RoofText => Some(text.clone()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        texts("rtx-3090"),
        "f16 matrix units 71.0 TFLOP/s ?; vector units 35.6 TFLOP/s ?; memory 936 GB/s ?"
    );
    assert!(!texts("h100").contains('?'));
    assert_eq!(
        texts("tpu-v4"),
        "f16 matrix units 275 TFLOP/s; memory 1.23 TB/s"
    );
}

#[test]
fn kernels_without_a_point_are_named() {
    let ops = [
        Op::new("view", OpType::Reshape, &["x"], "y", &[64], 2),
        Op::new("mystery", OpType::Matmul, &["p", "q"], "z", &[8, 8], 2),
    ];
    let analysis = analysis(&ops, &[], default_device(), Policy::Rules);
    let scene = roofline::scene(&analysis, (900.0, 600.0), None);
    let expected = "No point for kernel 1: view (no FLOPs); kernel 2: mystery (unknown K).";
    assert!(
        scene.description.ends_with(expected),
        "{}",
        scene.description
    );
}
