//! The arithmetic behind the bytes and FLOPs of one kernel, in words.

use crate::core::analysis::Execution;
use crate::core::analysis::{Analysis, Kernel};
use crate::core::cost::traffic::Access;
use crate::core::cost::work::{FLOPS_OF_A_SCORE, matmul_k, op_work, scores};
use crate::core::model::fixed_sizes::FixedSize;
use crate::core::model::functions;
use crate::core::model::graph::{Graph, SizeSource};
use crate::core::model::ids::{IdVec, KernelId, OpId, TensorId, define_ids};
use crate::core::model::op::element_count;
use crate::core::model::op_type::OpType;
use crate::core::model::options::Externals;
use crate::core::model::sizes::inferred_shape;
use crate::present::format::{format_bytes, format_exact, format_flops};
use std::collections::HashMap;

/// Bytes of one tensor that a kernel moves, beside those that its ops move one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    /// Which tensor.
    pub tensor: TensorId,
    /// Bytes that the fused kernel reads.
    pub bytes_read: u64,
    /// Bytes that the fused kernel writes.
    pub bytes_written: u64,
    /// Bytes that its ops move one by one and the kernel does not.
    pub bytes_vanished: u64,
    /// Where the size comes from.
    pub source: SizeSource,
    /// Factors of the bytes of one access: `2048 × 4096 × 2 B`.
    pub size: String,
}

/// Every tensor that the ops of a fused kernel touch, in order of first use. `O(accesses)` of the kernel.
pub fn ledger(analysis: &Analysis, kernel: KernelId) -> Vec<LedgerRow> {
    let Some(fused) = analysis.fused.kernels.get(kernel) else {
        return Vec::new();
    };
    let mut ledger = Ledger {
        analysis,
        rows: IdVec::new(),
        row_of: HashMap::new(),
    };
    for &op in &fused.ops {
        let alone = &analysis.unfused.of_lone_op(op).traffic;
        for &access in alone.reads.iter().chain(&alone.writes) {
            ledger.row(op, access).bytes_vanished += access.bytes;
        }
    }
    let Some(&last) = fused.ops.last() else {
        return Vec::new();
    };
    for &access in &fused.traffic.reads {
        let row = ledger.row(last, access);
        row.bytes_read += access.bytes;
        row.bytes_vanished = row.bytes_vanished.saturating_sub(access.bytes);
    }
    for &access in &fused.traffic.writes {
        let row = ledger.row(last, access);
        row.bytes_written += access.bytes;
        row.bytes_vanished = row.bytes_vanished.saturating_sub(access.bytes);
    }
    ledger.rows.into_iter().collect()
}

define_ids! {
    /// A row of the ledger.
    struct RowId;
}

struct Ledger<'a> {
    analysis: &'a Analysis,
    rows: IdVec<RowId, LedgerRow>,
    row_of: HashMap<TensorId, RowId>,
}

impl Ledger<'_> {
    /// The row of the tensor that `op` accesses; a new one at its first access.
    fn row(&mut self, op: OpId, access: Access) -> &mut LedgerRow {
        let row = *self.row_of.entry(access.tensor).or_insert_with(|| {
            self.rows.push(LedgerRow {
                tensor: access.tensor,
                bytes_read: 0,
                bytes_written: 0,
                bytes_vanished: 0,
                source: access.source,
                size: size_text(self.analysis, op, access),
            })
        });
        &mut self.rows[row]
    }
}

/// The size that a reader fixes for all, unless the convention counts each read as large as what its op writes.
fn fixed_size(analysis: &Analysis, tensor: TensorId) -> Option<&FixedSize> {
    let counts_outputs = analysis.options.conventions.externals == Externals::OutputShape;
    let fixed = analysis.graph.tensors[tensor].fixed();
    fixed.filter(|_| !counts_outputs)
}

