//! The optimum of graphs whose best kernels are known.

use crate::gpt2::{OPS_PER_BLOCK, gpt2};
use crate::ids::ops as ops_of;
use crate::partitions::{
    brute_force, cost_of, elementwise, is_close, is_legal, optimum, runs_in_order,
};
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::fusion::legality;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, DEVICES, FusionOptions, Objective, Op, OpId, OpType, Options, Partition, Policy,
    analyze_program, build_graph, device, plan,
};
use strum::VariantArray;

/// Two groups that are convex and connected but depend on each other.
#[test]
fn kernels_in_a_cycle_are_refused() {
    let ops = [
        elementwise("a1", &["x"]),
        elementwise("b1", &["y"]),
        elementwise("b2", &["a1"]),
        elementwise("a2", &["b1"]),
        elementwise("x1", &["a1", "a2"]),
        elementwise("y1", &["b1", "b2"]),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options {
        fusion: FusionOptions {
            max_ops: 3,
            ..FusionOptions::default()
        },
        ..Options::of_policy(Policy::Optimal)
    };
    for name in ["a", "b"] {
        let group: Vec<OpId> = (graph.ops.ids())
            .filter(|&op| {
                graph.ops[op]
                    .name
                    .starts_with(if name == "a" { ['a', 'x'] } else { ['b', 'y'] })
            })
            .collect();
        assert_eq!(legality::check(&graph, &options, &group), Ok(()));
    }
    let (partition, certificate) = optimum(&graph, &options);
    assert!(certificate.is_optimal && runs_in_order(&graph, &partition));
    assert!(is_close(
        certificate.cost.value(),
        brute_force(&graph, &options).0
    ));
    // The cost of the two groups together cannot be reached.
    let refused = Partition::new(&[ops_of(&[0, 3, 4]), ops_of(&[1, 2, 5])], ops.len());
    assert!(!runs_in_order(&graph, &refused));
    assert!(cost_of(&graph, &options, &refused) < certificate.cost.value());
}

/// A path that leaves a group and returns: the ops on it must be in the group or after it.
#[test]
fn a_kernel_is_not_taken_around_another() {
    let ops = [
        Op::new("a", OpType::Elementwise, &["x"], "a", &[64, 64], 2),
        Op::new("m", OpType::Matmul, &["a", "w"], "m", &[64, 64], 2).with_k(64),
        Op::new("c", OpType::Elementwise, &["m", "a"], "c", &[64, 64], 2),
    ];
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options::of_policy(Policy::Optimal);
    assert_eq!(
        legality::check(&graph, &options, &[OpId::new(0), OpId::new(2)]),
        Ok(())
    );
    let (partition, certificate) = optimum(&graph, &options);
    assert!(certificate.is_optimal);
    assert_eq!(
        partition.kernels.iter().collect::<Vec<_>>(),
        [ops_of(&[0]), ops_of(&[1, 2])]
    );
}

#[test]
fn a_gpt2_block_has_nine_kernels() {
    let (ops, externals) = gpt2(1, true);
    let graph = build_graph(&ops, &externals).unwrap();
    for &objective in Objective::VARIANTS {
        let options = Options {
            fusion: FusionOptions {
                objective,
                attention_search: false,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::Optimal)
        };
        let (partition, certificate) = optimum(&graph, &options);
        assert!(certificate.is_optimal);
        let ends: Vec<(&str, &str)> = partition
            .kernels
            .iter()
            .map(|ops| {
                let name = |op: Option<&OpId>| graph.ops[*op.unwrap()].name.as_str();
                (name(ops.first()), name(ops.last()))
            })
            .collect();
        assert_eq!(
            ends,
            [
                ("b0.ln1.mean", "b0.ln1.beta"),
                ("b0.qkv", "b0.v_heads"),
                ("b0.scores", "b0.scores"),
                ("b0.scale", "b0.attn_drop"),
                ("b0.mix", "b0.merge"),
                ("b0.proj", "b0.residual1"),
                ("b0.ln2.mean", "b0.ln2.beta"),
                ("b0.fc1", "b0.half"),
                ("b0.fc2", "b0.residual2"),
            ],
            "{objective:?}"
        );
    }
}

/// A residual costs equally many bytes in the kernel of its matmul and in that of the norm behind
/// it. The lower bound is less beside the matmul, which is compute-bound; at measured rates the
/// generated matmul loses more than that against the library's.
#[test]
fn of_equal_bytes_a_matmul_is_left_to_the_library_where_rates_are_measured() {
    let text = "input x : f16[1, 4096, 4096]\ninput r : f16[1, 4096, 4096]\nweight w : f16[4096, 4096]\n\
                m = matmul(x, w)\ns = add(m, r)\nn = layer_norm(s)\n";
    let under = |device_id| {
        let options = Options {
            device: device(device_id).unwrap().clone(),
            ..Options::of_policy(Policy::Optimal)
        };
        let outcome = analyze_program(&parse(text).program, &options);
        outcome.analysis.unwrap()
    };
    let [bound, predicted] = ["a100-80", "h100"].map(under);
    assert_eq!(bound.fused.traffic.total, predicted.fused.traffic.total);
    let kernels = |of: &Analysis| {
        of.partition
            .kernels
            .iter()
            .map(<[_]>::len)
            .collect::<Vec<_>>()
    };
    assert_eq!(kernels(&bound), [2, 1]);
    assert_eq!(kernels(&predicted), [1, 2]);
}

/// Horizontal kernels do not cross the matmuls between blocks, so blocks are separate regions. With
/// prologues all blocks are one region, which is solved word by word.
#[test]
fn blocks_in_a_row_are_proven_with_horizontal_kernels_and_prologues_as_well() {
    for blocks in [1, 12] {
        let (ops, externals) = gpt2(blocks, true);
        let graph = build_graph(&ops, &externals).unwrap();
        let mut options = Options::of_policy(Policy::Optimal);
        options.fusion.attention_search = false;
        let (_, alone) = optimum(&graph, &options);
        options.fusion.horizontal = true;
        let (partition, certificate) = optimum(&graph, &options);
        assert!(certificate.is_optimal, "{certificate:?}");
        assert_eq!(partition.kernels.len(), 9 * blocks);
        assert_eq!(certificate.cost, alone.cost);
        assert!(
            certificate.states < 10 * blocks * OPS_PER_BLOCK,
            "{certificate:?}"
        );
        options.fusion.prologue = true;
        let (partition, certificate) = optimum(&graph, &options);
        assert!(certificate.is_optimal, "{certificate:?}");
        assert_eq!(certificate.regions, 1);
        assert_eq!(partition.kernels.len(), 9 * blocks);
        assert_eq!(certificate.cost, alone.cost);
        assert!(
            certificate.states < 25 * blocks * OPS_PER_BLOCK,
            "{certificate:?}"
        );
    }
}

#[test]
fn a_region_beyond_a_word_is_never_called_optimal_without_proof() {
    let names: Vec<String> = (0..200).map(|i| format!("t{i}")).collect();
    let ops: Vec<Op> = (0..200)
        .map(|i| {
            let input = if i == 0 { "x" } else { &names[i - 1] };
            elementwise(&names[i], &[input])
        })
        .collect();
    let graph = build_graph(&ops, &[]).unwrap();
    let mut options = Options::of_policy(Policy::Optimal);
    let (partition, certificate) = optimum(&graph, &options);
    assert!(is_legal(&graph, &options, &partition));
    // Kernels of at most 64 ops: four of them, each reading and writing 2 KiB.
    assert_eq!(partition.kernels.len(), 4);
    assert_eq!(certificate.cost, Amount::Bytes(4 * 4096));
    assert!(certificate.is_optimal && certificate.lower_bound == certificate.cost);
    options.fusion.budget_states = 1_000;
    let (_, certificate) = optimum(&graph, &options);
    assert!(!certificate.is_optimal && certificate.gap_pct() > 0.0);
    assert_eq!(certificate.lower_bound, Amount::Bytes(4096));
}

/// A tree of adds: each part of it can be a kernel, which are too many to list.
#[test]
fn a_bound_that_rounding_keeps_below_the_cost_is_a_proof() {
    let leaves = 32;
    let names: Vec<String> = (0..2 * leaves - 1).map(|op| format!("t{op}")).collect();
    let ops: Vec<Op> = (0..names.len())
        .map(|op| match op.checked_sub(leaves) {
            None => elementwise(&names[op], &["x"]),
            Some(add) => elementwise(&names[op], &[&names[2 * add], &names[2 * add + 1]]),
        })
        .collect();
    let graph = build_graph(&ops, &[]).unwrap();
    for &objective in Objective::VARIANTS {
        let options = Options {
            fusion: FusionOptions {
                objective,
                budget_states: 1_000,
                ..FusionOptions::default()
            },
            ..Options::of_policy(Policy::Optimal)
        };
        let (partition, certificate) = optimum(&graph, &options);
        assert_eq!(partition.kernels.len(), 1);
        assert_eq!(certificate.states, 1_000, "cut off");
        assert!(certificate.is_optimal, "{certificate:?}");
        assert_eq!(certificate.lower_bound, certificate.cost);
    }
}

/// Four ops can be one kernel, with the maximum number of operands. Two or three of them have one
/// operand more, and no other policy has all four in a kernel.
#[test]
fn a_kernel_is_found_although_its_parts_are_not_legal() {
    let many: Vec<String> = (0..94).map(|i| format!("x{i}")).collect();
    let mut inputs: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut ops = vec![elementwise("a", &inputs)];
    inputs.reverse();
    ops.push(elementwise("b", &inputs));
    for name in ["c", "d"] {
        // Their size differs from that of their inputs, so the compiler does not fuse them.
        let both = ["a", "b"];
        ops.push(Op::new(
            name,
            OpType::Elementwise,
            &both,
            name,
            &[2, 1024],
            2,
        ));
    }
    let graph = build_graph(&ops, &[]).unwrap();
    let options = Options::of_policy(Policy::Optimal);
    assert_eq!(
        legality::check(&graph, &options, &ops_of(&[0, 1, 2, 3])),
        Ok(())
    );
    for part in [&[0, 2][..], &[0, 1, 2], &[0, 2, 3]] {
        let refused = legality::check(&graph, &options, &ops_of(part));
        let (operands, limit) = (97, legality::MAX_OPERANDS);
        assert_eq!(refused, Err(Reason::TooManyOperands { operands, limit }));
    }
    for policy in [Policy::Rules, Policy::Inductor] {
        let known = plan(&graph, &Options::of_policy(policy)).partition;
        assert!(known.kernels.len() > 1, "{policy:?}");
    }
    let (partition, certificate) = optimum(&graph, &options);
    assert_eq!(partition.kernels.len(), 1);
    assert!(certificate.is_optimal);
    assert!(is_close(
        certificate.cost.value(),
        brute_force(&graph, &options).0
    ));
}

/// Attention over heads this large rescales so much that its time is above the largest number of
/// ticks: it is not taken, and its time is never a small one.
#[test]
fn times_beyond_all_ticks_are_the_largest() {
    for head in ["2147483647", "4294967296"] {
        let text = format!(
            "param d = {head}\ninput q : bf16[1, 16, 2048, d]\nscores = matmul(q, q, transpose_b=true)\n\
             scaled = scale(scores, factor=0.125)\nprobs = softmax(scaled)\nout = matmul(probs, q)\n"
        );
        let program = parse(&text).program;
        for (device, &objective) in DEVICES
            .iter()
            .flat_map(|device| Objective::VARIANTS.iter().map(move |o| (device, o)))
        {
            let mut options = Options {
                device: device.clone(),
                ..Options::of_policy(Policy::Optimal)
            };
            options.fusion.objective = objective;
            let analysis = analyze_program(&program, &options).analysis.unwrap();
            let certificate = analysis.certificate.unwrap();
            let (cost, bound) = (certificate.cost.value(), certificate.lower_bound.value());
            let of_kernels = match objective {
                Objective::Bytes => analysis.fused.traffic.total as f64,
                Objective::Time | Objective::Measured => analysis.fused.time_s,
            };
            assert!(
                is_close(cost, of_kernels),
                "{head} {}: {cost}, not {of_kernels}",
                device.id
            );
            assert!(
                bound <= cost && bound > 0.0,
                "{head} {}: {bound}",
                device.id
            );
        }
    }
}
