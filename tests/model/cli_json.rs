//! What every command prints with `--json`: one object with its schema, the same names for the same
//! things, and errors, too.

use crate::cli::{json, run, stderr, stdout};
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy, analyze_program};
use fuseline_view::present::report::SCHEMA;
use serde_json::{Value, json as value};
use std::collections::BTreeSet;

const PROGRAM: &str = "public/examples/transformer.fuse";
const MLP: &str = "tests/model/measured_files/mlp.fuse";
const BENCH: &str = "tests/model/measured_files/bench.json";
const MEASURED: [&str; 4] = [
    "public/measured/h200.json",
    "public/measured/h200_sizes.json",
    "public/measured/h200_fresh.json",
    "public/measured/h200_fused.json",
];

/// A call of each command that takes `--json`, which is added.
fn calls() -> Vec<Vec<&'static str>> {
    let all = "analyze --limits --steps --compare time --policy inductor --device h200";
    let analyze = all.split(' ').chain([PROGRAM]).collect();
    let transformer =
        "transformer --seq-len 1024 --hidden-dim 1024 --num-heads 16 --attention --device h200";
    vec![
        analyze,
        transformer.split(' ').collect(),
        vec!["sweep", PROGRAM, "heads", "--device", "h200"],
        vec!["diff", PROGRAM, "--device", "h200,a100-80"],
        vec!["measured", MLP, BENCH],
        [&["calibrate"], &MEASURED[..]].concat(),
        vec!["devices"],
        vec!["functions"],
    ]
}

fn with_json(arguments: &[&'static str]) -> Vec<&'static str> {
    [arguments, &["--json"]].concat()
}

/// The names of all fields.
fn names(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                into.insert(name.clone());
                names(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, into)),
        _ => {}
    }
}

#[test]
fn every_command_begins_with_its_schema_and_names_times_alike() {
    let help = run(&["--help"], "");
    let commands = stdout(&help).lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        let help = run(&[name, "--help"], "");
        let mut lines = stdout(&help).lines();
        let takes_json = lines.any(|line| line.trim_start().starts_with("--json"));
        takes_json.then(|| name.to_owned())
    });
    let tried: BTreeSet<String> = calls().iter().map(|call| call[0].to_owned()).collect();
    assert_eq!(commands.collect::<BTreeSet<_>>(), tried);
    for call in calls() {
        let output = run(&with_json(&call), "");
        assert!(output.status.success(), "{call:?}: {}", stderr(&output));
        let printed = stdout(&output);
        let start = format!("{{\n  \"schema\": {SCHEMA},\n");
        assert!(printed.starts_with(&start), "{call:?}");
        let mut fields = BTreeSet::new();
        names(&serde_json::from_str(printed).unwrap(), &mut fields);
        for name in &fields {
            let is_old = name.contains("expected") || name.contains("predicted_time");
            let is_bound = name.contains("bound") && !name.contains("lower_bound");
            assert!(!is_old && !is_bound, "{call:?}: {name}");
        }
        // Records of fused patterns are measured, and lists have no times.
        if !["calibrate", "devices", "functions"].contains(&call[0]) {
            for part in ["lower_bound_s", "predicted_s"] {
                let has = |name: &String| name.ends_with(part);
                assert!(fields.iter().any(has), "{call:?} has no {part}: {fields:?}");
            }
        }
    }
}

/// A reduction in two, or the copy of an operand, is a launch that no op stands for.
#[test]
fn further_launches_are_reported() {
    let text = "input x : f16[33554432]\ny = sum(x)\n";
    let report = json(&["analyze", "-", "--policy", "inductor", "--json"], text);
    let options = Options::of_policy(Policy::Inductor);
    let analysis = analyze_program(&parse(text).program, &options).analysis;
    let analysis = analysis.unwrap();
    let launches = report["kernels"].as_array().unwrap().iter();
    let launches: Vec<u64> = launches.map(|k| k["launches"].as_u64().unwrap()).collect();
    assert!(launches.contains(&2), "{launches:?}");
    let further: u32 = analysis.partition.further_launches.iter().sum();
    let kernels = analysis.partition.kernels.len() as u64;
    assert_eq!(launches.iter().sum::<u64>(), kernels + u64::from(further));
    assert_eq!(report["fused_launches"], launches.iter().sum::<u64>());
    assert_eq!(report["unfused_launches"], 1);
}

/// What a command prints that fails: one object, and nothing on standard error.
fn refused(arguments: &[&str], stdin: &str, code: i32) -> Value {
    let output = run(arguments, stdin);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert_eq!(stderr(&output), "", "{arguments:?}");
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(report["schema"], SCHEMA, "{arguments:?}");
    report
}

#[test]
fn errors_of_a_text_are_json_with_places_and_fixes() {
    let text = "param N = 64 in 1..128\ninput x : f16[N]\ny = gellu(x)\n";
    for arguments in [
        &["analyze", "-", "--json"][..],
        &["sweep", "-", "N", "--json"],
        &["measured", "-", BENCH, "--json"],
    ] {
        let report = refused(arguments, text, 1);
        let start = text.find("gellu").unwrap();
        assert_eq!(
            report["diagnostics"],
            value!([{
                "severity": "error",
                "code": "unknown-function",
                "message": "there is no function `gellu`",
                "hint": "did you mean `gelu`?",
                "line": 3,
                "column": 5,
                "start": start,
                "end": start + 5,
                "fixes": [{
                    "label": "Write `gelu`",
                    "edits": [{ "start": start, "end": start + 5, "text": "gelu" }],
                }],
            }])
        );
        assert_eq!(report["file"], "<stdin>");
    }
}

