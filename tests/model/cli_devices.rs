//! Several devices and two programs side by side on the command line.

use crate::cli::{run, stderr, stdout};
use serde_json::Value;

const PROGRAM: &str = "input x : f16[65536, 8192]\na = relu(x)\ny = softmax(a)\n";

fn json_of(arguments: &[&str]) -> Value {
    let ran = run(arguments, PROGRAM);
    assert!(ran.status.success(), "{}", stderr(&ran));
    serde_json::from_str(stdout(&ran)).unwrap()
}

#[test]
fn an_analysis_compares_the_devices_that_are_named() {
    let names = ["analyze", "-", "--device", "h200,a100-80,mi300x"];
    let text = stdout(&run(&names, PROGRAM)).to_owned();
    let table = text.split("\n\n").last().unwrap();
    let lines: Vec<&str> = table.trim().lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].ends_with("than H200"), "{}", lines[0]);
    // The A100 has no measured rates, so lower bounds are compared.
    assert!(lines[2].contains(" by lower bounds"), "{}", lines[2]);
    let report = json_of(&[&names[..], &["--json"]].concat());
    let devices = report["devices"].as_array().unwrap();
    let ids: Vec<&str> = devices
        .iter()
        .map(|d| d["device"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["h200", "a100-80", "mi300x"]);
    assert_eq!(
        devices[0]["predicted_s"],
        report["times"]["fused_predicted_s"]
    );
    assert_eq!(
        devices[0]["lower_bound_s"],
        report["times"]["fused_lower_bound_s"]
    );
    assert_eq!(devices[1]["predicted_s"], Value::Null);
    // Each device as if it were chosen alone.
    let alone = json_of(&["analyze", "-", "--device", "mi300x", "--json"]);
    assert_eq!(
        devices[2]["lower_bound_s"],
        alone["times"]["fused_lower_bound_s"]
    );
    assert_eq!(alone.get("devices"), None);
}

#[test]
fn a_difference_is_between_two_devices_or_two_files() {
    let report = json_of(&["diff", "-", "--device", "h200,a100-80", "--json"]);
    assert_eq!(report["schema"], 1);
    assert_eq!(
        (&report["a"]["device"], &report["b"]["device"]),
        (&"h200".into(), &"a100-80".into())
    );
    let kernels = report["kernels"].as_array().unwrap();
    assert!(
        kernels
            .iter()
            .all(|kernel| kernel["a"]["bytes"] == kernel["b"]["bytes"])
    );
    let other = std::env::temp_dir().join(format!("fuseline_diff_{}.fuse", std::process::id()));
    std::fs::write(&other, PROGRAM.replace("f16", "f8").replace("relu", "gelu")).unwrap();
    let path = other.to_str().unwrap();
    let text = stdout(&run(&["diff", "-", path], PROGRAM)).to_owned();
    let report = json_of(&["diff", "-", path, "--json"]);
    std::fs::remove_file(&other).unwrap();
    assert!(text.contains("−50.0 %"), "{text}");
    let mixed = run(&["diff", "-", "--device", "h200,a100-80"], PROGRAM);
    assert!(
        stdout(&mixed).contains("lower bound of each kernel"),
        "{}",
        stdout(&mixed)
    );
    let bytes = |side: &str| report[side]["bytes"].as_u64().unwrap();
    assert_eq!(bytes("a"), 2 * bytes("b"));
    // The kernel of another function is another one.
    let kernels = report["kernels"].as_array().unwrap();
    assert!(kernels.iter().any(|kernel| kernel["a"].is_null()));
    assert!(kernels.iter().any(|kernel| kernel["b"].is_null()));
}

#[test]
fn a_difference_is_between_two_types() {
    let bytes = |report: &Value, side: &str| report[side]["bytes"].as_u64().unwrap();
    let one = json_of(&["diff", "-", "--type", "f8e4m3", "--json"]);
    assert_eq!(bytes(&one, "a"), 2 * bytes(&one, "b"));
    let both = json_of(&["diff", "-", "--type", "f32,f8", "--json"]);
    assert_eq!(bytes(&both, "a"), 4 * bytes(&both, "b"));
    let crossed = ["--type", "f32,bf16", "--device", "h100,h200"];
    let crossed = json_of(&[&["diff", "-", "--json"], &crossed[..]].concat());
    assert_eq!(crossed["b"]["device"], "h200");
    assert_eq!(bytes(&crossed, "a"), 2 * bytes(&crossed, "b"));
    let unknown = run(&["diff", "-", "--type", "f9"], PROGRAM);
    assert!(
        stderr(&unknown).contains("use one of: f64, f32, bf16"),
        "{}",
        stderr(&unknown)
    );
    let many = run(&["diff", "-", "--type", "f32,f16,f8"], PROGRAM);
    assert!(
        stderr(&many).contains("two types at most"),
        "{}",
        stderr(&many)
    );
}

#[test]
fn what_cannot_be_compared_says_what_to_write() {
    let one = run(&["diff", "-"], PROGRAM);
    assert!(
        stderr(&one).contains("--device h200,b200"),
        "{}",
        stderr(&one)
    );
    let many = run(&["diff", "-", "--device", "h100,h200,b200"], PROGRAM);
    assert!(
        stderr(&many).contains("two devices at most"),
        "{}",
        stderr(&many)
    );
    let sweep = run(&["svg", "-", "--device", "h100,h200"], PROGRAM);
    assert!(
        stderr(&sweep).contains("takes one device"),
        "{}",
        stderr(&sweep)
    );
    let unknown = run(&["analyze", "-", "--device", "h100,h19"], PROGRAM);
    assert!(
        stderr(&unknown).contains("use one of: "),
        "{}",
        stderr(&unknown)
    );
}
