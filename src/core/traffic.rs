//! Groups to bytes: what each kernel reads from and writes to memory.
#![allow(
    clippy::indexing_slicing,
    reason = "op and tensor ids are dense indices of this graph"
)]

use super::count;
use super::diagnostic::Diagnostic;
use super::functions;
use super::fusion::{Partition, Policy, partition};
use super::graph::{Graph, OpId, TensorId, build_graph};
use super::op::{Op, OpType, TensorDecl, byte_count};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// How large an external tensor counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Externals {
    /// As declared; else as the other shapes of the op force it to be; else as its reader's output.
    #[default]
    Declared,
    /// 0 bytes: only tensors that the program produces count.
    KnownOnly,
    /// As the output of the op that reads it, whatever is declared.
    OutputShape,
}

impl Externals {
    /// All three, in the order in which a picker shows them.
    pub const ALL: [Self; 3] = [Self::Declared, Self::KnownOnly, Self::OutputShape];

    /// The name on the command line and in links.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::KnownOnly => "known-only",
            Self::OutputShape => "output-shape",
        }
    }

    /// The convention of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}

/// What a reshape costs that stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReshapeCost {
    /// It reads its input and writes its output like any op.
    #[default]
    Copy,
    /// It is another way to index the same bytes: free, and its readers read the bytes that it names.
    View,
}

impl ReshapeCost {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Copy, Self::View];

    /// The name on the command line and in links.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::View => "view",
        }
    }

    /// The convention of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// The counting conventions of one analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
pub struct Conventions {
    /// Sizes of external tensors.
    pub externals: Externals,
    /// Price of a lone reshape.
    pub reshape: ReshapeCost,
}

/// Why a tensor counts as large as it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SizeSource {
    /// An op of the program produces it with this shape.
    Produced,
    /// A declaration says so.
    Declared,
    /// The other shapes of the op leave no other size.
    Inferred,
    /// Taken as large as its reader's output.
    Assumed,
    /// Counted as 0 bytes by convention.
    Ignored,
}

/// One tensor that one kernel reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// Which tensor.
    pub tensor: TensorId,
    /// How many bytes it counts here.
    #[serde(serialize_with = "count::serialize")]
    pub bytes: u64,
    /// Where that figure comes from.
    pub source: SizeSource,
}

/// What one kernel moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelTraffic {
    /// Distinct tensors read from memory, in order of first use.
    pub reads: SmallVec<[Access; 2]>,
    /// Tensors written to memory, in execution order.
    pub writes: SmallVec<[Access; 1]>,
}

impl KernelTraffic {
    /// Bytes read. No overflow: [`build_graph`] bounds the sum over the program.
    pub fn bytes_read(&self) -> u64 {
        self.reads.iter().map(|a| a.bytes).sum()
    }

    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.writes.iter().map(|a| a.bytes).sum()
    }

    /// Bytes read and written.
    pub fn total(&self) -> u64 {
        self.bytes_read() + self.bytes_written()
    }
}

/// The traffic of a whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Bytes read from memory.
    #[serde(serialize_with = "count::serialize")]
    pub bytes_read: u64,
    /// Bytes written to memory.
    #[serde(serialize_with = "count::serialize")]
    pub bytes_written: u64,
    /// Both.
    #[serde(serialize_with = "count::serialize")]
    pub total: u64,
    /// Total of the unfused program minus this total; 0 for the unfused program.
    #[serde(serialize_with = "count::serialize")]
    pub saved_by_fusion: u64,
}

impl Traffic {
    /// A traffic that is held against the total of the unfused program.
    pub fn new(bytes_read: u64, bytes_written: u64, unfused_total: Option<u64>) -> Self {
        let total = bytes_read + bytes_written;
        Self {
            bytes_read,
            bytes_written,
            total,
            saved_by_fusion: unfused_total.map_or(0, |unfused| unfused.saturating_sub(total)),
        }
    }

    /// The saved part of the unfused total in percent; 0 when nothing moves.
    pub fn savings_pct(&self) -> f64 {
        let unfused = self.total + self.saved_by_fusion;
        if unfused == 0 {
            0.0
        } else {
            self.saved_by_fusion as f64 / unfused as f64 * 100.0
        }
    }
}

/// Whether the op only renames bytes, so that *reshape is a view* makes it free.
///
/// Concatenation gathers several tensors and stays a copy.
pub fn is_view(op: &Op) -> bool {
    op.op_type == OpType::Reshape
        && op.inputs.len() == 1
        && op
            .function
            .as_deref()
            .and_then(functions::find)
            .is_none_or(|f| f.is_view)
}

