//! What the command line knows: its commands, devices, functions, and the commit that it is from.

use crate::cli::{json, run, stderr, stdout};
use fuseline_core::DEVICES;
use fuseline_core::model::functions::Function;
use std::collections::BTreeSet;
use strum::VariantArray;

#[test]
fn devices_are_listed_with_their_rates() {
    let output = run(&["devices"], "");
    let table = stdout(&output);
    for device in DEVICES {
        let mut lines = table.lines();
        let line = lines.find(|line| line.split("  ").next() == Some(&*device.id));
        assert!(
            line.is_some_and(|line| line.contains(&*device.name)),
            "{}",
            device.id
        );
    }
    let report = json(&["devices", "--json"], "");
    let listed = report["devices"].as_array().unwrap();
    assert_eq!(listed.len(), DEVICES.len());
    for (entry, device) in listed.iter().zip(DEVICES) {
        assert_eq!(entry["id"], *device.id);
        assert_eq!(entry["memory_bytes_per_s"], device.memory_bytes_per_s.value);
        let vector = device.vector_flops_per_s.map(|figure| figure.value);
        assert_eq!(entry["peaks"]["vector"].as_f64(), vector, "{}", device.id);
        let unverified = entry["unverified"].as_array().unwrap();
        let is_marked = unverified.iter().any(|name| name == "memory_bytes_per_s");
        assert_eq!(is_marked, !device.memory_bytes_per_s.is_confirmed);
    }
}

#[test]
fn functions_are_listed_with_their_arguments() {
    let output = run(&["functions"], "");
    let report = json(&["functions", "--json"], "");
    let listed = report["functions"].as_array().unwrap();
    assert_eq!(listed.len(), Function::VARIANTS.len());
    for (entry, function) in listed.iter().zip(Function::VARIANTS) {
        assert_eq!(entry["name"], function.name());
        let call = format!("{}({})", function.name(), function.arguments());
        assert!(
            stdout(&output).lines().any(|line| line.starts_with(&call)),
            "{call}"
        );
    }
}

#[test]
fn a_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(&["completions", shell], "");
        assert!(output.status.success(), "{}", stderr(&output));
        for word in ["analyze", "completions", "launch-us"] {
            assert!(stdout(&output).contains(word), "{shell}: {word}");
        }
    }
}

/// Each command is in one group, with what it does, and options are grouped, too.
#[test]
fn help_is_grouped() {
    let output = run(&["--help"], "");
    let help = stdout(&output);
    let listed = help.lines().filter_map(|line| line.strip_prefix("  "));
    let names = listed
        .filter_map(|line| line.split("  ").next())
        .filter(|name| !name.starts_with('-'));
    let names: Vec<&str> = names.map(str::trim).collect();
    let completions = run(&["completions", "fish"], "");
    let known = stdout(&completions).lines().filter_map(|line| {
        let line = line
            .strip_prefix("complete -c fuseline -n \"__fish_fuseline_needs_command\" -f -a \"")?;
        line.split('"').next()
    });
    let known: BTreeSet<&str> = known.collect();
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), known);
    assert_eq!(names.len(), known.len());
    for title in ["Analyze a program:", "Measurements:", "Options:"] {
        assert!(help.contains(&format!("\n{title}\n")), "{help}");
    }
    let output = run(&["sweep", "--help"], "");
    let help = stdout(&output);
    let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
    assert!(at("Options:") < at("Fusion policy:"));
    assert!(at("Fusion policy:") < at("--horizontal"));
    assert!(at("Counting:") < at("--externals"));
    assert!(at("Device:") < at("--launch-us"));
    assert!(at("Output:") < at("\n      --json"));
}

/// `fuseline 0.1.0 (72bb804b1f2e)`, or the version alone where it is built without git.
#[test]
fn the_version_names_the_commit() {
    let output = run(&["--version"], "");
    let told = stdout(&output).trim();
    let version = format!("fuseline {}", env!("CARGO_PKG_VERSION"));
    let commit = told.strip_prefix(&version).unwrap().trim();
    let is_commit = |text: &str| text.len() >= 12 && text.chars().all(|c| c.is_ascii_hexdigit());
    let inner = commit
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    assert!(commit.is_empty() || inner.is_some_and(is_commit), "{told}");
}
