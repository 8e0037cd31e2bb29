//! Times of kernels along rows: reductions and what is fused with them.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::time::bytes;
use crate::analysis::device_model::{KernelOrigin, KernelView, row_width};
use crate::model::device::Measured;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::{Op, element_count};
use crate::model::op_type::OpType;
use smallvec::smallvec;

/// A generated kernel holds rows of up to this many elements in registers and reads them once.
const HELD_ROW: f64 = 1024.0;
/// Blocks of 512 threads that a multiprocessor holds.
const ROW_BLOCKS: f64 = 4.0;
/// Elements that such a block processes at once: one long row or a few short ones.
const ROW_ELEMENTS: f64 = 4096.0;
/// Threads of a block of the library's sum.
const SUM_THREADS: f64 = 512.0;
/// Rows up to which the library's softmax holds a row in the registers of one warp.
const WARP_ROW: f64 = 2048.0;
impl KernelView<'_> {
    /// A kernel along rows: by class for a library kernel; in passes for a generated one, unless it
    /// holds its rows.
    pub(super) fn rows(&self, m: &Measured) -> Breakdown {
        let reductions = || self.ops().filter(|(_, op)| op.op_type == OpType::Reduction);
        let reduced = |id: OpId, op: &Op| {
            let first = self.model.graph.inputs[id].first();
            let shape = first.and_then(|&t| self.model.graph.tensor_shape(t));
            // The output lacks the reduced elements, so the input says how many there are.
            let shape = shape.unwrap_or(&op.shape);
            (element_count(shape).unwrap_or(0) as f64, row_width(shape))
        };
        let (read, written) = (self.launch.read, self.launch.written);
        let moved = self.launch.moved();
        if self.code == KernelOrigin::Library {
            let mut class = BreakdownPart::new("library kernel");
            let mut row = BreakdownPart::new("one row");
            for (id, op) in reductions() {
                let (count, width) = reduced(id, op);
                let (what, per_s) = library_rate(m, op, width);
                class.add(what, count, per_s);
                let row_s = library_row_s(m, op, width, count / width);
                row.add(RatedWork::RowElements, width, width / row_s);
            }
            return Breakdown::overlapping([class, row, bytes(m, moved, 0.0)], m.kernel_s);
        }
        let (mut online, mut widest, mut rows) = (0.0, 0.0_f64, 0.0_f64);
        let (mut has_max, mut has_exp) = (None, false);
        for (id, op) in self.ops() {
            has_exp |= op.function == Some(Function::Exp);
            if op.op_type != OpType::Reduction {
                continue;
            }
            let (count, width) = reduced(id, op);
            widest = widest.max(width);
            rows = rows.max(count / width);
            match op.function {
                // A running mean and variance.
                Some(Function::LayerNorm | Function::GroupNorm | Function::Var) => online += count,
                // A running maximum, and a sum that is scaled whenever it changes.
                Some(Function::Softmax | Function::LogSoftmax) => online += 2.0 * count,
                Some(Function::Max) => has_max = Some(count),
                _ => {}
            }
        }
        // Softmax as single ops costs what the function costs: a running maximum and a running sum.
        if let (Some(count), true) = (has_max, has_exp) {
            online += 2.0 * count;
        }
        let compute = self.arithmetic(m);
        let is_pool = reductions().any(|(_, op)| op.function.is_some_and(Function::is_pool));
        // What writes as much as it reduces passes over its rows a second time.
        let writes_rows = written.bytes as f64 >= rows * widest;
        let passes = if writes_rows { 2.0 } else { 1.0 };
        // Read once, so in a single phase. A pool reduces windows: the length of its input's last
        // axis says nothing about them.
        if widest <= HELD_ROW || is_pool {
            return Breakdown::overlapping([bytes(m, moved, 0.0), compute], m.kernel_s);
        }
        // All passes but the last read, and the last writes; they do not overlap.
        // A row longer than `ROW_ELEMENTS` still takes one block, which loops over it.
        let blocks = rows / (ROW_ELEMENTS / widest).floor().max(1.0);
        let waves = (blocks / (self.model.multiprocessors * ROW_BLOCKS)).ceil();
        let mut statistics = BreakdownPart::new("running statistics");
        statistics.add(RatedWork::Elements, online, m.online_per_s);
        let mut waits = BreakdownPart::new("waits for rows");
        waits.add(RatedWork::Waves, waves, 1.0 / m.row_wave_s);
        // One statistic for each element of the rows, or two.
        let each = online / (rows * widest).max(1.0);
        let element_s = passes * m.row_element_s + each * m.online_row_element_s;
        let mut row = BreakdownPart::new("one row");
        row.add(RatedWork::RowElements, widest, 1.0 / element_s);
        Breakdown {
            phases: smallvec![
                smallvec![bytes(m, read, 0.0).named("reads"), statistics, row],
                smallvec![bytes(m, written, 0.0).named("writes"), compute],
                // At the barriers of its reductions a row waits for its last thread, and nothing
                // overlaps that.
                smallvec![waits],
            ],
            fixed_s: m.kernel_s,
            pipeline_s: 0.0,
        }
    }
}

/// Whether a library's reduction keeps two numbers: a mean and a variance, or a value and its
/// index.
const fn keeps_pair(function: Function) -> bool {
    matches!(
        function,
        Function::Var | Function::Argmax | Function::Argmin
    )
}

/// The time that a library needs for each row in its block of threads, which few rows take; 0 for
/// pools, which reduce windows.
fn library_row_s(m: &Measured, op: &Op, width: f64, rows: f64) -> f64 {
    let times = &m.library_row;
    match op.function {
        Some(Function::Softmax | Function::LogSoftmax) if width <= WARP_ROW => {
            width * times.warp_softmax_element_s
        }
        Some(Function::Softmax | Function::LogSoftmax) => width * times.softmax_element_s,
        Some(Function::RmsNorm) => width * times.rms_norm_element_s,
        Some(Function::LayerNorm | Function::GroupNorm) => width * times.layer_norm_element_s,
        Some(function) if function.is_pool() => 0.0,
        // Up to 16 rows share the 512 threads of a block, unless a thread would then process 256
        // elements or more (`setReduceConfig` in PyTorch's `Reduce.cuh`).
        _ => {
            let shared = [16.0, 8.0, 4.0, 2.0].into_iter().find(|&n| rows >= n);
            let shared = shared
                .filter(|n| width * n / SUM_THREADS < 256.0)
                .unwrap_or(1.0);
            let fixed_s = match op.function {
                Some(function) if keeps_pair(function) => times.pair_s,
                _ => times.sum_s,
            };
            fixed_s + width * shared / SUM_THREADS * times.sum_element_s
        }
    }
}
fn library_rate(m: &Measured, op: &Op, width: f64) -> (RatedWork, f64) {
    match op.function {
        Some(Function::Softmax | Function::LogSoftmax) if width <= WARP_ROW => {
            (RatedWork::Softmax, m.library_softmax_per_s)
        }
        Some(Function::Softmax | Function::LogSoftmax) => {
            (RatedWork::WideSoftmax, m.library_wide_softmax_per_s)
        }
        Some(Function::LayerNorm | Function::GroupNorm | Function::RmsNorm) => {
            (RatedWork::Norm, m.library_layer_norm_per_s)
        }
        Some(Function::MaxPool2d | Function::AvgPool2d) => (RatedWork::Pool, m.library_pool_per_s),
        Some(function) if keeps_pair(function) => (RatedWork::Sum, m.library_pair_per_s),
        _ => (RatedWork::Sum, m.library_sum_per_s),
    }
}
