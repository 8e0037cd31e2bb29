//! The tables of the page for download: exact numbers with their units in the head, as CSV.

use super::advice::advice_words;
use super::decisions::decision_text;
use super::names::op_name;
use super::pinned::matched_kernels;
use super::reasons::reason_between;
use super::report::launches;
use super::times::outside_text;
use super::warnings::warning_text;
use crate::present::certificates::certificate_text;
use crate::present::quantity::{Figure, Quantity, Run, Subject, Value, Values};
use borsh::{BorshDeserialize, BorshSerialize};
use fuseline_core::analysis::advice::advise;
use fuseline_core::analysis::by_hand::KernelsInText;
use fuseline_core::analysis::compare::{Compared, compare, ranked};
use fuseline_core::analysis::why::{Verdict, Why};
use fuseline_core::fusion::decision_trace::trace_decisions;
use fuseline_core::{Analysis, KernelId, Objective, OpId};
use strum::{IntoStaticStr, VariantArray};

/// The tables for download. Names are those of files.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr, BorshSerialize, BorshDeserialize,
)]
#[strum(serialize_all = "kebab-case")]
pub enum TableKind {
    /// A row for each kernel.
    Kernels,
    /// What would save time.
    Advice,
    /// A row for each policy.
    Compare,
    /// A row for each edge between two ops.
    Edges,
    /// The decisions of the policy.
    Steps,
    /// What each kernel asks of the device.
    Limits,
}

impl TableKind {
    /// Its name, in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its label: that of the tab with the table.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernels => "Kernels",
            Self::Advice => "What to do",
            Self::Compare => "Compare",
            Self::Edges => "Why not",
            Self::Steps => "Steps",
            Self::Limits => "Limits",
        }
    }
}

/// A table of exact values; an unknown one is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns, with units.
    pub head: Vec<&'static str>,
    /// As many cells as columns in each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of what is shown. Tables of edges, policies and decisions take as long as their
    /// tabs.
    pub fn new(kind: TableKind, shown: KernelsInText<'_>) -> Self {
        let analysis = shown.analysis;
        match kind {
            TableKind::Kernels => kernels(analysis),
            TableKind::Advice => advice(shown),
            TableKind::Compare => policies(analysis),
            TableKind::Edges => edges(analysis),
            TableKind::Steps => steps(analysis),
            TableKind::Limits => kernel_limits(analysis),
        }
    }

    /// The pinned state and the present one side by side: a row for each kernel of either, matched
    /// by their ops, and the sums. `O(ops)`.
    pub fn against_pinned(pinned: &Analysis, now: &Analysis) -> Self {
        let [pinned_values, now_values] = [pinned, now].map(Values::new);
        let row = |ops: String, [of_pinned, of_now]: [Option<Subject>; 2]| {
            let pinned = cells(&pinned_values, of_pinned, PINNED);
            let now = cells(&now_values, of_now, PINNED);
            let both = pinned.into_iter().zip(now).flat_map(<[String; 2]>::from);
            [ops].into_iter().chain(both).collect()
        };
        let kernels = matched_kernels(pinned, now).into_iter().map(|of| {
            let [of_pinned, of_now] = of;
            let ops_of = |analysis: &Analysis, id: Option<KernelId>| {
                let kernel = analysis.fused.kernels.get(id?)?;
                Some(names(analysis, &kernel.ops))
            };
            let ops = ops_of(now, of_now).or_else(|| ops_of(pinned, of_pinned));
            let subject = |analysis, id: Option<KernelId>| Subject::kernel(analysis, id?);
            let of = [subject(pinned, of_pinned), subject(now, of_now)];
            row(ops.unwrap_or_default(), of)
        });
        let sums = row("all".to_owned(), [Some(Subject::Program); 2]);
        Self {
            rows: kernels.chain([sums]).collect(),
            head: PINNED_HEADS.to_vec(),
        }
    }

    /// The table as CSV: commas, `CRLF`, and quotes where a cell needs them (RFC 4180).
    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::new());
        let mut write = || {
            writer.write_record(&self.head)?;
            for row in &self.rows {
                writer.write_record(row)?;
            }
            writer.flush().map_err(csv::Error::from)
        };
        // Writing to memory cannot fail, and all rows are as long as the head.
        let written = write().ok().and_then(|()| writer.into_inner().ok());
        String::from_utf8(written.unwrap_or_default()).unwrap_or_default()
    }
}

/// A number in full; empty if there is none.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn names(analysis: &Analysis, ops: &[OpId]) -> String {
    let names = ops.iter().map(|&op| op_name(&analysis.graph, op));
    names.collect::<Vec<_>>().join(" + ")
}

