//! Times of generated kernels along rows: reductions and what is fused with them.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::channel_norms::plane;
use crate::analysis::device_model::time::bytes;
use crate::analysis::device_model::{KernelOrigin, KernelView, Rows};
use crate::fusion::inductor::{UnsplitReduction, pieces};
use crate::model::device::Measured;
use crate::model::functions::Function;
use crate::model::options::Policy;
use smallvec::smallvec;

/// A generated kernel holds rows of up to this many elements in registers and reads them once.
const HELD_ROW: f64 = 1024.0;
/// Blocks of 512 threads that a multiprocessor holds.
const ROW_BLOCKS: f64 = 4.0;
/// Blocks of a multiprocessor whose rows wait in the cache for a second pass, as measured.
const TWICE_BLOCKS: f64 = 2.0;
/// Elements that such a block processes at once: one long row or a few short ones.
const ROW_ELEMENTS: f64 = 4096.0;
/// Columns of up to this many elements are held, in blocks of few columns.
const HELD_COLUMN: f64 = 64.0;

/// The rows that a generated kernel reduces, and what it needs for them.
#[derive(Default)]
struct Reduced {
    /// The largest number of its rows and the widest of them; pieces of rows, if a second launch
    /// joins them.
    rows: f64,
    widest: f64,
    /// Elements of all reductions that are not pools, in rows of a power of two.
    padded: f64,
    /// Updates of running statistics.
    online: f64,
    /// The elements of a row that lie side by side, if a channel takes its row from all images.
    plane: Option<f64>,
    /// Whether it reduces along another axis than the last.
    is_columns: bool,
    is_pool: bool,
    /// Whether a launch that is not in the kernels joins pieces of its rows.
    is_joined: bool,
}

