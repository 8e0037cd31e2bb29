//! The arithmetic behind a predicted time, in words.

use super::derivation::Term;
use super::format::format_seconds;
use super::time_derivations::breakdown_derivation;
use fuseline_core::analysis::device_model::Breakdown;

/// How a predicted time is computed: a line for each part that takes time, and one for the whole.
/// `kind` names such times.
pub fn breakdown_lines(breakdown: &Breakdown, kind: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut terms = Vec::new();
    for phase in breakdown_derivation(breakdown).terms {
        lines.extend(
            phase
                .terms()
                .iter()
                .map(|part| format!("{kind}, {}: {}", part.name, arithmetic(part))),
        );
        terms.push(match phase.derivation {
            Some(_) => phase.name,
            None => format!("{} {}", phase.text(), phase.name),
        });
    }
    let seconds = format_seconds(breakdown.time_s());
    lines.push(format!("{kind}: {} = {seconds}", terms.join(" + ")));
    lines
}

/// What takes the most of a predicted time, with its arithmetic:
/// `53.2 GFLOP in whole waves of tiles / 800 TFLOP/s = 66.4 µs`.
pub fn longest_part(breakdown: &Breakdown) -> Option<String> {
    let phases = breakdown_derivation(breakdown).terms;
    let parts = phases.iter().flat_map(Term::terms);
    let longest = parts.max_by(|a, b| a.number.value().total_cmp(&b.number.value()))?;
    Some(arithmetic(longest))
}

/// The shares of a part, and their time.
fn arithmetic(part: &Term) -> String {
    let shares = part.terms().iter();
    let shares: Vec<String> = shares
        .filter_map(|share| share.derivation.as_ref()?.line())
        .collect();
    format!("{} = {}", shares.join(" + "), part.text())
}
