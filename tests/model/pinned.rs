//! The present figures against those of a pinned state.

use crate::derivations::comes_out;
use fuseline_core::examples::example;
use fuseline_core::notation::edit::set_param;
use fuseline_core::{Analysis, KernelId, Options, Policy, analyze_program, device, notation};
use fuseline_view::picture::charts::scene::{Mark, Role, Scene, Shape};
use fuseline_view::picture::charts::{Charted, roofline, traffic_bars};
use fuseline_view::present::derivation::Term;
use fuseline_view::present::figure::{explanation_of_change, explanation_of_pinned};
use fuseline_view::present::pinned::{
    KernelAgainst, gone_kernels, has_same_ops, headline_against, kernels_against, pinned_title,
};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::tables::Table;
use proptest::prelude::*;

/// The transformer block with this length.
fn transformer(length: i64, policy: Policy) -> Analysis {
    let text = example("transformer").unwrap().text;
    let text = set_param(text, &notation::parse(text).program, 0, length);
    let outcome = analyze_program(&notation::parse(&text).program, &Options::of_policy(policy));
    outcome.analysis.unwrap()
}

fn named(analysis: &Analysis, first_op: &str) -> KernelId {
    let mut kernels = analysis.partition.kernels.iter_enumerated();
    let is_named = |ops: &[fuseline_core::OpId]| analysis.graph.ops[ops[0]].name == first_op;
    kernels.find(|(_, ops)| is_named(ops)).unwrap().0
}

#[test]
fn a_state_against_itself_is_the_same() {
    let analysis = transformer(2048, Policy::Rules);
    let against = headline_against(&analysis, &analysis);
    for figure in [&against.bytes, &against.kernels, &against.time] {
        assert_eq!(figure.change, "unchanged");
        assert!(!figure.is_changed);
    }
    let kernels = kernels_against(&analysis, &analysis);
    assert!(
        kernels
            .iter()
            .all(|against| against.words() == Some("unchanged"))
    );
    assert_eq!(gone_kernels(&analysis, &analysis), None);
}

#[test]
fn another_policy_splits_and_merges_kernels() {
    let [rules, none] = [Policy::Rules, Policy::None].map(|policy| transformer(2048, policy));
    let against = headline_against(&none, &rules);
    assert_eq!(against.bytes.pinned, "2.30 GB");
    assert_eq!(against.bytes.change, "−14.6 %");
    assert_eq!(against.kernels.pinned, "14");
    assert_eq!(against.kernels.change, "−5");
    assert_eq!(headline_against(&rules, &none).kernels.change, "+5");
    let kernels = kernels_against(&none, &rules);
    assert_eq!(kernels[named(&rules, "qkv_proj")], KernelAgainst::New);
    assert_eq!(kernels[named(&rules, "softmax")].words(), Some("unchanged"));
    let gone = gone_kernels(&none, &rules).unwrap();
    assert!(
        gone.starts_with("Only in the pinned state: qkv_proj ("),
        "{gone}"
    );
    assert!(!gone.contains("softmax"), "{gone}");
}

#[test]
fn another_size_changes_bytes_and_time_of_the_same_kernels() {
    let [short, long] = [2048, 4096].map(|length| transformer(length, Policy::Rules));
    let kernels = kernels_against(&short, &long);
    let kernel = named(&long, "softmax");
    let KernelAgainst::Known {
        first_op,
        bytes: Some(bytes),
        time: Some(time),
    } = &kernels[kernel]
    else {
        panic!("{:?}", kernels[kernel]);
    };
    assert_eq!(kernels[kernel].words(), None);
    assert_eq!(bytes, "+300.0 %");
    assert!(time.starts_with('+'), "{time}");

    // What is told about a change are the figures of both states.
    let now = Subject::Kernel(long.fused.kernels[kernel].ops[0]);
    let states = [(Subject::Kernel(*first_op), &short), (now, &long)];
    for (quantity, change) in [(Quantity::Bytes, bytes), (Quantity::Time, time)] {
        let states = states.map(|(of, analysis)| (Figure::fused(of, quantity), analysis));
        let told = explanation_of_change(states, change.clone()).unwrap();
        assert_eq!(told.value, *change);
        let term = told.term.unwrap();
        assert_eq!(term.text(), *change);
        comes_out(&term).unwrap();
    }
    let bytes = states.map(|(of, analysis)| (Figure::fused(of, Quantity::Bytes), analysis));
    let term = explanation_of_change(bytes, String::new()).unwrap().term;
    let line = |term: &Term| term.derivation.as_ref().unwrap().line().unwrap();
    let term = term.unwrap();
    assert_eq!(line(&term), "−1.61 GB saved / 537 MB pinned");
    assert_eq!(line(&term.terms()[0]), "537 MB pinned − 2.15 GB now");
}

