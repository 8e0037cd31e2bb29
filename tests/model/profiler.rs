//! The table of Nsight Compute, as predicted and as it was measured.

use fuseline_core::notation::parse;
use fuseline_core::{Analysis, KernelId, Options, Policy, analyze_program, device};
use fuseline_learn::lesson::library::listed;
use fuseline_view::present::profiler::sections;

/// Two kernels of a layer norm over 8192 rows and columns on an H200, in the four sections that the
/// page predicts.
const MEASURED: &str = include_str!("measured_files/layernorm_ncu_details.txt");

fn analysis(text: &str, device_id: &str) -> Analysis {
    let options = Options {
        device: device(device_id).unwrap().clone(),
        ..Options::of_policy(Policy::None)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

fn value(analysis: &Analysis, kernel: usize, name: &str) -> Option<String> {
    let sections = sections(analysis, KernelId::new(kernel)).unwrap();
    let mut metrics = sections.into_iter().flat_map(|section| section.metrics);
    metrics.find(|metric| metric.name == name).unwrap().value
}

/// The measured value of a metric of the kernel `of`.
fn measured(of: &str, name: &str) -> String {
    let (_, kernel) = MEASURED.split_once(&format!("# {of}\n")).unwrap();
    let kernel = kernel.split("\n# ").next().unwrap();
    let mut lines = kernel.lines().map(str::trim);
    let line = lines.find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().last().unwrap().to_owned()
}

#[test]
fn an_elementwise_kernel_is_as_measured() {
    let program = "input c : bf16[8192, 8192]\nsq = mul(c, c)\n";
    let analysis = analysis(program, "h200");
    for name in ["Grid Size", "Block Size", "Waves Per SM"] {
        let predicted = value(&analysis, 0, name).unwrap();
        if name == "Waves Per SM" {
            // The library's kernel has 12 blocks on a multiprocessor, and the model 16.
            let waves = |text: &str| text.parse::<f64>().unwrap();
            let ratio = waves(&predicted) / waves(&measured("sq", name));
            assert!((0.7..1.3).contains(&ratio), "{predicted}");
        } else {
            assert_eq!(predicted, measured("sq", name), "{name}");
        }
    }
    // The clock was fixed at 1.48 GHz; the memory runs at its own.
    let number = |text: String| text.parse::<f64>().unwrap();
    for name in ["Duration", "DRAM Throughput"] {
        let ratio = number(value(&analysis, 0, name).unwrap()) / number(measured("sq", name));
        assert!((0.8..1.25).contains(&ratio), "{name}: {ratio}");
    }
    assert_eq!(value(&analysis, 0, "Compute (SM) Throughput"), None);
}

#[test]
fn a_matmul_has_its_matrix_units() {
    let program = "input x : bf16[4096, 4096]\nweight w : bf16[4096, 4096]\ny = matmul(x, w)\n";
    let throughput = value(&analysis(program, "h200"), 0, "Compute (SM) Throughput").unwrap();
    assert!(
        (50.0..100.0).contains(&throughput.parse::<f64>().unwrap()),
        "{throughput}"
    );
}

#[test]
fn a_device_of_unknown_multiprocessors_has_no_table() {
    let analysis = analysis("input x : f16[8]\ny = relu(x)\n", "tpu-v4");
    assert_eq!(sections(&analysis, KernelId::new(0)), None);
}

/// The lesson shows what was measured.
#[test]
fn the_lesson_has_the_measured_figures() {
    let lesson = listed("profiling").unwrap().text;
    for name in ["DRAM Throughput", "Duration", "Compute (SM) Throughput"] {
        let line = lesson.lines().find(|line| line.starts_with(name)).unwrap();
        let cells: Vec<_> = line.split_whitespace().rev().take(2).collect();
        assert_eq!(cells, [measured("sq", name), measured("n", name)], "{name}");
    }
}
