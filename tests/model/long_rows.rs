//! Rows that are too long for the chip: all policies count them alike.

use crate::partitions::{is_legal, runs_in_order};
use crate::random_graph::{fusable_ops, small_device};
use crate::why::under;
use fuseline_core::cost::traffic::kernel_traffic;
use fuseline_core::fusion::legality;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Conventions, FusionOptions, Graph, Options, Partition, Policy, analyze_program,
    build_graph, plan,
};
use proptest::prelude::*;

fn analysis(text: &str, options: &Options) -> Analysis {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    analyze_program(&parsed.program, options).analysis.unwrap()
}

fn bytes(text: &str, policy: Policy) -> u64 {
    analysis(text, &under(policy)).fused.traffic.total
}

/// The loss of a language model: rows of 128,256 logits, 513 kB each in f32.
#[test]
fn a_loss_over_a_long_vocabulary_reads_the_logits_once() {
    let text = "input logits : bf16[4096, 128256]\ninput targets : i64[4096, 1]\n\
                wide = cast(logits, dtype=f32)\nlogs = log_softmax(wide, axis=-1)\n\
                picked = gather(logs, targets, axis=1)\nnll = neg(picked)\n\
                smooth = mean(logs, axis=-1)\na = mul(nll, 0.9)\nb = mul(smooth, -0.1)\n\
                rows = add(a, b)\nloss = mean(rows, axis=0)\n";
    let optimum = analysis(text, &under(Policy::Optimal));
    assert!(optimum.certificate.unwrap().is_optimal);
    let optimum = optimum.fused.traffic.total;
    for policy in [Policy::None, Policy::Rules] {
        assert!(optimum <= bytes(text, policy), "{policy:?}");
    }
    // The logits, the targets, what is picked, and values of one per row. The compiler computes
    // what is picked again, which the search does not.
    let logits = 4096 * 128_256 * 2;
    let rows = 4096 * 4;
    for bytes in [optimum, bytes(text, Policy::Inductor)] {
        assert!((logits..logits + 16 * rows).contains(&bytes), "{bytes}");
    }
}

/// Whether softmax is one op or five decides nothing, however long its rows are.
#[test]
fn a_softmax_taken_apart_counts_as_softmax() {
    for width in [1024, 1 << 20] {
        let input = format!("input x : f32[16, {width}]\n");
        let whole = bytes(&[&input[..], "y = softmax(x)\n"].concat(), Policy::Optimal);
        let apart = "m = max(x)\ns = sub(x, m)\ne = exp(s)\nt = sum(e)\ny = div(e, t)\n";
        assert_eq!(bytes(&[&input[..], apart].concat(), Policy::Optimal), whole);
        assert_eq!(whole, 2 * 16 * width * 4);
    }
}

fn total(graph: &Graph, partition: &Partition) -> u64 {
    let traffic = kernel_traffic(graph, partition, Conventions::default());
    traffic.map(|kernel| kernel.total()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Of 0 to 3 rows, none to all fit.
    #[test]
    fn no_policy_has_fewer_bytes_than_the_proven_optimum(
        (ops, externals) in fusable_ops(1..=10), on_chip_bytes in 0_u64..140,
        horizontal in any::<bool>(),
    ) {
        let graph = build_graph(&ops, &externals).unwrap();
        let options = Options {
            fusion: FusionOptions { horizontal, ..FusionOptions::default() },
            device: small_device(on_chip_bytes),
            ..Options::of_policy(Policy::Optimal)
        };
        let optimum = plan(&graph, &options);
        prop_assert!(optimum.certificate.is_some_and(|certificate| certificate.is_optimal));
        prop_assert!(runs_in_order(&graph, &optimum.partition));
        let optimum = total(&graph, &optimum.partition);
        for policy in [Policy::None, Policy::Rules, Policy::Inductor] {
            let other = plan(&graph, &Options { policy, ..options.clone() }).partition;
            if policy == Policy::Rules {
                for ops in other.kernels.iter() {
                    let checked = legality::check(&graph, &options, ops);
                    let is_too_long = matches!(checked, Err(Reason::OnChip { .. }));
                    prop_assert!(!is_too_long, "{ops:?}");
                }
            }
            if policy == Policy::Rules || is_legal(&graph, &options, &other) {
                prop_assert!(optimum <= total(&graph, &other), "{policy:?}");
            }
        }
    }
}
