//! Launches over time: which kernel waits for what, and the picture.

use crate::random_graph;
use fuseline_core::analysis::analyze;
use fuseline_core::analysis::launches::{
    GAP_S, LATENCY_S, LaunchTimeline, Launcher, PYTHON_LAUNCH_S, launch_timeline,
};
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device};
use fuseline_view::picture::charts::launches::scene;
use fuseline_view::picture::charts::scene::Role;
use fuseline_view::present::profiler::claim;
use proptest::prelude::*;

/// Nine ops of a layer norm over `n` rows and columns.
fn layer_norm(n: u64, policy: Policy) -> Analysis {
    let text = format!(
        "input x : bf16[{n}, {n}]\nweight gamma : bf16[{n}]\nweight beta : bf16[{n}]\n\
         mu = mean(x)\nc = sub(x, mu)\nsq = mul(c, c)\nvar = mean(sq)\nv = shift(var, amount=1e-5)\n\
         r = rsqrt(v)\nn = mul(c, r)\ng = mul(n, gamma)\ny = add(g, beta)\n"
    );
    on_h200(&text, policy)
}

fn on_h200(text: &str, policy: Policy) -> Analysis {
    analyze_program(&parse(text).program, &h200(policy))
        .analysis
        .unwrap()
}

fn h200(policy: Policy) -> Options {
    Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(policy)
    }
}

fn timeline(n: u64, launcher: Launcher) -> LaunchTimeline {
    launch_timeline(&layer_norm(n, Policy::None), launcher)
}

#[test]
fn small_kernels_wait_for_python() {
    let small = timeline(256, Launcher::Python);
    assert_eq!(small.kernels.len(), 9);
    for (index, run) in small.kernels.iter().enumerate() {
        assert!((run.call_s - index as f64 * PYTHON_LAUNCH_S).abs() < 1e-12);
        assert!((run.start_s - run.call_s - LATENCY_S).abs() < 1e-12);
    }
    assert!(small.idle_share() > 0.8, "{}", small.idle_share());
    let words = claim(&small, Launcher::Python);
    assert!(words.starts_with("The GPU waits for Python 90"), "{words}");
}

#[test]
fn large_kernels_follow_each_other() {
    let large = timeline(8192, Launcher::Python);
    for pair in large.kernels.windows(2).take(4) {
        assert!((pair[1].start_s - pair[0].end_s - GAP_S).abs() < 1e-12);
    }
    assert!(large.idle_share() < 0.05);
    assert!(claim(&large, Launcher::Python).starts_with("The GPU is busy 9"));
}

#[test]
fn a_graph_has_one_call_and_takes_as_long_as_its_kernels() {
    let analysis = layer_norm(256, Policy::None);
    let graph = launch_timeline(&analysis, Launcher::CudaGraph);
    assert!(graph.kernels.iter().all(|run| run.call_s < 1e-12));
    // Nine times the launch of the model, 2 µs, and little more.
    assert!((graph.span_s + GAP_S - analysis.time_s()).abs() < 1e-9);
    assert!(graph.span_s < 0.3 * timeline(256, Launcher::Python).span_s);
}

/// Medians of a run with PyTorch 2.11 beside an H200, in microseconds for one call, from
/// `torch.cuda.Event`. That host took 16 µs for a launch, another one 11.
#[test]
fn a_call_takes_about_as_long_as_measured() {
    for (n, measured_us) in [
        (256, 143.9),
        (1024, 155.2),
        (2048, 148.6),
        (4096, 225.4),
        (8192, 825.6),
    ] {
        let span_us = timeline(n, Launcher::Python).span_s * 1e6;
        let ratio = span_us / measured_us;
        assert!((0.65..1.15).contains(&ratio), "{n}: {span_us} µs, {ratio}");
    }
}

#[test]
fn fusion_leaves_one_kernel() {
    let fused = launch_timeline(&layer_norm(256, Policy::Inductor), Launcher::Python);
    assert_eq!(fused.kernels.len(), 1);
    assert!(fused.idle_share() < 1e-12);
}

#[test]
fn the_picture_hatches_gaps() {
    let count = |analysis: &Analysis, launcher, role| {
        let timeline = launch_timeline(analysis, launcher);
        let scene = scene(analysis, &timeline, launcher, 700.0);
        scene.marks.iter().filter(|mark| mark.role == role).count()
    };
    let small = layer_norm(256, Policy::None);
    assert_eq!(count(&small, Launcher::Python, Role::KernelBox), 9);
    assert_eq!(count(&small, Launcher::Python, Role::LaunchCall), 9);
    assert_eq!(count(&small, Launcher::Python, Role::IdleGap), 8);
    assert_eq!(count(&small, Launcher::CudaGraph, Role::LaunchCall), 1);
    assert_eq!(
        count(
            &layer_norm(8192, Policy::None),
            Launcher::Python,
            Role::IdleGap
        ),
        0
    );
}

#[test]
fn a_program_without_kernels_has_an_empty_timeline() {
    let analysis = on_h200(
        "input x : f16[8]\ny = reshape(x, shape=[2, 4])\n",
        Policy::Rules,
    );
    let timeline = launch_timeline(&analysis, Launcher::Python);
    let scene = scene(&analysis, &timeline, Launcher::Python, 700.0);
    assert!(scene.marks.iter().all(|mark| mark.role != Role::IdleGap));
    assert!(timeline.idle_share() >= 0.0);
}

proptest! {
    /// Kernels run one after the other, never before their launch, and a graph is never slower than
    /// Python.
    #[test]
    fn kernels_never_overlap((ops, tensors) in random_graph::ops(40)) {
        let analysis = analyze(&ops, &tensors, &h200(Policy::Rules)).unwrap();
        let [python, graph] = [Launcher::Python, Launcher::CudaGraph].map(|l| launch_timeline(&analysis, l));
        for timeline in [&python, &graph] {
            for run in &timeline.kernels {
                prop_assert!(run.call_s < run.start_s && run.start_s <= run.end_s);
            }
            for pair in timeline.kernels.windows(2) {
                prop_assert!(pair[0].end_s < pair[1].start_s);
            }
            prop_assert!((0.0..=1.0).contains(&timeline.idle_share()));
        }
        prop_assert!(graph.span_s <= python.span_s + 1e-12);
        prop_assert_eq!(graph.kernels.len(), analysis.fused.launches);
    }
}
