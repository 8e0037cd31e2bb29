//! What `analyze` and `transformer` print: a table, or JSON.

use crate::attention::{AttentionReport, attention_lines, attentions};
use crate::choices::Outputs;
use crate::devices::{DeviceReport, devices_table};
use crate::failure::Failed;
use crate::limits::{self, LimitsReport};
use crate::output::{json, print};
use crate::policies::{PolicyReport, policies, policies_table};
use crate::steps::{Step, steps, steps_table};
use crate::table::table;
use fuseline_core::analysis::compare::on_device;
use fuseline_core::{Analysis, Device};
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
    /// The program on all devices, if several are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<Vec<DeviceReport>>,
    /// The resources of each kernel, if requested and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Vec<LimitsReport>>,
}

/// Prints an analysis with the outputs that the user requested.
pub(super) fn show(
    analysis: &Analysis,
    report: impl FnOnce() -> Report,
    outputs: &Outputs,
    other_devices: &[Device],
) -> Result<(), Failed> {
    let others = other_devices.iter();
    let others: Vec<Analysis> = others.map(|device| on_device(analysis, device)).collect();
    let on_devices: Vec<&Analysis> = [analysis].into_iter().chain(&others).collect();
    let has_others = !others.is_empty();
    let text = if outputs.json {
        let report = FullReport {
            report: report(),
            attentions: attentions(analysis),
            decisions: outputs.steps.then(|| steps(analysis)),
            policies: outputs.compare.map(|by| policies(analysis, by)),
            devices: has_others.then(|| {
                let reports = on_devices.iter();
                reports
                    .map(|analysis| DeviceReport::new(analysis))
                    .collect()
            }),
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
        if has_others {
            text.push_str(&devices_table(&on_devices));
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
