//! The arithmetic behind an expected time, in words.

use super::figure::breakdown_worked;
use super::format::format_seconds;
use crate::core::analysis::device_model::Breakdown;

/// How an expected time is computed: a line for each part that takes time, and one for the whole. `kind` names such times.
pub fn breakdown_lines(breakdown: &Breakdown, kind: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut terms = Vec::new();
    for phase in breakdown_worked(breakdown).terms {
        lines.extend(phase.terms().iter().map(|part| {
            let shares = part.terms().iter();
            let shares = shares.filter_map(|share| share.worked.as_ref()?.line());
            let shares: Vec<String> = shares.collect();
            let seconds = part.text();
            format!("{kind}, {}: {} = {seconds}", part.name, shares.join(" + "))
        }));
        terms.push(match phase.worked {
            Some(_) => phase.name,
            None => format!("{} {}", phase.text(), phase.name),
        });
    }
    let seconds = format_seconds(breakdown.time_s());
    lines.push(format!("{kind}: {} = {seconds}", terms.join(" + ")));
    lines
}
