//! What the command line writes, and what it does when it cannot.

use crate::cli::{json, run, stderr, stdout};
use std::process::{Command, Output, Stdio};

const EXAMPLE: &str = "public/examples/llama.fuse";

fn fuseline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuseline"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The end of a pipe that nobody reads.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

fn assert_no_panic(output: &Output) {
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{output:?}"
    );
    assert!(!stderr(output).contains("panicked"), "{output:?}");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    for arguments in [&["report"][..], &["analyze", EXAMPLE, "--json"]] {
        let output = fuseline(arguments).stdout(closed_pipe()).output().unwrap();
        assert_no_panic(&output);
        assert!(output.status.success(), "{output:?}");
        assert!(!stderr(&output).contains("error"), "{output:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_fails() {
    for arguments in [
        &["report"][..],
        &["analyze", EXAMPLE],
        &["analyze", EXAMPLE, "--json"],
    ] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = fuseline(arguments).stdout(full).output().unwrap();
        assert_no_panic(&output);
        assert_eq!(output.status.code(), Some(1));
        let said = "error: the result cannot be written: No space left on device";
        assert!(stderr(&output).contains(said), "{output:?}");
    }
}

#[test]
fn an_analysis_is_printed_although_nobody_reads_its_warnings() {
    let folder = std::env::temp_dir().join(format!("fuseline-output-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("doubtful.fuse");
    std::fs::write(&file, "y = relu(x) : f16[1024]\n").unwrap();
    let arguments = ["analyze", file.to_str().unwrap()];
    let with_warning = fuseline(&arguments).output().unwrap();
    let output = fuseline(&arguments).stderr(closed_pipe()).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(
        stderr(&with_warning).contains("not declared"),
        "{with_warning:?}"
    );
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), stdout(&with_warning));
}

#[test]
fn a_warning_in_json_carries_its_fixes() {
    let text = "input x : f16[8, 6]\ny = matmul(x, w) : f16[8, 5]\n";
    let report = json(&["analyze", "-", "--json"], text);
    let at = text.find('y').unwrap();
    let edit = serde_json::json!({ "start": at, "end": at, "text": "weight w : f16[6, 5]\n" });
    assert_eq!(
        report["diagnostics"][0]["fixes"],
        serde_json::json!([{ "label": "Declare `weight w : f16[6, 5]`", "edits": [edit] }])
    );
    // The hint is told as ever.
    let told = run(&["analyze", "-"], text);
    assert!(
        stderr(&told).contains("= help: declare it: `weight w : f16[6, 5]`"),
        "{told:?}"
    );
}

#[test]
fn a_choice_beyond_its_range_is_told_with_the_range() {
    let text = "param M = 1024 in 128..8192 step 128\ninput x : f16[M]\ny = relu(x)\n";
    for launch_us in ["100000", "10000.1", "-1", "NaN", "inf"] {
        let choice = format!("--launch-us={launch_us}");
        let output = run(&["analyze", "-", &choice], text);
        assert_eq!(output.status.code(), Some(2), "{choice}");
        let said = "write a number of microseconds from 0 to 10000";
        assert!(stderr(&output).contains(said), "{output:?}");
    }
    for launch_us in ["0", "10000"] {
        let output = run(&["analyze", "-", "--launch-us", launch_us], text);
        assert!(output.status.success(), "{output:?}");
    }

    let said = "`M` is 100000, outside its range 128..8192";
    let output = run(&["analyze", "-", "--set", "M=100000"], text);
    assert!(output.status.success(), "{output:?}");
    assert!(
        stderr(&output).contains(&format!("warning: {said}\n")),
        "{output:?}"
    );
    let report = json(&["analyze", "-", "--set", "M=100000", "--json"], text);
    assert_eq!(report["diagnostics"][0]["message"], said);
    // What is said about the value in the text no longer holds.
    let corrected = json(
        &["analyze", "-", "--set", "M=1024", "--json"],
        &text.replace("= 1024", "= 64"),
    );
    assert_eq!(corrected["diagnostics"], serde_json::json!([]));
}

#[test]
fn a_byte_order_mark_before_any_form_is_skipped() {
    let forms = [
        "input x : f16[4]\ny = relu(x)\n",
        r#"[{"op_type": "elementwise", "inputs": ["x"], "output": "y", "shape": [4], "bytes_per_element": 2}]"#,
        r#"Op("y", "elementwise", ["x"], "y", (4,), 2)"#,
    ];
    for form in forms {
        let plain = stdout(&run(&["analyze", "-"], form)).to_owned();
        // The lists declare nothing, so there the size of `x` is assumed.
        let unmarked = plain.replace('~', "");
        assert!(unmarked.starts_with("16 B -> 16 B"), "{plain}");
        for marks in ["\u{feff}", "\n\u{feff}", "\u{feff}\u{feff} "] {
            let marked = run(&["analyze", "-"], &format!("{marks}{form}"));
            assert_eq!(stdout(&marked), plain, "{marked:?}");
        }
    }
}

