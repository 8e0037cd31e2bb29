//! What figures and sentences claim holds: what a search has proven, and how far predictions were
//! verified.

use crate::partitions::runs_in_order;
use crate::profiles::profile;
use crate::random_graph::fusable_ops;
use fuseline_core::analysis::device_model::{Outside, cold_time};
use fuseline_core::analysis::sweep::{Measure, sweep};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::certificate::{Amount, ROUNDING};
use fuseline_core::fusion::legality;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, KernelId, Objective, Options, Policy, analyze_graph, analyze_program, build_graph,
    device,
};
use fuseline_import::matching::match_kernels;
use fuseline_import::profile::{MeasuredKernel, MeasuredRun};
use fuseline_view::present::certificates::{certificate_sentence, certificate_text};
use fuseline_view::present::claim::claim;
use fuseline_view::present::figure::{Part, explanation};
use fuseline_view::present::format::format_seconds;
use fuseline_view::present::headline::headline;
use fuseline_view::present::kernels::kernel_rows;
use fuseline_view::present::profile::{ProfileFigure, RowOf, profile_explanation, profile_rows};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use fuseline_view::present::sweep::sweep_rows;
use fuseline_view::present::times::{kernel_time, outside_text, time_lines, time_note};
use proptest::prelude::*;
use strum::VariantArray;

fn on(id: &str, policy: Policy) -> Options {
    Options {
        device: device(id).unwrap().clone(),
        ..Options::of_policy(policy)
    }
}

fn analysis(text: &str, options: &Options) -> Analysis {
    let outcome = analyze_program(&parse(text).program, options);
    outcome
        .analysis
        .unwrap_or_else(|| panic!("{text}\n{:?}", outcome.diagnostics))
}

/// Whether somebody could make these kernels by hand.
fn is_legal_by_hand(analysis: &Analysis) -> bool {
    let (graph, options) = (&analysis.graph, &analysis.options);
    let kernels = analysis.partition.kernels.iter();
    let is_legal = |ops: &&[_]| ops.len() == 1 || legality::check(graph, options, ops).is_ok();
    runs_in_order(graph, &analysis.partition)
        && (analysis.partition.recomputed.iter()).all(<[_]>::is_empty)
        && kernels.filter(|ops| !is_legal(ops)).count() == 0
}

/// That no policy has less of what the certificate claims to be least.
fn assert_least(graph: &fuseline_core::Graph, options: &Options) {
    for &objective in &[Objective::Bytes, Objective::Time] {
        let mut options = options.clone();
        options.fusion.objective = objective;
        let optimal = analyze_graph(graph.clone(), &options);
        let certificate = optimal.certificate.as_ref().unwrap();
        if !certificate.is_optimal {
            continue;
        }
        for &policy in Policy::VARIANTS {
            let other = analyze_graph(
                graph.clone(),
                &Options {
                    policy,
                    ..options.clone()
                },
            );
            if !is_legal_by_hand(&other) {
                continue;
            }
            let (least, shown) = match certificate.cost {
                Amount::Bytes(bytes) => {
                    assert_eq!(bytes, optimal.fused.traffic.total);
                    (bytes as f64, other.fused.traffic.total as f64)
                }
                Amount::Seconds(_) => (optimal.fused.time_s, other.fused.time_s),
            };
            assert!(
                shown >= least * (1.0 - ROUNDING),
                "{objective:?} {policy:?}: {shown} < {least}"
            );
        }
    }
}