impl KernelView<'_> {
    /// A kernel along rows: by its library's schedule, or in passes for a generated one, unless it
    /// holds its rows.
    pub(super) fn rows(&self, m: &Measured) -> Breakdown {
        if self.code == KernelOrigin::Library {
            return self.library_rows(m);
        }
        let reduced = self.reduced();
        let (read, written) = (self.launch.read, self.launch.written);
        let compute = self.arithmetic(m);
        let launches = if reduced.is_joined { 2.0 } else { 1.0 };
        let fixed_s = launches * m.kernel_s;
        // Read once, so in a single phase. A pool reduces windows: the length of its input's last
        // axis says nothing about them.
        if reduced.widest <= HELD_ROW || reduced.is_pool {
            let mut held = BreakdownPart::new("rows in registers");
            let is_short = reduced.widest <= HELD_COLUMN;
            let [short_per_s, long_per_s] = m.online_column_per_s;
            let per_s = match (reduced.is_columns, is_short, reduced.online > 0.0) {
                (true, true, false) => m.column_per_s,
                (true, true, true) => short_per_s,
                (true, false, true) => long_per_s,
                _ => m.held_per_s,
            };
            held.add(RatedWork::HeldElements, reduced.padded, per_s);
            let moved = bytes(m, self.launch.moved(), 0.0);
            return Breakdown::overlapping([moved, held, compute], fixed_s);
        }
        // All passes but the last read, and the last writes; they do not overlap.
        // A row longer than `ROW_ELEMENTS` still takes one block, which loops over it.
        let blocks = reduced.rows / (ROW_ELEMENTS / reduced.widest).floor().max(1.0);
        let waves = (blocks / (self.model.multiprocessors * ROW_BLOCKS)).ceil();
        let mut statistics = BreakdownPart::new("running statistics");
        statistics.add(
            RatedWork::Elements,
            reduced.online,
            self.online_per_s(m, &reduced),
        );
        let mut waits = BreakdownPart::new("waits for rows");
        waits.add(RatedWork::RowWaves, waves, 1.0 / m.row_wave_s);
        // One statistic for each element of the rows, or two.
        let each = reduced.online / (reduced.rows * reduced.widest).max(1.0);
        let writes_rows = self.writes_rows(&reduced);
        let passes = if writes_rows { 2.0 } else { 1.0 };
        let element_s = passes * m.row_element_s + each * m.online_row_element_s;
        let mut row = BreakdownPart::new("one row");
        row.add(RatedWork::RowElements, reduced.widest, 1.0 / element_s);
        let mut first = smallvec![bytes(m, read, 0.0).named("reads"), statistics, row];
        let again_bytes = self.generated_read_again_bytes(&reduced);
        let mut last = smallvec![bytes(m, written, again_bytes).named("writes")];
        // Without a second pass there is nothing that the arithmetic could wait for.
        if writes_rows {
            last.push(compute);
        } else {
            first.push(compute);
        }
        Breakdown {
            // At the barriers of its reductions a row waits for its last thread, and nothing
            // overlaps that.
            phases: smallvec![first, last, smallvec![waits]],
            fixed_s,
            pipeline_s: 0.0,
        }
    }

    /// Updates per second. A row that is not cut needs the place of each element in its image, and
    /// loads planes of an odd size one element at a time.
    fn online_per_s(&self, m: &Measured, reduced: &Reduced) -> f64 {
        let [odd_per_s, even_per_s] = m.online_plane_per_s;
        match reduced.plane {
            Some(plane) if plane % 2.0 == 0.0 => even_per_s,
            Some(_) => odd_per_s,
            None if self.has_variance_of_later_kernel() => m.online_apart_per_s,
            None => m.online_per_s,
        }
    }

    fn has_variance_of_later_kernel(&self) -> bool {
        let mut others = (self.launch.reductions.iter()).filter(|op| !self.launch.ops.contains(op));
        others.any(|&op| {
            let function = self.model.graph.ops[op].function;
            function.is_some_and(Function::takes_variance)
        })
    }

    /// Bytes that the kernel reads again in further passes over its rows.
    pub(super) fn rows_read_again_bytes(&self) -> f64 {
        match self.code {
            KernelOrigin::Library => self.library_read_again_bytes(),
            KernelOrigin::Generated => self.generated_read_again_bytes(&self.reduced()),
        }
    }

    /// Whether it passes over its rows a second time: it writes as much as it reduces.
    fn writes_rows(&self, reduced: &Reduced) -> bool {
        self.launch.written.bytes as f64 >= reduced.rows * reduced.widest
    }

    fn reduced(&self) -> Reduced {
        let mut reduced = Reduced::default();
        let mut has_max = None;
        let has_exp = self.ops().any(|(_, op)| op.function == Some(Function::Exp));
        for &id in self.launch.reductions {
            let op = &self.model.graph.ops[id];
            let rows = Rows::of_op(self.model.graph, id);
            let count = rows.elements();
            // A reduction of fewer rows takes what is left of the rows of the others: the maximum
            // of all elements, beside a norm.
            if rows.count > reduced.rows {
                (reduced.rows, reduced.widest) = (rows.count, rows.width);
            } else if rows.count >= reduced.rows {
                reduced.widest = reduced.widest.max(rows.width);
            }
            reduced.is_columns |= rows.are_columns();
            if op.function.is_some_and(Function::is_pool) {
                reduced.is_pool = true;
                continue;
            }
            let padded = rows.width.log2().ceil().exp2();
            reduced.padded = reduced.padded.max(rows.count * padded);
            match op.function {
                Some(function) if function.takes_variance() => {
                    reduced.online += count;
                    if function == Function::BatchNormTrain {
                        reduced.plane = plane(op, rows);
                    }
                }
                // The sum is scaled whenever the maximum changes.
                Some(function) if function.is_softmax() => reduced.online += 2.0 * count,
                Some(Function::Max) => has_max = Some(count),
                _ => {}
            }
        }
        // Softmax as single ops costs what the function costs: a running maximum and a running sum.
        if let (Some(count), true) = (has_max, has_exp) {
            reduced.online += 2.0 * count;
        }
        // Pieces of long rows fill the device, and a second launch joins them. Whoever writes a
        // kernel by hand cuts few long rows as the compiler does, in whose kernels it is decided.
        reduced.is_joined = self.model.options.policy != Policy::Inductor
            && !reduced.is_pool
            && !self.writes_rows(&reduced)
            && self.is_cut(&reduced);
        if self.launch.is_split || reduced.is_joined {
            let blocks = self.model.multiprocessors * ROW_BLOCKS;
            let pieces = (blocks / reduced.rows.max(1.0)).max(1.0);
            reduced.rows *= pieces;
            reduced.widest /= pieces;
            reduced.plane = None;
        }
        reduced
    }

    /// Whether the compiler would cut such rows into pieces.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rows, their elements and multiprocessors are counts"
    )]
    fn is_cut(&self, reduced: &Reduced) -> bool {
        let whole = UnsplitReduction {
            rows: reduced.rows as u64,
            width: reduced.widest as u64,
            is_inner: !reduced.is_columns,
        };
        pieces(whole, self.model.multiprocessors as u64) > 1
    }

    /// Bytes that a generated kernel reads again in its second pass over rows that the cache has
    /// lost since its first.
    fn generated_read_again_bytes(&self, reduced: &Reduced) -> f64 {
        let is_twice = reduced.widest > HELD_ROW && !reduced.is_pool && self.writes_rows(reduced);
        if !is_twice {
            return 0.0;
        }
        let read = self.launch.read.bytes as f64;
        let blocks = self.model.multiprocessors * TWICE_BLOCKS;
        self.lost_bytes(read, read * (blocks / reduced.rows).min(1.0))
    }
}
