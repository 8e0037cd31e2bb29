//! What a search has proven about its result, in words.

use crate::core::fusion::certificate::Certificate;
use crate::present::decisions::amount_text;
use crate::present::format::{format_exact, format_percent};

/// Whether the result is proven optimal, or how far from the optimum it is at most, in a few words.
pub fn certificate_text(certificate: &Certificate) -> String {
    if certificate.is_optimal {
        return format!("proven optimal in {}", certificate.objective.name());
    }
    let found = match certificate.excess_pct() {
        Some(excess) => format!("at most {} above the optimum", format_percent(excess)),
        None => "not proven".to_owned(),
    };
    let states = format_exact(certificate.states as u128);
    format!("{found}; search stopped after {states} states")
}

/// The same in a sentence, with the lower bound and the states that the search visited.
pub fn certificate_sentence(certificate: &Certificate) -> String {
    let states = certificate.states;
    let objective = certificate.objective.name();
    if certificate.is_optimal {
        return format!("optimal in {objective}: no legal kernels need less ({states} states)");
    }
    format!(
        "best found in {objective}, not proven: no legal kernels need less than {}, a gap of {} ({states} states)",
        amount_text(certificate.lower_bound),
        format_percent(certificate.gap_pct())
    )
}
