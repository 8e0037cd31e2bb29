//! What a search has proven about its result, in words.

use crate::present::decisions::amount_text;
use crate::present::format::{format_exact, format_percent};
use crate::present::names::counted;
use crate::present::options::policy_title;
use fuseline_core::fusion::certificate::{Certificate, CertificateScope};
use fuseline_core::model::options::{Objective, Policy};

/// The proof with its objective, to stand beside figures of bytes and times:
/// `fewest bytes: proven`.
pub fn objective_proof(certificate: &Certificate) -> String {
    let title = policy_title(Policy::Optimal, certificate.objective);
    if certificate.is_optimal {
        format!("{title}: proven")
    } else {
        format!("{title}: {}", proof_text(certificate))
    }
}

/// Whether the result is proven optimal, or how far from the optimum it is at most.
fn proof_text(certificate: &Certificate) -> String {
    if certificate.is_optimal {
        return "proven optimal".to_owned();
    }
    match certificate.excess_pct() {
        Some(excess) => format!("at most {} above the optimum", format_percent(excess)),
        None => "not proven optimal".to_owned(),
    }
}

/// The proof with its scope, or why there is none. `is_partial`: ops of unknown shape are missing.
pub fn certificate_text(certificate: &Certificate, is_partial: bool) -> String {
    let proof = proof_text(certificate);
    if certificate.is_optimal {
        let scope = scope_text(certificate.scope, is_partial);
        return format!(
            "{proof}: no {scope} have {}",
            less_text(certificate.objective)
        );
    }
    let states = format_exact(certificate.states as u128);
    format!("{proof}; the search stopped after {states} states")
}

/// The certificate in a sentence, with the lower bound and the states that the search visited.
pub fn certificate_sentence(certificate: &Certificate, is_partial: bool) -> String {
    let states = counted(certificate.states, "state");
    let scope = scope_text(certificate.scope, is_partial);
    if certificate.is_optimal {
        let less = less_text(certificate.objective);
        return format!("proven optimal: no {scope} have {less} ({states})");
    }
    format!(
        "best found for {}, not proven optimal: no {scope} have less than {}, which leaves a gap of {} ({states})",
        certificate.objective.noun(),
        amount_text(certificate.lower_bound),
        format_percent(certificate.gap_pct())
    )
}

/// The advantage that no other choice of kernels has.
///
/// Patterns without a record count with their lower bounds, which are not measured.
const fn less_text(objective: Objective) -> &'static str {
    match objective {
        Objective::Bytes => "fewer bytes",
        Objective::Time => "a smaller lower bound of the time",
        Objective::Measured => {
            "a shorter time (measured where a record exists, otherwise the lower bound)"
        }
    }
}

/// What was searched: `kernels that the search allows (fused attention included)`.
///
/// Other policies can have better kernels: torch.compile may compute an op twice.
fn scope_text(scope: CertificateScope, is_partial: bool) -> String {
    let attention = match scope {
        CertificateScope::LegalKernels => "",
        CertificateScope::AttentionAllowed => " (fused attention included)",
        CertificateScope::AttentionAllOrNone => {
            " (fused attention included, each attention block whole or not at all)"
        }
        CertificateScope::AttentionRewritten => " (attention always fused)",
    };
    let known = if is_partial {
        " for the ops of known shape"
    } else {
        ""
    };
    format!("kernels that the search allows{known}{attention}")
}