/// The shape and the bytes of one element behind the bytes that `op` reads or writes of one tensor; `None` where they
/// count nothing.
pub(super) fn size_factors(
    analysis: &Analysis,
    op: OpId,
    access: Access,
) -> Option<(Vec<u64>, u32)> {
    let graph = &analysis.graph;
    let tensor = &graph.tensors[access.tensor];
    let reader = &graph.ops[op];
    let width = |of_tensor: Option<u32>| of_tensor.unwrap_or(reader.bytes_per_element);
    match access.source {
        SizeSource::Ignored => None,
        SizeSource::Produced | SizeSource::Declared => Some((
            graph
                .tensor_shape(access.tensor)
                .unwrap_or_default()
                .to_vec(),
            width(tensor.bytes_per_element),
        )),
        SizeSource::Inferred | SizeSource::Assumed => {
            let fixed = fixed_size(analysis, access.tensor);
            let inferred = || {
                let inferred = inferred_shape(graph, op, access.tensor);
                inferred.unwrap_or_else(|| reader.shape.clone())
            };
            Some((
                fixed.map_or_else(inferred, |fixed| fixed.shape.clone()),
                width(fixed.and(tensor.bytes_per_element)),
            ))
        }
    }
}

/// The factors behind the bytes that `op` reads or writes of one tensor.
fn size_text(analysis: &Analysis, op: OpId, access: Access) -> String {
    let Some((shape, width)) = size_factors(analysis, op, access) else {
        return "counted as 0 bytes".to_owned();
    };
    let mut factors: Vec<String> = shape.iter().map(|&d| format_exact(u128::from(d))).collect();
    factors.push(format!("{width} B"));
    factors.join(" × ")
}

/// The factors behind the bytes that an op moves of one tensor when it runs alone: `2,048 × 4,096 × 2 B`. `None` where it
/// moves nothing of it.
pub fn access_text(analysis: &Analysis, op: OpId, tensor: TensorId) -> Option<String> {
    let traffic = &analysis.unfused.of_lone_op(op).traffic;
    let mut accesses = traffic.reads.iter().chain(&traffic.writes);
    let access = accesses.find(|access| access.tensor == tensor)?;
    Some(size_text(analysis, op, *access))
}

/// The source in a word or two.
pub const fn source_text(source: SizeSource) -> &'static str {
    match source {
        SizeSource::Produced => "an op's output",
        SizeSource::Declared => "declared",
        SizeSource::Inferred => "inferred",
        SizeSource::Assumed => "assumed",
        SizeSource::Ignored => "not counted",
    }
}

/// The bytes of a tensor that an op of a kernel needs, where that is a part of it: what a slice or a split takes, or what
/// a matmul with a stated K takes of packed operands. With the op; `None` where a reader in the kernel needs all.
pub fn part_read(graph: &Graph, ops: &[OpId], tensor: TensorId) -> Option<(OpId, u64)> {
    let all_bytes = graph.tensors[tensor].bytes()?;
    let width = u64::from(graph.tensors[tensor].bytes_per_element?);
    let readers = ops.iter().filter(|&&op| graph.inputs[op].contains(&tensor));
    let mut most = None;
    for &op in readers {
        let definition = &graph.ops[op];
        let elements = match (definition.op_type, definition.function.as_deref()) {
            (OpType::Reshape, Some("slice" | "split")) => element_count(&definition.shape),
            (OpType::Matmul, _) => packed_elements(graph, op, tensor),
            _ => None,
        };
        let bytes = elements?.checked_mul(width)?;
        if bytes >= all_bytes {
            return None;
        }
        most = most.max(Some((bytes, op)));
    }
    most.map(|(bytes, op)| (op, bytes))
}

/// Elements that a matmul with a stated K takes of an operand that may hold more.
fn packed_elements(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    let definition = &graph.ops[op];
    let k = definition.k?;
    let [outer @ .., rows, columns] = &definition.shape[..] else {
        return None;
    };
    let outer = element_count(outer)?;
    let side = |place: usize, length: u64| {
        // An op that names one operand multiplies two parts of it.
        let is_read = (graph.inputs[op].get(place)).or(graph.inputs[op].first()) == Some(&tensor);
        let elements = outer.checked_mul(length)?.checked_mul(k)?;
        Some(if is_read { elements } else { 0 })
    };
    side(0, *rows)?.checked_add(side(1, *columns)?)
}

/// Why a tensor has its counted size, in a sentence; `ops` are those of the kernel that counts it.
pub fn source_reason(
    analysis: &Analysis,
    ops: &[OpId],
    tensor: TensorId,
    source: SizeSource,
) -> String {
    let graph = &analysis.graph;
    let of_size = size_reason(analysis, tensor, source);
    match whole_reason(graph, ops, tensor) {
        Some(whole) => format!("{of_size}; {whole}"),
        None => of_size,
    }
}

