//! The *device* count: DRAM reads and times of kernels on a real GPU, beside compulsory traffic.
//!
//! Compulsory traffic counts every tensor once for each kernel, without caches between kernels. Here the tiles of a
//! matmul read their operands again in each wave, attention reads K and V again for each tile of Q if the cache
//! cannot hold those of one head, and data accessed recently comes from the shared cache. No figure mixes the two
//! counts.

mod cache;
mod matmul;
mod time;

pub use crate::core::analysis::device_model::matmul::{Product, Tile, Tiling};

use crate::core::analysis::{Analysis, Kernel};
use crate::core::fusion::attention::{AttentionShape, Tiles};
use crate::core::model::graph::Graph;
use crate::core::model::ids::{IdVec, KernelId, OpId};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use crate::core::model::options::Policy;

/// Where the kernels come from, which decides their speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// One library kernel for each op, as a framework runs them without a compiler.
    Library,
    /// A compiler, which leaves matmuls to the library.
    Generated,
    /// A compiler that writes its matmuls too.
    GeneratedMatmuls,
}

/// One kernel on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceKernel {
    /// Bytes that it reads from DRAM with cold caches.
    pub dram_read_bytes: f64,
    /// Its time when the program runs repeatedly; `None` if the device was not measured, or if the roofline has no
    /// peak for its work.
    pub time_s: Option<f64>,
}

/// A program on the device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceCount {
    /// One for each kernel of the analysis; a view is not launched and reads nothing.
    pub kernels: IdVec<KernelId, DeviceKernel>,
    /// Sum of their reads.
    pub dram_read_bytes: f64,
    /// Sum of their times.
    pub time_s: Option<f64>,
}

/// The device count of the fused program. `None` where the device's multiprocessors or cache are not known.
/// `O(ops + reads)`.
pub fn device_count(analysis: &Analysis) -> Option<DeviceCount> {
    let device = &analysis.options.device;
    let multiprocessors = device.hardware.multiprocessors?.value;
    let l2_bytes = device.hardware.l2_bytes?.value;
    let code = match (
        analysis.options.policy,
        analysis.options.fusion.max_autotune,
    ) {
        (Policy::None, _) => Code::Library,
        (Policy::Inductor, true) => Code::GeneratedMatmuls,
        _ => Code::Generated,
    };
    let measured = device.measured();
    let hits = measured.map(|m| cache::hits(analysis, m.l2_kept_bytes));
    let kernels: IdVec<KernelId, DeviceKernel> = analysis
        .fused
        .kernels
        .iter_enumerated()
        .map(|(id, kernel)| {
            let view = KernelView {
                graph: &analysis.graph,
                kernel,
                code,
                multiprocessors,
                l2_bytes,
                on_chip_bytes: device.on_chip_bytes(),
            };
            let dram_read_bytes = view.dram_read_bytes();
            let hit = hits.as_ref().map_or((0.0, 0.0), |hits| hits[id]);
            DeviceKernel {
                dram_read_bytes,
                time_s: measured.and_then(|m| view.time_s(&analysis.options, m, hit)),
            }
        })
        .collect();
    Some(DeviceCount {
        dram_read_bytes: kernels.iter().map(|k| k.dram_read_bytes).sum(),
        time_s: kernels.iter().map(|k| k.time_s).sum(),
        kernels,
    })
}

/// A kernel with what its figures depend on.
struct KernelView<'a> {
    graph: &'a Graph,
    kernel: &'a Kernel,
    code: Code,
    multiprocessors: f64,
    l2_bytes: f64,
    on_chip_bytes: u64,
}

/// The kind of a kernel.
enum Kind {
    /// Not launched.
    View,
    /// Attention in one kernel.
    Attention,
    /// One product of matrices, and what follows it.
    Matmul(Product),
    /// A reduction along rows.
    Rows,
    /// A loop over elements.
    Pointwise,
}

impl KernelView<'_> {
    fn kind(&self) -> Kind {
        if self.kernel.is_free {
            return Kind::View;
        }
        let of_type = |op_type| {
            let ops = self.kernel.ops.iter().copied();
            ops.filter(move |&op| self.graph.ops[op].op_type == op_type)
        };
        let mut matmuls = of_type(OpType::Matmul);
        match (matmuls.next(), matmuls.next()) {
            (Some(_), Some(_)) => Kind::Attention,
            (Some(matmul), None) => {
                Product::of_op(self.graph, matmul).map_or(Kind::Pointwise, Kind::Matmul)
            }
            (None, _) if of_type(OpType::Reduction).next().is_some() => Kind::Rows,
            (None, _) => Kind::Pointwise,
        }
    }

    /// How the library or the compiler cuts this product into tiles.
    fn tiling(&self, product: &Product) -> Tiling {
        if self.code == Code::GeneratedMatmuls && !product.is_convolution {
            product.generated_tiling(self.multiprocessors)
        } else {
            product.tiling(self.multiprocessors)
        }
    }

    /// DRAM reads with cold caches: compulsory reads, and what is read again.
    fn dram_read_bytes(&self) -> f64 {
        let once = self.kernel.bytes_read as f64;
        match self.kind() {
            Kind::View => 0.0,
            Kind::Matmul(product) => {
                let tiling = self.tiling(&product);
                once + product.read_again_bytes(tiling, self.multiprocessors, self.l2_bytes)
            }
            Kind::Rows => once + self.rows_read_again_bytes(),
            Kind::Attention => once + self.attention_read_again_bytes(),
            Kind::Pointwise => once,
        }
    }

    /// Bytes of K and V that are read again for each tile of Q: 0 if the cache holds those of one head, as measured.
    fn attention_read_again_bytes(&self) -> f64 {
        let shape = AttentionShape::of_kernel(self.graph, &self.kernel.ops);
        shape.map_or(0, |shape| {
            shape.read_again_bytes(Tiles::new(&shape, self.on_chip_bytes), self.l2_bytes)
        }) as f64
    }

    /// Bytes that a layer norm reads again. A library layer norm reads its rows twice, with 128 threads for each row
    /// and as many rows at once as fill the threads of the device. Rows that the cache loses in between are read
    /// again: as measured, none if the rows at once take at most 0.3 of the cache, all from 0.66 on. A generated
    /// kernel has 512 threads for each row.
    fn rows_read_again_bytes(&self) -> f64 {
        const THREADS: f64 = 2048.0;
        let twice = |op: &OpId| self.graph.ops[*op].function.as_deref() == Some("layer_norm");
        let Some(&op) = self.kernel.ops.iter().find(|op| twice(op)) else {
            return 0.0;
        };
        let threads_a_row = if self.code == Code::Library {
            128.0
        } else {
            512.0
        };
        let op = &self.graph.ops[op];
        let row_bytes = row_width(&op.shape) * f64::from(op.bytes_per_element);
        let rows = element_count(&op.shape).unwrap_or(0) as f64 / row_width(&op.shape);
        let at_once = (self.multiprocessors * THREADS / threads_a_row).min(rows) * row_bytes;
        let lost = ramp(at_once / self.l2_bytes, 0.3, 0.66);
        lost * rows * row_bytes
    }
}

/// Elements of one row.
fn row_width(shape: &[u64]) -> f64 {
    shape.last().copied().unwrap_or(1).max(1) as f64
}

/// 0 up to `from`, 1 from `to` on, and a straight line between.
fn ramp(value: f64, from: f64, to: f64) -> f64 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}
