//! Memory traffic of a kernel by tensor, beside that of its ops as separate kernels.

use super::sizes::size_text;
use fuseline_core::analysis::Analysis;
use fuseline_core::cost::traffic::Access;
use fuseline_core::model::graph::SizeSource;
use fuseline_core::model::ids::{IdVec, KernelId, OpId, TensorId, define_ids};
use std::collections::HashMap;

/// Memory traffic of one tensor in a kernel, beside that of its ops as separate kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    pub tensor: TensorId,
    /// Bytes that the fused kernel reads.
    pub bytes_read: u64,
    /// Bytes that the fused kernel writes.
    pub bytes_written: u64,
    /// Bytes that its ops read or write as separate kernels and the fused kernel does not.
    pub bytes_vanished: u64,
    /// Where the size comes from.
    pub source: SizeSource,
    /// Factors of the bytes of one access: `2048 × 4096 × 2 B`.
    pub size: String,
}

/// Every tensor that the ops of a fused kernel touch, in order of first use. `O(accesses)` of the
/// kernel.
pub fn ledger(analysis: &Analysis, kernel: KernelId) -> Vec<LedgerRow> {
    let Some(fused) = analysis.fused.kernels.get(kernel) else {
        return Vec::new();
    };
    let mut ledger = Ledger {
        analysis,
        rows: IdVec::new(),
        row_of: HashMap::new(),
    };
    for &op in &fused.ops {
        let alone = &analysis.unfused.of_lone_op(op).traffic;
        for &access in alone.reads.iter().chain(&alone.writes) {
            ledger.row(op, access).bytes_vanished += access.bytes;
        }
    }
    let Some(&last) = fused.ops.last() else {
        return Vec::new();
    };
    for &access in &fused.traffic.reads {
        let row = ledger.row(last, access);
        row.bytes_read += access.bytes;
        row.bytes_vanished = row.bytes_vanished.saturating_sub(access.bytes);
    }
    for &access in &fused.traffic.writes {
        let row = ledger.row(last, access);
        row.bytes_written += access.bytes;
        row.bytes_vanished = row.bytes_vanished.saturating_sub(access.bytes);
    }
    ledger.rows.into_iter().collect()
}

define_ids! {
    /// A row of the ledger.
    struct RowId;
}

struct Ledger<'a> {
    analysis: &'a Analysis,
    rows: IdVec<RowId, LedgerRow>,
    row_of: HashMap<TensorId, RowId>,
}

impl Ledger<'_> {
    /// The row of the tensor that `op` accesses; a new one at its first access.
    fn row(&mut self, op: OpId, access: Access) -> &mut LedgerRow {
        let row = *self.row_of.entry(access.tensor).or_insert_with(|| {
            self.rows.push(LedgerRow {
                tensor: access.tensor,
                bytes_read: 0,
                bytes_written: 0,
                bytes_vanished: 0,
                source: access.source,
                size: size_text(self.analysis, op, access),
            })
        });
        &mut self.rows[row]
    }
}
