//! Attention in the search. On random graphs its costs are tried in `tests/fuzz/searches/`.

use crate::partitions::is_close;
use crate::random_attention::{Parts, analysis_of, certified, with_attention};
use fuseline_core::device;
use fuseline_core::fusion::attention::find;
use fuseline_core::notation::parse;
use fuseline_core::{
    Analysis, Device, FusionOptions, Objective, Op, OpType, Options, Policy, analyze_program,
};
use std::fmt::Write as _;

/// Small heads that are cheap to write, and a softmax of which two results are read: as one kernel
/// it would cost more time than its ops.
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

/// Heads so small that the softmax takes longer than both matmuls: 64 x 1024 x 1024 x 5 FLOPs and
/// more.
#[test]
fn the_softmax_of_small_heads_counts_in_the_search() {
    let text = "input q : f16[64, 1024, 8]\ninput k : f16[64, 1024, 8]\ninput v : f16[64, 1024, 8]\n\
                s = matmul(q, k, transpose_b=true)\np = softmax(s)\no = matmul(p, v)";
    let best = in_time(text, Policy::Optimal);
    assert!(is_close(certified(&best), best.fused.time_s));
    assert!(best.fused.time_s > 6.7e-6, "{}", best.fused.time_s);
}

/// Twelve ops after an attention that is bound by its softmax are cheaper in the kernel of a
/// matmul.
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
