//! The rows of the table of all policies.

use super::certificates::certificate_text;
use super::format::format_count;
use super::names::{counted, joined, op_name};
use super::options::policy_title;
use super::quantity::{Quantity, Run, Scope, Values};
use super::table::{Cells, Column};
use super::times::TimeText;
use fuseline_core::analysis::compare::{Compared, DifferingEdge, ranked};
use fuseline_core::{Analysis, Graph, Objective, OpId, OpType, Options, Policy};

/// The share of a predicted time below which another one counts as shorter.
const NOTICED: f64 = 0.99;

/// Edges that a row names.
const NAMED_EDGES: usize = 3;

/// Edges that the tooltip of a row names.
const TOOLTIP_EDGES: usize = 30;

/// The columns of the table after the titles of the policies.
pub const COLUMNS: &[Column] = &[
    Column::new("kernels", &[(Quantity::Launches, Run::Fused)]),
    Column {
        tooltip: exact_bytes,
        ..Column::new("bytes", &[(Quantity::Bytes, Run::Fused)])
    },
    Column::new("change from unfused", &[(Quantity::Saving, Run::Fused)]),
    Column::of_time(),
    Column {
        explanation: "bytes of the tensors that are live at once, with inputs and weights",
        label: "peak memory",
        ..Column::new("peak memory", &[(Quantity::PeakMemory, Run::Fused)])
    },
];

/// The result of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRow {
    pub policy: Policy,
    /// A note for the comparison with other policies; often empty.
    pub note: String,
    /// The numbers of all [`COLUMNS`].
    pub cells: Cells,
    /// The time and its lower bound in one text.
    pub time: String,
    /// Whether the peak memory is more than the device has.
    pub is_too_large: bool,
    /// Number of edges that it treats differently from the chosen policy.
    pub differing: String,
    /// The first of these edges.
    pub differing_edges: String,
    /// More of them, for a tooltip.
    pub more_differing_edges: String,
}

/// A row for each policy, the best by bytes or time first; `chosen` is the one that the others are
/// compared with.
pub fn policy_rows(all: &[Compared], chosen: Policy, by: Objective) -> Vec<PolicyRow> {
    let ranked = ranked(all, by).into_iter();
    ranked.map(|compared| row(compared, all, chosen)).collect()
}

fn row(compared: &Compared, all: &[Compared], chosen: Policy) -> PolicyRow {
    let Compared {
        policy,
        analysis,
        differing,
    } = compared;
    let graph = &analysis.graph;
    let is_chosen = *policy == chosen;
    let values = Values::new(analysis);
    let time = TimeText::of(&values, Scope::Program, Run::Fused).unwrap_or_default();
    PolicyRow {
        policy: *policy,
        note: note(compared, all),
        cells: Cells::new(&values, Scope::Program, COLUMNS),
        time: time.joined(),
        is_too_large: analysis.fits_memory() == Some(false),
        differing: if is_chosen {
            "–".to_owned()
        } else {
            format_count(differing.len())
        },
        differing_edges: if is_chosen {
            "the chosen policy".to_owned()
        } else {
            edge_names(graph, differing, NAMED_EDGES)
        },
        more_differing_edges: edge_names(graph, differing, TOOLTIP_EDGES),
    }
}

/// All digits of the memory traffic: `1,962,934,272 B`.
fn exact_bytes(values: &Values<'_>, scope: Scope) -> Option<String> {
    Some(values.at(scope, Quantity::Bytes, Run::Fused)?.exact())
}

