//! The memory timeline: its stack is as high as the live memory, and fusion takes bars out of it.

use crate::charts::check_golden;
use crate::charts_properties::{block, check_sound};
use crate::examples_watch::as_it_opens;
use crate::random_graph::{fusable_ops, ops};
use crate::repeats::{of_text, repeats};
use fuseline_core::analysis::memory::lifetimes;
use fuseline_core::examples::{EXAMPLES, START, example};
use fuseline_core::{
    Analysis, Execution, KernelId, Options, Policy, ReshapeCost, TensorId, analyze, default_device,
};
use fuseline_view::picture::charts::Charted;
use fuseline_view::picture::charts::scene::{Mark, Role, Scene, Shape};
use fuseline_view::picture::charts::timeline::{claim, scene_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use strum::VariantArray;

pub(crate) const WIDE: (f64, f64) = (900.0, 440.0);
pub(crate) const PHONE: (f64, f64) = (352.0, 240.0);
/// Coordinates are rounded to tenths, and what is low is a hairline.
pub(crate) const ROUNDING: f64 = 0.11;
pub(crate) const HAIRLINE: f64 = 0.7;

pub(crate) fn drawn(analysis: &Analysis, is_fused: bool, size: (f64, f64)) -> Scene {
    let charted = Charted {
        is_fused,
        ..Charted::fused(analysis)
    };
    scene_of(charted, size, None)
}

/// Left, top, right and bottom.
pub(crate) type Box = [f64; 4];

fn box_of(mark: &Mark) -> Option<Box> {
    match mark.shape {
        Shape::Rect {
            corner: (x, y),
            width,
            height,
        } => Some([x, y, x + width, y + height]),
        _ => None,
    }
}

pub(crate) fn boxes(scene: &Scene, is_meant: impl Fn(Role) -> bool) -> Vec<(&Mark, Box)> {
    let marks = scene.marks.iter().filter(|mark| is_meant(mark.role));
    marks
        .filter_map(|mark| Some((mark, box_of(mark)?)))
        .collect()
}

fn is_kernel(role: Role) -> bool {
    matches!(role, Role::KernelBox | Role::IterationsBox)
}

fn is_bar(role: Role) -> bool {
    let tensors = [
        Role::TensorBar,
        Role::InputBar,
        Role::WeightBar,
        Role::SmallBar,
    ];
    tensors.contains(&role)
}

/// The bars below the kernels.
pub(crate) fn in_dram(scene: &Scene) -> Vec<(&Mark, Box)> {
    let strip = boxes(scene, is_kernel).first().map_or(0.0, |(_, of)| of[3]);
    let mut bars = boxes(scene, is_bar);
    bars.retain(|(_, of)| of[1] > strip);
    bars
}

pub(crate) fn level(scene: &Scene, role: Role) -> Option<f64> {
    scene.marks.iter().find_map(|mark| match &mark.shape {
        Shape::Path { points, .. } if mark.role == role => Some(points[0].1),
        _ => None,
    })
}

/// Where no bytes are: the lower end of the axis.
pub(crate) fn floor(scene: &Scene) -> f64 {
    let ends = scene.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Path { points, .. } if mark.role == Role::Axis => points.last(),
        _ => None,
    });
    ends.map(|end| end.1).fold(0.0, f64::max)
}

pub(crate) fn words(scene: &Scene, role: Role) -> Vec<&str> {
    let marks = scene.marks.iter().filter(|mark| mark.role == role);
    let words = marks.filter_map(|mark| match &mark.shape {
        Shape::Text { text, .. } => Some(&**text),
        _ => None,
    });
    words.collect()
}

pub(crate) fn live_bytes(analysis: &Analysis, execution: &Execution) -> Vec<u64> {
    let lifetimes = lifetimes(analysis, execution);
    let live = |kernel: KernelId| -> u64 {
        let live = lifetimes.iter().filter(|lifetime| lifetime.holds(kernel));
        live.map(|lifetime| lifetime.bytes).sum()
    };
    execution.kernels.ids().map(live).collect()
}

