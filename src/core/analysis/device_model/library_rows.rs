//! Times of a library's kernels along rows, by the schedules of PyTorch 2.11.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::time::bytes;
use crate::analysis::device_model::{KernelView, Rows, between, ramp};
use crate::model::device::Measured;
use crate::model::functions::Function;
use crate::model::ids::OpId;
use crate::model::op::Op;
use smallvec::smallvec;

/// Threads of a multiprocessor.
pub(super) const THREADS: f64 = 2048.0;
/// Threads of a block of a sum along rows.
const SUM_THREADS: f64 = 512.0;
/// Threads of a warp.
const WARP: f64 = 32.0;
/// The most elements of a thread in a sum before several blocks share a row, and the fewest then.
const SHARED_ROW: f64 = 256.0;
const LEAST_SHARE: f64 = 16.0;
/// Rows up to which a softmax holds a row in the registers of one warp; up to the first, at full
/// speed.
const SHORT_WARP_ROW: f64 = 1024.0;
const WARP_ROW: f64 = 2048.0;
/// Rows up to which a softmax holds a row in the registers of a block, and the bytes of one up to
/// which in its shared memory. Of a longer row it makes three passes.
const BLOCK_ROW: f64 = 8192.0;
const SHARED_ROW_BYTES: f64 = 49_152.0;
/// Threads that a layer norm has for each row.
const NORM_THREADS: f64 = 128.0;
/// Threads of a block of a softmax over longer rows, or of columns.
const SOFTMAX_THREADS: f64 = 1024.0;
/// So many columns or fewer are shared by threads, if they are as long.
const SHARED_COLUMNS: f64 = 64.0;

/// How many threads and blocks a sum has (`setReduceConfig` in `Reduce.cuh`).
struct SumSchedule {
    /// Blocks for all results, if one block sums up a row.
    blocks: f64,
    /// Blocks that run at once.
    at_once: f64,
    /// Blocks that share a row. The last one that ends joins their parts.
    shares: f64,
    /// Elements that a thread adds.
    each: f64,
}

impl SumSchedule {
    fn new(rows: Rows, multiprocessors: f64) -> Self {
        let (blocks, mut each, threads) = if rows.are_columns() {
            // A thread takes as many adjacent columns as it can load at once.
            let vector = [4.0, 2.0].into_iter().find(|n| rows.stride % n == 0.0);
            let vector = vector.unwrap_or(1.0);
            let threads = SUM_THREADS / vector;
            let blocks = (rows.count / (WARP * vector)).max(1.0);
            (blocks, rows.width * WARP / threads, threads)
        } else {
            // A warp takes a row, or a part of a warp a shorter one, unless rows are long.
            let part = rows.width.log2().floor().exp2().min(WARP);
            let together = rows.count.log2().floor().exp2().min(SUM_THREADS / part);
            let each = rows.width * together / SUM_THREADS;
            if each >= (LEAST_SHARE * together).min(SHARED_ROW) {
                (rows.count, rows.width / SUM_THREADS, SUM_THREADS)
            } else {
                (rows.count / together, each, SUM_THREADS)
            }
        };
        let at_once = multiprocessors * (THREADS / threads).floor();
        let mut shares = 1.0;
        if each >= SHARED_ROW && blocks <= at_once {
            let most = (at_once / blocks).min(each / LEAST_SHARE);
            shares = most.max(each / SHARED_ROW).max(1.0);
            each /= shares;
        }
        Self {
            blocks,
            at_once,
            shares,
            each,
        }
    }
}

