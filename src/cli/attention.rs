//! Attention kernels: their tiles, and their bytes by two counts.

use fuseline_core::fusion::attention::{AttentionShape, LoopOrder, Tiles};
use fuseline_core::{Analysis, KernelId};
use fuseline_view::present::format::{format_bytes, format_exact};
use fuseline_view::present::names::op_name;
use serde::Serialize;
use std::fmt::Write as _;

/// A kernel that computes attention, because an option or the compiler fuses it.
#[derive(Serialize)]
pub(super) struct AttentionReport<'a> {
    /// Its index in the list of kernels, from 0.
    kernel: KernelId,
    /// Names of its ops.
    ops: Vec<&'a str>,
    #[serde(flatten)]
    shape: AttentionShape,
    #[serde(flatten)]
    tiles: Tiles,
    /// Bytes of Q, K, V and the result, with each tensor counted once.
    bytes_once: u64,
    /// The same bytes, with K and V read again for each tile of Q.
    bytes_tiled: u64,
    /// Which of the two counts the figures of the kernel use.
    counted: &'static str,
    /// Bytes of K and V of one head. If they fit in the cache, DRAM sees every tensor once.
    key_value_bytes_of_head: u64,
    fits_cache: Option<bool>,
}

pub(super) fn attentions(analysis: &Analysis) -> Vec<AttentionReport<'_>> {
    let (graph, device) = (&analysis.graph, &analysis.options.device);
    let kernels = analysis.partition.kernels.iter_enumerated();
    kernels
        .filter_map(|(kernel, ops)| {
            let shape = AttentionShape::of_kernel(graph, ops)?;
            let tiles = Tiles::new(&shape, device.on_chip_bytes());
            let head_bytes = shape.head_bytes();
            let cache = device.hardware.l2_bytes;
            Some(AttentionReport {
                kernel,
                ops: ops.iter().map(|&op| op_name(graph, op)).collect(),
                shape,
                tiles,
                bytes_once: shape.compulsory_bytes(),
                bytes_tiled: shape.forward_bytes(&tiles, LoopOrder::default()),
                counted: "bytes_once",
                key_value_bytes_of_head: head_bytes,
                fits_cache: cache.map(|cache| head_bytes as f64 <= cache.value),
            })
        })
        .collect()
}

/// A few lines of text for each attention kernel.
pub(super) fn attention_lines(analysis: &Analysis) -> String {
    let exact = |n: u64| format_exact(n.into());
    let mut text = String::new();
    for of in attentions(analysis) {
        let _ = writeln!(
            text,
            "\nkernel {} is attention: {} heads of {} queries × {} keys × {}; tiles of Q: B_r = {}, T_r = {}; tiles of K and V: B_c = {}, T_c = {}",
            of.kernel.number(),
            exact(of.shape.heads),
            exact(of.shape.queries),
            exact(of.shape.keys),
            of.shape.head_size,
            exact(of.tiles.query_rows),
            exact(of.tiles.query_tiles),
            exact(of.tiles.key_rows),
            exact(of.tiles.key_tiles),
        );
        let _ = writeln!(
            text,
            "  Q, K, V and the result: {} of compulsory traffic, if each is a separate tensor; {} of memory traffic without a cache",
            format_bytes(of.bytes_once),
            format_bytes(of.bytes_tiled),
        );
        let cache = match of.fits_cache {
            Some(true) => {
                "fit in the last-level cache, so memory traffic is about the compulsory traffic"
            }
            Some(false) => "do not fit in the last-level cache, so reloaded tiles come from memory",
            None => "may fit in a cache of unknown size",
        };
        let head = format_bytes(of.key_value_bytes_of_head);
        let _ = writeln!(text, "  K and V of one head, {head}, {cache}");
    }
    text
}
