//! A transformer block as a list of 14 ops, post-norm.

use crate::analysis::{Analysis, analyze};
use crate::cost::traffic::Traffic;
use crate::model::diagnostic::{Code, Diagnostic};
use crate::model::dtype::DType;
use crate::model::element_size::ElementSize;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::{Op, TensorDecl, TensorRole};
use crate::model::op_type::OpType::{Elementwise, Matmul, Reduction, Reshape};
use crate::model::options::{Options, Policy};
use serde::Serialize;

/// The kernels of an analysis by names, and its traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FusionSummary {
    /// The ops in execution order.
    pub ops: Vec<Op>,
    /// Names of the ops of each kernel, kernels in the order in which they run.
    pub fusion_groups: Vec<Vec<String>>,
    /// Every op its own kernel.
    pub unfused_traffic: Traffic,
    /// One kernel for each group.
    pub fused_traffic: Traffic,
    /// Saved part of the unfused bytes, in percent.
    pub savings_pct: f64,
}

impl From<&Analysis> for FusionSummary {
    fn from(analysis: &Analysis) -> Self {
        let name = |&op: &OpId| analysis.graph.ops[op].name.clone();
        Self {
            ops: analysis.graph.ops.as_slice().to_vec(),
            fusion_groups: analysis
                .partition
                .kernels
                .iter()
                .map(|members| members.iter().map(name).collect())
                .collect(),
            unfused_traffic: analysis.unfused.traffic,
            fused_traffic: analysis.fused.traffic,
            savings_pct: analysis.savings_pct,
        }
    }
}

/// Unfused and fused traffic of one transformer block: self-attention and feed-forward network,
/// both followed by a residual add and a layer norm.
///
/// # Errors
/// A size of zero, a hidden size that is no multiple of the number of heads, an element width that
/// no type has, or bytes past `2^63 - 1`.
///
/// ```
/// let block = fuseline_core::analyze_transformer_block(2048, 4096, 32, 2)?;
/// assert_eq!(block.fusion_groups.len(), 9);
/// assert_eq!(block.unfused_traffic.total, 2_298_478_592);
/// assert_eq!(block.fused_traffic.total, 1_962_934_272);
/// assert!((block.savings_pct - 14.599).abs() < 5e-4);
/// # Ok::<(), Vec<fuseline_core::Diagnostic>>(())
/// ```
pub fn analyze_transformer_block(
    seq_len: u64,
    hidden_dim: u64,
    num_heads: u64,
    dtype_bytes: u32,
) -> Result<FusionSummary, Vec<Diagnostic>> {
    let (ops, externals) =
        transformer_block(seq_len, hidden_dim, num_heads, dtype_bytes).map_err(|d| vec![d])?;
    analyze(&ops, &externals, &Options::of_policy(Policy::Rules))
        .map(|analysis| FusionSummary::from(&analysis))
}

/// The ops and the external tensors of the block.
///
/// # Errors
/// As [`analyze_transformer_block`], but for the bytes of the whole.
pub fn transformer_block(
    seq_len: u64,
    hidden_dim: u64,
    num_heads: u64,
    dtype_bytes: u32,
) -> Result<(Vec<Op>, Vec<TensorDecl>), Diagnostic> {
    check_sizes(seq_len, hidden_dim, num_heads, dtype_bytes)?;
    let overflow = || {
        Diagnostic::error(Code::Overflow, "the sizes of the block exceed 2^63")
            .hint("use smaller sizes")
    };
    let (s, h, n, hd) = (seq_len, hidden_dim, num_heads, hidden_dim / num_heads);
    let (h3, h4) = h
        .checked_mul(3)
        .zip(h.checked_mul(4))
        .ok_or_else(overflow)?;
    let dtype = DType::float_of_size(ElementSize::of_bytes(dtype_bytes));
    let op =
        |name: &str, op_type, function: Function, inputs: &[&str], output: &str, shape: &[u64]| {
            let op = Op::new(name, op_type, inputs, output, shape, dtype_bytes);
            Op {
                dtype,
                ..op.with_function(function)
            }
        };
    let matmul = |name: &str, inputs: &[&str], output: &str, shape: &[u64], k| {
        op(name, Matmul, Function::Matmul, inputs, output, shape).with_k(k)
    };
    #[rustfmt::skip]
    let ops = vec![
        matmul("qkv_proj", &["input", "w_qkv"], "qkv", &[s, h3], h),
        op("split_heads", Reshape, Function::Reshape, &["qkv"], "qkv_split", &[n, s, 3 * hd]),
        // Q and K are parts of one packed tensor, so K is the head size and not the packed width.
        matmul("attn_scores", &["qkv_split", "qkv_split"], "scores_raw", &[n, s, s], hd),
        op("softmax", Reduction, Function::Softmax, &["scores_raw"], "scores", &[n, s, s]),
        matmul("attn_output", &["scores", "qkv_split"], "attn_out", &[n, s, hd], s),
        op("concat_heads", Reshape, Function::Reshape, &["attn_out"], "attn_concat", &[s, h]),
        matmul("out_proj", &["attn_concat", "w_out"], "proj_out", &[s, h], h),
        op("residual_add1", Elementwise, Function::Add, &["proj_out", "input"], "resid1", &[s, h]),
        op("layer_norm1", Reduction, Function::LayerNorm, &["resid1"], "ln1", &[s, h]),
        matmul("ffn_up", &["ln1", "w_ffn_up"], "ffn_up_out", &[s, h4], h),
        op("gelu", Elementwise, Function::Gelu, &["ffn_up_out"], "gelu_out", &[s, h4]),
        matmul("ffn_down", &["gelu_out", "w_ffn_down"], "ffn_down_out", &[s, h], h4),
        op("residual_add2", Elementwise, Function::Add, &["ffn_down_out", "ln1"], "resid2", &[s, h]),
        op("layer_norm2", Reduction, Function::LayerNorm, &["resid2"], "ln2", &[s, h]),
    ];
    let external = |name: &str, role, shape: &[u64]| TensorDecl {
        role,
        dtype,
        ..TensorDecl::new(name, shape, dtype_bytes)
    };
    let weight = |name: &str, shape: &[u64]| external(name, TensorRole::Weight, shape);
    let externals = vec![
        external("input", TensorRole::Input, &[s, h]),
        weight("w_qkv", &[h, h3]),
        weight("w_out", &[h, h]),
        weight("w_ffn_up", &[h, h4]),
        weight("w_ffn_down", &[h4, h]),
    ];
    Ok((ops, externals))
}

fn check_sizes(
    seq_len: u64,
    hidden_dim: u64,
    num_heads: u64,
    dtype_bytes: u32,
) -> Result<(), Diagnostic> {
    if seq_len == 0 || hidden_dim == 0 || num_heads == 0 {
        return Err(Diagnostic::error(
            Code::NonPositiveSize,
            "sequence length, hidden size and number of heads must be at least 1",
        ));
    }
    if DType::float_of_size(ElementSize::of_bytes(dtype_bytes)).is_none() {
        return Err(Diagnostic::error(
            Code::UnknownDtype,
            format!("no element type has {dtype_bytes} bytes"),
        )
        .hint("use 1, 2, 4 or 8"));
    }
    if !hidden_dim.is_multiple_of(num_heads) {
        return Err(Diagnostic::error(
            Code::HeadsDoNotDivide,
            format!("a hidden size of {hidden_dim} does not divide into {num_heads} heads"),
        )
        .hint("use a hidden size that is a multiple of the number of heads"));
    }
    Ok(())
}
