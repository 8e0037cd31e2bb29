//! Times of kernels on a measured device.

use crate::core::analysis::device_model::{
    Code, KernelView, Kind, Moved, Product, Tiling, row_width,
};
use crate::core::cost::roofline::missing_figure;
use crate::core::model::device::Measured;
use crate::core::model::dtype::DType;
use crate::core::model::ids::OpId;
use crate::core::model::op::{Op, element_count};
use crate::core::model::op_type::OpType;
use crate::core::model::options::Options;

/// A generated kernel holds rows of up to this many elements in registers and reads them once.
const HELD_ROW: f64 = 1024.0;
/// Blocks of 512 threads that a multiprocessor holds.
const ROW_BLOCKS: f64 = 4.0;
/// Elements that such a block processes at once: one long row or a few short ones.
const ROW_ELEMENTS: f64 = 4096.0;
/// Rows up to which the library's softmax holds a row in the registers of one warp.
const WARP_ROW: f64 = 2048.0;

impl KernelView<'_> {
    /// `None` where the roofline has no peak for the work, and for arithmetic in f64, of which none was measured.
    pub(super) fn time_s(&self, m: &Measured) -> Option<f64> {
        let (options, work) = (self.model.options, self.launch.work);
        if missing_figure(options, work).is_some() || work.vector_f64_flops > 0 {
            return None;
        }
        let seconds = |moved: Moved| {
            moved.bytes.saturating_sub(moved.hit_bytes) as f64 / m.memory_bytes_per_s
                + moved.hit_bytes as f64 / m.l2_bytes_per_s
        };
        let read_s = seconds(self.launch.read);
        let write_s = seconds(self.launch.written);
        let rate = matrix_rate(options, m, work.matrix_dtype);
        Some(match self.kind() {
            Kind::View => 0.0,
            Kind::Attention => {
                // The exponentials of a tile wait for its scores, and the second product waits for them.
                let exponentials: f64 = self
                    .ops()
                    .filter(|(_, op)| op.op_type == OpType::Reduction)
                    .map(|(_, op)| elements(op))
                    .fold(0.0, f64::max);
                let compute_s = work.matrix_flops as f64 / rate + exponentials / m.exp_per_s;
                let again_s = self.attention_read_again_bytes() / m.memory_bytes_per_s;
                compute_s.max(read_s + write_s + again_s) + m.kernel_s
            }
            Kind::Matmul {
                product,
                is_generated,
            } => {
                let tiling = self.tiling(&product, is_generated);
                let again = product.read_again_bytes(
                    tiling,
                    self.model.multiprocessors,
                    self.model.l2_bytes,
                ) / m.memory_bytes_per_s;
                let share = if is_generated {
                    m.generated_matmul_share
                } else {
                    1.0
                };
                self.matmul_s(
                    m,
                    &product,
                    (tiling, rate * share),
                    read_s + write_s + again,
                )
            }
            Kind::Rows => self.rows_s(m, read_s, write_s) + m.kernel_s,
            Kind::Pointwise => self.pointwise_s(m, read_s + write_s) + m.kernel_s,
        })
    }

    fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let ops = self.launch.ops.iter();
        ops.map(|&op| (op, &self.model.graph.ops[op]))
    }

    fn matmul_s(
        &self,
        m: &Measured,
        product: &Product,
        (tiling, rate): (Tiling, f64),
        memory_s: f64,
    ) -> f64 {
        let rate = rate / self.model.multiprocessors;
        let tile_s = 2.0 * tiling.tile.rows * tiling.tile.columns * product.inner / rate;
        let (each_s, around_s) = if product.is_convolution {
            (m.convolution_tile_s, m.kernel_s)
        } else {
            (0.0, m.matmul_s)
        };
        let compute_s = tiling.waves * (tile_s + each_s);
        let cache_s = product.loaded_bytes(&tiling) / m.l2_bytes_per_s;
        compute_s.max(cache_s).max(memory_s) + around_s
    }

    fn pointwise_s(&self, m: &Measured, memory_s: f64) -> f64 {
        let mut compute_s = 0.0;
        for (id, op) in self.ops() {
            let strided = self.code == Code::Library && self.is_strided(id, op);
            let strided_s = if strided {
                elements(op) / m.strided_per_s
            } else {
                0.0
            };
            compute_s += op_s(m, op).max(strided_s);
        }
        memory_s.max(compute_s)
    }

    /// Whether the op has operands of another shape than its result, or copies into another order. A single number
    /// does not count as an operand.
    fn is_strided(&self, id: OpId, op: &Op) -> bool {
        let count = element_count(&op.shape);
        let inputs = self.model.graph.inputs[id].iter();
        let mut counts = inputs.filter_map(|&t| self.model.graph.tensors[t].elements());
        op.op_type == OpType::Reshape || counts.any(|n| n > 1 && Some(n) != count)
    }

    /// Time of a kernel along rows: by class for a library kernel; in passes for a generated one, unless it holds its
    /// rows.
    fn rows_s(&self, m: &Measured, read_s: f64, write_s: f64) -> f64 {
        let reductions = || self.ops().filter(|(_, op)| op.op_type == OpType::Reduction);
        let reduced = |id: OpId, op: &Op| {
            let first = self.model.graph.inputs[id].first();
            let shape = first.and_then(|&t| self.model.graph.tensor_shape(t));
            let shape = shape.unwrap_or(&op.shape);
            (element_count(shape).unwrap_or(0) as f64, row_width(shape))
        };
        if self.code == Code::Library {
            let class_s: f64 = reductions()
                .map(|(id, op)| {
                    let (count, width) = reduced(id, op);
                    count / library_rate(m, op, width)
                })
                .sum();
            return class_s.max(read_s + write_s);
        }
        let (mut online, mut widest, mut rows) = (0.0, 0.0_f64, 0.0_f64);
        let (mut has_max, mut has_exp) = (None, false);
        for (id, op) in self.ops() {
            has_exp |= op.function.as_deref() == Some("exp");
            if op.op_type != OpType::Reduction {
                continue;
            }
            let (count, width) = reduced(id, op);
            widest = widest.max(width);
            rows = rows.max(count / width);
            match op.function.as_deref() {
                // A running mean and variance.
                Some("layer_norm" | "var") => online += count,
                // A running maximum, and a sum that is scaled whenever it changes.
                Some("softmax" | "log_softmax") => online += 2.0 * count,
                Some("max") => has_max = Some(count),
                _ => {}
            }
        }
        if let (Some(count), true) = (has_max, has_exp) {
            online += 2.0 * count;
        }
        let compute_s: f64 = self.ops().map(|(_, op)| op_s(m, op)).sum();
        let is_pool = reductions().any(|(_, op)| {
            op.function
                .as_deref()
                .is_some_and(|f| f.ends_with("pool2d"))
        });
        if widest <= HELD_ROW || is_pool {
            return (read_s + write_s).max(compute_s);
        }
        // All passes but the last read, and the last writes; they do not overlap.
        let blocks = rows / (ROW_ELEMENTS / widest).floor().max(1.0);
        let waves = (blocks / (self.model.multiprocessors * ROW_BLOCKS)).ceil();
        read_s.max(online / m.online_per_s) + write_s.max(compute_s) + waves * m.row_wave_s
    }
}

