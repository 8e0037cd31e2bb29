//! An analysis with names instead of ids: the JSON of the command line and of the export of the
//! page.

mod diagnostics;

pub use diagnostics::{DiagnosticReport, EditReport, FixReport};

use crate::present::export::OpList;
use crate::present::names::op_name;
use crate::present::reasons::reason_between;
use crate::present::times::missing_total;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::device_model::Outside;
use fuseline_core::analysis::why::{EdgeVerdict, Verdict, Why};
use fuseline_core::cost::traffic::{Access, Traffic};
use fuseline_core::fusion::certificate::Certificate;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::bound::Bound;
use fuseline_core::model::diagnostic::Diagnostic;
use fuseline_core::model::graph::{Graph, SizeSource};
use fuseline_core::model::ids::{IdVec, KernelId, OpId};
use fuseline_core::model::options::Conventions;
use fuseline_core::model::program::Program;
use serde::Serialize;

/// The version of the format of all JSON that other programs read.
///
/// A field that goes or gets another name or meaning takes the next number; a new field does not.
/// `docs/json.md` lists the fields.
pub const SCHEMA: u32 = 1;

/// A report as JSON, with the [`SCHEMA`] at its top.
///
/// # Errors
/// A report that JSON cannot hold.
pub fn with_schema(report: &impl Serialize) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Numbered<'a, R> {
        schema: u32,
        #[serde(flatten)]
        report: &'a R,
    }
    let schema = SCHEMA;
    serde_json::to_string_pretty(&Numbered { schema, report })
}

/// The report of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The ops in execution order, and the declared tensors.
    #[serde(flatten)]
    pub program: OpList,
    /// Ops of unknown shape, which are not among the ops. With any, all totals are lower bounds.
    pub unknown_ops: usize,
    /// Names of the ops of each kernel, kernels in the order in which they run.
    pub fusion_groups: Vec<Vec<String>>,
    /// Memory traffic with every op as its own kernel.
    pub unfused_traffic: Traffic,
    /// Memory traffic of the fused kernels.
    pub fused_traffic: Traffic,
    /// Saved part of the unfused bytes, in percent.
    pub savings_pct: f64,
    /// The memory that tensors need at once.
    pub peak_memory: MemoryReport,
    /// Times of the whole program on the device.
    pub times: TimesReport,
    /// Launches if every op is its own kernel.
    pub unfused_launches: usize,
    /// Launches of the fused kernels.
    pub fused_launches: usize,
    /// Id of the device that the times are for.
    pub device: String,
    /// How bytes are counted, and in which type f32 matmuls are computed.
    pub conventions: Conventions,
    /// Name of the policy.
    pub policy: &'static str,
    /// What the search has proven, if the policy searched.
    pub certificate: Option<Certificate>,
    /// The fused kernels.
    pub kernels: Vec<KernelReport>,
    /// Every edge between two ops, by consumer in execution order.
    pub edges: Vec<EdgeReport>,
    /// Warnings and notes.
    pub diagnostics: Vec<DiagnosticReport>,
}

/// Times of the whole program, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimesReport {
    /// Each op its own kernel, on the roofline at full peak rates.
    pub unfused_lower_bound_s: f64,
    /// The fused kernels, likewise.
    pub fused_lower_bound_s: f64,
    /// The ops and the work that the lower bounds leave out and why, if there are any.
    pub lower_bounds_leave_out: Option<String>,
    /// Each op a library kernel, by the device model; `null` without measured rates.
    pub unfused_predicted_s: Option<f64>,
    /// The fused kernels, likewise.
    pub fused_predicted_s: Option<f64>,
    /// How the prediction of the fused program is outside the measured sizes, if it is.
    pub fused_predicted_outside: Option<Outside>,
    /// Name of the device whose measured rates were scaled to this one.
    pub rates_scaled_from: Option<String>,
}

