//! The *device* count: DRAM reads and times of kernels on a real GPU, beside compulsory traffic.
//!
//! Compulsory traffic counts every tensor once for each kernel, without caches between kernels.
//! Here the tiles of a matmul read their operands again in each wave, attention reads K and V again
//! for each tile of Q if the cache cannot hold those of one head, and data accessed recently comes
//! from the shared cache. No figure mixes the two counts.

mod attention;
mod breakdown;
mod cache;
mod channel_norms;
mod fused;
mod library_rows;
mod matmul;
mod predicted;
mod range;
mod rows;
mod time;

pub use crate::analysis::device_model::breakdown::{
    Breakdown, BreakdownPart, BreakdownShare, RatedWork,
};
pub use crate::analysis::device_model::fused::{
    DeviceCount, breakdown, cold_time, device_count, first_run_s,
};
pub(crate) use crate::analysis::device_model::matmul::operand_sizes;
pub use crate::analysis::device_model::matmul::{Product, Tile, Tiling};
use crate::analysis::device_model::predicted::is_library_call;
pub use crate::analysis::device_model::predicted::{
    KernelTime, Predicted, PredictedTimes, generated_matmul,
};
pub use crate::analysis::device_model::range::{
    FEWEST_COLUMNS, FEWEST_KEYS, HEAD_SIZES, LONGEST_OF_FEW_ROWS, MOST_SHARING_HEADS, Outside,
};

pub(crate) use crate::analysis::device_model::cache::{CacheStart, Hits};
use crate::analysis::execution::{Execution, Kernel};
use crate::cost::computed_in_part::ComputedPart;
use crate::cost::traffic::Access;
use crate::fusion::attention::{AttentionShape, Tiles};
use crate::fusion::rows::RowDomain;
use crate::model::device::Calibration;
use crate::model::functions::Function;
use crate::model::graph::Graph;
use crate::model::ids::{KernelId, OpId};
use crate::model::op_type::OpType;
use crate::model::options::{Options, Policy};
use crate::model::partition::Partition;
use crate::model::work::Work;
use std::ops::{AddAssign, Sub};

/// Who wrote the code of the kernels, which decides their speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelOrigin {
    /// One library kernel for each op, as a framework runs them without a compiler.
    Library,
    /// A compiler, or a person who marks kernels. What the library has one call for, a matmul or
    /// `addmm`, is left to it.
    Generated,
}

impl KernelOrigin {
    /// Who makes the kernels of the chosen policy.
    pub(crate) const fn of(options: &Options) -> Self {
        match options.policy {
            Policy::None => Self::Library,
            _ => Self::Generated,
        }
    }
}

/// The times of a program's kernels on one device.
pub(crate) struct DeviceModel<'a> {
    graph: &'a Graph,
    options: &'a Options,
    calibration: Option<Calibration>,
    multiprocessors: f64,
    l2_bytes: f64,
    on_chip_bytes: u64,
}

/// Bytes of accesses, and how many of them the shared cache serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessedBytes {
    pub(crate) bytes: u64,
    pub(crate) hit_bytes: u64,
}

impl AccessedBytes {
    /// Bytes that all come from or go to DRAM.
    pub(crate) const fn cold(bytes: u64) -> Self {
        Self {
            bytes,
            hit_bytes: 0,
        }
    }

    pub(crate) const fn access(bytes: u64, is_hit: bool) -> Self {
        Self {
            bytes,
            hit_bytes: if is_hit { bytes } else { 0 },
        }
    }

    /// All of these accesses, of which `hits` says which the cache serves.
    pub(crate) fn all(accesses: &[Access], hits: &[bool]) -> Self {
        let mut sum = Self::default();
        for (access, &is_hit) in accesses.iter().zip(hits) {
            sum += Self::access(access.bytes, is_hit);
        }
        sum
    }
}

impl AddAssign for AccessedBytes {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.hit_bytes += other.hit_bytes;
    }
}

impl Sub for AccessedBytes {
    type Output = Self;

    /// Without accesses that are among these.
    fn sub(self, less: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(less.bytes),
            hit_bytes: self.hit_bytes.saturating_sub(less.hit_bytes),
        }
    }
}

/// A kernel as the model sees it.
#[derive(Clone, Copy)]
pub(crate) struct ModeledKernel<'a> {
    pub(crate) ops: &'a [OpId],
    /// Ops that it computes again.
    pub(crate) recomputed: &'a [OpId],
    /// Reductions whose statistics it computes.
    pub(crate) reductions: &'a [OpId],
    /// Ops of which it computes only some elements.
    pub(crate) in_part: &'a [ComputedPart],
    pub(crate) work: Work,
    /// A view, which is not launched.
    pub(crate) is_free: bool,
    /// Whether its rows are cut into pieces, which another launch or kernel joins.
    pub(crate) is_split: bool,
    /// Launches beside its own.
    pub(crate) further_launches: u32,
    pub(crate) read: AccessedBytes,
    pub(crate) written: AccessedBytes,
}

