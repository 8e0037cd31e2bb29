//! An analysis with names instead of ids: the JSON of the command line and of the export of the page.

use crate::present::export::OpList;
use crate::present::memory::fits;
use crate::present::names::op_name;
use crate::present::reasons::reason_text;
use crate::present::times::missing_text;
use fuseline_core::analysis::Analysis;
use fuseline_core::analysis::why::{Edge, Verdict, Why};
use fuseline_core::cost::traffic::{Access, Traffic};
use fuseline_core::fixes::sound_fixes;
use fuseline_core::fusion::certificate::Certificate;
use fuseline_core::fusion::reason::Reason;
use fuseline_core::model::bound::Bound;
use fuseline_core::model::diagnostic::{Code, Diagnostic, Severity, lines_and_columns};
use fuseline_core::model::fix::{Fix, TextEdit};
use fuseline_core::model::graph::{Graph, SizeSource};
use fuseline_core::model::ids::{IdVec, OpId};
use fuseline_core::model::options::Conventions;
use fuseline_core::model::program::Program;
use serde::Serialize;

/// The report of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The ops in execution order, and the declared tensors.
    #[serde(flatten)]
    pub program: OpList,
    /// Names of the ops of each kernel, kernels in the order in which they run.
    pub fusion_groups: Vec<Vec<String>>,
    /// Every op its own kernel.
    pub unfused_traffic: Traffic,
    /// One kernel for each group.
    pub fused_traffic: Traffic,
    /// Saved part of the unfused bytes, in percent.
    pub savings_pct: f64,
    /// The memory that tensors need at once.
    pub peak_memory: MemoryReport,
    /// Times of the whole program on the device.
    pub times: TimesReport,
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
    pub unfused_bound_s: f64,
    /// The fused kernels, likewise.
    pub fused_bound_s: f64,
    /// The work that the bounds leave out and why, if there is any.
    pub bounds_leave_out: Option<String>,
    /// Each op a library kernel, by the device model; `null` without measured rates.
    pub unfused_expected_s: Option<f64>,
    /// The fused kernels, likewise.
    pub fused_expected_s: Option<f64>,
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
    /// Its arithmetic, on both kinds of units.
    pub flops: u128,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes that its ops move one by one.
    pub unfused_bytes: u64,
    /// FLOPs for each byte; `null` without a point on the roofline.
    pub intensity: Option<f64>,
    /// `min(peak, intensity * bandwidth)`.
    pub attainable_flops_per_s: Option<f64>,
    /// What limits its speed; `unknown` if no peak is known for some of its FLOPs.
    pub bound: Bound,
    /// Lower bound of its time, on the roofline.
    pub bound_s: f64,
    /// Its time by the device model; `null` without measured rates.
    pub expected_s: Option<f64>,
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
    /// Whether the fused program fits the device; `null` if the memory of the device is unknown.
    pub fits: Option<bool>,
}

/// One tensor that a kernel moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessReport {
    /// Its name.
    pub tensor: String,
    /// Bytes moved.
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
    /// Its name.
    pub tensor: String,
    /// Both run in one kernel.
    pub fused: bool,
    /// Why not, in words.
    pub reason: Option<String>,
    /// The same as data: `reason_kind`, and `reason_facts` with the figures and the ops that it names.
    #[serde(flatten)]
    pub reason_data: ReasonReport,
    /// Bytes that fusing this edge alone would save; negative where it would cost some.
    pub saved_bytes: Option<i64>,
    /// Microseconds by which the lower bound of the time would fall.
    pub bound_saved_us: Option<f64>,
    /// Microseconds that it would save by the device model; `null` without measured rates.
    pub expected_saved_us: Option<f64>,
}

/// The reason fields of an edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ReasonReport {
    /// The reason.
    Apart(Reason<String>),
    /// `null` for both fields.
    Fused {
        /// No kind.
        reason_kind: (),
        /// No facts.
        reason_facts: (),
    },
}

/// A diagnostic with line and column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticReport {
    /// Its severity.
    pub severity: Severity,
    /// Its kind.
    pub code: Code,
    /// The problem.
    pub message: String,
    /// How to correct it.
    pub hint: Option<String>,
    /// One-based line, if it has a span.
    pub line: Option<usize>,
    /// One-based column in characters.
    pub column: Option<usize>,
    /// Corrections of the text, each by itself; each makes the problem go away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixReport>,
}

/// One correction. The edits name byte ranges of the text, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixReport {
    /// What it does.
    pub label: String,
    /// What it replaces.
    pub edits: Vec<EditReport>,
}