/// Under each kernel bars lie on each other without a gap, and together they are as high as the
/// bytes that are live.
fn check_stack(analysis: &Analysis, is_fused: bool) -> Result<(), TestCaseError> {
    let execution = if is_fused {
        &analysis.fused
    } else {
        &analysis.unfused
    };
    let scene = drawn(analysis, is_fused, (1400.0, 900.0));
    check_sound(&scene);
    let mut live = live_bytes(analysis, execution);
    prop_assert_eq!(
        live.iter().copied().max().unwrap_or(0),
        execution.peak_memory.bytes
    );
    // A free view has no box.
    let mut kernels = execution.kernels.iter();
    live.retain(|_| kernels.next().is_some_and(|kernel| !kernel.is_free));
    let (kernels, bars, floor) = (boxes(&scene, is_kernel), in_dram(&scene), floor(&scene));
    prop_assert_eq!(kernels.len(), live.len());
    let Some(peak) = level(&scene, Role::PeakLine) else {
        prop_assert!(live.is_empty());
        return Ok(());
    };
    let px_per_byte = (floor - peak) / execution.peak_memory.bytes.max(1) as f64;
    for (&(_, kernel), live) in kernels.iter().zip(live) {
        let middle = f64::midpoint(kernel[0], kernel[2]);
        let above = bars
            .iter()
            .filter(|(_, bar)| bar[0] < middle && middle < bar[2]);
        let mut stacked: Vec<&(&Mark, Box)> = above.collect();
        stacked.sort_by(|a, b| b.1[3].total_cmp(&a.1[3]));
        let mut top = floor;
        for (mark, bar) in stacked {
            prop_assert!(
                (bar[3] - top).abs() < HAIRLINE + ROUNDING,
                "{:?} at {}",
                mark,
                top
            );
            top = bar[1];
        }
        let height = live as f64 * px_per_byte;
        prop_assert!(
            (floor - top - height).abs() < HAIRLINE + ROUNDING,
            "{} for {}",
            floor - top,
            live
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_stack_of_a_random_program_is_as_high_as_its_live_memory((ops, externals) in ops(24)) {
        for reshape in ReshapeCost::VARIANTS {
            let mut options = Options::of_policy(Policy::Rules);
            options.conventions.reshape = *reshape;
            let analysis = analyze(&ops, &externals, &options).unwrap();
            for is_fused in [true, false] {
                check_stack(&analysis, is_fused)?;
            }
        }
    }

    #[test]
    fn the_stack_of_a_fused_program_is_as_high_as_its_live_memory(
        (mut ops, externals) in fusable_ops(1..=14), outputs in any::<u16>()
    ) {
        for (place, op) in ops.iter_mut().enumerate() {
            op.is_output = outputs >> place & 1 == 1;
        }
        for &policy in Policy::VARIANTS {
            let analysis = analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
            check_stack(&analysis, true)?;
        }
    }
}

#[test]
fn timelines_are_as_drawn_before() {
    let transformer = block(2048, 4096, 32, default_device());
    for (name, is_fused) in [("fused", true), ("unfused", false)] {
        check_golden(
            &format!("timeline_transformer_{name}_wide"),
            &drawn(&transformer, is_fused, WIDE),
        );
        check_golden(
            &format!("timeline_transformer_{name}_phone"),
            &drawn(&transformer, is_fused, PHONE),
        );
    }
    let layers = of_text(example("gpt2_layers").unwrap().text, Policy::Rules);
    let repeats = repeats(&layers);
    let charted = Charted {
        repeats: &repeats,
        ..Charted::fused(&layers)
    };
    check_golden("timeline_gpt2_layers", &scene_of(charted, WIDE, None));
}

/// The tensors that have bars in DRAM.
fn tensors(scene: &Scene) -> BTreeSet<TensorId> {
    let bars = in_dram(scene);
    bars.iter().filter_map(|(mark, _)| mark.tensor).collect()
}

#[test]
fn fusion_takes_the_tensors_that_stay_on_chip_out_of_memory_and_into_their_kernels() {
    let analysis = block(2048, 4096, 32, default_device());
    let [fused, unfused] = [true, false].map(|is_fused| drawn(&analysis, is_fused, WIDE));
    let on_chip: BTreeSet<TensorId> = (analysis.tensors.iter_enumerated())
        .filter_map(|(tensor, of)| of.is_on_chip.then_some(tensor))
        .collect();
    assert_eq!(on_chip.len(), 5);
    let gone: BTreeSet<TensorId> = &tensors(&unfused) - &tensors(&fused);
    assert_eq!(gone, on_chip);
    assert!(tensors(&fused).is_subset(&tensors(&unfused)));
    // The same mark is in DRAM first and on the strip then, so that it travels.
    let keys_of = |scene: &Scene| -> BTreeSet<(TensorId, String)> {
        let keys = scene.keys().into_iter();
        let keys = keys.filter(|key| key.role == Role::TensorBar && key.place == 0);
        let name = |key| format!("{key:?}");
        keys.filter_map(|key| Some((key.tensor?, name(key))))
            .collect()
    };
    let is_gone = |key: &&(TensorId, String)| on_chip.contains(&key.0);
    let (before, after) = (keys_of(&unfused), keys_of(&fused));
    let kept = before.intersection(&after).filter(is_gone).count();
    assert_eq!(kept, on_chip.len());
    let strip = boxes(&fused, is_kernel);
    for (mark, bar) in boxes(&fused, is_bar) {
        if mark.tensor.is_some_and(|tensor| on_chip.contains(&tensor)) {
            let own = strip
                .iter()
                .find(|(kernel, _)| kernel.kernel == mark.kernel);
            let [left, top, right, bottom] = own.unwrap().1;
            assert!(left <= bar[0] && bar[2] <= right && top <= bar[1] && bar[3] <= bottom);
        }
    }
}

/// A view has no bytes of its own.
#[test]
fn a_kernel_keeps_a_tensor_once_whatever_indexes_it() {
    let example = example("transformer_block").unwrap();
    let analysis = as_it_opens(example, example.text);
    let scene = drawn(&analysis, true, WIDE);
    let kept = |mark: &Mark| {
        let label = mark.label.as_ref()?;
        let (_, bytes) = (label.facts.iter()).find(|(what, _)| *what == "keeps on chip")?;
        Some((mark.kernel?.number(), bytes.clone()))
    };
    // Scores, scaled and probs of 268 MB each and mixed of 16.8 MB, of which `by_token` is a view.
    let all: Vec<_> = scene.marks.iter().filter_map(kept).collect();
    assert_eq!(all[0], (4, "822 MB".to_owned()));
    check_counts(&analysis, [23, 17, 6]);
}

/// Tensors in DRAM unfused and fused, and those on chip, as the description tells them.
fn check_counts(analysis: &Analysis, [unfused, fused, on_chip]: [usize; 3]) {
    let described = |is_fused| drawn(analysis, is_fused, WIDE).description;
    let ends = [
        format!(" {unfused} tensors in DRAM."),
        format!(" {fused} tensors in DRAM, {on_chip} on chip."),
    ];
    for (described, end) in [described(false), described(true)].iter().zip(ends) {
        assert!(described.ends_with(&end), "{described}");
    }
}

/// The bias of 2 kB has no bar.
#[test]
fn the_description_counts_tensors_that_are_too_small_for_a_bar() {
    let opening = example(START).unwrap();
    let fused = of_text(opening.text, Policy::Rules);
    check_counts(&fused, [7, 4, 3]);
}

#[test]
fn both_views_have_one_scale_and_what_is_always_there_stays_where_it_is() {
    for example in EXAMPLES {
        let analysis = of_text(example.text, Policy::Rules);
        let [fused, unfused] = [true, false].map(|is_fused| drawn(&analysis, is_fused, WIDE));
        assert_eq!(fused.axes, unfused.axes, "{}", example.id);
        let held = |scene: &Scene| -> Vec<String> {
            let is_held = |role| matches!(role, Role::WeightBar | Role::InputBar | Role::AxisText);
            let marks = scene.marks.iter().filter(|mark| is_held(mark.role));
            let place = |mark: &Mark| format!("{:?} {:?} {:?}", mark.role, mark.tensor, mark.shape);
            marks.map(place).collect()
        };
        assert_eq!(held(&fused), held(&unfused), "{}", example.id);
    }
}

/// The width of the shaft of each arrow, by what it does.
fn widths(scene: &Scene) -> Vec<(String, f64)> {
    let arrows = scene.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Path { points, .. } if matches!(mark.role, Role::LoadArrow | Role::StoreArrow) => {
            let name = mark.label.as_ref()?.name.clone();
            Some((name, points.last()?.0 - points.first()?.0))
        }
        _ => None,
    });
    arrows.collect()
}

