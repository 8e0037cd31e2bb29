//! Large changes that are told: of the program, and of kernels on top of a policy.

use crate::advice::{analysis, assert_promises_are_kept, on, told, with_shown};
use fuseline_core::analysis::advice::{Advice, advise};
use fuseline_core::examples::EXAMPLES;
use fuseline_core::notation::edit::joinable_products;
use fuseline_core::notation::parse;
use fuseline_core::{Options, Policy};
use fuseline_view::present::manual::{Change, propose};

const DECODE_BLOCK: &str = include_str!("../../public/measured/decode_block.fuse");

#[test]
fn a_decode_block_is_told_the_large_things() {
    for id in ["h100", "h200"] {
        let of_kernels = |advice: &Advice| advice.is_of_kernels();
        let mut options = on(id, Policy::Inductor);
        let mut advised = assert_promises_are_kept(DECODE_BLOCK, &options);
        advised.retain(|advice| !of_kernels(advice));
        let batch = Advice::LargerBatch {
            param: 0,
            value: 8,
            factor: 8,
        };
        for advice in [batch, Advice::CudaGraph, Advice::F8Products] {
            assert!(advised.contains(&advice), "{id} {advised:?}");
        }
        // torch.compile writes the widened weights, which takes longer than reading them in bf16.
        assert!(!advised.contains(&Advice::Int8Weights), "{advised:?}");
        options.policy = Policy::Optimal;
        let advised = assert_promises_are_kept(DECODE_BLOCK, &options);
        assert!(advised.contains(&Advice::Int8Weights), "{advised:?}");
    }
    // Without matrix units for f8 there is nothing to gain, and without measured rates no launch.
    let advised = assert_promises_are_kept(DECODE_BLOCK, &on("a100-80", Policy::Inductor));
    for advice in [Advice::F8Products, Advice::CudaGraph] {
        assert!(!advised.contains(&advice), "{advised:?}");
    }
}

/// Q, K and V of every layer are one line, and so are gate and up.
#[test]
fn products_of_one_tensor_are_told_to_be_one_product() {
    let text = "param B = 4 in 1..64
param H = 1024
param kv = 256
input x : bf16[B, H]
repeat 6 with x = y {
  weight wq : bf16[H, H]
  weight wk : bf16[kv, H]   # of K
  weight wv : bf16[kv, H]
  weight wo : bf16[H, H]
  weight wg : bf16[H, 4*H]
  weight wu : bf16[H, 4*H]
  weight wd : bf16[4*H, H]
  q = linear(x, wq) @kernel 1
  k = linear(x, wk) : bf16[B, kv]
  v = F.linear(x, wv)
  ks = sum(k, axis=-1)
  vs = sum(v, axis=-1)
  s = mul(ks, vs)
  m = mul(q, s)
  o = linear(m, wo)
  g = matmul(o, wg)
  u = matmul(o, wu)
  a = silu(g)
  p = mul(a, u)
  y = matmul(p, wd)
}
";
    let options = on("h100", Policy::Inductor);
    let rows = told(text, &options);
    let joined: Vec<_> = rows
        .iter()
        .filter(|row| matches!(row.advice, Advice::JoinProducts(_)))
        .map(|row| &*row.action)
        .collect();
    let said = |names: &str| {
        format!("Compute {names} by one product: put their weights side by side in one tensor.")
    };
    assert!(joined.contains(&&*said("`q`, `k` and `v`")), "{rows:?}");
    assert_promises_are_kept(text, &options);
    let program = parse(text).program;
    let changed = Advice::JoinProducts(0).text(text, &program).unwrap();
    assert!(
        changed.contains(
            "  weight wq_wk_wv : bf16[H + kv + kv, H]
  weight wo : bf16[H, H]
"
        ),
        "{changed}"
    );
    assert!(
        changed.contains(
            "  q_k_v = linear(x, wq_wk_wv)
  q = slice(q_k_v, axis=-1, start=0, end=H)
  k = slice(q_k_v, axis=-1, start=H, end=H + kv) : bf16[B, kv]
  v = slice(q_k_v, axis=-1, start=H + kv, end=H + kv + kv)
"
        ),
        "{changed}"
    );
    let gate = joinable_products(text, &program)[1].groups[0][0];
    let changed = Advice::JoinProducts(gate).text(text, &program).unwrap();
    assert!(
        changed.contains("weight wg_wu : bf16[H, 4*H + 4*H]"),
        "{changed}"
    );
    assert!(changed.contains("g_u = matmul(o, wg_wu)"), "{changed}");
}

