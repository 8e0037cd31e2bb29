//! Random lists of ops with attention in them, and what the search says that they cost.

use fuseline_core::OpType::{Elementwise, Matmul, Reduction};
use fuseline_core::fusion::certificate::Amount;
use fuseline_core::model::functions::Function;
use fuseline_core::{Analysis, Op, OpType, Options, Policy, TensorDecl, analyze};

pub(crate) fn certified(analysis: &Analysis) -> f64 {
    match analysis.certificate.unwrap().cost {
        Amount::Bytes(bytes) => bytes as f64,
        Amount::Seconds(seconds) => seconds,
    }
}

/// The optional ops between the two matmuls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) is_apart: bool,
    pub(crate) is_masked: bool,
    pub(crate) is_dropped: bool,
}

/// The list with some of its matmuls replaced by attention of 8 keys; the mask, and some of Q, K
/// and V, may be external.
pub(crate) fn with_attention(ops: &[Op], drawn: &[Option<Parts>]) -> Vec<Op> {
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
            let bytes = op.bytes_per_element.addressed_bytes();
            let made = Op::new(&name, op_type, inputs, &name, &shape, bytes);
            all.push(made.with_function(function));
            name
        };
        let (q, v) = (&op.inputs[0], &op.inputs[op.inputs.len() - 1]);
        let k = of("k");
        let mut at = push(Function::Matmul, Matmul, &[q, &k], 8);
        if parts.is_masked {
            at = push(Function::Mask, Elementwise, &[&at, &of("mask")], 8);
        }
        if parts.is_apart {
            let top = push(Function::Max, Reduction, &[&at], 1);
            let shifted = push(Function::Sub, Elementwise, &[&at, &top], 8);
            let power = push(Function::Exp, Elementwise, &[&shifted], 8);
            let total = push(Function::Sum, Reduction, &[&power], 1);
            at = push(Function::Div, Elementwise, &[&power, &total], 8);
        } else {
            at = push(Function::Softmax, Reduction, &[&at], 8);
        }
        if parts.is_dropped {
            at = push(Function::Dropout, Elementwise, &[&at], 8);
        }
        push(Function::Matmul, Matmul, &[&at, v], op.shape[1]);
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

pub(crate) fn analysis_of(
    ops: &[Op],
    tensors: &[TensorDecl],
    options: &Options,
    policy: Policy,
) -> Analysis {
    let options = Options {
        policy,
        ..options.clone()
    };
    analyze(ops, tensors, &options).unwrap()
}
