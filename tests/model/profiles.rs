//! Measurements of visitors: files as the tools write them, and files that are not what they should
//! be.
//!
//! `measured_files/` has what PyTorch 2.11 and Nsight Compute wrote about `mlp.fuse` on an H200,
//! with fewer columns and rules; `nsys_gpu_trace.csv` has the same kernels in the columns of Nsight
//! Systems, and `bench.json` in the form of the script, whose times of whole calls are invented.

use fuseline_core::model::device::device_called;
use fuseline_core::notation::parse;
use fuseline_core::{Options, analyze_program};
use fuseline_import::profile::{
    Kind, MeasuredRun, Profile, Reader, Recognised, base_name, read_profile, recognise,
};
use std::path::PathBuf;

pub(crate) fn file(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/model/measured_files");
    std::fs::read(folder.join(name)).unwrap()
}

pub(crate) fn profile(name: &str) -> Profile {
    let bytes = file(name);
    let first = &bytes[..bytes.len().min(4096)];
    let Some(Recognised::Readable(kind)) = recognise(name, first) else {
        panic!("{name} is not recognised");
    };
    read_profile(kind, &bytes).unwrap()
}

/// Runs with their kernels: base name, time in ns, bytes, grid.
pub(crate) fn told(profile: &Profile) -> Vec<String> {
    let runs = profile.runs.iter().flat_map(|run| {
        let variant = run.variant.as_deref().unwrap_or("-");
        run.kernels.iter().map(move |kernel| {
            let bytes = kernel
                .moved_bytes
                .map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
            let grid = kernel
                .grid
                .map_or_else(|| "-".to_owned(), |[x, y, z]| format!("{x}x{y}x{z}"));
            format!(
                "{variant} {} {:.0} {bytes} {grid}",
                base_name(&kernel.name),
                kernel.time_s * 1e9
            )
        })
    });
    runs.collect()
}

#[test]
fn the_raw_page_of_nsight_compute() {
    let profile = profile("ncu_raw.csv");
    assert_eq!(profile.device.as_deref(), Some("NVIDIA H200"));
    assert_eq!(
        told(&profile),
        [
            "eager nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 49568 32911616 2x66x1",
            "eager elementwise_kernel 41184 46609664 32768x1x1",
            "eager vectorized_elementwise_kernel 23648 44839424 16384x1x1",
            "eager nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 45248 42001920 2x64x1",
            "eager elementwise_kernel 12800 8417792 8192x1x1",
            "eager vectorized_elementwise_kernel 7680 16783872 4096x1x1",
            "eager vectorized_layer_norm_kernel 12096 8403456 4096x1x1",
            "compiled nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 49056 31232512 2x66x1",
            "compiled triton_poi_fused_add_gelu_0 27040 37796352 16384x1x1",
            "compiled nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 45344 42108160 2x64x1",
            "compiled triton_per_fused_add_native_layer_norm_1 8416 16788736 4096x1x1",
        ]
    );
}

#[test]
fn the_base_page_of_nsight_compute() {
    let metrics = told(&profile("ncu_base_metrics.csv"));
    assert_eq!(metrics.len(), 11);
    assert_eq!(
        metrics[8],
        "compiled triton_poi_fused_add_gelu_0 26880 37790720 16384x1x1"
    );
    // Without counters of bytes they follow from the throughput.
    let sections = told(&profile("ncu_base.csv"));
    assert_eq!(sections.len(), 11);
    assert_eq!(
        sections[8],
        "compiled triton_poi_fused_add_gelu_0 26720 40230912 16384x1x1"
    );
}

