//! The order in which kernels run: it is legal, and needs no more memory than the program's order.

use crate::random_graph::{fusable_ops, ops, small_device};
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, FusionOptions, Graph, IdVec, Op, OpId, Options, Partition, Policy,
    ReshapeCost, TensorDecl, analyze_program, build_graph, plan,
};
use proptest::prelude::*;

/// Most bytes of written tensors that are live at once. Every tensor has memory of its own.
fn peak(graph: &Graph, partition: &Partition) -> u64 {
    let traffic: Vec<_> = kernel_traffic(graph, partition, Conventions::default()).collect();
    let bytes = |tensor| graph.tensors[tensor].bytes().unwrap();
    let live = traffic.iter().enumerate().map(|(now, kernel)| {
        let written = traffic.iter().take(now + 1);
        let written = written
            .flat_map(|kernel| &kernel.writes)
            .map(|write| write.tensor);
        let is_needed = |tensor: &_| {
            let mut accesses = traffic.iter().skip(now).flat_map(|kernel| &kernel.reads);
            graph.is_final(*tensor)
                || kernel.writes.iter().any(|write| write.tensor == *tensor)
                || accesses.any(|read| read.tensor == *tensor)
        };
        written.filter(is_needed).map(bytes).sum()
    });
    live.max().unwrap_or(0)
}

/// Whether each kernel runs after those whose results it reads.
fn can_run(graph: &Graph, partition: &Partition) -> bool {
    let mut is_there = IdVec::from_elem(false, graph.ops.len());
    partition.kernels.ids().all(|kernel| {
        let own = &partition.kernels[kernel];
        let mut computed = own.iter().chain(&partition.recomputed[kernel]);
        let can_run = computed.all(|&op| {
            let mut before = graph.predecessors[op].iter();
            before.all(|&before| is_there[before] || partition.computes(kernel, before))
        });
        for &op in own {
            is_there[op] = true;
        }
        can_run
    })
}

fn check(ops: &[Op], externals: &[TensorDecl]) -> Result<(), TestCaseError> {
    let graph = build_graph(ops, externals).unwrap();
    for policy in [Policy::Rules, Policy::Inductor, Policy::Optimal] {
        let options = Options {
            fusion: FusionOptions {
                attention_search: false,
                ..FusionOptions::default()
            },
            device: small_device(1000),
            ..Options::of_policy(policy)
        };
        let partition = plan(&graph, &options).partition;
        prop_assert!(can_run(&graph, &partition), "{policy:?}");
        // The rules and the search list kernels by their last ops and by their first.
        let listed = match policy {
            Policy::Rules => {
                let mut kernels: Vec<Vec<OpId>> =
                    partition.kernels.iter().map(<[OpId]>::to_vec).collect();
                kernels.sort_by_key(|ops| ops.last().copied());
                Some(Partition::new(&kernels, graph.ops.len()))
            }
            Policy::Optimal => Partition::in_order(&graph, &partition.kernel_of),
            _ => None,
        };
        if let Some(listed) = listed {
            prop_assert!(
                peak(&graph, &partition) <= peak(&graph, &listed),
                "{policy:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kernels_can_run_in_an_order_that_needs_no_more_memory(
        (ops, externals) in fusable_ops(1..=16)
    ) {
        check(&ops, &externals)?;
    }

    #[test]
    fn so_can_those_of_other_programs((ops, externals) in ops(20)) {
        check(&ops, &externals)?;
    }
}

fn analysis(text: &str, policy: Policy) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    let options = Options {
        conventions: Conventions {
            reshape: ReshapeCost::View,
            ..Conventions::default()
        },
        ..Options::of_policy(policy)
    };
    analyze_program(&parsed.program, &options).analysis.unwrap()
}

/// Two products with weights of 8 bits. The textbook rules fuse the first with the activation after
/// the second, so its weight, widened where the program says, would wait beside the other one.
const GATED: &str = "\
input x : bf16[8, 1024]
weight w_gate : i8[1024, 4096]
weight s_gate : bf16[1, 4096]
weight w_up : i8[1024, 4096]
weight s_up : bf16[1, 4096]
d_gate = dequantize(w_gate, s_gate)
gate = matmul(x, d_gate)
d_up = dequantize(w_up, s_up)
up = matmul(x, d_up)
s = silu(gate)
m = mul(s, up)
";

#[test]
fn a_widened_weight_waits_for_no_other() {
    let rules = analysis(GATED, Policy::Rules);
    let name = |&op: &_| rules.graph.ops[op].name.as_str();
    let kernels: Vec<String> = (rules.partition.kernels.iter())
        .map(|ops| ops.iter().map(name).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(kernels, ["d_up", "up", "d_gate", "gate s m"]);
    let [fused, unfused] = [&rules.fused, &rules.unfused].map(|of| of.peak_memory.bytes);
    assert!(fused <= unfused, "{fused} {unfused}");
}

/// Nothing is gained by another order, so the program's stays.
#[test]
fn kernels_stay_in_the_order_of_the_program() {
    let text = "input x : f16[512]\na = softmax(x)\nb = relu(x)\nc = softmax(b)\nd = add(a, c)\n";
    for policy in [
        Policy::None,
        Policy::Rules,
        Policy::Inductor,
        Policy::Optimal,
    ] {
        let found = analysis(text, policy);
        let firsts = found.partition.kernels.iter().map(|ops| ops[0]);
        assert!(firsts.is_sorted(), "{policy:?}");
    }
}

/// Another order loses no copy of a library's operand, neither its launch nor its bytes.
#[test]
fn kernels_in_another_order_move_as_much() {
    let declared = "\
input a : bf16[8, 16, 1, 512]
input b : bf16[8, 1, 512, 64]
input x : bf16[2048, 2048]
weight w : bf16[2048, 2048]
";
    let (early, rest) = (
        "first = exp(x)\n",
        "scores = matmul(a, b)\nm = matmul(x, w)\ns = sum(m, axis=[0, 1])\n",
    );
    let texts = [[declared, early, rest], [declared, rest, early]];
    let [moved, kept] = texts.map(|lines| analysis(&lines.concat(), Policy::Inductor));
    let figures = |of: &Analysis| (of.fused.traffic, of.fused.launches);
    assert_eq!(figures(&moved), figures(&kept));
    let copied = 8 * 16 * 512 * 64 * 2 - 8 * 512 * 64 * 2;
    let scores = moved
        .fused
        .kernels
        .iter()
        .find(|kernel| (kernel.ops.iter()).any(|&op| moved.graph.ops[op].name == "scores"));
    let written = scores.unwrap().traffic.bytes_written();
    assert!(written > copied, "{written}");
}
