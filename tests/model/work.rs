//! The inner size of a matmul.

use fuseline_core::cost::work::matmul_k;
use fuseline_core::{Op, OpId, OpType, TensorDecl, build_graph};

fn k_of(a: &[u64], b: &[u64], out: &[u64]) -> Option<u64> {
    let op = Op::new("m", OpType::Matmul, &["a", "b"], "y", out, 2);
    let tensors = [TensorDecl::new("a", a, 2), TensorDecl::new("b", b, 2)];
    build_graph(&[op], &tensors)
        .ok()
        .and_then(|g| matmul_k(&g, OpId::new(0)))
}

#[test]
fn k_follows_from_the_operands() {
    assert_eq!(k_of(&[8, 3], &[3, 5], &[8, 5]), Some(3));
    assert_eq!(
        k_of(&[8, 3], &[5, 3], &[8, 5]),
        Some(3),
        "second operand transposed"
    );
    assert_eq!(
        k_of(&[3, 8], &[3, 5], &[8, 5]),
        Some(3),
        "first operand transposed"
    );
    assert_eq!(k_of(&[2, 8, 3], &[2, 5, 3], &[2, 8, 5]), Some(3), "batched");
    assert_eq!(k_of(&[8, 8], &[8, 8], &[8, 8]), Some(8), "square");
    assert_eq!(
        k_of(&[12, 512, 512], &[12, 512, 192], &[12, 512, 64]),
        Some(512),
        "packed"
    );
    assert_eq!(k_of(&[7, 3], &[3, 5], &[8, 5]), Some(3), "rows packed");
    assert_eq!(k_of(&[7, 3], &[9, 6], &[8, 5]), None);
}