fn note(compared: &Compared, all: &[Compared]) -> String {
    let analysis = &compared.analysis;
    let of_policy = policy_note(compared.policy, analysis);
    let notes = [
        Some(of_policy).filter(|note| !note.is_empty()),
        better_note(analysis, all),
        rate_note(analysis),
    ];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Beside a proof, the policy that has fewer bytes in kernels outside it: it computes ops twice, or
/// reads several rows again that are too long for the chip.
///
/// Or, where the search minimizes the lower bound of the time, the policy whose predicted time is
/// shorter.
fn better_note(analysis: &Analysis, all: &[Compared]) -> Option<String> {
    let certificate = analysis.certificate.as_ref()?;
    let title = |of: &Compared| policy_title(of.policy, of.analysis.options.fusion.objective);
    match certificate.objective {
        Objective::Bytes => {
            let bytes = |of: &Analysis| of.fused.traffic.total;
            let least = all.iter().min_by_key(|other| bytes(&other.analysis))?;
            (bytes(&least.analysis) < bytes(analysis)).then(|| {
                format!(
                    "{} has fewer, in kernels that the search does not allow",
                    title(least)
                )
            })
        }
        Objective::Time => {
            let time_s = |of: &Analysis| Some(of.predicted.as_ref()?.fused_s);
            let own_s = time_s(analysis)?;
            let timed = all
                .iter()
                .filter_map(|of| Some((time_s(&of.analysis)?, of)));
            let (least_s, least) = timed.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
            (least_s < own_s * NOTICED).then(|| {
                format!(
                    "{} is predicted to be faster: the search minimizes the lower bound",
                    title(least)
                )
            })
        }
        Objective::Measured => None,
    }
}

const WITH_ATTENTION: &str = "with fused attention";

/// The rate of generated matmuls, which no library call computes.
fn rate_note(analysis: &Analysis) -> Option<String> {
    let predicted = analysis.predicted.as_ref()?;
    let matmuls = counted(predicted.generated_matmuls, "generated matmul");
    let slowest = predicted.slowest_generated * 100.0;
    (predicted.generated_matmuls > 0).then(|| match predicted.generated_matmuls {
        1 => format!("{matmuls}, at {slowest:.0}\u{a0}% of the library's speed"),
        _ => format!("{matmuls}, the slowest at {slowest:.0}\u{a0}% of the library's speed"),
    })
}

/// The policy of an analysis, and whether it runs attention as one kernel:
/// `torch.compile with fused attention`.
pub fn policy_words(analysis: &Analysis) -> String {
    let Options { policy, fusion, .. } = &analysis.options;
    let title = policy_title(*policy, fusion.objective);
    if has_flash_kernel(analysis) {
        format!("{title} {WITH_ATTENTION}")
    } else {
        title.to_owned()
    }
}

fn policy_note(policy: Policy, analysis: &Analysis) -> String {
    if let Some(certificate) = &analysis.certificate {
        certificate_text(certificate, analysis.is_partial())
    } else if policy == Policy::Inductor && has_flash_kernel(analysis) {
        // Without this note the policy would seem to beat an optimum that is proven for kernels
        // with one matmul each.
        WITH_ATTENTION.to_owned()
    } else if policy == Policy::Manual && is_unstated(analysis) {
        "no kernel marks yet".to_owned()
    } else {
        String::new()
    }
}

/// Whether no op of the text has a kernel mark.
fn is_unstated(analysis: &Analysis) -> bool {
    (analysis.graph.ops.iter()).all(|op| op.kernel.is_none())
}

/// Whether the compiler uses a flash kernel: none of its other kernels has two matmuls.
fn has_flash_kernel(analysis: &Analysis) -> bool {
    let is_matmul = |op: &&OpId| analysis.graph.ops[**op].op_type == OpType::Matmul;
    let mut kernels = analysis.partition.kernels.iter();
    kernels.any(|ops| ops.iter().filter(is_matmul).count() > 1)
}

fn edge_names(graph: &Graph, edges: &[DifferingEdge], most: usize) -> String {
    let name = |edge: &DifferingEdge| {
        let [from, to] = [edge.producer, edge.consumer].map(|op| op_name(graph, op));
        let how = if edge.is_fused { "fused" } else { "separate" };
        format!("{from} → {to} {how}")
    };
    joined(edges.iter().map(name), ["; ", "; and "], most)
}
