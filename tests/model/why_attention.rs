//! Why edges of attention kernels are not fused.

use crate::why::{analysis, ask, under};
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::examples::{EXAMPLES, example};
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::functions::Function;
use fuseline_core::{FusionOptions, Op, OpId, OpType, Options, Policy, device};
use fuseline_view::present::reasons::{reason_between, reason_text};
use strum::VariantArray;

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
            eager_attention: true,
            ..FusionOptions::default()
        },
        ..under(policy)
    };
    let reason = |policy, first, second| {
        let options = with_attention(policy);
        ask(AROUND_ATTENTION, &options, first, second).0
    };
    // Ops by index: q 0, mask 1, scores 2 to out 5, low 6, y 7, total 8. The last op names the
    // kernel, unless a matmul of it is an end.
    for policy in [Policy::None, Policy::Rules, Policy::Optimal] {
        assert_eq!(
            reason(policy, "q", "scores"),
            Reason::TwoMatmuls {
                first: OpId::new(0),
                second: OpId::new(2)
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
    assert_eq!(gain.unwrap().saved_bytes(), 2 * 256 * 64 * 2);
}

/// The compiler plans on the graph in which attention is one op; its reasons name ops of the
/// program.
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

/// What runs in fused attention is no library call of its own.
#[test]
fn an_op_in_fused_attention_is_said_to_be_in_it() {
    // In f32 the compiler leaves attention apart.
    let text = &example("transformer_block")
        .unwrap()
        .text
        .replace("f16[", "f32[");
    for is_attention in [true, false] {
        let options = Options {
            fusion: FusionOptions {
                attention: is_attention,
                ..FusionOptions::default()
            },
            ..on_h200(Policy::Inductor)
        };
        let analysis = analysis(text, &options);
        let op = |name: &str| analysis.graph.op_named(name).unwrap();
        let reason = |first, second| ask(text, &options, first, second).0;
        let call = |matmul| Reason::LibraryCall { matmul: op(matmul) };
        let inside = |name| Reason::FusedAttention { op: op(name) };
        let of_scores = |name| {
            if is_attention {
                inside(name)
            } else {
                call(name)
            }
        };
        assert_eq!(reason("q", "scores"), of_scores("scores"));
        assert_eq!(reason("v", "mixed"), of_scores("mixed"));
        assert_eq!(reason("merged", "attn_out"), call("attn_out"));
    }
    let analysis = analysis(text, &on_h200(Policy::Inductor));
    let [scores, q] = ["scores", "q"].map(|name| analysis.graph.op_named(name).unwrap());
    let reason = Reason::FusedAttention { op: scores };
    assert_eq!(
        reason_text(&analysis.graph, &reason),
        "`scores` runs in fused attention, a library kernel that takes no op before it, and only views after it"
    );
    assert_eq!(
        reason_between(&analysis.graph, &reason, [q, scores]),
        "`scores` runs in fused attention, a library kernel that takes no op before it"
    );
}

/// No reason blames a matmul that is at no end of the edge while one at an end keeps the two apart.
#[test]
fn reasons_name_the_matmuls_at_the_ends_of_an_edge() {
    for example in EXAMPLES {
        for &policy in Policy::VARIANTS {
            let options = on_h200(policy);
            let analysis = analysis(example.text, &options);
            let graph = &analysis.graph;
            for edge in Why::new(&analysis).edges() {
                let Verdict::Separate { reason, .. } = edge.verdict else {
                    continue;
                };
                let ends = [edge.producer, edge.consumer];
                let is_matmul = |op: &OpId| graph.ops[*op].op_type == OpType::Matmul;
                let named: Vec<OpId> = match reason {
                    Reason::LibraryCall { matmul } => vec![matmul],
                    Reason::FusedAttention { op } => {
                        assert!(ends.contains(&op), "{} {policy:?} {ends:?}", example.id);
                        continue;
                    }
                    Reason::TwoMatmuls { first, second } => vec![first, second],
                    _ => continue,
                };
                let at_end: Vec<OpId> = ends.into_iter().filter(is_matmul).collect();
                let names_end = at_end.is_empty() || named.iter().any(|op| at_end.contains(op));
                assert!(names_end, "{} {policy:?} {ends:?}: {named:?}", example.id);
            }
        }
    }
}

/// What a library call is said to take is what its kernels have.
#[test]
fn a_library_call_has_only_what_its_reason_says() {
    for example in EXAMPLES {
        let analysis = analysis(example.text, &on_h200(Policy::Inductor));
        let graph = &analysis.graph;
        for ops in analysis.partition.kernels.iter() {
            let count =
                |is: &dyn Fn(&Op) -> bool| ops.iter().filter(|&&op| is(&graph.ops[op])).count();
            let matmuls = count(&|op| op.op_type == OpType::Matmul);
            if matmuls == 1 {
                let others = count(&|op| op.op_type != OpType::Matmul && !op.is_view());
                let adds = count(&|op| op.function == Some(Function::Add));
                assert!(others <= 1 && others == adds, "{} {ops:?}", example.id);
            }
        }
    }
}

fn on_h200(policy: Policy) -> Options {
    Options {
        device: device("h200").unwrap().clone(),
        ..under(policy)
    }
}