/// A file and standard input say the same about a text of another tool, with its place.
#[test]
fn a_text_of_another_tool_is_an_error_of_the_text() {
    let path = "tests/model/files/foreign/hlo.txt";
    let pasted = std::fs::read_to_string(path).unwrap();
    let line = pasted.lines().next().unwrap();
    for command in ["analyze", "measured", "sweep"] {
        let rest: &[&str] = match command {
            "measured" => &[BENCH],
            "sweep" => &["N"],
            _ => &[],
        };
        for (file, stdin, name) in [("-", &*pasted, "<stdin>"), (path, "", path)] {
            let arguments = [&[command, file], rest, &["--json"]].concat();
            let report = refused(&arguments, stdin, 1);
            assert_eq!(report["file"], name);
            let problem = &report["diagnostics"][0];
            assert_eq!(problem["code"], "foreign-text");
            assert_eq!(problem["message"], "this is XLA HLO");
            let hint = problem["hint"].as_str().unwrap();
            assert!(
                hint.starts_with("export the model itself to ONNX"),
                "{hint}"
            );
            assert_eq!([&problem["line"], &problem["column"]], [1, 1]);
            assert_eq!([&problem["start"], &problem["end"]], [0, line.len()]);
        }
    }
    // It is no program that `notation` could print.
    let output = run(&["notation", "-"], &pasted);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""));
    let told = stderr(&output);
    assert!(told.starts_with("error: this is XLA HLO\n"), "{told}");
}

/// Nsight Compute flushes the caches before each kernel, and the prediction beside it does, too.
#[test]
fn a_measured_run_says_whether_its_caches_were_cold() {
    let report = json(&["measured", MLP, BENCH, "--json"], "");
    let runs = report["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["is_cold"] == false), "{runs:?}");
    for run in runs {
        let kernels = run["kernels"].as_array().unwrap();
        // `launches` is a number wherever it stands.
        assert!(kernels.iter().all(|kernel| kernel["launches"].is_null()));
        let ran = kernels.iter().filter_map(|kernel| kernel["ran"].as_array());
        assert!(ran.flatten().any(|ran| ran["time_s"].is_number()));
    }
    let table = "tests/model/measured_files/ncu_raw.csv";
    let report = json(&["measured", MLP, table, "--json"], "");
    assert_eq!(report["runs"][0]["is_cold"], true);
}

#[test]
fn unknown_flops_are_no_number() {
    let text = "input x : f32[1024]\ny = opaque(x, name=foo) : f32[1024]\nz = relu(y)\n";
    let report = json(&["analyze", "-", "--policy", "none", "--json"], text);
    let flops = |kernel: usize| &report["kernels"][kernel]["flops"];
    assert_eq!([flops(0), flops(1)], [&Value::Null, &value!(1024)]);
}

#[test]
fn errors_of_a_command_are_json() {
    for (arguments, code, message) in [
        (&["analyze", "no/such/file"][..], 1, "no/such/file: "),
        (
            &["analyze", PROGRAM, "--set", "T=1"],
            2,
            "no param is called `T`",
        ),
        (
            &["sweep", PROGRAM, "T"],
            2,
            "no param with a range is called `T`",
        ),
        (&["sweep", MLP, "T"], 2, "no param is called `T`"),
        (
            &["analyze", MLP, "--device", MLP],
            2,
            "this is no file that a program's script saved on a GPU: ",
        ),
        (&["measured", MLP, MLP], 1, "This is not a measurement"),
        (&["measured", MLP, "no/such/file"], 1, "no/such/file: "),
        (&["calibrate", MLP], 1, "it is not a measurement"),
        (
            &["analyze", PROGRAM, "--policy", "best"],
            2,
            "invalid value 'best'",
        ),
        (
            &["sweep"],
            2,
            "the following required arguments were not provided: <FILE> <PARAM>",
        ),
    ] {
        let report = refused(&[arguments, &["--json"]].concat(), "", code);
        let [problem] = &report["diagnostics"].as_array().unwrap()[..] else {
            panic!("{report}");
        };
        assert_eq!(problem["severity"], "error");
        let told = problem["message"].as_str().unwrap();
        assert!(told.contains(message), "{arguments:?}: {told}");
        let hint = problem["hint"].as_str().unwrap_or_default();
        // Who writes other arguments is told which.
        assert!(code != 2 || !hint.is_empty(), "{arguments:?}");
        let names_the_help = hint.ends_with("For more information, try '--help'.");
        assert!(code == 2 || !names_the_help, "{arguments:?}: {hint}");
        for text in [told, hint] {
            assert!(!text.contains('\n') && !text.contains("  "), "{text:?}");
        }
        assert!(
            !told.contains("Usage") && !told.contains("--help"),
            "{told}"
        );
        for field in ["code", "line", "column", "start", "end"] {
            assert_eq!(problem[field], Value::Null, "{arguments:?}: {field}");
        }
    }
    let fixed = "param N = 8\ninput x : f16[N]\ny = relu(x)";
    let without_range = refused(&["sweep", "-", "N", "--json"], fixed, 2);
    let told = &without_range["diagnostics"][0]["message"];
    assert_eq!(told, "`N` has no values to try");
    let heads = refused(
        &[
            "transformer",
            "--seq-len",
            "8",
            "--hidden-dim",
            "10",
            "--num-heads",
            "3",
            "--json",
        ],
        "",
        1,
    );
    assert_eq!(heads["diagnostics"][0]["code"], "heads-do-not-divide");
}