#[test]
fn the_pinned_line_explains_its_figures() {
    let [rules, none] = [Policy::Rules, Policy::None].map(|policy| transformer(2048, policy));
    let against = headline_against(&none, &rules);
    for (quantity, shown) in [
        (Quantity::Bytes, &against.bytes),
        (Quantity::Launches, &against.kernels),
        (Quantity::Time, &against.time),
    ] {
        let figure = Figure::fused(Subject::Program, quantity);
        let pinned = explanation_of_pinned(figure, &none).unwrap();
        assert_eq!(pinned.value, shown.pinned);
        assert!(
            pinned.subject.starts_with("the pinned state"),
            "{}",
            pinned.subject
        );
        let states = [(figure, &none), (figure, &rules)];
        let told = explanation_of_change(states, shown.change.clone()).unwrap();
        comes_out(&told.term.unwrap()).unwrap();
        assert!(!told.sources.is_empty());
    }
}

#[test]
fn a_predicted_time_and_a_bound_are_compared_by_their_bounds() {
    let text = example("layernorm_gelu").unwrap().text;
    let program = notation::parse(text).program;
    let on = |id: &str| {
        let options = Options {
            device: device(id).unwrap().clone(),
            ..Options::default()
        };
        analyze_program(&program, &options).analysis.unwrap()
    };
    let [h200, a100] = [on("h200"), on("a100-80")];
    let against = headline_against(&h200, &a100);
    assert_eq!(against.bytes.change, "unchanged");
    // 4.8 TB/s against 2.039, beside the launches.
    let more = a100.fused.time_s / h200.fused.time_s - 1.0;
    assert_eq!(
        against.time.change,
        format!("+{:.1} % by lower bounds", more * 100.0)
    );
    let pinned = &against.time.pinned;
    assert!(pinned.contains(" (lower bound "), "{pinned}");
    let figure = Figure::fused(Subject::Program, Quantity::Time);
    let states = [(figure, &h200), (figure, &a100)];
    let told = explanation_of_change(states, against.time.change.clone()).unwrap();
    comes_out(&told.term.unwrap()).unwrap();
    let kernels = kernels_against(&h200, &a100);
    assert!(kernels.iter().all(|kernel| kernel.words().is_none()));
}

#[test]
fn programs_of_other_ops_are_not_compared() {
    let program = |text: &str| notation::parse(text).program;
    let text = example("transformer").unwrap().text;
    let block = program(text);
    let lines: Vec<&str> = text.lines().rev().collect();
    let same = [
        set_param(text, &block, 0, 4096),
        text.replace("f16", "f32"),
        lines.join("\n"),
    ];
    for same in same {
        assert!(has_same_ops(&block, &program(&same)), "{same}");
    }
    let other = [
        example("layernorm_gelu").unwrap().text.to_owned(),
        text.replace("gelu(", "relu("),
        format!("{text}\nmore = relu(x)\n"),
    ];
    for other in other {
        assert!(!has_same_ops(&block, &program(&other)), "{other}");
    }
    let [rules, none] = [Policy::Rules, Policy::None].map(|policy| transformer(2048, policy));
    let against = headline_against(&none, &rules).without_changes();
    assert_eq!(against.bytes.pinned, "2.30 GB");
    for figure in [&against.bytes, &against.kernels, &against.time] {
        assert_eq!((figure.change.as_str(), figure.is_changed), ("", false));
    }
    let sentence = against.sentence();
    assert_eq!(sentence.matches("not comparable").count(), 3, "{sentence}");
}

#[test]
fn a_kernel_of_another_function_is_another_one() {
    let of = |function: &str| {
        let text = format!("input x : f16[64, 64]\nact: y = {function}(x)\n");
        let options = Options::default();
        let outcome = analyze_program(&notation::parse(&text).program, &options);
        outcome.analysis.unwrap()
    };
    let [relu, gelu] = ["relu", "gelu"].map(of);
    let first = |pinned, now| kernels_against(pinned, now).iter().next().cloned();
    assert_eq!(first(&relu, &gelu), Some(KernelAgainst::New));
    assert_ne!(first(&relu, &relu), Some(KernelAgainst::New));
}

