//! The fusion flags, each tested by the kernels that it changes.

use crate::cli::{json, run, stderr, stdout};
use serde_json::Value;

/// A decomposed softmax, then a matmul of its result; two ops read `x`.
const PROGRAM: &str = "\
input x : f32[64, 128]
weight w : f32[128, 32]
big = max(x)
low = sub(x, big)
e = exp(low)
total = sum(e)
y = div(e, total)
z = matmul(y, w)
side = relu(x)
";

fn groups(flags: &[&str]) -> Value {
    let mut arguments = vec!["analyze", "-", "--json", "--policy", "optimal"];
    arguments.extend(flags);
    json(&arguments, PROGRAM)["fusion_groups"].clone()
}

#[test]
fn each_flag_changes_the_kernels() {
    let softmax = ["big", "low", "e", "total", "y"];
    assert_eq!(groups(&[]), serde_json::json!([softmax, ["z"], ["side"]]));
    assert_eq!(
        groups(&["--after-reductions", "off"]),
        serde_json::json!([["big"], ["low", "e", "total"], ["y"], ["z"], ["side"]])
    );
    let mut with_side = softmax.to_vec();
    with_side.push("side");
    assert_eq!(
        groups(&["--horizontal"]),
        serde_json::json!([with_side, ["z"]])
    );
    assert_eq!(
        groups(&["--prologue", "--after-reductions", "off"]),
        serde_json::json!([["big"], ["low", "e", "total"], ["y", "z"], ["side"]])
    );
}

#[test]
fn the_report_says_what_is_proven() {
    let report = |flags: &[&str]| {
        let mut arguments = vec!["analyze", "-", "--json", "--policy", "optimal"];
        arguments.extend(flags);
        json(&arguments, PROGRAM)
    };
    let whole = report(&[]);
    assert_eq!(whole["certificate"]["is_optimal"], true);
    assert_eq!(
        whole["certificate"]["cost"]["bytes"],
        whole["fused_traffic"]["total"]
    );
    // With a prologue the kernels that the search starts from are not the best; without it they
    // are, except for rounding.
    let flags = ["--budget", "0", "--objective", "time"];
    assert_eq!(report(&flags)["certificate"]["is_optimal"], true);
    let cut = report(&[&flags[..], &["--prologue"]].concat());
    assert_eq!(cut["certificate"]["is_optimal"], false);
    assert_eq!(cut["certificate"]["states"], 0);
    let seconds = |field: &str| cut["certificate"][field]["seconds"].as_f64().unwrap();
    assert!(seconds("lower_bound") < seconds("cost"));
    assert_eq!(
        json(&["analyze", "-", "--json"], PROGRAM)["certificate"],
        Value::Null
    );
}

#[test]
fn two_times_that_leave_something_out_have_no_ratio() {
    let text = "input x : f16[64, 64]\ny = opaque(x, flops=4096) : f16[64, 64]\nz = relu(y)\n";
    let told = run(&["analyze", "-"], text);
    let line = stdout(&told).lines().nth(2).unwrap();
    assert!(line.ends_with(": ≥ 4.02 µs -> ≥ 4.02 µs"), "{line}");
}

#[test]
fn the_table_calls_nothing_optimal_that_is_not_proven() {
    let proven = run(&["analyze", "-", "--policy", "optimal"], PROGRAM);
    assert!(
        stdout(&proven)
            .contains("\nproven optimal: no kernels that the search allows have fewer bytes")
    );
    // With a prologue the compiler's kernels, from which the search starts, are not the best.
    let flags = ["--policy", "optimal", "--prologue", "--budget", "0"];
    let cut = run(&[["analyze", "-"].as_slice(), &flags].concat(), PROGRAM);
    let line = stdout(&cut).lines().nth(3).unwrap();
    assert!(
        line.starts_with("best found for bytes, not proven optimal: "),
        "{line}"
    );
}

