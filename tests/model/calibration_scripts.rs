//! Records of what the scripts of programs saved. The files in `calibrated/` are those of an H100.

use crate::cli::{json, run, stderr, stdout};
use fuseline_core::model::calibration::{Calibrations, FusionCalibration};
use fuseline_view::opened::model_file::{FileKind, kind_of};
use serde_json::{Value, json as value};
use std::path::{Path, PathBuf};

const ADD_LAYERNORM: [&str; 2] = [
    "tests/model/calibrated/add_layernorm_small.json",
    "tests/model/calibrated/add_layernorm.json",
];
const LINEAR_BIAS_GELU: &str = "tests/model/calibrated/linear_bias_gelu.json";
const MLP: &str = "tests/model/measured_files/bench.json";

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fuseline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text_of(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn value_of(path: &str) -> Value {
    serde_json::from_str(&text_of(path)).unwrap()
}

fn records(files: &[&str]) -> Calibrations {
    let made = json(&[&["calibrate", "--json"], files].concat(), "");
    Calibrations::read(&made.to_string()).unwrap()
}

/// What `calibrate` says where it fails.
fn refused(arguments: &[&str]) -> String {
    let output = run(&[&["calibrate"], arguments].concat(), "");
    assert!(!output.status.success(), "{}", stdout(&output));
    assert_eq!(stdout(&output), "");
    stderr(&output).to_owned()
}

/// A file of a script that ran this program: eager in as many kernels as it has ops, compiled in
/// one and twice as fast.
fn saved(program: &str, text: &str, device: &Value) -> String {
    let ops = text.matches(" = relu(").count();
    let row = |variant: &str, kernels: usize, time_us: usize| {
        let kernel = value!({"name": "k", "start_us": 0, "time_us": 2});
        value!({"variant": variant, "errors": [0.0], "time_us": time_us, "time_cold_us": time_us, "kernels": vec![kernel; kernels]})
    };
    let rows = [row("eager", ops, 20), row("compiled", 1, 10)];
    value!({"program": program, "digest": "0", "device": device, "torch": "2.11.0", "rows": rows, "text": text}).to_string()
}

#[test]
fn each_script_s_file_is_a_record_at_the_sizes_of_its_program() {
    let made = records(&[ADD_LAYERNORM[0], ADD_LAYERNORM[1], LINEAR_BIAS_GELU]);
    assert_eq!(made.device, "NVIDIA H100 80GB HBM3");
    assert_eq!(made.torch, "2.11.0+cu130");
    let of = |record: &FusionCalibration| {
        let sizes: Vec<i64> = record.extra_params.values().copied().collect();
        let kernels = (record.unfused_kernels, record.fused_kernels);
        let latencies = (record.unfused_latency_ms, record.fused_latency_ms);
        (record.fusion_pattern.clone(), sizes, kernels, latencies)
    };
    let made: Vec<_> = made.patterns.iter().map(of).collect();
    let expected = [
        (
            "add_layernorm",
            vec![2048, 4096],
            (2, 1),
            (0.036_84, 0.023_16),
        ),
        (
            "add_layernorm",
            vec![8192, 8192],
            (2, 1),
            (0.278_81, 0.135_82),
        ),
        // With max-autotune one kernel, which is slower.
        (
            "linear_bias_gelu",
            vec![4096; 3],
            (3, 1),
            (0.238_15, 0.252_93),
        ),
    ];
    for (made, (pattern, sizes, kernels, latencies)) in made.iter().zip(expected) {
        assert_eq!(
            (made.0.as_str(), &made.1, made.2),
            (pattern, &sizes, kernels)
        );
        let is_near = |(a, b): (f64, f64)| (a - b).abs() < 1e-9;
        assert!(
            is_near((made.3.0, latencies.0)) && is_near((made.3.1, latencies.1)),
            "{made:?}"
        );
    }
    assert_eq!(made.len(), 3);
}

/// The notes on what is unlikely stand below these records, too, beside what is expected of the GPU
/// with its rates in the file.
#[test]
fn the_report_has_notes() {
    let output = run(&["calibrate", LINEAR_BIAS_GELU, ADD_LAYERNORM[1]], "");
    let text = stdout(&output);
    assert!(
        text.contains("note: the fused run is slower: 0.94×"),
        "{text}"
    );
    assert!(
        text.contains("add_layernorm: add + layer_norm (M=8192, N=8192)"),
        "{text}"
    );
    assert_eq!(stderr(&output), "");
}

/// From the file of a script to the decision, on a GPU of which nothing is shipped.
#[test]
fn the_records_decide_what_is_one_kernel() {
    let folder = Folder::new("circle");
    let made = run(&[&["calibrate", "--json"], &ADD_LAYERNORM[..]].concat(), "");
    let path = folder.write("records.json", stdout(&made));
    // As the page takes a file that is dropped on it.
    let text = text_of(&path);
    assert_eq!(
        kind_of("records.json", text.as_bytes()),
        FileKind::Calibrations
    );
    assert!(Calibrations::read(&text).is_ok());
    let program = "public/measured/add_layernorm.fuse";
    let search = [
        "--policy",
        "optimal",
        "--objective",
        "measured",
        "--device",
        "a100-80",
    ];
    for (threshold, size, kernels, step) in [
        (
            "1.2",
            "M=8192",
            "2 -> 1 kernels",
            "by measurement: add_layernorm was 2.05× faster at 604 MFLOP",
        ),
        ("1.8", "M=8192", "2 -> 1 kernels", "2.05×"),
        ("1.8", "M=1024", "2 -> 2 kernels", ""),
        ("2.5", "M=8192", "2 -> 2 kernels", ""),
    ] {
        let rest = [
            "--calibrations",
            &path,
            "--min-speedup",
            threshold,
            "--set",
            size,
            "--steps",
        ];
        let output = run(&[&["analyze", program], &search[..], &rest].concat(), "");
        let text = stdout(&output);
        assert!(
            text.contains(kernels) && text.contains(step),
            "{threshold} {size}: {text}"
        );
    }
}

/// Files without a program: one beside them is taken if it is the one that ran.
#[test]
fn an_older_file_is_read_with_the_program_beside_it() {
    let [mlp] = records(&[MLP]).patterns.try_into().unwrap();
    assert_eq!(mlp.fusion_pattern, "mlp");
    assert_eq!((mlp.unfused_kernels, mlp.fused_kernels), (7, 4));
    let program = text_of("tests/model/measured_files/mlp.fuse");
    let folder = Folder::new("older");
    let file = folder.write("bench.json", &text_of(MLP));
    let path = folder.0.join("mlp.fuse");
    let path = path.to_str().unwrap();
    assert_eq!(
        refused(&[&file]),
        format!(
            "error: {file}: it lacks its program, which newer scripts save: put the program there as {path}\n"
        )
    );
    folder.write("mlp.fuse", &program.replace("4096", "2048"));
    assert_eq!(
        refused(&[&file]),
        format!(
            "error: {file}: {path} differs from the measured program, or has other sizes: put the measured program there\n"
        )
    );
    folder.write("mlp.fuse", &program);
    assert_eq!(records(&[&file]).patterns, [mlp]);
    // Older scripts had the path of the program as its name.
    let named = text_of(MLP).replace("\"mlp\"", "\"/models/mlp.fuse\"");
    let file = folder.write("bench.json", &named);
    assert_eq!(records(&[&file]).patterns[0].fusion_pattern, "mlp");
}

/// Programs of one name, and without params, are told apart by their tensors.
#[test]
fn other_sizes_are_other_records() {
    let folder = Folder::new("sizes");
    let device = value!("NVIDIA H100 80GB HBM3");
    let files: Vec<String> = [1024, 4096]
        .map(|rows| {
            let text = format!("input x : f16[{rows}, 1024]\ny = relu(x)\nz = relu(y)\n");
            folder.write(&format!("{rows}.json"), &saved("chain", &text, &device))
        })
        .to_vec();
    let made = records(&[&files[0], &files[1]]).patterns;
    let shapes: Vec<_> = made
        .iter()
        .map(|record| record.input_shape.clone())
        .collect();
    assert_eq!(shapes, [[1024, 1024], [4096, 1024]]);
    // A second run of the same program is no second record.
    assert_eq!(records(&[&files[0], &files[0]]).patterns.len(), 1);
}

#[test]
fn a_program_without_a_record_is_named() {
    let folder = Folder::new("skipped");
    let device = value!("NVIDIA H100 80GB HBM3");
    let chain = |ops: usize| {
        let op = |at: usize| format!("t{} = relu(t{at})\n", at + 1);
        "input t0 : f16[64, 64]\n".to_owned() + &(0..ops).map(op).collect::<String>()
    };
    let model = folder.write("model.json", &saved("model", &chain(65), &device));
    let wrong = folder.write("wrong.json", &saved("wrong", "y = relu(x, 2, 3)", &device));
    let mut lone: Value = serde_json::from_str(&saved("lone", &chain(2), &device)).unwrap();
    lone["rows"].as_array_mut().unwrap().pop();
    let lone = folder.write("lone.json", &lone.to_string());
    for (file, reason) in [
        (
            &model,
            "model: it has 65 ops, and the search tries kernels of at most 64. `fuseline measured PROGRAM FILE` finds measured patterns in it",
        ),
        (
            &wrong,
            "wrong: its program cannot be analyzed; `fuseline analyze` says why",
        ),
        (
            &lone,
            "lone: it needs an eager run and another run, both with a time: run its script where PyTorch finds a GPU",
        ),
    ] {
        let warning = format!("warning: no record of {reason}\n");
        assert_eq!(
            refused(&[file]),
            warning.clone() + "error: no pattern gives a record\n"
        );
        let output = run(&["calibrate", "--json", LINEAR_BIAS_GELU, file], "");
        assert!(output.status.success());
        assert_eq!(stderr(&output), warning);
    }
}

/// A program of which a line was lost would be another one.
#[test]
fn a_program_with_an_error_is_shown() {
    let folder = Folder::new("damaged");
    let text = "input x : f16[64, 64]\ny = relu(x\nz = relu(x)\n";
    let device = value!("NVIDIA H100 80GB HBM3");
    let file = folder.write("damaged.json", &saved("damaged", text, &device));
    let told = refused(&[&file]);
    assert!(
        told.contains(&format!("the program in {file}:2:")),
        "{told}"
    );
}

#[test]
fn a_gpu_that_is_not_known_has_to_be_named() {
    let folder = Folder::new("gpu");
    let text = "input x : f16[1024, 1024]\ny = relu(x)\nz = relu(y)\n";
    let file = folder.write("bench.json", &saved("chain", text, &value!("Voodoo 2")));
    assert_eq!(
        refused(&[&file]),
        "error: the table of devices has no Voodoo 2: name a similar one with --device, or a file that `python bench.py --probe` saved on it\n"
    );
    let made = run(&["calibrate", "--device", "a100-80", "--json", &file], "");
    let made = Calibrations::read(stdout(&made)).unwrap();
    assert_eq!(made.device, "Voodoo 2");
    assert_eq!(
        refused(&[&file, LINEAR_BIAS_GELU]),
        "error: the files come from two GPUs, Voodoo 2 and NVIDIA H100 80GB HBM3: calibrate each GPU separately\n"
    );
}

/// Whatever file is given, a sentence says what it is or what was expected, without types of the
/// source.
#[test]
fn other_files_get_a_sentence() {
    let folder = Folder::new("other");
    let expected = "Use a file that a program's script saved on a GPU";
    let mut strings = value_of(MLP);
    strings["rows"][0]["kernels"] = value!(["a", "b"]);
    let strings = folder.write("strings.json", &strings.to_string());
    let cut = folder.write("cut.json", &text_of("public/measured/h100.json")[..2000]);
    let rows = folder.write(
        "rows.json",
        r#"{"device": "d", "torch": "2", "note": "", "rows": [{"pattern": "p"}, 7]}"#,
    );
    let [h100, records] = [
        "public/measured/h100.json",
        "public/measured/h100_fusion.json",
    ];
    let program = "public/measured/add_relu.fuse";
    let optimal = ["--policy", "optimal", "--objective", "measured"];
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["calibrate", "tests/model/measured_files/ncu_raw.csv"],
            &[
                "it is a profiler's table, which does not time both eager and compiled runs",
                expected,
            ],
        ),
        (
            &["calibrate", "tests/model/measured_files/trace_eager.json"],
            &["it is a trace,", expected],
        ),
        (
            &["calibrate", records],
            &["it already contains records", expected],
        ),
        (
            &["calibrate", program],
            &["it is not a measurement", expected],
        ),
        (
            &["calibrate", &strings],
            &["expected a kernel with `name` and `time_us`"],
        ),
        (
            &["calibrate", &cut],
            &["this is not a file of measured patterns, whose fields docs/measurement.md lists: "],
        ),
        (
            &["calibrate", &rows],
            &[
                "this is not a file of measured patterns",
                "rows[0]: missing field `size`",
            ],
        ),
        (
            &["measured", program, h100],
            &[
                "it contains measured patterns",
                "`fuseline calibrate FILE` makes records",
            ],
        ),
        (
            &["analyze", h100],
            &["it contains measured patterns: `fuseline calibrate FILE` makes records"],
        ),
        (
            &[&["analyze", program, "--calibrations", MLP], &optimal[..]].concat(),
            &["this is not a file of records, which `fuseline calibrate FILE --json` writes"],
        ),
        (
            &["analyze", program, "--device", MLP],
            &["expected the rates of a GPU, as `python bench.py --probe` saves them"],
        ),
    ];
    for (arguments, sentences) in cases {
        let output = run(arguments, "");
        assert!(!output.status.success(), "{arguments:?}");
        let told = stderr(&output);
        for sentence in *sentences {
            assert!(told.contains(sentence), "{arguments:?}: {told}");
        }
        assert!(!told.contains("struct"), "{told}");
    }
    let start = text_of(h100);
    assert_eq!(
        kind_of("h100.json", &start.as_bytes()[..65_536]),
        FileKind::Measurements
    );
}