/// What each kernel of `partition` reads and writes, in order. `O(ops + reads)`.
pub fn kernel_traffic<'a>(
    graph: &'a Graph,
    partition: &'a Partition,
    conventions: Conventions,
) -> impl Iterator<Item = KernelTraffic> + 'a {
    let views = match conventions.reshape {
        ReshapeCost::Copy => Views::none(graph),
        ReshapeCost::View => Views::of(graph),
    };
    let mut count = Count {
        graph,
        partition,
        externals: conventions.externals,
        is_written: written(graph, partition, &views),
        views,
        read_by: vec![(usize::MAX, 0); graph.tensors.len()],
        reads: Vec::new(),
        writes: Vec::new(),
    };
    (0..partition.groups.len()).map(move |group| count.kernel(group))
}

/// For each op whether it is a free view, and for each tensor the tensor whose bytes it names.
struct Views {
    is_view: Vec<bool>,
    base: Vec<TensorId>,
}

impl Views {
    fn none(graph: &Graph) -> Self {
        Self {
            is_view: vec![false; graph.ops.len()],
            base: (0..graph.tensors.len()).collect(),
        }
    }

    fn of(graph: &Graph) -> Self {
        let mut views = Self::none(graph);
        for (op, definition) in graph.ops.iter().enumerate() {
            if is_view(definition) {
                views.is_view[op] = true;
                views.base[graph.output[op]] = views.base[graph.inputs[op][0]];
            }
        }
        views
    }
}

struct Count<'a> {
    graph: &'a Graph,
    partition: &'a Partition,
    externals: Externals,
    views: Views,
    /// For each op whether its output, seen through views, leaves its kernel.
    is_written: Vec<bool>,
    /// For each tensor the last kernel that read it and the place in that kernel's reads.
    read_by: Vec<(usize, usize)>,
    /// Of the kernel in hand.
    reads: Vec<Access>,
    writes: Vec<Access>,
}

impl Count<'_> {
    fn kernel(&mut self, group: usize) -> KernelTraffic {
        self.reads.clear();
        self.writes.clear();
        for &op in &self.partition.groups[group] {
            if self.views.is_view[op] {
                continue;
            }
            for tensor in self.graph.distinct_inputs(op) {
                self.read(group, op, tensor);
            }
            let output = self.graph.output[op];
            if self.is_written[op] {
                self.writes.push(Access {
                    tensor: output,
                    bytes: self.graph.tensors[output].bytes().unwrap_or(0),
                    source: SizeSource::Produced,
                });
            }
        }
        KernelTraffic {
            reads: SmallVec::from_slice(&self.reads),
            writes: SmallVec::from_slice(&self.writes),
        }
    }

    /// Adds a read unless the kernel makes the bytes itself or has read them already.
    fn read(&mut self, group: usize, op: OpId, tensor: TensorId) {
        let reads = &mut self.reads;
        let base = &self.graph.tensors[self.views.base[tensor]];
        if base
            .producer
            .is_some_and(|p| self.partition.group_of[p] == group)
        {
            return;
        }
        let (bytes, source) = if base.is_external() && self.externals == Externals::KnownOnly {
            (0, SizeSource::Ignored)
        } else {
            read_size(self.graph, op, tensor, self.externals)
        };
        let (last_reader, place) = self.read_by[tensor];
        if last_reader == group {
            // Only sizes by convention differ from reader to reader; the largest one covers all.
            if reads[place].bytes < bytes {
                reads[place] = Access {
                    tensor,
                    bytes,
                    source,
                };
            }
        } else {
            self.read_by[tensor] = (group, reads.len());
            reads.push(Access {
                tensor,
                bytes,
                source,
            });
        }
    }
}

/// An output stays on chip when it has consumers and all of them, seen through views, are in its own kernel.
fn written(graph: &Graph, partition: &Partition, views: &Views) -> Vec<bool> {
    let mut is_written = vec![false; graph.ops.len()];
    for op in (0..graph.ops.len()).rev() {
        let consumers = &graph.successors[op];
        is_written[op] = consumers.is_empty()
            || consumers.iter().any(|&consumer| {
                partition.group_of[consumer] != partition.group_of[op]
                    || (views.is_view[consumer] && is_written[consumer])
            });
    }
    is_written
}

/// Bytes that `op` reads when it reads `tensor`, and why so many.
pub fn read_size(
    graph: &Graph,
    op: OpId,
    tensor: TensorId,
    externals: Externals,
) -> (u64, SizeSource) {
    let known = &graph.tensors[tensor];
    if let (false, Some(bytes)) = (known.is_external(), known.bytes()) {
        return (bytes, SizeSource::Produced);
    }
    let reader = &graph.ops[op];
    let assumed = byte_count(&reader.shape, reader.bytes_per_element).unwrap_or(0);
    match externals {
        Externals::KnownOnly => (0, SizeSource::Ignored),
        Externals::OutputShape => (assumed, SizeSource::Assumed),
        Externals::Declared => known
            .bytes()
            .map(|bytes| (bytes, SizeSource::Declared))
            .or_else(|| {
                inferred_bytes(graph, op, tensor).map(|bytes| (bytes, SizeSource::Inferred))
            })
            .unwrap_or((assumed, SizeSource::Assumed)),
    }
}