#[test]
fn traces() {
    let eager = profile("trace_eager.json");
    assert_eq!(eager.device.as_deref(), Some("NVIDIA H200"));
    assert_eq!(
        told(&eager),
        [
            "- nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 48000 - 2x66x1",
            "- elementwise_kernel 42560 - 32768x1x1",
            "- vectorized_elementwise_kernel 23776 - 16384x1x1",
            "- nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT 44480 - 2x64x1",
            "- elementwise_kernel 10944 - 8192x1x1",
            "- vectorized_elementwise_kernel 6080 - 4096x1x1",
            "- vectorized_layer_norm_kernel 10752 - 4096x1x1",
        ]
    );
    let gaps = eager.runs[0].gaps_s();
    let in_ns =
        |gap: Option<f64>| gap.map_or_else(|| "-".to_owned(), |gap| format!("{:.0}", gap * 1e9));
    let gaps: Vec<String> = gaps.into_iter().map(in_ns).collect();
    assert_eq!(gaps, ["-", "72576", "864", "34048", "1088", "992", "42271"]);
    assert_eq!(
        told(&profile("nsys_gpu_trace.csv")),
        told(&profile("trace_compiled.json"))
    );
}

/// Runs are ranges with the names of variants; where there are none, all is one run.
#[test]
fn ranges_that_are_runs() {
    let event = |category: &str, name: &str, from: u32, to: u32| {
        let time = to - from;
        format!(r#"{{"cat": "{category}", "name": "{name}", "ts": {from}, "dur": {time}}}"#)
    };
    let kernels = [
        event("kernel", "c", 60, 70),
        event("kernel", "a", 10, 20),
        event("kernel", "b", 30, 40),
        event("kernel", "d", 90, 95),
    ];
    let runs = |ranges: &[(&str, u32, u32)]| {
        let ranges = ranges
            .iter()
            .map(|&(name, from, to)| event("gpu_user_annotation", name, from, to));
        let events: Vec<String> = kernels.iter().cloned().chain(ranges).collect();
        let text = format!("[{}]\n ", events.join(","));
        let profile = read_profile(Kind::Trace, text.as_bytes()).unwrap();
        let run = |run: &MeasuredRun| {
            let names = run.kernels.iter().map(|kernel| &*kernel.name);
            let names: String = names.collect();
            format!("{} {names}", run.variant.as_deref().unwrap_or("-"))
        };
        profile.runs.iter().map(run).collect::<Vec<_>>()
    };
    assert_eq!(runs(&[]), ["- abcd"]);
    assert_eq!(
        runs(&[("aten::add", 10, 20), ("aten::mul", 30, 40)]),
        ["- abcd"]
    );
    assert_eq!(
        runs(&[("compiled", 60, 95), ("my part", 0, 50), ("eager", 10, 40)]),
        ["eager ab", "compiled cd"]
    );
    assert_eq!(
        runs(&[
            ("eager", 30, 40),
            ("eager", 10, 40),
            ("eager", 10, 40),
            ("compiled", 60, 95)
        ]),
        ["eager ab", "compiled cd"]
    );
    assert_eq!(
        runs(&[
            ("ProfilerStep#2", 60, 95),
            ("ProfilerStep#1", 10, 40),
            ("eager", 10, 20)
        ]),
        ["- cd"]
    );

    let raw = String::from_utf8(file("ncu_raw.csv")).unwrap();
    let variants = |table: &str| {
        let profile = read_profile(Kind::Table, table.as_bytes()).unwrap();
        let run = |run: MeasuredRun| (run.variant, run.kernels.len());
        profile.runs.into_iter().map(run).collect::<Vec<_>>()
    };
    let named = |name: &str| Some(name.to_owned());
    let other = raw.replace(":eager:", ":aten::add:");
    assert_eq!(variants(&other), [(named("compiled"), 4)]);
    assert_eq!(
        variants(&other.replace(":compiled:", ":aten::mul:")),
        [(None, 11)]
    );
    let inside = raw.replace(
        r#"<default domain>:eager:none:none:none:none:none:none"" "#,
        r#"<default domain>:eager:none:none:none:none:none:none"" ""<default domain>:aten::add:none:none:none:none:none:none"" "#,
    );
    assert_ne!(inside, raw);
    assert_eq!(
        variants(&inside),
        [(named("eager"), 7), (named("compiled"), 4)]
    );
}

#[test]
fn slices_of_any_length_say_the_same() {
    for name in [
        "ncu_raw.csv",
        "ncu_base.csv",
        "trace_eager.json",
        "trace_steps_on_cpu.json",
        "nsys_gpu_trace.csv",
    ] {
        let bytes = file(name);
        let whole = profile(name);
        for length in [1, 7, 1000] {
            let mut reader = Reader::new(whole.kind);
            bytes
                .chunks(length)
                .for_each(|slice| reader.push(slice).unwrap());
            assert_eq!(
                reader.finish().unwrap(),
                whole,
                "{name} in slices of {length}"
            );
        }
    }
}

#[test]
fn what_is_no_measurement_gets_a_sentence() {
    let trace = String::from_utf8(file("trace_eager.json")).unwrap();
    let half = &trace[..trace.len() / 2];
    let with_nan = trace.replacen("\"dur\": 48.0", "\"dur\": NaN", 1);
    let raw = String::from_utf8(file("ncu_raw.csv")).unwrap();
    let without_columns = "A table of kernels needs the columns \"ID\", \"Kernel Name\" and metrics (ncu --csv), \"Start (ns)\", \"Duration (ns)\" and \"Name\" (nsys stats --report cuda_gpu_trace), or those of rocprof.";
    let cases: &[(Kind, &str, String)] = &[
        (Kind::Trace, half, "This trace is cut off after 40 events and 11210 bytes. It may have been copied while the profiler was still writing.".to_owned()),
        (Kind::Trace, &with_nan, "This trace is not valid JSON at line 154, byte 4960, after 20 events: NaN is not a JSON number.".to_owned()),
        (Kind::Trace, "{\"traceEvents\": []}", "This trace has 0 events but no kernel (\"cat\": \"kernel\"). Record with activities=[ProfilerActivity.CUDA].".to_owned()),
        (Kind::Table, "name,calories\napple,52\n", format!("{without_columns} This table starts with name, calories.")),
        (Kind::Table, "", format!("{without_columns} This file has no table.")),
        (Kind::Table, "==ERROR== ERR_NVGPUCTRPERM - no permission\n", format!("{without_columns} The profiler says: ERR_NVGPUCTRPERM - no permission.")),
        (Kind::Table, &raw.replace("gpu__time_duration.sum", "x"), "This Nsight Compute table has no times: add gpu__time_duration.sum to --metrics.".to_owned()),
        (Kind::Table, &raw.replace("\"49,568\"", "\"fast\""), "Line 8 of this table: \"fast\" is not a number of at least 0.".to_owned()),
        (Kind::Table, &raw.replace("\"ns\"", "\"parsec\""), "Line 8 of this table: the unit of gpu__time_duration.sum is \"parsec\", but must be ns, us, ms, s, byte, Kbyte, Mbyte or Gbyte.".to_owned()),
        (Kind::Script, "{\"torch\": \"2.11\", \"rows\": [{\"variant\": \"eager\", \"time_us\": NaN}]}", script("rows[0].time_us: NaN is not a JSON number at line 1 column 60")),
        (Kind::Script, "{\"program\": \"p\", \"device\": \"cpu\", \"torch\": \"2\", \"rows\": [{\"variant\": \"eager\", \"errors\": [0.0]}]}", "The script ran on cpu and timed nothing. Run it where PyTorch finds a GPU.".to_owned()),
        (Kind::Script, "{\"program\": \"p\", \"device\": \"g\", \"torch\": \"2\", \"rows\": [{\"variant\": \"eager\", \"kernels\": [{\"name\": \"k\", \"time_us\": -1}]}]}", script("rows[0].kernels[0].time_us: a time is at least 0, and this one is -1 at line 1 column 116")),
        (Kind::Script, &" ".repeat(8_000_001), "This measurement could not be read: it exceeds the limit of 8 MB.".to_owned()),
        (Kind::Script, "{\"program\": \"p\", \"rows\": [", script("rows: EOF while parsing a list at line 1 column 26")),
    ];
    for (kind, text, sentence) in cases {
        let problem = read_profile(*kind, text.as_bytes()).unwrap_err();
        assert_eq!(problem.to_string(), *sentence);
    }
}

/// Wherever a table ends, it is refused, or says nothing of a kernel but what the whole one says.
#[test]
fn a_table_that_is_cut_says_nothing_wrong() {
    for name in [
        "ncu_raw.csv",
        "ncu_base.csv",
        "ncu_base_metrics.csv",
        "nsys_gpu_trace.csv",
    ] {
        let bytes = file(name);
        let whole = told(&profile(name));
        let mut refused = 0;
        let ends = (0..bytes.len())
            .step_by(97)
            .chain(bytes.len() - 60..bytes.len() - 1);
        for end in ends.clone() {
            let Ok(cut) = read_profile(Kind::Table, &bytes[..end]) else {
                refused += 1;
                continue;
            };
            for (kernel, of_whole) in told(&cut).iter().zip(&whole) {
                let mut fields = kernel.split(' ').zip(of_whole.split(' ')).enumerate();
                let is_right = fields.all(|(field, (said, whole))| {
                    // Nsight Systems has the name last, without a sign for its end.
                    let is_part = field == 1 && name.starts_with("nsys") && whole.starts_with(said);
                    said == whole || said == "-" || is_part
                });
                assert!(is_right, "{name} cut at {end}: {kernel}, not {of_whole}");
            }
        }
        assert!(refused > ends.count() / 4, "{name}: {refused} refused");
    }
    let cases = [
        ("ncu_raw.csv", 700),
        ("ncu_base.csv", 501),
        ("nsys_gpu_trace.csv", 700),
        ("nsys_gpu_trace.csv", 400),
    ];
    let sentences = cases.map(|(name, part)| {
        let bytes = file(name);
        let end = bytes.len() * part / 1000;
        (read_profile(Kind::Table, &bytes[..end]).unwrap_err()).to_string()
    });
    let cut = "so the file may have been copied while the profiler was still writing.";
    assert_eq!(
        sentences,
        [
            format!("Line 14 of this table: it has 7 of the 26 columns, {cut}"),
            format!("Line 35 of this table: it has 8 of the 17 columns, {cut}"),
            format!("Line 5 of this table: it has 4 of the 21 columns, {cut}"),
            format!("Line 3 of this table: it has 9 of the 21 columns, {cut}"),
        ]
    );
}

fn script(problem: &str) -> String {
    format!(
        "This is not a measurement by a program's script: {problem}. docs/measurement.md lists the fields."
    )
}

#[test]
fn files_are_recognised_by_what_they_begin_with() {
    let readable = |kind| Some(Recognised::Readable(kind));
    let cases = [
        (
            "bench.json",
            "{\n \"program\": \"p\",\n \"device\": \"NVIDIA H200\",\n \"torch\": \"2.11\"",
            readable(Kind::Script),
        ),
        (
            "trace.json",
            "{\"schemaVersion\": 1, \"deviceProperties\": [",
            readable(Kind::Trace),
        ),
        (
            "trace.json",
            "[{\"ph\": \"X\", \"cat\": \"kernel\"",
            readable(Kind::Trace),
        ),
        (
            "log.txt",
            "==PROF== Connected to process 1\n\"ID\"",
            readable(Kind::Table),
        ),
        ("any.csv", "a,b\n", readable(Kind::Table)),
        (
            "ops.json",
            "[{\"name\": \"h\", \"op_type\": \"matmul\"",
            None,
        ),
        ("ops.fuse", "h = matmul(x, w) : bf16[1, 2]", None),
        ("ops.py", "Op(\"h\", \"matmul\", [\"x\"])", None),
    ];
    for (name, first, expected) in cases {
        assert_eq!(
            recognise(name, first.as_bytes()),
            expected,
            "{name}: {first}"
        );
    }
    for name in ["report.ncu-rep", "report.nsys-rep"] {
        assert!(matches!(
            recognise(name, b"\0\0"),
            Some(Recognised::Convertible(_))
        ));
    }
}

/// Names and comments do not count; functions, sizes, types and reads do. Scripts of earlier builds
/// hold digests.
#[test]
fn the_digest_follows_what_is_computed() {
    let digest = |text: &str| {
        let outcome = analyze_program(&parse(text).program, &Options::default());
        outcome.analysis.unwrap().graph.digest()
    };
    let text = String::from_utf8(file("mlp.fuse")).unwrap();
    let own = digest(&text);
    assert_eq!(own, "19c6f3943c30fe2a");
    assert_eq!(profile("bench.json").digest, Some(own.clone()));
    assert_eq!(
        digest(
            &text
                .replace("h = ", "up: hidden = ")
                .replace("add(h,", "add(hidden,")
        ),
        own
    );
    assert_eq!(digest(&format!("# a comment\n{text}")), own);
    for (from, to) in [
        ("gelu(a, approximate=none)", "relu(a)"),
        ("bf16", "f16"),
        ("4096, 1024", "2048, 1024"),
        ("add(z, x)", "add(y, x)"),
    ] {
        assert_ne!(digest(&text.replace(from, to)), own, "{from}");
    }
}

#[test]
fn files_of_one_program_join() {
    let mut script = profile("bench.json");
    let cold_us = script.runs[1].time_cold_s.unwrap() * 1e6;
    assert!((cold_us - 131.7).abs() < 1e-6);
    assert!(script.runs.iter().all(|run| {
        run.kernels
            .iter()
            .all(|kernel| kernel.moved_bytes.is_none())
    }));
    let mut table = profile("ncu_raw.csv");
    let from_other_side = {
        table.add(script.clone()).unwrap();
        table
    };
    script.add(profile("ncu_raw.csv")).unwrap();
    assert_eq!(script, from_other_side);
    assert_eq!(script.runs.len(), 2);
    assert!(script.runs.iter().all(|run| {
        run.kernels
            .iter()
            .all(|kernel| kernel.moved_bytes.is_some())
    }));
    // Another file of the same kind takes its place; what ran nowhere else is a run of its own.
    let mut trace = profile("trace_eager.json");
    trace.add(profile("trace_compiled.json")).unwrap();
    assert_eq!(trace, profile("trace_compiled.json"));
    trace.runs[0].kernels.pop();
    let first = trace.runs[0].kernels[0].clone();
    trace.runs[0].kernels.push(first);
    trace.add(profile("bench.json")).unwrap();
    assert_eq!(trace.runs.len(), 3);
    let mut elsewhere = profile("trace_eager.json");
    elsewhere.device = Some("NVIDIA A100-SXM4-80GB".to_owned());
    let before = elsewhere.clone();
    let problem = elsewhere.add(profile("bench.json")).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "This file was measured on NVIDIA H200, but the open measurement on NVIDIA A100-SXM4-80GB: close the open one first."
    );
    assert_eq!(elsewhere, before);
}

