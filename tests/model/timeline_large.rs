//! The memory timeline of programs that are too large to be shown kernel by kernel.

use crate::charts_properties::check_sound;
use crate::repeats::{BLOCK, HEAD, TAIL, of_text, program, repeats};
use crate::timeline::{
    HAIRLINE, PHONE, ROUNDING, WIDE, boxes, drawn, floor, in_dram, level, live_bytes, words,
};
use fuseline_core::{KernelId, Policy};
use fuseline_view::picture::charts::Charted;
use fuseline_view::picture::charts::scene::Role;
use fuseline_view::picture::charts::timeline::scene_of;
use std::collections::BTreeSet;
use std::fmt::Write as _;

#[test]
fn a_folded_program_has_one_of_its_equal_iterations_and_all_of_its_memory() {
    let text = program(HEAD, BLOCK, TAIL, 48);
    for (policy, is_fused) in [(Policy::Rules, true), (Policy::Rules, false)] {
        let analysis = of_text(&text, policy);
        let repeats = repeats(&analysis);
        let charted = Charted {
            repeats: &repeats,
            is_fused,
            ..Charted::fused(&analysis)
        };
        let scene = scene_of(charted, WIDE, None);
        check_sound(&scene);
        let in_boxes = words(&scene, Role::NarrowBoxText);
        let later = in_boxes.iter().filter(|words| **words == "+47");
        assert_eq!(later.count(), 1);
        let kernels: BTreeSet<KernelId> =
            scene.marks.iter().filter_map(|mark| mark.kernel).collect();
        assert!(kernels.iter().all(|&kernel| repeats.shows_kernel(kernel)));
        // All weights lie there, 48 in one bar.
        let weights = boxes(&scene, |role| role == Role::WeightBar);
        let names = weights
            .iter()
            .map(|(mark, _)| &mark.label.as_ref().unwrap().heading);
        assert!(
            names
                .into_iter()
                .any(|name| name.ends_with("and 47 equal ones"))
        );
        let execution = if is_fused {
            &analysis.fused
        } else {
            &analysis.unfused
        };
        let live = live_bytes(&analysis, execution);
        let (floor, peak) = (floor(&scene), level(&scene, Role::PeakLine).unwrap());
        let px_per_byte = (floor - peak) / live.iter().copied().max().unwrap() as f64;
        let later = boxes(&scene, |role| role == Role::IterationsBox)[0].1;
        let middle = f64::midpoint(later[0], later[2]);
        let over = in_dram(&scene);
        let over = over
            .iter()
            .filter(|(_, bar)| bar[0] < middle && middle < bar[2]);
        let top = over.map(|(_, bar)| bar[1]).fold(floor, f64::min);
        let is_later = |kernel: &KernelId| !repeats.shows_kernel(*kernel);
        let most = if is_fused {
            let later = analysis.fused.kernels.ids().filter(is_later);
            later.map(|kernel| live[kernel.index()]).max().unwrap()
        } else {
            let ops = analysis.graph.ops.ids().filter(|&op| !repeats.shows_op(op));
            ops.map(|op| live[op.index()]).max().unwrap()
        };
        assert!((floor - top - most as f64 * px_per_byte).abs() < HAIRLINE + ROUNDING);
    }
}

/// However many ops there are, marks are few, and the peak is in sight.
#[test]
fn a_long_program_has_few_marks() {
    let mut text = "input x0 : f16[1024]\n".to_owned();
    for op in 1..=10_200 {
        let function = ["relu", "exp", "softmax"][op % 3];
        writeln!(text, "x{op} = {function}(x{})", op - 1).unwrap();
    }
    for last in ["", "output x1\noutput x700\noutput x9000\n"] {
        let analysis = of_text(&format!("{text}{last}"), Policy::Rules);
        for is_fused in [true, false] {
            for size in [WIDE, PHONE] {
                let scene = drawn(&analysis, is_fused, size);
                check_sound(&scene);
                assert!(scene.marks.len() < 1_200, "{}", scene.marks.len());
                assert!(!words(&scene, Role::PeakText).is_empty());
            }
        }
    }
}

/// Of 1,500 results of one size the first 50 have bars of their own, and the rest is one bar with a
/// name.
#[test]
fn tensors_that_are_too_small_are_summed() {
    let mut text = "input x : f16[1024]\n".to_owned();
    for op in 0..1_500 {
        writeln!(text, "y{op} = relu(x)").unwrap();
    }
    let analysis = of_text(&text, Policy::None);
    let scene = drawn(&analysis, false, WIDE);
    let small = boxes(&scene, |role| role == Role::SmallBar);
    let names: Vec<&str> = (small.iter())
        .map(|(mark, _)| &*mark.label.as_ref().unwrap().heading)
        .collect();
    assert!(names.contains(&"1,450 small tensors"), "{names:?}");
    let reached = scene.focus_order.iter().map(|&mark| scene.marks[mark].role);
    assert_eq!(reached.filter(|role| *role == Role::SmallBar).count(), 1);
}