#[test]
fn all_policies_are_compared_by_bytes_or_by_time() {
    for (by, field) in [("bytes", "bytes"), ("time", "lower_bound_s")] {
        let report = json(&["analyze", "-", "--compare", by, "--json"], PROGRAM);
        let policies = report["policies"].as_array().unwrap();
        let figures = policies.iter().map(|p| p[field].as_f64().unwrap());
        assert!(figures.collect::<Vec<_>>().is_sorted(), "{by}");
        let rules = policies.iter().find(|p| p["policy"] == "rules").unwrap();
        assert_eq!(rules["bytes"], report["fused_traffic"]["total"]);
        let memory = &report["peak_memory"]["fused_bytes"];
        assert_eq!(&rules["peak_memory_bytes"], memory);
        let table = run(&["analyze", "-", "--compare", by], PROGRAM);
        let lines = stdout(&table).lines();
        let names: Vec<&str> = (lines.skip_while(|line| !line.starts_with("policy")))
            .skip(1)
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let expected: Vec<_> = policies
            .iter()
            .map(|p| p["policy"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected);
    }
    let plain = json(&["analyze", "-", "--json"], PROGRAM);
    assert_eq!(plain["policies"], Value::Null);
}

#[test]
fn the_search_without_attention_is_a_choice() {
    let text = "input q : f16[16, 1024, 64]\ninput k : f16[16, 1024, 64]\ninput v : f16[16, 1024, 64]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)\n";
    let kernels = |flags: &[&str]| {
        let arguments = [&["analyze", "-", "--json", "--policy", "optimal"], flags].concat();
        let report = json(&arguments, text);
        let scope = report["certificate"]["scope"].as_str().unwrap().to_owned();
        (report["kernels"].as_array().unwrap().len(), scope)
    };
    assert_eq!(kernels(&[]), (1, "attention_allowed".to_owned()));
    let off = kernels(&["--attention-search", "off"]);
    assert_eq!(off, (3, "legal_kernels".to_owned()));
    let forced = kernels(&["--attention"]);
    assert_eq!(forced, (1, "attention_rewritten".to_owned()));
}

#[test]
fn a_word_that_is_no_choice_is_refused_with_the_choices() {
    for (flag, word, choices) in [
        ("--policy", "best", "none, rules, inductor, optimal, manual"),
        ("--objective", "flops", "bytes, time"),
        ("--after-reductions", "maybe", "on, off"),
        ("--compare", "kernels", "bytes, time"),
    ] {
        let output = run(&["analyze", "-", flag, word], PROGRAM);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(choices), "{}", stderr(&output));
    }
}

#[test]
fn json_says_why_an_edge_is_not_fused() {
    let report = json(&["analyze", "-", "--json"], PROGRAM);
    let edges = report["edges"].as_array().unwrap();
    // Edges by reader: big none, because x is external; low 1, e 1, total 1, y 2, z 1.
    assert_eq!(edges.len(), 6);
    let first = &edges[0];
    assert_eq!(
        (&first["producer"], &first["consumer"], &first["tensor"]),
        (&"big".into(), &"low".into(), &"big".into())
    );
    assert_eq!(first["fused"], false);
    assert_eq!(
        first["reason"],
        "a reduction ends its kernel, and `low` comes after `big`"
    );
    assert_eq!(first["reason_kind"], "reduction_ends");
    assert_eq!(
        first["reason_facts"],
        serde_json::json!({ "reduction": "big", "after": "low" })
    );
    // `big` is neither written nor read, 64 * 4 bytes each; `x` is read once and not twice.
    assert_eq!(first["saved_bytes"], 2 * 256 + 64 * 128 * 4);
    assert!(first["lower_bound_saved_s"].as_f64().unwrap() > 0.0);
    let fused = edges.iter().find(|edge| edge["fused"] == true).unwrap();
    for field in ["reason", "reason_kind", "reason_facts"] {
        assert_eq!(fused[field], Value::Null);
    }
    assert_eq!(fused["saved_bytes"], Value::Null);
}

