//! Attention as one kernel, as the search prices it.

use super::drawn;
use crate::partitions::{choices, is_close, runs_in_order};
use crate::random_attention::{Parts, analysis_of, certified, with_attention};
use crate::random_graph::fusable_ops;
use fuseline_core::fusion::attention::find;
use fuseline_core::fusion::certificate::CertificateScope;
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::{
    Analysis, Conventions, Externals, FusionOptions, KernelId, Objective, Op, Options, Policy,
};
use proptest::prelude::*;
use strum::VariantArray;

fn cost(analysis: &Analysis) -> f64 {
    match analysis.options.fusion.objective {
        Objective::Bytes => analysis.fused.traffic.total as f64,
        Objective::Time | Objective::Measured => analysis.fused.time_s,
    }
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

/// With attention in it, too, the certificate is the cost and no other kernels are better.
pub(crate) fn attention(input: &[u8]) {
    let ((ops, tensors), drawn, options, externals, marks) = drawn(
        input,
        &(
            fusable_ops(1..=12),
            prop::collection::vec(parts(), 1..4),
            choices(),
            prop::sample::select(Externals::VARIANTS),
            prop::collection::vec(1_u32..5, 1..9),
        ),
    );

    let ops = with_attention(&ops, &drawn);
    let options = Options {
        fusion: FusionOptions {
            attention: true,
            ..options.fusion
        },
        conventions: Conventions {
            externals,
            ..options.conventions
        },
        ..options
    };
    let best = analysis_of(&ops, &tensors, &options, Policy::Optimal);
    assert!(
        is_close(certified(&best), cost(&best)),
        "{} {}",
        certified(&best),
        cost(&best)
    );
    if !best.certificate.unwrap().is_optimal {
        return;
    }

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
        let marked: Vec<Op> = ops
            .iter()
            .zip(marks)
            .map(|(op, kernel)| Op {
                kernel: Some(kernel),
                ..op.clone()
            })
            .collect();
        let manual = analysis_of(&marked, &tensors, &options, Policy::Manual);
        assert!(
            cost(&best) <= cost(&manual) || is_close(cost(&best), cost(&manual)),
            "{} {}",
            cost(&best),
            cost(&manual)
        );
    }
}

/// With one attention there are two choices. With more, either choice for all of them is a start.
pub(crate) fn attention_or_not(input: &[u8]) {
    let ((ops, tensors), drawn, options) = drawn(
        input,
        &(
            fusable_ops(1..=12),
            prop::collection::vec(parts(), 1..4),
            choices(),
        ),
    );

    let ops = with_attention(&ops, &drawn);
    let best = |attention, attention_search| {
        let fusion = FusionOptions {
            attention,
            attention_search,
            ..options.fusion
        };
        analysis_of(
            &ops,
            &tensors,
            &Options {
                fusion,
                ..options.clone()
            },
            Policy::Optimal,
        )
    };
    let (searched, always, never) = (best(false, true), best(true, false), best(false, false));
    assert!(
        is_close(certified(&searched), cost(&searched)),
        "{} {}",
        certified(&searched),
        cost(&searched)
    );
    let better = cost(&always).min(cost(&never));
    assert!(
        cost(&searched) <= better || is_close(cost(&searched), better),
        "{} {better}",
        cost(&searched)
    );
    let are_proven = [&always, &never, &searched]
        .iter()
        .all(|a| a.certificate.unwrap().is_optimal);
    assert!(are_proven);
    let scope = searched.certificate.unwrap().scope;
    match find(&searched.graph).len() {
        0 => assert_eq!(scope, CertificateScope::LegalKernels),
        1 => {
            assert_eq!(scope, CertificateScope::AttentionAllowed);
            assert!(
                is_close(cost(&searched), better),
                "{} {better}",
                cost(&searched)
            );
        }
        _ => assert!(scope != CertificateScope::LegalKernels),
    }
    let trace = trace_decisions(&searched.graph, &searched.options);
    let replayed = trace.partition_after(&searched.graph, trace.decisions.len());
    assert_eq!(&replayed, &searched.partition);
    assert!(runs_in_order(&searched.graph, &searched.partition));
}
