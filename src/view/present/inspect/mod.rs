//! One op, edge, kernel or tensor with the arithmetic behind its figures, and what can be done
//! about it.

mod tensor;

use self::tensor::tensor_text;
pub use self::tensor::{inspect_edge, inspect_tensor};

use crate::present::explain::{access_text, flops_text, whole_reason};
use crate::present::figure::Part;
use crate::present::format::format_bytes;
use crate::present::limits::harms;
use crate::present::manual::{Change, producer_beside};
use crate::present::names::{counted, joined, kernel_ops, op_name, quoted_op};
use crate::present::quantity::{Figure, Quantity, Subject, Values};
use crate::present::times::{COLD, TimeKind, kernel_time, time_lines};
use crate::present::why::attentions_in_pieces;
use fuseline_core::analysis::Kernel;
use fuseline_core::{Analysis, Graph, KernelId, OpId};

/// Most lines of arithmetic of one kind.
const MAX_LINES: usize = 12;

/// The explanation of what a visitor has clicked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspected {
    pub heading: String,
    /// The kernel that it is or runs in.
    pub kernel: Option<KernelId>,
    /// Its figures: what, and how much.
    pub facts: Vec<Fact>,
    /// The arithmetic behind them, a line for each part.
    pub derivation: Vec<String>,
    /// What follows from it, in sentences; quoted parts are code.
    pub notes: Vec<String>,
    /// The two ops whose separation the card explains.
    pub asked: Option<(OpId, OpId)>,
    /// The names of those two ops, if the heading does not name them; quoted parts are code.
    pub asked_names: String,
    /// A change by hand, if the text allows it: a cut before an op or on an edge, or the merge of
    /// an edge.
    ///
    /// Merges of a kernel with its neighbours are [offers](crate::present::merges::merge_offers).
    pub change: Option<Change>,
    /// Whether running attention as one kernel would fuse the two ops.
    pub is_attention: bool,
}

/// A fact about the clicked item.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The label.
    pub what: &'static str,
    /// Its words, in order; a number is a part of its own.
    pub parts: Vec<Part>,
}

impl Fact {
    fn new(what: &'static str, parts: impl Into<Vec<Part>>) -> Self {
        Self {
            what,
            parts: parts.into(),
        }
    }

    pub fn text(&self) -> String {
        Part::text_of(&self.parts)
    }
}

/// A fact of words alone.
fn words(what: &'static str, text: impl Into<String>) -> Fact {
    Fact::new(what, [Part::words(text)])
}

/// A fact of one number.
fn number(what: &'static str, values: &Values<'_>, figure: Figure) -> Fact {
    Fact::new(what, [Part::of(values, figure)])
}

impl Inspected {
    /// Adds the explanation of an edge on which the kernel of `ops` ends, else of one on which it
    /// begins.
    fn with_neighbour(mut self, analysis: &Analysis, ops: &[OpId]) -> Self {
        if let Some((producer, consumer)) = neighbours(analysis, ops) {
            let graph = &analysis.graph;
            let [from, to] = [producer, consumer].map(|op| quoted_op(graph, op));
            self.asked = Some((producer, consumer));
            self.asked_names = format!("{from} → {to}. ");
            self.is_attention = are_parts_of_attention(analysis, producer, consumer);
        }
        self
    }
}

/// The last edge that leaves the kernel of these ops, else the first that enters it.
fn neighbours(analysis: &Analysis, ops: &[OpId]) -> Option<(OpId, OpId)> {
    let (graph, partition) = (&analysis.graph, &analysis.partition);
    let is_apart = |&(producer, consumer): &(OpId, OpId)| {
        !partition.computes(partition.kernel_of[consumer], producer)
    };
    let leaving = ops.iter().rev().flat_map(|&op| {
        let readers = graph.successors[op].iter();
        readers.map(move |&reader| (op, reader))
    });
    let entering = ops.iter().flat_map(|&op| {
        let producers = graph.predecessors[op].iter();
        producers.map(move |&producer| (producer, op))
    });
    leaving.chain(entering).find(is_apart)
}

/// Whether two ops belong to one attention block that the options do not fuse. `O(ops)`.
fn are_parts_of_attention(analysis: &Analysis, first: OpId, second: OpId) -> bool {
    let is_of_both = |ops: &[OpId]| ops.contains(&first) && ops.contains(&second);
    let attentions = attentions_in_pieces(analysis);
    (attentions.iter()).any(|attention| is_of_both(&attention.ops))
}