/// One fused kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// Names of its ops.
    pub ops: Vec<String>,
    /// Names of the ops of other kernels that it computes again instead of reading their outputs.
    pub recomputed: Vec<String>,
    /// Its arithmetic, on both kinds of units; `null` if some of it is not known.
    pub flops: Option<u128>,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Memory traffic of its ops as separate kernels.
    pub unfused_bytes: u64,
    /// FLOPs for each byte; `null` without a point on the roofline.
    pub intensity: Option<f64>,
    /// `min(peak, intensity * bandwidth)`.
    pub attainable_flops_per_s: Option<f64>,
    /// What limits its speed; `unknown` if no peak is known for some of its FLOPs.
    pub bottleneck: Bound,
    /// Its launches: one, none for a free view, or more where one launch is not enough.
    pub launches: usize,
    /// Lower bound of its time, on the roofline.
    pub lower_bound_s: f64,
    /// Its time by the device model; `null` without measured rates.
    pub predicted_s: Option<f64>,
    /// How that is outside the measured sizes, if it is.
    pub predicted_outside: Option<Outside>,
    /// Tensors that it reads from memory.
    pub reads: Vec<AccessReport>,
    /// Tensors that it writes to memory.
    pub writes: Vec<AccessReport>,
}

/// The most memory that tensors need at once, beside that of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryReport {
    /// Bytes if every op is its own kernel.
    pub unfused_bytes: u64,
    /// Bytes of the fused program.
    pub fused_bytes: u64,
    /// Names of the ops of the first kernel that runs while so many are live.
    pub fused_peak_at: Vec<String>,
    /// Whether the fused program fits the device; `null` if the memory of the device is unknown, or
    /// if ops of unknown shape are missing from a program that fits.
    pub fits: Option<bool>,
}

/// One tensor that a kernel reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessReport {
    pub tensor: String,
    /// Memory traffic in bytes.
    pub bytes: u64,
    /// Where that figure comes from.
    pub source: SizeSource,
}

/// An edge between two ops: fused, or why not and what fusing it alone would save.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EdgeReport {
    /// Name of the op that writes the tensor.
    pub producer: String,
    /// Name of the op that reads it.
    pub consumer: String,
    pub tensor: String,
    /// Whether both ops run in one kernel.
    pub fused: bool,
    /// Why not, in words.
    pub reason: Option<String>,
    /// The reason as data: `reason_kind`, and `reason_facts` with the figures and the ops that it
    /// names.
    #[serde(flatten)]
    pub reason_data: ReasonReport,
    /// Bytes that fusing this edge alone would save; negative where it would cost some.
    pub saved_bytes: Option<i64>,
    /// Seconds by which the lower bound of the time would fall.
    pub lower_bound_saved_s: Option<f64>,
    /// Seconds that it would save by the device model; `null` without measured rates.
    pub predicted_saved_s: Option<f64>,
}

/// The reason fields of an edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ReasonReport {
    Apart(Reason<String>),
    /// `null` for both fields.
    Fused {
        /// No kind.
        reason_kind: (),
        /// No facts.
        reason_facts: (),
    },
}

impl Report {
    /// The report of an analysis of `text`; spans of `diagnostics` refer to it.
    pub fn new(analysis: &Analysis, diagnostics: &[Diagnostic], text: &str) -> Self {
        let graph = &analysis.graph;
        let kernels = analysis.fused.kernels.iter();
        Self {
            program: OpList::new(graph),
            unknown_ops: graph.unknown_ops.len(),
            fusion_groups: (kernels.clone())
                .map(|kernel| names_of(graph, &kernel.ops))
                .collect(),
            unfused_traffic: analysis.unfused.traffic,
            fused_traffic: analysis.fused.traffic,
            savings_pct: analysis.savings_pct,
            peak_memory: MemoryReport::new(analysis),
            times: TimesReport::new(analysis),
            unfused_launches: analysis.unfused.launches,
            fused_launches: analysis.fused.launches,
            device: analysis.options.device.id.to_string(),
            conventions: analysis.options.conventions,
            policy: analysis.options.policy.name(),
            certificate: analysis.certificate,
            kernels: kernels
                .zip(&analysis.comparisons)
                .zip(analysis.partition.kernels.ids())
                .map(|((kernel, before), id)| KernelReport {
                    ops: names_of(graph, &kernel.ops),
                    recomputed: names_of(graph, &analysis.partition.recomputed[id]),
                    flops: (!kernel.work.is_unknown).then(|| kernel.work.flops()),
                    bytes_read: kernel.bytes_read,
                    bytes_written: kernel.bytes_written,
                    unfused_bytes: before.unfused_bytes,
                    intensity: kernel.placement.intensity,
                    attainable_flops_per_s: kernel.placement.attainable_flops_per_s,
                    bottleneck: kernel.placement.bound,
                    launches: launches(analysis, id),
                    lower_bound_s: kernel.placement.time_s,
                    predicted_s: (analysis.predicted.as_ref())
                        .and_then(|predicted| Some(predicted.kernels.get(id)?.time_s)),
                    predicted_outside: (analysis.predicted.as_ref())
                        .and_then(|predicted| predicted.kernels.get(id)?.outside),
                    reads: accesses(graph, &kernel.traffic.reads),
                    writes: accesses(graph, &kernel.traffic.writes),
                })
                .collect(),
            edges: Why::new(analysis)
                .edges()
                .iter()
                .map(|edge| EdgeReport::new(graph, edge))
                .collect(),
            diagnostics: DiagnosticReport::of_all(diagnostics, text),
        }
    }