/// An edit for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditReport {
    /// First byte of the replaced part.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The replacement.
    pub text: String,
}

impl Report {
    /// The report of an analysis of `text`; spans of `diagnostics` refer to it.
    pub fn new(analysis: &Analysis, diagnostics: &[Diagnostic], text: &str) -> Self {
        let graph = &analysis.graph;
        let kernels = analysis.fused.kernels.iter();
        Self {
            program: OpList::new(graph),
            fusion_groups: (kernels.clone())
                .map(|kernel| names_of(graph, &kernel.ops))
                .collect(),
            unfused_traffic: analysis.unfused.traffic,
            fused_traffic: analysis.fused.traffic,
            savings_pct: analysis.savings_pct,
            peak_memory: MemoryReport::new(analysis),
            times: TimesReport::new(analysis),
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
                    flops: kernel.work.flops(),
                    bytes_read: kernel.bytes_read,
                    bytes_written: kernel.bytes_written,
                    unfused_bytes: before.unfused_bytes,
                    intensity: kernel.placement.intensity,
                    attainable_flops_per_s: kernel.placement.attainable_flops_per_s,
                    bound: kernel.placement.bound,
                    bound_s: kernel.placement.time_s,
                    expected_s: (analysis.expected.as_ref())
                        .and_then(|expected| Some(expected.kernels.get(id)?.time_s)),
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

    /// With the attributes of the ops' statements, so that opening the report as a list of ops gives the same kernels.
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
            fits: fits(fused, &analysis.options.device),
        }
    }
}

impl TimesReport {
    fn new(analysis: &Analysis) -> Self {
        let (unfused, expected) = (&analysis.unfused, analysis.expected.as_ref());
        Self {
            unfused_bound_s: unfused.time_s,
            fused_bound_s: analysis.fused.time_s,
            bounds_leave_out: (unfused.first_incomplete())
                .and_then(|kernel| missing_text(kernel, &analysis.options)),
            unfused_expected_s: expected.map(|expected| expected.unfused_s),
            fused_expected_s: expected.map(|expected| expected.fused_s),
            rates_scaled_from: expected
                .and_then(|expected| expected.rates_from.scaled_from())
                .map(str::to_owned),
        }
    }
}

impl EdgeReport {
    fn new(graph: &Graph, edge: &Edge) -> Self {
        let op = |id: OpId| op_name(graph, id).to_owned();
        let (apart, price) = match &edge.verdict {
            Verdict::Fused => (None, None),
            Verdict::Apart { reason, price } => (Some(reason), Some(price)),
        };
        Self {
            producer: op(edge.producer),
            consumer: op(edge.consumer),
            tensor: graph.tensor_name(edge.tensor).to_owned(),
            fused: apart.is_none(),
            reason: apart.map(|reason| reason_text(graph, reason)),
            reason_data: match apart {
                Some(reason) => ReasonReport::Apart(reason.clone().map_ops(op)),
                None => ReasonReport::Fused {
                    reason_kind: (),
                    reason_facts: (),
                },
            },
            saved_bytes: price.map(|price| price.saved_bytes()),
            bound_saved_us: price.and_then(|price| Some(price.bound_saved_s()? * 1e6)),
            expected_saved_us: price.and_then(|price| Some(price.expected_saved_s()? * 1e6)),
        }
    }
}

impl DiagnosticReport {
    /// The diagnostics with their places in `text` and the fixes that hold there. `O(text + diagnostics log diagnostics)`.
    pub fn of_all(diagnostics: &[Diagnostic], text: &str) -> Vec<Self> {
        let starts = diagnostics.iter().filter_map(|d| Some(d.span?.start));
        let starts: Vec<usize> = starts.collect();
        let mut places = lines_and_columns(text, &starts).into_iter();
        let mut fixes = sound_fixes(text, diagnostics).into_iter();
        let report = |diagnostic: &Diagnostic| {
            let place = diagnostic.span.and_then(|_| places.next());
            Self {
                severity: diagnostic.severity,
                code: diagnostic.code,
                message: diagnostic.message.clone(),
                hint: diagnostic.hint.clone(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
                fixes: { fixes.next() }
                    .iter()
                    .flatten()
                    .map(FixReport::from)
                    .collect(),
            }
        };
        diagnostics.iter().map(report).collect()
    }
}

impl From<&Fix> for FixReport {
    fn from(fix: &Fix) -> Self {
        let edit = |edit: &TextEdit| EditReport {
            start: edit.span.start,
            end: edit.span.end,
            text: edit.text.clone(),
        };
        Self {
            label: fix.label.clone(),
            edits: fix.edits.iter().map(edit).collect(),
        }
    }
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
