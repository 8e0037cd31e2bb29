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
    /// Whether the tile does not have what it needs.
    pub is_refused: bool,
}

/// A row for each op that follows.
pub fn fit_rows(analysis: &Analysis, report: &TilingReport) -> Vec<FitRow> {
    let rows = report.followers.iter();
    rows.map(|follower| FitRow {
        op: op_name(&analysis.graph, follower.op).to_owned(),
        verdict: match (follower.fits, follower.joins()) {
            (_, true) => "joins",
            (true, false) => "fits, stays apart",
            (false, _) => "refused",
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
        None if follower.is_in_kernel => "The chosen policy has it in this kernel.".to_owned(),
        None => "It may join; the chosen policy keeps it apart.".to_owned(),
        Some(_) if follower.is_in_kernel => {
            "The chosen policy has it in this kernel all the same: attention keeps a running maximum and sum in place of whole rows."
                .to_owned()
        }
        Some(reason) if follower.fits => {
            format!("Still apart: {}.", reason_text(&analysis.graph, reason))
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
            "Needs one element for each result, which the block has in registers.".to_owned()
        }
        Needs::Moved => {
            "Needs one element for each result and puts it elsewhere: the block stores it there."
                .to_owned()
        }
        Needs::Scattered => {
            format!(
                "{name} needs elements that lie apart in the output; no tile has them together."
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
                "{name} {what} {all}{count} of a row; this tile has {}.",
                exact(has)
            )
        }
        Needs::Block { rows, columns: 1 } => {
            let all = if rows == matmul.rows { "all " } else { "" };
            let what = if is_matmul { "sums over" } else { "needs" };
            let count = counted_u64(rows, "row");
            let has = tile.rows.min(matmul.rows);
            format!(
                "{name} {what} {all}{count} of a column; this tile has {}.",
                exact(has)
            )
        }
        Needs::Block { rows, columns } => format!(
            "{name} needs {} of {} at once; this tile has {} × {}.",
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
