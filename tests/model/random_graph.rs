//! Random op lists for properties.

use fuseline::core::{Op, OpType, TensorDecl};
use proptest::prelude::*;

/// A list in execution order whose ops read earlier outputs or external tensors, and the externals'
/// declared sizes.
pub(crate) fn ops(max_ops: usize) -> impl Strategy<Value = (Vec<Op>, Vec<TensorDecl>)> {
    let op = (
        prop::sample::select(OpType::ALL.to_vec()),
        prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        prop::collection::vec(1_u64..9, 1..4),
        prop::sample::select(vec![1_u32, 2, 4, 8]),
        any::<bool>(),
    );
    prop::collection::vec(op, 0..=max_ops).prop_map(|drawn| {
        const EXTERNALS: usize = 3;
        let mut names: Vec<String> = (0..EXTERNALS).map(|i| format!("x{i}")).collect();
        let mut ops = Vec::new();
        for (index, (op_type, picks, shape, bytes, follows)) in drawn.into_iter().enumerate() {
            let mut inputs: Vec<String> = picks.iter().map(|p| p.get(&names).clone()).collect();
            // Chains are what fuses: half of the ops read the op before.
            if let (true, Some(last)) = (follows, names.last()) {
                inputs[0].clone_from(last);
            }
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            let name = format!("t{index}");
            ops.push(Op::new(&name, op_type, &inputs, &name, &shape, bytes));
            names.push(name);
        }
        let externals = (0..EXTERNALS)
            .map(|i| TensorDecl::new(&format!("x{i}"), &[i as u64 + 2, 3], 2))
            .collect();
        (ops, externals)
    })
}
