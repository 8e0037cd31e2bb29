//! Attention in the search: the cost that the search computes equals the cost of the result.

use crate::partitions::{choices, runs_in_order};
use crate::random_graph::fusable_ops;
use fuseline_core::OpType::{Elementwise, Matmul, Reduction};
use fuseline_core::device;
use fuseline_core::fusion::attention::find;
use fuseline_core::fusion::certificate::{Amount, Scope};
use fuseline_core::fusion::record::record;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, Device, Externals, FusionOptions, KernelId, Objective, Op, OpType,
    Options, Policy, TensorDecl, analyze, analyze_program,
};
use proptest::prelude::*;
use std::fmt::Write as _;
use strum::VariantArray;

fn cost(analysis: &Analysis) -> f64 {
    match analysis.options.fusion.objective {
        Objective::Bytes => analysis.fused.traffic.total as f64,
        Objective::Time | Objective::Measured => analysis.fused.time_s,
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn certified(analysis: &Analysis) -> f64 {
    match analysis.certificate.unwrap().cost {
        Amount::Bytes(bytes) => bytes as f64,
        Amount::Seconds(seconds) => seconds,
    }
}

/// The optional ops between the two matmuls.
#[derive(Clone, Copy, Debug)]
struct Parts {
    is_apart: bool,
    is_masked: bool,
    is_dropped: bool,
}

fn parts() -> impl Strategy<Value = Option<Parts>> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    prop::option::weighted(
        0.8,
        flags.prop_map(|(is_apart, is_masked, is_dropped)| Parts {
            is_apart,
            is_masked,
            is_dropped,
        }),
    )
}

/// The list with some of its matmuls replaced by attention of 8 keys; the mask, and some of Q, K and V, may be
/// external.
fn with_attention(ops: &[Op], drawn: &[Option<Parts>]) -> Vec<Op> {
    let mut all = Vec::new();
    let mut drawn = drawn.iter().cycle();
    for op in ops {
        let parts = (op.op_type == OpType::Matmul)
            .then(|| drawn.next().copied().flatten())
            .flatten();
        let Some(parts) = parts else {
            all.push(op.clone());
            continue;
        };
        let of = |tensor: &str| format!("{}.{tensor}", op.name);
        let rows = op.shape[0];
        let mut push = |function, op_type, inputs: &[&str], columns| {
            let name = of(&all.len().to_string());
            let shape = [rows, columns];
            let bytes = op.bytes_per_element;
            let made = Op::new(&name, op_type, inputs, &name, &shape, bytes);
            all.push(made.with_function(function));
            name
        };
        let (q, v) = (&op.inputs[0], &op.inputs[op.inputs.len() - 1]);
        let k = of("k");
        let mut at = push("matmul", Matmul, &[q, &k], 8);
        if parts.is_masked {
            at = push("mask", Elementwise, &[&at, &of("mask")], 8);
        }
        if parts.is_apart {
            let top = push("max", Reduction, &[&at], 1);
            let shifted = push("sub", Elementwise, &[&at, &top], 8);
            let power = push("exp", Elementwise, &[&shifted], 8);
            let total = push("sum", Reduction, &[&power], 1);
            at = push("div", Elementwise, &[&power, &total], 8);
        } else {
            at = push("softmax", Reduction, &[&at], 8);
        }
        if parts.is_dropped {
            at = push("dropout", Elementwise, &[&at], 8);
        }
        push("matmul", Matmul, &[&at, v], op.shape[1]);
        for made in &mut all {
            if made.op_type == Matmul && made.k.is_none() {
                made.k = Some(if made.shape[1] == 8 { op.shape[1] } else { 8 });
            }
        }
        if let Some(last) = all.last_mut() {
            (last.name, last.output) = (op.name.clone(), op.output.clone());
        }
    }
    all
}

fn analysis_of(ops: &[Op], tensors: &[TensorDecl], options: &Options, policy: Policy) -> Analysis {
    let options = Options {
        policy,
        ..options.clone()
    };
    analyze(ops, tensors, &options).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_certificate_is_the_cost_and_no_other_kernels_are_better(
        (ops, tensors) in fusable_ops(1..=12),
        drawn in prop::collection::vec(parts(), 1..4),
        options in choices(),
        externals in prop::sample::select(Externals::VARIANTS),
        marks in prop::collection::vec(1_u32..5, 1..9),
    ) {
        let ops = with_attention(&ops, &drawn);
        let options = Options {
            fusion: FusionOptions { attention: true, ..options.fusion },
            conventions: Conventions { externals, ..options.conventions },
            ..options
        };
        let best = analysis_of(&ops, &tensors, &options, Policy::Optimal);
        prop_assert!(is_close(certified(&best), cost(&best)), "{} {}", certified(&best), cost(&best));
        prop_assume!(best.certificate.unwrap().is_optimal);

        // The kernels of other policies where they are legal, and random kernels.
        let mut stated: Vec<Vec<u32>> = vec![marks.into_iter().cycle().take(ops.len()).collect()];
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            let theirs = analysis_of(&ops, &tensors, &options, policy);
            let number = |kernel: KernelId| u32::try_from(kernel.number()).unwrap();
            let mut marks = vec![0; ops.len()];
            for (op, listed) in theirs.graph.listed_at.iter_enumerated() {
                marks[*listed] = number(theirs.partition.kernel_of[op]);
            }
            stated.push(marks);
        }
        for marks in stated {
            let marked: Vec<Op> = ops.iter().zip(marks).map(|(op, kernel)| Op { kernel: Some(kernel), ..op.clone() }).collect();
            let manual = analysis_of(&marked, &tensors, &options, Policy::Manual);
            prop_assert!(cost(&best) <= cost(&manual) || is_close(cost(&best), cost(&manual)), "{} {}", cost(&best), cost(&manual));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// With one attention there are two choices. With more, either choice for all of them is a start.
    #[test]
    fn a_search_with_and_without_attention_has_the_better_of_both(
        (ops, tensors) in fusable_ops(1..=12),
        drawn in prop::collection::vec(parts(), 1..4),
        options in choices(),
    ) {
        let ops = with_attention(&ops, &drawn);
        let best = |attention, attention_search| {
            let fusion = FusionOptions { attention, attention_search, ..options.fusion };
            analysis_of(&ops, &tensors, &Options { fusion, ..options.clone() }, Policy::Optimal)
        };
        let (searched, always, never) = (best(false, true), best(true, false), best(false, false));
        prop_assert!(is_close(certified(&searched), cost(&searched)), "{} {}", certified(&searched), cost(&searched));
        let better = cost(&always).min(cost(&never));
        prop_assert!(cost(&searched) <= better || is_close(cost(&searched), better), "{} {better}", cost(&searched));
        let are_proven = [&always, &never, &searched].iter().all(|a| a.certificate.unwrap().is_optimal);
        prop_assert!(are_proven);
        let scope = searched.certificate.unwrap().scope;
        match find(&searched.graph).len() {
            0 => prop_assert_eq!(scope, Scope::LegalKernels),
            1 => {
                prop_assert_eq!(scope, Scope::AttentionAllowed);
                prop_assert!(is_close(cost(&searched), better), "{} {better}", cost(&searched));
            }
            _ => prop_assert!(scope != Scope::LegalKernels),
        }
        let record = record(&searched.graph, &searched.options);
        let replayed = record.partition_after(&searched.graph, record.decisions.len());
        prop_assert_eq!(&replayed, &searched.partition);
        prop_assert!(runs_in_order(&searched.graph, &searched.partition));
    }
}

/// Small heads that are cheap to write, and a softmax of which two results are read: as one kernel it would cost more
/// time than its ops.
#[test]
fn attention_stays_apart_where_that_is_cheaper() {
    let text = "input q : f16[64, 64, 64]\ninput k : f16[64, 64, 64]\ninput v : f16[64, 64, 64]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)\n";
    let mut options = Options::of_policy(Policy::Optimal);
    options.fusion.objective = Objective::Time;
    options.device = Device::custom(1e15, 1e14, 1e11, 0.0);
    let kernels = |attention| {
        let fusion = FusionOptions {
            attention,
            ..options.fusion
        };
        let options = Options {
            fusion,
            ..options.clone()
        };
        let analysis = analyze_program(&parse(text).program, &options)
            .analysis
            .unwrap();
        (analysis.fused.kernels.len(), analysis.fused.time_s)
    };
    let ((one, one_s), (apart, apart_s)) = (kernels(true), kernels(false));
    assert_eq!((one, apart), (1, 3));
    assert!(apart_s < one_s);
}

/// Enough of the drawn lists contain attention for the property to be tested.
#[test]
fn a_list_with_a_matmul_gets_attention() {
    let matmul = Op::new("t", OpType::Matmul, &["x", "y"], "t", &[6, 10], 2);
    for is_apart in [true, false] {
        let parts = Parts {
            is_apart,
            is_masked: true,
            is_dropped: true,
        };
        let ops = with_attention(std::slice::from_ref(&matmul), &[Some(parts)]);
        let analysis = analysis_of(&ops, &[], &Options::default(), Policy::None);
        assert_eq!(find(&analysis.graph).len(), 1);
    }
}

fn in_time(text: &str, policy: Policy) -> Analysis {
    let options = Options {
        fusion: FusionOptions {
            objective: Objective::Time,
            attention: true,
            ..FusionOptions::default()
        },
        device: device("h200").unwrap().clone(),
        ..Options::of_policy(policy)
    };
    analyze_program(&parse(text).program, &options)
        .analysis
        .unwrap()
}

/// Heads so small that the softmax takes longer than both matmuls: 64 x 1024 x 1024 x 5 FLOPs and more.
#[test]
fn the_softmax_of_small_heads_counts_in_the_search() {
    let text = "input q : f16[64, 1024, 8]\ninput k : f16[64, 1024, 8]\ninput v : f16[64, 1024, 8]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)";
    let best = in_time(text, Policy::Optimal);
    assert!(is_close(certified(&best), best.fused.time_s));
    assert!(best.fused.time_s > 7e-6, "{}", best.fused.time_s);
}

/// Twelve ops after an attention that is bound by its softmax are cheaper in the kernel of a matmul.
#[test]
fn work_goes_where_the_units_are_idle() {
    let text = |first: &str, chain: &str, last: &str| {
        let mut gelus = format!("g0 = gelu(o){chain}\n");
        for i in 1..12 {
            writeln!(gelus, "g{i} = gelu(g{}){chain}", i - 1).unwrap();
        }
        format!(
            "input q : f16[64, 1024, 16]\ninput k : f16[64, 1024, 16]\ninput v : f16[64, 1024, 16]\n\
             input a : f16[64, 1024, 2048]\ninput b : f16[64, 2048, 16]\n\
             s = matmul(q, k, transpose_b=true){first}\np = softmax(s){first}\no = matmul(p, v){first}\n{gelus}\
             m = matmul(a, b){last}\ny = add(g11, m){last}"
        )
    };
    let best = in_time(&text("", "", ""), Policy::Optimal);
    assert!(best.certificate.unwrap().is_optimal);
    assert!(is_close(certified(&best), best.fused.time_s));
    for chain in [" @kernel 1", " @kernel 3"] {
        let manual = in_time(&text(" @kernel 1", chain, " @kernel 2"), Policy::Manual);
        assert_eq!(manual.refused, []);
        assert!(best.fused.time_s <= manual.fused.time_s * (1.0 + 1e-9));
    }
}