#[test]
fn devices_by_the_names_of_drivers() {
    for (driver, id) in [
        ("NVIDIA H200", Some("h200")),
        ("NVIDIA H100 80GB HBM3", Some("h100")),
        ("NVIDIA H100 PCIe", Some("h100-pcie")),
        ("NVIDIA H100 NVL", None),
        ("NVIDIA A100-SXM4-80GB", Some("a100-80")),
        ("NVIDIA A100-SXM4-40GB", Some("a100-40")),
        ("NVIDIA A100 80GB PCIe", Some("a100-pcie-80")),
        ("NVIDIA GeForce RTX 4090", Some("rtx-4090")),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA L40S", Some("l40s")),
        ("Tesla V100-SXM2-16GB", Some("v100")),
        ("NVIDIA GeForce GTX 1080", None),
    ] {
        assert_eq!(
            device_called(driver).map(|device| &*device.id),
            id,
            "{driver}"
        );
    }
}

#[test]
fn the_base_name_of_a_kernel_is_without_templates_and_namespaces() {
    use fuseline_import::profile::base_name;
    assert_eq!(
        base_name("void at::native::(anonymous namespace)::row_kernel<float>(int)"),
        "row_kernel"
    );
    assert_eq!(
        base_name("triton_poi_fused_add_0"),
        "triton_poi_fused_add_0"
    );
}
