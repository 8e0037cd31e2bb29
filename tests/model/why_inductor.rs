//! Reasons of policy `inductor`: its own refusals, not the legality of the optimum.

use crate::random_graph::fusable_ops;
use crate::why::{analysis, ask, under};
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::fusion::decision_trace::{Decision, trace_decisions};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::{FusionOptions, OpId, Options, Policy, analyze};
use fuseline_view::present::reasons::{reason_between, reason_text};
use fuseline_view::present::verdict::verdict_text;
use proptest::prelude::*;

fn with(set: impl FnOnce(&mut FusionOptions)) -> Options {
    let mut options = under(Policy::Inductor);
    set(&mut options.fusion);
    options
}

#[test]
fn a_library_call_takes_no_epilogue_and_the_reason_says_so() {
    let text = include_str!("../../public/measured/linear_bias_relu.fuse");
    let (reason, price) = ask(text, &under(Policy::Inductor), "h", "a");
    assert_eq!(
        reason,
        Reason::LibraryCall {
            matmul: OpId::new(0)
        }
    );
    // `h` would be neither written nor read, so fusing would still save its bytes.
    assert_eq!(price.saved_bytes(), 2 * 2 * 4096 * 4096);
    let graph = analysis(text, &under(Policy::Inductor)).graph;
    let ends = ["h", "a"].map(|name| graph.op_named(name).unwrap());
    assert_eq!(
        reason_between(&graph, &reason, ends),
        "torch.compile calls a library for the matmul `h`, and fuses the `add` after it with `y` instead"
    );
}

/// An `add` right after a product that is separate is not told that the call takes an `add`.
#[test]
fn an_add_outside_the_call_has_a_reason_that_is_not_true_of_it() {
    let head = "input x : f16[64, 128]\ninput r : f16[64, 64]\nweight w : f16[128, 64]\nweight v : f16[64]\n";
    let only = "an `add` after it is part of the call only if";
    for (body, after) in [
        (
            "y = matmul(x, w)\nz = add(y, r)\no = layer_norm(z)",
            "fuses the `add` after it with `o` instead".to_owned(),
        ),
        (
            "y = matmul(x, w)\nz = add(y, r)\no = layer_norm(z)\np = relu(z)",
            "fuses the `add` after it with the ops that read it instead".to_owned(),
        ),
        (
            "y = matmul(x, w)\nz = add(r, y)\no = relu(y)",
            format!("{only} no other op reads the product, and `o` does"),
        ),
        (
            "y = matmul(x, w)\nz = add(y, y)",
            format!("{only} it adds another tensor to the product"),
        ),
        (
            "input f : f32[64, 64]\ny = matmul(x, w)\nz = add(y, f)",
            format!(
                "{only} the tensor that it adds has the type of the product and broadcasts to it"
            ),
        ),
        (
            "input b : f16[1, 64, 128]\ny = matmul(b, w)\nz = add(y, v)\no = layer_norm(z)",
            format!("{only} the product has 2 dimensions, and this one has 3"),
        ),
        (
            "y = matmul(x, w)\nt = matmul(x, w)\nz = add(y, t)",
            "the `add` after it is part of the call of `t`".to_owned(),
        ),
        (
            "y = matmul(x, w)\nz = relu(y)",
            "only views and one `add` after it can be part of the call".to_owned(),
        ),
        (
            "input b : f16[1, 64, 128]\ny = matmul(b, w)\nz = relu(y)",
            "only views after it can be part of the call".to_owned(),
        ),
        (
            "input i : f16[8, 16, 32, 32]\nweight k : f16[16, 16, 3, 3]\ny = conv2d(i, k)\nz = add(y, y)",
            "only views after it can be part of the call".to_owned(),
        ),
    ] {
        let text = format!("{head}{body}");
        let options = under(Policy::Inductor);
        let graph = analysis(&text, &options).graph;
        let ends = ["y", "z"].map(|name| graph.op_named(name).unwrap());
        let (reason, _) = ask(&text, &options, "y", "z");
        assert_eq!(
            reason_between(&graph, &reason, ends),
            format!("torch.compile calls a library for the matmul `y`, and {after}"),
            "{body}"
        );
    }
    // One that adds to a view of the product.
    let text = format!("{head}y = matmul(x, w)\nt = transpose(y)\nz = add(t, r)");
    let options = under(Policy::Inductor);
    let graph = analysis(&text, &options).graph;
    let ends = ["t", "z"].map(|name| graph.op_named(name).unwrap());
    let (reason, _) = ask(&text, &options, "t", "z");
    assert_eq!(
        reason_between(&graph, &reason, ends),
        format!(
            "torch.compile calls a library for the matmul `y`, and {only} it reads the product itself, and `t` is a view of it"
        )
    );
}

