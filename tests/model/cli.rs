//! The command line, run as a process.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs the binary with `stdin`.
pub(crate) fn run(arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fuseline"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A process that refuses its arguments may exit before it reads its input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

pub(crate) fn json(arguments: &[&str], stdin: &str) -> Value {
    let output = run(arguments, stdin);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

const NOTATION: &str = "\
param M = 1024 in 128..8192 step 128
input x : f16[M, 1024]
weight w1 : f16[1024, 4096]
weight b1 : f16[4096]
weight w2 : f16[4096, 1024]
matmul1: y1 = matmul(x, w1)
bias1: y2 = add(y1, b1)
relu: y3 = relu(y2)
matmul2: y4 = matmul(y3, w2)
";

const OP_LINES: &str = r#"ops = [
    Op("matmul1", "matmul", ["x", "w1"], "y1", (1024, 4096), 2),
    Op("bias1", "elementwise", ["y1", "b1"], "y2", (1024, 4096), 2),
    Op("relu", "elementwise", ["y2"], "y3", (1024, 4096), 2),
    Op("matmul2", "matmul", ["y3", "w2"], "y4", (1024, 1024), 2),
]
"#;

const JSON_LIST: &str = r#"[
  {"name": "matmul1", "op_type": "matmul", "inputs": ["x", "w1"], "output": "y1", "shape": [1024, 4096], "bytes_per_element": 2},
  {"name": "bias1", "op_type": "elementwise", "inputs": ["y1", "b1"], "output": "y2", "shape": [1024, 4096], "bytes_per_element": 2},
  {"name": "relu", "op_type": "elementwise", "inputs": ["y2"], "output": "y3", "shape": [1024, 4096], "bytes_per_element": 2},
  {"name": "matmul2", "op_type": "matmul", "inputs": ["y3", "w2"], "output": "y4", "shape": [1024, 1024], "bytes_per_element": 2}
]"#;

#[test]
fn all_three_forms_give_the_published_bytes() {
    for text in [NOTATION, OP_LINES, JSON_LIST] {
        let result = json(
            &["analyze", "-", "--externals", "known-only", "--json"],
            text,
        );
        assert_eq!(
            result["fusion_groups"],
            serde_json::json!([["matmul1", "bias1", "relu"], ["matmul2"]])
        );
        assert_eq!(result["unfused_traffic"]["total"], 52_428_800);
        assert_eq!(result["unfused_traffic"]["saved_by_fusion"], 0);
        assert_eq!(result["fused_traffic"]["bytes_read"], 8_388_608);
        assert_eq!(result["fused_traffic"]["bytes_written"], 10_485_760);
        assert_eq!(result["fused_traffic"]["saved_by_fusion"], 33_554_432);
        assert_eq!(result["savings_pct"], 64.0);
        assert_eq!(result["ops"].as_array().unwrap().len(), 4);
        assert_eq!(result["kernels"].as_array().unwrap().len(), 2);
        assert!(result["diagnostics"].is_array());
    }
}

#[test]
fn declared_sizes_count_by_default() {
    let result = json(&["analyze", "-", "--json"], NOTATION);
    assert_eq!(result["fused_traffic"]["total"], 37_756_928);
    assert_eq!(result["diagnostics"], serde_json::json!([]));
    assert_eq!(result["device"], "a100-80");
}

#[test]
fn undeclared_sizes_are_said_in_the_diagnostics() {
    let result = json(&["analyze", "-", "--json"], OP_LINES);
    let said = result["diagnostics"].as_array().unwrap();
    let about = |name: &str| {
        let quoted = format!("`{name}`");
        said.iter().any(|d| {
            d["code"] == "undeclared-tensor" && d["message"].as_str().unwrap().contains(&quoted)
        })
    };
    assert!(["x", "w1", "b1", "w2"].into_iter().all(about), "{said:?}");
}

#[test]
fn the_transformer_block_as_published() {
    let arguments = [
        "transformer",
        "--seq-len",
        "2048",
        "--hidden-dim",
        "4096",
        "--num-heads",
        "32",
    ];
    let result = json(&[&arguments[..], &["--json"]].concat(), "");
    assert_eq!(result["fusion_groups"].as_array().unwrap().len(), 9);
    assert_eq!(result["unfused_traffic"]["total"], 2_298_478_592_u64);
    assert_eq!(result["fused_traffic"]["total"], 1_962_934_272);
    assert!((result["savings_pct"].as_f64().unwrap() - 14.599).abs() < 5e-4);

    let table = run(&arguments, "");
    assert!(table.status.success());
    assert!(
        stdout(&table).starts_with("2.30 GB -> 1.96 GB"),
        "{}",
        stdout(&table)
    );
    assert_eq!(stdout(&table).lines().count(), 6 + 1 + 1 + 9);
}

