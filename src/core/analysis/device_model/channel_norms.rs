//! Times of a library's norms of channels, or of groups of them, by the kernels of PyTorch 2.11 and
//! of the cuDNN that it calls.

use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::library_rows::{THREADS, class, one_row};
use crate::analysis::device_model::time::bytes;
use crate::analysis::device_model::{KernelView, Rows, between, ramp};
use crate::model::device::Measured;
use crate::model::dtype::DType;
use crate::model::functions::Function;
use crate::model::op::Op;
use smallvec::{SmallVec, smallvec};

/// Threads of the block that takes the mean and the variance of a channel or group.
const MOMENTS_THREADS: f64 = 512.0;
/// PyTorch starts about so many blocks of the elements of a batch norm.
const ELEMENT_BLOCKS: f64 = 262_144.0;
/// Channels of up to so many elements are held in registers by cuDNN, one by one or in pairs.
/// Measured: it holds 25,088 and not 31,360; of pairs 75,264 and not 100,352.
const HELD_CHANNEL: f64 = 28_672.0;
const HELD_PAIRS: f64 = 3.0 * HELD_CHANNEL;

/// Parts that overlap.
type Phase = SmallVec<[BreakdownPart; 4]>;

impl KernelView<'_> {
    /// A norm of channels or groups of them. cuDNN has one kernel for a batch norm in f16 and f32.
    /// All others are three: the mean and variance of each channel or group by a block, their
    /// factors, and the elements.
    pub(super) fn channel_norm(&self, m: &Measured, op: &Op, rows: Rows) -> Breakdown {
        let is_batch = op.function == Some(Function::BatchNormTrain);
        let blocks = self.model.multiprocessors * (THREADS / MOMENTS_THREADS);
        let waves = (rows.count / blocks).max(1.0);
        let mut waits = BreakdownPart::new("waits for rows");
        waits.add(RatedWork::RowWaves, waves, 1.0 / m.library_row.moments_s);
        let (phases, fixed_s) = if is_batch && op.dtype != Some(DType::Bf16) {
            let norm = self.cudnn_batch_norm(m, op, rows);
            (smallvec![smallvec![waits], norm], m.kernel_s)
        } else {
            let moments = self.moments(m, rows, 1.0);
            let elements = self.normed_elements(m, op, rows);
            // A group norm broadcasts two factors for each channel of each image.
            let strided_s = if is_batch { 0.0 } else { m.strided_s };
            let phases = smallvec![smallvec![waits], moments, elements];
            (phases, 3.0 * m.kernel_s + strided_s)
        };
        Breakdown {
            phases,
            fixed_s,
            pipeline_s: fixed_s - m.kernel_s,
        }
    }

    /// The mean and variance of each row in so many passes.
    fn moments(&self, m: &Measured, rows: Rows, passes: f64) -> Phase {
        let read = self.launch.read;
        // A thread waits for each of its elements: for the cache, if that holds the rows.
        let share = ramp(read.bytes as f64 / m.l2_kept_bytes, 0.8, 1.0);
        let wait_s = between(m.library_row.moments_element_s, share);
        let elements = passes * rows.elements();
        smallvec![
            class(RatedWork::Norm, elements, m.library_moments_per_s),
            one_row(rows.width / MOMENTS_THREADS, wait_s),
            bytes(m, read, 0.0),
        ]
    }

    /// The elements: of a batch norm a block for each channel and image, until there are very many.
    fn normed_elements(&self, m: &Measured, op: &Op, rows: Rows) -> Phase {
        let mut parts = smallvec![
            class(RatedWork::Strided, rows.elements(), m.strided_per_s),
            bytes(m, self.launch.moved(), 0.0),
        ];
        if let Some(plane) = plane(op, rows) {
            let images = (rows.width / plane).min((ELEMENT_BLOCKS / rows.count).max(1.0));
            let waves = rows.count * images / self.model.multiprocessors;
            let mut starts = BreakdownPart::new("starts of blocks");
            starts.add(
                RatedWork::RowWaves,
                waves,
                1.0 / m.library_row.block_start_s,
            );
            parts.push(starts);
        }
        parts
    }

    /// All of a batch norm in one kernel, which holds a channel if it is short.
    fn cudnn_batch_norm(&self, m: &Measured, op: &Op, rows: Rows) -> Phase {
        let moved = bytes(m, self.launch.moved(), 0.0);
        let is_even = plane(op, rows).is_some_and(|plane| plane % 2.0 == 0.0);
        let in_pairs = is_even && op.bytes_per_element.bytes() <= 2.0;
        let [single_per_s, pair_per_s] = m.library_held_channel_per_s;
        let (most, per_s) = if in_pairs {
            (HELD_PAIRS, pair_per_s)
        } else {
            (HELD_CHANNEL, single_per_s)
        };
        if rows.width <= most {
            return smallvec![class(RatedWork::Norm, rows.elements(), per_s), moved];
        }
        let mut parts = self.moments(m, rows, 2.0);
        parts.push(moved);
        parts
    }
}

/// Elements of a channel of a batch norm that lie side by side: those of one image. `None` where an
/// image has one, and of other ops.
pub(super) fn plane(op: &Op, rows: Rows) -> Option<f64> {
    if op.function != Some(Function::BatchNormTrain) {
        return None;
    }
    let plane = rows.width / *op.shape.first()? as f64;
    (plane > 1.0).then_some(plane)
}
