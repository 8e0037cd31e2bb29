//! The decisions of each policy in order, and the intermediate partitions.

use crate::ids::ops;
use crate::random_graph;
use fuseline_core::fusion::decision_trace::{Decision, DecisionTrace, trace_decisions};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::{
    Graph, IdVec, KernelId, Op, OpId, OpType, Options, Partition, Policy, ReshapeCost, TensorDecl,
    analyze_program, build_graph, notation, plan,
};
use fuseline_view::present::decisions::decision_text;
use proptest::prelude::*;
use strum::VariantArray;

fn graph_of(text: &str) -> Graph {
    let outcome = analyze_program(&notation::parse(text).program, &Options::default());
    outcome.analysis.unwrap().graph
}

fn sentences(graph: &Graph, trace: &DecisionTrace) -> Vec<String> {
    let decisions = trace.decisions.iter();
    decisions
        .map(|decision| decision_text(graph, decision))
        .collect()
}

/// Each kernel depends only on ops of earlier kernels or of its own.
fn runs_in_order(graph: &Graph, kernels: &Partition) -> bool {
    let mut is_there = IdVec::from_elem(false, graph.ops.len());
    for kernel in kernels.kernels.ids() {
        let ops = kernels.kernels[kernel].iter();
        let again = kernels.recomputed.get(kernel).unwrap_or(&[]);
        let mut ops: Vec<OpId> = ops.chain(again).copied().collect();
        ops.sort_unstable();
        for &op in &ops {
            let is_ready = |&p: &OpId| is_there[p] || ops.contains(&p);
            if !graph.predecessors[op].iter().all(is_ready) {
                return false;
            }
        }
        for op in ops {
            is_there[op] = true;
        }
    }
    is_there.iter().all(|&there| there)
}

/// At least one set of options for each policy.
fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for &policy in Policy::VARIANTS {
        for (attention, other) in [(false, false), (true, false), (false, true)] {
            let mut options = Options::of_policy(policy);
            options.fusion.attention = attention;
            options.fusion.max_autotune = other;
            options.fusion.horizontal = other;
            options.fusion.prologue = other;
            options.fusion.budget_states = 500;
            for &reshape in ReshapeCost::VARIANTS {
                options.conventions.reshape = reshape;
                all.push(options.clone());
            }
        }
    }
    all
}

