//! What is read of a measurement where files spell it in more than one way: the kernels of a step,
//! counters of bytes, and numbers.

use crate::profiles::{file, profile, told};
use fuseline_import::profile::{Kind, read_profile};

/// A GPU runs what a step launches when the CPU is in the next step, so launches tell whose kernels
/// they are.
#[test]
fn the_kernels_that_the_last_step_launched() {
    let cpu_only = told(&profile("trace_steps_on_cpu.json"));
    assert_eq!(
        cpu_only,
        [
            "- ampere_sgemm_128x64_nn 11000 - 1x1x1",
            "- triton_poi_fused_relu_0 12000 - 1x1x1",
            "- triton_red_fused_sum_1 13000 - 1x1x1",
            "- extra_of_the_second_step 5000 - 1x1x1",
        ]
    );
    // What the profiler says of the step on the GPU is shorter than the step.
    assert_eq!(
        told(&profile("trace_step_shorter_than_its_kernels.json")),
        cpu_only[..3]
    );
    let bytes = file("trace_steps_on_cpu.json");
    let text = String::from_utf8(bytes).unwrap();
    let names = |text: &str| {
        let profile = read_profile(Kind::Trace, text.as_bytes()).unwrap();
        let [run] = &profile.runs[..] else {
            panic!("one run");
        };
        run.kernels.len()
    };
    // Kernels of a graph have the correlation of its launch.
    let graph = text
        .replace("cudaLaunchKernel", "cudaGraphLaunch")
        .replace("\"correlation\": 99", "\"correlation\": 12");
    assert_eq!(names(&graph), 4);
    // Without correlations, or with a last step that launches nothing.
    assert_eq!(names(&text.replace("\"correlation\"", "\"other\"")), 7);
    let empty = r#"{"cat": "user_annotation", "name": "ProfilerStep#7", "ts": 2000, "dur": 9}"#;
    let with_empty = text.replacen(
        "\"traceEvents\": [",
        &format!("\"traceEvents\": [{empty},"),
        1,
    );
    assert_ne!(with_empty, text);
    assert_eq!(names(&with_empty), 4);
}

#[test]
fn bytes_by_the_names_of_newer_gpus() {
    let profile = profile("ncu_bytes_op.csv");
    let kernel = &profile.runs[0].kernels[0];
    assert_eq!(kernel.read_bytes, Some(53_261_312));
    assert_eq!(kernel.write_bytes, Some(3_377_920));
    assert_eq!(kernel.moved_bytes, Some(53_261_312 + 3_377_920));
    let raw = String::from_utf8(file("ncu_raw.csv")).unwrap();
    let renamed = raw.replace("dram__bytes_", "dram__bytes_op_");
    assert_ne!(renamed, raw);
    assert_eq!(
        read_profile(Kind::Table, renamed.as_bytes()).unwrap(),
        read_profile(Kind::Table, raw.as_bytes()).unwrap()
    );
}

/// A profiler writes numbers as the locale of its machine does.
#[test]
fn numbers_with_decimal_commas() {
    let table = |time: &str, unit: &str, read: &str| {
        let line = |id: u32, metric: &str, unit: &str, value: &str| {
            format!("\"{id}\",\"gemm\",\"{metric}\",\"{unit}\",\"{value}\"\n")
        };
        let text = [
            "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n".to_owned(),
            line(0, "Duration", unit, time),
            line(0, "dram__bytes_read.sum", "Kbyte", read),
        ];
        let profile = read_profile(Kind::Table, text.concat().as_bytes()).ok()?;
        let kernel = &profile.runs[0].kernels[0];
        Some((kernel.time_s * 1e9, kernel.read_bytes?))
    };
    for (time, unit, read, expected) in [
        ("1.211,94", "us", "5", Some((1_211_940.0, 5_000))),
        ("1,211.94", "us", "5", Some((1_211_940.0, 5_000))),
        ("1\u{202f}211,94", "us", "5", Some((1_211_940.0, 5_000))),
        ("1'211.94", "us", "5", Some((1_211_940.0, 5_000))),
        ("0,94", "us", "5", Some((940.0, 5_000))),
        // Which of both it is, only other numbers tell.
        ("1.211", "us", "5", Some((1_211.0, 5_000))),
        ("1,211", "us", "5", Some((1_211_000.0, 5_000))),
        ("1.211", "us", "7,5", Some((1_211_000.0, 7_500))),
        ("1,211", "us", "7,5", Some((1_211.0, 7_500))),
        ("1,211", "us", "7.5", Some((1_211_000.0, 7_500))),
        (
            "49.568",
            "ns",
            "1.932.911.616",
            Some((49_568.0, 1_932_911_616_000)),
        ),
        ("1.21.94", "us", "5", None),
        ("1,2,3", "us", "5", None),
    ] {
        let found = table(time, unit, read);
        let is_close = found.zip(expected).is_none_or(|((time, bytes), expected)| {
            (time - expected.0).abs() < 1e-6 && bytes == expected.1
        });
        assert!(
            is_close && found.is_some() == expected.is_some(),
            "{time} {unit}, {read}: {found:?}"
        );
    }
}