/// The only size that an undeclared input can have, where the op's other shapes leave no choice:
/// a reshape moves every element, and a matmul's operands share K.
fn inferred_bytes(graph: &Graph, op: OpId, tensor: TensorId) -> Option<u64> {
    byte_count(
        &inferred_shape(graph, op, tensor)?,
        graph.ops[op].bytes_per_element,
    )
}

/// The shape behind [`SizeSource::Inferred`]; for a reshape any shape of as many elements, the output's.
///
/// A matmul gives it when the missing operand is a matrix: the other operand is one too and so is the
/// output. With batch dimensions it could be shared or batched, which is a choice and no inference.
pub fn inferred_shape(graph: &Graph, op: OpId, tensor: TensorId) -> Option<Vec<u64>> {
    let shape_of = |t: TensorId| graph.tensors[t].shape.as_deref();
    inferred_operand(&graph.ops[op], &graph.inputs[op], tensor, shape_of)
}

/// The same for an op outside a graph, whose tensors go by any ids.
pub(super) fn inferred_operand<'a>(
    definition: &Op,
    inputs: &[usize],
    tensor: usize,
    shape_of: impl Fn(usize) -> Option<&'a [u64]>,
) -> Option<Vec<u64>> {
    match (definition.op_type, definition.function.as_deref(), inputs) {
        (OpType::Reshape, None | Some("reshape" | "transpose"), &[_]) => {
            Some(definition.shape.clone())
        }
        (OpType::Matmul, None | Some("matmul"), &[a, b]) if a != b => {
            let (missing_left, other) = if a == tensor { (true, b) } else { (false, a) };
            let (&[rows, columns], &[d0, d1]) = (&definition.shape[..], shape_of(other)?) else {
                return None;
            };
            // One side of the other operand is a side of the output, its second one is K.
            let (kept, free) = if missing_left {
                (columns, rows)
            } else {
                (rows, columns)
            };
            let k = match (d0 == kept, d1 == kept) {
                (true, _) => d1,
                (_, true) => d0,
                _ => return None,
            };
            Some(if missing_left {
                vec![free, k]
            } else {
                vec![k, free]
            })
        }
        (OpType::Matmul, Some("linear"), &[x, weight, ..]) => {
            let (&features, rows) = definition.shape.split_last()?;
            if tensor == weight {
                Some(vec![features, *shape_of(x)?.last()?])
            } else if tensor == x {
                let mut shape = rows.to_vec();
                shape.push(*shape_of(weight)?.last()?);
                Some(shape)
            } else {
                Some(vec![features])
            }
        }
        _ => None,
    }
}

/// Bytes read and written by a list of ops, unfused or fused by the contract's rules.
///
/// `externals` declares sizes of external tensors; `conventions` says how the rest counts.
///
/// # Errors
/// As [`build_graph`].
///
/// ```
/// use fuseline::core::{estimate_memory_traffic, Conventions, Op, OpType::*, TensorDecl};
/// let ops = [
///     Op::new("matmul1", Matmul, &["x", "w1"], "y1", &[1024, 4096], 2),
///     Op::new("relu", Elementwise, &["y1"], "y2", &[1024, 4096], 2),
/// ];
/// let x = TensorDecl::new("x", &[1024, 1024], 2); // w1 follows: K = 1024, so 1024 x 4096
/// let unfused = estimate_memory_traffic(&ops, &[x.clone()], Conventions::default(), false)?;
/// let fused = estimate_memory_traffic(&ops, &[x], Conventions::default(), true)?;
/// assert_eq!((unfused.bytes_read, unfused.bytes_written), (18_874_368, 16_777_216));
/// assert_eq!((fused.bytes_read, fused.bytes_written), (10_485_760, 8_388_608));
/// assert_eq!(fused.saved_by_fusion, 16_777_216); // y1 written and read again
/// # Ok::<(), Vec<fuseline::core::Diagnostic>>(())
/// ```
pub fn estimate_memory_traffic(
    ops: &[Op],
    externals: &[TensorDecl],
    conventions: Conventions,
    fused: bool,
) -> Result<Traffic, Vec<Diagnostic>> {
    let graph = build_graph(ops, externals)?;
    let count = |policy, unfused_total| {
        let kernels = partition(&graph, policy);
        let (mut read, mut written) = (0, 0);
        for kernel in kernel_traffic(&graph, &kernels, conventions) {
            read += kernel.bytes_read();
            written += kernel.bytes_written();
        }
        Traffic::new(read, written, unfused_total)
    };
    let unfused = count(Policy::None, None);
    Ok(if fused {
        count(Policy::Rules, Some(unfused.total))
    } else {
        unfused
    })
}
