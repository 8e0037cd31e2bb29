//! GPT-2 as in an operator trace: 51 small ops per block, for timing the layout of many blocks.
#![allow(
    unreachable_pub,
    reason = "the benchmark of the layout includes this file too"
)]

use fuseline_core::model::functions::Function;
use fuseline_core::{Op, OpType, TensorDecl, TensorRole};

/// Tokens, width, heads.
const S: u64 = 1024;
const H: u64 = 768;
const HEADS: u64 = 12;

/// Ops of one block.
pub const OPS_PER_BLOCK: usize = 51;

struct Trace {
    ops: Vec<Op>,
    externals: Vec<TensorDecl>,
    has_weights: bool,
    block: usize,
}

impl Trace {
    fn op(&mut self, name: &str, function: &str, inputs: &[&str], shape: &[u64]) -> String {
        let op_type = match function {
            "matmul" => OpType::Matmul,
            "mean" | "softmax" => OpType::Reduction,
            "split" | "transpose" | "reshape" => OpType::Reshape,
            _ => OpType::Elementwise,
        };
        let name = format!("b{}.{name}", self.block);
        self.ops.push(
            Op::new(&name, op_type, inputs, &name, shape, 2)
                .with_function(Function::from_name(function).unwrap()),
        );
        name
    }

    /// An op that also reads a weight.
    fn weighted(
        &mut self,
        name: &str,
        function: &str,
        input: &str,
        weight_shape: &[u64],
        shape: &[u64],
    ) -> String {
        if !self.has_weights {
            return self.op(name, function, &[input], shape);
        }
        let weight = format!("b{}.w_{name}", self.block);
        self.externals.push(TensorDecl {
            role: TensorRole::Weight,
            ..TensorDecl::new(&weight, weight_shape, 2)
        });
        self.op(name, function, &[input, &weight], shape)
    }

    /// Nine ops: mean, difference, square, variance, epsilon, rsqrt, product, gamma, beta.
    fn layer_norm(&mut self, name: &str, x: &str) -> String {
        let n = |step: &str| format!("{name}.{step}");
        let mean = self.op(&n("mean"), "mean", &[x], &[S, 1]);
        let centered = self.op(&n("center"), "sub", &[x, &mean], &[S, H]);
        let square = self.op(&n("square"), "square", &[&centered], &[S, H]);
        let variance = self.op(&n("var"), "mean", &[&square], &[S, 1]);
        let shifted = self.op(&n("eps"), "add", &[&variance], &[S, 1]);
        let inverse = self.op(&n("rsqrt"), "rsqrt", &[&shifted], &[S, 1]);
        let normal = self.op(&n("norm"), "mul", &[&centered, &inverse], &[S, H]);
        let scaled = self.weighted(&n("gamma"), "mul", &normal, &[H], &[S, H]);
        self.weighted(&n("beta"), "add", &scaled, &[H], &[S, H])
    }

    /// 18 ops: projections, heads, scores, output, and the projection back.
    fn attention(&mut self, x: &str) -> String {
        let hd = H / HEADS;
        let qkv = self.weighted("qkv", "matmul", x, &[H, 3 * H], &[S, 3 * H]);
        let qkv = self.weighted("qkv_bias", "add", &qkv, &[3 * H], &[S, 3 * H]);
        let mut heads = Vec::new();
        for part in ["q", "k", "v"] {
            let split = self.op(part, "split", &[&qkv], &[S, H]);
            heads.push(self.op(
                &format!("{part}_heads"),
                "transpose",
                &[&split],
                &[HEADS, S, hd],
            ));
        }
        let square = [HEADS, S, S];
        let scores = self.op("scores", "matmul", &[&heads[0], &heads[1]], &square);
        let scaled = self.op("scale", "scale", &[&scores], &square);
        let masked = self.op("mask", "mask", &[&scaled], &square);
        let weights = self.op("softmax", "softmax", &[&masked], &square);
        let kept = self.op("attn_drop", "dropout", &[&weights], &square);
        let mixed = self.op("mix", "matmul", &[&kept, &heads[2]], &[HEADS, S, hd]);
        let merged = self.op("merge", "reshape", &[&mixed], &[S, H]);
        let out = self.weighted("proj", "matmul", &merged, &[H, H], &[S, H]);
        let out = self.weighted("proj_bias", "add", &out, &[H], &[S, H]);
        self.op("proj_drop", "dropout", &[&out], &[S, H])
    }

    /// Eight ops: `x * 0.5 * (1 + tanh(0.8 * (x + 0.04 * x^3)))`.
    fn gelu(&mut self, x: &str) -> String {
        let wide = [S, 4 * H];
        let cube = self.op("cube", "pow", &[x], &wide);
        let small = self.op("coefficient", "scale", &[&cube], &wide);
        let inner = self.op("inner", "add", &[x, &small], &wide);
        let scaled = self.op("sqrt_2_pi", "scale", &[&inner], &wide);
        let tanh = self.op("tanh", "tanh", &[&scaled], &wide);
        let shifted = self.op("plus_one", "add", &[&tanh], &wide);
        let gated = self.op("gate", "mul", &[x, &shifted], &wide);
        self.op("half", "scale", &[&gated], &wide)
    }

    fn mlp(&mut self, x: &str) -> String {
        let up = self.weighted("fc1", "matmul", x, &[H, 4 * H], &[S, 4 * H]);
        let up = self.weighted("fc1_bias", "add", &up, &[4 * H], &[S, 4 * H]);
        let active = self.gelu(&up);
        let down = self.weighted("fc2", "matmul", &active, &[4 * H, H], &[S, H]);
        let down = self.weighted("fc2_bias", "add", &down, &[H], &[S, H]);
        self.op("mlp_drop", "dropout", &[&down], &[S, H])
    }
}

/// `blocks` chained blocks; without weights the list reads a single input.
pub fn gpt2(blocks: usize, has_weights: bool) -> (Vec<Op>, Vec<TensorDecl>) {
    let mut trace = Trace {
        ops: Vec::with_capacity(blocks * OPS_PER_BLOCK),
        externals: vec![TensorDecl::new("x", &[S, H], 2)],
        has_weights,
        block: 0,
    };
    let mut x = "x".to_owned();
    for block in 0..blocks {
        trace.block = block;
        let normal = trace.layer_norm("ln1", &x);
        let attended = trace.attention(&normal);
        x = trace.op("residual1", "add", &[&attended, &x], &[S, H]);
        let normal = trace.layer_norm("ln2", &x);
        let refined = trace.mlp(&normal);
        x = trace.op("residual2", "add", &[&refined, &x], &[S, H]);
    }
    (trace.ops, trace.externals)
}