#[test]
fn no_policy_of_an_example_has_less_than_the_certificate_claims() {
    for example in EXAMPLES {
        for id in ["a100-80", "h200"] {
            let options = on(id, Policy::Optimal);
            let graph = analysis(example.text, &options).graph;
            assert_least(&graph, &options);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_policy_has_less_than_the_certificate_claims((ops, externals) in fusable_ops(2..=10)) {
        let graph = build_graph(&ops, &externals).unwrap();
        for id in ["a100-80", "h100"] {
            assert_least(&graph, &on(id, Policy::Optimal));
        }
    }
}

#[test]
fn a_search_by_time_claims_a_lower_bound() {
    let mut options = on("h200", Policy::Optimal);
    options.fusion.objective = Objective::Time;
    let analysis = analysis(
        "input x : bf16[4096, 4096]\na = relu(x)\nb = gelu(a)\n",
        &options,
    );
    let certificate = analysis.certificate.unwrap();
    for text in [
        certificate_text(&certificate, false),
        certificate_sentence(&certificate, false),
        Objective::Time.noun().to_owned(),
    ] {
        assert!(text.contains("lower bound"), "{text}");
    }
}

/// Programs, the kernel that is asked about, and how its prediction is outside the measured sizes.
const OUTSIDE: &[(&str, Option<Outside>)] = &[
    (
        "input x : bf16[4096, 4096]\nweight w : bf16[4096, 4096]\ny = matmul(x, w)\n",
        None,
    ),
    (
        "input x : bf16[1, 4096]\nweight w : bf16[4096, 4096]\ny = matmul(x, w)\n",
        None,
    ),
    (
        "input x : bf16[512, 4096]\nweight w : bf16[4096, 4096]\ny = matmul(x, w)\n",
        None,
    ),
    (
        // Many small batches are as many rows for a shared weight.
        "input x : bf16[16, 64, 4096]\nweight w : bf16[4096, 4096]\ny = matmul(x, w)\n",
        None,
    ),
    (
        "input q : bf16[16, 1, 64]\ninput k : bf16[16, 2048, 64]\ninput v : bf16[16, 2048, 64]\ny = sdpa(q, k, v)\n",
        None,
    ),
    (
        "input q : bf16[1, 32, 2048, 64]\ninput k : bf16[1, 8, 2048, 64]\ninput v : bf16[1, 8, 2048, 64]\ny = sdpa(q, k, v, enable_gqa=true)\n",
        None,
    ),
    (
        "input q : bf16[1, 32, 2048, 64]\ninput k : bf16[1, 2, 2048, 64]\ninput v : bf16[1, 2, 2048, 64]\ny = sdpa(q, k, v, enable_gqa=true)\n",
        None,
    ),
    (
        "input q : bf16[1, 64, 1, 64]\ninput k : bf16[1, 1, 2048, 64]\ninput v : bf16[1, 1, 2048, 64]\ny = sdpa(q, k, v, enable_gqa=true)\n",
        Some(Outside::GroupedHeads(64)),
    ),
    (
        "input q : bf16[16, 2048, 64]\ninput k : bf16[16, 2048, 64]\ninput v : bf16[16, 2048, 64]\ny = sdpa(q, k, v)\n",
        None,
    ),
    (
        "input q : bf16[16, 2048, 512]\ninput k : bf16[16, 2048, 512]\ninput v : bf16[16, 2048, 512]\ny = sdpa(q, k, v)\n",
        Some(Outside::HeadSize(512)),
    ),
    (
        "input q : bf16[16, 2048, 128]\ninput k : bf16[16, 2048, 128]\ninput v : bf16[16, 2048, 128]\ny = sdpa(q, k, v)\n",
        None,
    ),
    ("input x : bf16[1, 1024]\ny = silu(x)\n", None),
    // As many elements in one row run as in many.
    ("input x : bf16[16777216]\ny = silu(x)\n", None),
    (
        "input w : bf16[4096, 4096]\ninput x : bf16[4096, 1]\ny = matmul(w, x)\n",
        Some(Outside::FewColumns(1)),
    ),
    (
        "input q : bf16[16, 4096, 64]\ninput k : bf16[16, 8, 64]\ninput v : bf16[16, 8, 64]\ny = sdpa(q, k, v)\n",
        Some(Outside::FewKeys(8)),
    ),
    (
        "weight w : bf16[50000, 1024]\ninput i : i64[1]\ny = embedding(i, w)\n",
        None,
    ),
    ("input x : bf16[8, 4096]\ny = softmax(x)\n", None),
    (
        "input x : bf16[8, 32768]\ny = rms_norm(x)\n",
        Some(Outside::FewRows(8)),
    ),
    ("input x : bf16[4096, 4096]\ny = softmax(x)\n", None),
    (
        "input x : bf16[4096, 4096]\ny = opaque(x, name=aten.nonzero) : bf16[4096, 4096]\n",
        Some(Outside::Opaque),
    ),
    // 348 and 167 µs in eager PyTorch 2.11 on an H200; a copy takes 19.
    (
        "input x : f16[4096, 4096]\ny = sort(x)\n",
        Some(Outside::SortOrScan),
    ),
    (
        "input x : f16[4096, 4096]\ny = cumsum(x)\n",
        Some(Outside::SortOrScan),
    ),
    ("input x : f16[4096, 4096]\ny = softmax(x, axis=0)\n", None),
    // 16.9 µs, predicted 14.0.
    ("input x : f16[4096, 4096]\ny = sum(x, axis=0)\n", None),
    (
        "input x : bf16[4096, 4096]\ny = cast(x, dtype=f8)\n",
        Some(Outside::F8),
    ),
];

#[test]
fn predictions_outside_the_measured_sizes_are_marked() {
    for &(text, outside) in OUTSIDE {
        for id in ["h100", "h200"] {
            let analysis = analysis(text, &on(id, Policy::Rules));
            let predicted = analysis.predicted.as_ref().unwrap();
            let last = KernelId::new(predicted.kernels.len() - 1);
            assert_eq!(predicted.kernels[last].outside, outside, "{text}");
            assert_eq!(predicted.kernels[last].unfused_outside, outside, "{text}");
            let time = kernel_time(&analysis, last).unwrap().time;
            assert_eq!(time.ends_with('?'), outside.is_some(), "{text}{time}");
            let total = headline(&analysis);
            // Beside the headline's times a word says it.
            assert_eq!(total.outside, outside, "{text}");
            for time in [&total.fused_time, &total.unfused_time] {
                assert!(!time.ends_with('?'), "{text}{time}");
            }
            let lines = time_lines(&analysis, last);
            let note = time_note(&analysis);
            match outside.map(outside_text) {
                Some(why) => {
                    assert!(lines.contains(&why), "{lines:?}");
                    assert!(note.contains(&why), "{note}");
                }
                None => assert!(!note.contains('?'), "{note}"),
            }
        }
    }
}

#[test]
fn a_sweep_marks_the_values_outside_the_measured_sizes() {
    let text = "param N = 16 in 16..1024 step 16\ninput x : bf16[4096, 4096]\nweight w : bf16[4096, N]\n\
                y = matmul(x, w)\n";
    let program = parse(text).program;
    let swept = sweep(&program, 0, &on("h100", Policy::Rules)).unwrap();
    for row in sweep_rows(&swept, Measure::Time) {
        for figure in row.figures {
            assert_eq!(
                figure.ends_with('?'),
                row.value < 64,
                "{} {figure}",
                row.value
            );
        }
    }
}

#[test]
fn a_small_part_outside_does_not_mark_the_sum() {
    let text = "input x : bf16[65536, 8192]\ninput b : bf16[64, 1]\nweight w : bf16[64, 64]\na = relu(x)\nc = matmul(w, b)\n";
    let analysis = analysis(text, &on("h200", Policy::Rules));
    let predicted = analysis.predicted.as_ref().unwrap();
    let marked: Vec<bool> = (predicted.kernels.iter())
        .map(|k| k.outside.is_some())
        .collect();
    assert_eq!(marked, [false, true]);
    assert_eq!(predicted.fused_outside, None);
}

#[test]
fn predicted_times_are_warm_and_say_so() {
    let text = "input x : bf16[1024, 2048]\na = relu(x)\n";
    let analysis = analysis(text, &on("h200", Policy::Rules));
    assert!(time_note(&analysis).contains("The times are warm"));
    let kernel = KernelId::new(0);
    let [warm_s, cold_s] = [
        analysis.predicted.as_ref().unwrap().kernels[kernel].time_s,
        cold_time(&analysis, kernel).unwrap(),
    ];
    // 8.4 MB stay in the cache; cold, they come from memory.
    assert!(warm_s < cold_s, "{warm_s} {cold_s}");
    let lines = time_lines(&analysis, kernel);
    assert!(
        lines.iter().any(|line| line.contains("with a cold cache")),
        "{lines:?}"
    );
}

#[test]
fn a_profiler_that_flushes_the_caches_is_compared_with_cold_predictions() {
    for (name, is_cold) in [
        ("ncu_raw.csv", true),
        ("ncu_base.csv", true),
        ("nsys_gpu_trace.csv", false),
        ("bench.json", false),
        ("trace_eager.json", false),
    ] {
        let runs = profile(name).runs;
        assert!(runs.iter().all(|run| run.is_cold == is_cold), "{name}");
    }
    let text = "input x : bf16[1024, 2048]\na = relu(x)\n";
    let analysis = analysis(text, &on("h200", Policy::Rules));
    let kernel = KernelId::new(0);
    let warm_s = analysis.predicted.as_ref().unwrap().kernels[kernel].time_s;
    let cold_s = cold_time(&analysis, kernel).unwrap();
    for (is_cold, predicted_s) in [(false, warm_s), (true, cold_s)] {
        let run = MeasuredRun {
            kernels: vec![MeasuredKernel::new("relu", 5e-6)],
            is_cold,
            ..MeasuredRun::default()
        };
        let matching = match_kernels(&analysis, &run);
        assert_eq!(
            matching.predicted_s[kernel].to_bits(),
            predicted_s.to_bits()
        );
        // The rows show that time, and the number explains itself.
        let rows = profile_rows(&analysis, &matching);
        assert_eq!(rows[0].times[0], format_seconds(predicted_s));
        let of = RowOf::Kernel(kernel);
        let told = profile_explanation(&analysis, &matching, of, ProfileFigure::PredictedTime, "");
        assert_eq!(told.unwrap().value, format_seconds(predicted_s));
    }
}

/// A tensor of 537 MB with 1 MB written into it: a copy at the memory bandwidth, and a small
/// kernel. An H100 took 448 µs for `index_copy` of slices, eager, warm and cold alike; see
/// docs/measurement.md.
#[test]
fn writing_into_a_copy_takes_about_as_long_as_the_copy() {
    let slices = "index_copy(x, i, s, axis=1)";
    let head = "input x : bf16[32, 65536, 128]\ninput s : bf16[32, 128, 128]\n";
    for (index, call) in [
        ("input i : i32[128]", slices),
        ("input i : i32[128]", "index_add(x, i, s, axis=1)"),
        ("input i : i32[32, 128, 128]", "scatter(x, i, s, axis=1)"),
        (
            "input i : i32[32, 128, 128]",
            "scatter_add(x, i, s, axis=1)",
        ),
    ] {
        let text = format!("{head}{index}\ny = {call}\n");
        let analysis = analysis(&text, &on("h100", Policy::None));
        let predicted_s = analysis.predicted.as_ref().unwrap().unfused_s;
        assert!(
            (predicted_s / 448e-6 - 1.0).abs() < 0.2,
            "{call}: {predicted_s}"
        );
    }
}

/// The ratio that leads the page is as unverified as its times.
#[test]
fn a_ratio_of_unverified_times_is_marked_and_its_card_says_why() {
    let text = |queries: u32, size: u32| {
        format!(
            "input q : bf16[16, {queries}, {size}]\ninput k : bf16[16, 4096, {size}]\ninput v : bf16[16, 4096, {size}]\n\
             scores = matmul(q, k, transpose_b=true)\nprobs = softmax(scores)\ny = matmul(probs, v)\n"
        )
    };
    for (queries, size, outside) in [
        (4096, 128, None),
        (4096, 512, Some(Outside::HeadSize(512))),
        (1, 128, None),
    ] {
        let mut options = on("h200", Policy::Inductor);
        options.fusion.attention = true;
        let analysis = analysis(&text(queries, size), &options);
        let ratio = headline(&analysis).ratio.unwrap();
        assert_eq!(
            ratio.ends_with("× faster (unverified)"),
            outside.is_some(),
            "{ratio}"
        );
        let parts = claim(&analysis, true);
        let speedup = Figure::fused(Subject::Program, Quantity::Speedup);
        let shown = parts
            .iter()
            .find(|part| part.figure == Some(speedup))
            .unwrap();
        let told = explanation(speedup, &analysis).unwrap();
        assert_eq!(told.value, shown.text);
        assert!(ratio.starts_with(&shown.text), "{ratio}");
        let sentence = Part::text_of(&parts);
        assert_eq!(
            sentence.contains(": predicted (unverified) "),
            outside.is_some(),
            "{sentence}"
        );
        let why = outside.map(outside_text);
        assert!(
            why.is_none_or(|why| told.notes.contains(&why)),
            "{:?}",
            told.notes
        );
    }
}

/// At measured rates something else may take longest than by the data sheet: then the row names
/// both.
#[test]
fn a_kernel_names_what_takes_longest_at_measured_rates() {
    let bounds = |text: &str, id: &str| {
        let analysis = analysis(text, &on(id, Policy::Rules));
        let rows = kernel_rows(&analysis, 1);
        [Quantity::Bottleneck, Quantity::RooflineBound]
            .map(|quantity| rows[0].cells.fused(quantity).unwrap_or_default().to_owned())
    };
    let softmax = "input x : f16[65536, 2048]\ny = softmax(x)\n";
    assert_eq!(
        bounds(softmax, "h100"),
        ["running statistics", "roofline: memory"]
    );
    // No rates were measured there.
    assert_eq!(bounds(softmax, "a100-80"), ["memory", ""]);
    let add = "input x : f16[8192, 8192]\ny = relu(x)\nz = exp(y)\n";
    assert_eq!(bounds(add, "h100"), ["memory", ""]);
    let matmul = "input x : f16[8192, 8192]\nweight w : f16[8192, 8192]\ny = matmul(x, w)\n";
    assert_eq!(bounds(matmul, "h100"), ["matrix units", ""]);
}

/// A ratio of short times is a rough one, and the range beside it says how rough.
#[test]
fn a_speedup_of_short_times_is_rough() {
    let said = |size: u64| {
        let text = format!("input a : bf16[{size}, {size}]\ns = add(a, a)\ny = relu(s)");
        let analysis = analysis(&text, &on("h100", Policy::Rules));
        let figures = headline(&analysis);
        (Part::text_of(&claim(&analysis, true)), figures.sentence())
    };
    let [(short, short_sentence), (long, long_sentence)] = [said(2048), said(16_384)];
    assert!(short.contains(": predicted roughly "), "{short}");
    assert!(
        long.contains(": predicted ") && !long.contains("roughly"),
        "{long}"
    );
    assert!(
        short_sentence.contains("× faster (±106 %)"),
        "{short_sentence}"
    );
    assert!(
        long_sentence.contains("× faster (±16 %)"),
        "{long_sentence}"
    );
}
