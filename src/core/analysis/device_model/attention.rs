//! Time of attention by its schedule.

use crate::analysis::device_model::KernelView;
use crate::analysis::device_model::breakdown::{Breakdown, BreakdownPart, RatedWork};
use crate::analysis::device_model::time::bytes;
use crate::fusion::attention::{AttentionShape, ScheduledAttention};
use crate::model::device::Measured;

impl KernelView<'_> {
    /// Attention by its schedule. A block computes a tile of queries of one head and loops over
    /// all keys, and waves of blocks follow each other. Of one query, a block loads K and V for
    /// all heads that share them; if such blocks leave most multiprocessors idle, the keys are
    /// split among more of them, and a second kernel joins the parts.
    pub(super) fn attention(&self, m: &Measured, matrix_per_s: f64) -> Breakdown {
        /// Queries of a tile.
        const TILE: f64 = 128.0;
        /// The fewest keys that are split, as measured: not 512, but 1024.
        const SPLIT_FROM_KEYS: u64 = 1024;
        let moved = self.launch.moved();
        let attention = ScheduledAttention::of_kernel(self.model.graph, self.launch.ops);
        let Some(ScheduledAttention { shape, value_size }) = attention else {
            // Without a shape no schedule is known: only its FLOPs and bytes are left.
            let mut compute = BreakdownPart::new("arithmetic");
            let flops = self.launch.work.matrix_flops as f64;
            compute.add(RatedWork::MatrixFlops, flops, matrix_per_s);
            return Breakdown::overlapping([compute, bytes(m, moved, 0.0)], m.attention_s);
        };
        let graph = self.model.graph;
        let call = AttentionShape::call_among(graph, self.launch.ops);
        // A mask is the fourth input of a call.
        let is_masked = call.is_some_and(|op| graph.inputs[op].len() > 3);
        let is_causal = call.is_some_and(|op| graph.ops[op].is_causal);
        let [heads, keys] = [shape.heads as f64, shape.keys as f64];
        let multiprocessors = self.model.multiprocessors;
        let mut schedule = BreakdownPart::new("loop over keys");
        let mut fixed_s = m.attention_s;
        if shape.queries == 1 {
            let blocks = heads / shape.group as f64;
            if 2.0 * blocks <= multiprocessors && shape.keys >= SPLIT_FROM_KEYS {
                fixed_s += m.split_attention_s;
            } else {
                let waves = (blocks / multiprocessors).ceil();
                let columns = shape.head_size + value_size;
                let row_bytes = (columns * u64::from(shape.key_bytes_per_element)) as f64;
                let loaded_bytes = waves * keys * row_bytes;
                let per_s = m.attention_load_bytes_per_s;
                schedule.add(RatedWork::CacheBytes, loaded_bytes, per_s);
                schedule.add(RatedWork::Waves, waves - 1.0, 1.0 / m.attention_block_s);
            }
        } else {
            let blocks = heads * (shape.queries as f64 / TILE).ceil();
            let waves = (blocks / multiprocessors).ceil();
            // A block loads keys by tiles, too.
            let keys = keys.max(TILE);
            let all = waves * keys;
            let steps = if is_causal {
                // Blocks with many keys start first, so what the last ones take is not shared.
                let mean = keys / 2.0 + TILE / 2.0;
                (blocks / multiprocessors * mean + keys).min(all)
            } else {
                all
            };
            // Each of the two products takes its own time, as measured with heads of 192 for Q and
            // K and of 128 for V, of 96 and 64, and of 256 and 128.
            let one_s = f64::midpoint(key_s(m, shape.head_size), key_s(m, value_size));
            let one_s = if is_masked {
                one_s * m.masked_attention_share
            } else {
                one_s
            };
            schedule.add(RatedWork::Keys, steps, 1.0 / one_s);
            schedule.add(RatedWork::Waves, waves - 1.0, 1.0 / m.attention_block_s);
        }
        let again_bytes = self.attention_read_again_bytes();
        Breakdown {
            pipeline_s: fixed_s - m.kernel_s,
            ..Breakdown::overlapping([schedule, bytes(m, moved, again_bytes)], fixed_s)
        }
    }
}

/// Time of a tile of keys with heads of this size for Q, K and V, in seconds per key. Heads are
/// padded to 64, 128, 192 or 256 elements; larger ones have no measured time.
fn key_s(m: &Measured, head_size: u64) -> f64 {
    let [of_64, of_128, of_192, of_256] = m.attention_key_s;
    match head_size {
        ..=64 => of_64,
        65..=128 => of_128,
        129..=192 => of_192,
        _ => of_256,
    }
}
