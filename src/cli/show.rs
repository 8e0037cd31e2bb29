//! What `analyze` and `transformer` print: a table, or JSON.

use crate::attention::{AttentionReport, attention_lines, attentions};
use crate::choices::Outputs;
use crate::failure::Failed;
use crate::limits::{self, LimitsReport};
use crate::output::{json, print};
use crate::policies::{PolicyReport, policies, policies_table};
use crate::steps::{Step, steps, steps_table};
use crate::table::table;
use fuseline_core::Analysis;
use fuseline_view::present::report::Report;
use serde::Serialize;

/// The report, with results that the library's report does not contain.
#[derive(Serialize)]
struct FullReport<'a> {
    #[serde(flatten)]
    report: Report,
    /// Kernels that are attention, with their tiles.
    attentions: Vec<AttentionReport<'a>>,
    /// The decisions that led to the kernels, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<Step<'a>>>,
    /// All policies, the best first, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    policies: Option<Vec<PolicyReport>>,
    /// The resources of each kernel, if requested and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Vec<LimitsReport>>,
}

/// Prints an analysis with the outputs that the user requested.
pub(super) fn show(
    analysis: &Analysis,
    report: impl FnOnce() -> Report,
    outputs: &Outputs,
) -> Result<(), Failed> {
    let text = if outputs.json {
        let report = FullReport {
            report: report(),
            attentions: attentions(analysis),
            decisions: outputs.steps.then(|| steps(analysis)),
            policies: outputs.compare.map(|by| policies(analysis, by)),
            limits: outputs
                .limits
                .then(|| limits::limits_report(analysis))
                .flatten(),
        };
        json(&report)?
    } else {
        let mut text = table(analysis);
        text.push_str(&attention_lines(analysis));
        if let Some(by) = outputs.compare {
            text.push_str(&policies_table(analysis, by));
        }
        if outputs.limits {
            text.push_str(&limits::limits_table(analysis));
        }
        if outputs.steps {
            text.push_str(&steps_table(analysis));
        }
        text
    };
    print(&text)
}