impl<'a> ModeledKernel<'a> {
    /// Whether an op is the second result of an operator whose first result the kernel has.
    fn is_second(&self, graph: &Graph, op: OpId) -> bool {
        let first = graph.results.first(op);
        first.is_some_and(|first| self.ops.contains(&first))
    }

    /// A kernel that finds nothing in the shared cache.
    pub(crate) fn cold(kernel: &'a Kernel, id: KernelId, partition: &'a Partition) -> Self {
        Self {
            ops: &kernel.ops,
            recomputed: &partition.recomputed[id],
            reductions: &kernel.reductions,
            in_part: &kernel.traffic.in_part,
            work: kernel.work,
            is_free: kernel.is_free,
            is_split: partition.splits_some(&kernel.reductions),
            further_launches: partition.further_launches_of(id),
            read: AccessedBytes::cold(kernel.bytes_read),
            written: AccessedBytes::cold(kernel.bytes_written),
        }
    }

    /// All that it reads and writes.
    fn moved(&self) -> AccessedBytes {
        let mut moved = self.read;
        moved += self.written;
        moved
    }
}

impl<'a> DeviceModel<'a> {
    /// The model of the chosen device; `None` where its multiprocessors or cache are not known.
    pub(crate) fn new(graph: &'a Graph, options: &'a Options) -> Option<Self> {
        let device = &options.device;
        Some(Self {
            graph,
            options,
            calibration: device.calibration(),
            multiprocessors: device.hardware.multiprocessors?.value,
            l2_bytes: device.hardware.l2_bytes?.value,
            on_chip_bytes: device.on_chip_bytes(),
        })
    }

    /// The accesses of these kernels that hit the cache; `None` on a device without measured rates.
    pub(crate) fn hits(&self, execution: &Execution, start: CacheStart) -> Option<Hits> {
        let rates = &self.calibration.as_ref()?.rates;
        let kept_bytes = rates.l2_kept_bytes;
        Some(cache::hits(self.graph, execution, kept_bytes, start))
    }

    /// The time of a kernel when the program runs repeatedly. `None` on a device without measured
    /// rates.
    pub(crate) fn time_s(&self, code: KernelOrigin, launch: ModeledKernel<'_>) -> Option<f64> {
        Some(self.breakdown(code, launch)?.time_s())
    }

    /// How a kernel is outside the measured sizes, if it is.
    pub(crate) fn outside(&self, code: KernelOrigin, launch: ModeledKernel<'_>) -> Option<Outside> {
        self.kernel(code, launch).outside()
    }

    /// The time of a kernel in parts, with launches that no op stands for: they have no bytes
    /// (`docs/inductor.md`), so only a fixed time.
    pub(crate) fn breakdown(
        &self,
        code: KernelOrigin,
        launch: ModeledKernel<'_>,
    ) -> Option<Breakdown> {
        let rates = &self.calibration.as_ref()?.rates;
        let mut breakdown = self.kernel(code, launch).breakdown(rates);
        breakdown.fixed_s += f64::from(launch.further_launches) * rates.kernel_s;
        Some(breakdown)
    }

    fn kernel<'k>(&'k self, code: KernelOrigin, launch: ModeledKernel<'k>) -> KernelView<'k> {
        // A person who merges by hand writes the marked kernels and leaves the other ops to the
        // framework, which calls the library.
        let is_left = self.options.policy == Policy::Manual && self.is_one_unmarked_op(&launch);
        KernelView {
            model: self,
            code: if is_left { KernelOrigin::Library } else { code },
            launch,
        }
    }

    fn is_one_unmarked_op(&self, launch: &ModeledKernel<'_>) -> bool {
        let computed = launch.ops.iter().chain(launch.recomputed).copied();
        let is_counted = |&op: &OpId| !self.is_free_view(op) && !launch.is_second(self.graph, op);
        let mut computed = computed.filter(is_counted);
        let only = computed.next().filter(|_| computed.next().is_none());
        only.is_some_and(|op| self.graph.ops[op].kernel.is_none())
    }

    fn is_free_view(&self, op: OpId) -> bool {
        let reshape = self.options.conventions.reshape;
        reshape.is_free_view(self.graph, op)
    }
}

/// A kernel on a device.
struct KernelView<'a> {
    model: &'a DeviceModel<'a>,
    code: KernelOrigin,
    launch: ModeledKernel<'a>,
}