#[test]
fn arrows_are_as_wide_as_their_bytes_in_both_views() {
    let text =
        "input x : f16[1024, 1024]\nh = softmax(x)\nc = cast(h, dtype=f32)\ny = softmax(c)\n";
    let analysis = of_text(text, Policy::None);
    let [fused, unfused] = [true, false].map(|is_fused| widths(&drawn(&analysis, is_fused, WIDE)));
    assert_eq!(
        fused.iter().map(|(_, width)| width).collect::<Vec<_>>(),
        unfused.iter().map(|(_, width)| width).collect::<Vec<_>>(),
    );
    let names: Vec<&str> = unfused.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "h reads x, 2.10 MB",
            "h writes h, 2.10 MB",
            "c reads h, 2.10 MB",
            "c writes c, 4.19 MB",
            "y reads c, 4.19 MB",
            "y writes y, 4.19 MB",
        ]
    );
    for (place, times) in [(0, 1.0), (3, 2.0), (5, 2.0)] {
        let share = unfused[place].1 / unfused[1].1;
        assert!((share - times).abs() < 0.03, "{share}");
    }
}

#[test]
fn the_title_tells_the_peak_and_the_memory_of_the_device() {
    let analysis = block(2048, 4096, 32, default_device());
    assert_eq!(claim(&analysis, true), "Peak 1.01 GB, 1.2 % of GPU memory");
    assert_eq!(claim(&analysis, false), claim(&analysis, true));
    let scene = drawn(&analysis, true, WIDE);
    assert_eq!(scene.title, claim(&analysis, true));
    assert_eq!(words(&scene, Role::PeakText), ["peak 1.01 GB"]);
    let empty = of_text("", Policy::Rules);
    assert_eq!(claim(&empty, true), "Memory timeline");
    assert!(words(&drawn(&empty, true, WIDE), Role::PeakText).is_empty());
    let large = "input x : f16[1048576, 1048576]\ny = relu(x)\n";
    let scene = drawn(&of_text(large, Policy::Rules), true, WIDE);
    assert_eq!(
        words(&scene, Role::PeakText),
        ["peak 4.40 TB, does not fit"]
    );
}