/// An op: its result, its arithmetic, and its memory traffic as a separate kernel. `None` if there
/// is no such op. `O(accesses)` of the op and of its kernel.
pub fn inspect_op(analysis: &Analysis, op: OpId) -> Option<Inspected> {
    let graph = &analysis.graph;
    let definition = graph.ops.get(op)?;
    let kernel = *analysis.partition.kernel_of.get(op)?;
    let alone = analysis.unfused.of_lone_op(op);
    let name = op_name(graph, op);
    let function = definition.operator();
    let heading = if function == name {
        name.to_owned()
    } else {
        format!("{name}: {function}")
    };
    let other_ops = analysis.partition.kernels[kernel].len() - 1;
    let mut facts = vec![words("result", tensor_text(graph, graph.output[op]))];
    let number_of = kernel.number();
    let partition = &analysis.partition;
    let (reduced, again): (Vec<OpId>, Vec<OpId>) =
        (partition.recomputed[kernel].iter()).partition(|&&op| partition.reduces(kernel, op));
    let names = |ops: Vec<OpId>| {
        let names = ops.into_iter().map(|op| op_name(graph, op));
        joined(names, [", ", " and "], 4)
    };
    let also = match (names(reduced), names(again)) {
        (reduced, again) if reduced.is_empty() && again.is_empty() => String::new(),
        (reduced, again) if reduced.is_empty() => format!("computes {again} again"),
        (reduced, again) if again.is_empty() => format!("computes the statistics of {reduced}"),
        (reduced, again) => format!("computes {again} again and the statistics of {reduced}"),
    };
    facts.push(words(
        "runs in",
        match (other_ops, also.as_str()) {
            (0, "") => format!("kernel {number_of}, alone"),
            (0, also) => format!("kernel {number_of}, which {also}"),
            (others, "") => format!("kernel {number_of} with {}", counted(others, "other op")),
            (others, also) => format!(
                "kernel {number_of} with {}, and {also}",
                counted(others, "other op")
            ),
        },
    ));
    let values = Values::new(analysis);
    let figure = |quantity| Figure::unfused(Subject::Op(op), quantity);
    let bytes = figure(Quantity::Bytes);
    facts.push(number("traffic as a separate kernel", &values, bytes));
    let intensity = figure(Quantity::Intensity);
    if values.of(intensity).is_some() {
        let what = "arithmetic intensity as a separate kernel";
        facts.push(number(what, &values, intensity));
    }
    let mut derivation = vec![format!("FLOPs: {}", flops_text(graph, op))];
    derivation.extend(access_lines(analysis, op, alone));
    let change = producer_beside(analysis, op).map(|producer| Change::Cut {
        producer,
        consumer: op,
    });
    let mut notes = whole_notes(graph, &[op], alone);
    notes.extend(analysis.first_result(op).map(|first| {
        let first = op_name(graph, first);
        format!("The operator gives {first}, too: its kernel writes both, and counts there.")
    }));
    Some(
        Inspected {
            heading,
            kernel: Some(kernel),
            facts,
            derivation,
            notes,
            change,
            ..Inspected::default()
        }
        .with_neighbour(analysis, &[op]),
    )
}

/// For each tensor of which these ops need only a part, why the kernel counts it whole.
fn whole_notes(graph: &Graph, ops: &[OpId], kernel: &Kernel) -> Vec<String> {
    let reads = kernel.traffic.reads.iter();
    let notes = reads.filter_map(|access| {
        let whole = whole_reason(graph, ops, access.tensor)?;
        Some(format!("{}: {whole}.", graph.tensor_name(access.tensor)))
    });
    notes.take(MAX_LINES).collect()
}

/// A fused kernel: its bytes before and after, its arithmetic and its time. `None` if there is no
/// such kernel. `O(accesses)` of the kernel, and of all kernels for the warnings.
pub fn inspect_kernel(analysis: &Analysis, kernel: KernelId) -> Option<Inspected> {
    let graph = &analysis.graph;
    let fused = analysis.fused.kernels.get(kernel)?;
    let of = Subject::kernel(analysis, kernel)?;
    let values = Values::new(analysis);
    let figure = |quantity| Figure::fused(of, quantity);
    let mut change = vec![
        Part::of(&values, Figure::unfused(of, Quantity::Bytes)),
        Part::words(" → "),
        Part::of(&values, figure(Quantity::Bytes)),
    ];
    let saving = figure(Quantity::Saving);
    if values.of(saving).is_some() {
        change.extend([Part::words(", "), Part::of(&values, saving)]);
    }
    let mut facts = vec![
        Fact::new("bytes", change),
        time_fact(analysis, kernel, figure),
    ];
    let intensity = figure(Quantity::Intensity);
    if values.of(intensity).is_some() {
        facts.push(number("arithmetic intensity", &values, intensity));
    }
    if !fused.is_free {
        let bottleneck = figure(Quantity::Bottleneck);
        facts.push(number("bottleneck", &values, bottleneck));
    }
    let harm = harms(analysis).get(kernel).cloned().unwrap_or_default();
    let mut notes = whole_notes(graph, &fused.ops, fused);
    if !harm.is_empty() {
        notes.insert(0, format!("Fusion may cost time here: {harm}."));
    }
    let inspected = Inspected {
        heading: format!(
            "kernel {}: {}",
            kernel.number(),
            kernel_ops(analysis, kernel)
        ),
        kernel: Some(kernel),
        facts,
        derivation: time_lines(analysis, kernel),
        notes,
        ..Inspected::default()
    }
    .with_neighbour(analysis, &fused.ops);
    Some(inspected)
}

/// The time of a kernel, and its bound beside it: `454 µs, lower bound 208 µs`.
fn time_fact(analysis: &Analysis, kernel: KernelId, figure: impl Fn(Quantity) -> Figure) -> Fact {
    let time = kernel_time(analysis, kernel).unwrap_or_default();
    let cold = if time.is_below { COLD } else { "" };
    let bound = time.bound.map(|bound| {
        [
            Part::words(", lower bound "),
            Part::number(bound, figure(Quantity::LowerBound)),
            Part::words(cold),
        ]
    });
    let time = Part::number(time.time, figure(Quantity::Time));
    Fact {
        what: TimeKind::of(analysis).name(),
        parts: [time]
            .into_iter()
            .chain(bound.into_iter().flatten())
            .collect(),
    }
}

/// A line for each access of an op as a separate kernel.
fn access_lines(analysis: &Analysis, op: OpId, alone: &Kernel) -> Vec<String> {
    let graph = &analysis.graph;
    let reads = alone.traffic.reads.iter().map(|access| ("reads", access));
    let writes = alone.traffic.writes.iter().map(|access| ("writes", access));
    let lines = reads.chain(writes).map(|(verb, access)| {
        let size = access_text(analysis, op, access.tensor).unwrap_or_default();
        let name = graph.tensor_name(access.tensor);
        format!("{verb} {name}: {size} = {}", format_bytes(access.bytes))
    });
    lines.take(MAX_LINES).collect()
}
