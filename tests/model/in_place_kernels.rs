//! Which kernels write in place, under each policy, and what must end before the write.

use crate::in_place::analysis;
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{Analysis, OpId, Options, Policy, analyze_program};
use fuseline_view::present::reasons::reason_text;
use strum::VariantArray;

#[test]
fn a_kernel_reads_no_element_that_another_block_has_overwritten() {
    let texts = [
        "input x : f32[64, 64]\ninput y : f32[64, 64]\na = transpose(x)\nb = add(a, y)\nc = add_(x, b)",
        "input x : f32[64, 64]\ninput y : f32[64, 64]\nd = mul(x, 2)\na = transpose(d)\nb = add(a, y)\nc = add_(x, b)",
        "input x : f32[64, 64]\ninput y : f32[64, 64]\na = sum(x)\nb = mul(y, a)\nc = add_(x, b)",
    ];
    for text in texts {
        let marked: String = (text.lines())
            .map(|line| match line.split_once(" = ") {
                Some(_) => format!("{line} @kernel 1\n"),
                None => format!("{line}\n"),
            })
            .collect();
        let outcome = analyze_program(&parse(&marked).program, &Options::of_policy(Policy::Manual));
        let analysis = outcome.analysis.unwrap();
        let reasons: Vec<_> = analysis.refused.iter().map(|r| &r.reason).collect();
        assert!(
            matches!(reasons[..], [Reason::Overwrites { .. }]),
            "{reasons:?}"
        );
        // A kernel of torch.compile that reduces rows reads each row before it writes there.
        let is_row = |policy: Policy| policy == Policy::Inductor && text.contains("sum");
        for &policy in Policy::VARIANTS.iter().filter(|&&policy| !is_row(policy)) {
            let analysis = crate::in_place::analysis(text, policy);
            let kernel_of =
                |name: &str| analysis.partition.kernel_of[analysis.graph.op_named(name).unwrap()];
            let first = if text.contains("sum") { "a" } else { "b" };
            assert_ne!(kernel_of(first), kernel_of("c"), "{policy:?} {text}");
        }
    }
    // Element by element there is no such block.
    let text = "input x : f32[64, 64]\na = gelu(x)\nc = add_(x, a)";
    for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
        assert_eq!(analysis(text, policy).fused.kernels.len(), 1, "{policy:?}");
    }
}

/// Programs with a write in place that waits for readers of the old value: lines after the
/// declarations, and the ops of each kernel under the textbook rules.
#[rustfmt::skip]
const WAITING: &[(&str, &[&str])] = &[
    // Each element is read where it is written.
    ("a = mul(x, 0.9)\nb = add(a, y)\nc = copy_(x, b)", &["a b c"]),
    ("a = gelu(x)\nb = mul(a, x)\nc = add_(x, b)\nd = relu(c)", &["a b c d"]),
    ("a = matmul(y, z)\nb = add(a, x)\nc = copy_(x, b)", &["a b c"]),
    // The write needs elements that other threads overwrite.
    ("a = mul(x, 0.9)\nb = transpose(a)\nc = add_(x, b)", &["a b", "c"]),
    ("a = mul(x, 0.9)\nb = sum(a)\nc = mul(y, b)\nd = add_(x, c)", &["a b", "c d"]),
    ("a = transpose(x)\nb = add(a, y)\nc = copy_(x, b)", &["a b", "c"]),
    // Ops behind the write join no kernel that it waits for.
    ("a = mul(x, 0.9)\nb = add(a, y)\nc = relu_(x)\nd = mul(b, z)", &["a b", "c", "d"]),
    // Nor do two such kernels become one.
    ("a = mul(x, 0.9)\nb = mul(y, 0.9)\nc = relu_(x)\nd = add(a, b)\ne = relu_(y)", &["a", "c", "b d", "e"]),
];

