//! The figures of the headline, and the same as a sentence.

use fuseline::core::{Analysis, Options, Policy, analyze_program, device, notation};
use fuseline::present::headline::headline;

const TEXT: &str = "\
input x : f16[256, 256]
weight w : f16[256, 256]
y = matmul(x, w)
z = relu(y)
n = softmax(z)
";

fn analysis(text: &str, options: &Options) -> Analysis {
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
            "Memory traffic 918 kB unfused, 655 kB fused, −28.6 %. 3 kernels become 2. Predicted "
        ),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("x as fast on A100 SXM 80GB."),
        "{sentence}"
    );
}

#[test]
fn a_search_says_what_it_minimised_and_how_well() {
    let figures = headline(&analysis(TEXT, &Options::of_policy(Policy::Optimal)));
    let search = figures.search.clone().unwrap();
    assert_eq!(search.objective, "least bytes");
    assert_eq!(
        search.certificate,
        "proven optimal in bytes among legal kernels"
    );
    let sentence = figures.sentence();
    assert!(
        sentence.ends_with(". Kernels: proven optimal in bytes among legal kernels."),
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
fn times_without_a_peak_are_lower_bounds() {
    let options = Options {
        device: device("gaudi-3").unwrap().clone(),
        ..Options::default()
    };
    let figures = headline(&analysis(&TEXT.replace("f16", "f64"), &options));
    assert!(
        figures.times.contains("no peak is known for f64"),
        "{}",
        figures.times
    );
    assert!(figures.device.ends_with(" (times are lower bounds)"));
}