/// Why a tensor counts whole of which these ops need a part; `None` where they need all of it.
pub fn whole_reason(graph: &Graph, ops: &[OpId], tensor: TensorId) -> Option<String> {
    let (op, bytes) = part_read(graph, ops, tensor)?;
    Some(format!(
        "counted whole though {} needs {} of it: a kernel that reads a tensor counts all of it once",
        graph.ops[op].name,
        format_bytes(bytes)
    ))
}

fn size_reason(analysis: &Analysis, tensor: TensorId, source: SizeSource) -> String {
    let graph = &analysis.graph;
    let fixed = fixed_size(analysis, tensor);
    let reader = fixed.map(|fixed| fixed.reader);
    let reader = reader
        .or(graph.consumers[tensor].first().copied())
        .map_or("its reader", |op| graph.ops[op].name.as_str());
    match source {
        SizeSource::Produced => "the shape of the op that computes it".to_owned(),
        SizeSource::Declared => "its declaration in the text".to_owned(),
        SizeSource::Inferred => format!("the only size that fits the other shapes of {reader}"),
        SizeSource::Assumed => {
            let why = match fixed {
                Some(_) => ", which keeps the shape of what it reads",
                None => "",
            };
            format!("not declared: assumed to be as large as the output of {reader}{why}")
        }
        SizeSource::Ignored => {
            "the chosen convention counts external tensors as 0 bytes".to_owned()
        }
    }
}

/// What is multiplied to the FLOPs of an op.
pub(super) enum FlopFactors {
    /// Two for each multiply-add, the sides of the output, and K.
    Matmul {
        /// The sides of the output.
        sides: Vec<u64>,
        /// The contraction length, if it is known.
        k: Option<u64>,
    },
    /// So many for each element.
    Each {
        /// FLOPs of one element.
        flops: u64,
        /// How many elements.
        elements: u64,
        /// What they are elements of.
        of: &'static str,
    },
    /// It computes nothing.
    Nothing,
    /// As many as the program states.
    Stated,
}

/// The factors of the FLOPs of an op.
pub(super) fn flop_factors(graph: &Graph, op: OpId) -> FlopFactors {
    let definition = &graph.ops[op];
    let function = definition.function.as_deref().and_then(functions::find);
    let flops = function.map_or(1, |f| f.flops_per_element);
    match definition.op_type {
        OpType::Matmul => FlopFactors::Matmul {
            sides: definition.shape.clone(),
            k: matmul_k(graph, op),
        },
        OpType::Opaque if definition.function.as_deref() == Some("sdpa") => {
            let of_mask = u64::from(graph.inputs[op].len() > 3);
            match scores(graph, op) {
                Some((scores, products)) => FlopFactors::Each {
                    flops: products + FLOPS_OF_A_SCORE + of_mask,
                    elements: scores,
                    of: "scores",
                },
                None => FlopFactors::Nothing,
            }
        }
        OpType::Reshape if function.is_none_or(|f| f.flops_per_element == 0) => {
            FlopFactors::Nothing
        }
        OpType::Elementwise | OpType::Reshape => FlopFactors::Each {
            flops,
            elements: element_count(&definition.shape).unwrap_or(0),
            of: "elements",
        },
        OpType::Opaque if definition.unknown.is_some() => FlopFactors::Stated,
        OpType::Opaque if op_work(graph, op).flops() == 0 => FlopFactors::Nothing,
        OpType::Reduction | OpType::Opaque => {
            let elements = op_work(graph, op).flops().checked_div(u128::from(flops));
            FlopFactors::Each {
                flops,
                elements: elements.and_then(|n| n.try_into().ok()).unwrap_or(0),
                of: "input elements",
            }
        }
    }
}

