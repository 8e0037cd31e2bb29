//! What a search has proven about its result, in words.

use crate::present::decisions::amount_text;
use crate::present::format::{format_exact, format_percent};
use fuseline_core::fusion::certificate::{Certificate, Scope};
use fuseline_core::model::options::Objective;

/// Whether the result is proven optimal, or how far from the optimum it is at most, in a few words. `is_partial`: ops of unknown
/// shape are missing.
pub fn certificate_text(certificate: &Certificate, is_partial: bool) -> String {
    if certificate.is_optimal {
        return format!(
            "proven optimal in {} among {}",
            minimized_text(certificate.objective),
            scope_text(certificate.scope, is_partial)
        );
    }
    let found = match certificate.excess_pct() {
        Some(excess) => format!("at most {} above the optimum", format_percent(excess)),
        None => "not proven".to_owned(),
    };
    let states = format_exact(certificate.states as u128);
    format!("{found}; search stopped after {states} states")
}

/// The same in a sentence, with the lower bound and the states that the search visited.
pub fn certificate_sentence(certificate: &Certificate, is_partial: bool) -> String {
    let states = certificate.states;
    let objective = minimized_text(certificate.objective);
    let scope = scope_text(certificate.scope, is_partial);
    if certificate.is_optimal {
        return format!("optimal in {objective}: no {scope} need less ({states} states)");
    }
    format!(
        "best found in {objective}, not proven: no {scope} need less than {}, a gap of {} ({states} states)",
        amount_text(certificate.lower_bound),
        format_percent(certificate.gap_pct())
    )
}

/// What was minimized. Patterns without a record take their bounds, which are not measured.
const fn minimized_text(objective: Objective) -> &'static str {
    match objective {
        Objective::Measured => "time by records, else lower bounds",
        Objective::Bytes | Objective::Time => objective.noun(),
    }
}

/// What was searched: `legal kernels (attention as one kernel allowed)`.
fn scope_text(scope: Scope, is_partial: bool) -> String {
    let kernels = match scope {
        Scope::LegalKernels => "legal kernels",
        Scope::AttentionAllowed => "legal kernels (attention as one kernel allowed)",
        Scope::AttentionAllOrNone => {
            "legal kernels (attention as one kernel allowed, in each region all or none)"
        }
        Scope::AttentionRewritten => "legal kernels (attention as one kernel)",
    };
    let known = if is_partial {
        " of the ops whose shape is known"
    } else {
        ""
    };
    format!("{kernels}{known}")
}
