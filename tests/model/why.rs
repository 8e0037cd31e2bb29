//! Why edges are not fused, in figures and words.

use crate::ids::ops;
use crate::random_graph::small_device;
use crate::why_prices::{merged, totals};
use fuseline_core::analysis::why::{Price, Verdict, Why};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::fusion::rows::RowDomain;
use fuseline_core::{
    Analysis, Device, FusionOptions, KernelId, Objective, OpId, Options, Policy, analyze_program,
    notation,
};
use fuseline_view::present::verdict::verdict_text;
use serde_json::json;
use strum::VariantArray;

pub(crate) fn analysis(text: &str, options: &Options) -> Analysis {
    let parsed = notation::parse(text);
    assert_eq!(parsed.diagnostics, []);
    analyze_program(&parsed.program, options).analysis.unwrap()
}

/// Why two ops are in different kernels, and the price of merging these.
pub(crate) fn ask(text: &str, options: &Options, first: &str, second: &str) -> (Reason, Price) {
    let analysis = analysis(text, options);
    let op = |name: &str| analysis.graph.op_named(name).unwrap();
    match Why::new(&analysis).ask(op(first), op(second)) {
        Verdict::Separate { reason, price } => (reason, price),
        Verdict::Fused => panic!("{first} and {second} are fused"),
    }
}

pub(crate) fn under(policy: Policy) -> Options {
    Options::of_policy(policy)
}

/// While `t` runs, `e` and `x` wait for `y` and `w`.
const TWO_LONG_ROWS: &str = "input x : f16[64, 1024]\ninput z : f16[64, 1024]\ne = add(x, z)\n\
                             t = sum(e)\ny = mul(e, t)\nw = mul(x, y)\n";

const RULES: &str = "\
input x : f16[64, 128]
weight w : f16[128, 128]
a = relu(x)
m = matmul(a, w)
b = relu(m)
s = softmax(b)
c = relu(s)
d = add(c, x)
e = mul(c, d)
";

#[test]
fn the_rules_name_what_kept_an_edge_apart() {
    let rules = under(Policy::Rules);
    // Ops by index: a 0, m 1, b 2, s 3, c 4, d 5, e 6.
    let (reason, price) = ask(RULES, &rules, "a", "m");
    assert_eq!(
        reason,
        Reason::MatmulStarts {
            matmul: OpId::new(1),
            before: OpId::new(0)
        }
    );
    // `a` would be neither written nor read: twice 64 * 128 * 2 bytes.
    assert_eq!(price.saved_bytes(), 2 * 16_384);
    let (reason, _) = ask(RULES, &rules, "b", "s");
    assert_eq!(
        reason,
        Reason::MatmulAndReduction {
            matmul: OpId::new(1),
            reduction: OpId::new(3)
        }
    );
    let (reason, _) = ask(RULES, &rules, "s", "c");
    assert_eq!(
        reason,
        Reason::ReductionEnds {
            reduction: OpId::new(3),
            after: OpId::new(4)
        }
    );
    let (reason, _) = ask(RULES, &rules, "c", "d");
    assert_eq!(
        reason,
        Reason::AnotherConsumer {
            consumer: OpId::new(6)
        }
    );
}

#[test]
fn the_legality_names_figures_and_paths() {
    let optimal = under(Policy::Optimal);
    let (reason, _) = ask(
        "input x : f16[64, 128]\nr = mean(x)\ny = relu(r)\nq = mean(y, axis=0)\n",
        &optimal,
        "r",
        "q",
    );
    let rows = |rows, width, stride| RowDomain {
        rows,
        width,
        stride,
        axes_id: 0,
    };
    assert_eq!(
        reason,
        Reason::RowDomains {
            reduction: OpId::new(0),
            rows: rows(64, 128, 1),
            other: OpId::new(2),
            other_rows: rows(1, 64, 1),
        }
    );
    let small = Options {
        device: small_device(1024),
        ..under(Policy::Optimal)
    };
    let (reason, _) = ask(TWO_LONG_ROWS, &small, "y", "w");
    assert_eq!(
        reason,
        Reason::OnChip {
            reduction: OpId::new(1),
            values: 2,
            needed_bytes: 8192,
            available_bytes: 1024,
        }
    );
    let (reason, _) = ask(
        "input x : f16[64, 64]\nweight w : f16[64, 64]\na = relu(x)\nm = matmul(a, w)\nc = add(m, a)\n",
        &optimal,
        "a",
        "c",
    );
    // The kernel of `c` contains the matmul, which would no longer come first.
    assert_eq!(
        reason,
        Reason::MatmulStarts {
            matmul: OpId::new(1),
            before: OpId::new(0)
        }
    );
    let (reason, _) = ask(
        "input x : f16[64, 64]\nweight w : f16[64, 64]\na = relu(x)\nm = matmul(a, w)\ns = softmax(m)\nc = add(s, a)\n",
        &under(Policy::None),
        "a",
        "c",
    );
    assert_eq!(
        reason,
        Reason::Cycle {
            path: ops(&[0, 1, 2, 3])
        }
    );
}