/// How the FLOPs of an op are computed: `2 × 2,048 × 12,288 × 4,096 (K) = 206 GFLOP`.
pub fn flops_text(graph: &Graph, op: OpId) -> String {
    let flops = op_work(graph, op).flops();
    let count = |n: u64| format_exact(u128::from(n));
    match flop_factors(graph, op) {
        FlopFactors::Matmul { k: None, .. } => {
            "unknown: the contraction length K is not known".to_owned()
        }
        FlopFactors::Matmul { sides, k: Some(k) } => {
            let dims: Vec<String> = sides.into_iter().map(count).collect();
            format!(
                "2 × {} × {} (K) = {}",
                dims.join(" × "),
                count(k),
                format_flops(flops)
            )
        }
        FlopFactors::Nothing => "0: it computes nothing".to_owned(),
        FlopFactors::Stated if flops == 0 => "unknown: the program states none".to_owned(),
        FlopFactors::Stated => format!("{}, as the program states", format_flops(flops)),
        FlopFactors::Each {
            flops: each,
            elements,
            of,
        } => format!(
            "{each} for each of {} {of} = {}",
            count(elements),
            format_flops(flops)
        ),
    }
}

/// The bytes of all kernels, marked where a size among them is assumed: `~2.30 GB`.
pub fn total_bytes(execution: &Execution) -> String {
    let is_assumed = execution.kernels.iter().any(has_assumed_size);
    assumed(is_assumed, &format_bytes(execution.traffic.total))
}

/// A figure, marked if an assumed size is in it: `~33.6 MB`.
pub fn assumed(is_assumed: bool, figure: &str) -> String {
    let mark = if is_assumed { "~" } else { "" };
    format!("{mark}{figure}")
}

/// Whether any tensor that the kernel moves has an assumed size.
pub fn has_assumed_size(kernel: &Kernel) -> bool {
    kernel
        .traffic
        .reads
        .iter()
        .any(|access| access.source == SizeSource::Assumed)
}

#[cfg(test)]
mod tests {
    use crate::core::analysis::analyze;
    use crate::core::model::graph::SizeSource;
    use crate::core::model::ids::{KernelId, OpId};
    use crate::core::model::op::{Op, TensorDecl};
    use crate::core::model::op_type::OpType::*;
    use crate::core::model::options::Options;
    use crate::present::explain::{flops_text, ledger};
    use crate::present::times::time_lines;

    fn epilogue() -> crate::core::Analysis {
        let ops = [
            Op::new("up", Matmul, &["x", "w"], "y1", &[1024, 4096], 2),
            Op::new("bias", Elementwise, &["y1", "b"], "y2", &[1024, 4096], 2),
        ];
        let x = TensorDecl::new("x", &[1024, 512], 2);
        match analyze(&ops, &[x], &Options::default()) {
            Ok(analysis) => analysis,
            Err(problems) => unreachable!("{problems:?}"),
        }
    }

    #[test]
    fn a_ledger_accounts_for_every_byte_of_the_comparison() {
        let analysis = epilogue();
        let rows = ledger(&analysis, KernelId::new(0));
        let names: Vec<&str> = rows
            .iter()
            .map(|r| analysis.graph.tensor_name(r.tensor))
            .collect();
        assert_eq!(names, ["x", "w", "y1", "b", "y2"]);
        assert_eq!(rows[1].source, SizeSource::Inferred);
        assert_eq!(rows[1].size, "512 × 4,096 × 2 B");
        assert_eq!(rows[3].source, SizeSource::Assumed);
        assert_eq!(
            rows[2].bytes_vanished,
            2 * 1024 * 4096 * 2,
            "written and read again"
        );
        let kernel = &analysis.fused.kernels[KernelId::new(0)];
        let moved: u64 = rows.iter().map(|r| r.bytes_read + r.bytes_written).sum();
        let vanished: u64 = rows.iter().map(|r| r.bytes_vanished).sum();
        assert_eq!(moved, kernel.bytes());
        assert_eq!(
            moved + vanished,
            analysis.comparisons[KernelId::new(0)].unfused_bytes
        );
        assert!(ledger(&analysis, KernelId::new(7)).is_empty());
    }

    #[test]
    fn flops_and_times_say_their_factors() {
        let analysis = epilogue();
        assert_eq!(
            flops_text(&analysis.graph, OpId::new(0)),
            "2 × 1,024 × 4,096 × 512 (K) = 4.29 GFLOP"
        );
        assert_eq!(
            flops_text(&analysis.graph, OpId::new(1)),
            "1 for each of 4,194,304 elements = 4.19 MFLOP"
        );
        let lines = time_lines(&analysis, KernelId::new(0));
        assert_eq!(lines.len(), 4);
        assert!(
            lines[1].starts_with("matrix units, f16: 4.29 GFLOP / 312 TFLOP/s"),
            "{}",
            lines[1]
        );
    }
}