/// What a call takes after it is no reason to refuse an op before it, and the reverse.
#[test]
fn the_reason_of_a_library_call_fits_the_side_of_the_call_that_the_other_op_is_on() {
    let mut sides = [0, 0];
    for example in EXAMPLES {
        let analysis = analysis(example.text, &under(Policy::Inductor));
        let (graph, why) = (&analysis.graph, Why::new(&analysis));
        for edge in why.edges() {
            let Verdict::Separate { reason, .. } = &edge.verdict else {
                continue;
            };
            let ends = [edge.producer, edge.consumer];
            let said = [
                reason_between(graph, reason, ends),
                verdict_text(&analysis, ends, &edge.verdict).text(),
            ];
            let call = match *reason {
                Reason::LibraryCall { matmul } => matmul,
                Reason::FusedAttention { op } => op,
                _ => continue,
            };
            // A call between both is that of the second, which is its `add`.
            let side = usize::from(call > ends[0]);
            let [after, before] = [" after it", " before it"].map(|words| said[0].contains(words));
            let name = &graph.ops[call].name;
            assert_eq!([after, before], [side == 0, side == 1], "{name}: {said:?}");
            assert!(said[1].contains(&said[0]), "{said:?}");
            sides[side] += 1;
        }
    }
    assert!(sides.iter().all(|&edges| edges > 20), "{sides:?}");
}

#[test]
fn the_switches_of_the_optimum_do_not_decide() {
    let text = "\
input x : f16[64, 128]
weight w : f16[128, 128]
a = relu(x)
m = matmul(a, w)
r = mean(x)
n = matmul(r, v)
c = sub(n, r)
weight v : f16[1, 128]
";
    for (first, second) in [("a", "m"), ("r", "n"), ("n", "c"), ("r", "c"), ("a", "c")] {
        let plain = ask(text, &under(Policy::Inductor), first, second).0;
        for options in [
            with(|fusion| fusion.prologue = true),
            with(|fusion| fusion.after_reductions = false),
            with(|fusion| fusion.max_ops = 1),
            with(|fusion| fusion.horizontal = true),
        ] {
            assert_eq!(
                ask(text, &options, first, second).0,
                plain,
                "{first} {second}"
            );
        }
    }
}

#[test]
fn kernels_that_were_never_compared_are_said_to_be() {
    let text = "\
input x : f16[64, 128]
weight w : f16[128, 32]
m = matmul(x, w)
t = transpose(m)
y = relu(t)
q = softmax(x)
";
    let options = under(Policy::Inductor);
    assert_eq!(ask(text, &options, "y", "q").0, Reason::NotCompared);
    // If one of them is a library call, that is the reason.
    let call = Reason::LibraryCall {
        matmul: OpId::new(0),
    };
    assert_eq!(ask(text, &options, "t", "y").0, call);
    let tuned = with(|fusion| fusion.max_autotune = true);
    // The loops of a generated matmul have their order.
    assert_eq!(ask(text, &tuned, "t", "y").0, Reason::Reordered);
    let graph = analysis(text, &options).graph;
    assert!(reason_text(&graph, &Reason::NotCompared).starts_with("the compiler never compares"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reason_is_the_last_refusal_of_the_record((ops, externals) in fusable_ops(1..=24), max_autotune in any::<bool>(), attention in any::<bool>()) {
        let options = with(|fusion| (fusion.max_autotune, fusion.attention) = (max_autotune, attention));
        let analysis = analyze(&ops, &externals, &options).unwrap();
        let decisions = trace_decisions(&analysis.graph, &options).decisions;
        let kernel = |op: OpId| analysis.partition.kernel_of[op];
        let why = Why::new(&analysis);
        for second in analysis.graph.ops.ids() {
            for first in analysis.graph.ops.ids().take_while(|&first| first < second) {
                let Verdict::Separate { reason, .. } = why.ask(first, second) else {
                    continue;
                };
                let pair = [kernel(first), kernel(second)];
                let last = decisions.iter().rev().find_map(|decision| match decision {
                    Decision::Refused { ops, reason } => {
                        let of = [kernel(ops[0]), kernel(ops[1])];
                        (of == pair || of == [pair[1], pair[0]]).then_some(reason)
                    }
                    _ => None,
                });
                match (reason, last) {
                    // No order of the kernels allows it, whatever the compiler came to.
                    (Reason::Cycle { path }, _) => {
                        let later = pair[0].max(pair[1]);
                        prop_assert_eq!(kernel(path[0]), pair[0].min(pair[1]));
                        prop_assert!(analysis.partition.computes(later, path[path.len() - 1]));
                        prop_assert!(path.len() > 2);
                    }
                    (
                        Reason::LibraryCall { matmul: op } | Reason::FusedAttention { op },
                        None | Some(Reason::LibraryCall { .. } | Reason::FusedAttention { .. }),
                    ) => {
                        prop_assert!(pair.contains(&kernel(op)));
                    }
                    (reason, Some(last)) => prop_assert_eq!(&reason, last),
                    (other, None) => prop_assert_eq!(other, Reason::NotCompared),
                }
            }
        }
    }
}