fn elements(op: &Op) -> f64 {
    element_count(&op.shape).unwrap_or(0) as f64
}

/// The matrix rate for operands of this type: measured for f16, for other types in proportion to their peaks on the
/// roofline. A kernel without a peak has no time and does not get here.
fn matrix_rate(options: &Options, m: &Measured, dtype: Option<DType>) -> f64 {
    let peak = |dtype| {
        let figure = (options.device).matrix_peak(dtype, options.conventions.f32_matmul);
        figure.map(|figure| figure.value)
    };
    match (dtype.and_then(peak), peak(DType::F16)) {
        (Some(own), Some(f16)) => m.matrix_f16_flops_per_s * own / f16,
        _ => m.matrix_f16_flops_per_s,
    }
}

fn library_rate(m: &Measured, op: &Op, width: f64) -> f64 {
    match op.function.as_deref() {
        Some("softmax" | "log_softmax") if width <= WARP_ROW => m.library_softmax_per_s,
        Some("softmax" | "log_softmax") => m.library_wide_softmax_per_s,
        Some("layer_norm" | "rms_norm") => m.library_layer_norm_per_s,
        Some("max_pool2d" | "avg_pool2d") => m.library_pool_per_s,
        _ => m.library_sum_per_s,
    }
}

/// Time of an elementwise op on the vector units: its slow functions, and one instruction for each further FLOP.
fn op_s(m: &Measured, op: &Op) -> f64 {
    let (slow_s, further) = match op.function.as_deref() {
        Some("exp" | "softmax" | "log_softmax") => (1.0 / m.exp_per_s, 1.0),
        Some("sigmoid" | "silu") => (1.0 / m.exp_per_s + 1.0 / m.division_per_s, 2.0),
        Some("gelu") => (1.0 / m.erf_per_s, 8.0),
        Some("erf") => (1.0 / m.erf_per_s, 0.0),
        Some("tanh") => (1.0 / m.tanh_per_s, 0.0),
        Some("div" | "reciprocal") => (1.0 / m.division_per_s, 0.0),
        _ if op.op_type == OpType::Elementwise => (0.0, 2.0),
        _ => (0.0, 0.0),
    };
    elements(op) * (slow_s + further / m.vector_per_s)
}
