//! What follows a matmul, and whether it runs on its tile, in words.

use super::{TilingReport, exact};
use crate::present::names::{counted, op_name, quoted_op};
use crate::present::reasons::reason_text;
use fuseline_core::Analysis;
use fuseline_core::analysis::tiling::{Follower, Needs, Tiled};
use fuseline_core::model::op_type::OpType;

/// An op that follows the matmul.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitRow {
    /// Its name.
    pub op: String,
    /// Whether it runs on the tile, in one or two words.
    pub verdict: &'static str,
    /// Why.
    pub reason: String,
    /// Whether the tile lacks what the op needs.
    pub is_refused: bool,
}

/// A row for each op that follows.
pub fn fit_rows(analysis: &Analysis, report: &TilingReport) -> Vec<FitRow> {
    let rows = report.followers.iter();
    rows.map(|follower| FitRow {
        op: op_name(&analysis.graph, follower.op).to_owned(),
        verdict: match (follower.fits, follower.joins()) {
            (_, true) => "can join",
            (true, false) => "fits, but stays separate",
            (false, _) => "cannot join",
        },
        reason: reason(analysis, &report.tiled, follower),
        is_refused: !follower.fits,
    })
    .collect()
}

/// The first op that the tile refuses.
pub fn first_refused(report: &TilingReport) -> Option<&Follower> {
    report.followers.iter().find(|follower| !follower.fits)
}

fn reason(analysis: &Analysis, tiled: &Tiled, follower: &Follower) -> String {
    let needs = needs_text(analysis, tiled, follower);
    let then = match &follower.refusal {
        None if follower.is_in_kernel => "The chosen policy fuses it into this kernel.".to_owned(),
        None => "The chosen policy keeps it separate.".to_owned(),
        Some(_) if follower.is_in_kernel => {
            "The chosen policy still fuses it into this kernel, because fused attention keeps a running maximum and sum instead of whole rows."
                .to_owned()
        }
        Some(reason) if follower.fits => {
            format!("Still separate: {}.", reason_text(&analysis.graph, reason))
        }
        Some(_) => return needs,
    };
    format!("{needs} {then}")
}

/// What the op needs, and what the tile has.
pub fn needs_text(analysis: &Analysis, tiled: &Tiled, follower: &Follower) -> String {
    let name = quoted_op(&analysis.graph, follower.op);
    let is_matmul = analysis.graph.ops[follower.op].op_type == OpType::Matmul;
    let (matmul, tile) = (&tiled.matmul, tiled.tile);
    match follower.needs {
        Needs::Element => {
            "It needs one element per result, which the block has in registers.".to_owned()
        }
        Needs::Moved => {
            "It needs one element per result, and the block stores it at another position."
                .to_owned()
        }
        Needs::Scattered => {
            format!(
                "{name} needs elements that are far apart in the output, and no tile holds them together."
            )
        }
        Needs::Block { rows: 1, columns } => {
            let all = if columns == matmul.columns {
                "all "
            } else {
                ""
            };
            let what = if is_matmul { "sums over" } else { "needs" };
            let count = counted_u64(columns, "column");
            let has = tile.columns.min(matmul.columns);
            format!(
                "{name} {what} {all}{count} of a row, and this tile has {}.",
                exact(has)
            )
        }
        Needs::Block { rows, columns: 1 } => {
            let all = if rows == matmul.rows { "all " } else { "" };
            let what = if is_matmul { "sums over" } else { "needs" };
            let count = counted_u64(rows, "row");
            let has = tile.rows.min(matmul.rows);
            format!(
                "{name} {what} {all}{count} of a column, and this tile has {}.",
                exact(has)
            )
        }
        Needs::Block { rows, columns } => format!(
            "{name} needs {} of {} at once, and this tile has {} × {}.",
            counted_u64(rows, "row"),
            counted_u64(columns, "column"),
            exact(tile.rows.min(matmul.rows)),
            exact(tile.columns.min(matmul.columns)),
        ),
    }
}

fn counted_u64(count: u64, thing: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), thing)
}
