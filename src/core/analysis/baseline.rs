//! The textbook rules on a list of ops: its kernels, and what they move.

use crate::cost::traffic::{Traffic, kernel_traffic};
use crate::fusion::decision::Log;
use crate::fusion::{none, rules};
use crate::model::build::build_graph;
use crate::model::diagnostic::Diagnostic;
use crate::model::ids::OpId;
use crate::model::op::{Op, TensorDecl};
use crate::model::options::Conventions;
use crate::model::partition::Partition;

/// The textbook rules on a list of ops: the kernels, each a list of ops.
///
/// # Errors
/// As [`build_graph`].
///
/// ```
/// use fuseline_core::{find_fusion_groups, Op, OpType::*};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
///     Op::new("bias1", Elementwise, &["y1", "b1"], "y2", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y2"], "y3", &[1024, 4096], 2),
///     Op::new("matmul2", Matmul, &["y3", "w2"], "y4", &[1024, 1024], 2),
/// ];
/// let groups: Vec<Vec<String>> = find_fusion_groups(&ops)?
///     .into_iter()
///     .map(|group| group.into_iter().map(|op| op.name).collect())
///     .collect();
/// assert_eq!(groups, [vec!["matmul1", "bias1", "relu"], vec!["matmul2"]]);
/// # Ok::<(), Vec<fuseline_core::Diagnostic>>(())
/// ```
pub fn find_fusion_groups(ops: &[Op]) -> Result<Vec<Vec<Op>>, Vec<Diagnostic>> {
    let graph = build_graph(ops, &[])?;
    let kernels = rules::partition(&graph, &mut Log::default());
    let op = |&id: &OpId| graph.ops[id].clone();
    let kernels = kernels.kernels.iter();
    Ok(kernels.map(|ops| ops.iter().map(op).collect()).collect())
}

/// Bytes read and written by a list of ops, unfused or fused by the textbook rules.
///
/// `externals` declares sizes of external tensors; `conventions` says how the rest counts.
///
/// # Errors
/// As [`build_graph`].
///
/// ```
/// use fuseline_core::{estimate_memory_traffic, Conventions, Op, OpType::*, TensorDecl};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y1"], "y2", &[1024, 4096], 2),
/// ];
/// let x = TensorDecl::new("x", &[1024, 1024], 2); // w1 follows: K = 1024, so 1024 x 4096
/// let unfused = estimate_memory_traffic(&ops, &[x.clone()], Conventions::default(), false)?;
/// let fused = estimate_memory_traffic(&ops, &[x], Conventions::default(), true)?;
/// assert_eq!((unfused.bytes_read, unfused.bytes_written), (18_874_368, 16_777_216));
/// assert_eq!((fused.bytes_read, fused.bytes_written), (10_485_760, 8_388_608));
/// assert_eq!(fused.saved_by_fusion, 16_777_216); // y1 written and read again
/// # Ok::<(), Vec<fuseline_core::Diagnostic>>(())
/// ```
pub fn estimate_memory_traffic(
    ops: &[Op],
    externals: &[TensorDecl],
    conventions: Conventions,
    fused: bool,
) -> Result<Traffic, Vec<Diagnostic>> {
    let graph = build_graph(ops, externals)?;
    let count = |kernels: Partition, unfused_total| {
        let (mut read, mut written) = (0, 0);
        for kernel in kernel_traffic(&graph, &kernels, conventions) {
            read += kernel.bytes_read();
            written += kernel.bytes_written();
        }
        Traffic::new(read, written, unfused_total)
    };
    let unfused = count(none::eager(&graph, conventions), None);
    Ok(if fused {
        let mut kernels = rules::partition(&graph, &mut Log::default());
        kernels.results = none::lone_results(&graph, &kernels);
        count(kernels, Some(unfused.total))
    } else {
        unfused
    })
}