/// Two digits have as much room as one.
#[test]
fn each_kernel_of_the_block_has_its_number_on_a_phone() {
    let block = example("transformer_block").unwrap();
    let of_rules = of_text(example("transformer").unwrap().text, Policy::Rules);
    for analysis in [as_it_opens(block, block.text), of_rules] {
        assert!(analysis.fused.kernels.len() >= 9);
        let scene = drawn(&analysis, true, PHONE);
        let is_number = |role| matches!(role, Role::BoxText | Role::NarrowBoxText);
        let words = scene.marks.iter().filter(|mark| is_number(mark.role));
        let numbered: Vec<usize> = words
            .filter_map(|mark| Some(mark.kernel?.number()))
            .collect();
        let all: Vec<usize> = (1..=analysis.fused.kernels.len()).collect();
        assert_eq!(numbered, all);
    }
}

/// Inputs are held, but a chain needs its intermediate tensors only between two kernels: they lie
/// in two places in turn.
#[test]
fn a_tensor_takes_the_place_of_one_that_was_freed() {
    let text = "input x : f16[1024]\na = relu(x)\nb = exp(a)\nc = tanh(b)\nd = sqrt(c)\n";
    let scene = drawn(&of_text(text, Policy::None), false, WIDE);
    let bars = in_dram(&scene);
    assert_eq!(bars.len(), 5, "no bar has a step");
    for (freed, new) in [(1, 3), (2, 4)] {
        assert!((bars[freed].1[1] - bars[new].1[1]).abs() < ROUNDING);
    }
}

/// Kernels first, then tensors; arrows are reached by the pointer only.
#[test]
fn the_keyboard_reaches_each_kernel_and_each_tensor_once() {
    let analysis = block(2048, 4096, 32, default_device());
    let scene = drawn(&analysis, true, WIDE);
    let roles: Vec<Role> = (scene.focus_order.iter())
        .map(|&mark| scene.marks[mark].role)
        .collect();
    let kernels = analysis.fused.kernels.len();
    assert!(roles[..kernels].iter().all(|&role| is_kernel(role)));
    assert!(roles[kernels..].iter().all(|&role| is_bar(role)));
    let tensors: Vec<Option<TensorId>> = (scene.focus_order[kernels..].iter())
        .map(|&mark| scene.marks[mark].tensor)
        .collect();
    let once: BTreeSet<_> = tensors.iter().flatten().collect();
    assert_eq!(once.len(), tensors.iter().flatten().count());
}

/// While a slider is held the axis stands still until the memory leaves it.
#[test]
fn a_held_axis_stands_still() {
    let of_rows = |rows: u64| block(rows, 4096, 32, default_device());
    let scene = |analysis: &Analysis, axes| scene_of(Charted::fused(analysis), WIDE, axes);
    let before = scene(&of_rows(2048), None);
    let less = scene(&of_rows(1024), before.axes);
    assert_eq!(less.axes, before.axes);
    assert_ne!(scene(&of_rows(1024), None).axes, before.axes);
    let more = scene(&of_rows(4096), before.axes);
    assert_ne!(more.axes, before.axes);
    assert_eq!(scene(&of_rows(4224), more.axes).axes, more.axes);
    // A stack below a tenth of the axis would be a line: the axis follows, and stands still again.
    let least = scene(&of_rows(128), more.axes);
    assert_eq!(least.axes, scene(&of_rows(128), None).axes);
    assert_eq!(scene(&of_rows(64), least.axes).axes, least.axes);
}

/// What an op of unknown shape may read makes all figures lower bounds, here too.
#[test]
fn a_partial_program_says_so() {
    let text = "input x : f16[64]\nplaces = opaque(x, name=NonZero)\ny = exp(x)\n";
    let analysis = of_text(text, Policy::Rules);
    assert!(analysis.is_partial());
    assert!(
        claim(&analysis, true).starts_with("Peak memory ≥"),
        "{}",
        claim(&analysis, true)
    );
}