#[test]
fn the_table_marks_assumed_sizes_and_says_what_is_unknown() {
    let ops = r#"[
        {"op_type": "elementwise", "inputs": ["x"], "output": "y", "shape": [4], "bytes_per_element": 2},
        {"op_type": "opaque", "inputs": ["y"], "output": "z", "shape": [4], "bytes_per_element": 2}
    ]"#;
    let output = run(&["analyze", "-"], ops);
    let rows: Vec<Vec<&str>> = (stdout(&output).lines())
        .filter(|line| line.starts_with(['1', '2']) && !line.contains("->"))
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect();
    assert_eq!(rows[0][2..5], ["4 FLOP", "~8 B", "8 B"], "{output:?}");
    assert_eq!(rows[1][2..5], ["unknown", "8 B", "8 B"], "{output:?}");
}

/// A terminal would obey these: a colour, a title, the 8-bit start of a sequence, a line of its
/// own.
const ESCAPES: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\r\nerror: all is lost";

#[test]
fn control_characters_in_names_are_printed_as_text() {
    let op = |name: &str, inputs: &[&str], function: &str| {
        serde_json::json!({
            "name": name, "op_type": "elementwise", "inputs": inputs, "output": format!("{name}."),
            "shape": [64, 64], "bytes_per_element": 2, "function": function,
        })
    };
    let read = format!("{ESCAPES}.");
    let list = serde_json::json!([
        op(ESCAPES, &["in\u{1b}[0m"], "relu"),
        op("b\u{1b}[1m", &[&read], ESCAPES)
    ]);
    let choices: [&[&str]; 3] = [
        &[],
        &["--steps", "--limits", "--policy", "inductor"],
        &["--json"],
    ];
    for choice in choices {
        let arguments = [&["analyze", "-"], choice].concat();
        let output = run(&arguments, &list.to_string());
        assert!(output.status.success(), "{output:?}");
        for text in [stdout(&output), stderr(&output)] {
            assert!(
                !text.contains(|c: char| c.is_control() && c != '\n'),
                "{text:?}"
            );
            assert!(
                text.lines().all(|line| !line.starts_with("error")),
                "{text:?}"
            );
        }
        let shown = r"\u001b[31mred\u001b]0;title\u0007\u009b2J\u007f\r\n";
        assert!(
            stdout(&output).contains(shown) || choice == ["--json"],
            "{output:?}"
        );
    }
    // JSON keeps the names: its own escapes stand for the same characters.
    let report = json(&["analyze", "-", "--json"], &list.to_string());
    assert_eq!(report["ops"][0]["name"], ESCAPES);
    let missing = run(&["analyze", "no\u{1b}[31m/such"], "");
    assert!(
        stderr(&missing).starts_with("error: no\\u001b[31m/such: "),
        "{missing:?}"
    );
}

#[test]
fn a_kernel_without_code_in_triton_leaves_out_what_launches_all() {
    let attention = "input q : f32[1, 2, 16, 8]\ninput k : f32[1, 2, 16, 8]\n\
                     input v : f32[1, 2, 16, 8]\nt = transpose(k)\ns = matmul(q, t)\n\
                     p = softmax(s)\ny = matmul(p, v)";
    let arguments = ["code", "-", "--policy", "optimal", "--reshape", "view"];
    let output = run(&arguments, attention);
    let code = stdout(&output);
    assert!(code.contains("This kernel has no code"), "{code}");
    assert!(!code.contains("launch"), "{code}");
}

#[test]
fn kernels_are_printed_as_code_all_or_one() {
    let of = |arguments: &[&str]| {
        let arguments = [&["code", "public/examples/mlp.fuse"], arguments].concat();
        fuseline(&arguments).output().unwrap()
    };
    let all = of(&[]);
    for kernel in ["# Kernel 1: ", "# Kernel 2: "] {
        assert!(stdout(&all).contains(kernel), "{all:?}");
    }
    // Triton's file runs: it allocates what the kernels read and write, and launches each once.
    let driver = stdout(&all).split("if __name__ == ").nth(1).unwrap();
    let defined = stdout(&all)
        .lines()
        .filter_map(|line| line.strip_prefix("def launch"));
    let defined: Vec<&str> = defined
        .map(|line| line.split('(').next().unwrap())
        .collect();
    assert!(defined.len() >= 2, "{defined:?}");
    for name in &defined {
        let launches = driver
            .matches(&format!("    launch{name}(tensors["))
            .count();
        assert_eq!(launches, 1, "{driver}");
    }
    assert!(driver.contains("        \"x\": torch.randn(["), "{driver}");
    assert!(!stdout(&of(&["--kernel", "1"])).contains("__main__"));
    let one = of(&["--kernel", "1", "--language", "wgsl"]);
    assert!(stdout(&one).contains("@compute"), "{one:?}");
    assert!(!stdout(&one).contains("Kernel 2"), "{one:?}");
    let none = of(&["--kernel", "99"]);
    assert_eq!(none.status.code(), Some(1));
    let said = "there is no kernel 99; the kernels are 1 to";
    assert!(stderr(&none).contains(said), "{none:?}");
}
