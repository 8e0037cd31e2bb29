//! What is read of a measurement where files spell it in more than one way: the kernels of a step,
//! counters of bytes, and numbers.

use crate::profiles::{file, profile, told};
use fuseline_import::profile::{Kind, Recognised, read_profile, recognise};

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

/// A spreadsheet with decimal commas separates fields by semicolons, and cells that are copied from
/// it by tabs.
#[test]
fn a_table_that_a_spreadsheet_saved() {
    let lines = [
        "==PROF== Connected to process 7",
        "\"ID\";\"Kernel Name\";\"gpu__time_duration.sum\";\"dram__bytes_read.sum\"",
        "\"\";\"\";\"us\";\"Mbyte\"",
        "\"0\";\"rms_norm\";\"3,14\";\"0,07\"",
        "\"1\";\"add<int, float>\";\"1.002,5\";\"1,5\"",
    ];
    for end in ["\n", "\r\n"] {
        for lines in [
            lines.map(str::to_owned),
            lines.map(|line| line.replace('"', "")),
        ] {
            let text = lines.join(end) + end;
            assert_eq!(
                recognise("table.txt", text.as_bytes()),
                Some(Recognised::Readable(Kind::Table))
            );
            let profile = read_profile(Kind::Table, text.as_bytes()).unwrap();
            let [first, second] = &profile.runs[0].kernels[..] else {
                panic!("two kernels");
            };
            assert_eq!(&*first.name, "rms_norm");
            assert_eq!(&*second.name, "add<int, float>");
            let times_us = [first, second].map(|kernel| format!("{:.2}", kernel.time_s * 1e6));
            assert_eq!(times_us, ["3.14", "1002.50"]);
            assert_eq!(first.read_bytes, Some(70_000));
        }
    }
    let cut = lines.map(|line| line.replace("1.002,5", "much")).join("\n");
    let problem = read_profile(Kind::Table, cut.as_bytes()).unwrap_err();
    assert!(
        problem
            .to_string()
            .starts_with("Line 5 of this table: \"much\""),
        "{problem}"
    );
}

/// A table of sums has no call, so the greatest common divisor of its counts is one, and what ran
/// once prepares something.
#[test]
fn tables_of_sums_give_one_call() {
    for (name, product) in [
        ("nsys_kern_sum.csv", "Kernel2"),
        ("rocprof_stats.csv", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32.kd"),
        (
            "rocprofv3_kernel_stats.csv",
            "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32",
        ),
        (
            "key_averages.txt",
            "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_6...",
        ),
    ] {
        let profile = profile(name);
        assert!(profile.runs[0].is_summed, "{name}");
        let relu = if name == "rocprof_stats.csv" {
            "- triton_poi_fused_relu_0.kd 30000 - -"
        } else {
            "- triton_poi_fused_relu_0 30000 - -"
        };
        let product = format!("- {product} 50000 - -");
        assert_eq!(told(&profile), [&product, &product, relu], "{name}");
    }
}

#[test]
fn launches_of_rocm() {
    for (name, suffix, columns) in [
        ("rocprof.csv", ".kd", 1),
        ("rocprofv3_kernel_trace.csv", "", 2),
    ] {
        let profile = profile(name);
        // A grid of ROCm counts threads, not blocks.
        assert_eq!(
            told(&profile),
            [
                format!("- Cijk_Ailk_Bljk_HHS_BH_MT128x128x32{suffix} 50000 - 256x{columns}x1"),
                format!("- triton_poi_fused_relu_0{suffix} 30000 - 4096x1x1"),
            ],
            "{name}"
        );
        let start_s = profile.runs[0].kernels[1].start_s.unwrap();
        assert!((start_s - 58e-6).abs() < 1e-9, "{name}: {start_s}");
    }
}

/// The window of Nsight Compute writes units into the names of columns.
#[test]
fn tables_of_the_window_of_nsight_compute() {
    assert_eq!(
        told(&profile("ncu_window.csv")),
        ["- add_kernel 12350 - 1024x1x1", "- gemm 49570 - 64x2x1"]
    );
    let raw = profile("ncu_window_raw.csv");
    assert_eq!(told(&raw), ["- add_kernel 12350 4702000 1024x1x1"]);
    assert_eq!(raw.device.as_deref(), Some("NVIDIA H100 80GB HBM3"));
}

#[test]
fn a_trace_of_jax_is_told_in_its_words() {
    assert_eq!(
        told(&profile("jax_trace.json")),
        [
            "- cublas_gemm_128x64_tn 50000 - 128x2x1",
            "- loop_add_fusion 30000 - 1024x1x1",
        ]
    );
    let text = String::from_utf8(file("jax_trace.json")).unwrap();
    let on_cpu = text.replace("kernel_details", "details");
    let problem = read_profile(Kind::Trace, on_cpu.as_bytes()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "This trace of JAX has 7 events but no kernel of a GPU. Record one call where JAX runs on a GPU: jax.profiler.start_trace(folder), the call with block_until_ready(), jax.profiler.stop_trace()."
    );
}

#[test]
fn a_printed_table_without_kernels_gets_a_sentence() {
    let text = String::from_utf8(file("key_averages.txt")).unwrap();
    let refused = |text: &str| {
        let problem = read_profile(Kind::Averages, text.as_bytes()).unwrap_err();
        problem.to_string()
    };
    let without = "This table of torch.profiler has no kernel of a GPU. Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA].";
    assert_eq!(refused(&text.replace("Self CUDA", "Self Any ")), without);
    let operators: Vec<&str> = text.lines().take(5).collect();
    assert_eq!(refused(&operators.join("\n")), without);
    assert_eq!(
        refused(&text.replace("---", "")),
        "This table of torch.profiler lacks its head: copy all that key_averages().table() prints, with the lines of dashes."
    );
    for end in 0..text.len() {
        let _ = read_profile(Kind::Averages, &text.as_bytes()[..end]);
    }
}