/// A weight with a second reader, one of another layout and one that is no weight stay apart.
#[test]
fn only_weights_of_their_own_are_joined() {
    let text = "input x : f16[64, 64]
weight a : f16[64, 64]
weight b : f16[64, 64]
weight c : f16[64, 64]
input  d : f16[64, 64]
p = matmul(x, a)
q = linear(x, b)
r = matmul(x, c)
s = matmul(r, c)
t = matmul(x, d)
";
    let program = parse(text).program;
    assert_eq!(joinable_products(text, &program), []);
    let short = Advice::Int8Weights.text(text, &program).unwrap();
    assert_eq!(short.matches("dequantize").count(), 2, "{short}");
}

/// A sequence takes more than twice the FLOPs of half of it, and the length of a cache changes no
/// result.
#[test]
fn only_a_number_of_rows_is_a_batch() {
    for example in EXAMPLES {
        with_shown(example.text, &on("h100", Policy::Inductor), |shown| {
            for advised in advise(shown) {
                if let Advice::LargerBatch { param, .. } = advised.advice {
                    let name = &*shown.program.params[param].name.text;
                    assert!(
                        ["B", "M", "N", "S"].contains(&name),
                        "{} {name}",
                        example.id
                    );
                    let has_attention = example.text.contains("softmax");
                    assert!(name != "S" || !has_attention, "{}", example.id);
                }
            }
        });
    }
}

/// Two merges in a row keep the policy, and the marks of the first one.
#[test]
fn merges_add_up_on_top_of_a_policy() {
    let text = "input x : f16[4096, 4096]
weight w : f16[4096, 4096]
weight v : f16[4096, 4096]
a = relu(x)
b = matmul(a, w) @kernel 9
c = gelu(b)
d = matmul(c, v) @kernel 9
e = gelu(d)
";
    let options = on("h100", Policy::Inductor);
    let merge = |text: &str, options: &Options, [first, second]: [&str; 2]| {
        with_shown(text, options, |shown| {
            let kernel = |name| {
                let op = shown.analysis.graph.op_named(name).unwrap();
                shown.analysis.partition.kernel_of[op]
            };
            let change = Change::MergeOnTop(kernel(first), kernel(second));
            let proposal = propose(change, shown);
            assert!(proposal.keeps_policy);
            (proposal.text.unwrap(), change.options_after(options))
        })
    };
    let (once, options) = merge(text, &options, ["b", "c"]);
    assert_eq!(once.matches("@kernel").count(), 2, "{once}");
    let (twice, options) = merge(&once, &options, ["d", "e"]);
    assert_eq!(twice.matches("@kernel").count(), 4, "{twice}");
    assert_eq!(options.policy, Policy::Inductor);
    let after = analysis(&twice, &options);
    let names = |ops: &[_]| {
        ops.iter()
            .map(|&op| after.graph.ops[op].name.clone())
            .collect::<String>()
    };
    let kernels: Vec<_> = after.partition.kernels.iter().map(names).collect();
    assert_eq!(kernels, ["a", "bc", "de"]);
    // The policy alone does not look at the marks.
    let alone = analysis(&twice, &on("h100", Policy::Inductor));
    assert_eq!(alone.partition.kernels.len(), 5);
}

/// A mark that asks for an illegal kernel is refused, and the kernels of the policy stay.
#[test]
fn an_illegal_mark_on_top_of_a_policy_changes_nothing() {
    let text = "input x : f16[4096, 4096]
weight w : f16[4096, 4096]
weight v : f16[4096, 4096]
b = matmul(x, w) @kernel 1
d = matmul(b, v) @kernel 1
e = gelu(d)
";
    let mut options = on("h100", Policy::Rules);
    let before = analysis(text, &options);
    options.fusion.keeps_marks = true;
    let after = analysis(text, &options);
    assert_eq!(after.refused.len(), 1);
    assert_eq!(after.partition, before.partition);
}