/// The ops of each kernel.
fn names_of_kernels(analysis: &Analysis) -> Vec<String> {
    let name = |&op: &OpId| analysis.graph.ops[op].name.as_str();
    let kernels = analysis.partition.kernels.iter();
    kernels
        .map(|ops| ops.iter().map(name).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn textbook_rules_write_in_place_in_the_kernel_that_reads_the_same_elements() {
    for (lines, expected) in WAITING {
        let text =
            format!("input x : f32[64, 64]\ninput y : f32[64, 64]\ninput z : f32[64, 64]\n{lines}");
        let outcome = analyze_program(&parse(&text).program, &Options::of_policy(Policy::Rules));
        let analysis = outcome.analysis.unwrap();
        assert_eq!(names_of_kernels(&analysis), *expected, "{lines}");
    }
}

#[test]
fn every_policy_computes_an_update_in_place_in_one_kernel() {
    let text = "input h : f32[1048576]\ninput g : f32[1048576]\na = mul(h, 0.9)\nb = add(a, g)\nc = copy_(h, b)";
    let marked = text.replace(')', ") @kernel 1");
    for policy in [
        Policy::Rules,
        Policy::Inductor,
        Policy::Optimal,
        Policy::Manual,
    ] {
        let text = if policy == Policy::Manual {
            &marked
        } else {
            text
        };
        let analysis = analysis(text, policy);
        assert_eq!(analysis.fused.kernels.len(), 1, "{policy:?}");
        assert_eq!(
            analysis.fused.traffic.total,
            3 * 4 * 1_048_576,
            "{policy:?}"
        );
    }
}

/// Updates in place, the kernels that torch.compile launches for them by its own scheduler, and how
/// many times the bytes of `x` these read and write.
#[rustfmt::skip]
const COMPILED: &[(&str, &str, &[&str], u64)] = &[
    (
        "SGD with momentum",
        "a = mul(x, 0.9)\nb = add(a, y)\nc = mul(b, 0.01)\nd = sub(z, c)\ne = copy_(x, b)\nf = copy_(z, d)",
        &["a b c d e f"], 5,
    ),
    (
        "Adam whose buffers are written last",
        "a = mul(x, 0.9)\nb = add(a, y)\nc = square(y)\nd = add(u, c)\ne = sqrt(d)\nf = div(b, e)\ng = sub(z, f)\n\
         h = copy_(x, b)\ni = copy_(u, d)\nj = copy_(z, g)",
        &["a b c d e f g h i j"], 7,
    ),
    (
        "Adam whose buffers are written first",
        "a = mul_(x, 0.9)\nb = add_(a, y)\nc = square(y)\nd = add_(u, c)\ne = sqrt(d)\nf = div(b, e)\ng = sub_(z, f)",
        &["a b c d e f g"], 7,
    ),
    (
        "exponential means of two buffers",
        "a = mul_(x, 0.9)\nb = add_(a, y)\nc = mul_(z, 0.9)\nd = add_(c, u)",
        &["a b", "c d"], 6,
    ),
    ("a reader of the new value", "a = add_(x, y)\nb = relu(a)", &["a b"], 4),
    ("the old value beside the new one", "a = gelu(x)\nb = relu_(x)\nc = add(b, a)", &["a b c"], 3),
    ("a reader beside the write", "a = mul(x, y)\nb = add_(x, y)", &["a b"], 4),
    ("two readers beside the write", "a = mul(x, y)\nb = exp(x)\nc = add_(x, y)", &["a b c"], 5),
    ("a reader in the order of the write", "a = transpose(x)\nb = mul(a, y)\nc = add_(x, z)", &["a b c"], 5),
    ("a reader in another order", "a = transpose(x)\nb = contiguous(a)\nc = add_(x, y)", &["a b", "c"], 5),
    ("a transposed value", "a = transpose(x)\nb = mul(a, 2)\nc = add_(x, b)", &["a b", "c"], 5),
    ("a reader of a part", "a = slice(x, start=0, end=512, axis=0)\nb = exp(a)\nc = mul_(x, 2)", &["a b", "c"], 3),
];

/// A state that moves by one step: each element is read at another index than it is written. The
/// counts are those of TorchInductor 2.11.
#[test]
fn torch_compile_reads_what_it_shifts_before_it_overwrites_it() {
    let state = "input s : bf16[64, 8192, 3]\ninput x : bf16[64, 8192, 1]\n";
    for (ops, launches) in [
        (
            "a = slice(s, start=1, axis=2)\nc = concat(a, x, axis=2)\nz = copy_(s, c)",
            2,
        ),
        (
            "c = concat(s, x, axis=2)\na = slice(c, start=1, axis=2)\nz = copy_(s, a)",
            2,
        ),
        // The compiler does not see that the elements of a piece stay where they are.
        (
            "a = slice(s, end=2, axis=2)\nc = concat(a, x, axis=2)\nd = exp(c)\nz = copy_(s, d)",
            2,
        ),
    ] {
        let text = format!("{state}{ops}");
        let outcome = analyze_program(&parse(&text).program, &Options::of_policy(Policy::Inductor));
        assert_eq!(outcome.diagnostics, [], "{text}");
        assert_eq!(outcome.analysis.unwrap().fused.launches, launches, "{text}");
    }
}

#[test]
fn torch_compile_overwrites_what_it_reads_at_the_same_index() {
    for &(name, lines, kernels, accessed) in COMPILED {
        let inputs = ["x", "y", "z", "u"].map(|name| format!("input {name} : f32[1024, 1024]\n"));
        let text = format!("{}{lines}", inputs.concat());
        // Not every program reads every input.
        let outcome = analyze_program(&parse(&text).program, &Options::of_policy(Policy::Inductor));
        let analysis = outcome.analysis.unwrap();
        assert_eq!(names_of_kernels(&analysis), kernels, "{name}");
        assert_eq!(
            analysis.fused.traffic.total,
            accessed * 4 * 1024 * 1024,
            "{name}"
        );
    }
}

/// Two ops that do not share a kernel because of a write in place, and why.
#[rustfmt::skip]
const WHY: &[(Policy, &str, [&str; 2], &str)] = &[
    (
        Policy::Rules, "a = mul(x, 0.9)\nb = transpose(a)\nc = add_(x, b)", ["b", "c"],
        "`c` overwrites in place what `a` reads, and blocks of one kernel do not wait for each other",
    ),
    (
        Policy::Rules, "a = mul(x, 0.9)\nc = relu_(x)\nd = mul(a, y)", ["a", "d"],
        "`c` overwrites in place what `a` reads, so the kernel of `a` must end before `c`",
    ),
    (
        Policy::Inductor, "a = transpose(x)\nb = contiguous(a)\nc = add_(x, y)", ["b", "c"],
        "`c` overwrites in place what `b` reads, and blocks of one kernel do not wait for each other",
    ),
];

#[test]
fn the_reason_names_the_write_in_place() {
    for (policy, lines, ops, expected) in WHY {
        let text = format!("input x : f32[64, 64]\ninput y : f32[64, 64]\n{lines}");
        // Not every program reads both inputs.
        let outcome = analyze_program(&parse(&text).program, &Options::of_policy(*policy));
        let analysis = outcome.analysis.unwrap();
        let [first, second] = ops.map(|name| analysis.graph.op_named(name).unwrap());
        let Verdict::Separate { reason, .. } = Why::new(&analysis).ask(first, second) else {
            panic!("{lines}");
        };
        let reason = reason_text(&analysis.graph, &reason);
        assert_eq!(reason, *expected, "{lines}");
    }
}
