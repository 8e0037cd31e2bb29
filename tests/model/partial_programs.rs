//! Programs with ops of unknown shape: what is shown of them, and what is not.

use crate::cli::{json, run, stderr, stdout};
use fuseline_core::analysis::why::Verdict;
use fuseline_core::model::diagnostic::has_errors;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, Options, Policy, analyze_program};
use fuseline_view::present::reasons::reason_text;
use proptest::prelude::*;
use serde_json::Value;
use std::fmt::Write as _;
use strum::VariantArray;

const TEXT: &str = "\
param N = 1024 in 256..2048 step 256
input x : f16[N, 1024]
h = relu(x)
d = opaque(x, name=NonZero)
m = mul(h, d)
y = exp(h)
z = tanh(y)
output z
";

fn analysed(text: &str, policy: Policy) -> Analysis {
    let outcome = analyze_program(&parse(text).program, &Options::of_policy(policy));
    assert!(
        !has_errors(&outcome.diagnostics),
        "{text}\n{:?}",
        outcome.diagnostics
    );
    outcome.analysis.unwrap()
}

/// Whether a total is a lower bound in every program. The compiler's kernels follow from all ops,
/// and other kernels of as few bytes, or the same in another order, may need more memory at once.
fn is_sure(policy: Policy, what: &str) -> bool {
    what.starts_with("unfused")
        || policy == Policy::None
        || policy != Policy::Inductor && what != "fused: peak memory"
}

/// Every total of a program that is shown as a lower bound.
fn totals(analysis: &Analysis) -> Vec<(String, f64)> {
    let flops = |execution: &fuseline_core::analysis::Execution| {
        let kernels = execution.kernels.iter();
        kernels.map(|kernel| kernel.work.flops()).sum::<u128>() as f64
    };
    [("unfused", &analysis.unfused), ("fused", &analysis.fused)]
        .into_iter()
        .flat_map(|(run, execution)| {
            [
                ("read", execution.traffic.bytes_read as f64),
                ("written", execution.traffic.bytes_written as f64),
                ("bytes", execution.traffic.total as f64),
                ("kernels", execution.launches as f64),
                ("lower bound", execution.time_s),
                ("peak memory", execution.peak_memory.bytes as f64),
                ("FLOPs", flops(execution)),
            ]
            .map(|(what, value)| (format!("{run}: {what}"), value))
        })
        .collect()
}

fn check_bounds(full: &str, partial: &str) {
    for &policy in Policy::VARIANTS {
        let (whole, part) = (analysed(full, policy), analysed(partial, policy));
        for ((what, whole), (_, part)) in totals(&whole).into_iter().zip(totals(&part)) {
            assert!(
                part <= whole * (1.0 + 1e-12) || !is_sure(policy, &what),
                "{policy:?}: {what} {part} > {whole}\n{full}\nwithout a shape:\n{partial}"
            );
        }
    }
}

#[test]
fn what_only_a_reader_of_an_unknown_tensor_reads_may_stay_on_chip() {
    let full = "\
input x : f16[4096, 2048]
input t : f16[4]
h = relu(x)
d = opaque(t) : f16[1]
m = mul(h, d)
s = sum(m)
";
    check_bounds(full, &full.replace(" : f16[1]", ""));
}

#[test]
fn kernels_that_an_unknown_op_may_join_count_what_they_share_once() {
    let full = "\
input x : f16[4096, 2048]
input t : f16[4]
d = opaque(t) : f16[1]
a = relu(x)
b = exp(x)
c = tanh(x)
e = gelu(x)
m = mul(a, d)
n = add(m, b)
o = add(n, c)
p = add(o, e)
s = sum(p)
";
    let partial = full.replace(" : f16[1]", "");
    check_bounds(full, &partial);
    let analysis = analysed(&partial, Policy::Rules);
    assert_eq!(analysis.fused.kernels.len(), 4);
    assert_eq!(analysis.fused.launches, 1);
    assert_eq!(analysis.fused.traffic.total, 4096 * 2048 * 2);
}