/// A column of a file: its head, the quantity in it, and the kernels that it is measured in.
type CsvColumn = (&'static str, Quantity, Run);

/// FLOPs, memory traffic and times of kernels.
const COSTS: &[CsvColumn] = &[
    ("matrix FLOPs", Quantity::MatrixFlops, Run::Fused),
    ("vector FLOPs", Quantity::VectorFlops, Run::Fused),
    ("bytes unfused", Quantity::Bytes, Run::Unfused),
    ("bytes read", Quantity::BytesRead, Run::Fused),
    ("bytes written", Quantity::BytesWritten, Run::Fused),
    (
        "arithmetic intensity (FLOP/B)",
        Quantity::Intensity,
        Run::Fused,
    ),
    ("attainable (FLOP/s)", Quantity::Attainable, Run::Fused),
    ("bottleneck", Quantity::Bottleneck, Run::Fused),
    (
        "lower bound unfused (s)",
        Quantity::LowerBound,
        Run::Unfused,
    ),
    ("lower bound (s)", Quantity::LowerBound, Run::Fused),
    (
        "predicted unfused (s)",
        Quantity::PredictedTime,
        Run::Unfused,
    ),
    ("predicted (s)", Quantity::PredictedTime, Run::Fused),
];

/// What the whole program costs.
const TOTALS: &[CsvColumn] = &[
    ("kernels", Quantity::Launches, Run::Fused),
    ("bytes read", Quantity::BytesRead, Run::Fused),
    ("bytes written", Quantity::BytesWritten, Run::Fused),
    ("bytes", Quantity::Bytes, Run::Fused),
    ("saved (%)", Quantity::Saving, Run::Fused),
    ("lower bound (s)", Quantity::LowerBound, Run::Fused),
    ("predicted (s)", Quantity::PredictedTime, Run::Fused),
    ("peak memory (B)", Quantity::PeakMemory, Run::Fused),
];

/// What the launches of kernels need of the device.
const LAUNCH: &[CsvColumn] = &[
    ("on chip (B)", Quantity::OnChip, Run::Fused),
    (
        "on chip, available (B)",
        Quantity::OnChipAvailable,
        Run::Fused,
    ),
    ("live values", Quantity::LiveValues, Run::Fused),
    ("registers per thread", Quantity::Registers, Run::Fused),
    ("threads per block", Quantity::Threads, Run::Fused),
    ("blocks", Quantity::Blocks, Run::Fused),
    ("occupancy (%)", Quantity::Occupancy, Run::Fused),
    ("waves", Quantity::Waves, Run::Fused),
    ("wave efficiency (%)", Quantity::WaveEfficiency, Run::Fused),
    ("tile efficiency (%)", Quantity::TileEfficiency, Run::Fused),
];

/// What both states have side by side. The heads of the two columns of each are in
/// [`PINNED_HEADS`].
const PINNED: &[CsvColumn] = &[
    ("bytes", Quantity::Bytes, Run::Fused),
    ("lower bound (s)", Quantity::LowerBound, Run::Fused),
    ("predicted (s)", Quantity::PredictedTime, Run::Fused),
];

const PINNED_HEADS: [&str; 7] = [
    "ops",
    "pinned bytes",
    "bytes",
    "pinned lower bound (s)",
    "lower bound (s)",
    "pinned predicted (s)",
    "predicted (s)",
];

/// The figures of a row; empty where one is not known.
fn cells(values: &Values<'_>, of: Option<Subject>, columns: &[CsvColumn]) -> Vec<String> {
    let cell = |&(_, quantity, run): &CsvColumn| {
        let figure = Figure {
            quantity,
            run,
            of: of?,
        };
        values.of(figure).map(Value::digits)
    };
    let cells = columns.iter().map(cell);
    cells.map(Option::unwrap_or_default).collect()
}

fn heads(columns: &[CsvColumn]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|&(head, ..)| head)
}

fn kernels(analysis: &Analysis) -> Table {
    let values = Values::new(analysis);
    let predicted = analysis.predicted.as_ref();
    let rows = analysis
        .fused
        .kernels
        .iter_enumerated()
        .map(|(id, kernel)| {
            let outside = predicted.and_then(|predicted| predicted.kernels.get(id)?.outside);
            let mut row = vec![
                id.number().to_string(),
                names(analysis, &kernel.ops),
                names(analysis, &analysis.partition.recomputed[id]),
                launches(analysis, id).to_string(),
            ];
            row.extend(cells(&values, Subject::kernel(analysis, id), COSTS));
            row.push(known(outside.map(outside_text)));
            row
        });
    let head = ["kernel", "ops", "recomputed ops", "launches"].into_iter();
    Table {
        rows: rows.collect(),
        head: head.chain(heads(COSTS)).chain(["note"]).collect(),
    }
}