#[test]
fn choices_change_the_result() {
    let total = |arguments: &[&str], text| {
        let arguments = [&["analyze", "-", "--json"], arguments].concat();
        json(&arguments, text)["fused_traffic"]["total"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(total(&["--policy", "none"], NOTATION), 71_311_360);
    assert_eq!(
        total(&["--set", "M=2048"], NOTATION) - total(&["--set", "M=1024"], NOTATION),
        1024 * 2 * (1024 + 4096 + 4096 + 1024)
    );
    let lone = "input x : f32[64, 64]\ny = reshape(x) : f32[4096]\n";
    assert_eq!(total(&["--reshape", "copy"], lone), 2 * 4 * 4096);
    assert_eq!(total(&["--reshape", "view"], lone), 0);
    let time = |device| {
        json(&["analyze", "-", "--json", "--device", device], NOTATION)["kernels"][0]["lower_bound_s"]
            .as_f64()
            .unwrap()
    };
    assert!(time("h200") < time("a100-80"));
    let f32_matmul = |choice: &[&str]| {
        let arguments = [&["analyze", "-", "--json"], choice].concat();
        json(&arguments, &NOTATION.replace("f16", "f32"))
    };
    let (plain, tf32) = (f32_matmul(&[]), f32_matmul(&["--f32-matmul", "tf32"]));
    assert_eq!(plain["conventions"]["f32_matmul"], "f32");
    assert_eq!(tf32["conventions"]["f32_matmul"], "tf32");
    assert_eq!(plain["kernels"][0]["bottleneck"], "vector");
    assert_eq!(tf32["kernels"][0]["bottleneck"], "matrix");
    assert_eq!(plain["fused_traffic"], tf32["fused_traffic"]);
}

#[test]
fn errors_name_line_column_and_source_line() {
    let text = "input x : f16[64]\ny = gellu(x)\n";
    let output = run(&["analyze", "-"], text);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(said.contains("<stdin>:2:5"), "{said}");
    assert!(said.contains("2 | y = gellu(x)\n"), "{said}");
    assert!(said.contains("  |     ^^^^^\n"), "{said}");
    assert!(said.contains("gelu"), "{said}");
}

#[test]
fn bad_calls_end_with_a_reason_and_never_with_a_panic() {
    let block = |h, n| {
        vec![
            "transformer",
            "--seq-len",
            "8",
            "--hidden-dim",
            h,
            "--num-heads",
            n,
        ]
    };
    let cases: Vec<(Vec<&str>, &str, i32, &str)> = vec![
        (vec!["analyze", "no/such/file"], "", 1, "no/such/file"),
        (vec!["analyze", "-"], "[1, 2", 1, "line 1 column"),
        (
            vec!["analyze", "-", "--set", "S=1"],
            "y = relu(x) : f16[4]",
            2,
            "declares no params",
        ),
        (
            vec!["analyze", "-", "--set", "N=1"],
            NOTATION,
            2,
            "use one of: M",
        ),
        (
            vec!["analyze", "-", "--set", "M"],
            NOTATION,
            2,
            "PARAM=VALUE",
        ),
        (vec!["analyze", "-", "--set", "M=-4"], NOTATION, 1, "M"),
        (
            vec!["analyze", "-", "--device", "abacus"],
            NOTATION,
            2,
            "a100-80",
        ),
        (
            vec!["analyze", "-", "--policy", "magic"],
            NOTATION,
            2,
            "none, rules",
        ),
        (block("10", "3"), "", 1, "does not divide"),
        (block("0", "3"), "", 1, "at least 1"),
        (block("9223372036854775807", "1"), "", 1, "2^63"),
        (vec![], "", 2, "Usage"),
    ];
    for (arguments, stdin, code, said) in cases {
        let output = run(&arguments, stdin);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            !stderr(&output).contains("panicked"),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn an_empty_list_and_stray_bytes_are_survived() {
    let empty = run(&["analyze", "-"], "");
    assert!(empty.status.success());
    assert!(stderr(&empty).contains("no ops"), "{}", stderr(&empty));
    let stray = run(&["analyze", "-"], "\u{0}\u{7}\u{fffd}\n\u{202e}= (((((");
    assert_eq!(stray.status.code(), Some(1));
}

#[test]
fn the_compiler_as_a_policy_default_and_tuned() {
    let groups = |more: &[&str]| {
        let mut arguments = vec!["analyze", "-", "--json", "--policy", "inductor"];
        arguments.extend(more);
        json(&arguments, NOTATION)["fusion_groups"].to_string()
    };
    assert_eq!(groups(&[]), r#"[["matmul1"],["bias1","relu"],["matmul2"]]"#);
    assert_eq!(
        groups(&["--max-autotune"]),
        r#"[["matmul1","bias1","relu"],["matmul2"]]"#
    );
}

#[test]
fn an_op_that_is_computed_twice_is_named_twice() {
    let text = "input a : f16[64, 64]\nweight w : f16[64, 64]\np = neg(a)\nq = relu(p)\n\
                m = matmul(q, w)\nn = matmul(m, w)\ny = sub(n, p)\n";
    let arguments = ["analyze", "-", "--policy", "inductor"];
    let output = run(&arguments, text);
    assert!(
        stdout(&output).contains("y, recomputes p"),
        "{}",
        stdout(&output)
    );
    let report = json(&["analyze", "-", "--json", "--policy", "inductor"], text);
    assert_eq!(report["kernels"][3]["recomputed"].to_string(), r#"["p"]"#);
}

/// At 1 ms a launch, four small kernels take 4 ms.
#[test]
fn a_launch_of_ones_own_and_the_limits() {
    let small = NOTATION.replace("1024", "128").replace("4096", "128");
    let call = [
        "analyze",
        "-",
        "--policy",
        "none",
        "--launch-us",
        "1000",
        "--json",
    ];
    let time_s = |value: &Value| -> f64 {
        let kernels = value["kernels"].as_array().unwrap().iter();
        kernels.map(|k| k["lower_bound_s"].as_f64().unwrap()).sum()
    };
    let total_s = time_s(&json(&call, &small));
    assert!((0.004..0.00401).contains(&total_s), "{total_s}");
    let refused = run(&["analyze", "-", "--launch-us", "-1"], NOTATION);
    assert!(!refused.status.success());

    let output = run(&["analyze", "-", "--limits"], NOTATION);
    let text = stdout(&output);
    assert!(
        text.contains("registers") && text.contains("occupancy"),
        "{text}"
    );
    assert!(
        text.contains("wave efficiency") && text.contains("tile efficiency"),
        "{text}"
    );
    let report = json(&["analyze", "-", "--limits", "--json"], NOTATION);
    let limits = report["limits"].as_array().unwrap();
    assert_eq!(limits.len(), report["kernels"].as_array().unwrap().len());
    // 1024 x 4096 as six by 32 tiles of 192 x 128, in two waves of 108.
    let tiling = serde_json::json!({
        "tile_rows": 192.0,
        "tile_columns": 128.0,
        "tiles": 192.0,
        "tile_efficiency": 1024.0 / 1152.0,
        "wave_efficiency": 192.0 / 216.0,
    });
    assert_eq!(limits[0]["tiling"], tiling);
    assert_eq!(limits[0]["blocks"], 192);
    let unknown = ["analyze", "-", "--limits", "--json", "--device", "tpu-v4"];
    assert_eq!(json(&unknown, NOTATION)["limits"], Value::Null);
    let report = run(&["report"], "");
    assert!(report.status.success(), "{}", stderr(&report));
    assert!(stdout(&report).contains("speedup of compiled over eager"));
    assert!(!run(&["report", "no/such/folder"], "").status.success());
}

/// `report` names the file, the row and the key when one is missing.
#[test]
fn a_measured_row_without_a_key_is_named() {
    let rows = r#"{
  "device": "d", "torch": "2", "note": "",
  "rows": [
    {"pattern": "p", "size": [1], "variant": "eager", "time_us": 2, "kernels": [], "dram_read_bytes": 3},
    {"pattern": "p", "size": [1], "variant": "eager", "kernels": [], "dram_read_bytes": 3}
  ]
}"#;
    let folder = std::env::temp_dir().join(format!("fuseline-report-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("h200.json"), rows).unwrap();
    let output = run(&["report", folder.to_str().unwrap()], "");
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(!output.status.success());
    let problem = "h200.json: this is not a file of measured patterns, whose fields docs/measurement.md lists: rows[1]: missing field `time_us` at line 5 column 90\n";
    assert!(stderr(&output).ends_with(problem), "{}", stderr(&output));
}

#[test]
fn json_that_is_no_list_of_ops_is_refused_with_the_reason() {
    let refused = |text: &str| stderr(&run(&["analyze", "-"], text)).to_owned();
    assert!(refused("[1, ").contains("EOF while parsing a value at line 1 column 4"));
    assert!(
        refused(r#"{"ops": 7}"#).contains("expected a list of ops, an object with a list `ops`")
    );
    assert!(refused(r#"{"ops": [], "tensors": 7}"#).contains("optionally `tensors`"));
    assert!(refused("[]").contains("there are no ops yet"));
    // The path to a place so deep would hide what is wrong.
    let deep = refused(&"[".repeat(10_000));
    assert!(
        deep.contains("recursion limit exceeded at line 1 column 128"),
        "{deep}"
    );
    assert!(deep.len() < 200, "{deep}");
}
