//! The figures of the headline, and the same as a sentence.

use crate::measured;
use fuseline_core::examples::{NEXT, START, example};
use fuseline_core::model::bound::Bound;
use fuseline_core::{Analysis, Options, Policy, analyze_program, device, notation};
use fuseline_view::present::figure::explanation;
use fuseline_view::present::format::{format_percent, format_seconds};
use fuseline_view::present::headline::{Headline, headline};
use fuseline_view::present::quantity::{Figure, Quantity, Subject};
use std::path::Path;

pub(crate) const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
y = matmul(x, w)
z = relu(y)
n = softmax(z)
";

pub(crate) fn analysis(text: &str, options: &Options) -> Analysis {
    analyze_program(&notation::parse(text).program, options)
        .analysis
        .unwrap()
}

#[test]
fn bytes_kernels_and_time_before_and_after() {
    let figures = headline(&analysis(TEXT, &Options::default()));
    // x, w, y | y, z | z, n against x, w, z | z, n, of 256 * 256 * 2 bytes each.
    assert_eq!(
        figures.exact_bytes,
        "917,504 B read and written unfused, 655,360 B fused, 262,144 B saved"
    );
    assert_eq!(figures.unfused_bytes, "918 kB");
    assert_eq!(figures.fused_bytes, "655 kB");
    assert_eq!(figures.change, "−28.6 %");
    assert_eq!(
        [figures.unfused_kernels.as_str(), &figures.fused_kernels],
        ["3", "2"]
    );
    assert_eq!(figures.search, None);
    let sentence = figures.sentence();
    assert!(
        sentence.starts_with(
            "Memory traffic 918 kB unfused, 655 kB fused, −28.6 %. 3 kernels become 2. Time, lower bound on A100 SXM 80GB: "
        ),
        "{sentence}"
    );
    assert!(
        sentence.ends_with(" fused, at best 1.49× faster."),
        "{sentence}"
    );
}

#[test]
fn what_a_slider_changes_is_told_on_one_line() {
    let figures = headline(&analysis(TEXT, &Options::default()));
    assert_eq!(
        figures.in_short(true),
        "918 kB → 655 kB, −28.6 %, at best 1.49× faster"
    );
    // Before *Fuse* is pressed nothing tells its result.
    let unfused = format!("918 kB, {}", figures.unfused_time);
    assert_eq!(figures.in_short(false), unfused);
    let nothing = headline(&analysis("input x : f16[8]\n", &Options::default()));
    assert_eq!(nothing.ratio, None);
    assert!(!nothing.in_short(true).ends_with(", "));
}

#[test]
fn a_search_says_what_it_minimised_and_how_well() {
    let figures = headline(&analysis(TEXT, &Options::of_policy(Policy::Optimal)));
    let search = figures.search.clone().unwrap();
    assert_eq!(search.proof, "fewest bytes: proven");
    assert_eq!(
        search.certificate,
        "proven optimal: no kernels that the search allows have fewer bytes"
    );
    let sentence = figures.sentence();
    assert!(
        sentence.ends_with(
            ". The kernels are proven optimal: no kernels that the search allows have fewer bytes."
        ),
        "{sentence}"
    );
}

#[test]
fn without_fusion_nothing_is_saved() {
    let figures = headline(&analysis(TEXT, &Options::of_policy(Policy::None)));
    assert!(figures.exact_bytes.ends_with(" 0 B saved"));
    assert_eq!(figures.change, "0 %");
}

#[test]
fn times_without_a_peak_say_what_they_leave_out() {
    let figures = on_device("gaudi-3", &TEXT.replace("f16", "f64"));
    assert!(
        figures.time_note.contains("no peak is known for f64"),
        "{}",
        figures.time_note
    );
    assert!(figures.fused_time.starts_with("≥ "), "{figures:?}");
}

fn on_device(id: &str, text: &str) -> Headline {
    let options = Options {
        device: device(id).unwrap().clone(),
        ..Options::default()
    };
    headline(&analysis(text, &options))
}

/// A bound is never called a prediction, and a quotient of two bounds no speedup.
#[test]
fn times_are_predicted_with_measured_or_scaled_rates_and_bounds_elsewhere() {
    let a100 = on_device("a100-80", TEXT);
    assert_eq!(a100.time_label, "lower bound on A100 SXM 80GB");
    assert!(a100.ratio.unwrap().starts_with("at best "));
    assert_eq!(a100.bounds, None);
    assert!(
        a100.time_note.contains("Times are lower bounds"),
        "{}",
        a100.time_note
    );
    for (id, label, note) in [
        (
            "h200",
            "predicted on H200",
            "Predicted times come from the device model, with rates measured on an H200. The times are warm",
        ),
        (
            "h100",
            "predicted on H100 SXM",
            "Predicted times come from the device model, with rates scaled from an H200",
        ),
    ] {
        let figures = on_device(id, TEXT);
        assert_eq!(figures.time_label, label);
        assert!(figures.ratio.unwrap().contains(" faster"));
        assert!(figures.bounds.unwrap().starts_with("lower bound "));
        assert!(figures.time_note.contains(note), "{}", figures.time_note);
    }
}