#[test]
fn steps_are_printed_and_reported() {
    let table = run(&["analyze", "-", "--steps"], PROGRAM);
    let lines = stdout(&table);
    // Seven ops alone at first; `low` has two readers and starts a kernel, like `e`.
    assert!(
        lines.contains("    1        7  `big` starts a kernel\n"),
        "{lines}"
    );
    assert!(lines.contains("`e` joins the kernel of `low`"), "{lines}");
    let report = json(&["analyze", "-", "--json", "--steps"], PROGRAM);
    let decisions = report["decisions"].as_array().unwrap();
    let last = decisions.last().unwrap();
    assert_eq!(last["kernels"], report["kernels"].as_array().unwrap().len());
    assert_eq!(
        (&last["kind"], &last["ops"]),
        (&"started".into(), &serde_json::json!(["side"]))
    );
    let refused = decisions
        .iter()
        .find(|step| step["kind"] == "refused")
        .unwrap();
    assert_eq!(refused["ops"], serde_json::json!(["big", "low"]));
    let without = json(&["analyze", "-", "--json"], PROGRAM);
    assert_eq!(without["decisions"], Value::Null);
}

/// 4 heads in two groups of 512 x 64; 232,448 bytes on chip hold tiles of 454 keys and 64 queries.
#[test]
fn attention_kernels_show_their_tiles_and_both_counts() {
    let program = "input q : f16[2, 2, 512, 64]\ninput k : f16[2, 1, 512, 64]\ninput v : f16[2, 1, 512, 64]\n\
                   s = matmul(q, k, transpose_b=true)\nc = scale(s, factor=0.125)\np = softmax(c)\no = matmul(p, v)\n";
    let call = |flags: &'static [&str]| [&["analyze", "-", "--device", "h200"], flags].concat();
    let apart = json(&call(&["--json"]), program);
    assert_eq!(apart["attentions"], serde_json::json!([]));
    // No pattern of the compiler has keys with fewer heads, which it copies for a matmul.
    let compiled = json(&call(&["--json", "--policy", "inductor"]), program);
    assert_eq!(compiled["attentions"], serde_json::json!([]));
    let report = json(&call(&["--json", "--attention"]), program);
    let found = &report["attentions"][0];
    assert_eq!(found["ops"], serde_json::json!(["s", "c", "p", "o"]));
    let numbers = [
        "kernel",
        "heads",
        "group",
        "query_rows",
        "key_rows",
        "query_tiles",
        "key_tiles",
    ];
    let numbers = numbers.map(|name| found[name].as_u64().unwrap());
    assert_eq!(numbers, [0, 4, 2, 64, 454, 8, 2]);
    // Q and the result have four heads, K and V two.
    let once = 2 * (2 * 4 + 2 * 2) * 512 * 64_u64;
    let tiled = 2 * 4 * (2 * 512 * 64 + 8 * 2 * 512 * 64 + 512_u64);
    assert_eq!(
        (found["bytes_once"].as_u64(), found["bytes_tiled"].as_u64()),
        (Some(once), Some(tiled))
    );
    assert_eq!(
        (&found["counted"], &found["fits_cache"]),
        (&"bytes_once".into(), &true.into())
    );
    let kernel = &report["kernels"][0];
    let moved = kernel["bytes_read"].as_u64().unwrap() + kernel["bytes_written"].as_u64().unwrap();
    assert_eq!(moved, once);
    let output = run(&call(&["--attention"]), program);
    let text = stdout(&output);
    assert!(
        text.contains("B_r = 64, T_r = 8; tiles of K and V: B_c = 454, T_c = 2"),
        "{text}"
    );
    assert!(
        text.contains("of compulsory traffic, if each is a separate tensor"),
        "{text}"
    );
    assert!(!stdout(&run(&call(&[]), program)).contains("B_r"));
}