#[test]
fn what_an_opaque_op_reads_does_not_stay_in_memory() {
    let full = "\
input x : f16[1024]
h = relu(x)
d = opaque(h) : f16[1]
a = opaque(x) : f16[1024]
b = opaque(a) : f16[4096]
c = opaque(b) : f16[1024]
";
    check_bounds(full, &full.replace(" : f16[1]\n", "\n"));
}

/// A program and the same without the shapes of some of its opaque ops.
fn programs() -> impl Strategy<Value = (String, String)> {
    let op = (
        0_u8..12,
        any::<[prop::sample::Index; 2]>(),
        any::<bool>(),
        0_u8..8,
    );
    prop::collection::vec(op, 2..14).prop_map(|drawn| {
        let head = "input x0 : f16[256, 64]\ninput x1 : f16[256, 64]\nweight w : f16[64, 64]\n";
        let (mut full, mut partial) = (head.to_owned(), head.to_owned());
        // The tensors so far, and whether they have the large shape.
        let mut tensors = vec![("x0".to_owned(), true), ("x1".to_owned(), true)];
        let mut outputs = String::new();
        for (place, (kind, picks, is_free, chance)) in drawn.into_iter().enumerate() {
            let [(a, a_large), (b, b_large)] = picks.map(|pick| pick.get(&tensors).clone());
            let name = format!("t{place}");
            let mut annotation = "";
            let (call, is_large) = match kind {
                0..=2 => (format!("relu({a})"), a_large),
                3..=5 => (format!("add({a}, {b})"), a_large || b_large),
                6 if a_large => (format!("matmul({a}, w)"), true),
                7 if a_large => (format!("softmax({a})"), true),
                8 if a_large => (format!("mul({a}, x0)"), true),
                9 => {
                    annotation = " : f16[1]";
                    (format!("opaque({a}, {b})"), false)
                }
                10 | 11 => {
                    annotation = " : f16[256, 64]";
                    (format!("opaque({a})"), true)
                }
                _ => (format!("exp({a})"), a_large),
            };
            let _ = writeln!(full, "{name} = {call}{annotation}");
            let stated = if is_free { "" } else { annotation };
            let _ = writeln!(partial, "{name} = {call}{stated}");
            if chance == 0 {
                let _ = writeln!(outputs, "output {name}");
            }
            tensors.push((name, is_large));
        }
        (full + &outputs, partial + &outputs)
    })
}

proptest! {
    #[test]
    fn totals_without_a_shape_are_at_most_those_with_it((full, partial) in programs()) {
        check_bounds(&full, &partial);
    }
}

