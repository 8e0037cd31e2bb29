//! What fusion can save at most, in words.

use super::format::{format_percent, format_seconds};
use super::names::listed;
use fuseline_core::Analysis;
use fuseline_core::analysis::fusion_limit::{FusionLimit, fusion_limit};

/// Smallest share of the memory traffic, in percent, that is worth a word.
const LEAST_PERCENT: f64 = 1.0;

/// How much of the memory traffic no fusion policy avoids, and what fusion can save at most; empty
/// where nothing can be said. Takes as long as [`fusion_limit`].
pub fn fusion_limit_text(analysis: &Analysis) -> String {
    fusion_limit(analysis).map_or_else(String::new, limit_text)
}

fn limit_text(limit: FusionLimit) -> String {
    let percent = |bytes: u64| bytes as f64 / limit.total_bytes as f64 * 100.0;
    let read = [
        ("weights", limit.weight_bytes),
        ("inputs", limit.input_bytes),
    ];
    let read = read.map(|(name, bytes)| (name, percent(bytes)));
    let mut shares = read
        .into_iter()
        .filter(|&(_, share)| share >= LEAST_PERCENT);
    let reads = match (shares.next(), shares.next()) {
        (None, _) => String::new(),
        (Some((name, share)), None) => format!(
            "{} of the memory traffic is {name}, which every fusion policy reads at least once. ",
            format_percent(share)
        ),
        (Some(first), Some(second)) => {
            let shares =
                [first, second].map(|(name, share)| format!("{} is {name}", format_percent(share)));
            format!(
                "Of the memory traffic, {}. Every fusion policy reads both at least once. ",
                listed(shares.into())
            )
        }
    };
    let bound = format_seconds(limit.bound_s);
    let saved = format_seconds(limit.saved_s());
    if limit.saved_s() <= limit.bound_s * LEAST_PERCENT / 100.0 {
        return format!(
            "{reads}Fusion is done: no fusion policy lowers the lower bound of the time, {bound}, by 1 % or more."
        );
    }
    format!("{reads}Fusion can lower the lower bound of the time, {bound}, by at most {saved}.")
}