#[test]
fn the_limits_name_what_is_beyond_them() {
    let optimal = under(Policy::Optimal);
    let (reason, _) = ask(
        "input x : f16[64, 64]\ny = relu(x)\nz = relu(x)\n",
        &optimal,
        "y",
        "z",
    );
    assert_eq!(
        reason,
        Reason::NotConnected {
            first: OpId::new(0),
            second: OpId::new(1)
        }
    );
    let (reason, price) = ask(
        "input x : f16[64, 64]\ny = relu(x)\nz = relu(y)\n",
        &under(Policy::None),
        "y",
        "z",
    );
    assert_eq!(reason, Reason::NotLookedAt);
    assert_eq!(price.saved_bytes(), 2 * 64 * 64 * 2);
    let limited = Options {
        fusion: FusionOptions {
            max_ops: 2,
            ..FusionOptions::default()
        },
        ..under(Policy::Optimal)
    };
    let (reason, _) = ask(
        "input x : f16[64, 64]\ny = relu(x)\nz = relu(y)\nq = relu(z)\n",
        &limited,
        "z",
        "q",
    );
    assert_eq!(reason, Reason::TooManyOps { ops: 3, limit: 2 });
}

#[test]
fn what_both_kernels_compute_is_computed_once_when_they_are_one() {
    // The compiler computes the chain of `c` in both kernels, and on this device arithmetic is the
    // bound.
    let text = "\
input x : f16[64, 64]
weight w : f16[64, 64]
a = gelu(x, approximate=none)
b = gelu(a, approximate=none)
c = gelu(b, approximate=none)
q = relu(c)
m = matmul(q, w)
n = matmul(m, w)
y = sub(n, c)
";
    let options = Options {
        device: small_device(100_000),
        ..under(Policy::Inductor)
    };
    let analysis = analysis(text, &options);
    let kernels = analysis.partition.kernels.len();
    let (first, last) = (KernelId::new(0), KernelId::new(kernels - 1));
    assert_eq!(analysis.partition.recomputed[last], ops(&[0, 1, 2]));
    let (_, price) = ask(text, &options, "q", "y");
    let merged = merged(&analysis.partition, first, last);
    let before = totals(&analysis.graph, &options, &analysis.partition);
    let after = totals(&analysis.graph, &options, &merged);
    assert!((price.bound_saved_s().unwrap() - (before.1 - after.1)).abs() < 1e-9 * before.1);
}

#[test]
fn merging_a_kernel_with_itself_changes_nothing() {
    for &policy in Policy::VARIANTS {
        let analysis = analysis(RULES, &under(policy));
        let why = Why::new(&analysis);
        for kernel in analysis.partition.kernels.ids() {
            assert_eq!(why.merge(kernel, kernel), Ok(Price::NOTHING), "{policy:?}");
        }
    }
}

#[test]
fn words_hold_names_and_figures() {
    let analysis = analysis(RULES, &under(Policy::Rules));
    let sentences: Vec<String> = Why::new(&analysis)
        .edges()
        .iter()
        .map(|edge| {
            let ops = [edge.producer, edge.consumer];
            verdict_text(&analysis, ops, &edge.verdict).text()
        })
        .collect();
    assert_eq!(
        sentences[0],
        "Separate: a matmul starts its kernel, and `a` comes before `m`. One kernel instead would save 32.8 kB and 2.02 µs of the lower bound."
    );
    assert_eq!(sentences[1], "They run in one kernel.");
}

/// The maximum ends its kernel. It and the exponentials are in different kernels for the same
/// reason, though a third op is between them.
#[test]
fn ops_that_do_not_feed_each_other_have_the_reason_of_an_edge_between_their_kernels() {
    let text = "input x : f16[64, 256]\nm = max(x)\nd = sub(x, m)\ne = exp(d)\n";
    let ends = |first, second| {
        let (reason, _) = ask(text, &under(Policy::Rules), first, second);
        let (reduction, after) = (OpId::new(0), OpId::new(1));
        reason == Reason::ReductionEnds { reduction, after }
    };
    assert!(ends("m", "d") && ends("m", "e"));
    let (reason, _) = ask(text, &under(Policy::Manual), "m", "d");
    assert_eq!(reason, Reason::NotStated);
}

#[test]
fn what_cannot_run_has_no_price_in_words() {
    // `b` depends on the matmul, which depends on `a`.
    let text = "input x : f16[64, 64]\nweight w : f16[64, 64]\na = relu(x)\nm = matmul(a, w)\nb = add(m, a)\n";
    let analysis = analysis(text, &under(Policy::None));
    let ops = [OpId::new(0), OpId::new(2)];
    let verdict = Why::new(&analysis).ask(ops[0], ops[1]);
    let said = verdict_text(&analysis, ops, &verdict);
    assert_eq!(said.text(), "Separate: `m` must run between them.");
}