    /// With the attributes of the ops' statements, so that opening the report as a list of ops
    /// gives the same kernels.
    #[must_use]
    pub fn with_attributes(
        mut self,
        program: &Program,
        statement_of_op: &IdVec<OpId, usize>,
    ) -> Self {
        self.program = self.program.with_attributes(program, statement_of_op);
        self
    }
}

impl MemoryReport {
    fn new(analysis: &Analysis) -> Self {
        let fused = &analysis.fused;
        let kernel = fused.peak_memory.kernel;
        let kernel = kernel.and_then(|kernel| fused.kernels.get(kernel));
        Self {
            unfused_bytes: analysis.unfused.peak_memory.bytes,
            fused_bytes: fused.peak_memory.bytes,
            fused_peak_at: kernel.map_or_else(Vec::new, |k| names_of(&analysis.graph, &k.ops)),
            fits: analysis.fits_memory(),
        }
    }
}

impl TimesReport {
    fn new(analysis: &Analysis) -> Self {
        let (unfused, predicted) = (&analysis.unfused, analysis.predicted.as_ref());
        Self {
            unfused_lower_bound_s: unfused.time_s,
            fused_lower_bound_s: analysis.fused.time_s,
            lower_bounds_leave_out: missing_total(analysis),
            unfused_predicted_s: predicted.map(|predicted| predicted.unfused_s),
            fused_predicted_s: predicted.map(|predicted| predicted.fused_s),
            fused_predicted_outside: predicted.and_then(|predicted| predicted.fused_outside),
            rates_scaled_from: predicted
                .and_then(|predicted| predicted.rates_from.scaled_from())
                .map(str::to_owned),
        }
    }
}

impl EdgeReport {
    fn new(graph: &Graph, edge: &EdgeVerdict) -> Self {
        let op = |id: OpId| op_name(graph, id).to_owned();
        let apart = match &edge.verdict {
            Verdict::Fused => None,
            Verdict::Separate { reason, .. } => Some(reason),
        };
        let price = edge.verdict.saved();
        Self {
            producer: op(edge.producer),
            consumer: op(edge.consumer),
            tensor: graph.tensor_name(edge.tensor).to_owned(),
            fused: apart.is_none(),
            reason: apart
                .map(|reason| reason_between(graph, reason, [edge.producer, edge.consumer])),
            reason_data: match apart {
                Some(reason) => ReasonReport::Apart(reason.clone().map_ops(op)),
                None => ReasonReport::Fused {
                    reason_kind: (),
                    reason_facts: (),
                },
            },
            saved_bytes: price.map(|price| price.saved_bytes()),
            lower_bound_saved_s: price.and_then(|price| price.bound_saved_s()),
            predicted_saved_s: price.and_then(|price| price.predicted_saved_s()),
        }
    }
}

/// The launches of a fused kernel, with those that no op stands for.
pub(in crate::present) fn launches(analysis: &Analysis, kernel: KernelId) -> usize {
    let of_kernel = analysis.fused.kernels.get(kernel);
    let own = of_kernel.is_some_and(|kernel| !kernel.is_free);
    let further = analysis.partition.further_launches_of(kernel);
    usize::from(own) + further as usize
}

fn names_of(graph: &Graph, ops: &[OpId]) -> Vec<String> {
    ops.iter()
        .map(|&op| op_name(graph, op).to_owned())
        .collect()
}

fn accesses(graph: &Graph, list: &[Access]) -> Vec<AccessReport> {
    list.iter()
        .map(|access| AccessReport {
            tensor: graph.tensor_name(access.tensor).to_owned(),
            bytes: access.bytes,
            source: access.source,
        })
        .collect()
}