/// The kind of a kernel.
enum Kind {
    /// Not launched.
    View,
    /// Attention in one kernel.
    Attention,
    /// One product of matrices, and what follows it.
    Matmul {
        product: Product,
        /// The library has no call for it, so that it is a template with an epilogue.
        is_generated: bool,
    },
    /// A reduction along rows.
    Rows,
    /// A loop over elements.
    Pointwise,
}

impl KernelView<'_> {
    fn kind(&self) -> Kind {
        if self.launch.is_free {
            return Kind::View;
        }
        let of_type = |op_type| {
            let ops = self.launch.ops.iter().copied();
            ops.filter(move |&op| self.model.graph.ops[op].op_type == op_type)
        };
        // `sdpa` is opaque to fusion, but its kernel is known.
        let is_call = |op: OpId| self.model.graph.ops[op].function == Some(Function::Sdpa);
        if of_type(OpType::Opaque).any(is_call) {
            return Kind::Attention;
        }
        let mut matmuls = of_type(OpType::Matmul);
        match (matmuls.next(), matmuls.next()) {
            // Legality refuses two matmuls in a kernel, unless they are the two of an attention.
            (Some(_), Some(_)) => Kind::Attention,
            (Some(matmul), None) => match Product::of_op(self.model.graph, matmul) {
                Some(product) => Kind::Matmul {
                    product,
                    is_generated: !is_library_call(
                        self.model.graph,
                        self.model.options.policy,
                        self.launch.ops,
                        matmul,
                    ),
                },
                // Without K no tiles are known: only compulsory reads are left, and there is no
                // time.
                None => Kind::Pointwise,
            },
            (None, _) if !self.launch.reductions.is_empty() => Kind::Rows,
            (None, _) => Kind::Pointwise,
        }
    }

    /// How the library, or a template, cuts this product into tiles.
    fn tiling(&self, product: &Product, is_generated: bool) -> Tiling {
        if is_generated {
            product.generated_tiling(self.model.multiprocessors)
        } else {
            product.tiling(self.model.multiprocessors)
        }
    }

    /// DRAM reads with cold caches: compulsory reads, and what is read again.
    fn dram_read_bytes(&self) -> f64 {
        let once = self.launch.read.bytes as f64;
        match self.kind() {
            Kind::View => 0.0,
            Kind::Matmul {
                product,
                is_generated,
            } => {
                let tiling = self.tiling(&product, is_generated);
                once + product.read_again_bytes(
                    tiling,
                    self.model.multiprocessors,
                    self.model.l2_bytes,
                )
            }
            Kind::Rows => once + self.rows_read_again_bytes(),
            Kind::Attention => once + self.attention_read_again_bytes(),
            // A loop over elements has no reuse that a cache could lose.
            Kind::Pointwise => once,
        }
    }

    /// Bytes of K and V that are read again for each tile of Q: 0 if the cache holds those of one
    /// head, as measured.
    fn attention_read_again_bytes(&self) -> f64 {
        let shape = AttentionShape::of_kernel(self.model.graph, self.launch.ops);
        shape.map_or(0, |shape| {
            shape.read_again_bytes(
                Tiles::new(&shape, self.model.on_chip_bytes),
                self.model.l2_bytes,
            )
        }) as f64
    }

    /// Bytes of rows that the cache loses between two passes over them, so that the second one
    /// reads them from memory: as measured, none if the rows at once take at most 0.3 of the
    /// cache, all from 0.66 on.
    fn lost_bytes(&self, rows_bytes: f64, at_once_bytes: f64) -> f64 {
        ramp(at_once_bytes / self.model.l2_bytes, 0.3, 0.66) * rows_bytes
    }
}

/// The rows that an op reduces.
#[derive(Clone, Copy)]
struct Rows {
    count: f64,
    width: f64,
    /// Between neighbours of a row: more than 1 along another axis than the last.
    stride: f64,
}

impl Rows {
    fn of_op(graph: &Graph, op: OpId) -> Self {
        let domain = RowDomain::of_op(graph, op);
        Self {
            count: domain.rows as f64,
            width: domain.width.max(1) as f64,
            stride: domain.stride as f64,
        }
    }

    const fn are_columns(self) -> bool {
        self.stride > 1.0
    }

    const fn elements(self) -> f64 {
        self.count * self.width
    }
}

/// 0 up to `from`, 1 from `to` on, and a straight line between.
fn ramp(value: f64, from: f64, to: f64) -> f64 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}

/// The value at this share of the way from the first to the second.
fn between([from, to]: [f64; 2], share: f64) -> f64 {
    from + share * (to - from)
}