/// The JSON of a result that leaves ops out, which the exit code says, too.
fn partial(arguments: &[&str], stdin: &str) -> Value {
    let output = run(arguments, stdin);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_json_says_what_is_missing() {
    let report = partial(&["analyze", "-", "--json", "--device", "h200"], TEXT);
    assert_eq!(report["unknown_ops"], 2);
    assert_eq!(
        report["times"]["lower_bounds_leave_out"],
        "2 ops of unknown shape are not counted"
    );
    for (policy, who) in [
        ("inductor", "torch.compile"),
        ("optimal", "the search for the optimum"),
    ] {
        let report = partial(&["analyze", "-", "--json", "--policy", policy], TEXT);
        assert_eq!(
            report["times"]["lower_bounds_leave_out"],
            format!(
                "2 ops of unknown shape are not counted, and {who} may choose other kernels once their shapes are known"
            )
        );
    }
    // The known part fits.
    assert_eq!(report["peak_memory"]["fits"], Value::Null);
    let whole = TEXT.replace("NonZero)", "NonZero) : f16[1]");
    let report = json(&["analyze", "-", "--json", "--device", "h200"], &whole);
    assert_eq!(report["unknown_ops"], 0);
    assert_eq!(report["peak_memory"]["fits"], true);
    let large = TEXT.replace(
        "NonZero)",
        "NonZero)\nbig = opaque(x) : f16[1024, 1024, 1024, 1024]",
    );
    let report = partial(&["analyze", "-", "--json", "--device", "h200"], &large);
    assert_eq!(report["peak_memory"]["fits"], false);
}

#[test]
fn every_total_of_the_command_line_is_marked() {
    let output = run(
        &[
            "analyze",
            "-",
            "--policy",
            "optimal",
            "--compare",
            "bytes",
            "--device",
            "h200",
        ],
        TEXT,
    );
    let text = stdout(&output);
    let line = |start: &str| {
        let found = text
            .lines()
            .find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in\n{text}"))
    };
    assert!(
        !text.contains("saved") && !text.contains(" less)"),
        "{text}"
    );
    for start in ["peak memory:", "unfused:", "fused:"] {
        assert_eq!(line(start).matches("≥ ").count(), 2, "{text}");
    }
    assert!(
        line("proven optimal")
            .contains("no kernels that the search allows for the ops of known shape have fewer"),
        "{text}"
    );
    let head = text
        .lines()
        .position(|line| line.starts_with("policy "))
        .unwrap();
    let rows: Vec<&str> = text.lines().skip(head + 1).collect();
    assert!(rows.len() > 3);
    for row in rows {
        // Kernels, bytes, time, its bound and peak memory.
        assert_eq!(row.matches("≥ ").count(), 5, "{text}");
    }
}

#[test]
fn a_sweep_is_marked() {
    let output = run(&["sweep", "-", "N"], TEXT);
    let text = stdout(&output);
    let is_row = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let rows: Vec<&str> = text.lines().filter(is_row).collect();
    assert!(rows.len() > 4, "{text}");
    for row in rows {
        // Of two lower bounds the quotient is none.
        let cells = row.split_whitespace().count();
        assert!(row.contains('≥') || row.contains('–'), "{cells}: {text}");
    }
    let report = json(&["sweep", "-", "N", "--json"], TEXT);
    assert_eq!(report["points"][0]["policies"][0]["is_partial"], true);
    let whole = TEXT.replace("NonZero)", "NonZero, flops=0) : f16[1]");
    // The sentences below the table say for which values they hold.
    let text = stdout(&run(&["sweep", "-", "N"], &whole)).to_owned();
    let mut rows = text.lines().filter(is_row);
    assert!(rows.all(|row| !row.contains('≥')), "{text}");
}

#[test]
fn what_needs_all_ops_refuses() {
    for (command, refusal) in [
        (
            "script",
            "d: its shape is unknown; m: its shape is unknown.",
        ),
        (
            "precision",
            "the shapes of `d` and `m` are unknown. To correct it, write the shape of each opaque operator after a colon.",
        ),
    ] {
        let output = run(&[command, "-"], TEXT);
        assert!(!output.status.success(), "{command}");
        assert!(stderr(&output).contains(refusal), "{}", stderr(&output));
    }
    let output = run(&["code", "-"], TEXT);
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(
        text.contains("Not printed: 2 ops of unknown shape"),
        "{text}"
    );
    let alone = run(&["code", "-", "--kernel", "1"], TEXT);
    assert!(!stdout(&alone).contains("Not printed"));
}

#[test]
fn errors_in_ops_of_unknown_shape_are_found() {
    for (statement, message) in [
        ("c = opaque(x, flops=-1)", "`flops` is negative"),
        (
            "c = relu(b, nonsense=3)",
            "`relu` has no attribute `nonsense`",
        ),
        ("c = opaque(b, axis=7)", "`opaque` has no attribute `axis`"),
    ] {
        let text = format!("input x : f16[4]\nb = opaque(x)\n{statement}\n");
        let found = analyze_program(&parse(&text).program, &Options::default()).diagnostics;
        let has = found.iter().any(|found| found.message == message);
        assert!(has, "{statement}: {found:?}");
    }
}

#[test]
fn the_rules_keep_apart_what_an_unknown_op_reads() {
    let text = "input x : f16[64]\nh = relu(x)\ny = exp(h)\nd = opaque(h)\n";
    let analysis = analysed(text, Policy::Rules);
    assert_eq!(analysis.fused.kernels.len(), 2);
    let why = fuseline_core::analysis::why::Why::new(&analysis);
    let words: Vec<String> = (why.edges().iter())
        .filter_map(|edge| match &edge.verdict {
            Verdict::Separate { reason, .. } => Some(reason_text(&analysis.graph, reason)),
            Verdict::Fused => None,
        })
        .collect();
    assert_eq!(
        words,
        ["an op of unknown shape also reads the tensor, so the rules write it to memory"]
    );
}
