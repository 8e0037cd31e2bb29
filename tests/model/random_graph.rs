//! Random lists of ops for property tests.

use fuseline_core::model::device::OnChip;
use fuseline_core::{Device, Op, OpType, TensorDecl};
use proptest::prelude::*;
use strum::VariantArray;

/// A list in execution order whose ops read earlier outputs or external tensors, and the
/// declarations of these.
pub(crate) fn ops(max_ops: usize) -> impl Strategy<Value = (Vec<Op>, Vec<TensorDecl>)> {
    let op = (
        prop::sample::select(OpType::VARIANTS),
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
            // Half of the ops read the op before them, because chains can be fused.
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

/// Ops that can often be fused, of a few compatible shapes: whole rows, one value per row, and
/// matmuls.
pub(crate) fn fusable_ops(
    ops: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = (Vec<Op>, Vec<TensorDecl>)> {
    let op = (
        prop::sample::select(vec![0_u8, 0, 0, 0, 0, 1, 2, 3, 4]),
        prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        prop::sample::select(vec![2_u32, 4]),
        0_u8..10,
    );
    prop::collection::vec(op, ops).prop_map(|drawn| {
        const ROWS: u64 = 6;
        const WIDTH: u64 = 10;
        let mut names: Vec<String> = (0..3).map(|i| format!("x{i}")).collect();
        let mut shapes: Vec<[u64; 2]> = vec![[ROWS, WIDTH], [ROWS, WIDTH], [1, WIDTH]];
        let mut ops = Vec::new();
        for (index, (kind, picks, bytes, recent)) in drawn.into_iter().enumerate() {
            let mut places: Vec<usize> = picks.iter().map(|p| p.index(names.len())).collect();
            if recent < 6 {
                places[0] = names.len() - 1;
            }
            let is_rows = places.iter().all(|&place| shapes[place] == [ROWS, 1]);
            let (op_type, shape) = match kind {
                0 if is_rows => (OpType::Elementwise, [ROWS, 1]),
                0 => (OpType::Elementwise, [ROWS, WIDTH]),
                1 => (OpType::Reduction, [ROWS, 1]),
                2 => (OpType::Reduction, shapes[places[0]]),
                3 => (OpType::Matmul, [ROWS, WIDTH]),
                _ => (OpType::Reshape, shapes[places[0]]),
            };
            if matches!(op_type, OpType::Reduction | OpType::Reshape) {
                places.truncate(1);
            }
            let inputs: Vec<&str> = places.iter().map(|&place| names[place].as_str()).collect();
            let name = format!("t{index}");
            let op = Op::new(&name, op_type, &inputs, &name, &shape, bytes);
            ops.push(match op_type {
                OpType::Matmul => op.with_k(WIDTH),
                _ => op,
            });
            names.push(name);
            shapes.push(shape);
        }
        let externals = (0..3)
            .map(|i| TensorDecl::new(&format!("x{i}"), &shapes[i], 2))
            .collect();
        (ops, externals)
    })
}

/// A device on which bytes, arithmetic and launches of such small programs all matter.
pub(crate) fn small_device(on_chip_bytes: u64) -> Device {
    let mut device = Device::custom(1e8, 1e9, 2e8, 1e-6);
    device.hardware.on_chip = OnChip::Scratchpad {
        bytes: on_chip_bytes,
        is_confirmed: true,
    };
    device
}