/// The patterns of the measured file on the device on which they were measured.
#[test]
fn the_headline_shows_about_what_was_measured() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("public/measured/rmsnorm_decomposed.fuse"),
    )
    .unwrap();
    let options = Options {
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(Policy::Inductor)
    };
    let analysis = analysis(&text, &options);
    let measured_us = |variant: &str| {
        let row = measured::rows()
            .into_iter()
            .find(|row| row.pattern == "rmsnorm_decomposed" && row.variant == variant);
        row.unwrap().time_us
    };
    let predicted = analysis.predicted.as_ref().unwrap();
    for (predicted_s, variant) in [
        (predicted.unfused_s, "eager"),
        (predicted.fused_s, "inductor"),
    ] {
        let error = predicted_s * 1e6 / measured_us(variant) - 1.0;
        assert!(error.abs() < 0.25, "{variant}: {error}");
    }
    let figures = headline(&analysis);
    assert_eq!(figures.unfused_time, format_seconds(predicted.unfused_s));
    assert_eq!(figures.fused_time, format_seconds(predicted.fused_s));
}

#[test]
fn nothing_that_runs_has_no_ratio() {
    for (id, text) in [
        ("a100-80", ""),
        ("h200", ""),
        ("h200", "input a : f16[4, 4]\n"),
    ] {
        let figures = on_device(id, text);
        assert_eq!(figures.ratio, None, "{text:?}");
        assert_eq!(figures.fused_kernels, "0");
    }
}

#[test]
fn assumed_sizes_are_marked_in_totals_and_counts_have_groups() {
    let assumed = "input x : f16[4, 64, 64]\ny = matmul(x, r, k=64) : f16[4, 64, 64]\n";
    let figures = on_device("a100-80", assumed);
    assert!(
        figures.unfused_bytes.starts_with('~') && figures.fused_bytes.starts_with('~'),
        "{figures:?}"
    );
    let lines = (1..=1200).map(|n| format!("x{n} = relu(x{})", n - 1));
    let long = lines.collect::<Vec<_>>().join("\n");
    let figures = on_device("a100-80", &format!("input x0 : f16[64]\n{long}"));
    assert_eq!(figures.unfused_kernels, "1,200");
}

/// Why a program with a quarter of the traffic is not four times as fast.
#[test]
fn what_takes_most_of_the_fused_time_stands_beside_it() {
    let start = example(START).unwrap().text;
    let chain = "input x : f16[8192, 8192]\ny = relu(x)\nz = exp(y)\n";
    let tiny = "input x : f16[64]\ny = relu(x)\nz = softmax(y)\n";
    for (text, [words, name], why) in [
        (
            start,
            ["memory-bound time 51.9 % → 0.0 %", "compute-bound"],
            "saves memory traffic, not arithmetic",
        ),
        (
            chain,
            ["memory-bound time 100.0 %", "memory-bound"],
            "still go through memory",
        ),
        (
            tiny,
            ["memory-bound time 0.0 %", "launch-bound"],
            "Each launch takes longer",
        ),
    ] {
        let figures = on_device("a100-80", text);
        assert_eq!(figures.memory_time.as_deref(), Some(words));
        let sentence = format!("All fused time is in {name} kernels.");
        assert!(
            figures.time_note.starts_with(&sentence),
            "{}",
            figures.time_note
        );
        assert!(figures.time_note.contains(why), "{}", figures.time_note);
    }
    let block = on_device("h200", example(NEXT).unwrap().text);
    let share = block.memory_time.unwrap();
    assert!(share.starts_with("memory-bound time "), "{share}");
    // A generated layer norm waits for what PyTorch's own does: the rate of neither tells, so the
    // roofline decides for both.
    let norm = "input x : f16[8192, 4096]\ny = layer_norm(x)\n";
    let share = on_device("h200", norm).memory_time;
    assert_eq!(share.as_deref(), Some("memory-bound time 100.0 %"));
    // What waits for the cache does not wait for memory.
    let convolution = "input x : bf16[64, 256, 56, 56]\nweight w : bf16[256, 256, 3, 3]\ny = conv2d(x, w, padding=1)\n";
    let share = on_device("h100", convolution).memory_time;
    assert_eq!(share.as_deref(), Some("memory-bound time 0.0 %"));
    assert_eq!(on_device("a100-80", "y = opaque(x)\n").memory_time, None);
}

/// Where fusion costs time, the card of the speedup begins with the kernel that loses most, and its
/// share of the time is by what takes longest in the prediction.
#[test]
fn a_program_that_fusing_slows_names_the_kernel_that_loses() {
    let text = "input x : bf16[256, 16384]\nweight w : bf16[16384, 4096]\ninput r : bf16[256, 4096]\n\
                down = matmul(x, w)\nresid2 = add(down, r)\ny = relu(resid2)\n";
    let mut options = Options::of_policy(Policy::Rules);
    options.device = device("h100").unwrap().clone();
    let outcome = analyze_program(&notation::parse(text).program, &options);
    let analysis = outcome.analysis.unwrap();
    let predicted = analysis.predicted.as_ref().unwrap();
    assert!(predicted.speedup() < 0.9);
    let told = explanation(
        Figure::fused(Subject::Program, Quantity::Speedup),
        &analysis,
    )
    .unwrap();
    assert!(
        told.notes.iter().any(|note| {
            note.starts_with("Kernel 1 (down + resid2 + y) takes ")
                && note.ends_with(
                    "its matmul is generated, because the library has no call for all of it.",
                )
        }),
        "{:?}",
        told.notes
    );
    let of_memory: f64 = (predicted.kernels.iter())
        .filter(|times| times.bound() == Some(Bound::Memory))
        .map(|times| times.time_s)
        .sum();
    let share = format_percent(100.0 * of_memory / predicted.fused_s);
    assert!(
        headline(&analysis).memory_time.unwrap().contains(&share),
        "{share}"
    );
}
