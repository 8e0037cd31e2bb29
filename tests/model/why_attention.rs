//! Why edges of attention kernels are not fused.

use crate::why::{analysis, ask, under};
use fuseline::core::analysis::why::Why;
use fuseline::core::fusion::reason::Reason;
use fuseline::core::{FusionOptions, OpId, Options, Policy};

/// A matmul into attention with a mask, and ops that read the attention.
const AROUND_ATTENTION: &str = "\
input x : f16[2, 256, 64]
input k : f16[2, 64, 256]
input v : f16[2, 256, 64]
input hidden : f16[256, 256]
weight wq : f16[64, 64]
weight wo : f16[64, 64]
q = matmul(x, wq)
mask = relu(hidden)
scores = matmul(q, k)
masked = add(scores, mask)
probs = softmax(masked)
out = matmul(probs, v)
low = gelu(out)
y = matmul(low, wo)
total = sum(out)
";

#[test]
fn attention_in_one_kernel_is_one_op_to_the_reasons() {
    let with_attention = |policy| Options {
        fusion: FusionOptions {
            attention: true,
            ..FusionOptions::default()
        },
        ..under(policy)
    };
    let reason = |policy, first, second| {
        let options = with_attention(policy);
        ask(AROUND_ATTENTION, &options, first, second).0
    };
    // Ops by index: q 0, mask 1, scores 2 to out 5, low 6, y 7, total 8. The last op names the kernel.
    for policy in [Policy::None, Policy::Rules, Policy::Optimal] {
        assert_eq!(
            reason(policy, "q", "scores"),
            Reason::TwoMatmuls {
                first: OpId::new(0),
                second: OpId::new(5)
            },
            "{policy:?}"
        );
        assert_eq!(
            reason(policy, "mask", "masked"),
            Reason::MatmulStarts {
                matmul: OpId::new(5),
                before: OpId::new(1)
            },
            "{policy:?}"
        );
    }
    assert_eq!(
        reason(Policy::None, "probs", "total"),
        Reason::MatmulAndReduction {
            matmul: OpId::new(5),
            reduction: OpId::new(8)
        }
    );
    // The rules stop because of the other reader, not because of the softmax inside.
    assert_eq!(
        reason(Policy::Rules, "out", "low"),
        Reason::AnotherConsumer {
            consumer: OpId::new(8)
        }
    );
    assert_eq!(reason(Policy::None, "out", "low"), Reason::NotLookedAt);
    let merged = analysis(AROUND_ATTENTION, &with_attention(Policy::None));
    let kernel = |name| merged.partition.kernel_of[merged.graph.op_named(name).unwrap()];
    let gain = Why::new(&merged).merge(kernel("out"), kernel("low"));
    assert_eq!(gain.unwrap().saved_bytes, 2 * 256 * 64 * 2);
}

/// The compiler plans on the graph in which attention is one op; its reasons name ops of the program.
#[test]
fn the_compilers_reasons_name_ops_of_the_program_behind_an_attention() {
    let options = Options {
        fusion: FusionOptions {
            attention: true,
            ..FusionOptions::default()
        },
        ..under(Policy::Inductor)
    };
    let analysis = analysis(AROUND_ATTENTION, &options);
    let op = |name: &str| analysis.graph.op_named(name).unwrap();
    let reason = ask(AROUND_ATTENTION, &options, "low", "y").0;
    assert_eq!(reason, Reason::LibraryCall { matmul: op("y") });
}