fn advice(shown: KernelsInText<'_>) -> Table {
    let advised = advise(shown);
    let rows = advised.iter().filter_map(|advised| {
        let (action, caveat) = advice_words(shown, advised)?;
        let price = advised.price;
        Some(vec![
            action.replace('`', ""),
            caveat,
            price.saved_bytes().to_string(),
            known(price.bound_saved_s()),
            known(price.predicted_saved_s()),
            known(advised.share().map(|share| share * 100.0)),
        ])
    });
    Table {
        rows: rows.collect(),
        head: vec![
            "what to do",
            "note",
            "saves (B)",
            "lower bound saving (s)",
            "predicted saving (s)",
            "share of the time (%)",
        ],
    }
}

fn policies(analysis: &Analysis) -> Table {
    let all = compare(analysis);
    let row = |compared: &Compared| {
        let Compared {
            policy, analysis, ..
        } = compared;
        let certificate = analysis.certificate.as_ref();
        let note = certificate.map(|of| certificate_text(of, analysis.is_partial()));
        let mut row = vec![policy.name().to_owned()];
        row.extend(cells(
            &Values::new(analysis),
            Some(Subject::Program),
            TOTALS,
        ));
        row.extend([compared.differing.len().to_string(), known(note)]);
        row
    };
    let rows = ranked(&all, Objective::Bytes).into_iter().map(row);
    let tail = ["edges that differ from the chosen policy", "note"];
    Table {
        rows: rows.collect(),
        head: (["policy"].into_iter())
            .chain(heads(TOTALS))
            .chain(tail)
            .collect(),
    }
}

fn edges(analysis: &Analysis) -> Table {
    let graph = &analysis.graph;
    let rows = Why::new(analysis).edges().into_iter().map(|edge| {
        let (reason, is_fused) = match &edge.verdict {
            Verdict::Fused => (String::new(), "yes"),
            Verdict::Separate { reason, .. } => {
                let ends = [edge.producer, edge.consumer];
                (reason_between(graph, reason, ends), "no")
            }
        };
        let price = edge.verdict.saved();
        vec![
            op_name(graph, edge.producer).to_owned(),
            op_name(graph, edge.consumer).to_owned(),
            graph.tensor_name(edge.tensor).to_owned(),
            is_fused.to_owned(),
            reason.replace('`', ""),
            known(price.map(|price| price.saved_bytes())),
            known(price.and_then(|price| price.bound_saved_s())),
            known(price.and_then(|price| price.predicted_saved_s())),
        ]
    });
    Table {
        rows: rows.collect(),
        head: vec![
            "from",
            "to",
            "tensor",
            "fused",
            "why not",
            "fusing saves (B)",
            "lower bound saving (s)",
            "predicted saving (s)",
        ],
    }
}

fn steps(analysis: &Analysis) -> Table {
    let graph = &analysis.graph;
    let trace = trace_decisions(graph, &analysis.options);
    let kernels = trace.kernel_counts(graph).into_iter().skip(1);
    let rows = trace.decisions.iter().zip(kernels).zip(1_u64..);
    let rows = rows.map(|((decision, kernels), step)| {
        vec![
            step.to_string(),
            decision.kind().to_owned(),
            names(analysis, &decision.ops()),
            decision_text(graph, decision).replace('`', ""),
            kernels.to_string(),
        ]
    });
    Table {
        rows: rows.collect(),
        head: vec!["step", "kind", "ops", "decision", "kernels after this step"],
    }
}

fn kernel_limits(analysis: &Analysis) -> Table {
    let values = Values::new(analysis);
    let rows = analysis
        .fused
        .kernels
        .iter_enumerated()
        .filter_map(|(id, kernel)| {
            let warnings = values.limits()?.get(id)?.warnings.iter();
            let warnings = warnings.map(|warning| warning_text(&analysis.graph, warning));
            let mut row = vec![id.number().to_string(), names(analysis, &kernel.ops)];
            row.extend(cells(&values, Subject::kernel(analysis, id), LAUNCH));
            row.push(warnings.collect::<Vec<_>>().join("; "));
            Some(row)
        });
    let head = ["kernel", "ops"].into_iter();
    Table {
        rows: rows.collect(),
        head: head.chain(heads(LAUNCH)).chain(["warnings"]).collect(),
    }
}