#[test]
fn the_title_names_program_sizes_device_and_policy() {
    let program = notation::parse(example("transformer").unwrap().text).program;
    let mut options = Options::of_policy(Policy::Inductor);
    options.device = device("h200").unwrap().clone();
    let title = pinned_title("Transformer block", &program, &options);
    let name = &device("h200").unwrap().name;
    assert_eq!(
        title,
        format!("Transformer block, S = 2,048, H = 4,096, heads = 32, {name}, torch.compile")
    );
}

fn of_role(scene: &Scene, role: Role) -> Vec<&Mark> {
    scene
        .marks
        .iter()
        .filter(|mark| mark.role == role)
        .collect()
}

#[test]
fn charts_show_the_pinned_state_in_their_axes() {
    let [now, pinned] = [2048, 8192].map(|length| transformer(length, Policy::Rules));
    let charted = Charted {
        pinned: Some(&pinned),
        ..Charted::fused(&now)
    };
    let size = (900.0, 500.0);
    let roofline = roofline::scene_of(charted, size, None);
    let rings = of_role(&roofline, Role::PinnedPoint);
    assert!(!rings.is_empty());
    for ring in &rings {
        assert!(
            ring.label
                .as_ref()
                .unwrap()
                .name
                .starts_with("pinned, kernel ")
        );
    }
    // Where nothing has changed, each ring is around a point.
    let same = Charted {
        pinned: Some(&now),
        ..Charted::fused(&now)
    };
    let same = roofline::scene_of(same, size, None);
    let centers = |role| -> Vec<(f64, f64)> {
        let marks = of_role(&same, role).into_iter();
        marks
            .map(|mark| match mark.shape {
                Shape::Circle { center, .. } => center,
                _ => panic!("a point is a disc"),
            })
            .collect()
    };
    let points = centers(Role::SolidPoint);
    assert!(
        centers(Role::PinnedPoint)
            .iter()
            .all(|ring| points.contains(ring))
    );
    let bars = traffic_bars::scene_of(charted, (900.0, 200.0), None);
    let [bar] = of_role(&bars, Role::PinnedBar)[..] else {
        panic!("one bar");
    };
    let Shape::Rect { corner, width, .. } = bar.shape else {
        panic!("a bar is a rectangle");
    };
    assert!(corner.0 + width <= 900.0);
    let alone = traffic_bars::scene(&now, (900.0, 200.0), None);
    assert!(of_role(&alone, Role::PinnedBar).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each kernel is new or known, and each pinned one is known or gone.
    #[test]
    fn no_kernel_is_lost(
        (ops, externals) in crate::random_graph::fusable_ops(1..=16),
        policies in prop::sample::subsequence(vec![Policy::None, Policy::Rules, Policy::Inductor, Policy::Optimal], 2),
    ) {
        let of = |policy| fuseline_core::analyze(&ops, &externals, &Options::of_policy(policy)).unwrap();
        let (pinned, now) = (of(policies[0]), of(policies[1]));
        let kernels = kernels_against(&pinned, &now);
        prop_assert_eq!(kernels.len(), now.partition.kernels.len());
        let known = kernels.iter().filter(|against| **against != KernelAgainst::New).count();
        let back = kernels_against(&now, &pinned);
        let known_back = back.iter().filter(|against| **against != KernelAgainst::New).count();
        prop_assert_eq!(known, known_back);
        prop_assert_eq!(gone_kernels(&pinned, &now).is_some(), known_back < pinned.partition.kernels.len());
    }
}

#[test]
fn a_pinned_state_is_saved_beside_the_present_one() {
    let pinned = transformer(2048, Policy::None);
    let now = transformer(4096, Policy::Rules);
    let table = Table::against_pinned(&pinned, &now);
    assert_eq!(table.head[..3], ["ops", "pinned bytes", "bytes"]);
    let bytes = |row: &[String]| [row[1].clone(), row[2].clone()];
    let total = |analysis: &Analysis| analysis.fused.traffic.total.to_string();
    let sums = table.rows.last().unwrap();
    assert_eq!(bytes(sums), [total(&pinned), total(&now)]);
    // A kernel that only one of them has leaves the cells of the other empty; others add up.
    for (side, analysis) in [(1, &pinned), (2, &now)] {
        let (_, kernels) = table.rows.split_last().unwrap();
        let own = kernels.iter().filter(|row| !row[side].is_empty());
        assert_eq!(own.count(), analysis.fused.kernels.len());
        let sum: u64 = kernels
            .iter()
            .filter_map(|row| row[side].parse::<u64>().ok())
            .sum();
        assert_eq!(sum.to_string(), sums[side]);
    }
    assert!(table.rows.iter().any(|row| row[1].is_empty()));
    assert!(table.rows.iter().any(|row| row[2].is_empty()));
}