impl KernelView<'_> {
    /// The kernel of one reduction.
    pub(super) fn library_rows(&self, m: &Measured) -> Breakdown {
        let Some(&id) = self.launch.reductions.first() else {
            return Breakdown::default();
        };
        let op = &self.model.graph.ops[id];
        let rows = Rows::of_op(self.model.graph, id);
        let times = &m.library_row;
        let (what, per_s) = match op.function {
            Some(function) if function.is_softmax() => return self.softmax(m, op, rows),
            Some(function) if function.is_pool() => (RatedWork::Pool, m.library_pool_per_s),
            Some(Function::GroupNorm | Function::BatchNormTrain) => {
                return self.channel_norm(m, op, rows);
            }
            Some(Function::RmsNorm | Function::LayerNorm) => {
                (RatedWork::Norm, m.library_layer_norm_per_s)
            }
            _ => return self.sum(m, op, rows),
        };
        let row_element_s = match op.function {
            Some(Function::RmsNorm) => times.rms_norm_element_s,
            Some(Function::LayerNorm) => times.layer_norm_element_s,
            // A pool reduces windows.
            _ => 0.0,
        };
        let moved = bytes(m, self.launch.moved(), 0.0);
        let row = one_row(rows.width, row_element_s);
        Breakdown::overlapping(
            [class(what, rows.elements(), per_s), row, moved],
            m.kernel_s,
        )
    }

    fn sum(&self, m: &Measured, op: &Op, rows: Rows) -> Breakdown {
        let times = &m.library_row;
        let schedule = SumSchedule::new(rows, self.model.multiprocessors);
        let is_columns = rows.are_columns();
        let element_s = if is_columns {
            times.column_element_s
        } else {
            times.sum_element_s
        };
        let mut row = one_row(schedule.each, element_s);
        // The last block reads the parts of all others: side by side along a row, one after the
        // other of columns.
        let join_s = match schedule.shares {
            ..=1.0 => 0.0,
            shares if is_columns => times.joined_sum_s + shares * times.column_element_s,
            _ => times.joined_sum_s,
        };
        let moved = bytes(m, self.launch.moved(), 0.0);
        let phases = if op.function.is_some_and(keeps_pair) {
            // Its class is a rate of whole blocks, which includes what their threads exchange.
            let class = class(RatedWork::Sum, rows.elements(), m.library_pair_per_s);
            row.add(RatedWork::RowWaves, 1.0, 1.0 / times.pair_s);
            smallvec![smallvec![class, row, moved]]
        } else {
            let mut waits = BreakdownPart::new("waits for rows");
            let waves = (schedule.blocks / schedule.at_once).max(1.0);
            waits.add(RatedWork::RowWaves, waves, 1.0 / times.sum_s);
            smallvec![smallvec![row, moved], smallvec![waits]]
        };
        Breakdown {
            phases,
            fixed_s: m.kernel_s + join_s,
            pipeline_s: join_s,
        }
    }

    fn softmax(&self, m: &Measured, op: &Op, rows: Rows) -> Breakdown {
        let times = &m.library_row;
        let again_bytes = self.softmax_read_again_bytes(op, rows);
        let moved_bytes = self.launch.moved().bytes as f64;
        let moved = bytes(m, self.launch.moved(), again_bytes);
        if rows.are_columns() {
            // A thread takes a column; of few columns, several threads share one.
            let threads = rows.stride.min(SOFTMAX_THREADS);
            let mut sharing = 1.0;
            if threads <= SHARED_COLUMNS && rows.width >= SHARED_COLUMNS {
                while 2.0 * sharing * threads <= SOFTMAX_THREADS && 2.0 * sharing <= rows.width {
                    sharing *= 2.0;
                }
            }
            let outer = rows.count / rows.stride;
            let blocks = outer * (rows.stride / threads).ceil();
            let waves = (blocks / self.model.multiprocessors).max(1.0);
            let mut steps = waves * rows.width / sharing;
            if sharing > 1.0 {
                // Its threads exchange what they found.
                steps *= 2.0;
            }
            // Each step waits for an element. As measured, it comes from the cache if that holds
            // the rows and the result.
            let share = ramp(moved_bytes / m.l2_kept_bytes, 0.8, 2.4);
            let per_s = 1.0 / between(times.softmax_column_element_s, share);
            let class = class(RatedWork::RowElements, steps, per_s);
            return Breakdown::overlapping([class, moved], m.kernel_s);
        }
        let (what, per_s) = match rows.width {
            ..=SHORT_WARP_ROW => (RatedWork::Softmax, m.library_short_softmax_per_s),
            ..=WARP_ROW => (RatedWork::Softmax, m.library_softmax_per_s),
            ..=BLOCK_ROW => (RatedWork::WideSoftmax, m.library_wide_softmax_per_s),
            _ => (RatedWork::WideSoftmax, m.library_long_softmax_per_s),
        };
        let class = class(what, rows.elements(), per_s);
        let row = if rows.width <= WARP_ROW {
            one_row(rows.width, times.warp_softmax_element_s)
        } else {
            let mut row = one_row(rows.width.min(BLOCK_ROW), times.softmax_element_s);
            let rest = one_row(rows.width - BLOCK_ROW, times.long_softmax_element_s);
            row.shares.extend(rest.shares);
            row
        };
        Breakdown::overlapping([class, row, moved], m.kernel_s)
    }

    /// Bytes that the kernel reads again, in further passes over its rows.
    pub(super) fn library_read_again_bytes(&self) -> f64 {
        let again_bytes = |&id: &OpId| {
            let op = &self.model.graph.ops[id];
            let rows = Rows::of_op(self.model.graph, id);
            match op.function {
                Some(function) if function.is_softmax() => self.softmax_read_again_bytes(op, rows),
                // It reads its rows twice, as many at once as fill the threads of the device.
                Some(Function::LayerNorm) => {
                    let row_bytes = rows.width * op.bytes_per_element.bytes();
                    let at_once = self.model.multiprocessors * (THREADS / NORM_THREADS);
                    self.lost_bytes(rows.count * row_bytes, at_once.min(rows.count) * row_bytes)
                }
                _ => 0.0,
            }
        };
        self.launch.ops.iter().map(again_bytes).sum()
    }

    /// Those of a softmax: over a row that no block holds it makes three passes.
    fn softmax_read_again_bytes(&self, op: &Op, rows: Rows) -> f64 {
        let row_bytes = rows.width * op.bytes_per_element.bytes();
        if rows.are_columns() || row_bytes <= SHARED_ROW_BYTES {
            return 0.0;
        }
        let blocks = self.model.multiprocessors * (THREADS / SOFTMAX_THREADS);
        let at_once = blocks.min(rows.count) * row_bytes;
        2.0 * self.lost_bytes(rows.count * row_bytes, at_once)
    }
}

/// So much work at the rate of a class of library kernels.
pub(super) fn class(what: RatedWork, amount: f64, per_s: f64) -> BreakdownPart {
    let mut class = BreakdownPart::new("library kernel");
    class.add(what, amount, per_s);
    class
}

/// One row, or the part of one thread, whose elements follow each other.
pub(super) fn one_row(elements: f64, each_s: f64) -> BreakdownPart {
    let mut row = BreakdownPart::new("one row");
    row.add(RatedWork::RowElements, elements, 1.0 / each_s);
    row
}

/// Whether a library's reduction keeps two numbers: a mean and a variance, or a value and its
/// index.
const fn keeps_pair(function: Function) -> bool {
    matches!(
        function,
        Function::Var | Function::Argmax | Function::Argmin
    )
}
