//! Counts what each kernel of a partition moves and computes.

use super::execution::{Execution, Kernel};
use super::memory::peak_memory;
use crate::cost::roofline::place;
use crate::cost::traffic::{KernelTraffic, Traffic, kernel_traffic};
use crate::cost::views::Views;
use crate::cost::work::{op_work, work_of_ops};
use crate::fusion::attention::AttentionShape;
use crate::model::device::Device;
use crate::model::graph::Graph;
use crate::model::ids::{IdVec, OpId, TensorId};
use crate::model::op::UnknownReader;
use crate::model::op_type::OpType;
use crate::model::options::{Options, Policy};
use crate::model::partition::Partition;
use crate::model::work::Work;
use smallvec::SmallVec;
use std::collections::HashSet;

/// Counts all kernels of a partition, while inputs and weights take `external_bytes`. Calls `each`
/// with every kernel at once, while its data is in a near cache.
pub(super) fn execute(
    graph: &Graph,
    partition: &Partition,
    options: &Options,
    external_bytes: u64,
    unfused: Option<&Execution>,
    each: &mut dyn FnMut(&Kernel),
) -> Execution {
    let views = Views::of_partition(graph, options.conventions.reshape, partition);
    let mut kernels = IdVec::with_capacity(partition.kernels.len());
    let (mut read, mut written, mut launches, mut time_s) = (0, 0, 0, 0.0);
    let mut joined = Joined::default();
    let traffics = kernel_traffic(graph, partition, options.conventions);
    for ((kernel, members), traffic) in partition.kernels.iter_enumerated().zip(traffics) {
        let (bytes_read, bytes_written) = (traffic.bytes_read(), traffic.bytes_written());
        let computed = members.iter().chain(&partition.recomputed[kernel]);
        let work = work_of_ops(computed.clone(), |op| {
            let whole = match unfused {
                Some(unfused) => unfused.of_lone_op(op).work,
                None => op_work(graph, op),
            };
            traffic.work_of(op, whole)
        });
        let work = work.and(work_beyond_ops(graph, members, &work, &options.device));
        let is_free = computed.clone().all(|&op| views.is_view[op]);
        let mut placement = place(options, work, bytes_read + bytes_written, is_free);
        let further = partition.further_launches_of(kernel);
        placement.time_s += f64::from(further) * options.device.launch_s.value;
        let may_join = |&op: &OpId| graph.ops[op].unknown_reader == Some(UnknownReader::Fusable);
        let is_fused = unfused.is_some() && options.policy != Policy::None;
        if is_fused && !is_free && members.iter().any(may_join) {
            joined.add(&traffic, work);
        } else {
            read += bytes_read;
            launches += usize::from(!is_free) + further as usize;
            time_s += placement.time_s;
        }
        written += bytes_written;
        let is_reduced = |&op: &OpId| {
            graph.ops[op].op_type == OpType::Reduction && partition.reduces(kernel, op)
        };
        let mut reductions: SmallVec<[OpId; 1]> = computed.copied().filter(is_reduced).collect();
        reductions.sort_unstable();
        let kernel = Kernel {
            ops: SmallVec::from_slice(members),
            reductions,
            traffic,
            bytes_read,
            bytes_written,
            work,
            placement,
            is_free,
        };
        each(&kernel);
        kernels.push(kernel);
    }
    if joined.kernels > 0 {
        let bytes = joined.bytes_read + joined.bytes_written;
        read += joined.bytes_read;
        launches += 1;
        time_s += place(options, joined.work, bytes, false).time_s;
    }
    let unfused_total = unfused.map(|unfused| unfused.traffic.total);
    Execution {
        peak_memory: peak_memory(graph, &kernels, &views, external_bytes),
        kernels,
        may_join: joined.kernels.saturating_sub(1),
        traffic: Traffic::new(read, written, unfused_total),
        time_s,
        launches,
        views,
    }
}

/// Kernels that ops of unknown shape may join into one.
#[derive(Default)]
struct Joined {
    kernels: usize,
    is_read: HashSet<TensorId>,
    bytes_read: u64,
    bytes_written: u64,
    work: Work,
}

impl Joined {
    fn add(&mut self, traffic: &KernelTraffic, work: Work) {
        self.kernels += 1;
        for access in &traffic.reads {
            if self.is_read.insert(access.tensor) {
                self.bytes_read += access.bytes;
            }
        }
        self.bytes_written += traffic.bytes_written();
        self.work = self.work.and(work);
    }
}

/// Work of a kernel beyond that of its ops, which is `work`: the rescaling of attention. That of a
/// call of `sdpa` does not count, as PyTorch's counter leaves it out.
pub(super) fn work_beyond_ops(graph: &Graph, ops: &[OpId], work: &Work, device: &Device) -> Work {
    // Two products and a softmax.
    const FEWEST_OPS: usize = 3;
    let is_written_out = ops.len() >= FEWEST_OPS
        && work.matrix_dtype.is_some()
        && AttentionShape::call_among(graph, ops).is_none();
    let shape = is_written_out
        .then(|| AttentionShape::of_kernel(graph, ops))
        .flatten();
    shape.map_or_else(Work::default, |shape| shape.rescaling_on(device))
}