/// Without launch times, ops bound by arithmetic take as long in one kernel as in two, except for
/// rounding.
#[test]
fn what_only_rounding_saves_does_not_pay() {
    let options = Options {
        device: Device::custom(1e15, 1e9, 1.7e6, 0.0),
        fusion: FusionOptions {
            objective: Objective::Time,
            ..FusionOptions::default()
        },
        ..under(Policy::Optimal)
    };
    let text = |width: u32| {
        format!(
            "input x : f16[190, {width}]\na = gelu(x)\nb = silu(a)\nc = silu(b)\nd = exp(c)\ne = gelu(d)\nf = tanh(e)\ng = exp(f)\n"
        )
    };
    let mut noise = 0;
    for width in 1..400 {
        for edge in Why::new(&analysis(&text(width), &options)).edges() {
            if let Verdict::Separate { reason, price } = edge.verdict {
                noise += usize::from(price.bound_saved_s() > Some(0.0));
                assert_eq!(reason, Reason::NotWorthIt, "{price:?}");
            }
        }
    }
    assert!(noise > 0);
}

#[test]
fn facts_are_the_figures_and_ops_of_the_words() {
    let optimal = under(Policy::Optimal);
    let small = Options {
        device: small_device(1024),
        ..optimal.clone()
    };
    let facts = |text: &str, options: &Options, first: &str, second: &str| {
        let analysis = analysis(text, options);
        let reason = ask(text, options, first, second).0;
        let named = reason.map_ops(|op| analysis.graph.ops[op].name.clone());
        serde_json::to_value(named).unwrap()
    };
    assert_eq!(
        facts(TWO_LONG_ROWS, &small, "y", "w"),
        json!({ "reason_kind": "on_chip", "reason_facts": { "reduction": "t", "values": 2, "needed_bytes": 8192, "available_bytes": 1024 } })
    );
    assert_eq!(
        facts(
            "input x : f16[64, 128]\nr = mean(x)\ny = relu(r)\nq = mean(y, axis=0)\n",
            &optimal,
            "r",
            "q"
        ),
        json!({ "reason_kind": "row_domains", "reason_facts": {
                "reduction": "r", "rows": 64, "width": 128, "stride": 1,
                "other": "q", "other_rows": 1, "other_width": 64, "other_stride": 1,
            } })
    );
    let around = "input x : f16[64, 64]\nweight w : f16[64, 64]\na = relu(x)\nm = matmul(a, w)\ns = softmax(m)\nc = add(s, a)\n";
    assert_eq!(
        facts(around, &under(Policy::None), "a", "c"),
        json!({ "reason_kind": "cycle", "reason_facts": { "through": ["a", "m", "s", "c"] } })
    );
    assert_eq!(
        facts(around, &under(Policy::Inductor), "m", "s"),
        json!({ "reason_kind": "library_call", "reason_facts": { "matmul": "m" } })
    );
    let mut tuned = under(Policy::Inductor);
    tuned.fusion.max_autotune = true;
    assert_eq!(
        facts(around, &tuned, "m", "s"),
        json!({ "reason_kind": "loops", "reason_facts": {
                "first": "matmul", "first_elements": 4096,
                "second": "reduction", "second_rows": 64, "second_width": 64,
            } })
    );
}

#[test]
fn a_reason_without_figures_has_empty_facts_and_large_counts_stay_exact() {
    let json = |reason: Reason<String>| serde_json::to_value(reason).unwrap();
    for (reason, kind) in [
        (Reason::Reordered, "reordered"),
        (Reason::UnknownConsumer, "unknown_consumer"),
        (Reason::NotCompared, "not_compared"),
        (Reason::NotStated, "not_stated"),
        (Reason::NotWorthIt, "not_worth_it"),
        (Reason::NotLookedAt, "not_looked_at"),
    ] {
        let expected = json!({ "reason_kind": kind, "reason_facts": {} });
        assert_eq!(json(reason), expected);
    }
    let shared = Reason::TooLittleShared {
        shared_bytes: u64::MAX,
        places: 70,
    };
    let facts = json!({ "shared_bytes": u64::MAX, "places": 70 });
    let expected = json!({ "reason_kind": "too_little_shared", "reason_facts": facts });
    assert_eq!(json(shared), expected);
    let kept = Reason::KeepsMemory {
        kept_elements: 383,
        shared_bytes: 4,
    };
    let facts = json!({ "kept_elements": 383, "shared_bytes": 4 });
    let expected = json!({ "reason_kind": "keeps_memory", "reason_facts": facts });
    assert_eq!(json(kept), expected);
}