fn check_replay(graph: &Graph, options: &Options) {
    let trace = trace_decisions(graph, options);
    let partition = plan(graph, options).partition;
    let policy = options.policy;
    let last = trace.decisions.len();
    assert_eq!(trace.partition_after(graph, last), partition, "{policy:?}");
    assert_eq!(trace.partition_after(graph, last + 1), partition);
    let alone = trace.partition_after(graph, 0);
    assert_eq!(alone.kernels.len(), graph.ops.len());
    let counts = trace.kernel_counts(graph);
    assert_eq!(counts.len(), last + 1);
    for (step, &count) in counts.iter().enumerate() {
        let kernels = trace.partition_after(graph, step);
        let is_free = |op: &OpId| {
            options.conventions.reshape == ReshapeCost::View
                && graph.ops[*op].is_view()
                && !partition.copied_views.contains(op)
        };
        let runs = |kernel: &KernelId| {
            let again = kernels.recomputed.get(*kernel).unwrap_or(&[]);
            !kernels.kernels[*kernel].iter().chain(again).all(is_free)
        };
        let running = kernels.kernels.ids().filter(runs).count();
        assert_eq!(running, count, "{policy:?} at {step}");
        assert!(runs_in_order(graph, &kernels), "{policy:?} at {step}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replaying_all_decisions_gives_the_policys_partition((ops, externals) in random_graph::ops(14)) {
        let graph = build_graph(&ops, &externals).unwrap();
        for options in all_options() {
            check_replay(&graph, &options);
        }
    }

    #[test]
    fn so_it_does_where_much_fuses((ops, externals) in random_graph::fusable_ops(1..=16), marks in prop::collection::vec(prop::option::of(0_u32..4), 16)) {
        let mut ops = ops;
        for (op, mark) in ops.iter_mut().zip(marks) {
            op.kernel = mark;
        }
        let graph = build_graph(&ops, &externals).unwrap();
        for options in all_options() {
            check_replay(&graph, &options);
        }
    }
}

/// The reduction inlines the reshape, and the reshape has a buffer of its own besides. As a view it
/// joins the kernel of the reduction, which computes it once.
#[test]
fn a_view_that_joins_the_kernel_that_inlines_it_is_not_recomputed() {
    let elementwise = |name| Op::new(name, OpType::Elementwise, &["x"], name, &[1], 1);
    let mut ops: Vec<Op> = ["t0", "t1", "t2", "t3", "t4"].map(elementwise).into();
    ops.push(Op::new("t5", OpType::Reshape, &["x"], "t5", &[7], 1));
    ops.push(Op::new(
        "t6",
        OpType::Reduction,
        &["t5", "t0"],
        "t6",
        &[7],
        1,
    ));
    let graph = build_graph(&ops, &[TensorDecl::new("x", &[2, 3], 2)]).unwrap();
    for options in all_options() {
        check_replay(&graph, &options);
    }
}

/// `b` is a view of what `a` views, and is copied on its way to the caller.
#[test]
fn views_of_views_run_in_order_at_each_step() {
    let op = |name, op_type, inputs: &[&str], bytes| {
        Op::new(name, op_type, inputs, name, &[6, 10], bytes)
    };
    let (elementwise, reshape) = (OpType::Elementwise, OpType::Reshape);
    let ops = [
        op("t0", elementwise, &["x2"], 2),
        op("t1", elementwise, &["t0"], 2),
        op("t2", elementwise, &["t1"], 2),
        op("t3", reshape, &["t2"], 2),
        op("t4", reshape, &["t3"], 2),
        op("t5", elementwise, &["t4"], 2),
        op("t6", elementwise, &["t5"], 2),
        op("t7", OpType::Reduction, &["t6"], 2),
        op("t8", reshape, &["t4"], 4),
        op("t9", elementwise, &["x0", "t2"], 4),
        op("t10", elementwise, &["t9", "t9", "t4"], 4),
    ];
    let inputs = [
        TensorDecl::new("x2", &[1, 10], 2),
        TensorDecl::new("x0", &[6, 10], 2),
    ];
    let graph = build_graph(&ops, &inputs).unwrap();
    for options in all_options() {
        check_replay(&graph, &options);
    }
}

/// Two kernels compute the softmax, one its row values and one its elements, and both carry its
/// name.
#[test]
fn an_op_in_two_kernels_is_replayed() {
    let graph = graph_of("input x : bf16[8, 5]\ns = softmax(x)\ny = neg(x)\n");
    let options = Options::of_policy(Policy::Inductor);
    check_replay(&graph, &options);
    let trace = trace_decisions(&graph, &options);
    assert_eq!(trace.kernel_counts(&graph).last(), Some(&2));
    let sentences = sentences(&graph, &trace);
    assert_eq!(
        sentences.iter().filter(|s| s.contains(" fuse (")).count(),
        1
    );
    for expected in [
        "`s` writes an intermediate buffer (row values, partial results or a copy)",
        "`s` writes a buffer",
        // Siblings: both read `x`, and `y` reads nothing of `s`.
        "the kernels of `s` and `y` fuse (horizontal fusion: they read the same tensor): they share 80 B",
    ] {
        assert!(
            sentences.iter().any(|s| s == expected),
            "{expected}: {sentences:#?}"
        );
    }
}

/// The copy of a bias and that of heads have no op; one of them is the last kernel.
#[test]
fn a_last_launch_without_ops_is_replayed() {
    let graph = graph_of(
        "input x : f32[2, 4, 4, 16]\ninput w : f32[64, 64]\ninput b : f32[64]\ninput i : f32[2, 256, 2, 2]\ninput f : f32[256, 1, 3, 3]\ninput c : f32[256]\nt = transpose(x, perm=[0, 2, 1, 3])\nr = reshape(t, shape=[2, 4, 64])\nm = matmul(r, w)\na = add(b, m)\ny = conv2d(i, f, c, padding=1, groups=256)",
    );
    for options in all_options() {
        check_replay(&graph, &options);
    }
}

#[test]
fn more_kernels_than_ops_are_replayed() {
    let graph = graph_of(
        "input x : bf16[8, 5]\nweight w : bf16[5, 8]\ns = softmax(x)\nt = matmul(w, x)\nu = matmul(t, w)\n",
    );
    let options = Options::of_policy(Policy::Inductor);
    let kernels = plan(&graph, &options).partition.kernels.len();
    assert!(kernels > graph.ops.len());
    check_replay(&graph, &options);
}

#[test]
fn every_example_can_be_replayed() {
    for example in fuseline_core::examples::EXAMPLES {
        let graph = graph_of(example.text);
        for mut options in all_options() {
            options.fusion.budget_states = 20_000;
            let trace = trace_decisions(&graph, &options);
            let partition = plan(&graph, &options).partition;
            let last = trace.decisions.len();
            assert_eq!(
                trace.partition_after(&graph, last),
                partition,
                "{} {:?}",
                example.id,
                options.policy
            );
            for step in (0..last).step_by(last / 8 + 1) {
                let kernels = trace.partition_after(&graph, step);
                assert!(runs_in_order(&graph, &kernels));
            }
        }
    }
}

const BLOCK: &str = "\
input x : f16[64, 128]
weight w : f16[128, 32]
weight b : f16[32]
h = matmul(x, w)
h2 = add(h, b)
g = gelu(h2)
m = max(g)
s = sub(g, m)
z = matmul(s, v)
weight v : f16[32, 16]
";

#[test]
fn the_rules_say_what_their_scan_does() {
    let graph = graph_of(BLOCK);
    let trace = trace_decisions(&graph, &Options::of_policy(Policy::Rules));
    assert_eq!(
        sentences(&graph, &trace),
        [
            "`h` starts a kernel",
            "`h2` joins the kernel of `h`",
            "`g` joins the kernel of `h2`",
            "`m` starts a kernel",
            "`g`, `m` stay separate: `s` also reads the tensor, so the rules write it to memory",
            "the reduction `m` ends its kernel",
            "`s` starts a kernel",
            "`g`, `s` stay separate: `m` also reads the tensor, so the rules write it to memory",
            "`m`, `s` stay separate: a reduction ends its kernel, and `s` comes after `m`",
            "`z` starts a kernel",
            "`s`, `z` stay separate: a matmul starts its kernel, and `s` comes before `z`",
        ]
    );
    let groups = |step| {
        let kernels = trace.partition_after(&graph, step).kernels;
        kernels.iter().map(<[OpId]>::to_vec).collect::<Vec<_>>()
    };
    let of = |lists: &[&[usize]]| lists.iter().map(|list| ops(list)).collect::<Vec<_>>();
    assert_eq!(groups(2), of(&[&[0, 1], &[2], &[3], &[4], &[5]]));
    assert_eq!(groups(3), of(&[&[0, 1, 2], &[3], &[4], &[5]]));
}

#[test]
fn merging_names_both_kernels() {
    let graph = graph_of("input x : f32[8, 8]\na = exp(x)\nb = relu(x)\nc = add(a, b)\n");
    let trace = trace_decisions(&graph, &Options::default());
    let merged = Decision::Merged {
        op: OpId::new(2),
        producer: OpId::new(1),
    };
    assert!(trace.decisions.contains(&Decision::Joined {
        op: OpId::new(2),
        producer: OpId::new(0)
    }));
    assert_eq!(trace.decisions.last(), Some(&merged));
}

#[test]
fn of_two_matmuls_that_meet_the_later_one_goes_on() {
    let text = "input x : f32[8, 8]\nweight w : f32[8, 8]\na = matmul(x, w)\nb = matmul(x, w)\nc = add(a, b)\n";
    let graph = graph_of(text);
    let trace = trace_decisions(&graph, &Options::default());
    let reason = Reason::TwoMatmuls {
        first: OpId::new(0),
        second: OpId::new(1),
    };
    let ops = ops(&[0, 2]);
    assert!(trace.decisions.contains(&Decision::Refused { ops, reason }));
}

#[test]
fn the_compiler_says_what_it_inlines_scores_and_refuses() {
    let graph = graph_of(BLOCK);
    let trace = trace_decisions(&graph, &Options::of_policy(Policy::Inductor));
    let sentences = sentences(&graph, &trace);
    for expected in [
        "`h2` is inlined: each reader recomputes it (readers: 1)",
        "round 1: pairs of kernels to try: 1",
        // Both compute `g` from `h` and `b`, and `s` reads `m`: 2 * (64 * 32 + 32 + 64) bytes.
        "the kernels of `m` and `s` fuse (vertical fusion: one reads the other's output): they share 4.29 kB",
        "`s`, `z` stay separate: torch.compile calls a library for the matmul `z`, and the call takes no op before it",
    ] {
        assert!(
            sentences.iter().any(|s| s == expected),
            "{expected}: {sentences:#?}"
        );
    }
}

#[test]
fn the_optimum_lists_its_regions_then_its_kernels_with_their_costs() {
    let graph = graph_of(BLOCK);
    let options = Options::of_policy(Policy::Optimal);
    let trace = trace_decisions(&graph, &options);
    let certificate = plan(&graph, &options).certificate.unwrap();
    let (mut states, mut cost, mut regions) = (0, 0.0, 0);
    let mut is_chosen = false;
    for decision in &trace.decisions {
        match decision {
            Decision::Searched {
                states: own,
                is_proven,
                ..
            } => {
                assert!(*is_proven && !is_chosen);
                states += own;
                regions += 1;
            }
            Decision::Chosen { cost: own, .. } => {
                is_chosen = true;
                cost += own.value();
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((states, regions), (certificate.states, certificate.regions));
    assert!((cost - certificate.cost.value()).abs() < 0.5);
}

#[test]
fn nothing_is_decided_where_nothing_fuses() {
    let graph = graph_of(BLOCK);
    assert!(
        trace_decisions(&graph, &Options::of_policy(Policy::None))
            .decisions
            .is_empty()
    );
}

#[test]
fn stated_kernels_are_accepted_or_refused_with_the_reason() {
    let text = BLOCK
        .replace("h = matmul(x, w)", "h = matmul(x, w) @kernel 4")
        .replace("h2 = add(h, b)", "h2 = add(h, b) @kernel 4")
        .replace("s = sub(g, m)", "s = sub(g, m) @kernel 7")
        .replace("z = matmul(s, v)", "z = matmul(s, v) @kernel 7");
    let graph = graph_of(&text);
    let trace = trace_decisions(&graph, &Options::of_policy(Policy::Manual));
    assert_eq!(
        sentences(&graph, &trace),
        [
            "`s`, `z` stay separate: a matmul starts its kernel, and `s` comes before `z`",
            "`@kernel 4`: `h`, `h2`",
            "`@kernel 7`: `s`",
            "`@kernel 7`: `z`",
        ]
    );
}

/// The second matmul reads a copy of the reduction, which a kernel without ops writes. No order of
/// less memory runs that kernel later.
#[test]
fn a_kernel_without_ops_runs_before_its_readers() {
    let x = TensorDecl::new("x", &[2, 3], 2);
    let op = |name, op_type, inputs: &[&str], shape: &[u64], bytes| {
        Op::new(name, op_type, inputs, name, shape, bytes)
    };
    let lone = |name| op(name, OpType::Elementwise, &["x"], &[1], 1);
    let ops = [
        lone("a"),
        lone("b"),
        lone("c"),
        op("t", OpType::Elementwise, &["x"], &[8, 7], 1),
        op("rows", OpType::Reduction, &["t"], &[8, 7], 1),
        op("first", OpType::Matmul, &["rows"], &[1], 1),
        op("d", OpType::Elementwise, &["x"], &[6, 7], 1),
        lone("e"),
        lone("f"),
        op("g", OpType::Elementwise, &["x"], &[1], 2),
        op("more", OpType::Elementwise, &["first"], &[8], 2),
        op("second", OpType::Matmul, &["more", "rows"], &[1], 1),
    ];
    let graph = build_graph(&ops, &[x]).unwrap();
    for options in all_options() {
        check_replay(&graph, &options);
    }
}

/// The kernel that writes `t0` only computes it again: the first one, which it belongs to, has no
/// reader for its memory. With less memory the last reduction would run before it.
#[test]
fn a_kernel_that_computes_an_op_again_and_writes_it_runs_before_its_readers() {
    let op = |name: &str, op_type: OpType, input: &str, width: u64| {
        Op::new(name, op_type, &[input], name, &[6, width], 2)
    };
    let ops = [
        op("t0", OpType::Elementwise, "x0", 10),
        op("t1", OpType::Elementwise, "t0", 10),
        op("t2", OpType::Elementwise, "t1", 10),
        op("t3", OpType::Elementwise, "t2", 10),
        op("t4", OpType::Reduction, "t3", 1),
        op("t5", OpType::Elementwise, "x0", 10),
        op("t6", OpType::Elementwise, "t5", 10),
        op("t7", OpType::Reshape, "t0", 10),
        op("t8", OpType::Reduction, "t0", 1),
    ];
    let externals = [TensorDecl::new("x0", &[6, 10], 2)];
    let graph = build_graph(&ops, &externals).unwrap();
    for options in all_options() {
        check_replay(&graph, &options);
    }
}
